"""Open the case behind the folder of a completion: the one from which the next run into it decides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from actc.complete.check_ask import POOL
from actc.complete.check_report import taken_out
from actc.complete.earlier import GIVEN, read_answers
from actc.data.answers import Answers
from actc.data.files import read_listed, read_scored
from actc.data.triples import IntArray, Triples
from actc.decide.case import Case
from actc.decide.classes import relation_mask
from actc.decide.guarantee import TargetPrecision
from actc.session import Session
from actc.session.cases import Opened, parts_of, session_case

CANDIDATES, CHECK = "candidates.parquet", "check"
"""What may be missing; the folder within that of a completion in which wrong facts are sought."""


@dataclass(frozen=True, eq=False)
class Completion:
    """What a run into a folder would decide now.

    Parameters
    ----------
    opened : Opened
    graph : Triples
        What the graph holds, less what is taken out.
    words : Answers
        All that was ever said in the folder.
    """

    opened: Opened
    graph: Triples
    words: Answers

    @property
    def accepted(self) -> IntArray:
        """The rows of the accepted candidates that the graph does not hold."""
        return new_facts(self.opened.case, self.graph)

    @property
    def called(self) -> Answers:
        """What people called true though nobody proposed it."""
        return self.words.called_true(self.opened.case.candidates, self.graph)


def open_completion(folder: Path, target: TargetPrecision | None = None) -> Completion:
    """Open what people have said in the session of a folder so far, as ``actc complete`` would decide by it."""
    session = Session(folder / "session")
    case, *wrong = (session_case(session, target, part) for part in parts_of(session.settings))
    graph, words = read_listed(folder / GIVEN), read_answers(folder)
    for one in wrong:
        facts = read_scored(folder / CHECK / POOL)[0]
        graph = graph.take(~facts.take(taken_out(folder, facts, one)).contains(graph))
    case = replace(case, candidates=read_scored(folder / CANDIDATES)[0])
    return Completion(Opened(as_decided(case, graph, words), session), graph, words)


def as_decided(case: Case, graph: Triples, words: Answers) -> Case:
    """Return the case of a session or an oracle with all that its decisions depend on besides.

    Parameters
    ----------
    case : Case
    graph : Triples
        What the graph holds, less what is taken out: what candidates may contradict.
    words : Answers
        All that was said in the folder; of candidates that are not in the pool it decides.
    """
    if len(rules := case.constraints):
        case = replace(case, facts=graph.take(relation_mask(graph, rules.relations)))
    return replace(case, other_answers=words.take(~case.pool.contains(words.triples)))


def new_facts(case: Case, graph: Triples) -> IntArray:
    """Return the rows of the accepted triples that a graph does not hold."""
    rows = np.flatnonzero(case.decisions.accepted)
    return rows[~graph.contains(case.candidates.take(rows))]
