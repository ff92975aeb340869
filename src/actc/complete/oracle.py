"""A file that answers in the place of people."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from actc.data.answers import Annotations, Answers
from actc.data.layout import find_layout
from actc.data.numeric import sigmoid
from actc.data.triples import BoolArray, IntArray, ScoredTriples, Triples
from actc.decide.case import Case
from actc.decide.decision_table import ORACLE
from actc.decide.pick import pick_next
from actc.errors import FileError, OptionError
from actc.graph.formats import read_graph
from actc.graph.graph import Graph
from actc.graph.rdf import Base

DRAWN_AT_ONCE = 10  # draws from a list, before anybody looks whether it has passed
POOL = 50_000  # candidates that questions are chosen from; a random part of them, where there are more
HOPELESS = 0.05  # of the expected number of true candidates: no question is about the least likely ones that sum to it
LEAST_ELIGIBLE = 10_000  # candidates that questions may be about, however unlikely
NO_ANSWERS = Answers()


@dataclass(frozen=True, eq=False)
class FileOracle:
    """A file that answers in the place of people, read once.

    Parameters
    ----------
    path : Path
    answers : Answers, optional
        Of a file with labels (head, relation, tail, label): it can judge the triples in it.
    true : Graph, optional
        Of a graph, without labels, which has what is true: whatever it does not have is false.
    """

    path: Path
    answers: Answers | None = None
    true: Graph | None = None

    @classmethod
    def read(cls, path: Path, base: Base = "") -> FileOracle:
        """Read a file of judged triples, or of true ones."""
        try:
            has_labels = "label" in find_layout(path, order=("head", "relation", "tail", "label")).columns
        except OptionError:  # not a table, so a graph in another format
            has_labels = False
        return cls(path, Answers.read(path)) if has_labels else cls(path, true=read_graph(path, base=base))

    def judge(self, candidates: Triples) -> Annotations:
        """Return the file's answers about candidates, ordered by row; none where it shares no entity with them."""
        if self.answers is not None:
            answers = self.answers.on(candidates)
            return answers.take(np.argsort(answers.rows))
        assert self.true is not None
        if set(self.true.entity_names).isdisjoint(candidates.entity_names):
            return Annotations()
        return Annotations(np.arange(len(candidates)), self.true.contains(Graph.of(candidates)))

    def refuse_others(self, candidates: Triples) -> None:
        """Refuse candidates of which it can judge none."""
        if not len(self.judge(candidates)):
            raise FileError(
                f"{self.path}: none of the {len(candidates):,} candidates is judged in it; is it about another graph?"
            )


def ask_oracle(
    case: Case,
    labels: BoolArray,
    rows: IntArray | None = None,
    budget: int = 100,
    seed: int = 0,
    answers: Answers = NO_ANSWERS,
) -> Case:
    """Ask until the budget is spent, and return the case of the pool: what it decides on are all candidates.

    Parameters
    ----------
    case : Case
        Of all candidates, without answers.
    labels : bool array of shape (N,)
        What the oracle answers about each candidate.
    rows : int array, optional
        The candidates that questions may be about, if not all.
    budget : int
        How many new answers to ask for; 0 asks for none.
    seed : int
    answers : Answers
        Those so far.
    """
    random = np.random.default_rng(seed)
    rows = draw_pool(case.pool, np.arange(len(labels)) if rows is None else rows, answers, random)
    pool, labels = case.pool.take(rows).with_used_names(), labels[rows]  # as a reader of its file will see it
    case = replace(case, pool=pool, annotations=answers.on(pool))
    earlier = len(case.annotations)
    enough = min(earlier + budget, len(pool))
    while (left := enough - len(case.annotations)) > 0:
        count = min(left, case.named_method.batch(enough - left) if case.target is None else DRAWN_AT_ONCE)
        picks = pick_next(case, count, random, enough - earlier, earlier, final=True)
        if not len(picks):
            break
        case = case.plus(picks.answered(labels[picks.rows], ORACLE))
    return replace(case, bases={})


def worth_asking(candidates: ScoredTriples, rows: IntArray) -> IntArray:
    """Return those of some candidates, by rising row, that questions should be about: without the least likely.

    Of a large graph's proposals one in a hundred or a thousand is true: a hundred questions about any of them would
    find none. Scores are log-odds.
    """
    p = sigmoid(candidates.scores[rows])
    order = np.argsort(p, kind="stable")
    hopeless = np.cumsum(p[order]) <= HOPELESS * p.sum()
    hopeless[-LEAST_ELIGIBLE:] = False
    return np.sort(rows[order[~hopeless]])


def draw_pool(candidates: Triples, rows: IntArray, answers: Answers, random: np.random.Generator) -> IntArray:
    """Return the pool: a random part of some candidates, at most ``POOL`` rows, rising; then other answered ones."""
    rows, answered = np.sort(random.permutation(rows)[:POOL]), candidates.rows_of(answers.triples)
    return np.append(rows, np.setdiff1d(answered[answered >= 0], rows))
