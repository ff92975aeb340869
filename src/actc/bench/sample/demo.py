"""The whole job on the packaged sample: select, answer from the sample's labels, calibrate, decide, look."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from actc.bench.cells import Cell
from actc.bench.plots import Curve, curves_of
from actc.bench.rows import Row
from actc.bench.runs import run_experiment
from actc.bench.sample import Sample, load_sample
from actc.bench.sample.better_graph import BetterGraph
from actc.data.metrics import accuracy, f1, report_by_relation
from actc.data.progress import Progress
from actc.data.triples import Annotations, BoolArray, FloatArray, IntArray
from actc.decide.case import ORACLE, Case, Decisions
from actc.methods.named import METHODS, thresholds_of
from actc.methods.three_steps import Squash

BUDGETS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500)
COMPARED = {
    "pooled-known": "pooled-known: ours, with the known triples' scores",
    "pooled": "pooled: ours",
    "actc-lr-rndm": "actc-lr-rndm: the paper's method",
    "globalopt-f1": "globalopt-f1: baseline",
    "localopt-acc": "localopt-acc: baseline",
}
METHOD, ANSWERS = "pooled-known", 50


@dataclass(frozen=True, eq=False)
class Demo:
    """What the demo found.

    Parameters
    ----------
    sample : Sample
    rows : list of Row
        Accuracy and F1 by method, budget and repeat.
    levels : dict of (accuracy, F1)
        What no calibration at all gives, and what all of the pool's labels give.
    case : Case
        With ``ANSWERS`` answers, chosen one batch after the other.
    decided : Decisions
        On the test triples.
    better : BetterGraph or None
        A graph completed without a model.
    written : tuple of Path
        The files that tell of it.
    """

    sample: Sample
    rows: list[Row]
    levels: dict[str, tuple[float, float]]
    case: Case
    decided: Decisions
    better: BetterGraph | None = None
    written: tuple[Path, ...] = ()

    @property
    def curves(self) -> list[Curve]:
        """The learning curves of the compared methods."""
        return curves_of(self.rows, COMPARED)

    @property
    def by_relation(self) -> list[tuple[str, ...]]:
        """Of each relation: its name, threshold, judged triples; of the test triples: all, accepted, accuracy."""
        pool, annotations = self.case.pool, self.case.annotations
        judged = np.bincount(pool.relations[annotations.rows], minlength=len(pool.relation_names))
        count = dict(zip(pool.relation_names, judged.tolist(), strict=True))
        reports = report_by_relation(self.case.thresholds, self.sample.test, self.sample.test_labels)
        return [
            (
                self.sample.relations[one.relation].name,
                _write_cut(one.cut),
                str(count.get(one.relation, 0)),
                str(one.triples),
                str(one.accepted),
                f"{one.accuracy:.0%}",
            )
            for one in reports
        ]

    @property
    def accepted(self) -> BoolArray:
        """Which test triples are accepted."""
        return self.decided.accepted

    @property
    def probabilities(self) -> FloatArray:
        """P(true) of the test triples."""
        assert self.decided.probability is not None
        return self.decided.probability

    @property
    def precision(self) -> float:
        """The share of true triples among the accepted ones."""
        return float(self.sample.test_labels[self.accepted].mean())

    @property
    def best_accepted(self) -> IntArray:
        """Rows of the accepted test triples, the most probable first."""
        rows = np.flatnonzero(self.accepted)
        return rows[np.argsort(-self.probabilities[rows], kind="stable")]


def make_demo(repeats: int, seed: int, jobs: int, progress: Progress) -> Demo:
    """Compare the methods, then do the job once, as a user would."""
    sample = load_sample()
    cell = Cell("wordnet", "sample", sample.valid, sample.valid_labels, sample.test, sample.test_labels, sample.known)
    rows = run_experiment([cell], list(COMPARED), BUDGETS, repeats=repeats, seed=seed, jobs=jobs, progress=progress)
    case = judge_sample(sample, seed)
    return Demo(
        sample,
        rows,
        {"no calibration": _without_calibration(sample), "every label of the pool": _with_every_label(cell)},
        case,
        case.decide(sample.test),
    )


def judge_sample(sample: Sample, seed: int) -> Case:
    """Ask for triples, answer from the sample's labels, fit; until the answers are spent."""
    random, method, answers = np.random.default_rng(seed), METHODS[METHOD], Annotations()
    while len(answers) < ANSWERS:
        count = min(method.batch(len(answers)), ANSWERS - len(answers))
        picks = method.fit(sample.valid, answers, sample.known).pick(count, random)
        answers = answers.plus(picks.answered(sample.valid_labels[picks.rows], ORACLE))
    return Case(sample.valid, answers, sample.known, METHOD)


def _write_cut(cut: float) -> str:
    """Write a threshold; one that no score can reach, or none can miss, in words."""
    if np.isinf(cut):
        return "accept all" if cut < 0 else "accept none"
    return f"{cut:.2f}"


def _without_calibration(sample: Sample) -> tuple[float, float]:
    """Accept whatever scores above average: sigmoid(score - mean) >= 1/2, for every relation alike."""
    decisions = Squash.of(sample.test).apply(sample.test).scores >= 0.5
    return accuracy(sample.test_labels, decisions), f1(sample.test_labels, decisions)


def _with_every_label(cell: Cell) -> tuple[float, float]:
    """Find each relation's best cut with every label of the pool."""
    everything = Annotations(np.arange(len(cell.valid)), cell.valid_labels)
    cuts = thresholds_of(METHODS["localopt-acc"].fit(cell.valid, everything)).cuts_and_default
    quality = cell.labelled_test.measure(cuts[None])
    return float(quality[0][0]), float(quality[1][0])
