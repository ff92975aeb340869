"""Rivals among files of candidates: the same decisions and probabilities as in memory, on every engine."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from actc.data.answers import Answers
from actc.data.calibration import COUNTED, KNOTS, Calibration, Counts, Curves
from actc.data.constraints import Constraint, Constraints
from actc.data.files import write_scored, write_triples
from actc.data.triples import ScoredTriples, Thresholds, encode_columns
from actc.decide.conflicts import match_conflicts, resolve_conflicts
from actc.decide.decide_candidates import decide_candidates

RELATIONS = ("born", "lives", "rdf:type", "wed")
EACH = (
    Constraint("functional", "born", use="hard"),
    Constraint("functional", "lives", cases=200, share=0.99, against=0.3),
    Constraint("functional", "wed", use="hard"),
    Constraint("inverse-functional", "wed", use="hard"),
    Constraint("asymmetric", "wed", cases=300, share=1.0),
    Constraint("irreflexive", "wed", use="hard"),
    Constraint("not-both", "born", "lives", cases=90, share=1.0),
    Constraint("range", "lives", "k0", cases=150, share=1.0),
    Constraint("domain", "born", "k1", cases=80, share=0.98),
    Constraint("disjoint", "k0", "k2", use="hard"),
    Constraint("type", "rdf:type", use="hard"),
    Constraint("subclass", "rdfs:subClassOf", use="hard"),
)


def make_world(seed: int, count: int = 1500, entities: int = 60):
    """Draw candidates that compete a lot, facts, words of people, cuts and curves."""
    random = np.random.default_rng(seed)
    relations = np.array(RELATIONS, dtype=object)[random.integers(0, 4, count)]
    heads, tails = (np.array([f"é{i}" for i in random.integers(0, entities, count)], dtype=object) for _ in "ht")
    tails[relations == "rdf:type"] = [f"k{i}" for i in random.integers(0, 4, int((relations == "rdf:type").sum()))]
    rows = sorted(set(zip(heads.tolist(), relations.tolist(), tails.tolist(), strict=True)))
    scores = random.normal(size=len(rows)).round(2)  # so that some are equal
    triples = ScoredTriples.from_columns(*zip(*rows, strict=True), scores)
    facts = triples.take(random.random(len(triples)) < 0.05)
    heads, relations, tails = (column.tolist() for column in facts.columns().values())
    heads, tails = [*heads, "k3", "é1", "é2"], [*tails, "k0", "elsewhere", "elsewhere"]
    more = encode_columns(heads, [*relations, "rdfs:subClassOf", "born", "lives"], tails)
    cuts = Thresholds(RELATIONS[:3], np.array([-0.5, 0.1, -0.3]), 0.2, np.ones(3, dtype=bool))
    grid = 1 / (1 + np.exp(-np.linspace(-4, 4, KNOTS)))
    curves = Curves(RELATIONS[:3], -2.0, 2.0, np.stack([grid, grid**0.5, grid**2, grid])).as_written()
    words = np.full(len(triples), -1)
    said = random.choice(len(triples), 40, replace=False)
    words[said] = random.random(40) < 0.5
    return triples, more, cuts, curves, words


def decide_in_memory(constraints, triples, facts, cuts, curves, words):
    codes = np.array([RELATIONS[:3].index(name) if name in RELATIONS[:3] else 3 for name in triples.relation_names])
    codes = codes[triples.relations]
    p = np.where(words >= 0, words, curves.look_up(triples.scores, codes))
    accepted = np.where(words >= 0, words == 1, cuts.decide(triples))
    conflicts = match_conflicts(constraints, triples, facts)
    return resolve_conflicts(conflicts, triples, p, accepted, words, curves.bars(cuts)[codes]), accepted


@pytest.fixture
def files(tmp_path):
    def write(triples, facts, cuts, curves, words, constraints):
        write_scored(tmp_path / "candidates.parquet", triples)
        write_triples(tmp_path / "facts.tsv", facts.columns())
        said = np.flatnonzero(words >= 0)
        labels, by = words[said] == 1, np.full(len(said), "person", dtype=object)
        told = Answers(triples.take(said).plain(), labels, labels.astype(float), who=by)
        counts = Counts(
            pool=len(triples), annotated=0, annotated_true=0, draws=0, **dict.fromkeys(COUNTED, np.zeros(3, dtype=int))
        )
        made = Calibration(cuts, "pooled", {}, counts, None, curves, exceptions=told, constraints=constraints)
        made.write(tmp_path / "thresholds.json")
        return tmp_path

    return write


def rows_of(path) -> dict:
    columns = 'head, relation, tail, probability, accepted, "by"'
    found = duckdb.sql(f"SELECT {columns} FROM '{path}'").fetchall()
    return {tuple(row[:3]): tuple(row[3:]) for row in found}


def check(folder, world, constraints, engine: str) -> None:
    triples, facts, cuts, curves, words = world
    found, alone = decide_in_memory(constraints, triples, facts, cuts, curves, words)
    out = folder / engine
    decided = decide_candidates(
        folder / "thresholds.json", folder / "candidates.parquet", out, keep_all=True, engine=engine,
        graph=folder / "facts.tsv",
    )  # fmt: skip
    rows = rows_of(out / "*.parquet")
    assert len(rows) == len(triples)
    held = alone & ~found.accepted
    assert held.sum() > 20
    assert int(decided.excluded.sum()) == held.sum()
    assert int(decided.accepted.sum()) == found.accepted.sum()
    for row in range(len(triples)):
        probability, accepted, by = rows[triples.triple(row)]
        assert accepted == found.accepted[row], triples.triple(row)
        assert (by == "constraint") == held[row]
        assert probability == pytest.approx(found.probability[row], abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_duckdb_decides_as_in_memory(files, seed):
    world = make_world(seed)
    constraints = Constraints(EACH)
    check(files(*world, constraints), world, constraints, "duckdb")


@pytest.mark.long
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_spark_decides_as_in_memory(spark, files):
    world = make_world(1)
    constraints = Constraints(EACH)
    check(files(*world, constraints), world, constraints, "spark")
