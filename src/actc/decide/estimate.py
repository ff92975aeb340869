"""How good are the decisions? One estimate for every door: precision, recall, accuracy, and the share of true ones.

Pages, reports and the terminal take their words from :class:`Goal`, so that none of them calls a wrong fact true.

The share of true candidates in a set that nobody judged is the mean of P(true), corrected by the mean residual of the
answers whose inclusion probability is known, each weighted by its inverse (the difference estimator). Before any answer
P(true) is believed up to an error; belief and answers are combined by their precision, so every answer narrows the
interval. Accepted and rejected candidates are two sets; everything else follows from their two shares, so that
precision, recall and the share of true candidates fit each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from actc.data.triples import BoolArray, FloatArray, IntArray

PRIOR_SD = 1 / 3
"""Standard deviation of the error of a mean P(true) before any answer, in units of sqrt(p (1 - p)): P(true) is worth
nine answers. Chosen between .25 and .4 by coverage and width on 31 pools (intervals.csv)."""
MIN_VARIANCE = 0.04
"""Of p (1 - p): a share near 1 is not believed exactly either. As for a share of 0.96."""
DRAWS = 2000


@dataclass(frozen=True)
class Share:
    """A share with its interval."""

    low: float
    middle: float
    high: float

    @property
    def interval(self) -> str:
        """The 90% interval in words; a share is certain only where every triple was judged."""
        certain = self.low == self.high
        return "all of them judged" if certain else f"90% interval: {self.low:.0%} to {self.high:.0%}"

    @property
    def brief(self) -> str:
        """The share with its interval, for tables whose header names it."""
        return f"{self.middle:.0%} ({'judged' if self.low == self.high else f'{self.low:.0%} to {self.high:.0%}'})"

    def __str__(self) -> str:
        return f"{self.middle:.0%} ({self.interval})"


def write_cut(cut: float) -> str:
    """Write a threshold; where it is infinite, what it does."""
    return f"{cut:.4g}" if np.isfinite(cut) else "accept none" if cut > 0 else "accept all"


@dataclass(frozen=True)
class Goal:
    """How to describe what is decided."""

    things: str  # what is decided about
    true: str  # the property that is looked for
    # accepted, rejected: what becomes of triples with that property, and of the others
    accepted: str
    rejected: str
    # accept, reject: what is done with them
    accept: str
    reject: str
    accepted_facts: str  # the accepted ones
    file: str  # the name of the file with them

    @property
    def quantities(self) -> dict[str, tuple[str, str]]:
        """The name of each quantity of a report, and what the share is of."""
        return {
            "precision": ("Precision", f"of the {self.accepted_facts} are {self.true}"),
            "recall": ("Recall", f"of the {self.true} {self.things} are {self.accepted}"),
            "accuracy": ("Accuracy", "of all decisions are right"),
            "f1": ("F1", "harmonic mean of precision and recall"),
            "true_share": (f"{self.true.capitalize()} {self.things}", f"of all {self.things} are {self.true}"),
        }


MISSING_FACTS = Goal("candidates", "true", "accepted", "rejected", "accept", "reject", "accepted facts", "accepted.tsv")
WRONG_FACTS = Goal("facts", "wrong", "taken out", "kept", "take out", "keep", "facts taken out", "taken-out.tsv")


Correction = tuple[float, float, float]
"""A Student t of what to add to the mean of P(true) in a set: its middle, its scale, its degrees of freedom."""


def estimate_correction(
    p: FloatArray, residuals: FloatArray, weights: FloatArray, belief: tuple[float, float] | None = None
) -> Correction:
    """Estimate by how much the share of true candidates in a set differs from the mean of P(true).

    Parameters
    ----------
    p : float array of shape (N,)
        P(true) of each.
    residuals, weights : float array of shape (n,)
        Of the answers on a random draw from the set: label minus P(true), and one over the inclusion probability.
    belief : pair of float, optional
        Mean and standard deviation of the correction by a holdout. By default P(true) is believed.
    """
    expected = float(p.mean()) if len(p) else 0.5
    bernoulli = max(expected * (1 - expected), MIN_VARIANCE)
    shift, spread = belief if belief is not None else (0.0, PRIOR_SD * bernoulli**0.5)
    if not len(residuals):
        return shift, spread, np.inf
    count = float(weights.sum() ** 2 / (weights**2).sum())  # equally weighted answers that these are worth (Kish)
    share = weights / weights.sum()
    mean = float(share @ residuals)
    # Two made-up true answers and two false ones, as Agresti and Coull have it: ten answers that are all right do not
    # mean that there is no spread.
    total = count * mean + 2 * (1 - 2 * expected)
    squares = count * float(share @ residuals**2) + 2 * ((1 - expected) ** 2 + expected**2)
    error = (squares - total**2 / (count + 4)) / (count + 3) / count
    weight = spread**2 / (spread**2 + error)
    # The belief counts for the degrees of freedom in proportion to its weight: it is no estimate.
    degrees = (count + 1) / max(weight, 0.05)
    return shift + weight * (mean - shift), spread * (1 - weight) ** 0.5, degrees


@dataclass(frozen=True, eq=False)
class Estimates:
    """How good decisions on some candidates are, in all and by relation."""

    relations: IntArray  # (N,) the relation of each candidate
    p: FloatArray  # (N,) P(true) of each, without people's answers
    accepted: BoolArray  # (N,) what is decided
    judged: IntArray  # (N,) 1 and 0 where a person's answer decides, -1 elsewhere
    corrections: tuple[Correction, Correction]  # of the accepted and of the rejected candidates that nobody judged
    draws_in: IntArray  # (R,) random draws among the answers, by relation
    source: str = "model"  # what corrects the mean of P(true), if anything: "model", "holdout", "answers"

    @cached_property
    def overall(self) -> dict[str, Share | None]:
        """Each of :attr:`Goal.quantities` of all candidates; None where it is undefined."""
        counts, sums, people = self._counts
        return _measure(counts.sum(axis=1), sums.sum(axis=1), people.sum(axis=1), self._corrections, np.zeros((2, 1)))

    def of_relation(self, relation: int) -> dict[str, Share | None]:
        """Return the same of one relation: the common correction, and an error of its own that its draws make small."""
        own = PRIOR_SD / np.sqrt(1 + PRIOR_SD**2 * self.draws_in[relation])
        errors = own * _with_middle(np.random.default_rng([1, relation]).standard_normal((2, DRAWS)))
        sizes, sums, people = (table[:, relation] for table in self._counts)
        return _measure(sizes, sums, people, self._corrections, errors)

    @cached_property
    def _counts(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of accepted and rejected candidates by relation: how many nobody judged, their sum of P(true), and people's.

        Each of shape (2, R); of people's answers the true ones stand first.
        """
        open_rows, size = self.judged < 0, len(self.draws_in)
        sides = [open_rows & self.accepted, open_rows & ~self.accepted]
        counts = np.stack([np.bincount(self.relations[side], minlength=size) for side in sides])
        sums = np.stack([np.bincount(self.relations[side], self.p[side], size).astype(np.float64) for side in sides])
        people = np.stack([np.bincount(self.relations[self.judged == label], minlength=size) for label in (1, 0)])
        return counts.astype(np.float64), sums, people.astype(np.float64)

    @cached_property
    def _corrections(self) -> FloatArray:
        """Draws of both corrections, shape (2, 1 + DRAWS); their middles come first."""
        random = np.random.default_rng(0)
        drawn = np.stack([random.standard_t(min(degrees, 1e6), DRAWS) for *_, degrees in self.corrections])
        middles, scales, _ = np.array(self.corrections).T
        return np.asarray(middles[:, None] + scales[:, None] * _with_middle(drawn))


def _measure(
    sizes: FloatArray, sums: FloatArray, people: FloatArray, corrections: FloatArray, errors: FloatArray
) -> dict[str, Share | None]:
    """Estimate each quantity of some candidates, accepted and rejected.

    Parameters
    ----------
    sizes, sums : float array of shape (2,)
        How many candidates nobody judged, and their sum of P(true).
    people : float array of shape (2,)
        Those that people called true, and false.
    corrections, errors : float array of shape (2, 1 + DRAWS)
        Draws of what to add to the mean of P(true), and of their own error in units of sqrt(p (1 - p)); the first
        column has the middle.
    """
    means = np.where(sizes > 0, sums / np.maximum(sizes, 1), 0.5)[:, None]
    share = np.clip(means + corrections + errors * np.sqrt(np.maximum(means * (1 - means), MIN_VARIANCE)), 0, 1)
    normal = _with_middle(np.random.default_rng(2).standard_normal((2, DRAWS)))
    luck = normal * np.sqrt(share * (1 - share) / np.maximum(sizes, 1)[:, None])  # of a finite set
    true_accepted, true_rejected = sizes[:, None] * np.clip(share + luck, 0, 1)
    true_accepted = true_accepted + people[0]
    true, accepted, total = true_accepted + true_rejected, sizes[0] + people[0], sizes.sum() + people.sum()
    measured = {
        "precision": true_accepted / accepted if accepted else None,
        "recall": true_accepted / np.maximum(true, 1e-9),
        "accuracy": (true_accepted + sizes[1] - true_rejected + people[1]) / total if total else None,
        "f1": 2 * true_accepted / np.maximum(true + accepted, 1e-9),
        "true_share": true / total if total else None,
    }
    return {name: None if values is None else _summarise(values) for name, values in measured.items()}


def _with_middle(drawn: FloatArray) -> FloatArray:
    """Return draws of errors with no error in front of them."""
    return np.pad(drawn, ((0, 0), (1, 0)))


def _summarise(values: FloatArray) -> Share:
    """Read the middle off the first value, the interval off the others."""
    middle = float(values[0])
    low, high = np.quantile(values[1:], [0.05, 0.95])
    return Share(min(float(low), middle), middle, max(float(high), middle))
