"""Candidates with what the graph shows of each, and the engine that gathers it: DuckDB, in memory or on disk beyond."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from actc.data.database import open_database, parse_memory, quote
from actc.data.files import copy_options
from actc.data.progress import Progress, ignore_progress
from actc.data.triples import FloatArray, IntArray, ScoredTriples, Triples
from actc.errors import TableError
from actc.evidence.plan import (
    GRAPH_COLUMNS,
    NAMED_COLUMNS,
    SCORE_COLUMNS,
    candidate_steps,
    last_uses,
    whole_rows,
)
from actc.evidence.steps import Limits, Step, graph_steps
from actc.graph.graph import Graph

Columns = dict[str, Any]
"""Columns by their names, each an array of shape (n,)."""
VOCABULARIES = ("entity_names", "relation_names")
MEMORY = "4GB"  # for DuckDB; beyond that it writes to disk
CHUNK = 1_000_000  # candidates looked up together; more would only take more memory
BATCH = 100_000  # candidates whose evidence is handed over together
PART = 100_000  # entities whose relatives are computed together
FEW = 200_000  # facts and candidates for each thread
PASSING = {"training_path", "target_entity"}  # tables of the graph that no candidate needs


@dataclass(frozen=True, eq=False)
class Work:
    """One gathering: facts and candidates by the same codes, and the pieces that come from a model's score.

    ``rows`` are the candidates' places in the table that was given: more than a chunk of them stand relation by
    relation here, since a chunk should need few slots. ``report`` is called after each step.
    """

    graph: Graph
    candidates: Graph
    scores: Mapping[str, FloatArray]
    rows: IntArray
    limits: Limits
    report: Callable[[], object]

    @classmethod
    def of(
        cls,
        graph: Graph,
        candidates: Triples,
        limits: Limits | None = None,
        progress: Progress = ignore_progress,
    ) -> Self:
        """Give facts and candidates the same codes."""
        limits = limits or Limits.for_count(len(candidates))
        names = [tuple(sorted({*getattr(graph, one), *getattr(candidates, one)})) for one in VOCABULARIES]
        targets, rows = _recode(candidates, *names), np.arange(len(candidates))
        pieces = candidates.pieces if isinstance(candidates, ScoredTriples) else {}
        scores = {name: column for name, column in pieces.items() if name in SCORE_COLUMNS}
        if len(candidates) > CHUNK:
            rows = np.lexsort((targets.heads, targets.relations))
            targets, scores = targets.take(rows), {name: column[rows] for name, column in scores.items()}
        steps = len(graph_steps(limits)) + -(-len(targets) // CHUNK) * len(candidate_steps(limits))
        return cls(_recode(graph, *names), targets, scores, rows, limits, lambda: progress(1, steps))


def gather_evidence(
    graph: Graph,
    candidates: Triples,
    limits: Limits | None = None,
    progress: Progress = ignore_progress,
    memory: str = MEMORY,
) -> ScoredTriples:
    """Look up in a graph what supports and opposes each candidate: half a kilobyte for each, in memory.

    A candidate that is a fact is looked up as if it were none. Places in slots are counted among all candidates.

    Returns
    -------
    ScoredTriples
        The candidates with more pieces: the places of a model's ``score``, if they have one, the pieces of
        ``GRAPH_COLUMNS``, and ``NAMED_COLUMNS``, which sentences need: slot 2 r is relation r of the graph from its
        head, 2 r + 1 from its tail.
    """
    if not len(candidates):
        raise TableError("There are no candidates to look up.")
    work = Work.of(graph, candidates.plain(), limits, progress)
    pieces = {name: np.empty(len(candidates)) for name in (*GRAPH_COLUMNS, *NAMED_COLUMNS)}
    for part in look_up(work, memory):
        rows = work.rows[part["id"]]
        for name, column in pieces.items():
            column[rows] = part[name]
    names = work.graph.entity_names, work.graph.relation_names
    named = recode_named({name: pieces.pop(name) for name in NAMED_COLUMNS}, names, graph)
    scored = place_scores(candidates if isinstance(candidates, ScoredTriples) else candidates.without_scores())
    return scored.with_pieces(**pieces, **named)


def recode_named(
    named: Mapping[str, FloatArray], names: tuple[Sequence[str], Sequence[str]], graph: Graph
) -> dict[str, FloatArray]:
    """Return ``NAMED_COLUMNS`` in codes of a graph, -1 for what it lacks; ``names`` are those of the codes given."""
    entities, relations = graph.entity_names.codes(names[0]), graph.relation_names.codes(names[1])
    recoded = dict(named)
    for name, column in named.items():
        codes = column.astype(np.int64)
        if name.endswith("_entity"):
            recoded[name] = np.where(codes < 0, -1.0, entities[codes])
        elif name.endswith("_slot"):  # 2 r or 2 r + 1 of relation r
            recoded[name] = np.where(codes < 0, -1.0, 2 * relations[codes // 2] + codes % 2)
    return recoded


def place_scores(candidates: ScoredTriples) -> ScoredTriples:
    """Put beside a model's score its places in slots among all candidates, unless they are there or it is not."""
    if "score" not in candidates.pieces or SCORE_COLUMNS[1] in candidates.pieces:
        return candidates
    score, relations, count = candidates.pieces["score"], candidates.relations, len(candidates.relation_names)
    tails, heads = (rank_in_slots(candidates, ends, score) for ends in (candidates.heads, candidates.tails))
    there = np.isfinite(score)
    sums, counts = (np.bincount(relations[there], one, count) for one in (score[there], None))
    above = score - (sums / np.maximum(counts, 1))[relations]
    columns = (score, tails[0], heads[0], tails[1], heads[1], above)
    return replace(candidates, pieces={**dict(zip(SCORE_COLUMNS, columns, strict=True)), **candidates.pieces})


def rank_in_slots(triples: Triples, ends: IntArray, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return each triple's rank among those of its relation with the same end, and how far it is behind the best there.

    Both are of shape (N,), NaN where a score is missing; equal scores have the same rank, 1 the highest.
    """
    slots = ends * len(triples.relation_names) + triples.relations
    order = np.lexsort((-scores, slots))
    slots, falling, at = slots[order], scores[order], np.arange(len(order))
    begins = np.append(True, slots[1:] != slots[:-1])
    lower = begins | np.append(True, falling[1:] != falling[:-1])
    first, equal = (np.maximum.accumulate(np.where(one, at, 0)) for one in (begins, lower))
    ranks, behind = np.empty(len(order)), np.empty(len(order))
    ranks[order] = np.where(np.isnan(falling), np.nan, equal - first + 1)
    behind[order] = falling - falling[first]
    return ranks, behind


def look_up(work: Work, memory: str = MEMORY) -> Iterator[Columns]:
    """Give the columns of some candidates after the other; ``id`` are their places in the work."""
    for connection, ids in _look_at_chunks(work, memory):
        yield from _fetch(connection, ids)


def write_evidence(work: Work, log_odds: Callable[[Columns], FloatArray], out: Path, memory: str = MEMORY) -> None:
    """Write candidates with their log-odds and evidence to a file, or to a folder of parts that has no ending."""
    rows = f"{whole_rows(work.scores, 'w.score')} JOIN scored w ON w.id = e.id ORDER BY e.id"
    with ExitStack() as stack:
        folder = out
        if out.suffix:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="actc-", dir=out.parent)))
        folder.mkdir(exist_ok=True)
        for connection, ids in _look_at_chunks(work, memory):
            if not ids.start:
                put_names(connection, work.graph)
            scored = [(part["id"], log_odds(part)) for part in _fetch(connection, ids)]
            columns = (np.concatenate(column) for column in zip(*scored, strict=True))
            _put(connection, "scored", "SELECT * FROM given", dict(zip(("id", "score"), columns, strict=True)))
            _copy(connection, rows, folder / f"part-{ids.start // CHUNK:05d}.parquet")
            connection.execute("DROP TABLE scored")
            if out.suffix and ids.stop == len(work.candidates):
                connection.execute("SET preserve_insertion_order=true")
                _copy(connection, f"FROM read_parquet({quote(str(folder / '*.parquet'))})", out)


def _look_at_chunks(work: Work, memory: str) -> Iterator[tuple[Any, range]]:
    """Give a database with the table ``evidence`` of one chunk after another, and the chunk's ids."""
    steps = graph_steps(work.limits)
    with open_tables(work, memory) as connection:

        def compress() -> None:
            # Tables in memory are compressed by this alone; else ten million facts would be written to disk.
            if len(work.graph) > FEW:
                connection.execute("CHECKPOINT")
            work.report()

        _run_steps(connection, steps, {step.name for step in steps} - PASSING, compress)
        for start in range(0, len(work.candidates), CHUNK):
            ids = range(start, min(start + CHUNK, len(work.candidates)))
            where = f"id >= {ids.start} AND id < {ids.stop}"
            connection.execute(f"CREATE OR REPLACE VIEW candidate_part AS SELECT * FROM candidate WHERE {where}")
            _run_steps(connection, candidate_steps(work.limits, work.scores), {"evidence"}, work.report)
            yield connection, ids
            connection.execute("DROP TABLE evidence")


@contextmanager
def open_tables(work: Work, memory: str) -> Iterator[Any]:
    """Give a connection to a database with the tables that the plan begins with."""
    # Each thread needs room of its own: sixteen with two gigabytes ran out of memory at ten million candidates.
    most = max(1, round(parse_memory(memory) / 1e9))
    with open_spilling(memory, len(work.graph) + len(work.candidates), most) as connection:
        put_tables(connection, work)
        yield connection


@contextmanager
def open_spilling(memory: str, rows: int, most_threads: int | None = None) -> Iterator[Any]:
    """Give a connection to a database for tables of so many rows; what its memory has no room for goes to disk."""
    # For a few rows more than one thread costs more than it gains.
    threads = min(os.cpu_count() or 1, 1 + rows // FEW, most_threads or rows + 1)
    with open_database() as connection:
        connection.execute(f"SET memory_limit={quote(memory)}; SET preserve_insertion_order=false")
        connection.execute(f"SET threads={threads}")
        yield connection


CODES = ", ".join(f"CAST({name} AS INTEGER) AS {name}" for name in "hrt")
"""Heads, relations and tails as whole numbers of four bytes."""


def put_facts(connection: Any, graph: Graph) -> None:
    """Make the table ``fact``."""
    given = {"h": graph.heads, "r": graph.relations, "t": graph.tails}
    _put(connection, "fact", f"SELECT DISTINCT {CODES} FROM given", given)


def put_tables(connection: Any, work: Work) -> None:
    """Make the tables that the plan begins with."""
    put_facts(connection, work.graph)
    candidates = work.candidates
    given = {"id": np.arange(len(candidates)), "h": candidates.heads, "r": candidates.relations, "t": candidates.tails}
    columns = "".join(f", CASE WHEN isnan({name}) THEN NULL ELSE {name} END AS {name}" for name in work.scores)
    _put(connection, "candidate", f"SELECT id, {CODES}{columns} FROM given", {**given, **work.scores})


def put_names(connection: Any, graph: Graph) -> None:
    """Make the tables of names, for rows that people read."""
    for made, names in (("entity_name", graph.entity_names), ("relation_name", graph.relation_names)):
        given = {"code": np.arange(len(names)), "name": np.asarray(names, dtype=object)}
        _put(connection, made, "SELECT CAST(code AS INTEGER) AS code, name FROM given", given)


def _put(connection: Any, table: str, query: str, given: dict[str, Any]) -> None:
    """Create a table by a query over columns of arrays, which it calls ``given``."""
    connection.register("given", given)
    connection.execute(f"CREATE TABLE {table} AS {query}")
    connection.unregister("given")


def _fetch(connection: Any, ids: range) -> Iterator[Columns]:
    """Give the table ``evidence`` batch by batch, with NaN where there is NULL; ``id`` in whole numbers."""
    for start in range(ids.start, ids.stop, BATCH):
        where = f"id >= {start} AND id < {start + BATCH}"
        columns = connection.execute(f"SELECT * FROM evidence WHERE {where}").fetchnumpy()
        filled = {name: np.ma.filled(np.ma.asarray(one, np.float64), np.nan) for name, one in columns.items()}
        yield filled | {"id": np.ma.getdata(columns["id"])}


def _copy(connection: Any, query: str, out: Path) -> None:
    connection.execute(f"COPY ({query}) TO {quote(str(out))} ({copy_options(out)})")


def _run_steps(connection: Any, steps: list[Step], needed: set[str], report: Callable[[], object]) -> None:
    """Make the tables of steps; drop each after its last use, but for those that are needed later."""
    gone = last_uses(steps, needed)
    for step in steps:
        if step.part:
            _run_in_parts(connection, step)
        else:
            connection.execute(f"CREATE TABLE {step.name} AS {step.query}")
        for name in gone.get(step.name, []):
            connection.execute(f"DROP TABLE {name}")
        report()


def _run_in_parts(connection: Any, step: Step) -> None:
    """Make a table part by part, since all at once would be sorted on disk."""
    (entities,) = connection.execute("SELECT count(*) FROM target_entity").fetchone()
    parts = max(-(-entities // PART), 1)
    for part in range(parts):
        connection.execute(
            f"CREATE OR REPLACE VIEW {step.part} AS SELECT * FROM ({step.part_query}) p WHERE p.u % {parts} = {part}"
        )
        make = f"CREATE TABLE {step.name} AS" if part == 0 else f"INSERT INTO {step.name}"
        connection.execute(f"{make} {step.query}")
    connection.execute(f"DROP VIEW {step.part}")


def _recode(triples: Triples, *names: Sequence[str]) -> Graph:
    """Return triples as codes of four bytes, half of what others have: there may be many millions."""
    coded = Graph.of(triples).recoded(*names)
    small: Any = {name: getattr(coded, name).astype(np.int32) for name in ("heads", "relations", "tails")}
    return replace(coded, **small)


def count_look_ups(progress: Progress, look_ups: int) -> Progress:
    """Report the steps of several look-ups, one after the other, as those of one stage."""
    return lambda done, total: progress(done, look_ups * total)
