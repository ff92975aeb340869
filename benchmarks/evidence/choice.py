"""Settings of the learner, compared on the pool halves of the proving ground: each cell, each value, no answer.

Run: ACTC_PROVING=FOLDER python benchmarks/evidence/choice.py --out benchmarks/evidence/choice.csv
then `chosen.py` reads the rows and says what each graph would get by the others. No test half is looked at.

Settings: ``ridge`` (its strength), ``rounds`` (of boosting), ``learner`` (ridge or trees, learnt from so many holdout
facts), ``looked`` (whether candidates are looked at with the holdout or without), ``doubt`` (of rules), ``steeper``
(weights learnt against unlabelled proposals, the holdout facts being put among the pool), ``among`` (which
of the model's pieces count there). ``figure`` is the average precision; for ``steeper``, which ranks nothing
anew, the mean log-likelihood.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from cells import find_cells
from sklearn.metrics import average_precision_score
from tables import Tables, open_tables

from actc.data.triples import BoolArray, FloatArray
from actc.evidence import trees, worth
from actc.evidence.plan import SCORE_COLUMNS
from actc.evidence.table import Evidence
from actc.evidence.worth import Worth, learn_worth

RIDGES = (3.0, 10.0, 33.0, 100.0, 300.0)
ROUNDS = (50, 100, 200, 300, 600)
COUNTS = (100, 200, 400, 700, 900)
DOUBTS = (1.0, 5.0, 20.0)
STEEPER = (1.0, 1.5, 2.0, 3.0)
PLACES = ("place_among_tails", "place_among_heads", "behind_best_tail", "behind_best_head")
LEFT_AMONG = {"all": (), "no places": PLACES, "no scores": SCORE_COLUMNS}
MOST = 4000  # of a pool, where many trees are compared
FIELDS = ("graph", "model", "held", "setting", "value", "measure", "figure")
Found = tuple[str, object, float]


@contextmanager
def choices(rounds: int | None = None, **values: float) -> Iterator[None]:
    """Put other settings in the place of the chosen ones."""
    chosen, settings = worth.CHOICES, dict(trees.SETTINGS)
    try:
        worth.CHOICES = replace(chosen, **values)
        trees.SETTINGS["max_iter"] = rounds or settings["max_iter"]
        yield
    finally:
        worth.CHOICES = chosen
        trees.SETTINGS.update(settings)


def learn(tables: Tables, lesson: Evidence | None = None, rows: FloatArray | None = None) -> Worth:
    """Learn from the lesson, or some of its rows."""
    taught, lesson = tables.cell.lesson, lesson or tables.lesson()
    true = taught.true
    if rows is not None:
        lesson, true = lesson.take(rows), true[rows]
    return learn_worth(lesson, true, taught.rest_is_false)


def precision(tables: Tables, learnt: Worth, known: bool, rows: slice = slice(None)) -> float:
    """Return the average precision on the pool."""
    pool = tables.pool(known).take(np.arange(len(tables.labels))[rows])
    return float(average_precision_score(tables.labels[rows], learnt.log_odds(pool)))


def try_ridges(tables: Tables) -> Iterator[Found]:
    """Yield the ridge's strengths, and where to look."""
    for ridge in RIDGES:
        with choices(ridge=ridge, many=10**9):
            learnt = learn(tables)
        yield "ridge", ridge, precision(tables, learnt, True)
        if ridge == worth.CHOICES.ridge:
            yield "looked-ridge", "before", precision(tables, learnt, False)
            yield "looked-ridge", "known", precision(tables, learnt, True)


def try_rounds(tables: Tables) -> Iterator[Found]:
    """Yield numbers of rounds."""
    shipped = trees.SETTINGS["max_iter"]
    for rounds in ROUNDS:
        with choices(rounds=rounds, many=0):
            learnt = learn(tables)
            yield "rounds", rounds, precision(tables, learnt, False)
            if rounds == shipped:
                yield "looked-trees", "before", precision(tables, learnt, False)
                yield "looked-trees", "known", precision(tables, learnt, True)


def try_learners(tables: Tables) -> Iterator[Found]:
    """Yield both learners, learnt from the slots of so many holdout facts."""
    proposals, true = tables.cell.lesson.proposals.triples, tables.cell.lesson.true
    slots = proposals.heads * len(proposals.relation_names) + proposals.relations
    order = np.random.default_rng(0).permutation(np.unique(slots))
    rank = np.argsort(order)[np.searchsorted(np.sort(order), slots)]
    until = np.sort(rank[true])
    for count in COUNTS:
        rows = np.flatnonzero(rank <= until[min(count, len(until)) - 1])
        for learner, many in (("ridge", 10**9), ("trees", 0)):
            with choices(many=many):
                learnt = learn(tables, rows=rows)
            yield f"learner-{count}", learner, precision(tables, learnt, learner == "ridge", slice(MOST))


def try_steeper(tables: Tables) -> Iterator[Found]:
    """Yield factors of the weights, and how likely they make the pool's labels; the holdout is put among the pool."""
    placed = tables.placed()
    for steeper in STEEPER:
        with choices(steeper=steeper):
            log_odds = learn(placed).log_odds(tables.pool(True))
        yield "steeper", steeper, _likelihood(log_odds, tables.labels)


def try_scores(tables: Tables) -> Iterator[Found]:
    """Yield which of the model's pieces count where holdout facts are put among the pool."""
    placed = tables.placed(with_scores=True)
    lesson = placed.lesson()
    for name, left in LEFT_AMONG.items():
        rest = lesson.only([column for column in lesson.columns if column not in left])
        learnt = learn_worth(rest, placed.cell.lesson.true)
        yield "among", name, precision(tables, learnt, True)


def _likelihood(log_odds: FloatArray, labels: BoolArray) -> float:
    return float(-np.logaddexp(0, np.where(labels, -log_odds, log_odds)).mean())


def try_doubts(folder: Path, kept: Path) -> Iterator[Found]:
    """Yield cases of doubt, with the learner that the cell gets; each value needs the tables anew."""
    for doubt in DOUBTS:
        tables = open_tables(folder, kept, doubt)
        learnt = learn(tables)
        yield "doubt", doubt, precision(tables, learnt, learnt.trees is None)


def try_settings(folder: Path, kept: Path, wanted: list[str]) -> Iterator[Found]:
    """Yield all that is tried on one cell."""
    tables = open_tables(folder, kept)
    own = tables.cell.lesson.rest_is_false
    if "ridge" in wanted:
        yield from try_ridges(tables)
    if "rounds" in wanted and own:
        yield from try_rounds(tables)
    if "learner" in wanted and own:
        yield from try_learners(tables)
    if "steeper" in wanted:
        yield from try_steeper(tables)
    if "scores" in wanted:
        yield from try_scores(tables)
    if "doubt" in wanted:
        yield from try_doubts(folder, kept)


def main() -> None:
    """Write one row per cell, setting and value."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--graphs", nargs="*", help="only these, for example umls-top")
    parser.add_argument("--settings", nargs="*", default=["ridge", "steeper", "scores", "rounds", "learner", "doubt"])
    parser.add_argument("--tables", type=Path, help="a folder that keeps what was looked up")
    parser.add_argument("--seeds", type=int, default=trees.SEEDS, help="runs of the trees; fewer are quicker")
    options = parser.parse_args()
    trees.SEEDS = options.seeds
    kept, new = options.tables or Path(tempfile.mkdtemp()), not options.out.exists()
    with options.out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerows([FIELDS] if new else [])
        for folder in find_cells():
            if options.graphs and folder.parent.name not in options.graphs:
                continue
            held = int(open_tables(folder, kept).cell.lesson.true.sum())
            for setting, value, figure in try_settings(folder, kept, options.settings):
                measure = "log-likelihood" if setting == "steeper" else "average precision"
                row = [folder.parent.name, folder.name, held, setting, value, measure, f"{figure:.4f}"]
                print(*row, flush=True)
                writer.writerow(row)
                file.flush()


if __name__ == "__main__":
    main()
