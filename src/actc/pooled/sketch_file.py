"""A sketch of a large pool on disk: its sample as a table, and what was measured on the whole of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from actc.errors import FileError
from actc.pooled.features import NormalScores, PreparedPool, prepare_pool
from actc.tables.database import open_database
from actc.tables.deliver import write_beside
from actc.tables.files import ordinary, quote_file, read_scored, write_scored
from actc.triples import FloatArray, IntArray, ScoredTriples

SAMPLE, MEASURED = "sample.parquet", "sketch.npz"
_ARRAYS = ("relations", "x", "members", "places", "starts", "counts", "sizes", "points", "agreement", "listed")
_NORMAL = ("scores", "before", "z")
_FEATURE = "feature_"


Named = tuple[str, str, str]


def add_to_sketch(folder: Path, candidates: Path, triples: Sequence[Named]) -> None:
    """Take some of the candidates into the sample behind the others, whose rows stay as they are."""
    sample = read_sketch(folder)
    names = [list(column) for column in zip(*triples, strict=True)] if triples else [[], [], []]
    absent = np.flatnonzero(sample.find(*names) < 0)
    found = _look_up(candidates, [triples[row] for row in absent.tolist()])
    if found:
        write_sketch(folder, _extended(sample, found))


def _look_up(candidates: Path, triples: Sequence[Named]) -> dict[Named, float]:
    """Return the scores of those triples that are candidates."""
    if not triples:
        return {}
    columns = zip(("head", "relation", "tail"), zip(*triples, strict=True), strict=True)
    with open_database() as connection:
        connection.register("wanted", {name: np.array(values, dtype=object) for name, values in columns})
        rows = connection.execute(
            f"SELECT DISTINCT ON (head, relation, tail) head, relation, tail, score "
            f"FROM read_parquet({quote_file(candidates)}, hive_partitioning=false) "
            "SEMI JOIN wanted USING (head, relation, tail)"
        ).fetchall()
    return {(head, relation, tail): score for head, relation, tail, score in rows}


def _extended(sample: ScoredTriples, found: dict[Named, float]) -> ScoredTriples:
    scores: FloatArray = np.append(sample.scores, list(found.values()))
    pairs = zip(sample.columns().values(), zip(*found, strict=True), strict=True)
    heads, relations, tails = ([*column, *more] for column, more in pairs)
    table = ScoredTriples.from_columns(heads, relations, tails, scores)
    pool = prepare_pool(sample)
    x = np.append(pool.x, pool.centred(scores[len(sample) :], table.relations[len(sample) :]))
    members = np.lexsort((x, table.relations))
    places: IntArray = np.empty(len(members), dtype=np.int64)
    places[members] = np.arange(len(members))
    counts = np.r_[table.relation_counts, 0]
    prepared = replace(
        pool, relations=table.relations, x=x, members=members, places=places, counts=counts,
        starts=np.r_[0, np.cumsum(counts)],
    )  # fmt: skip
    return replace(table, sample_of=prepared)


def write_sketch(folder: Path, sample: ScoredTriples) -> None:
    """Write a sketch into a folder, as two files."""
    pool = prepare_pool(sample)
    arrays = {name: np.asarray(getattr(pool, name)) for name in _ARRAYS}
    arrays |= {name: getattr(pool.normal, name) for name in _NORMAL}
    arrays |= {_FEATURE + name: values for name, values in pool.features.items()}
    write_scored(folder / SAMPLE, sample)
    with write_beside(folder / MEASURED) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def read_sketch(folder: Path) -> ScoredTriples:
    """Read a sketch back."""
    sample = read_scored(folder / SAMPLE)[0]
    try:
        with open(ordinary(folder / MEASURED), "rb") as content, np.load(content) as file:
            arrays = dict(file)
        measured = {name: arrays[name] for name in _ARRAYS}
        normal = NormalScores(*(arrays[name] for name in _NORMAL))
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise FileError(f"{folder / MEASURED}: the sketch is damaged ({type(error).__name__}: {error}).") from None
    if not np.array_equal(measured["relations"], sample.relations):
        raise FileError(f"{folder / MEASURED}: this is the sketch of another sample than {SAMPLE} beside it.")
    measured |= {name: float(measured[name]) for name in ("agreement", "listed")}
    features = {name.removeprefix(_FEATURE): values for name, values in arrays.items() if name.startswith(_FEATURE)}
    pool = PreparedPool(normal, sample.relation_names, features=features, **measured)
    return replace(sample, sample_of=pool)
