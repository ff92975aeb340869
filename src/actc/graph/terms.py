"""RDF terms and plain names: an IRI is named by itself, less a base; other terms by their N-Triples text.

With a base, every term comes back as it was, and so does a name (except that an IRI under the base comes back without
it, and a name in quotation marks at a head, where no literal can be, with it). Relations may have a base of their own.
Behind the base follows the name, with those characters escaped that no IRI can contain. An IRI whose name would be
taken for another term keeps its base; an IRI that is not under the base and has no ``://``, so that it looks like a
name, keeps its brackets: ``<urn:isbn:1>``.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from actc.data.triples import BoolArray
from actc.errors import FileError, OptionError, TableError, needing
from actc.graph.graph import Graph, is_missing

# Written for two engines: Python's and DuckDB's (RE2), which has no look-around.
IRI = r"[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>\"{}|^`\\\x7f]*"
BLANK = r"_:[^\x00-\x20<>\"{}|^`\\]*[^\x00-\x20<>\"{}|^`\\.]"
LITERAL = r"\"(?:[^\"\\\n\r]|\\.)*\"(?:@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^<" + IRI + ">)?"
TERM = re.compile(f"<{IRI}>|{BLANK}|{LITERAL}")
WITH_SLASHES = re.compile(IRI.replace(":", "://"))
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
XSD = "http://www.w3.org/2001/XMLSchema#"
REIFIES = f"{RDF}reifies"
VOCABULARY = "urn:actc:"
PARTS = ("subject", "predicate", "object")

# The codes of the ASCII characters that no IRI can contain. A percent sign is escaped only where it would be taken for
# one of them: every other escape in an IRI is part of its name.
_CODE = r"(?:[01][0-9A-F]|20|22|3C|3E|5C|5E|60|7[BCDF])"
_TO_ESCAPE = re.compile(r"[\x00-\x20<>\"{}|^`\\\x7f]|%(?=(?:25)*" + _CODE + ")")
_ESCAPED = re.compile(f"%(25(?=(?:25)*{_CODE})|{_CODE})")


def entity_term(name: str, base: str, may_be_literal: bool) -> str:
    """Return an entity's name as an N-Triples term: an IRI in brackets, a blank node or a literal."""
    if may_be_literal and re.fullmatch(LITERAL, name):
        return name
    return name if re.fullmatch(BLANK, name) else relation_term(name, base)


def relation_term(name: str, base: str) -> str:
    """Return a relation's name as an IRI in brackets."""
    if _is_bracketed(name):
        return name
    if base and not WITH_SLASHES.fullmatch(name):
        return f"<{base}{escape(name)}>"
    if not re.fullmatch(IRI, name):
        raise TableError(f"{name!r} is no IRI; give what to put before names: --base http://example.org/")
    return f"<{name}>"


def entity_name(term: str, base: str) -> str:
    """Return the name of a term at the head or tail of a triple."""
    if not term.startswith("<"):
        return term
    name = relation_name(term, base)
    # An IRI whose name looks like a blank node or a literal would be written as one.
    return _whole(term, base) if re.fullmatch(BLANK, name) or re.fullmatch(LITERAL, name) else name


def relation_name(term: str, base: str) -> str:
    """Return the name of an IRI in brackets."""
    if base and term.startswith(f"<{base}"):
        name = unescape(term[len(base) + 1 : -1])
        if name and not WITH_SLASHES.fullmatch(name) and not _is_bracketed(name):
            return name
    return _whole(term, base)


def _whole(term: str, base: str) -> str:
    return term[1:-1] if not base or WITH_SLASHES.fullmatch(term[1:-1]) else term


def _is_bracketed(name: str) -> bool:
    return name.startswith("<") and bool(re.fullmatch(f"<{IRI}>", name)) and not WITH_SLASHES.fullmatch(name[1:-1])


def escape(name: str) -> str:
    """Write a name so that it can stand in an IRI."""
    return _TO_ESCAPE.sub(lambda match: f"%{ord(match[0]):02X}", name)


def unescape(text: str) -> str:
    """Undo :func:`escape`."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


class Bases(NamedTuple):
    """What the IRIs of entities and of relations begin with, and their names do not."""

    entities: str = ""
    relations: str = ""


Base = str | Sequence[str]
"""One beginning of IRIs for all names; or two, of entities and of relations; or none."""


def as_bases(base: Base) -> Bases:
    """Return one beginning for all, or one for entities and one for relations, as both."""
    given = [base] if isinstance(base, str) else list(base)
    if len(given) > 2:
        raise OptionError(f"{len(given)} bases were given ({', '.join(given)}); give one, or entities' and relations'.")
    for one in filter(None, given):
        if not re.fullmatch(IRI, one):
            raise OptionError(f"The base {one!r} is not the beginning of an IRI, such as http://example.org/")
    return Bases(given[0], given[-1]) if given else Bases()


def term_columns(graph: Graph, base: Bases) -> tuple[Any, Any, Any]:
    """Return heads, relations and tails of a graph's triples as terms, each an object array of shape (N,)."""
    never_head = _never_head(graph).tolist()
    pairs = zip(graph.entity_names, never_head, strict=True)
    entities = np.array([entity_term(name, base.entities, free) for name, free in pairs], dtype=object)
    relations = np.array([relation_term(name, base.relations) for name in graph.relation_names], dtype=object)
    return entities[graph.heads], relations[graph.relations], entities[graph.tails]


def note_terms(graph: Graph) -> Graph:
    """Note the triples with an end that is no IRI."""
    blank = np.array([_is(BLANK, "_:", name) for name in graph.entity_names], dtype=np.bool_)
    literal = literals(graph)
    touched, ending = int((blank[graph.heads] | blank[graph.tails]).sum()), int(literal[graph.tails].sum())
    notes = list(graph.notes)
    if touched:
        notes.append(f"{touched:,} triples have a blank node, named by its label, which is valid in this file only.")
    if ending:
        notes.append(f"{ending:,} triples end in a literal, written as in N-Triples.")
    return replace(graph, notes=tuple(notes))


def without_literals(graph: Graph) -> Graph:
    """Leave out the triples that end in a literal, which no embedding can learn from; say so."""
    ending = literals(graph)[graph.tails]
    if not ending.any():
        return graph
    plain = graph.take(~ending).with_used_names()
    notes = [note for note in graph.notes if "end in a literal" not in note]
    notes.append(f"{int(ending.sum()):,} triples that end in a literal take no part; they stay as they are.")
    return replace(plain, notes=tuple(notes))


def literals(graph: Graph) -> BoolArray:
    """Return for each entity whether it is a literal: named like one, and never at the head of a triple."""
    named_so = np.array([_is(LITERAL, '"', name) for name in graph.entity_names], dtype=np.bool_)
    return named_so & _never_head(graph)


def _is(pattern: str, prefix: str, name: str) -> bool:
    return name.startswith(prefix) and bool(re.fullmatch(pattern, name))


def _never_head(graph: Graph) -> BoolArray:
    never = np.ones(len(graph.entity_names), dtype=np.bool_)
    never[graph.heads] = False
    return never


def import_pyoxigraph() -> Any:
    """Import pyoxigraph, or say what to install."""
    with needing("Reading this RDF", "pyoxigraph", "rdf"):
        import pyoxigraph
    return pyoxigraph


def parse_rdf(format: str, **source: Any) -> list[Any]:
    """Parse with pyoxigraph, whose IRIs are stricter than those of N-Triples: ``http://a/100%`` is one to these."""
    oxigraph = import_pyoxigraph()
    syntax = getattr(oxigraph.RdfFormat, format)
    quads = list(oxigraph.parse(**source, format=syntax, lenient=True))
    terms = {
        str(term)
        for quad in quads
        if quad.predicate.value != REIFIES
        for term in (quad.subject, quad.predicate, quad.object)
    }
    if all(TERM.fullmatch(term) for term in terms):
        return quads
    return list(oxigraph.parse(**source, format=syntax))


def syntax_error(path: Path, line: int, error: SyntaxError) -> FileError:
    """Describe what pyoxigraph could not parse."""
    problem = re.sub(r"^Parser error at line \d+ (between columns \d+ and \d+|column \d+): ", "", error.msg)
    return FileError(f"{path}, line {line}: {problem}.")


def write_literal(cell: Any, name: str = "") -> str:
    """Return a value as a literal: a number with every digit, a date (of the column ``date``), or text."""
    if isinstance(cell, (float, np.floating, int, np.integer)):
        return f'"{float(cell)!r}"^^<{XSD}double>'.replace("inf", "INF")
    text = str(cell)
    if name == "date" and re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return f'"{text}"^^<{XSD}date>'
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(plain, escaped)
    return f'"{text}"'


def write_properties(extras: Mapping[str, Any]) -> list[str]:
    """Return what is known of a fact as predicates and objects; empty cells are left out."""
    known = ((name, cell) for name, cell in extras.items() if not is_missing(cell))
    return [f"<{VOCABULARY}{name}> {write_literal(cell, name)}" for name, cell in known]


def describe_statement(triple: Sequence[str], properties: Sequence[str]) -> list[str]:
    """Return a statement about a triple (rdf:Statement), with its properties, as predicates and objects."""
    parts = zip(PARTS, triple, strict=True)
    return [f"<{RDF}type> <{RDF}Statement>", *(f"<{RDF}{part}> {term}" for part, term in parts), *properties]


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines into a file, gzipped by its name."""
    open_file: Any = gzip.open if path.suffix == ".gz" else open
    with open_file(path, "wt", encoding="utf-8") as file:
        file.writelines(lines)
