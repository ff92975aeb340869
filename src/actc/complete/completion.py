"""From a graph to a better graph: candidates judged in part, thresholds found, facts accepted, all of it on record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from actc.calibrator import Calibrator
from actc.errors import FileError, OptionError
from actc.graphs.formats import read_graph
from actc.graphs.graph import Graph
from actc.graphs.terms import Base
from actc.methods import Method, find_method, thresholds_of
from actc.tables.files import find_layout, read_annotations
from actc.triples import Annotations, BoolArray, FloatArray, IntArray, ScoredTriples
from actc.trust.expect import expect

POOL = 50_000  # candidates that questions are chosen from; a random part of them, where there are more
LEVEL = 0.9

Oracle = Callable[[ScoredTriples, IntArray], BoolArray]


@dataclass(frozen=True, eq=False)
class Completion:
    """What became of the candidates.

    Parameters
    ----------
    candidates : ScoredTriples
        New triples, none of the graph's.
    judged : Annotations
        Answers, with rows of ``candidates``.
    calibrator : Calibrator
        Fitted on the pool.
    accepted : bool array of shape (N,)
        What the person said where a person said it, else score >= threshold.
    probabilities : float array of shape (N,)
        P(true), 0 or 1 where a person said it; NaN where the method has none.
    precision : (float, float, float) or None
        The share of true facts among the accepted ones: lowest, middle and highest with nine chances in ten; None where
        nothing is accepted or the method does not know.
    """

    candidates: ScoredTriples
    judged: Annotations
    calibrator: Calibrator
    accepted: BoolArray
    probabilities: FloatArray
    precision: tuple[float, float, float] | None

    def facts(self) -> Graph:
        """Return the accepted triples."""
        return Graph.of(self.candidates.take(np.flatnonzero(self.accepted)))

    def provenance(self) -> dict[str, Any]:
        """Return, beside the accepted triples: score, probability, threshold, method, date, who decided."""
        rows = np.flatnonzero(self.accepted)
        person = np.zeros(len(self.candidates), dtype=np.bool_)
        person[self.judged.rows] = True
        return {
            "score": self.candidates.scores[rows],
            "probability": np.ma.masked_invalid(self.probabilities[rows].round(4)),
            "threshold": thresholds_of(self.calibrator.fit_).of(self.candidates)[rows],
            "method": np.full(len(rows), self.calibrator.method, dtype=object),
            "date": np.full(len(rows), datetime.now(UTC).date().isoformat(), dtype=object),
            "decided_by": np.where(person[rows], "person", "method").astype(object),
        }


def read_oracle(path: str | Path, candidates: ScoredTriples, base: Base = "") -> tuple[Oracle, IntArray]:
    """Read who plays the person, and return it with the rows of the candidates that it can judge.

    A file with labels (head, relation, tail, label) can judge what it lists. A graph, without labels, lists what is
    true: whatever it does not list is false.
    """
    path = Path(path)
    labels = np.zeros(len(candidates), dtype=np.bool_)
    rows = np.arange(len(candidates))
    if _has_labels(path):
        listed = _judged_here(path, candidates, base)
        rows, labels[listed.rows] = np.sort(listed.rows), listed.labels
    else:
        true = read_graph(path, base=base)
        labels = true.contains(Graph.of(candidates))
        if not labels.any() and set(true.entity_names).isdisjoint(candidates.entity_names):
            raise FileError(f"{path}: it names no entity of the candidates; is it about another graph?")
    if not len(rows):
        raise FileError(f"{path}: none of the {len(candidates)} candidates is judged in it.")
    return lambda triples, asked: labels[asked], rows


def _has_labels(path: Path) -> bool:
    try:
        layout = find_layout(path, order=("head", "relation", "tail", "label"))
    except OptionError:  # not a table, so a graph in another format
        return False
    return "label" in layout.position


def _judged_here(path: Path, candidates: ScoredTriples, base: Base) -> Annotations:
    """Read labels of any triples and keep those of candidates."""
    listed = read_graph(path, base=base)
    scored = listed.with_scores(np.zeros(len(listed)))
    answers = read_annotations(path, scored)
    rows = candidates.rows_of(listed.take(answers.rows))
    return Annotations(rows[rows >= 0], answers.labels[rows >= 0])


def complete(
    candidates: ScoredTriples,
    oracle: Oracle,
    judgeable: IntArray,
    *,
    known: ScoredTriples | None = None,
    method: str = "pooled",
    budget: int = 100,
    seed: int = 0,
) -> Completion:
    """Ask, calibrate, decide.

    Parameters
    ----------
    candidates : ScoredTriples
    oracle : callable
        Answers: (candidates, rows) to labels.
    judgeable : int array
        Rows of the candidates that it can judge.
    known : ScoredTriples, optional
        The graph's triples with their scores, for methods that learn from them.
    method : str
    budget : int
        How many answers to ask for.
    seed : int
    """
    random = np.random.default_rng(seed)
    pool_rows = split_pool(judgeable, random)
    pool = candidates.take(pool_rows).with_used_names()  # as whoever reads its file will see it
    annotations, uniform = _ask(
        pool, lambda rows: oracle(candidates, pool_rows[rows]), known, find_method(method), budget, random
    )
    calibrator = Calibrator(method, random_state=random).fit(pool, annotations, known)
    return decide_on(candidates, calibrator, uniform, seed)


def split_pool(judgeable: IntArray, random: np.random.Generator) -> IntArray:
    """Split off the calibration pool: a random part of the candidates, at most ``POOL``; rows, rising."""
    return np.sort(random.permutation(judgeable)[:POOL])


def decide_on(candidates: ScoredTriples, calibrator: Calibrator, uniform: BoolArray, seed: int = 0) -> Completion:
    """Accept or not, each candidate; what a person said of one stands.

    Parameters
    ----------
    candidates : ScoredTriples
    calibrator : Calibrator
        Fitted on a part of them.
    uniform : bool array of shape (l,)
        Which of its annotations were picked uniformly.
    seed : int
        Where the draws for the interval start from.
    """
    answers = calibrator.annotations_
    judged = Annotations(candidates.rows_of(calibrator.pool_.take(answers.rows)), answers.labels)
    accepted, known = calibrator.predict(candidates), calibrator.fit_.probabilities(candidates)
    probabilities = np.full(len(candidates), np.nan) if known is None else known
    accepted[judged.rows], probabilities[judged.rows] = judged.labels, judged.labels
    precision = _expect_precision(candidates, calibrator, uniform, accepted, judged, seed)
    return Completion(candidates, judged, calibrator, accepted, probabilities, precision)


def _ask(
    pool: ScoredTriples,
    answer: Callable[[IntArray], BoolArray],
    known: ScoredTriples | None,
    method: Method,
    budget: int,
    random: np.random.Generator,
) -> tuple[Annotations, BoolArray]:
    """Ask until the budget is spent; return the answers, and which of them were uniform picks."""
    annotations, marks = Annotations(), [np.zeros(0, dtype=np.bool_)]
    budget = min(budget, len(pool))
    while len(annotations) < budget:
        count = min(method.batch(len(annotations)), budget - len(annotations))
        picks = method.fit(pool, annotations, known).pick(count, random)
        annotations = annotations.plus(picks.rows, answer(picks.rows))
        marks.append(picks.uniform)
    return annotations, np.concatenate(marks)


def _expect_precision(
    candidates: ScoredTriples,
    calibrator: Calibrator,
    uniform: BoolArray,
    accepted: BoolArray,
    judged: Annotations,
    seed: int,
) -> tuple[float, float, float] | None:
    """Say which share of the accepted is true: judged ones are sure, the others as far as the answers tell."""
    by_person = int(judged.labels.sum())
    by_method = int(accepted.sum()) - by_person
    posterior = calibrator.fit_.draws
    if posterior is None or by_person + by_method == 0:
        return None
    draws = np.ones(1)
    if by_method:
        taken = candidates.take(np.setdiff1d(np.flatnonzero(accepted), judged.rows))
        cuts = thresholds_of(calibrator.fit_).cuts_and_default
        draws = expect(
            posterior, cuts, calibrator.annotations_, uniform, taken, seed=seed, each=False
        ).overall.precision
    share = (draws * by_method + by_person) / (by_method + by_person)
    low, middle, high = np.quantile(share, [(1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2])
    return float(low), float(middle), float(high)
