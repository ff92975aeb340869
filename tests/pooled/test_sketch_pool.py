"""A sample that stands for a large pool: what was measured on all of it is exact, the rest is off by a stated share."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from actc import METHODS, Annotations
from actc.errors import FileError, OptionError
from actc.numeric import even_places
from actc.pooled.features import POINTS, PreparedPool, prepare_pool
from actc.pooled.model import Posterior, find_cuts
from actc.pooled.picks import _Unlabelled, best_pick
from actc.pooled.regimes import REGIMES, fit_regimes
from actc.pooled.sketch import sketch_pool, thin_transform
from actc.pooled.sketch_file import read_sketch, write_sketch
from actc.tables.calibration import Calibration
from actc.tables.files import write_triples
from tests.conftest import make_pool


def fit(prepared: PreparedPool, annotations: Annotations) -> Posterior:
    return fit_regimes(prepared, annotations, REGIMES[False])


def columns(pool):
    heads, relations, tails = zip(*map(pool.triple, range(len(pool))), strict=True)
    return {"head": heads, "relation": relations, "tail": tails, "score": pool.scores}


@pytest.fixture(scope="module")
def whole():
    pool, labels = make_pool(size=20_000, relations=7, seed=3)
    skewed = np.where(pool.relations == 2, pool.scores**3, pool.scores)
    return pool.with_scores(skewed), labels


@pytest.fixture(scope="module")
def sketched(whole, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pool")
    half = len(whole[0]) // 2
    table = columns(whole[0])
    for name, rows in (("part-0.parquet", slice(half)), ("part-1.parquet", slice(half, None))):
        write_triples(folder / name, {column: np.asarray(values)[rows] for column, values in table.items()})
    return sketch_pool(folder, sample=2_000)


def rows_in_whole(whole, sketched):
    heads, relations, tails = zip(*map(sketched.triple, range(len(sketched))), strict=True)
    return whole.find(heads, relations, tails)


def test_what_is_measured_is_exact(whole, sketched):
    full, sketch = prepare_pool(whole[0]), prepare_pool(sketched)
    for name in ("c", "skew"):
        assert sketch.features[name].tolist() == full.features[name].tolist()
    assert sketch.points.tolist() == full.points.tolist()
    assert sketch.sizes.tolist() == full.counts.tolist()


@pytest.mark.parametrize("side", ["head", "tail"])
def test_lists_of_answers_are_recognised_in_the_whole_and_not_by_the_sample(side, tmp_path):
    questions, answers = np.arange(6_000) // 5, np.arange(6_000)
    names = {"head": questions, "tail": answers} if side == "head" else {"head": answers, "tail": questions}
    table = {name: np.char.add("e", codes.astype(str)) for name, codes in names.items()}
    table |= {"relation": np.char.add("r", (questions % 3).astype(str)), "score": np.sin(np.arange(6_000.0))}
    write_triples(tmp_path / "lists.parquet", {name: table[name] for name in ("head", "relation", "tail", "score")})
    sketched = sketch_pool(tmp_path / "lists.parquet", sample=600)
    assert prepare_pool(sketched).listed == 1
    assert prepare_pool(sketched.take(np.arange(len(sketched)))).listed == 0
    write_sketch(tmp_path, sketched)
    assert prepare_pool(read_sketch(tmp_path)).listed == 1


def test_sampled_rows_keep_their_scores_and_places(whole, sketched):
    full, sketch = prepare_pool(whole[0]), prepare_pool(sketched)
    rows = rows_in_whole(whole[0], sketched)
    assert (rows >= 0).all()
    assert sketched.scores.tolist() == whole[0].scores[rows].tolist()
    assert sketch.x.tolist() == full.x[rows].tolist()
    assert (np.diff(full.places[rows[sketch.members]]) > 0).all()


def test_every_stretch_of_every_relation_is_in_the_sample(sketched):
    assert len(sketched) == 7 * POINTS * (2_000 // 7 // POINTS)
    assert sketched.sample_of.counts[:-1].min() == len(sketched) // 7


def annotate(whole, sketched, count):
    rows = np.random.default_rng(1).permutation(len(sketched))[:count]
    in_whole = rows_in_whole(whole[0], sketched)[rows]
    labels = whole[1][in_whole]
    return Annotations(in_whole, labels), Annotations(rows, labels)


@pytest.mark.parametrize("count", [0, 1, 40])
def test_fit_cuts_and_pick_are_those_of_the_whole_pool(whole, sketched, count):
    on_whole, on_sample = annotate(whole, sketched, count)
    full = fit(prepare_pool(whole[0]), on_whole)
    sketch = fit(prepare_pool(sketched), on_sample)
    assert sketch.beta == pytest.approx(full.beta, abs=1e-9)
    assert find_cuts(sketch).tolist() == find_cuts(full).tolist()
    assert best_pick(sketch) == pytest.approx(best_pick(full))


def test_the_cut_for_f1_is_near_that_of_the_whole_pool(whole, sketched):
    on_whole, on_sample = annotate(whole, sketched, 40)
    full = find_cuts(fit(prepare_pool(whole[0]), on_whole), "f1")[:-1]
    sketch = find_cuts(fit(prepare_pool(sketched), on_sample), "f1")[:-1]
    pool = whole[0]
    changed = (pool.scores >= full[pool.relations]) != (pool.scores >= sketch[pool.relations])
    assert changed.mean() < 0.01


@pytest.mark.parametrize("knots", [4_000, 8_000])
def test_a_thinned_transform_changes_no_more_decisions_than_it_may(whole, knots):
    pool = whole[0]
    normal = prepare_pool(pool).normal
    thin = thin_transform(normal, knots)
    assert len(thin.scores) < len(normal.scores)
    for z in np.linspace(-5, 5, 201):
        changed = (pool.scores >= normal.to_cuts(z)) != (pool.scores >= thin.to_cuts(z))
        assert changed.mean() <= 1 / knots + 1 / len(pool)
    assert np.abs(thin.transform(pool.scores) - normal.transform(pool.scores)).max() < 0.05


def test_judged_triples_are_in_the_sample(whole, tmp_path):
    table = columns(whole[0])
    write_triples(tmp_path / "pool.parquet", table)
    judged = {name: np.asarray(table[name])[17:19_999:1_000] for name in ("head", "relation", "tail")}
    write_triples(tmp_path / "labels.tsv", judged)
    sample = sketch_pool(tmp_path / "pool.parquet", sample=200, labelled=tmp_path / "labels.tsv")
    assert (sample.find(*judged.values()) >= 0).all()


def test_known_triples_count_as_they_do_on_the_whole_pool(whole, tmp_path):
    known = make_pool(size=500, relations=7, seed=8)[0]
    write_triples(tmp_path / "pool.parquet", columns(whole[0]))
    sample = sketch_pool(tmp_path / "pool.parquet", known, sample=500)
    assert sample.sample_of.features["gap"].tolist() == prepare_pool(whole[0], known).features["gap"].tolist()


def test_checks_are_drawn_as_from_the_whole_pool(tmp_path):
    relations = np.repeat(["big", "small"], [9_000, 1_000])
    table = {"head": [f"h{i}" for i in range(10_000)], "relation": relations, "tail": ["t"] * 10_000}
    write_triples(tmp_path / "pool.parquet", {**table, "score": np.random.default_rng(0).random(10_000)})
    sample = sketch_pool(tmp_path / "pool.parquet", sample=420)
    assert sample.sample_of.counts[:2].tolist() == [210, 210]
    free, random = _Unlabelled(sample.sample_of, Annotations()), np.random.default_rng(0)
    drawn = [sample.relations[sample.sample_of.members[free.any_place(random)]] for _ in range(2_000)]
    assert np.mean(drawn) == pytest.approx(0.1, abs=0.03)
    picks = METHODS["pooled"].fit(sample, Annotations()).pick(200, random)
    checks = picks.take((picks.asked == "check") & (picks.within == "rejected"))
    assert np.mean(sample.relations[checks.rows]) == pytest.approx(0.1, abs=0.12)
    pool = sample.sample_of
    rows = pool.members[even_places(pool.weights[pool.members], 100)]
    assert sample.relations[rows].sum() == 10


def test_the_pooled_method_works_on_a_sample_as_on_any_pool(whole, sketched):
    method, annotations = METHODS["pooled"], annotate(whole, sketched, 60)[1]
    found = method.fit(sketched, annotations)
    rows = found.pick(12, np.random.default_rng(0)).rows
    assert len(set(rows.tolist()) | set(annotations.rows.tolist())) == 72
    assert found.probabilities(whole[0]).shape == (len(whole[0]),)
    assert np.isfinite(found.gain)


def test_a_part_of_a_sample_stands_only_for_itself(sketched):
    for part in (sketched.take([0, 1]), sketched.with_scores(sketched.scores)):
        assert part.stands_for == len(part) < sketched.stands_for


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a\t\tb\t1", "line 3: there is nothing in column relation"),
        ("a\tr\tb\tnan", "line 3: the score is 'nan'"),
        ("\tr\tb\t1", "line 3: there is nothing in column head"),
    ],
)
def test_bad_rows_are_refused(tmp_path, row, message):
    (tmp_path / "pool.tsv").write_text(f"head\trelation\ttail\tscore\nx\tr\ty\t1\n{row}\n")
    with pytest.raises(FileError, match=message):
        sketch_pool(tmp_path / "pool.tsv")


def test_calibrate_takes_a_sketch_for_pooled_methods_only(whole, tmp_path):
    table = columns(whole[0])
    write_triples(tmp_path / "pool.parquet", table)
    rows = np.arange(0, 20_000, 400)
    judged = {name: np.asarray(table[name])[rows] for name in ("head", "relation", "tail")}
    write_triples(tmp_path / "labels.tsv", {**judged, "label": whole[1][rows].astype(int)})
    command = [sys.executable, "-m", "actc.cli.main", "calibrate", tmp_path / "pool.parquet", "--sketch"]
    command += ["--labels", tmp_path / "labels.tsv", "--out", tmp_path / "thresholds.json", "--method"]
    good = subprocess.run([*command, "pooled"], capture_output=True, text=True, check=False)
    assert good.returncode == 0, good.stderr
    assert "of 20,000 candidates are accepted" in good.stdout
    assert Calibration.read(tmp_path / "thresholds.json").counts.triples.sum() == 20_000
    bad = subprocess.run([*command, "actc-lr-rndm"], capture_output=True, text=True, check=False)
    assert bad.returncode == 2
    assert "--sketch goes with the pooled methods only" in bad.stderr


def test_a_bad_row_that_is_not_in_the_sample_is_found_in_its_part(whole, tmp_path):
    for number, tail in enumerate(("t", "")):
        size = 4_000
        names = {"head": [f"h{number}-{i}" for i in range(size)], "relation": ["r"] * size, "tail": ["t"] * size}
        names["tail"][2_345] = tail
        table = {name: np.array(values, dtype=object) for name, values in names.items()}
        write_triples(tmp_path / f"part-{number}.parquet", {**table, "score": np.arange(size, dtype=float)})
    with pytest.raises(FileError, match=r"part-1.parquet, row 2346: there is nothing in column tail"):
        sketch_pool(tmp_path, sample=100)


def test_an_unreadable_part_is_named(whole, tmp_path):
    for number in range(2):
        write_triples(tmp_path / f"part-{number}.parquet", columns(whole[0]))
    content = bytearray((tmp_path / "part-1.parquet").read_bytes())
    content[1_000:3_000] = bytes(2_000)
    (tmp_path / "part-1.parquet").write_bytes(content)
    with pytest.raises(FileError, match=r"part-1\.parquet: "):
        sketch_pool(tmp_path, sample=100)


def test_more_relations_than_a_sketch_can_hold_are_refused(whole, tmp_path, monkeypatch):
    monkeypatch.setattr("actc.pooled.sketch.MOST_RELATIONS", 6)
    write_triples(tmp_path / "pool.parquet", columns(whole[0]))
    with pytest.raises(OptionError, match="there are 7 relations"):
        sketch_pool(tmp_path / "pool.parquet")


def test_a_triple_that_is_there_twice_is_named(tmp_path):
    table = {"head": ["a", "a", "b"], "relation": ["r"] * 3, "tail": ["t"] * 3, "score": [1.0, 2.0, 3.0]}
    write_triples(tmp_path / "pool.tsv", table)
    with pytest.raises(FileError, match=r"pool.tsv.*\('a', 'r', 't'\) is there twice"):
        sketch_pool(tmp_path / "pool.tsv")
