"""Scenario 1: the paper's methods on CoDEx-S, from the authors' scores and 50 answers to accepted triples."""

from __future__ import annotations

import pytest

from tests.scenarios.ways import actc, draw_labelled, facts_of, precision, read_codex, read_rows, recall, write_rows

RELATIONS = ("P27", "P106", "P463", "P136", "P1412")  # the last one has no answer, and so the default threshold
# Thresholds of these relations, and how many triples of the pool and of the test file are accepted.
EXPECTED = {
    "actc-lr-rndm": (
        [0.8418296575546265, 0.0004988122964277864, 0.3533060550689697, 0.9989162087440491, 0.6584757566452026],
        (1929, 1950),
    ),
    "actc-gp-rndm": (
        [0.8185853958129883, 0.036429185420274734, 0.130891814827919, 0.9697114825248718, 0.23650486767292023],
        (2043, 2051),
    ),
    "actc-lr-dens-f1": (
        [0.8418296575546265, 0.0004988122964277864, 0.3533060550689697, 0.0004988122964277864, 0.6584757566452026],
        (2223, 2263),
    ),
    "localopt-acc": (
        [0.6324560642242432, 0.08819717913866043, 0.2558785080909729, 0.9278848171234131, 0.9098220467567444],
        (1882, 1884),
    ),
    "globalopt-f1": ([0.7, 0.1, 0.1, 0.8, 0.2], (2262, 2269)),
    "actc-lr-uni": ([0.6584757566452026] * 5, (1332, 1341)),
}


def test_the_papers_methods_from_scores_and_answers_to_accepted_triples(tmp_path):
    pool, test = read_codex("valid"), read_codex("test")
    true = {row[:3] for row in test if row[4]}
    write_rows(tmp_path / "pool.tsv", "head relation tail score", [row[:4] for row in pool])
    write_rows(tmp_path / "test.tsv", "head relation tail score", [row[:4] for row in test])
    answers = draw_labelled(pool, 50, seed=7)
    labels = write_rows(tmp_path / "labels.tsv", "head relation tail label", answers)
    for method, (thresholds, (in_pool, in_test)) in EXPECTED.items():
        found, every, accepted = (tmp_path / f"{method}{end}" for end in (".json", "-all.tsv", ".csv"))
        actc("calibrate", tmp_path / "pool.tsv", "--labels", labels, "--method", method, "--out", found)
        actc("decide", found, tmp_path / "pool.tsv", "--all", "--out", every)
        rows = read_rows(every)
        assert len(rows) == len(pool)
        by_relation = {row["relation"]: float(row["threshold"]) for row in rows}
        assert [by_relation[name] for name in RELATIONS] == pytest.approx(thresholds, abs=1e-9), method
        assert sum(row["accepted"] == "true" for row in rows) == in_pool, method
        for row in rows:
            if row["by"] == "method":
                assert (row["accepted"] == "true") == (float(row["score"]) >= float(row["threshold"]))
        # Whatever the threshold, people's answers stand.
        of_people = {(row["head"], row["relation"], row["tail"], int(row["accepted"] == "true"))
                     for row in rows if row["by"] == "person"}  # fmt: skip
        assert of_people == set(answers)

        actc("decide", found, tmp_path / "test.tsv", "--out", accepted)
        assert list(read_rows(accepted)[0])[:5] == ["head", "relation", "tail", "score", "threshold"]
        assert len(facts_of(accepted)) == in_test, method
        if method == "actc-lr-rndm":
            assert precision(facts_of(accepted), true) == pytest.approx(0.7928205128, abs=1e-9)
            assert recall(facts_of(accepted), true) == pytest.approx(0.8457330416, abs=1e-9)
