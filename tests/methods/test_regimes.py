"""The average over kinds of pools: against one fit per kind done alone, and what labels make of the weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from actc.data.answers import Annotations
from actc.data.numeric import psi
from actc.data.triples import ScoredTriples
from actc.methods.pooled.features import prepare_pool
from actc.methods.pooled.model import Priors, design
from actc.methods.pooled.solve import LabelTable, find_modes, fit_regimes, regime_priors, regime_shares

COEFFICIENTS = {"one": (0.0, 0.8), "c": (0.7, 0.8), "skew": (-1.0, 0.8), "bskew": (0.6, 0.5), "slope": (1.5, 0.7)}


def make_pool(share: float, seed: int = 0, size: int = 400) -> tuple[ScoredTriples, np.ndarray]:
    """Eight relations whose candidates are true with about the same share, the score telling a little."""
    random = np.random.default_rng(seed)
    labels = random.random(size) < share
    scores = random.normal(size=size) + 1.2 * labels
    names = [f"e{i}" for i in range(size)]
    relations = [f"r{i % 8}" for i in range(size)]
    return ScoredTriples.from_columns(names, relations, names[::-1], scores), labels


def test_the_mode_is_where_no_step_lowers_the_objective() -> None:
    """Against a general optimiser, with theta and u as one long vector."""
    from scipy.optimize import minimize

    pool, labels = make_pool(0.5)
    prepared, rows = prepare_pool(pool), np.arange(60)
    prior = Priors.of((COEFFICIENTS, (1.2, 0.5)))
    mean = prior.mean[0]
    G, basis, code = design(prepared, prior.names), psi(prepared.x[rows]), prepared.relations[rows]

    def objective(at: np.ndarray) -> float:
        theta, u = at[: len(mean)], at[len(mean) :].reshape(-1, 3)
        eta = np.einsum("li,li->l", basis, (G @ theta)[code] + u[code])
        off = prior.precision[0] @ (theta - mean) ** 2 + (u**2 * prior.penalty).sum()
        return float(np.logaddexp(0, eta).sum() - eta @ labels[rows] + 0.5 * off)

    best = minimize(objective, np.r_[mean, np.zeros(24)], method="BFGS", options={"gtol": 1e-8})
    table = LabelTable.of(prepared, Annotations(rows, labels[rows]))
    modes = find_modes(table, G[table.relations], prior)
    np.testing.assert_allclose(modes.theta[0], best.x[: len(mean)], atol=1e-3)
    assert modes.value[0] == pytest.approx(best.fun, abs=1e-4)


def test_the_evidence_is_that_of_brute_force() -> None:
    """With one label and everything but the intercept fixed, the marginal likelihood is a one-dimensional integral."""
    pool, _ = make_pool(0.5)
    prepared, row = prepare_pool(pool), np.array([3])
    fixed = {name: (mean, 1e-4) for name, (mean, _) in COEFFICIENTS.items()}
    means = (-2.0, 1.0)
    priors = Priors.of(*(({**fixed, "one": (mean, 0.5)}, (1e-3, 1e-3)) for mean in means))
    G, table = design(prepared, fixed), LabelTable.of(prepared, Annotations(row, np.array([True])))
    found = find_modes(table, G[table.relations], priors).evidence()
    without_one = np.array([0.0, *(mean for name, (mean, _) in fixed.items() if name != "one")])
    height = float(psi(prepared.x[row])[0] @ G[prepared.relations[row[0]]] @ without_one)
    grid = np.linspace(-8, 8, 4001)
    density = [np.exp(-0.5 * ((grid - mean) / 0.5) ** 2) / (0.5 * np.sqrt(2 * np.pi)) for mean in means]
    expected = [np.log(np.trapezoid(one / (1 + np.exp(-(height + grid))), grid)) for one in density]
    np.testing.assert_allclose(found, expected, atol=0.02)


@pytest.mark.parametrize(("agreement", "sure"), [(0.0, 0.5), (0.5, 0.74), (1.0, 0.98)])
def test_features_that_agree_speak_for_the_regime_in_which_they_tell_and_half_is_true(agreement, sure) -> None:
    prepared = replace(prepare_pool(make_pool(0.4)[0]), agreement=agreement)
    shares = regime_shares(prepared).reshape(3, 3)
    assert shares.sum() == pytest.approx(1)
    np.testing.assert_allclose(shares[:, 0].sum(), sure)
    np.testing.assert_allclose(shares[1].sum(), sure)


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_ten_random_answers_settle_the_base_rate(share) -> None:
    accepted = []
    for seed in range(10):
        pool, labels = make_pool(share, seed=seed)
        prepared = prepare_pool(pool)
        rows = np.random.default_rng(seed).permutation(len(pool))[:10]
        posterior = fit_regimes(prepared, Annotations(rows, labels[rows]), regime_priors(False))
        accepted.append((posterior.moments(prepared.x, prepared.relations)[0] >= 0).mean())
    assert abs(np.mean(accepted) - share) < 0.15


def as_lists(pool: ScoredTriples, each: int, side: str = "head") -> ScoredTriples:
    """The same scores and relations, but so many candidates share a head (or a tail) within their relation."""
    questions = [f"q{i // (8 * each)}" for i in range(len(pool))]
    answers = [f"a{i}" for i in range(len(pool))]
    heads, tails = (questions, answers) if side == "head" else (answers, questions)
    return ScoredTriples.from_columns(heads, pool.columns()["relation"], tails, pool.scores)


@pytest.mark.parametrize("side", ["head", "tail"])
def test_five_answers_to_each_question_look_like_proposals_before_any_label(side) -> None:
    pool, _ = make_pool(0.4)
    accepted, weights = [], []
    for table in (pool, as_lists(pool, 5, side)):
        prepared = prepare_pool(table)
        start = fit_regimes(prepared, Annotations(), regime_priors(False))
        accepted.append((start.moments(prepared.x, prepared.relations)[0] >= 0).mean())
        weights.append(sum(weight for weight, part in start.mixture if part.beta[-1, 0] < -1))
    assert accepted[1] < 0.6 * accepted[0]
    assert weights[0] < 0.5 < 0.85 < weights[1] < 1


def test_two_answers_to_each_question_or_one_with_very_many_are_no_lists() -> None:
    pool, _ = make_pool(0.4)
    hub = ["hub"] * 200 + [f"q{i}" for i in range(200)]
    names = [f"a{i}" for i in range(400)]
    with_hub = ScoredTriples.from_columns(hub, pool.columns()["relation"], names, pool.scores)
    assert [prepare_pool(table).lists for table in (pool, as_lists(pool, 2), with_hub)] == [0, 0, 0]
    assert prepare_pool(as_lists(pool, 5)).lists == 1
