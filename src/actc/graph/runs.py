"""What a folder decided, as a run: facts, facts that were taken out, and where each comes from, as lines of RDF.

A run has a name of its own, made from what is in it: the same decisions are the same run, wherever and however often
they are published. Facts are in the named graph of that name; their provenance is in a second one beside it, so
that whoever reads the facts reads nothing else.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from actc import __version__
from actc.data.files import load_json, ordinary
from actc.errors import FileError, OptionError
from actc.graph.formats import read_extras, read_graph
from actc.graph.graph import Graph
from actc.graph.rdf import DOUBLE, PARTS, VOCABULARY
from actc.graph.tables import is_missing
from actc.graph.terms import BLANK, IRI, RDF, REIFIES, XSD, Base, as_bases, term_columns

ACCEPTED, REMOVED, BEGUN = "accepted.tsv", "removed.tsv", "begun.json"
PROV = "http://www.w3.org/ns/prov#"
DATE, INTEGER = f"{XSD}date", f"{XSD}integer"
TRIPLE_TERMS, STATEMENTS = "triple terms", "statements"
REMOVED_FROM = f"{VOCABULARY}removedFrom"
DEFAULT_GRAPH = f"{VOCABULARY}defaultGraph"
GENID = r"<?https?://[^/]*/\.well-known/genid/.*"
Columns = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Decided:
    """Facts and what stands beside each."""

    terms: Columns  # shape (N,); head, relation and tail as N-Triples writes them
    names: Graph  # the same as names
    extras: Columns = field(default_factory=dict)  # shape (N,); probability, method, date, reasons and the like
    # how many facts were left out because no update can name one of their ends: a blank node, or a text that a store
    # may take for an escape
    nameless: int = 0

    @classmethod
    def read(cls, path: Path, base: Base) -> Decided:
        """Read a table of facts; one that is not there, or has no row, is none."""
        if not path.exists() or _is_empty(path):
            nothing = Graph.from_columns([], [], [])
            return cls(nothing.columns(), nothing)
        graph = read_graph(path)
        odd = np.array([_is_blank(name) or _looks_escaped(name) for name in graph.entity_names], dtype=np.bool_)
        kept = np.flatnonzero(~(odd[graph.heads] | odd[graph.tails]))
        whole = cls(term_columns(graph, as_bases(base)), graph, read_extras(path, graph))
        return replace(whole.take(kept), nameless=len(graph) - len(kept))

    def __len__(self) -> int:
        """Return the number of facts."""
        return len(self.terms["head"])

    def triple(self, row: int) -> str:
        """Return a fact as N-Triples has it, without the dot."""
        return f"{self.terms['head'][row]} {self.terms['relation'][row]} {self.terms['tail'][row]}"

    def take(self, rows: Any) -> Decided:
        """Return some of the facts."""
        terms, extras = ({name: column[rows] for name, column in found.items()} for found in (self.terms, self.extras))
        return Decided(terms, self.names.take(rows), extras)

    def properties(self, row: int) -> list[str]:
        """Return the provenance of a fact: predicates and objects."""
        cells = ((name, column[row]) for name, column in self.extras.items())
        return [f"<{VOCABULARY}{name}> {_literal(name, cell)}" for name, cell in cells if not is_missing(cell)]


def _is_empty(path: Path) -> bool:
    """Return whether a table has a header and no row."""
    if path.suffix not in (".tsv", ".csv"):
        return False
    with ordinary(path).open("rb") as file:
        return len([line for line in (file.readline(), file.readline()) if line.strip()]) < 2


def _is_blank(name: str) -> bool:
    return bool(re.fullmatch(BLANK, name)) or bool(re.fullmatch(GENID, name))


def _looks_escaped(text: str) -> bool:
    r"""Return whether a text has ``\\u`` in it: SPARQL lets a server turn that into any character before it parses."""
    return "\\u" in text or "\\U" in text


def _literal(name: str, cell: Any) -> str:
    """Return a value as a literal: a number, a date, or text."""
    if isinstance(cell, (float, np.floating, int, np.integer)):
        return f'"{float(cell)!r}"^^<{DOUBLE}>'.replace("inf", "INF")
    text = re.sub(r"\\(?=[uU])", "/", str(cell))  # see _looks_escaped
    if name == "date" and re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return f'"{text}"^^<{DATE}>'
    return quoted(text)


def quoted(text: str) -> str:
    """Return a text as a literal."""
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(plain, escaped)
    return f'"{text}"'


@dataclass(frozen=True, eq=False)
class Run:
    """What one publication writes."""

    into: str  # the IRI under which runs lie
    # facts, removed: what was accepted, and what was taken out
    facts: Decided
    removed: Decided
    base: Base = ""  # what stands before names that are no IRIs

    @classmethod
    def read(cls, folder: str | Path, into: str, base: Base = "") -> Run:
        """Read what a folder of ``complete`` or ``check`` decided, or a table such as ``export --accepted`` writes."""
        folder = Path(folder)
        if not re.fullmatch(IRI, into):
            raise OptionError(f"--into: {into!r} is no IRI such as http://example.org/kg")
        if not folder.exists():
            raise FileError(f"{folder}: there is no such folder or table.")
        base = base or _base_of(folder)
        table, removed = (folder / ACCEPTED, folder / REMOVED) if folder.is_dir() else (folder, folder / REMOVED)
        if not table.exists() and not removed.exists():
            raise FileError(f"{folder} has neither {ACCEPTED} nor {REMOVED}: nothing was decided there yet.")
        return cls(into, Decided.read(table, base), Decided.read(removed, base), base)

    @cached_property
    def iri(self) -> str:
        """The name of the run, and of the graph with its facts: it is made from what is in it."""
        digest = hashlib.sha256()
        for decided in (self.facts, self.removed):
            for row in range(len(decided)):
                digest.update(" ".join((decided.triple(row), *decided.properties(row), "\n")).encode())
            digest.update(b"\n")
        return f"{self.into.rstrip('/#')}/run/{digest.hexdigest()[:16]}"

    @property
    def about(self) -> str:
        """The graph with the provenance of its facts."""
        return f"{self.iri}/provenance"

    @property
    def gone(self) -> str:
        """The graph with what was removed from which graph."""
        return f"{self.iri}/removed"

    def fact_lines(self) -> Iterator[str]:
        """Return the facts, one a line."""
        return (f"{self.facts.triple(row)} .\n" for row in range(len(self.facts)))

    def about_lines(self, form: str) -> Iterator[str]:
        """Return the provenance of the run and of each of its facts."""
        activity, maker = f"<{self.iri}/activity>", f"<{VOCABULARY}software/{__version__}>"
        yield f"<{self.iri}> <{RDF}type> <{PROV}Entity> .\n<{self.iri}> <{PROV}wasGeneratedBy> {activity} .\n"
        yield f"{activity} <{RDF}type> <{PROV}Activity> .\n{activity} <{PROV}wasAssociatedWith> {maker} .\n"
        yield f"{maker} <{RDF}type> <{PROV}SoftwareAgent> .\n"
        yield f'<{self.iri}> <{VOCABULARY}facts> "{len(self.facts)}"^^<{INTEGER}> .\n'
        for row in range(len(self.facts)) if self.facts.extras else ():
            yield from speak_of(self.node(self.facts.triple(row)), self.facts, row, form)

    def removed_lines(self, graph: str, removed: Decided) -> Iterator[str]:
        """Return that facts were removed from a graph, as statements, which every store takes and gives back."""
        for row in range(len(removed)):
            node = self.node(f"{graph} {removed.triple(row)}")
            yield f"{node} <{REMOVED_FROM}> <{graph or DEFAULT_GRAPH}> .\n"
            yield from speak_of(node, removed, row, STATEMENTS)

    def node(self, text: str) -> str:
        """Return a name for the provenance of a fact: always the same."""
        return f"<{self.iri}#{hashlib.sha256(text.encode()).hexdigest()[:20]}>"


def speak_of(node: str, decided: Decided, row: int, form: str) -> Iterator[str]:
    """Return the lines about a fact: which one, and all that stands beside it."""
    if form == TRIPLE_TERMS:
        yield f"{node} <{REIFIES}> <<( {decided.triple(row)} )>> .\n"
    else:
        yield f"{node} <{RDF}type> <{RDF}Statement> .\n"
        for part, name in zip(PARTS, ("head", "relation", "tail"), strict=True):
            yield f"{node} <{RDF}{part}> {decided.terms[name][row]} .\n"
    for words in decided.properties(row):
        yield f"{node} {words} .\n"


def _base_of(folder: Path) -> Base:
    """Return the base that a run of ``complete`` or ``check`` was given."""
    try:
        base = load_json(folder / BEGUN)["asked"]["--base"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return base if isinstance(base, (str, list)) else ""
