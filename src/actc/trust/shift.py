"""Are the candidates like the pool? Thresholds and promises were found on the pool.

By relation: how different the scores are (Kolmogorov-Smirnov, population stability index), and how much of a promise on
accepted triples that difference can take away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.triples import FloatArray, ScoredTriples, Thresholds

BINS = 10
SURPRISE = 0.01
"""A relation is called shifted when a difference as large comes by chance in fewer cases than this ..."""
NOTABLE = 0.1
"""... and the stability index is above this, the usual bound of "no notable change"."""


@dataclass(frozen=True)
class Shift:
    """How one relation's candidates differ from its pool.

    Parameters
    ----------
    pool, candidates : int
        How many there are.
    distance : float
        Kolmogorov and Smirnov's: the largest gap between the two distributions of scores, 0 ... 1.
    chance : float
        How often a gap as large comes by chance.
    stability : float
        Population stability index over the pool's deciles.
    off : float
        How far the precision of the accepted ones may be off, if a score means the same as it did in the pool: the
        share of accepted candidates whose scores are not distributed as in the pool (total variation over deciles),
        beyond what chance alone gives.
    """

    relation: str
    pool: int
    candidates: int
    distance: float
    chance: float
    stability: float
    off: float

    @property
    def shifted(self) -> bool:
        """Whether it is more than chance and large enough to matter. A relation that the pool lacks always is."""
        return self.pool == 0 or (self.chance < SURPRISE and self.stability > NOTABLE)

    def __str__(self) -> str:
        if self.pool == 0:
            return f"{self.relation}: the pool had no triple of it; nothing is promised for its {self.candidates:,}."
        if not self.shifted:
            return f"{self.relation}: the candidates' scores are like the pool's."
        return (
            f"{self.relation}: the candidates' scores differ from the pool's (largest gap {self.distance:.2f}, "
            f"stability index {self.stability:.2f}); the promise may be off by up to {100 * self.off:.0f} points there."
        )


def find_shifts(pool: ScoredTriples, candidates: ScoredTriples, thresholds: Thresholds) -> list[Shift]:
    """Compare the scores of each relation of the candidates with those in the pool; the most different first."""
    cut = dict(zip(thresholds.relation_names, thresholds.cuts.tolist(), strict=True))
    before, after = _by_relation(pool), _by_relation(candidates)
    nothing = np.zeros(0)
    shifts = [
        compare(name, before.get(name, nothing), scores, cut.get(name, thresholds.default))
        for name, scores in after.items()
    ]
    return sorted(shifts, key=lambda shift: (not shift.shifted, -shift.stability))


def compare(relation: str, before: FloatArray, after: FloatArray, cut: float) -> Shift:
    """Compare two samples of scores, and the parts of them from a cut on."""
    from scipy.stats import ks_2samp

    if not len(before):
        return Shift(relation, 0, len(after), 1.0, 0.0, np.inf, 1.0)
    test = ks_2samp(before, after, method="asymp")
    edges = np.unique(np.quantile(before, np.arange(1, BINS) / BINS))
    stability = _stability(*_shares(before, after, edges))
    kept, new = before[before >= cut], after[after >= cut]
    off = _beyond_chance(kept, new) if len(kept) and len(new) else float(bool(len(new)))
    return Shift(relation, len(before), len(after), float(test.statistic), float(test.pvalue), stability, off)


def _by_relation(triples: ScoredTriples) -> dict[str, FloatArray]:
    order = np.argsort(triples.relations, kind="stable")
    ends = np.cumsum(triples.relation_counts)[:-1]
    parts = np.split(triples.scores[order], ends)
    return {name: part for name, part in zip(triples.relation_names, parts, strict=True) if len(part)}


def _shares(before: FloatArray, after: FloatArray, edges: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the share of each sample in each bin; half a triple is added to every bin, so none is empty."""
    counts = [np.bincount(np.searchsorted(edges, scores), minlength=len(edges) + 1) + 0.5 for scores in (before, after)]
    return counts[0] / counts[0].sum(), counts[1] / counts[1].sum()


def _stability(before: FloatArray, after: FloatArray) -> float:
    return float(((after - before) * np.log(after / before)).sum())


def _beyond_chance(before: FloatArray, after: FloatArray) -> float:
    """Return the total variation between binned samples, less what two samples of one distribution show on average."""
    p, q = _shares(before, after, np.unique(np.quantile(before, np.arange(1, BINS) / BINS)))
    expected = np.sqrt(2 / np.pi * p * (1 - p) * (1 / len(before) + 1 / len(after))).sum() / 2
    return float(np.clip(np.abs(p - q).sum() / 2 - expected, 0, 1))
