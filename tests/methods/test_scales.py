"""How a pool is read: two clusters of scores, log-odds, probabilities; and the average over kinds of pools."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from actc.data.answers import Annotations
from actc.data.numeric import psi, sigmoid
from actc.data.triples import ScoredTriples
from actc.methods.named import find_method
from actc.methods.pooled.features import prepare_pool
from actc.methods.pooled.method import Pooled
from actc.methods.pooled.model import Priors, crossings, design
from actc.methods.pooled.solve import LabelTable, find_modes, fit_regimes
from actc.methods.pooled.tuned import LEAST_CLEAR


def make_pool(apart: float, share: float = 0.5, size: int = 2000, relations: int = 5, seed: int = 0):
    """True candidates score so much higher than false ones, in every relation at a level of its own."""
    random = np.random.default_rng(seed)
    labels = random.random(size) < share
    codes = random.integers(relations, size=size)
    scores = random.normal(size=size) + apart * labels + 0.5 * random.normal(size=relations)[codes]
    return as_pool(scores, codes), labels


def as_pool(scores: np.ndarray, codes: np.ndarray) -> ScoredTriples:
    names = [f"e{i}" for i in range(len(scores))]
    return ScoredTriples.from_columns(names, [f"r{code}" for code in codes], names[::-1], scores)


def accuracy(pool: ScoredTriples, labels: np.ndarray, answers: Annotations) -> float:
    fit = Pooled().fit(pool, answers)
    return float(np.mean(fit.thresholds.decide(pool) == labels))


def test_the_further_the_clusters_are_apart_the_clearer_the_valley():
    clear = [prepare_pool(make_pool(apart)[0]).features["clear"][:-1].mean() for apart in (0, 2, 3, 4, 6)]
    assert clear[0] < 0.02
    assert clear == sorted(clear)
    assert clear[-1] > 0.7


@pytest.mark.parametrize("draw", ["normal", "logistic", "exponential", "uniform"])
def test_a_pool_of_one_cluster_has_no_clear_valley(draw):
    random = np.random.default_rng(1)
    pool = as_pool(getattr(random, draw)(size=3000), random.integers(6, size=3000))
    assert prepare_pool(pool).features["clear"].max() < 0.25


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_where_the_valley_is_clear_the_cut_is_near_it_before_any_answer(share):
    """Nobody knows yet whether the clusters mean anything: they have half of the weight."""
    pool, labels = make_pool(5.0, share)
    assert accuracy(pool, labels, Annotations()) > 0.9


def test_a_few_answers_that_contradict_the_valley_take_it_out_of_the_average():
    pool, _ = make_pool(5.0)
    rows = np.argsort(pool.scores)[200:1000:100]  # in the lower cluster
    mixed = Annotations(rows, np.ones(len(rows), bool))
    prepared = prepare_pool(pool)
    posterior = fit_regimes(prepared, mixed)
    assert (posterior.moments(prepared.x, prepared.relations)[0] >= 0).mean() > 0.95


@pytest.mark.parametrize("step", [0.05, 0.1])
def test_rounded_scores_have_no_more_clusters_than_they_had_before(step):
    random = np.random.default_rng(0)
    scores, codes = random.beta(4, 2, size=500), random.integers(4, size=500)
    rounded = as_pool(np.round(scores / step) * step, codes)
    assert prepare_pool(rounded).features["clear"].max() < LEAST_CLEAR


def test_squashed_scores_have_the_same_clusters():
    pool, labels = make_pool(5.0)
    squashed = pool.with_scores(sigmoid(pool.scores - 2))
    clear = [prepare_pool(one).features["clear"] for one in (pool, squashed)]
    np.testing.assert_allclose(*clear, atol=0.05)
    assert accuracy(squashed, labels, Annotations()) > 0.95


def test_in_lists_of_answers_clusters_do_not_count():
    random = np.random.default_rng(0)
    labels = random.random(1000) < 0.5
    scores = random.normal(size=1000) + 6 * labels
    questions = [f"q{i // 20}" for i in range(1000)]
    pool = ScoredTriples.from_columns(
        questions, [f"r{i % 4}" for i in range(1000)], [f"a{i}" for i in range(1000)], scores
    )
    accepted = find_method("pooled").fit(pool, Annotations()).thresholds.decide(pool)
    assert accepted.mean() < 0.35


def make_log_odds(size=400, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(-1, 2, size)
    relations = [f"r{k}" for k in rng.integers(0, 4, size)]
    pool = ScoredTriples.from_columns([f"h{i}" for i in range(size)], relations, ["t"] * size, scores)
    return pool, rng.random(size) < sigmoid(scores)


@pytest.fixture(scope="module")
def method():
    return find_method("pooled-evidence")


def test_before_any_answer_log_odds_are_believed(method):
    pool, _ = make_log_odds()
    fit = method.fit(pool, Annotations())
    assert fit.thresholds.default == pytest.approx(0)
    assert ((fit.probabilities(pool) >= 0.5) == (pool.scores >= 0)).all()


@pytest.mark.parametrize("selector", ["expected-gain", "random"])
@pytest.mark.parametrize("count", [20, 60, 200])
def test_where_every_answer_is_false_nothing_is_accepted_whatever_the_evidence_says(count, selector):
    pool, _ = make_log_odds(1500)
    pool = pool.with_scores(pool.scores + 10)
    method, random, answers = Pooled(reads="evidence", selector=selector), np.random.default_rng(1), Annotations()
    while len(answers) < count:
        picks = method.fit(pool, answers).pick(20, random)
        answers = answers.plus(picks.answered(np.zeros(len(picks.rows), bool)))
    assert not method.fit(pool, answers).accepts(pool).any()


def test_a_line_that_falls_is_never_crossed():
    rising, falling = (0.5, 2.0), (-0.3, 0.0)
    lines = np.array([[a, *slopes] for slopes in (rising, falling) for a in (-1.0, 1.0)])
    assert crossings(lines).tolist() == [0.5, -2.0, np.inf, -np.inf]


@pytest.fixture
def confidences():
    """Mostly true triples with confidences in steps of 0.05, 0 and 1 among them, and their labels."""
    rng = np.random.default_rng(1)
    labels = rng.random(1000) < 0.73
    scores = np.round(np.clip(0.4 + 0.3 * labels + 0.2 * rng.normal(size=1000), 0, 1) / 0.05) * 0.05
    names = [f"e{i}" for i in range(1000)]
    pool = ScoredTriples.from_columns(names, [f"r{i % 5}" for i in range(1000)], names, scores, probabilities=True)
    return pool, labels


def test_before_any_answer_probabilities_are_believed(confidences):
    pool, _ = confidences
    fit = find_method("pooled").fit(pool, Annotations())
    assert fit.thresholds.default == pytest.approx(0.5)
    assert (fit.accepts(pool) == (pool.scores >= 0.5)).all()


def test_probabilities_are_decided_as_their_log_odds_are(confidences, method):
    pool, labels = confidences
    inside = np.clip(pool.scores, 0.005, 0.995)
    log_odds = pool.with_scores(np.log(inside / (1 - inside)))
    answers = Annotations(np.arange(40), labels[:40])
    ours, theirs = find_method("pooled").fit(pool, answers), method.fit(log_odds, answers)
    np.testing.assert_allclose(ours.probabilities(pool), theirs.probabilities(log_odds))
    assert (ours.accepts(pool) == theirs.accepts(log_odds)).all()


def test_on_mostly_true_confidences_it_is_above_accepting_all_and_above_the_paper(confidences):
    pool, test = (confidences[0].take(rows) for rows in (np.arange(500), np.arange(500, 1000)))
    labels, truth = np.split(confidences[1], 2)
    for count in (0, 20, 50, 100):
        right = {"pooled": [], "actc-lr-rndm": []}
        for seed, name in itertools.product(range(5), right):
            rows = np.random.default_rng(seed).permutation(500)[: max(count, 1 if name != "pooled" else 0)]
            fit = find_method(name).fit(pool, Annotations(rows, labels[rows]))
            right[name].append((fit.accepts(test) == truth).mean())
        assert np.mean(right["pooled"]) > max(truth.mean(), np.mean(right["actc-lr-rndm"]))


COEFFICIENTS = {"one": (0.0, 0.8), "c": (0.7, 0.8), "skew": (-1.0, 0.8), "bskew": (0.6, 0.5), "slope": (1.5, 0.7)}


def make_half_telling_pool(share: float, seed: int = 0, size: int = 400):
    """Eight relations whose candidates are true with about the same share, the score telling a little."""
    random = np.random.default_rng(seed)
    labels = random.random(size) < share
    return as_pool(random.normal(size=size) + 1.2 * labels, np.arange(size) % 8), labels


def test_the_mode_is_where_no_step_lowers_the_objective():
    """Against a general optimiser, with theta and u as one long vector."""
    from scipy.optimize import minimize

    pool, labels = make_half_telling_pool(0.5)
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


def test_the_evidence_is_that_of_brute_force():
    """With one label and everything but the intercept fixed, the marginal likelihood is a one-dimensional integral."""
    pool, _ = make_half_telling_pool(0.5)
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


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_ten_random_answers_settle_the_base_rate(share):
    accepted = []
    for seed in range(10):
        pool, labels = make_half_telling_pool(share, seed=seed)
        prepared = prepare_pool(pool)
        rows = np.random.default_rng(seed).permutation(len(pool))[:10]
        posterior = fit_regimes(prepared, Annotations(rows, labels[rows]))
        accepted.append((posterior.moments(prepared.x, prepared.relations)[0] >= 0).mean())
    assert abs(np.mean(accepted) - share) < 0.15


def as_lists(pool: ScoredTriples, each: int, side: str = "head") -> ScoredTriples:
    """The same scores and relations, but so many candidates share a head (or a tail) within their relation."""
    questions = [f"q{i // (8 * each)}" for i in range(len(pool))]
    answers = [f"a{i}" for i in range(len(pool))]
    heads, tails = (questions, answers) if side == "head" else (answers, questions)
    return ScoredTriples.from_columns(heads, pool.columns()["relation"], tails, pool.scores)


@pytest.mark.parametrize("side", ["head", "tail"])
def test_five_answers_to_each_question_look_like_proposals_before_any_label(side):
    pool, _ = make_half_telling_pool(0.4)
    accepted, weights = [], []
    for table in (pool, as_lists(pool, 5, side)):
        prepared = prepare_pool(table)
        start = fit_regimes(prepared, Annotations())
        accepted.append((start.moments(prepared.x, prepared.relations)[0] >= 0).mean())
        weights.append(sum(weight for weight, part in start.mixture if part.beta[-1, 0] < -1))
    assert accepted[1] < 0.6 * accepted[0]
    assert weights[0] < 0.5 < 0.85 < weights[1] < 1


def test_two_answers_to_each_question_or_one_with_very_many_are_no_lists():
    pool, _ = make_half_telling_pool(0.4)
    hub = ["hub"] * 200 + [f"q{i}" for i in range(200)]
    names = [f"a{i}" for i in range(400)]
    with_hub = ScoredTriples.from_columns(hub, pool.columns()["relation"], names, pool.scores)
    assert [prepare_pool(table).lists for table in (pool, as_lists(pool, 2), with_hub)] == [0, 0, 0]
    assert prepare_pool(as_lists(pool, 5)).lists == 1
