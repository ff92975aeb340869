"""The little algebra that the methods share, each function once: logits, broken lines, cuts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import numpy as np

from actc.data.triples import FloatArray


def sigmoid(x: FloatArray) -> FloatArray:
    """Return 1 / (1 + e^-x) without overflow."""
    result = np.tanh(0.5 * x)
    result *= 0.5  # in place: a table of draws is large
    result += 0.5
    return result


def softplus(x: FloatArray) -> FloatArray:
    """Return log(1 + e^x) without overflow; ten times as quick as ``numpy.logaddexp(0, x)``."""
    size = np.abs(x)
    return np.asarray(np.log1p(np.exp(-size)) + 0.5 * (x + size))


def logit(p: FloatArray) -> FloatArray:
    """Return log(p / (1 - p)), the inverse of the sigmoid; infinite at 0 and 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(p) - np.log1p(-p))


def moderation(variance: FloatArray) -> FloatArray:
    """Return what an uncertain logit is divided by, so that its sigmoid is the expected one (MacKay 1992)."""
    return np.sqrt(1 + np.pi * variance / 8)


def moderate(mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the expected sigmoid of a Gaussian logit, approximately."""
    return sigmoid(mean / moderation(variance))


def psi(x: FloatArray) -> FloatArray:
    """Return the broken line's basis (1, min(x, 0), max(x, 0)) at x, shape (..., 3)."""
    return np.stack([np.ones_like(x), np.minimum(x, 0), np.maximum(x, 0)], axis=-1)


def line_heights(basis: FloatArray, beta: FloatArray) -> FloatArray:
    """Return the logit of each of n lines, shape (n, 3), at its own basis, shape (n, 3), as shape (n,)."""
    return np.asarray(np.einsum("ij,ij->i", basis, beta))


def table_heights(basis: FloatArray, beta: FloatArray) -> FloatArray:
    """Return the logits of K lines, shape (K, 3), at Q points of each, basis of shape (K, Q, 3), as shape (K, Q)."""
    return np.asarray((basis @ beta[:, :, None])[..., 0])


def line_variances(basis: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return the variance of that logit, given the coefficients' covariance, shape (..., 3, 3)."""
    return np.asarray(np.einsum("...j,...jk,...k->...", basis, covariance, basis))


def cut_between(below: FloatArray, above: FloatArray) -> FloatArray:
    """Return the cut midway between a rejected and the next accepted score; infinite where one of them is."""
    with np.errstate(invalid="ignore"):  # infinities of both signs, where there is one distinct score
        middle = 0.5 * below + 0.5 * above
    # Between neighbouring floats the middle rounds down to the lower one, which must stay rejected.
    return np.asarray(np.where(np.isfinite(below) & (middle <= below), above, middle))


def find_shift(log_odds: FloatArray, share: float, cases: FloatArray | None = None) -> float:
    """Return what to add to log-odds so that a share of them, each counted so often, is expected to be true."""
    from scipy.optimize import brentq

    def missed(more: float) -> float:
        return float(np.average(sigmoid(log_odds + more), weights=cases)) - share

    return float(brentq(missed, -60 - log_odds.max(), 60 - log_odds.min()))


@contextmanager
def one_thread(library: str = "scipy.optimize") -> Iterator[None]:
    """Let linear algebra, or another library, work in one thread; also a decorator, ``@one_thread()``.

    On tables of some ten thousand rows more threads wait for each other, beside other work far longer than they work.
    """
    from threadpoolctl import threadpool_limits

    import_module(library)  # the limit is for what is loaded by then
    with threadpool_limits(1):
        yield
