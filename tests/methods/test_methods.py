from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actc import METHODS, Calibrator, ScoredTriples
from actc.data.answers import Annotations
from actc.errors import ActcError, ChoiceError, OptionError
from actc.evidence.score import LOG_ODDS_PIECE
from actc.methods.named import find_method, finds_cuts
from tests.conftest import make_pool

PAPER_METHODS = [
    *(f"actc-{c}-{s}{o}" for o in ("", "-f1") for s in ("rndm", "dens") for c in ("lr", "gp")),
    *("actc-lr-uni", "actc-gp-uni", "localopt-acc", "localopt-f1", "localopt-acc-uni", "localopt-f1-uni"),
    "globalopt-f1",
]


def annotate(pool, labels, count, seed=0):
    rows = np.random.default_rng(seed).permutation(len(pool))[:count]
    return Annotations(rows, labels[rows])


# GlobalOpt is left out: it goes over the relations in the order of their names.
@pytest.mark.parametrize("name", [name for name in PAPER_METHODS if name != "globalopt-f1"])
@given(seed=st.integers(0, 20))
def test_shuffling_the_relations_names_permutes_the_thresholds(name, seed):
    pool, labels = make_pool()
    renamed = ScoredTriples.from_columns(
        *zip(
            *((h, {"r0": "z", "r1": "y", "r2": "x"}[r], t) for h, r, t in map(pool.triple, range(len(pool)))),
            strict=True,
        ),
        pool.scores,
    )
    annotations = annotate(pool, labels, 15, seed)
    cuts = METHODS[name].find_cuts(pool, [annotations])[0]
    assert METHODS[name].find_cuts(renamed, [annotations])[0].tolist() == cuts[[2, 1, 0, 3]].tolist()


def test_options_replace_fields():
    method = find_method("actc-lr-rndm:n=50,soft=true,estimate-all=yes")
    assert (method.n, method.soft, method.estimate_all) == (50, True, True)
    assert METHODS["actc-lr-rndm"].n == 500


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("actc-lr-rdm", "'actc-lr-rndm'"),
        ("actc-lr-rndm:m=5", "'m'"),
        ("actc-lr-rndm:n", "'n'"),
        ("actc-lr-rndm:n=many", "many"),
        ("actc-lr-rndm:soft=perhaps", "perhaps"),
        ("globalopt-f1:step=x", "x"),
        ("no_such_module:method", "no_such_module"),
        ("math:no_such_method", "'no_such_method'"),
        ("math:pi", "math:pi"),
        ("actc.methods.three_steps:LocalOpt", "LocalOpt"),
        (3.14, "3.14"),
    ],
)
def test_what_is_no_method_is_refused_in_a_sentence(text, sentence, pool):
    with pytest.raises(ActcError, match=sentence):
        find_method(text)
    with pytest.raises(ActcError, match=sentence):
        Calibrator(text).fit(pool)


def test_a_method_may_come_from_a_module(pool, labels, tmp_path, monkeypatch):
    (tmp_path / "my_methods.py").write_text(
        "from actc.methods.named import METHODS\n"
        "from actc.methods.three_steps import SelectingMethod\n"
        "class Mine(SelectingMethod):\n"
        "    summary, selector = 'mine', 'random'\n"
        "    def find_cuts(self, pool, annotation_sets):\n"
        "        return METHODS['localopt-acc'].find_cuts(pool, annotation_sets)\n"
        "mine = Mine()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    answers = annotate(pool, labels, 30)
    mine, localopt = (find_method(name).fit(pool, answers) for name in ("my_methods:mine", "localopt-acc"))
    assert mine.thresholds.cuts.tolist() == localopt.thresholds.cuts.tolist()
    assert len(mine.pick(5, np.random.default_rng(0))) == 5


@pytest.mark.parametrize(
    ("name", "field"), [("actc-lr-rndm", "default"), ("globalopt-f1", "default"), ("actc-lr-rndm", "selector")]
)
def test_a_wrong_choice_is_named(name, field, pool, labels):
    method = dataclasses.replace(METHODS[name], **{field: "nothing"})
    with pytest.raises(ChoiceError, match="nothing"):
        _ = method.fit(pool, annotate(pool, labels, 3)).thresholds


def test_a_baseline_has_no_probabilities(pool, labels):
    assert METHODS["localopt-acc"].fit(pool, annotate(pool, labels, 3)).probabilities(pool) is None
    with pytest.raises(OptionError, match="'uncertainty'"):
        find_method("localopt-acc:selector=uncertainty").fit(pool, Annotations()).pick(1, np.random.default_rng(0))


@pytest.mark.parametrize("name", METHODS)
def test_a_fit_says_none_where_it_cannot_know_and_picks_before_the_first_answer(name, pool, labels):
    method, known = METHODS[name], pool.take(np.flatnonzero(labels))
    fit = method.fit(pool, Annotations(), known)
    picks = fit.pick(4, np.random.default_rng(0))
    assert len(set(picks.rows.tolist())) == len(picks.reasons) == 4
    assert (fit.thresholds is None) == (name in PAPER_METHODS) == finds_cuts(method)
    assert (fit.posterior is None) == (name in PAPER_METHODS)


def make_scored(kind, seed):
    """Make a pool in other units: probabilities, distances, log-odds, log-odds with evidence beside them."""
    pool, labels = make_pool(150, seed=seed)
    if kind == "distance":
        return pool.with_scores(-300 * (1 - pool.scores) - 7), labels
    if kind == "probability":
        return pool, labels
    scored = pool.with_scores(8 * pool.scores - 5)
    if kind == "log-odds":
        return scored, labels
    pieces = np.random.default_rng(seed).normal(size=(len(pool), 3)) + labels[:, None]
    names = ("one", "two", "three" if kind == "evidence" else LOG_ODDS_PIECE)
    return scored.with_pieces(**dict(zip(names, pieces.T, strict=True))), labels


@pytest.mark.parametrize("kind", ["probability", "distance", "log-odds", "evidence", "untaught"])
@pytest.mark.parametrize("name", METHODS)
def test_every_method_decides_in_the_pools_own_units_and_alike_at_every_door(name, kind):
    pool, labels = make_scored(kind, seed=1)
    for count, wrong in ((0, False), (1, False), (60, False), (60, True)):
        if count == 0 and name in PAPER_METHODS:
            with pytest.raises(OptionError):
                METHODS[name].fit(pool, Annotations()).accepts(pool)
        else:
            check_decisions(name, pool, labels, annotate(pool, labels ^ wrong, count), far=9 if wrong else 2)


def check_decisions(name, pool, labels, answers, far):
    """Hold what one fit says to itself; answers that contradict every score make flat lines, which cross far out."""
    known = pool.take(np.flatnonzero(labels))
    fit = METHODS[name].fit(pool, answers, known)
    accepted = fit.accepts(pool)
    if fit.thresholds is None:
        assert name.startswith("pooled-evidence")  # answers moved weights
        assert pool.pieces
        assert len(answers) > 0
    else:
        assert fit.thresholds.decide(pool).tolist() == accepted.tolist()
        cuts, spread = fit.thresholds.cuts_and_default, np.ptp(pool.scores)
        near = (cuts >= pool.scores.min() - far * spread) & (cuts <= pool.scores.max() + far * spread)
        assert (near | np.isinf(cuts)).all()
    if name not in PAPER_METHODS:
        assert accepted.tolist() == (fit.probabilities(pool) >= 0.5).tolist()
    assert Calibrator(name).fit(pool, answers, known).predict(pool).tolist() == accepted.tolist()


@pytest.mark.parametrize("name", ["actc-lr-rndm", "actc-gp-rndm", "actc-lr-uni"])
def test_one_relation_one_triple_and_constant_scores_are_survived(name):
    lone = ScoredTriples.from_columns("a", "r", "b", [0.4])
    flat = ScoredTriples.from_columns("abc", "rrs", "xyz", [0.4, 0.4, 0.4])
    for pool in (lone, flat):
        annotations = Annotations(np.array([0]), np.array([True]))
        assert np.isfinite(METHODS[name].find_cuts(pool, [annotations])).all()
        assert np.isfinite(METHODS[name].fit(pool, annotations).probabilities(pool)).all()
