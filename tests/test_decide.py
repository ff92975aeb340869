from __future__ import annotations

import csv

import numpy as np
import pytest

from actc import Thresholds
from actc.decide import decide
from actc.errors import FileError
from actc.files import read_scored, write_triples


@pytest.fixture
def thresholds():
    return Thresholds(("r0", "r1"), np.array([0.3, np.inf]), 0.6, np.array([True, True]))


@pytest.fixture
def candidates(tmp_path, pool):
    heads, relations, tails = zip(*map(pool.triple, range(len(pool))), strict=True)
    path = tmp_path / "candidates.parquet"
    write_triples(path, {"head": heads, "relation": relations, "tail": tails, "score": pool.scores})
    return path


@pytest.mark.parametrize("suffix", [".tsv", ".csv.gz", ".parquet"])
def test_decisions_on_files_are_those_of_the_tables(tmp_path, thresholds, candidates, pool, suffix):
    out = tmp_path / f"accepted{suffix}"
    decided = decide(thresholds, candidates, out)
    accepted, _ = read_scored(out)
    expected = pool.take(np.flatnonzero(thresholds.decide(pool)))
    assert {accepted.triple(i) for i in range(len(accepted))} == {expected.triple(i) for i in range(len(expected))}
    assert sum(one.candidates for one in decided) == len(pool)
    assert sum(one.accepted for one in decided) == len(expected)


def test_rejected_candidates_can_be_kept_and_marked(tmp_path, thresholds, candidates, pool):
    decide(thresholds, candidates, tmp_path / "all.csv", keep_all=True)
    with open(tmp_path / "all.csv", newline="") as lines:
        flags = [row["accepted"] for row in csv.DictReader(lines)]
    assert len(flags) == len(pool)
    assert flags.count("true") == thresholds.decide(pool).sum()


def test_a_relation_without_a_cut_gets_the_default(tmp_path, thresholds, candidates):
    decided = {one.relation: one.cut for one in decide(thresholds, candidates, tmp_path / "x.tsv")}
    assert decided == {"r0": 0.3, "r1": np.inf, "r2": 0.6}


def test_a_bad_score_is_named_and_nothing_is_written(tmp_path, thresholds):
    path = tmp_path / "bad.tsv"
    path.write_text("a\tr0\tx\t0.5\nb\tr0\tx\tn/a\n")
    with pytest.raises(FileError, match="line 2: the score is 'n/a'"):
        decide(thresholds, path, tmp_path / "out.tsv")
    assert list(tmp_path.iterdir()) == [path]
