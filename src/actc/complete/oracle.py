"""A file that answers in place of people, and what commands that go the whole way share: from candidates to a case."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.answers import Answers
from actc.data.layout import find_layout
from actc.data.triples import BoolArray, IntArray, ScoredTriples
from actc.decide.case import Case
from actc.decide.decision_table import ORACLE
from actc.decide.guarantee import TargetPrecision
from actc.decide.pick import pick_next
from actc.errors import FileError, OptionError
from actc.graph.formats import read_graph
from actc.graph.graph import Graph
from actc.graph.terms import Base
from actc.methods.named import named_method
from actc.session.cases import parts_of, session_case
from actc.session.questions import count_replies
from actc.session.session import Session

DRAWN_AT_ONCE = 10  # draws from a list, before anybody looks whether it has passed
POOL = 50_000  # candidates that questions are chosen from; a random part of them, where there are more

Oracle = Callable[[ScoredTriples, IntArray], BoolArray]


@dataclass(frozen=True, eq=False)
class FileOracle:
    """A file that answers in place of people, read once.

    Parameters
    ----------
    path : Path
    answers : Answers, optional
        Of a file with labels (head, relation, tail, label): it can judge what it lists.
    true : Graph, optional
        Of a graph, without labels, which lists what is true: whatever it does not list is false.
    """

    path: Path
    answers: Answers | None = None
    true: Graph | None = None

    @classmethod
    def read(cls, path: str | Path, base: Base = "") -> FileOracle:
        """Read a file of judged triples, or of true ones."""
        path = Path(path)
        try:
            has_labels = "label" in find_layout(path, order=("head", "relation", "tail", "label")).columns
        except OptionError:  # not a table, so a graph in another format
            has_labels = False
        return cls(path, Answers.read(path)) if has_labels else cls(path, true=read_graph(path, base=base))

    def judge(self, candidates: ScoredTriples) -> tuple[Oracle, IntArray]:
        """Return the oracle, with the rows of the candidates that it can judge."""
        labels, rows = np.zeros(len(candidates), dtype=np.bool_), np.arange(len(candidates))
        if self.answers is not None:
            listed = self.answers.on(candidates)
            rows, labels[listed.rows] = np.sort(listed.rows), listed.labels
        elif self.true is not None:
            labels = self.true.contains(Graph.of(candidates))
            if not labels.any() and set(self.true.entity_names).isdisjoint(candidates.entity_names):
                raise FileError(f"{self.path}: it names no entity of the candidates; is it about another graph?")
        if not len(rows):
            raise FileError(f"{self.path}: none of the {len(candidates)} candidates is judged in it.")
        return lambda triples, rows: labels[rows], rows


def ask_oracle(
    candidates: ScoredTriples,
    oracle: Oracle,
    judgeable: IntArray,
    *,
    known: ScoredTriples | None = None,
    method: str = "pooled",
    budget: int = 100,
    seed: int = 0,
    target: TargetPrecision | None = None,
    rows: IntArray | None = None,
    answers: Answers | None = None,
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
    target : TargetPrecision, optional
        The precision to guarantee.
    rows : int array, optional
        The candidates that the pool is made of, in its order; without it a random part of those that can be judged.
    answers : Answers, optional
        Those of earlier runs; the budget counts new ones.
    """
    random = np.random.default_rng(seed)
    rows = split_pool(judgeable, random) if rows is None else rows
    pool = candidates.take(rows).with_used_names()  # as whoever reads its file will see it
    given = (answers or Answers()).on(pool)
    earlier = len(given)
    chosen, enough = named_method(method), min(earlier + budget, len(pool))
    case = Case(pool, given, known, method, target=target, candidates=candidates)
    while (left := enough - len(case.annotations)) > 0:
        count = min(left, chosen.batch(enough - left) if target is None else DRAWN_AT_ONCE)
        picks = pick_next(case, count, random, enough - earlier, earlier, final=True)
        if not len(picks):
            break
        case = case.plus(picks.answered(oracle(candidates, rows[picks.rows]), ORACLE))
    return replace(case, bases={})


def split_pool(judgeable: IntArray, random: np.random.Generator) -> IntArray:
    """Split off the calibration pool: a random part of the candidates, at most ``POOL``; rows, rising."""
    return np.sort(random.permutation(judgeable)[:POOL])


@dataclass(frozen=True)
class Finished:
    """The outcome of a command that goes the whole way.

    Parameters
    ----------
    lines : tuple of str
        What a person should read.
    files : tuple of Path
        The new graph, lists and reports; none while people have yet to judge.
    """

    lines: tuple[str, ...]
    files: tuple[Path, ...] = ()


def annotate_command(folder: Path) -> str:
    """Return the command line that opens a session's page."""
    return f"actc annotate {shlex.quote(str(folder))}"


def session_state(session: Session) -> list[Any]:
    """Return, as JSON has it, numbers that change with every answer and every setting of a session."""
    state = [session.store.value(f"SELECT max(id) FROM {table}") for table in ("judgement", "setting")]
    return [*state, count_replies(session.store)]


def open_judged(
    session: Session, answers: int, target: TargetPrecision | None, earlier: int = 0
) -> tuple[list[Case], list[str]]:
    """Open the cases of a session in which somebody has judged, one of each part; note where people stopped early.

    ``answers`` are wanted in all, besides the ``earlier`` ones that were there before anybody was asked.
    """
    annotate, budget = annotate_command(session.folder), min(answers + earlier, session.settings.triples)
    if budget != session.settings.budget:
        session.change({"budget": budget})
    cases = [session_case(session, target, part) for part in parts_of(session.settings)]
    given = sum(len(case.annotations) for case in cases)
    if not given:
        raise OptionError(f"{session.folder}: nobody has called any triple true or false yet; judge with: {annotate}")
    early = f"{given:,} of {budget:,} answers are there; for more: {annotate}, then this command again."
    return cases, [early] if given < budget else []
