"""The paper's method, three steps behind one :meth:`fit`, and what came before it: thresholds from annotations alone.

LocalOpt (Safavi & Koutra 2020) is step 3 without step 2: the best cut among each relation's annotated scores.
GlobalOpt (Speranskaya et al. 2020) tries a grid of cuts, relation by relation, for the best F1 over all annotations.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from actc.data.answers import Annotations, Picks
from actc.data.numeric import logit, sigmoid
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Thresholds
from actc.errors import OptionError, check_choice, choose
from actc.methods.choose_thresholds import choose_thresholds
from actc.methods.estimate_labels import DecisionSets, estimate_labels, estimate_probabilities
from actc.methods.select_triples import find_selector, select_triples


@dataclass(frozen=True)
class Squash:
    """The rising map ``score -> sigmoid(score - mean)``."""

    mean: float

    @classmethod
    def of(cls, triples: ScoredTriples) -> Squash:
        """Centre on the mean of the table's own scores."""
        return cls(float(triples.scores.mean()))

    def apply(self, triples: ScoredTriples) -> ScoredTriples:
        """Return the triples with squashed scores."""
        return triples.with_scores(sigmoid(triples.scores - self.mean))

    def undo(self, cuts: FloatArray, pool: ScoredTriples) -> FloatArray:
        """Return cuts in units of the raw score that accept exactly the same triples of the (raw) pool.

        The inverse of the map is exact only up to rounding, and a cut is usually some triple's very score; so the
        inverse stays between the two neighbouring raw scores of the pool, above the one and up to the other.
        """
        raw = pool.scores[pool.by_score]
        squashed = sigmoid(raw - self.mean)
        place = np.searchsorted(squashed, cuts)
        edges = np.concatenate([[-np.inf], raw, [np.inf]])
        inverse = np.where(cuts <= 0, -np.inf, np.where(cuts >= 1, np.inf, logit(cuts) + self.mean))
        above = np.where(place > 0, np.nextafter(edges[place], np.inf), -np.inf)
        return np.clip(inverse, above, edges[place + 1])


def needs_squashing(triples: ScoredTriples) -> bool:
    """Return True if any score lies outside [0, 1]."""
    return bool(triples.scores.min() < 0 or triples.scores.max() > 1)


NO_ANSWER = "This method needs at least one annotation; only the pooled methods work without any."
DEFAULTS = ("estimates", "annotations")
GRID_DEFAULTS: dict[str, float | None] = {"best": None, "half": 0.5}
LEAST_STEP = 0.001  # of GlobalOpt's grid
OfTriples = Callable[[ScoredTriples], FloatArray]  # a function from triples to P(true), shape (M,)


class SelectingMethod:
    """The part that the paper's methods share: triples by a named selector, and a fit around ``find_cuts``.

    A method of your own needs to write no more than ``find_cuts``; ``learn`` besides, if it has probabilities. Both see
    scores from 0 to 1.
    """

    selector: Any = "random"
    summary: str = ""
    reads: ClassVar[str] = "pool"

    @property
    def is_random(self) -> bool:
        """Whether it selects at random."""
        return find_selector(self.selector).is_random

    def batch(self, judged: int) -> int:
        """Return how many triples to judge before asking again: as many as there are."""
        return sys.maxsize

    def fit(self, pool: ScoredTriples, answers: Annotations, known: ScoredTriples | None = None) -> StepsFit:
        """Return the fit on the answers; scores that leave [0, 1] are squashed, which nobody outside notices."""
        find_selector(self.selector)  # refuses a selector that does not exist
        return StepsFit(self, pool, answers, Squash.of(pool) if needs_squashing(pool) else None)

    def find_cuts(self, pool: ScoredTriples, annotation_sets: Sequence[Annotations]) -> FloatArray:
        """Return each set's cuts, shape (S, R + 1), the default last; every set has an annotation."""
        raise NotImplementedError(f"{type(self).__name__} is no method yet: write its find_cuts.")

    def learn(self, pool: ScoredTriples, answers: Annotations) -> OfTriples | None:
        """Return a function from triples to P(true), or None: this method decides without probabilities."""
        return None


@dataclass(frozen=True, eq=False)
class StepsFit:
    """What a method of three steps makes of the answers; each value is computed when it is first used."""

    method: SelectingMethod
    pool: ScoredTriples
    answers: Annotations
    squash: Squash | None
    posterior: ClassVar[None] = None

    @cached_property
    def thresholds(self) -> Thresholds | None:
        """One cut per relation, in units of the pool's scores; None before the first answer."""
        if not len(self.answers):
            return None
        cuts = self.method.find_cuts(self._seen_pool, [self.answers])[0]
        if self.squash is not None:
            cuts = self.squash.undo(cuts, self.pool)
        return Thresholds.from_cuts(self.pool, self.answers.rows, cuts)

    def accepts(self, triples: ScoredTriples) -> BoolArray:
        """Return which triples are accepted, shape (M,)."""
        if self.thresholds is None:
            raise OptionError(NO_ANSWER)
        return self.thresholds.decide(triples)

    def probabilities(self, triples: ScoredTriples) -> FloatArray | None:
        """Return P(true) of any triples, shape (M,); None if the method has no probabilities."""
        return None if self._classifiers is None else self._classifiers(self._seen(triples))

    def pick(self, count: int, random: np.random.Generator) -> Picks:
        """Return the next triples to judge."""
        return select_triples(self._seen_pool, self.answers, count, self.method.selector, random, self._estimate)

    def _estimate(self, relation: int | None = None) -> FloatArray:
        p = self.probabilities(self.pool if relation is None else self.pool.as_if(relation))
        if p is None:
            raise OptionError(
                f"The selector {self.method.selector!r} asks for probabilities, which this method does not have; "
                "use an actc or a pooled method."
            )
        return p

    def _seen(self, triples: ScoredTriples) -> ScoredTriples:
        return triples if self.squash is None else self.squash.apply(triples)

    @cached_property
    def _seen_pool(self) -> ScoredTriples:
        return self._seen(self.pool)

    @cached_property
    def _classifiers(self) -> OfTriples | None:
        return self.method.learn(self._seen_pool, self.answers)


@dataclass(frozen=True)
class Actc(SelectingMethod):
    """Active threshold calibration (Sedova & Roth 2023).

    Parameters
    ----------
    selector : str or callable
        Step 1: which triples are annotated (random, nearest-mean, farthest-mean, uncertainty, density-weighted).
    estimator : str, callable or classifier
        Step 2: the classifier of the score (lr, gp, lr-scikit-learn, gp-rational-quadratic, gp-rbf).
    objective : str or callable
        Step 3: what a threshold should make best (accuracy, f1).
    n : int
        The smallest decision set that is enough: a relation with fewer annotations gets estimated labels.
    soft : bool
        Keep probabilities as estimated labels instead of rounding them to 0 and 1.
    estimate_all : bool
        Estimate every triple that is not annotated, whatever n.
    default : {"estimates", "annotations"}
        What the threshold of relations without annotations rests on: estimates, or annotations alone.
    uniform : bool
        One threshold for all relations.
    as_printed : bool
        Step 3 as Algorithm 1 is printed: annotated scores alone, from threshold 0 on.
    """

    summary: str = ""
    selector: Any = "random"
    estimator: Any = "lr"
    objective: Any = "accuracy"
    n: int = 500
    soft: bool = False
    estimate_all: bool = False
    default: str = "estimates"
    uniform: bool = False
    as_printed: bool = False

    def find_cuts(self, pool: ScoredTriples, annotation_sets: Sequence[Annotations]) -> FloatArray:
        """Return each set's cuts, shape (S, R + 1), the default last."""
        check_choice("source of the default threshold", self.default, DEFAULTS)
        annotated = DecisionSets.of(pool, annotation_sets, self.uniform)
        if self.as_printed:
            return annotated.fill_defaults(choose_thresholds(annotated, as_printed=True))
        decision_sets = estimate_labels(
            pool, annotated, self.estimator, self.n, self.soft, self.estimate_all, self.default == "annotations"
        )
        return decision_sets.fill_defaults(choose_thresholds(decision_sets, self.objective))

    def learn(self, pool: ScoredTriples, answers: Annotations) -> OfTriples:
        """Return P(true) by the classifiers of step 2, as a function of triples."""
        return estimate_probabilities(pool, answers, self.estimator, self.uniform)


@dataclass(frozen=True)
class LocalOpt(SelectingMethod):
    """The best cut among each relation's annotated scores (Safavi & Koutra 2020).

    Parameters
    ----------
    selector : str or callable
        Which triples are annotated (random, nearest-mean, farthest-mean).
    objective : str or callable
        What a threshold should make best (accuracy, f1).
    uniform : bool
        One threshold for all relations.
    """

    summary: str = ""
    selector: Any = "random"
    objective: Any = "accuracy"
    uniform: bool = False

    def find_cuts(self, pool: ScoredTriples, annotation_sets: Sequence[Annotations]) -> FloatArray:
        """Return each set's cuts, shape (S, R + 1); the default, the best cut for all annotations, last."""
        annotated = DecisionSets.of(pool, annotation_sets, self.uniform)
        return annotated.fill_defaults(choose_thresholds(annotated, self.objective))


@dataclass(frozen=True)
class GlobalOpt(SelectingMethod):
    """The best cuts on a grid for the F1 over all annotations (Speranskaya et al. 2020).

    Parameters
    ----------
    selector : str or callable
        Which triples are annotated (random, nearest-mean, farthest-mean).
    step : float
        The step of the grid of thresholds, which ends below 1.
    default : {"best", "half"}
        Relations without annotations get the grid value that is best for all annotations (best), or 0.5 (half).
    """

    summary: str = ""
    selector: Any = "random"
    step: float = 0.1
    default: str = "best"

    def find_cuts(self, pool: ScoredTriples, annotation_sets: Sequence[Annotations]) -> FloatArray:
        """Return each set's cuts, shape (S, R + 1), the default last: one pass of coordinate ascent."""
        fixed_default = choose("default of GlobalOpt", self.default, GRID_DEFAULTS)
        if not LEAST_STEP <= self.step < 1:
            raise OptionError(f"GlobalOpt needs a step of at least {LEAST_STEP} and below 1, not step={self.step}.")
        grid = np.round(np.arange(1, np.ceil(1 / self.step - 1e-9)) * self.step, 12)
        accepted, trues, total = _count_on_grid(pool, annotation_sets, np.append(grid, 0.5))
        sets, relations = accepted.shape[:2]
        choice = np.full((sets, relations), len(grid))  # the last column: every relation starts at 0.5
        now_accepted, now_true = accepted[:, :, -1].sum(axis=1), trues[:, :, -1].sum(axis=1)
        for relation in range(relations):
            # What each cut of this relation makes of all annotations, the other relations' cuts being as they are.
            with_accepted = (now_accepted - accepted[:, relation, -1])[:, None] + accepted[:, relation]
            with_true = (now_true - trues[:, relation, -1])[:, None] + trues[:, relation]
            best = choice[:, relation] = _best_on_grid(with_true, with_accepted, total)
            now_accepted, now_true = with_accepted[np.arange(sets), best], with_true[np.arange(sets), best]
        default = grid[_best_on_grid(trues.sum(axis=1), accepted.sum(axis=1), total)]
        default = default if fixed_default is None else np.full(sets, fixed_default)
        width = len(pool.relation_names)
        annotated = np.stack([np.bincount(pool.relations[a.rows], minlength=width) > 0 for a in annotation_sets])
        cuts = np.where(annotated, np.append(grid, 0.5)[choice], default[:, None])
        return np.column_stack([cuts, default])


def _count_on_grid(
    pool: ScoredTriples, annotation_sets: Sequence[Annotations], grid: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return accepted and truly accepted annotations by (set, relation, cut), and the true ones of each set."""
    shape = (len(annotation_sets), len(pool.relation_names), len(grid))
    rows, labels = (np.concatenate([getattr(a, name) for a in annotation_sets]) for name in ("rows", "labels"))
    which = np.repeat(np.arange(shape[0]), [len(a) for a in annotation_sets])
    accepted, trues = np.zeros((2, *shape))
    accept = pool.scores[rows][:, None] >= grid
    np.add.at(accepted, (which, pool.relations[rows]), accept)
    np.add.at(trues, (which, pool.relations[rows]), accept & labels[:, None])
    return accepted, trues, np.bincount(which, labels, minlength=shape[0]).astype(np.float64)


def _best_on_grid(true: FloatArray, accepted: FloatArray, total: FloatArray) -> IntArray:
    """Return the first cut with the best F1 of counts, one by set, without the last, which is the start.

    Nothing predicted and nothing true is perfect.
    """
    size = accepted[:, :-1] + total[:, None]
    f1 = np.where(size > 0, 2 * true[:, :-1] / np.maximum(size, 1), 1.0)
    return np.asarray(np.argmax(f1, axis=1))
