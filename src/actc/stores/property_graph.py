"""Property graphs as triples, and back: a node is an entity, a relationship a fact, a property a fact with a literal.

A node's label is its class (rdf:type). Names and descriptions get the relations that RDF has for them, so that people
see them on their cards. Properties that are lists or the like, and those of relationships, are left out, and said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from actc.errors import OptionError, StoreError
from actc.graphs.terms import RDF, RDFS, WITH_SLASHES, XSD, escape, unescape
from actc.stores.read_sparql import LINES
from actc.stores.runs import Decided, Run, quoted
from actc.tables.progress import Progress

WORDS = {
    "name": f"{RDFS}label",
    "label": f"{RDFS}label",
    "description": "http://schema.org/description",
}
"""Properties that RDF has a relation for."""
PREFIX = "actc_"
MARK = f"{PREFIX}run"
"""The property of a relationship that says which run wrote it."""
SMALL = 1000
"""Relationships written at once."""


class Node(NamedTuple):
    """A node: what it is called, its labels, its properties."""

    name: str
    labels: tuple[str, ...]
    properties: Mapping[str, Any]


class Relationship(NamedTuple):
    """A relationship: the name of a node, a type, the name of another."""

    head: str
    kind: str
    tail: str


class PropertyGraph(Protocol):
    """What is asked of a property graph's store."""

    space: str
    """What the IRIs of its names begin with."""

    def count(self) -> tuple[int, int, int]:
        """Return how many nodes and relationships there are, and how many of these have properties."""

    def nodes(self) -> Iterator[Node]:
        """Return the nodes."""

    def relationships(self) -> Iterator[Relationship]:
        """Return the relationships."""

    def add(self, kind: str, rows: list[dict[str, Any]]) -> int:
        """Write relationships (head, tail, properties) of one type where they are not yet; return how many are."""

    def count_run(self, run: str) -> int:
        """Return how many relationships a run wrote."""

    def drop_run(self, run: str) -> None:
        """Take out what a run wrote."""

    def close(self) -> None:
        """Let go of it."""


def read_property_graph(store: PropertyGraph, told: str, folder: Path, progress: Progress) -> list[str]:
    """Write all triples of a property graph into ``LINES`` in a folder; return what a person should know."""
    nodes, relationships, beside = store.count()
    total, seen, odd = nodes + relationships, [0, 0], 0
    if not total:
        raise StoreError(f"{told}: there is no node in it.")
    with (folder / LINES).open("w", encoding="utf-8") as file:
        for node in store.nodes():
            seen[0] += 1
            lines, left = _node_lines(store.space, node)
            file.writelines(lines)
            odd += left
            progress(1, total)
        for found in store.relationships():
            seen[1] += 1
            terms = (entity(store.space, found.head), term(store.space, found.kind), entity(store.space, found.tail))
            file.write(f"{' '.join(terms)} .\n")
            progress(1, total)
    if seen != [nodes, relationships] or store.count()[:2] != (nodes, relationships):
        raise StoreError(
            f"{told} counts {total:,} nodes and relationships, and gives {sum(seen):,}; nothing is written."
        )
    notes = [f"{odd:,} properties that are lists, maps or the like are left out."] if odd else []
    return [*notes, *([f"The properties of {beside:,} relationships are left out."] if beside else [])]


def _node_lines(space: str, node: Node) -> tuple[list[str], int]:
    """Return a node's labels and properties as triples, and how many properties no literal can hold."""
    head, lines, odd = entity(space, node.name), [], 0
    lines += [f"{head} <{RDF}type> {term(space, label)} .\n" for label in node.labels]
    for name, value in node.properties.items():
        literal = to_literal(value)
        odd += literal is None and value is not None
        if literal is not None:
            relation = f"<{WORDS[name]}>" if name in WORDS else term(space, name)
            lines.append(f"{head} {relation} {literal} .\n")
    return lines, odd


def to_literal(value: Any) -> str | None:
    """Return a value as a literal of RDF; None for what is none."""
    kinds: list[tuple[type | tuple[type, ...], str, Callable[[Any], str]]] = [
        (bool, "boolean", lambda value: str(value).lower()),
        (int, "integer", str),
        (float, "double", lambda value: repr(value) if math.isfinite(value) else _not_finite(value)),
        (Decimal, "decimal", lambda value: f"{value:f}"),
        (datetime, "dateTime", lambda value: value.isoformat()),
        (date, "date", lambda value: value.isoformat()),
    ]
    if isinstance(value, str):
        return quoted(value)
    found = next(((name, write) for kind, name, write in kinds if isinstance(value, kind)), None)
    return None if found is None else f'"{found[1](value)}"^^<{XSD}{found[0]}>'


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"


def term(space: str, name: str) -> str:
    """Return a name of the store's as an IRI in brackets."""
    return f"<{space}{escape(name)}>"


def entity(space: str, name: str) -> str:
    """Return a node's name as an IRI in brackets: itself, if it is an IRI."""
    return f"<{name}>" if WITH_SLASHES.fullmatch(name) else term(space, name)


def name_of(space: str, found: str) -> str:
    """Undo :func:`entity` and :func:`term`."""
    return unescape(found[len(space) + 1 : -1]) if found.startswith(f"<{space}") else found[1:-1]


class PropertyTarget:
    """A property graph's store that is written to.

    Parameters
    ----------
    store : PropertyGraph
    told : str
        Its address.
    """

    def __init__(self, store: PropertyGraph, told: str) -> None:
        self.store, self.told = store, told

    def __enter__(self) -> PropertyTarget:
        """Return the target."""
        return self

    def __exit__(self, *problem: object) -> None:
        """Let go of the store."""
        self.store.close()

    def find(self, removed: Decided, graphs: tuple[str, ...]) -> dict[str, Decided]:
        """Refuse: what a relationship holds besides its ends could not be put back as it was."""
        raise OptionError(f"--remove: it works with SPARQL stores; {self.told} is none.")

    def describe(self, run: Run) -> list[str]:
        """Say how the store is told where facts come from."""
        others = len(run.facts) - len(self._rows(run))
        lines = [f"{others:,} facts are no relationships between nodes of this store: left out."] if others else []
        return [*lines, f"Where they come from is written as properties ({MARK}, {PREFIX}probability, ...)."]

    def _rows(self, run: Run) -> list[tuple[str, dict[str, Any]]]:
        """Return the facts that are relationships: the type of each, its ends and properties."""
        found, space = [], self.store.space
        for row in range(len(run.facts)):
            head, relation, tail = (str(run.facts.terms[name][row]) for name in ("head", "relation", "tail"))
            if not relation.startswith(f"<{space}") or not tail.startswith("<"):
                continue
            beside = {f"{PREFIX}{name}": plain(column[row]) for name, column in run.facts.extras.items()}
            ends = {"head": name_of(space, head), "tail": name_of(space, tail)}
            found.append((name_of(space, relation), {**ends, "properties": {**beside, MARK: run.iri}}))
        return sorted(found, key=lambda one: one[0])

    def write(self, run: Run, removed: dict[str, Decided], progress: Progress) -> None:
        """Write the facts as relationships, those of one type together."""
        there, found = 0, self._rows(run)
        for kind, together in groupby(found, key=lambda one: one[0]):
            rows = [row for _, row in together]
            for start in range(0, len(rows), SMALL):
                there += self.store.add(kind, rows[start : start + SMALL])
                progress(len(rows[start : start + SMALL]), len(found))
        if there != len(found):
            raise StoreError(
                f"{self.told}: {len(found) - there:,} of {len(found):,} facts have an end that is not there."
            )

    def look(self, run: str) -> tuple[int, dict[str, int]]:
        """Return how many facts of a run are there."""
        found = self.store.count_run(run)
        if not found:
            raise OptionError(f"{self.told}: there is no run {run}.")
        return found, {}

    def withdraw(self, run: str) -> None:
        """Take out what a run wrote."""
        self.store.drop_run(run)


def plain(cell: Any) -> Any:
    """Return a cell as a plain value; None for nothing."""
    value = cell.item() if hasattr(cell, "item") else cell
    return None if value is None or value != value else value


def properties_of(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the names of the properties of some rows, each with a value of its kind."""
    found: dict[str, Any] = {}
    for row in rows:
        found.update({name: value for name, value in row["properties"].items() if value is not None})
    return found
