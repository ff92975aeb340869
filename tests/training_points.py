"""Training points of all the shapes that a classifier may meet, and the comparison with scikit-learn."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

AT = np.linspace(-0.3, 1.3, 161)

score = st.one_of(st.floats(0, 1, width=32), st.integers(0, 4).map(lambda i: i / 4), st.just(0.5 + 1e-12))
point = st.tuples(score, st.integers(0, 1))


def with_anchors(points):
    points = sorted([*points, (0.0, 0), (1.0, 1)])
    return np.array([s for s, _ in points]), np.array([y for _, y in points])


one_group = st.lists(point, max_size=25).map(with_anchors)
several_groups = st.lists(one_group, min_size=1, max_size=4)


def many_points(size, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.random(size)
    return with_anchors(zip(scores.tolist(), (rng.random(size) < scores).astype(int).tolist(), strict=True))


def fitted_like(fit, reference, groups, tolerance=1e-6):
    """Fit all groups at once and compare each with a classifier of its own."""
    scores, labels = (np.concatenate(column) for column in zip(*groups, strict=True))
    group = np.repeat(np.arange(len(groups)), [len(s) for s, _ in groups])
    fitted = fit(scores, labels, group, len(groups) + 1)
    for g, (own_scores, own_labels) in enumerate(groups):
        at = np.concatenate([AT, own_scores])
        expected = reference().fit(own_scores[:, None], own_labels).predict_proba(at[:, None])[:, 1]
        got = fitted(at, np.full(len(at), g))
        np.testing.assert_allclose(got, expected, atol=tolerance, rtol=0)
        sure = np.abs(expected - 0.5) > tolerance
        assert ((got > 0.5) == (expected > 0.5))[sure].all()
