"""A file that plays the person: who it can judge, and what it is asked; from candidates to an open case."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from actc.errors import FileError, OptionError
from actc.graphs.formats import read_graph
from actc.graphs.graph import Graph
from actc.graphs.terms import Base
from actc.methods import named_method
from actc.tables.files import find_layout, read_annotations
from actc.triples import Annotations, BoolArray, IntArray, ScoredTriples
from actc.trust.case import ORACLE, Case
from actc.trust.promise import Demand

POOL = 50_000  # candidates that questions are chosen from; a random part of them, where there are more

Oracle = Callable[[ScoredTriples, IntArray], BoolArray]


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


def ask_oracle(
    candidates: ScoredTriples,
    oracle: Oracle,
    judgeable: IntArray,
    *,
    known: ScoredTriples | None = None,
    method: str = "pooled",
    budget: int = 100,
    seed: int = 0,
    demand: Demand | None = None,
) -> Case:
    """Ask until the budget is spent, and return the open case: what it decides on are all candidates.

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
        How many answers to ask for; 0 asks nobody.
    seed : int
    demand : Demand, optional
        The precision to promise.
    """
    random = np.random.default_rng(seed)
    rows = split_pool(judgeable, random)
    pool = candidates.take(rows).with_used_names()  # as whoever reads its file will see it
    answers, found = Annotations(), named_method(method)
    while len(answers) < min(budget, len(pool)):
        count = min(found.batch(len(answers)), budget - len(answers), len(pool) - len(answers))
        picks = found.fit(pool, answers, known).pick(count, random)
        answers = answers.plus(picks.answered(oracle(candidates, rows[picks.rows]), ORACLE))
    return Case(pool, answers, known, method, demand=demand, candidates=candidates)


def split_pool(judgeable: IntArray, random: np.random.Generator) -> IntArray:
    """Split off the calibration pool: a random part of the candidates, at most ``POOL``; rows, rising."""
    return np.sort(random.permutation(judgeable)[:POOL])
