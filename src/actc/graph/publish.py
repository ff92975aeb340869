"""Decided facts into a store, and out of it again.

Without ``write`` nothing is changed: the lines describe what would be. To publish twice is to publish once: a run is
named by what is in it. Its facts are in the named graph of that name; their provenance is in a second one beside it, as
statements (rdf:Statement), so that readers of the facts read nothing else. Facts that were taken out are removed from
the store only with ``remove``; what is removed from where is written down first, in the store and in the folder, and
comes back when the run is withdrawn.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from actc import __version__
from actc.data.begun import Begun
from actc.data.layout import first_lines
from actc.data.progress import Progress, ignore_progress
from actc.data.text_files import load_json, write_json
from actc.errors import FileError, OptionError
from actc.graph.client import StoreAddress, refuse_odd_iri
from actc.graph.formats import read_extras, read_graph
from actc.graph.read_sparql import read_count
from actc.graph.target import SparqlTarget
from actc.graph.terms import (
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

ACCEPTED, REMOVED, PUBLISHED = "accepted.tsv", "removed.tsv", "published.json"
FORMAT = "actc-published"
PROV = "http://www.w3.org/ns/prov#"
REMOVED_FROM = f"{VOCABULARY}removedFrom"
DEFAULT_GRAPH = f"{VOCABULARY}defaultGraph"
GENID = r"<?https?://[^/]*/\.well-known/genid/.*"


@dataclass(frozen=True, eq=False)
class FactLines:
    """Facts as N-Triples writes them, and the provenance of each."""

    triples: list[tuple[str, str, str]]  # head, relation, tail
    properties: list[list[str]]  # predicates and objects: probability, method, date, reasons and the like
    # facts that were left out because no update can name one of their ends: a blank node, or a text that a store may
    # take for an escape
    nameless: int = 0

    @classmethod
    def read(cls, path: Path, base: Base) -> FactLines:
        """Read a table of facts; one that is not there, or has no row, has none."""
        if not path.exists() or (path.suffix in (".tsv", ".csv") and len(first_lines(path, 2)) < 2):
            return cls([], [])
        graph = read_graph(path)
        # Of an escape SPARQL lets a server make any character before it parses.
        odd = re.compile(rf"{BLANK}|{GENID}|(?s:.*\\[uU].*)")
        nameless = np.array([odd.fullmatch(name) is not None for name in graph.entity_names], dtype=np.bool_)
        rows = np.flatnonzero(~(nameless[graph.heads] | nameless[graph.tails]))
        named, extras = graph.take(rows), {name: column[rows] for name, column in read_extras(path, graph).items()}
        columns = [column.tolist() for column in term_columns(named, as_bases(base))]
        extras = {
            name: [re.sub(r"\\(?=[uU])", "/", cell) if isinstance(cell, str) else cell for cell in column]
            for name, column in extras.items()
        }
        cells = [{name: column[row] for name, column in extras.items()} for row in range(len(rows))]
        return cls(list(zip(*columns, strict=True)), list(map(write_properties, cells)), len(graph) - len(rows))

    def __len__(self) -> int:
        """Return the number of facts."""
        return len(self.triples)

    def lines(self) -> list[str]:
        """Return the facts, one a line."""
        return [f"{' '.join(triple)} .\n" for triple in self.triples]

    def take(self, rows: list[int]) -> FactLines:
        """Return some of the facts."""
        return FactLines([self.triples[row] for row in rows], [self.properties[row] for row in rows])


@dataclass(frozen=True, eq=False)
class Publication:
    """What is written into a store at once: a run."""

    into: str  # the IRI under which runs are
    accepted: FactLines
    removed: FactLines  # what was taken out

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
        return cls(into, FactLines.read(table, base), FactLines.read(removed, base))

    @cached_property
    def iri(self) -> str:
        """The name of the run, and of the graph with its facts: it is made from what is in it."""
        digest = hashlib.sha256()
        for facts in (self.accepted, self.removed):
            for triple, properties in zip(facts.triples, facts.properties, strict=True):
                digest.update(" ".join((*triple, *properties, "\n")).encode())
            digest.update(b"\n")
        return f"{self.into.rstrip('/#')}/run/{digest.hexdigest()[:16]}"

    def provenance(self) -> Iterator[str]:
        """Return the lines about the run and each of its facts."""
        activity, maker = f"<{self.iri}/activity>", f"<{VOCABULARY}software/{__version__}>"
        yield f"<{self.iri}> <{RDF}type> <{PROV}Entity> .\n<{self.iri}> <{PROV}wasGeneratedBy> {activity} .\n"
        yield f"{activity} <{RDF}type> <{PROV}Activity> .\n{activity} <{PROV}wasAssociatedWith> {maker} .\n"
        yield f"{maker} <{RDF}type> <{PROV}SoftwareAgent> .\n"
        yield f'<{self.iri}> <{VOCABULARY}facts> "{len(self.accepted)}"^^<{XSD}integer> .\n'
        for triple, properties in zip(self.accepted.triples, self.accepted.properties, strict=True):
            if properties:
                yield from self._describe(" ".join(triple), triple, properties)

    def removals(self, graph: str, facts: FactLines) -> Iterator[str]:
        """Return the lines about facts that are removed from a graph."""
        place = f"<{REMOVED_FROM}> <{graph or DEFAULT_GRAPH}>"
        for triple, properties in zip(facts.triples, facts.properties, strict=True):
            yield from self._describe(f"{graph} {' '.join(triple)}", triple, [place, *properties])

    def _describe(self, text: str, triple: Sequence[str], properties: Sequence[str]) -> Iterator[str]:
        """Return a statement about a fact; its name is always the same."""
        node = f"<{self.iri}#{hashlib.sha256(text.encode()).hexdigest()[:20]}>"
        return (f"{node} {words} .\n" for words in describe_statement(triple, properties))


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
    query_at: str | None = None,
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
    query_at : str, optional
        Where a SPARQL store answers queries, if its address of updates does not show it.
    key_from : str, optional
        The environment variable that contains a bearer token, or user:password.
    base : str, or two of them
        Put before names that are no IRIs; what ``complete`` was given, if not given here.
    progress : callable
        Called with lines written, lines in all.
    """
    run = Publication.read(Path(folder), into, base)
    read_records(Path(folder))  # refused before anything is changed
    if not len(run.accepted) and not (remove and len(run.removed)):
        hint = f"; --remove takes out the {len(run.removed):,} that are wrong" if len(run.removed) else ""
        raise OptionError(f"{folder}: nothing was accepted there{hint}.")
    with SparqlTarget(StoreAddress.of(to, key_from), query_at) as target:
        earlier = {name: facts for name, facts in _list_runs(target, into).items() if name != run.iri}
        if write and replace:  # what they removed comes back before this run removes it again
            for name in earlier:
                _withdraw_run(target, name)
                add_record(Path(folder), name, to, {"withdrawn": _now()})
        removed = {
            graph: run.removed.take(target.find([" ".join(triple) for triple in run.removed.triples], graph))
            for graph in (tuple(graphs) or ("",) if remove else ())
        }
        lines = _describe(run, to, removed, remove) + _describe_earlier(earlier, replace, write)
        if not write:
            return Published(run.iri, (*lines, "Nothing was written; --write does it."))
        taken = {graph or "default": [" ".join(triple) for triple in facts.triples] for graph, facts in removed.items()}
        record = {"facts": len(run.accepted), "published": _now(), "withdrawn": None}
        add_record(Path(folder), run.iri, to, record | ({"removed": taken} if any(taken.values()) else {}))
        _write_run(target, run, removed, progress)
    return Published(run.iri, (*lines, f"Written. To take it back: actc withdraw {folder} --to {to} --into {into}"))


def _write_run(target: SparqlTarget, run: Publication, removed: dict[str, FactLines], progress: Progress) -> None:
    """Write the provenance of the facts, then the facts; what is removed is written down before it goes."""
    for graph, facts in removed.items():
        target.insert(f"{run.iri}/removed", run.removals(graph, facts))
    target.insert(f"{run.iri}/provenance", run.provenance())
    target.insert(run.iri, run.accepted.lines(), progress, len(run.accepted))
    for graph, facts in removed.items():
        target.delete(graph, facts.lines())
    target.expect(run.iri, len(run.accepted))


def _withdraw_run(target: SparqlTarget, run: str) -> None:
    """Put back what a run removed, then take out what it wrote; the note of what was removed goes last."""
    for graph, lines in _read_removed(target, run).items():
        target.insert(graph, lines)
    for graph in (run, f"{run}/provenance", f"{run}/removed"):
        target.drop(graph)


def _list_runs(target: SparqlTarget, into: str) -> dict[str, int]:
    """Return the runs that are under an IRI, and how many facts each wrote."""
    rows = target.queries.select(
        f"SELECT DISTINCT ?run ?facts WHERE {{ GRAPH ?g {{ ?run <{RDF}type> <{PROV}Entity> ; "
        f'<{VOCABULARY}facts> ?facts }} FILTER(STRSTARTS(STR(?run), "{into.rstrip("/#")}/run/")) }}'
    )
    store = target.queries.store
    return {refuse_odd_iri(row.get("run", ""), store): read_count(row.get("facts", ""), store) for row in rows}


def _read_removed(target: SparqlTarget, run: str) -> dict[str, list[str]]:
    """Read what a run removed, whole: lines of facts by graph."""
    statements: dict[str, dict[str, str]] = {}
    for quad in parse_rdf("N_TRIPLES", input=target.read(f"{run}/removed")):
        statements.setdefault(str(quad.subject), {})[quad.predicate.value] = str(quad.object)
    lines: dict[str, list[str]] = {}
    for properties in statements.values():
        graph = properties.get(REMOVED_FROM, "")[1:-1]
        fact = " ".join(properties.get(f"{RDF}{part}", "") for part in PARTS)
        if graph:
            lines.setdefault("" if graph == DEFAULT_GRAPH else graph, []).append(f"{fact} .\n")
    return lines


def _describe_earlier(earlier: dict[str, int], replace: bool, write: bool) -> list[str]:
    """Describe what becomes of the runs that are there."""
    fate = ("is taken out" if write else "would be taken out") if replace else "stays; --replace takes it out"
    return [f"An earlier run {fate}: {name}, {facts:,} facts." for name, facts in earlier.items()]


def _describe(run: Publication, to: str, removed: dict[str, FactLines], remove: bool) -> list[str]:
    """Describe what is written where."""
    lines = [f"{len(run.accepted):,} facts into {to}, as {run.iri}."] if len(run.accepted) else []
    for graph, facts in removed.items():
        lines.append(f"{len(facts):,} of {len(run.removed):,} facts out of {graph or 'the default graph'}.")
    if len(run.removed) and not remove:
        lines.append(f"{len(run.removed):,} facts that were taken out stay in the store; --remove takes them out.")
    nameless = run.accepted.nameless + run.removed.nameless
    if nameless:
        lines.append(
            f"{nameless:,} facts have an end that no update can name, a blank node or a text with an escape: left out."
        )
    return lines


def withdraw_facts(
    folder: str | Path,
    to: str,
    into: str,
    *,
    run: str | None = None,
    dry_run: bool = False,
    query_at: str | None = None,
    key_from: str | None = None,
) -> Published:
    """Take a run back out of a store, as ``actc withdraw`` does: what it wrote goes, what it removed comes back.

    Parameters
    ----------
    folder : path
        The folder that was published.
    to, into : str
        As in :func:`publish_facts`.
    run : str, optional
        The name of the run; the last that was published from the folder, if not given.
    dry_run : bool
        Change nothing, and say what would be.
    query_at, key_from
        As in :func:`publish_facts`.
    """
    read_records(Path(folder))  # refused before anything is changed
    name = run or last_run(Path(folder), to, into)
    with SparqlTarget(StoreAddress.of(to, key_from), query_at) as target:
        facts, removed = target.count(refuse_odd_iri(name, "--run")), _read_removed(target, name)
        if not facts and not removed and not target.count(f"{name}/provenance"):
            raise OptionError(f"{to}: there is no run {name}.")
        lines = [f"{facts:,} facts of {name} out of {to}."]
        lines += [f"{len(back):,} facts back into {graph or 'the default graph'}." for graph, back in removed.items()]
        if dry_run:
            return Published(name, (*lines, "Nothing was changed."))
        _withdraw_run(target, name)
    if Path(folder).exists():
        add_record(Path(folder), name, to, {"withdrawn": _now()})
    return Published(name, (*lines, "Done."))


def add_record(folder: Path, run: str, to: str, record: dict[str, Any]) -> None:
    """Write down in the folder what became of a run in a store."""
    records = {(one["run"], one["store"]): one for one in read_records(folder)}
    now = {"run": run, "store": to, **records.pop((run, to), {}), **record}
    write_json(_record_path(folder), {"format": FORMAT, "runs": [*records.values(), now]})


def read_records(folder: Path) -> list[dict[str, Any]]:
    """Return what was published from a folder, the last one last."""
    path = _record_path(folder)
    if not path.exists():
        return []
    try:
        return [{**one, "run": str(one["run"]), "store": str(one["store"])} for one in load_json(path)["runs"]]
    except (ValueError, KeyError, TypeError):
        raise FileError(f"{path}: it is damaged; delete it. To withdraw, name the run with --run.") from None


def last_run(folder: Path, to: str, into: str) -> str:
    """Return the name of the last run that was published from a folder into a store and not withdrawn."""
    for one in reversed(read_records(folder)):
        if one["store"] == to and one["run"].startswith(f"{into.rstrip('/#')}/run/") and not one.get("withdrawn"):
            return str(one["run"])
    raise OptionError(f"{folder}: nothing of it is in {to} under {into}; name another run with --run.")


def _record_path(folder: Path) -> Path:
    return folder / PUBLISHED if folder.is_dir() else folder.with_name(f"{folder.name}.{PUBLISHED}")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
