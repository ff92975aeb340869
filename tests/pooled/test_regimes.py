"""The average over kinds of pools: against one fit per kind done alone, and what labels make of the weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from actc.numeric import psi
from actc.pooled.draws import draw_lines
from actc.pooled.features import prepare_pool
from actc.pooled.model import Prior, design
from actc.pooled.regimes import REGIMES, Regime, find_shares, fit_regimes
from actc.pooled.solve import LabelTable, Priors, find_modes
from actc.pooled.tuned import TUNED
from actc.triples import Annotations, ScoredTriples

COEFFICIENTS = {"one": (0.0, 0.8), "c": (0.7, 0.8), "skew": (-1.0, 0.8), "bskew": (0.6, 0.5), "slope": (1.5, 0.7)}


def make_pool(share: float, seed: int = 0, size: int = 400) -> tuple[ScoredTriples, np.ndarray]:
    """Eight relations whose candidates are true with about the same share, the score telling a little."""
    random = np.random.default_rng(seed)
    labels = random.random(size) < share
    scores = random.normal(size=size) + 1.2 * labels
    names = [f"e{i}" for i in range(size)]
    relations = [f"r{i % 8}" for i in range(size)]
    return ScoredTriples.from_columns(names, relations, names[::-1], scores), labels


def test_one_regime_alone_is_its_own_fit_and_the_start() -> None:
    pool, labels = make_pool(0.5)
    prepared, annotations = prepare_pool(pool), Annotations(np.arange(60), labels[:60])
    alone = (Regime(Prior(COEFFICIENTS, (1.2, 0.5))),)
    ours, start = fit_regimes(prepared, annotations, alone), fit_regimes(prepared, Annotations(), alone)
    fitted = max(ours.mixture, key=lambda part: part[0])[1]
    kept = TUNED.start_counts * (1 - prepared.agreement)
    kept /= kept + 60
    np.testing.assert_allclose(ours.beta, (1 - kept) * fitted.beta + kept * start.beta, atol=1e-9)


def test_the_mode_is_where_no_step_lowers_the_objective() -> None:
    """Against a general optimiser, with theta and u as one long vector."""
    from scipy.optimize import minimize

    pool, labels = make_pool(0.5)
    prepared, rows = prepare_pool(pool), np.arange(60)
    prior = Prior(COEFFICIENTS, (1.2, 0.5))
    G, basis, code = design(prepared, prior.coefficients), psi(prepared.x[rows]), prepared.relations[rows]

    def objective(at: np.ndarray) -> float:
        theta, u = at[: len(prior.mean)], at[len(prior.mean) :].reshape(-1, 3)
        eta = np.einsum("li,li->l", basis, (G @ theta)[code] + u[code])
        off = prior.precision @ (theta - prior.mean) ** 2 + (u**2 / prior.tau_squared).sum()
        return float(np.logaddexp(0, eta).sum() - eta @ labels[rows] + 0.5 * off)

    best = minimize(objective, np.r_[prior.mean, np.zeros(24)], method="BFGS", options={"gtol": 1e-8})
    table = LabelTable.of(
        replace(prepared, features={**prepared.features, "clear": np.zeros(9)}), Annotations(rows, labels[rows])
    )
    modes = find_modes(table, G[table.relations], Priors.of([prior]))
    np.testing.assert_allclose(modes.state.theta[0], best.x[: len(prior.mean)], atol=1e-3)
    assert modes.value[0] == pytest.approx(best.fun, abs=1e-4)


def test_the_evidence_is_that_of_brute_force() -> None:
    """With one label and everything but the intercept held, the marginal likelihood is a one-dimensional integral."""
    pool, _ = make_pool(0.5)
    prepared = prepare_pool(pool)
    fixed = {name: (mean, 1e-4) for name, (mean, _) in COEFFICIENTS.items()}
    low, high, none = (
        Regime(Prior({**fixed, "one": one}, (1e-3, 1e-3))) for one in ((-2.0, 0.5), (1.0, 0.5), (0.0, 1e-4))
    )
    rows = np.array([3])
    found = fit_regimes(prepared, Annotations(rows, np.array([True])), (low, high))
    at = fit_regimes(prepared, Annotations(), (none,))
    height = at.logits(prepared.x[rows], prepared.relations[rows])[0]
    grid = np.linspace(-8, 8, 4001)
    chance = [
        np.trapezoid(np.exp(-0.5 * ((grid - mean) / 0.5) ** 2) / (1 + np.exp(-(height + grid))), grid)
        for mean in (-2.0, 1.0)
    ]
    kept = 2 * (1 - prepared.agreement) / (2 * (1 - prepared.agreement) + 1)
    expected = (1 - kept) * chance[0] / sum(chance) + kept * 0.5
    got = sum(weight for weight, part in found.mixture if part.theta[0] < -0.5)
    assert got == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(("share", "accepts"), [(0.08, 0.12), (0.9, 0.75)])
def test_a_handful_of_labels_tells_pools_of_proposals_from_pools_that_are_mostly_true(share, accepts) -> None:
    pool, labels = make_pool(share, seed=2)
    prepared = prepare_pool(pool)
    annotations = Annotations(np.arange(25), labels[:25])
    posterior = fit_regimes(prepared, annotations, REGIMES[False])
    accepted = (posterior.logits(prepared.x, prepared.relations) >= 0).mean()
    assert accepted < accepts if share < 0.5 else accepted > accepts


def test_weights_add_up_and_without_labels_or_humps_they_are_the_shares() -> None:
    pool, labels = make_pool(0.4)
    prepared = replace(prepare_pool(pool), features=prepare_pool(pool).features | {"clear": np.zeros(9)})
    start = fit_regimes(prepared, Annotations(), REGIMES[False])
    np.testing.assert_allclose([weight for weight, _ in start.mixture], find_shares(prepared, REGIMES[False]))
    later = fit_regimes(prepared, Annotations(np.arange(30), labels[:30]), REGIMES[False])
    assert sum(weight for weight, _ in later.mixture) == pytest.approx(1.0)


@pytest.mark.parametrize(("agreement", "told"), [(0.0, 0.15), (0.5, 0.565), (1.0, 0.98)])
def test_features_that_agree_speak_for_the_regime_in_which_they_tell(agreement, told) -> None:
    prepared = replace(prepare_pool(make_pool(0.4)[0]), agreement=agreement)
    shares = find_shares(prepared, REGIMES[False])
    assert shares[0] == pytest.approx(told)
    np.testing.assert_allclose(shares[1:], (1 - told) / 4)


def test_where_features_do_not_agree_the_start_counts_as_two_labels() -> None:
    pool, labels = make_pool(0.4)
    prepared = prepare_pool(pool)
    start = {id(part): weight for weight, part in fit_regimes(prepared, Annotations(), REGIMES[False]).mixture}
    doubt = 1 - prepared.agreement
    for count in (1, 8):
        later = fit_regimes(prepared, Annotations(np.arange(count), labels[:count]), REGIMES[False])
        kept = sum(weight for weight, part in later.mixture if id(part) in start)
        assert kept == pytest.approx(2 * doubt / (2 * doubt + count))
        assert kept > 0.1


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
        start = fit_regimes(prepared, Annotations(), REGIMES[False])
        accepted.append((start.logits(prepared.x, prepared.relations) >= 0).mean())
        weights.append(
            sum(
                weight
                for weight, part in start.mixture
                if part.theta[list(REGIMES[False][0].prior.coefficients).index("one")] < -1
            )
        )
    assert accepted[1] < 0.6 * accepted[0]
    assert weights[0] < 0.5 < 0.85 < weights[1] < 1


def test_two_answers_to_each_question_or_one_with_very_many_are_no_lists() -> None:
    pool, _ = make_pool(0.4)
    hub = ["hub"] * 200 + [f"q{i}" for i in range(200)]
    names = [f"a{i}" for i in range(400)]
    with_hub = ScoredTriples.from_columns(hub, pool.columns()["relation"], names, pool.scores)
    assert [prepare_pool(table).listed for table in (pool, as_lists(pool, 2), with_hub)] == [0, 0, 0]
    assert prepare_pool(as_lists(pool, 5)).listed == 1


def test_labels_overrule_what_looks_like_lists() -> None:
    pool, labels = make_pool(0.9, seed=2)
    prepared = prepare_pool(as_lists(pool, 5))
    posterior = fit_regimes(prepared, Annotations(np.arange(25), labels[:25]), REGIMES[False])
    assert (posterior.logits(prepared.x, prepared.relations) >= 0).mean() > 0.75


def test_the_average_is_the_mean_of_its_draws_and_as_wide_as_they_are() -> None:
    pool, labels = make_pool(0.3, seed=1)
    posterior = fit_regimes(prepare_pool(pool), Annotations(np.arange(12), labels[:12]), REGIMES[False])
    lines = draw_lines(posterior, 20_000, np.random.default_rng(0))
    np.testing.assert_allclose(lines.mean(axis=0), posterior.beta, atol=0.06)
    np.testing.assert_allclose(lines.var(axis=0), np.diagonal(posterior.covariance, axis1=1, axis2=2), rtol=0.1)


def test_doubt_between_kinds_makes_the_average_wider_than_its_parts() -> None:
    pool, labels = make_pool(0.3, seed=1)
    posterior = fit_regimes(prepare_pool(pool), Annotations(np.arange(5), labels[:5]), REGIMES[False])
    within = sum(weight * part.covariance[:, 0, 0] for weight, part in posterior.mixture)
    assert (posterior.covariance[:, 0, 0] > within + 0.05).all()


def test_the_order_of_judging_changes_nothing() -> None:
    pool, labels = make_pool(0.3, seed=1)
    prepared, rows = prepare_pool(pool), np.arange(40)
    one = fit_regimes(prepared, Annotations(rows, labels[rows]), REGIMES[False])
    other = fit_regimes(prepared, Annotations(rows[::-1], labels[rows[::-1]]), REGIMES[False])
    np.testing.assert_allclose(one.beta, other.beta)
