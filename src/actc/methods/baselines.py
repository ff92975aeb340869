"""What came before ACTC: thresholds from the annotations alone.

LocalOpt (Safavi & Koutra 2020) is step 3 without step 2: the best cut among each relation's annotated scores.
GlobalOpt (Speranskaya et al. 2020) tries a grid of cuts, relation by relation, for the best F1 over all annotations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from actc.data.answers import Annotations
from actc.data.triples import FloatArray, IntArray, ScoredTriples
from actc.errors import OptionError, choose
from actc.methods.choose_thresholds import choose_thresholds
from actc.methods.estimate_labels import DecisionSets
from actc.methods.three_steps import SelectingMethod, check_budgets

LEAST_STEP = 0.001


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
        check_budgets(annotation_sets)
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
        check_budgets(annotation_sets)
        fixed_default = choose("default of GlobalOpt", self.default, DEFAULTS)
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


DEFAULTS: dict[str, float | None] = {"best": None, "half": 0.5}
