"""Make candidates of any number: a folder of Parquet parts, and the thresholds to decide on them.

    python benchmarks/scale/make_candidates.py --rows 20e6 --out /tmp/candidates

Entities are Q0 ... Q4999999, relations P0, P1, ...; scores are logistic around a centre of the relation's own, and each
relation's threshold lies where three candidates in ten are accepted. Everything follows from hashes: no seed, no state,
so a part can be made alone and comes out the same.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import duckdb
import numpy as np

from actc.data.calibration import KNOTS, Curves
from actc.data.triples import Thresholds

ENTITIES = 5_000_000
RELATIONS = 1_000
PART_ROWS = 5_000_000
SHARE = 0.3
SPREAD = 4.0  # the relations' centres lie evenly between -2 and 2


def make_candidates(folder: Path, rows: int, relations: int = RELATIONS) -> Path:
    """Write ``rows`` candidates in parts of five million, unless they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as connection:
        connection.execute("SET preserve_insertion_order=false; SET memory_limit='2GB'")
        for number, start in enumerate(range(0, rows, PART_ROWS)):
            part = folder / f"part-{number:05d}.parquet"
            if not part.exists():
                stop = min(rows, start + PART_ROWS)
                connection.execute(f"COPY ({_query(start, stop, relations)}) TO '{part}.unfinished' (FORMAT parquet)")
                Path(f"{part}.unfinished").rename(part)
    return folder


def _query(start: int, stop: int, relations: int) -> str:
    uniform = "(hash(i, 4) % 1000000 + 0.5) / 1000000"
    head, tail = (f"'Q' || hash(i, {salt}) % {ENTITIES}" for salt in (1, 2))
    return (
        f"SELECT {head} AS head, 'P' || code AS relation, {tail} AS tail, "
        f"ln(u / (1 - u)) + {SPREAD} * code / {relations} - {SPREAD / 2} AS score "
        f"FROM (SELECT i, hash(i, 3) % {relations} AS code, {uniform} AS u FROM range({start}, {stop}) t(i))"
    )


def make_thresholds(relations: int = RELATIONS) -> Thresholds:
    """Return the cuts that accept three in ten of every relation's candidates."""
    names = [f"P{code}" for code in range(relations)]
    order = np.argsort(names)
    cuts = np.log((1 - SHARE) / SHARE) + SPREAD * np.arange(relations) / relations - SPREAD / 2
    return Thresholds(tuple(np.array(names)[order].tolist()), cuts[order], 0.0, np.ones(relations, dtype=np.bool_))


def make_curves(thresholds: Thresholds) -> Curves:
    """Return a rising curve for every relation, one half at its cut."""
    scores = np.linspace(-20, 20, KNOTS)
    cuts = np.r_[thresholds.cuts, thresholds.default]
    return Curves(thresholds.relation_names, -20.0, 20.0, 1 / (1 + np.exp(cuts[:, None] - scores)))


def same_share_cut(folder: Path) -> float:
    """Return the one cut that accepts as many candidates of the first part as all thresholds together."""
    query = f"SELECT quantile_cont(score, {1 - SHARE}) FROM '{folder}/part-00000.parquet'"
    return float(duckdb.sql(query).fetchall()[0][0])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, required=True)
    parser.add_argument("--relations", type=int, default=RELATIONS)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    make_candidates(arguments.out, int(arguments.rows), arguments.relations)
