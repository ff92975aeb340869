"""A pool of many millions: measure all of it once, then work on a sample that stands for it.

One pass over relation and score measures every relation exactly (counts, medians, skewness, the points that picks are
weighed at) and chooses the sample: of every relation the same number from each stretch of its scores. A second pass
fetches the names of the chosen rows only. What follows, fitting, picking, cutting, costs the same whatever the pool's
size. Only the transform of scores is thinned: between two of its knots lie at most ``1 / KNOTS`` of the pool's scores,
so a cut is off by no more than that share of the candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.errors import FileError, OptionError, RowError
from actc.pooled.features import POINTS, NormalScores, PreparedPool, looks_listed, prepare_columns
from actc.pooled.tuned import TUNED
from actc.tables.database import open_database
from actc.tables.files import TRIPLE, find_layout, read_failed, require
from actc.tables.parts import (
    BAD_ROW,
    NAMELESS,
    Candidates,
    find_bad_row,
    find_candidates,
    find_unreadable_part,
)
from actc.triples import FloatArray, IntArray, ScoredTriples, Vocabulary

KNOTS = 100_000
ENDS = 1_000
SAMPLE = 200_000
FIRST = 1_000_000  # candidates among which lists are looked for
MOST_RELATIONS = 100_000  # each has 21 points, and rows of its own in the sample


def sketch_pool(
    paths: str | Path | Sequence[str | Path],
    known: ScoredTriples | None = None,
    sample: int = SAMPLE,
    labelled: str | Path | None = None,
    seed: int = 0,
) -> ScoredTriples:
    """Measure a pool on disk and return a sample of its triples that stands for it.

    Parameters
    ----------
    paths : path or sequence of paths
        Files with head, relation, tail and score, or folders of such files.
    known : ScoredTriples, optional
        Triples that the graph holds already, scored by the same model.
    sample : int
        About how many rows the sample has; every relation has at least one for each of its points.
    labelled : path, optional
        A file of judged triples (head, relation, tail), which the sample shall hold too.
    seed : int
        Where the choice of rows starts from.
    """
    import duckdb

    candidates = find_candidates([paths] if isinstance(paths, str | Path) else paths)
    with open_database() as connection:
        connection.execute("SET memory_limit='1GB'")  # besides some 120 bytes for each candidate
        try:
            names, relations, scores = _read_columns(connection, candidates)
            judged = _find_labelled(connection, candidates, labelled)
            whole = replace(
                prepare_columns(scores, relations, names, known), listed=_look_for_lists(connection, candidates)
            )
            rows = np.union1d(_choose_rows(whole, sample, np.random.default_rng(seed)), judged)
            heads, tails = _read_names(connection, candidates, rows)
        except duckdb.Error as error:
            raise (find_unreadable_part(candidates) or read_failed(candidates.layout.path, error)) from None
    try:
        chosen = ScoredTriples.from_columns(heads, Vocabulary(names).array[relations[rows]], tails, scores[rows])
    except RowError as error:
        raise FileError(f"{candidates.layout.path}, or a part beside it: {error.problem}") from None
    return replace(chosen, sample_of=_thin(whole, rows))


def _read_columns(connection: Any, candidates: Candidates) -> tuple[tuple[str, ...], IntArray, FloatArray]:
    """Return the relations' names, and each row's relation code and score, in the order of the files."""
    layout = candidates.layout
    relation, score = f"CAST({layout.column('relation')} AS VARCHAR)", f"TRY_CAST({layout.column('score')} AS DOUBLE)"
    rows = connection.execute(f"SELECT DISTINCT {relation} FROM {candidates.source}").fetchall()
    if not rows:
        raise FileError(f"{layout.path}: there is no triple in the file.")
    if len(rows) > MOST_RELATIONS:
        raise OptionError(
            f"{layout.path}: there are {len(rows):,} relations; a sketch holds no more than {MOST_RELATIONS:,}."
        )
    if (None,) in rows:
        raise find_bad_row(connection, candidates, BAD_ROW)
    names = tuple(sorted(row[0] for row in rows))
    connection.register("relation_columns", {"name": np.array(names, dtype=object), "code": np.arange(len(names))})
    connection.execute("CREATE TYPE relation_name AS ENUM (SELECT name FROM relation_columns ORDER BY code)")
    # A cast, not a join: a join does not keep the rows in the order of the files.
    code = f"CAST(enum_code(CAST({relation} AS relation_name)) AS INTEGER)"
    table = connection.execute(f"SELECT {code} AS code, {score} AS score FROM {candidates.source}").fetchnumpy()
    if np.ma.getmaskarray(table["score"]).any() or not np.isfinite(np.ma.getdata(table["score"])).all():
        raise find_bad_row(connection, candidates, BAD_ROW)
    nameless = f"SELECT count(*) FROM ({_numbered(candidates)}) WHERE {NAMELESS}"
    if connection.execute(nameless).fetchall()[0][0]:
        raise find_bad_row(connection, candidates, NAMELESS)
    return names, np.asarray(table["code"]), np.asarray(table["score"])


def _look_for_lists(connection: Any, candidates: Candidates) -> float:
    """Return how much the first candidates look like lists of answers; lists are written one after the other."""
    first = f"SELECT {candidates.layout.texts(TRIPLE)} FROM {candidates.source} LIMIT {FIRST}"
    several = [
        connection.execute(
            f"SELECT avg(CAST(answers >= {TUNED.several} AS INTEGER)) FROM "
            f"(SELECT count(*) AS answers FROM ({first}) GROUP BY relation, {end})"
        ).fetchall()[0][0]
        for end in ("head", "tail")
    ]
    return looks_listed(max(several))


def _choose_rows(whole: PreparedPool, sample: int, random: np.random.Generator) -> IntArray:
    """Choose the same number of rows at random from each stretch of each relation's scores, all where there are few."""
    relations = len(whole.relation_names)
    each = max(sample // relations // POINTS, 1)
    stretches = np.arange(POINTS * relations)
    relation, stretch = stretches // POINTS, stretches % POINTS
    counts, starts = whole.counts[relation], whole.starts[relation]
    low, high = starts + stretch * counts // POINTS, starts + (stretch + 1) * counts // POINTS
    # Evenly spaced within the stretch from a random start: none twice where there are enough.
    offsets = (np.arange(each) + random.random((len(low), 1))) / each
    places = low[:, None] + np.floor(offsets * (high - low)[:, None]).astype(np.int64)
    return np.asarray(whole.members[np.unique(places[high > low])])


def _find_labelled(connection: Any, candidates: Candidates, labelled: str | Path | None) -> IntArray:
    """Return the rows of the triples in a file of judged ones, as far as they are candidates."""
    if labelled is None:
        return np.zeros(0, dtype=np.int64)
    layout = find_layout(labelled, order=("head", "relation", "tail", "label"))
    require(layout, TRIPLE)
    judged = f"SELECT {layout.texts(TRIPLE)} FROM {layout.source}"
    query = f"SELECT row FROM ({_numbered(candidates)}) WHERE (head, relation, tail) IN ({judged})"
    return np.asarray(connection.execute(query).fetchnumpy()["row"])


def _read_names(connection: Any, candidates: Candidates, rows: IntArray) -> tuple[list[str], list[str]]:
    """Return heads and tails of some rows."""
    connection.register("chosen", {"row": rows})
    query = f"SELECT head, tail FROM ({_numbered(candidates)}) JOIN chosen USING (row) ORDER BY row"
    table = connection.execute(query).fetchnumpy()
    return table["head"].tolist(), table["tail"].tolist()


def _numbered(candidates: Candidates) -> str:
    return f"SELECT row_number() OVER () - 1 AS row, {candidates.layout.texts(TRIPLE)} FROM {candidates.source}"


def _thin(whole: PreparedPool, rows: IntArray) -> PreparedPool:
    """Keep of a prepared pool what some rows need; everything measured on the whole of it stays."""
    counts = np.r_[np.bincount(whole.relations[rows], minlength=len(whole.relation_names)), 0]
    members = np.argsort(whole.places[rows])
    places = np.empty(len(rows), dtype=np.int64)
    places[members] = np.arange(len(rows))
    return replace(
        whole,
        normal=thin_transform(whole.normal, KNOTS),
        relations=whole.relations[rows].astype(np.int64),
        x=whole.x[rows],
        members=members,
        places=places,
        starts=np.r_[0, np.cumsum(counts)],
        counts=counts,
    )


def thin_transform(normal: NormalScores, knots: int) -> NormalScores:
    """Keep so many distinct scores that between two neighbours lie at most 1 / knots of the pool's."""
    if len(normal.scores) <= knots:
        return normal
    count = int(normal.before[-1])
    ranks = np.linspace(0, count - 1, knots).astype(np.int64)
    even = np.searchsorted(normal.before, ranks, side="right") - 1
    ends = np.arange(ENDS)  # far out, where a rank moves z most, every score is kept
    keep = np.unique(np.r_[ends, even, len(normal.scores) - 1 - ends])
    return NormalScores(normal.scores[keep], np.r_[normal.before[:-1][keep], count], normal.z[keep])
