"""Pieces of evidence as normal quantiles: what a piece means is its place among the proposals, not its unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from actc.data.triples import FloatArray

KNOTS = 256
EDGE = 0.001  # no piece counts as rarer than one in a thousand


@dataclass(frozen=True, eq=False)
class Quantiles:
    """For each of F columns, values and the normal quantiles they stand for, in between a straight line.

    Parameters
    ----------
    values, normal : tuple of F float arrays
        Rising values, and beside each its quantile.
    """

    values: tuple[FloatArray, ...]
    normal: tuple[FloatArray, ...]

    @classmethod
    def of(cls, table: FloatArray, weights: FloatArray) -> Self:
        """Learn the quantiles of the columns of a table of shape (N, F), its rows weighted."""
        pairs = [_knots(column, weights) for column in table.T]
        return cls(tuple(values for values, _ in pairs), tuple(normal for _, normal in pairs))

    def transform(self, table: FloatArray) -> FloatArray:
        """Return the normal quantiles of a table of shape (N, F); 0, which says nothing, where a piece is missing."""
        pairs = zip(table.T, self.values, self.normal, strict=True)
        columns = [np.where(np.isfinite(one), np.interp(one, values, normal), 0.0) for one, values, normal in pairs]
        return np.column_stack(columns) if columns else np.zeros((len(table), 0))


def _knots(column: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return some rising values of a column, and the normal quantile of each."""
    from scipy.special import ndtri

    there = np.isfinite(column)
    if not there.any():
        return np.zeros(1), np.zeros(1)
    values, place = np.unique(column[there], return_inverse=True)
    mass = np.bincount(place, weights=weights[there])
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()  # equal values share the middle of their places
    if len(values) > KNOTS:
        keep = np.unique(np.searchsorted(middle, np.linspace(0, 1, KNOTS)).clip(0, len(values) - 1))
        values, middle = values[keep], middle[keep]
    return values, ndtri(middle.clip(EDGE, 1 - EDGE))
