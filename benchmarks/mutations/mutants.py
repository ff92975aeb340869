"""Faults that somebody could make, found in the syntax tree: another operator, comparison or constant."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

PAIRS = (
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn),
    (ast.Add, ast.Sub),
    (ast.Mult, ast.Div),
    (ast.And, ast.Or),
    (ast.BitAnd, ast.BitOr),
)
OTHER = {one: other for pair in PAIRS for one, other in (pair, pair[::-1])}


class Mutant(NamedTuple):
    """A module's source with one fault: in which function, at which line, what was there and what is there now."""

    function: str
    line: int
    old: str
    new: str
    source: str


def all_mutants(source: str, only: str = "") -> Iterator[Mutant]:
    """Give every mutant of a module's functions, or of those whose qualified name (``Class.method``) begins so."""
    tree = ast.parse(source)
    for name, function in _functions(tree, ""):
        if name.startswith(only):
            for body in function.body:
                for node in ast.walk(body):
                    yield from _mutants_at(tree, name, node)


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Give functions and methods with their qualified names; what is defined inside a function is part of it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.FunctionDef):
            yield prefix + child.name, child


def _mutants_at(tree: ast.Module, function: str, node: ast.AST) -> Iterator[Mutant]:
    old = ast.unparse(node) if isinstance(node, ast.expr | ast.stmt) else ""
    for owner, field, value in _changes(node):
        before = getattr(owner, field)
        setattr(owner, field, value)
        yield Mutant(function, getattr(node, "lineno", 0), old, ast.unparse(node), ast.unparse(tree))
        setattr(owner, field, before)


def _changes(node: ast.AST) -> Iterator[tuple[ast.AST, str, object]]:
    """Give what can be changed at a node itself: whose field, and what it becomes."""
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in OTHER:
        yield node, "op", OTHER[type(node.op)]()
    elif isinstance(node, ast.UnaryOp):  # twice is not at all
        yield node, "operand", ast.UnaryOp(node.op, node.operand)
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in OTHER:
        yield node, "ops", [OTHER[type(node.ops[0])](), *node.ops[1:]]
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        yield node, "value", not node.value if isinstance(node.value, bool) else node.value + 1
