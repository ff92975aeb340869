"""The pooled method: its specification's numbers, its invariances, and pools that nobody would wish for."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actc.bench.cells import load_cell
from actc.data.answers import Annotations
from actc.data.triples import ScoredTriples
from actc.errors import ActcError
from actc.methods.named import find_method
from actc.methods.pooled.features import PreparedPool, prepare_pool
from actc.methods.pooled.method import Pooled
from actc.methods.pooled.model import OBJECTIVES, Posterior, Priors, cut_intervals, cuts_at, design, draw_lines
from actc.methods.pooled.picks import ExpectedGains, pick_expected_gain
from actc.methods.pooled.solve import fit_prior, fit_regimes

VERSIONS = st.sampled_from(["pool", "evidence"])
CASES = {"pool_only": False, "with_known_triples": True}


VECTORS = json.loads((Path(__file__).parent / "pooled_vectors.json").read_text())
ROWS = np.array(VECTORS["annotated_rows"])


@pytest.fixture(scope="module")
def cell():
    return load_cell(*VECTORS["cell"].split("/"))


@pytest.fixture(scope="module", params=CASES)
def case(request, cell):
    """The expected numbers, the fit without a label, the fit on the given ones."""
    known = cell.known if CASES[request.param] else None
    prepared, prior = blind_to_valleys(prepare_pool(cell.valid, known)), prior_of(CASES[request.param])
    answers = (Annotations(), Annotations(ROWS, cell.valid_labels[ROWS]))
    return (VECTORS[request.param], *(fit_prior(prepared, some, prior, np.inf) for some in answers))


def prior_of(with_known: bool):
    """The specification's prior."""
    shared = {"bskew": (0.6, 0.5), "diff": (0.0, 0.5), "slope": (1.5, 0.7)}
    if with_known:
        features = {"c": (0.3, 0.8), "skew": (-0.7, 0.8), "gap": (-2.0, 1.0)}
    else:
        features = {"c": (0.7, 0.8), "skew": (-1.0, 0.8)}
    return Priors.of(({"one": (0.0, 0.8), **features, **shared}, (1.2, 0.5)))


def blind_to_valleys(prepared: PreparedPool):
    """The specification does not know of valleys."""
    return replace(prepared, features={name: prepared.features[name] for name in prepared.features if name != "clear"})


def find_cuts(posterior: Posterior, objective: str = "accuracy"):
    return cuts_at(posterior, OBJECTIVES[objective](posterior))


def assert_cuts(posterior: Posterior, expected: dict[str, float | str]):
    *cuts, default = find_cuts(posterior)
    own = dict(zip(posterior.pool.relation_names, cuts, strict=True))
    for name, cut in expected.items():  # among them relations that only the test split has
        assert own.get(name, default) == pytest.approx(float(cut), abs=1e-4), name


def test_features_are_the_specified_ones(case):
    expected, prior_fit, _ = case
    prior = prior_of("gap" in expected["coefficient_names"])
    assert list(prior.names) == expected["coefficient_names"]
    G = design(prior_fit.pool, prior.names)
    for name, row in expected["relation_features"].items():
        np.testing.assert_allclose(G[prior_fit.pool.relation_names.index(name), 0], row, atol=1e-6)


def test_thresholds_are_the_specified_ones(case):
    expected, unlabelled, labelled = case
    assert_cuts(unlabelled, expected["zero_label_thresholds"])
    assert_cuts(labelled, expected["thresholds"])
    # Lines of relations without a label are G theta.
    G = design(labelled.pool, expected["coefficient_names"])
    free = np.setdiff1d(np.arange(len(G)), labelled.pool.relations[ROWS])
    theta = np.linalg.lstsq(np.concatenate(G[free]), labelled.beta[free].ravel(), rcond=None)[0]
    np.testing.assert_allclose(theta, expected["theta"], atol=1e-4)


def test_probabilities_and_accuracy_are_the_specified_ones(case, cell):
    expected, *fits = case
    relations = fits[0].pool.relation_codes(cell.test)
    x = fits[0].pool.centred(cell.test.scores, relations)
    p = fits[1].probabilities(x, relations)[VECTORS["test_rows"]]
    np.testing.assert_allclose(p, expected["probabilities_of_test_rows"], atol=1e-4)
    for posterior, name in zip(fits, ("test_accuracy_zero_labels", "test_accuracy"), strict=True):
        accepted = cell.test.scores >= find_cuts(posterior)[relations]
        assert np.mean(accepted == cell.test_labels) == pytest.approx(expected[name], abs=1e-6)


def test_picks_are_the_specified_ones(case):
    expected, *fits = case
    for posterior, name in zip(fits, ("first_pick", "next_pick"), strict=True):
        gains, wanted = ExpectedGains(posterior), expected[name]
        relation, point = gains.best()
        assert (posterior.pool.relation_names[relation], point) == (wanted["relation"], wanted["bin"])
        assert gains.gains.max() == pytest.approx(wanted["gain_in_triples"], abs=1e-4)


# ---------------------------------------------------------------- any pool


def make_pool(scores: list[float] | np.ndarray, relations: list[int] | np.ndarray):
    names = [f"r{code}" for code in relations]
    heads = [f"e{row}" for row in range(len(names))]
    return ScoredTriples.from_columns(heads, names, heads, scores)


@st.composite
def labelled_pools(draw):
    """Scores, with ties, relations and annotations of a small pool."""
    size = draw(st.integers(1, 40))
    scores = draw(st.lists(st.integers(-500, 500), min_size=size, max_size=size))
    relations = draw(st.lists(st.integers(0, 4), min_size=size, max_size=size))
    labels = draw(st.dictionaries(st.integers(0, size - 1), st.booleans()))
    answers = Annotations(np.array([*labels], dtype=int), np.array([*labels.values()], dtype=bool))
    return np.array(scores) / 100, np.array(relations), answers


def decisions(posterior: Posterior, pool: ScoredTriples, objective: str = "accuracy"):
    return pool.scores >= find_cuts(posterior, objective)[pool.relations]


@settings(max_examples=25, deadline=None)
@given(labelled_pools(), st.sampled_from([(7.0, -80.0), (0.01, 40.0)]))
def test_the_scale_and_the_zero_of_the_scores_change_no_decision_and_no_probability(drawn, transform):
    scores, relations, annotations = drawn
    pools = [make_pool(scores - 10, relations), make_pool(scores * transform[0] + transform[1], relations)]
    one, two = (Pooled().fit(pool, annotations) for pool in pools)
    np.testing.assert_array_equal(one.accepts(pools[0]), two.accepts(pools[1]))
    np.testing.assert_allclose(one.probabilities(pools[0]), two.probabilities(pools[1]), atol=1e-6)


@settings(max_examples=25, deadline=None)
@given(labelled_pools())
def test_but_for_the_valleys_no_rising_transform_of_the_scores_changes_anything(drawn):
    scores, relations, annotations = drawn
    pools = [make_pool(scores, relations), make_pool(np.exp(scores) * 7 - 3, relations)]
    one, two = (fit_regimes(blind_to_valleys(prepare_pool(pool)), annotations) for pool in pools)
    np.testing.assert_array_equal(decisions(one, pools[0]), decisions(two, pools[1]))
    np.testing.assert_array_equal(one.beta, two.beta)
    np.testing.assert_array_equal(one.covariance, two.covariance)
    np.testing.assert_array_equal(ExpectedGains(one).gains, ExpectedGains(two).gains)


@settings(max_examples=25, deadline=None)
@given(labelled_pools(), VERSIONS, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_of_judging_moves_no_threshold(drawn, version, shuffler):
    scores, relations, annotations = drawn
    order = list(range(len(scores)))
    shuffler.shuffle(order)
    judged = list(range(len(annotations)))
    shuffler.shuffle(judged)
    moved = Annotations(np.argsort(order)[annotations.rows[judged]].astype(int), annotations.labels[judged])
    one = Pooled(reads=version).fit(make_pool(scores, relations), annotations).posterior
    two = Pooled(reads=version).fit(make_pool(scores[order], relations[order]), moved).posterior
    np.testing.assert_allclose(find_cuts(one), find_cuts(two), atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(labelled_pools(), VERSIONS, st.permutations(range(5)))
def test_relabelled_relations_permute_the_thresholds(drawn, version, new_code):
    scores, relations, annotations = drawn
    renamed = np.array(new_code)[relations]
    one, two = make_pool(scores, relations), make_pool(scores, renamed)
    cuts = [find_cuts(Pooled(reads=version).fit(pool, annotations).posterior) for pool in (one, two)]
    np.testing.assert_allclose(cuts[0][one.relations], cuts[1][two.relations], atol=1e-9)
    assert cuts[0][-1] == pytest.approx(cuts[1][-1], abs=1e-9)


DEGENERATE = {
    "one triple": ([0.3], [0]),
    "one relation": (np.linspace(-1, 1, 30), np.zeros(30, int)),
    "constant scores": (np.zeros(30), np.arange(30) % 3),
    "every triple its own relation": (np.linspace(-1, 1, 30), np.arange(30)),
    "neighbouring floats": ([1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 0)], [0, 0, 1]),
    "enormous scores": ([-1e100, 0.0, 1e100, 5.0], [0, 0, 1, 1]),
}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("labels", ["none", "all true", "all false", "mixed"])
@pytest.mark.parametrize("with_known", [False, True])
def test_degenerate_pools_give_finite_probabilities_and_a_decision(name, labels, with_known):
    scores, relations = (np.asarray(column) for column in DEGENERATE[name])
    pool = make_pool(scores, relations)
    rows = np.arange(0 if labels == "none" else len(pool))
    truth = {"none": rows > 0, "all true": rows >= 0, "all false": rows < 0, "mixed": rows % 2 == 0}[labels]
    prepared = prepare_pool(pool, pool if with_known else None)
    posterior = fit_regimes(prepared, Annotations(rows, truth))
    p = posterior.probabilities(prepared.x, prepared.relations)
    assert np.isfinite(p).all()
    assert ((p > 0) & (p < 1)).all()
    for objective in OBJECTIVES:
        assert not np.isnan(find_cuts(posterior, objective)).any()
    if labels == "all true" and len(pool) > 4:  # few answers do not outweigh what is believed
        assert p.mean() > 0.5
        assert decisions(posterior, pool).mean() >= 0.5
    if labels == "all false":
        assert p.mean() < 0.5
    low, high = cut_intervals(posterior)
    assert (low <= high).all()


@settings(max_examples=25, deadline=None)
@given(labelled_pools(), VERSIONS, st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_a_pick_is_new_and_inside_the_pool_until_the_pool_is_empty(drawn, version, count, seed):
    scores, relations, annotations = drawn
    pool = make_pool(scores, relations)
    posterior = Pooled(reads=version).fit(pool, annotations).posterior
    accepted = np.bincount(pool.relations[decisions(posterior, pool)], minlength=len(pool.relation_names))
    picks = pick_expected_gain(posterior, annotations, count, np.random.default_rng(seed), accepted)
    rows = picks.rows
    assert len(rows) == min(count, len(scores) - len(annotations))
    assert len({*rows.tolist(), *annotations.rows.tolist()}) == len(rows) + len(annotations)
    assert ((rows >= 0) & (rows < len(scores))).all()
    assert picks.answered(np.ones(len(rows), dtype=bool)).has_inclusion_probability.all()


def random_pool(relations: int, size: int, seed: int = 0) -> tuple[ScoredTriples, np.ndarray]:
    """A pool whose truth follows the model: rising curves around each relation's own threshold."""
    random = np.random.default_rng(seed)
    codes = random.integers(relations, size=size)
    threshold = 0.8 * random.normal(size=relations)
    scores = random.normal(size=size)
    return make_pool(scores, codes), random.random(size) < 1 / (1 + np.exp(-1.5 * (scores - threshold[codes])))


def test_draws_agree_with_the_posterior_they_come_from():
    pool, labels = random_pool(6, 600)
    posterior = Pooled().fit(pool, Annotations(np.arange(60), labels[:60])).posterior
    lines = draw_lines(posterior, slice(None), 20_000, np.random.default_rng(0))
    np.testing.assert_allclose(lines.mean(axis=0), posterior.beta, atol=0.05)
    spread = np.einsum("dri,drj->rij", lines - posterior.beta, lines - posterior.beta) / len(lines)
    np.testing.assert_allclose(spread, posterior.covariance, atol=0.05)


# ---------------------------------------------------------------- as a method


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        ("pooled-known", "needs the known triples"),
        ("pooled:reads=v2", "evidence"),
        ("pooled:objective=acuracy", "accuracy"),
        ("pooled:selector=rndm", "random"),
    ],
)
def test_what_is_missing_or_misspelt_is_answered_in_a_sentence(method, sentence):
    with pytest.raises(ActcError, match=sentence):
        find_method(method).fit(random_pool(5, 300)[0], Annotations())


# ---------------------------------------------------------------- agreement


def pool_with_shares(shares: np.ndarray, levels: np.ndarray, seed: int = 0):
    """True triples score 4 higher than false ones; relations differ in their share of true ones and in their level."""
    random = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(shares)), 300)
    truth = random.random(len(codes)) < shares[codes]
    return make_pool(random.normal(size=len(codes)) + 4 * truth + levels[codes], codes)


def test_features_count_where_relations_differ_in_their_share_and_not_where_they_differ_in_level():
    steps = np.linspace(0, 1, 12)
    by_share = prepare_pool(pool_with_shares(0.1 + 0.8 * steps, 0 * steps)).agreement
    by_level = prepare_pool(pool_with_shares(0.5 + 0 * steps, 2 * steps)).agreement
    assert by_share > 0.4
    assert by_level < 0.05


def test_a_refit_lays_out_no_table_of_the_pools_size():
    most = []
    for size in (5_000, 100_000):
        pool, labels = random_pool(20, size)
        annotations = Annotations(np.arange(101), labels[:101])
        Pooled().fit(pool, annotations)  # prepares the pool
        tracemalloc.start()
        assert Pooled().fit(pool, annotations).cuts.any()
        most.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert abs(most[1] - most[0]) < 50_000  # bytes; one flag for each of the triples would be twice that
