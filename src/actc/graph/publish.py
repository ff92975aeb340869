"""Decided facts into a store, and out of it again.

Without ``write`` nothing is changed: the lines describe what would be. To publish twice is to publish once: a run is
named by what is in it. Its facts are in the named graph of that name; their provenance is in a second one beside it, as
statements (rdf:Statement), so that readers of the facts read nothing else. Facts that were taken out are removed from
the store only with ``remove``; what is removed from where is written into a third graph first, and comes back when the
run is withdrawn.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from actc import __version__
from actc.data.begun import Begun
from actc.data.layout import first_lines
from actc.data.progress import Progress, ignore_progress
from actc.errors import FileError, OptionError, StoreError
from actc.graph.client import SparqlClient, StoreAddress, refuse_odd_iri
from actc.graph.formats import read_extras, read_graph
from actc.graph.rdf import (
    BLANK,
    IRI,
    PARTS,
    RDF,
    VOCABULARY,
    XSD,
    Base,
    as_bases,
    describe_statement,
    parse_rdf,
    term_columns,
    write_properties,
)
from actc.graph.read_sparql import count_triples, match_triples, read_count, read_triples

ACCEPTED, REMOVED = "accepted.tsv", "removed.tsv"
PROV = "http://www.w3.org/ns/prov#"
REMOVED_FROM = f"{VOCABULARY}removedFrom"
DEFAULT_GRAPH = f"{VOCABULARY}defaultGraph"
GENID = r"<?https?://[^/]*/\.well-known/genid/.*"
CHUNK, SMALL = 10_000, 500
"""Lines in one update; and the number that is tried when a store refuses more: Virtuoso takes a thousand."""
MANY = 100_000
"""Triples that are taken out at once."""
QUERIES = {"/update": "/query", "/statements": "", "/sparql-auth": "/sparql"}
"""How the address of updates ends, and that of queries in its place: Oxigraph and Jena, GraphDB, Virtuoso."""


class SparqlTarget(SparqlClient):
    """A store that is written to, and answers queries; a graph without a name is the default graph."""

    def __init__(self, store: StoreAddress) -> None:
        super().__init__(store)
        ending = next((ending for ending in QUERIES if store.url.endswith(ending)), "")
        self.query_url = store.url.removesuffix(ending) + QUERIES.get(ending, "")
        self.most = CHUNK

    def count(self, graph: str) -> int:
        """Count the triples of a graph."""
        return sum(count_triples(self, graph).values())

    def find(self, facts: list[Fact], graph: str) -> list[Fact]:
        """Return the facts that a graph contains."""
        pattern = match_triples(refuse_odd_iri(graph, "--graph") if graph else "")
        there: list[Fact] = []
        for start in range(0, len(facts), SMALL):
            chunk = facts[start : start + SMALL]
            values = " ".join(f"({place} {' '.join(fact.triple)})" for place, fact in enumerate(chunk))
            query = f"SELECT DISTINCT ?place WHERE {{ VALUES (?place ?s ?p ?o) {{ {values} }} {pattern} }}"
            texts = {row.get("place", "") for row in self.select(query)}
            there += [fact for place, fact in enumerate(chunk) if str(place) in texts]
        return there

    def change(self, verb: str, graph: str, lines: Sequence[str], progress: Progress = ignore_progress) -> None:
        """Insert or delete lines; in small chunks from then on, where the store refuses a large one."""
        start = 0
        while start < len(lines):
            part = lines[start : start + self.most]
            text = "".join(part)
            data = f"GRAPH <{graph}> {{\n{text}}}" if graph else f"\n{text}"
            try:
                self.update(f"{verb} DATA {{ {data} }}")
            except StoreError:
                if len(part) <= SMALL:
                    raise
                self.most = SMALL
            else:
                start += len(part)
                progress(len(part), len(lines))

    def expect(self, graph: str, wanted: int) -> None:
        """Refuse a store whose graph does not have as many triples as were written."""
        count = self.count(graph)
        if count != wanted:
            raise StoreError(f"{self.store}: {graph} has {count:,} facts, not {wanted:,}; publish it again.")

    def drop(self, graph: str) -> None:
        """Take out a named graph, a large one in chunks: a server may give up on one long transaction."""
        for _ in range(self.count(graph) // MANY):
            some = f"{{ SELECT ?s ?p ?o WHERE {{ {match_triples(graph)} }} LIMIT {MANY} }}"
            self.update(f"DELETE {{ {match_triples(graph)} }} WHERE {{ {some} }}")
        self.update(f"DROP SILENT GRAPH <{graph}>")
        self.expect(graph, 0)


class Fact(NamedTuple):
    """A fact as N-Triples writes it, and what is known of it."""

    triple: tuple[str, str, str]
    properties: list[str]  # predicates and objects: probability, method, date, reasons and the like

    @property
    def line(self) -> str:
        """The fact as a line."""
        return f"{' '.join(self.triple)} .\n"


def _read_facts(path: Path, base: Base) -> tuple[list[Fact], int]:
    """Read a table of facts, and how many are left out; of one that is not there, or has no row, none.

    Left out is what no update can name: an end that is a blank node, or a text that a store may take for an escape.
    """
    if not path.exists() or (path.suffix in (".tsv", ".csv") and len(first_lines(path, 2)) < 2):
        return [], 0
    graph = read_graph(path)
    # Of an escape SPARQL lets a server make any character before it parses.
    odd = re.compile(rf"{BLANK}|{GENID}|(?s:.*\\[uU].*)")
    nameless = np.array([odd.fullmatch(name) is not None for name in graph.entity_names], dtype=np.bool_)
    rows = np.flatnonzero(~(nameless[graph.heads] | nameless[graph.tails]))
    columns = [column.tolist() for column in term_columns(graph.take(rows), as_bases(base))]
    extras = {
        name: [re.sub(r"\\(?=[uU])", "/", cell) if isinstance(cell, str) else cell for cell in column[rows]]
        for name, column in read_extras(path, graph).items()
    }
    cells = ({name: column[row] for name, column in extras.items()} for row in range(len(rows)))
    facts = map(Fact, zip(*columns, strict=True), map(write_properties, cells))
    return list(facts), len(graph) - len(rows)


@dataclass(frozen=True, eq=False)
class Publication:
    """What is written into a store at once: a run."""

    into: str  # the IRI under which runs are
    accepted: list[Fact]
    removed: list[Fact]  # what was taken out
    nameless: int  # facts that are left out, as no update can name them

    @classmethod
    def read(cls, folder: Path, into: str, base: Base = "") -> Publication:
        """Read what a folder of ``complete`` or ``check`` decided, or a table such as ``export --accepted`` writes."""
        if not re.fullmatch(IRI, into):
            raise OptionError(f"--into: {into!r} is no IRI such as http://example.org/kg")
        if not folder.exists():
            raise FileError(f"{folder}: there is no such folder or table.")
        begun = Begun.peek(folder)
        base = base or (begun.inputs.get("--base") if begun else None) or ""
        table, removed = (folder / ACCEPTED, folder / REMOVED) if folder.is_dir() else (folder, folder / REMOVED)
        if not table.exists() and not removed.exists():
            raise FileError(f"{folder} has neither {ACCEPTED} nor {REMOVED}: nothing was decided there yet.")
        (accepted, some), (wrong, others) = _read_facts(table, base), _read_facts(removed, base)
        return cls(into, accepted, wrong, some + others)

    @cached_property
    def iri(self) -> str:
        """The name of the run, and of the graph with its facts: it is made from what is in it."""
        digest = hashlib.sha256()
        for facts in (self.accepted, self.removed):
            for fact in facts:
                digest.update(" ".join((*fact.triple, *fact.properties, "\n")).encode())
            digest.update(b"\n")
        return f"{self.into.rstrip('/#')}/run/{digest.hexdigest()[:16]}"

    def provenance(self) -> Iterator[str]:
        """Return the lines about the run and each of its facts."""
        activity, maker = f"<{self.iri}/activity>", f"<{VOCABULARY}software/{__version__}>"
        yield f"<{self.iri}> <{RDF}type> <{PROV}Entity> .\n<{self.iri}> <{PROV}wasGeneratedBy> {activity} .\n"
        yield f"{activity} <{RDF}type> <{PROV}Activity> .\n{activity} <{PROV}wasAssociatedWith> {maker} .\n"
        yield f"{maker} <{RDF}type> <{PROV}SoftwareAgent> .\n"
        yield f'<{self.iri}> <{VOCABULARY}facts> "{len(self.accepted)}"^^<{XSD}integer> .\n'
        for fact in self.accepted:
            if fact.properties:
                yield from self._describe(fact, " ".join(fact.triple))

    def removals(self, graph: str, facts: list[Fact]) -> list[str]:
        """Return the lines about facts that are removed from a graph."""
        place = f"<{REMOVED_FROM}> <{graph or DEFAULT_GRAPH}>"
        return [line for fact in facts for line in self._describe(fact, f"{graph} {' '.join(fact.triple)}", place)]

    def _describe(self, fact: Fact, name: str, *more: str) -> Iterator[str]:
        """Return a statement about a fact; of one name, it is always the same node."""
        node = f"<{self.iri}#{hashlib.sha256(name.encode()).hexdigest()[:20]}>"
        return (f"{node} {words} .\n" for words in describe_statement(fact.triple, [*more, *fact.properties]))


@dataclass(frozen=True)
class Published:
    """What came of a publication, or of its withdrawal."""

    run: str  # the name of the run
    lines: tuple[str, ...]  # what a person should read


def publish_facts(
    folder: str | Path,
    to: str,
    into: str,
    *,
    write: bool = False,
    remove: bool = False,
    replace: bool = False,
    graphs: Sequence[str] = (),
    key_from: str | None = None,
    base: Base = "",
    progress: Progress = ignore_progress,
) -> Published:
    """Write what was decided into a store, as ``actc publish`` does.

    Parameters
    ----------
    folder : path
        What ``complete`` or ``check`` wrote, or a table of accepted facts.
    to : str
        ``sparql:http://host/update``.
    into : str
        The IRI under which the run gets a named graph of its own.
    write : bool
        Without it nothing is written, and the lines describe what would be.
    remove : bool
        Also remove the facts that were taken out, from the graphs named in ``graphs``, or else the default graph.
    replace : bool
        Take earlier runs under the same IRI back out first.
    graphs : sequence of str
    key_from : str, optional
        The environment variable that contains a bearer token, or user:password.
    base : str, or two of them
        Put before names that are no IRIs; what ``complete`` was given, if not given here.
    progress : callable
        Called with lines written, lines in all.
    """
    run = Publication.read(Path(folder), into, base)
    if not len(run.accepted) and not (remove and len(run.removed)):
        hint = f"; --remove takes out the {len(run.removed):,} that are wrong" if len(run.removed) else ""
        raise OptionError(f"{folder}: there is nothing to publish{hint}.")
    with SparqlTarget(StoreAddress.of(to, key_from)) as target:
        earlier = {name: facts for name, facts in _list_runs(target, into).items() if name != run.iri}
        if write and replace:  # what they removed comes back before this run removes it again
            for name in earlier:
                _withdraw_run(target, name)
        removed = {graph: target.find(run.removed, graph) for graph in (tuple(graphs) or ("",) if remove else ())}
        fate = ("is taken out" if write else "would be taken out") if replace else "stays; --replace takes it out"
        lines = _describe(run, to, removed, remove)
        lines += [f"An earlier run {fate}: {name}, {facts:,} facts." for name, facts in earlier.items()]
        if not write:
            return Published(run.iri, (*lines, "Nothing was written; --write does it."))
        # What is removed is written down before it goes.
        for graph, facts in removed.items():
            target.change("INSERT", f"{run.iri}/removed", run.removals(graph, facts))
        target.change("INSERT", f"{run.iri}/provenance", list(run.provenance()))
        target.change("INSERT", run.iri, [fact.line for fact in run.accepted], progress)
        for graph, facts in removed.items():
            target.change("DELETE", graph, [fact.line for fact in facts])
        target.expect(run.iri, len(run.accepted))
    back = f"actc withdraw {folder} --to {to} --into {into} --run {run.iri}"
    return Published(run.iri, (*lines, f"Written. To take it back: {back}"))


def _withdraw_run(target: SparqlTarget, run: str) -> None:
    """Put back what a run removed, then take out what it wrote; the note of what was removed goes last."""
    for graph, lines in _read_removed(target, run).items():
        target.change("INSERT", graph, lines)
    for graph in (run, f"{run}/provenance", f"{run}/removed"):
        target.drop(graph)


def _list_runs(target: SparqlTarget, into: str) -> dict[str, int]:
    """Return the runs that are under an IRI, and how many facts each wrote."""
    rows = target.select(
        f"SELECT DISTINCT ?run ?facts WHERE {{ GRAPH ?g {{ ?run <{RDF}type> <{PROV}Entity> ; "
        f'<{VOCABULARY}facts> ?facts }} FILTER(STRSTARTS(STR(?run), "{into.rstrip("/#")}/run/")) }}'
    )
    return {
        refuse_odd_iri(row.get("run", ""), target.store): read_count(row.get("facts", ""), target.store) for row in rows
    }


def _read_removed(target: SparqlTarget, run: str) -> dict[str, list[str]]:
    """Read what a run removed, whole: lines of facts by graph."""
    graph = f"{run}/removed"
    lines: dict[str, list[str]] = {}
    if not target.count(graph):
        return lines
    statements: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory(prefix="actc-") as folder:
        read_triples(target, (graph,), Path(folder), ignore_progress)
        for quad in parse_rdf("N_TRIPLES", path=Path(folder) / "0.nt"):
            statements.setdefault(str(quad.subject), {})[quad.predicate.value] = str(quad.object)
    for properties in statements.values():
        place = properties.get(REMOVED_FROM, "")[1:-1]
        fact = " ".join(properties.get(f"{RDF}{part}", "") for part in PARTS)
        if place:
            lines.setdefault("" if place == DEFAULT_GRAPH else place, []).append(f"{fact} .\n")
    return lines


def _describe(run: Publication, to: str, removed: dict[str, list[Fact]], remove: bool) -> list[str]:
    """Describe what is written where."""
    lines = [f"{len(run.accepted):,} facts into {to}, as {run.iri}."] if len(run.accepted) else []
    for graph, facts in removed.items():
        lines.append(f"{len(facts):,} of {len(run.removed):,} facts out of {graph or 'the default graph'}.")
    if len(run.removed) and not remove:
        lines.append(f"{len(run.removed):,} facts that were taken out stay in the store; --remove takes them out.")
    if run.nameless:
        why = "an end that no update can name, a blank node or a text with an escape"
        lines.append(f"{run.nameless:,} facts have {why}: left out.")
    return lines


def withdraw_facts(
    folder: str | Path,
    to: str,
    into: str,
    *,
    run: str | None = None,
    dry_run: bool = False,
    key_from: str | None = None,
    base: Base = "",
) -> Published:
    """Take a run back out of a store, as ``actc withdraw`` does: what it wrote goes, what it removed comes back.

    Parameters
    ----------
    folder : path
        The folder that was published.
    to, into : str
        As in :func:`publish_facts`.
    run : str, optional
        The name of the run; if not given, the run that has the decisions of the folder.
    dry_run : bool
        Change nothing, and say what would be.
    key_from, base
        As in :func:`publish_facts`.
    """
    name = refuse_odd_iri(run, "--run") if run else Publication.read(Path(folder), into, base).iri
    with SparqlTarget(StoreAddress.of(to, key_from)) as target:
        facts, removed = target.count(name), _read_removed(target, name)
        if not facts and not removed and not target.count(f"{name}/provenance"):
            there = ", ".join(_list_runs(target, into)) or "none"
            raise OptionError(f"{to}: there is no run {name}; --run names one of those under {into}: {there}.")
        lines = [f"{facts:,} facts of {name} out of {to}."]
        lines += [f"{len(back):,} facts back into {graph or 'the default graph'}." for graph, back in removed.items()]
        if dry_run:
            return Published(name, (*lines, "Nothing was changed."))
        _withdraw_run(target, name)
    return Published(name, (*lines, "Done."))
