"""Faults are found in the syntax tree: one at a time, each another program, whatever the code says."""

from __future__ import annotations

import ast

from benchmarks.mutations.mutants import all_mutants

SOURCE = """
class Cut:
    def accepts(self, scores):
        return not scores < self.cut + 1

def half(count):
    count -= 1
    return -count / 2 if count is not None and True else []
"""


def test_every_operator_comparison_and_constant_is_changed_by_itself():
    found = [(one.function, one.line, one.old, one.new) for one in all_mutants(SOURCE)]
    assert found == [
        ("Cut.accepts", 4, "not scores < self.cut + 1", "not not scores < self.cut + 1"),
        ("Cut.accepts", 4, "scores < self.cut + 1", "scores <= self.cut + 1"),
        ("Cut.accepts", 4, "self.cut + 1", "self.cut - 1"),
        ("Cut.accepts", 4, "1", "2"),
        ("half", 7, "count -= 1", "count += 1"),
        ("half", 7, "1", "2"),
        ("half", 8, "count is not None and True", "count is not None or True"),
        ("half", 8, "-count / 2", "-count * 2"),
        ("half", 8, "count is not None", "count is None"),
        ("half", 8, "True", "False"),
        ("half", 8, "-count", "--count"),
        ("half", 8, "2", "3"),
    ]


def test_a_mutant_is_the_whole_module_with_one_fault():
    whole = ast.unparse(ast.parse(SOURCE))
    for mutant in all_mutants(SOURCE, "Cut."):
        compile(mutant.source, "mutant", "exec")
        assert mutant.source == whole.replace(mutant.old, mutant.new, 1)
