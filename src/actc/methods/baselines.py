"""What came before ACTC: thresholds from the annotations alone.

LocalOpt (Safavi & Koutra 2020) is step 3 without step 2: the best cut among each relation's annotated scores.
GlobalOpt (Speranskaya et al. 2020) tries a grid of cuts, relation by relation, for the best F1 over all annotations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from actc.data.answers import Annotations
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples
from actc.errors import OptionError
from actc.methods.choose_thresholds import Objective, choose_thresholds
from actc.methods.groups import DecisionSets, Groups

LEAST_STEP, MOST_PASSES = 0.001, 1000


def local_opt(pool: ScoredTriples, groups: Groups, objective: str | Objective = "accuracy") -> FloatArray:
    """Return the best cut of each set's relations, shape (S, R + 1); the default is the best for all annotations."""
    return groups.fill_defaults(choose_thresholds(DecisionSets.of_annotations(pool, groups), objective))


def global_opt(
    pool: ScoredTriples,
    annotation_sets: Sequence[Annotations],
    step: float = 0.1,
    passes: int = 1,
    fixed_default: float | None = None,
) -> FloatArray:
    """Return each set's cuts, shape (S, R + 1), by coordinate ascent on the F1 over all annotations.

    The grid is step, 2 step, ... below 1; ``passes`` is how often to go over the relations. Relations without
    annotations get ``fixed_default`` (the paper's footnote says 0.5), or the grid value that is best for all.
    """
    if not LEAST_STEP <= step < 1 or not 1 <= passes <= MOST_PASSES:
        wanted = f"a step of at least {LEAST_STEP} and below 1, and 1 to {MOST_PASSES} passes"
        raise OptionError(f"GlobalOpt needs {wanted}, not step={step}, passes={passes}.")
    grid = np.round(np.arange(1, np.ceil(1 / step - 1e-9)) * step, 12)
    accepted, trues, total = _count_on_grid(pool, annotation_sets, np.append(grid, 0.5))
    sets, relations = accepted.shape[:2]
    every = np.arange(sets)
    choice = np.full((sets, relations), len(grid))  # the last column: everyone starts at 0.5
    best_for_all = _first_best(_f1(trues.sum(axis=1), accepted.sum(axis=1), total[:, None]), len(grid))
    now_accepted, now_true = accepted[:, :, -1].sum(axis=1), trues[:, :, -1].sum(axis=1)
    for relation in list(range(relations)) * passes:
        old = choice[:, relation]
        rest_accepted = now_accepted - accepted[every, relation, old]
        rest_true = now_true - trues[every, relation, old]
        f1 = _f1(
            rest_true[:, None] + trues[:, relation],
            rest_accepted[:, None] + accepted[:, relation],
            total[:, None],
        )
        new = _first_best(f1, len(grid))
        choice[:, relation] = new
        now_accepted = rest_accepted + accepted[every, relation, new]
        now_true = rest_true + trues[every, relation, new]
    default = grid[best_for_all] if fixed_default is None else np.full(sets, fixed_default)
    annotated = _annotated_relations(pool, annotation_sets)
    cuts = np.where(annotated, np.append(grid, 0.5)[choice], default[:, None])
    return np.column_stack([cuts, default])


def _count_on_grid(
    pool: ScoredTriples, annotation_sets: Sequence[Annotations], grid: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return accepted and truly accepted annotations by (set, relation, cut), and the true ones of each set."""
    sets, relations = len(annotation_sets), len(pool.relation_names)
    rows = np.concatenate([a.rows for a in annotation_sets])
    labels = np.concatenate([a.labels for a in annotation_sets])
    which = np.repeat(np.arange(sets), [len(a) for a in annotation_sets])
    accept = pool.scores[rows][:, None] >= grid
    cell = which * relations + pool.relations[rows]
    accepted = np.zeros((sets * relations, len(grid)))
    trues = np.zeros((sets * relations, len(grid)))
    for column in range(len(grid)):
        accepted[:, column] = np.bincount(cell, accept[:, column], minlength=sets * relations)
        trues[:, column] = np.bincount(cell, accept[:, column] & labels, minlength=sets * relations)
    shape = (sets, relations, len(grid))
    total = np.bincount(which, labels, minlength=sets).astype(np.float64)
    return accepted.reshape(shape), trues.reshape(shape), total


def _annotated_relations(pool: ScoredTriples, annotation_sets: Sequence[Annotations]) -> BoolArray:
    width = len(pool.relation_names)
    counts = [np.bincount(pool.relations[a.rows], minlength=width) > 0 for a in annotation_sets]
    return np.array(counts).reshape(len(annotation_sets), width)


def _f1(true: FloatArray, accepted: FloatArray, total: FloatArray) -> FloatArray:
    """F1 of counts; nothing predicted and nothing true is perfect."""
    size = accepted + total
    return np.where(size > 0, 2 * true / np.maximum(size, 1), 1.0)


def _first_best(quality: FloatArray, columns: int) -> IntArray:
    best: IntArray = np.argmax(quality[:, :columns], axis=1)
    return best
