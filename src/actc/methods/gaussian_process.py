"""Gaussian process classification of one score, Matérn 3/2, by Laplace, in all groups at once and in linear time.

The truth to meet is scikit-learn's ``GaussianProcessClassifier(Matern(length_scale=0.1, nu=1.5), optimizer=None)``,
which solves dense systems. On one dimension this process is Markov: with time tau = sqrt(3) * score / length, the state
x = (f, df/dtau) moves from a training point to the next, d later, by ::

    x' = A(d) x + e,   A(d) = exp(-d) [[1 + d, d], [-d, 1 - d]],   e ~ N(0, Q(d)),   Q(d) = I - A(d) A(d)^T

and starts, like after an infinite gap, from N(0, I). So one long chain serves all groups: a change of group is an
infinite gap. The mode of the posterior solves the chain's optimality conditions, in the states x and the multipliers
m of the transitions (e = Q m)::

    x_i - A_i x_(i-1) - Q_i m_i = 0
    W_i f_i + m_i[0] - (A_(i+1)^T m_(i+1))[0] = W_i f_i(old) + gradient_i,      m_i[1] - (A_(i+1)^T m_(i+1))[1] = 0

Q is never inverted (it is singular for tiny gaps, where precision matrices lose all digits), and with the unknowns
ordered (m_i, x_i) the system has three bands on either side.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from actc.data.numeric import sigmoid
from actc.data.triples import FloatArray, IntArray

LENGTH = 0.1
STEPS = 100
TOLERANCE = 1e-6  # of the largest change of a latent value; Newton doubles the digits, so the error is its square

# Williams & Barber (1998), "Bayesian classification with Gaussian processes", approximate the logistic function by five
# error functions, whose average over a normal is known. scikit-learn does so too; these are its fitted numbers.
ERF_SCALES = np.array([0.41, 0.4, 0.37, 0.44, 0.39])
ERF_WEIGHTS = np.array([-1854.8214151, 3516.89893646, 221.29346712, 128.12323805, -2010.49422654])


Probabilities = Callable[..., FloatArray]
"""A function of scores, their groups, and whether exact probabilities matter (by default): P(true) by the classifier of
each group, shape (M,), or else anything on the same side of one half."""


def fit_gaussian_process(scores: FloatArray, labels: IntArray, group: IntArray, count: int) -> Probabilities:
    """Gaussian process classification, Matérn kernel with nu = 3/2 and length 0.1; all groups in one pass."""
    starts = np.flatnonzero((np.diff(scores, prepend=np.nan) != 0) | (np.diff(group, prepend=-1) != 0))
    trials = np.diff(starts, append=len(scores)).astype(np.float64)
    trues = np.add.reduceat(labels, starts).astype(np.float64)
    # The chain's nodes are the distinct (group, score) pairs, and the times since the node before.
    nodes, groups = scores[starts], group[starts]
    gaps = _time(np.diff(nodes, prepend=0.0))
    gaps[np.diff(groups, prepend=-1) != 0] = np.inf
    states, multipliers, weights = _find_mode(gaps, trials, trues)

    def probabilities(scores: FloatArray, group: IntArray, exact: bool = True) -> FloatArray:
        # numpy orders complex numbers by their real part first, so these sort by group, then by score.
        after = np.searchsorted(groups + 1j * nodes, group + 1j * scores, side="right")
        before, last = np.maximum(after - 1, 0), after == len(nodes)
        after = np.minimum(after, len(nodes) - 1)
        # The times to the nodes on either side; infinite where there is none.
        since, until = _time(scores - nodes[before]), _time(nodes[after] - scores)
        since[(groups[before] != group) | (since < 0)] = np.inf
        until[(groups[after] != group) | last] = np.inf
        # The latent mean: A(since) x_before + Q(since) A(until)^T m_after, its first part.
        (a, b), (c, d) = _decay(since), _decay(until)
        (x0, x1), (m0, m1) = states[:, before], multipliers[:, after]
        mean = (a + b) * x0 + b * x1 + (1 - (a + b) ** 2 - b**2) * (c * m0 + d * (m0 - m1))
        mean += 2 * b**2 * (c * m1 + d * (m0 - m1))
        if not exact:
            return sigmoid(mean)
        gaps_back = np.append(gaps[1:], np.inf)[::-1]
        from_left = _predict(_filter(gaps, weights)[before], since, 1)
        from_right = _predict(_filter(gaps_back, weights[::-1])[::-1][after], until, -1)
        return _average_sigmoid(mean, _combine(from_left, from_right))

    return probabilities


def _time(distance: FloatArray) -> FloatArray:
    time: FloatArray = np.sqrt(3.0) / LENGTH * distance
    return time


def _decay(time: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return exp(-time) and time * exp(-time); zero after an infinite time."""
    time = np.minimum(time, 800.0)  # exp(-800) is 0, and so is the product
    decay = np.exp(-time)
    return decay, time * decay


def _find_mode(gaps: FloatArray, trials: FloatArray, trues: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the states and the multipliers of the nodes at the mode, each (2, n), and the curvature W there, (n,).

    By Newton's method; each step is one banded solve.
    """
    from scipy.linalg import solve_banded

    size = len(gaps)
    bands, right = _optimality_bands(gaps), np.zeros(4 * size)
    latent = np.zeros(size)
    for _ in range(STEPS):
        p = sigmoid(latent)
        bands[3, 2::4] = weights = trials * p * (1 - p)
        right[2::4] = weights * latent + trues - trials * p
        solution = solve_banded((3, 3), bands, right, check_finite=False)
        change = np.abs(solution[2::4] - latent).max()
        latent = solution[2::4]
        if change < TOLERANCE:
            break
    p = sigmoid(latent)
    m0, m1, f, slope = np.ascontiguousarray(solution.reshape(size, 4).T)
    return np.stack([f, slope]), np.stack([m0, m1]), trials * p * (1 - p)


def _optimality_bands(gaps: FloatArray) -> FloatArray:
    """Return the optimality system in LAPACK's band storage, ``bands[3 + i - j, j] = M[i, j]``, all weights zero.

    Node i owns rows and columns 4i (m[0]), 4i + 1 (m[1]), 4i + 2 (f), 4i + 3 (slope); its first two rows are the
    transition into it, its last two the optimality of its state.
    """
    a, b = _decay(gaps)
    bands = np.zeros((7, 4 * len(gaps)))

    def put(row: int, column: int, values: FloatArray | float, shift: int = 0) -> None:
        """Set M[4 i + row, 4 (i + shift) + column] for every node i that has such a column."""
        offset = 3 + row - column - 4 * shift
        columns = bands[offset, column::4]
        columns[max(shift, 0) : len(gaps) + min(shift, 0)] = np.broadcast_to(values, len(gaps))[abs(shift) :]

    step = np.array([[a + b, b], [-b, a - b]])
    noise = np.array([[(a + b) ** 2 + b**2 - 1, -2 * b**2], [-2 * b**2, (a - b) ** 2 + b**2 - 1]])
    for i, j in np.ndindex(2, 2):
        put(i, j, noise[i, j])
        put(i, 2 + j, float(i == j))
        put(2 + i, j, float(i == j))
        put(i, 2 + j, -step[i, j], shift=-1)
        # The transposed transition into the next node; its gap stands at that node, hence the shifted values.
        put(2 + i, j, -step[j, i], shift=1)
    return bands


def _filter(gaps: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the state's covariance at each node given the nodes up to it, shape (n, 3): var f, covariance, var slope.

    A recursion along the chain, run in all groups side by side: as many steps as the longest group has nodes.
    """
    starts = np.flatnonzero(np.isinf(gaps))
    sizes = np.diff(starts, append=len(gaps))
    order = np.argsort(-sizes, kind="stable")
    starts, sizes = starts[order], sizes[order]
    result = np.empty((len(gaps), 3))
    covariance = np.tile([1.0, 0.0, 1.0], (len(starts), 1))
    for step in range(sizes[0]):
        alive = np.searchsorted(-sizes, -step, side="left")
        node = starts[:alive] + step
        v, c, s = _predict(covariance[:alive], gaps[node], 1)
        gain = weights[node] / (1 + weights[node] * v)
        covariance = np.stack([v - gain * v * v, c - gain * v * c, s - gain * c * c], axis=1)
        result[node] = covariance
    return result


def _predict(covariance: FloatArray, time: FloatArray, direction: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return A P A^T + Q after some time; backwards in time (-1) the slope is seen from the other side."""
    a, b = _decay(time)
    v, c, s = covariance.T
    p, q, r = a + b, b, a - b
    new_v = p * p * v + 2 * p * q * c + q * q * s + 1 - p * p - q * q
    new_c = -p * q * v + (p * r - q * q) * c + q * r * s + 2 * b * b
    new_s = q * q * v - 2 * q * r * c + r * r * s + 1 - q * q - r * r
    return new_v, direction * new_c, new_s


def _combine(
    left: tuple[FloatArray, FloatArray, FloatArray], right: tuple[FloatArray, FloatArray, FloatArray]
) -> FloatArray:
    """Return var f given both sides: the first entry of L (L + R - R L)^-1 R, the prior N(0, I) counted once."""
    (lv, lc, ls), (rv, rc, rs) = left, right
    m00, m01 = lv + rv - (rv * lv + rc * lc), lc + rc - (rv * lc + rc * ls)
    m10, m11 = lc + rc - (rc * lv + rs * lc), ls + rs - (rc * lc + rs * ls)
    determinant = m00 * m11 - m01 * m10
    first, second = (m11 * rv - m01 * rc) / determinant, (m00 * rc - m10 * rv) / determinant
    return np.maximum(lv * first + lc * second, 0.0)


def _average_sigmoid(mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the average of sigmoid(f) over f ~ N(mean, variance), by Williams & Barber's five error functions."""
    from scipy.special import erf

    # integral of erf(s f) N(f; mean, variance) = erf(s mean / sqrt(1 + 2 s^2 variance))
    inner = ERF_SCALES * mean[:, None] / np.sqrt(1 + 2 * ERF_SCALES**2 * variance[:, None])
    return np.asarray(np.clip(0.5 + 0.5 * erf(inner) @ ERF_WEIGHTS, 0.0, 1.0))
