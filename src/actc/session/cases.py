"""The case of a session's folder or a thresholds file, and what is looked for in it: missing facts, wrong ones, both.

People and machines always answer whether a triple is true. Where wrong facts are looked for, the score is the log-odds
of being wrong and what is accepted is taken out, so "true" becomes "not wrong": here, and nowhere else.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from actc.data.answers import Annotations, Answers
from actc.data.calibration import Calibration
from actc.data.constraints import Constraints
from actc.data.files import read_scored
from actc.data.triples import ScoredTriples
from actc.decide.calibrate import as_calibrated, read_case
from actc.decide.case import Case
from actc.decide.estimate import MISSING_FACTS, WRONG_FACTS, Goal
from actc.decide.guarantee import TargetPrecision
from actc.errors import FileError, OptionError
from actc.graph.formats import read_graph
from actc.methods.pooled.method import WRONG_FACTS_METHOD
from actc.session.session import Session
from actc.session.settings import Settings
from actc.session.store import Store

REMOVAL = TargetPrecision(0.9)
"""What is guaranteed of the facts that are taken out without being judged, unless another target is given."""


Answered = TypeVar("Answered", Annotations, Answers)
PoolPart = tuple[range, Goal]
"""Rows of a session's pool with one goal, missing facts or wrong ones; each part has a fit of its own."""


def parts_of(settings: Settings) -> tuple[PoolPart, ...]:
    """Return the parts of a session's pool: the candidates, then the facts."""
    split, end = settings.triples - settings.n_facts, settings.triples
    both = (range(split), MISSING_FACTS), (range(split, end), WRONG_FACTS)
    return tuple((rows, goal) for rows, goal in both if rows)


def words_of(settings: Settings) -> Goal:
    """Return the words for what a session looks for; where it is both, for the candidates, as on its pages."""
    return parts_of(settings)[0][1]


def invert_labels(answers: Answered) -> Answered:
    """Return answers to "is it true?" as answers to "is it wrong?"."""
    return replace(answers, labels=~answers.labels)


def open_case(source: str | Path | Session) -> tuple[Case, Session | None]:
    """Open a session, its folder, or a thresholds file; return the case, and the session that it is of, if any.

    Thresholds that came from a session are compared with all answers that it has by now.
    """
    if isinstance(source, Session) or Path(source).is_dir():
        session = source if isinstance(source, Session) else Session(source)
        return session_case(session), session
    calibration = Calibration.read(source)
    folder = calibration.sources.session
    if folder is None:
        return read_case(source, calibration), None
    if not folder.is_dir():
        raise FileError(
            f"{source}: it came from the session {folder}, which is not there; put it back, or export anew."
        )
    session, more, graph = Session(folder), calibration.sources.candidates, calibration.sources.graph
    case = session_case(session)
    more_candidates = case.pool if more is None else read_scored(more)[0]
    case = replace(case, candidates=more_candidates, facts=case.facts if graph is None else read_graph(graph))
    return as_calibrated(case, source, calibration), session


def session_case(session: Session, target: TargetPrecision | None = None, part: PoolPart | None = None) -> Case:
    """Return the case of a session: its candidates, and the answers of people and machines.

    Of a session about candidates and facts it is the candidates' case, unless another part is given.
    """
    if session.settings.is_audit:
        raise OptionError(f"{session.folder} is an audit: it measures how many are true, and has no decisions itself.")
    part = part or parts_of(session.settings)[0]
    return with_answers(session, part, empty_case(session, part, session.read_pool()), target)


def empty_case(session: Session, part: PoolPart, pool: ScoredTriples) -> Case:
    """Return the case of a part of a session's pool without answers."""
    (rows, goal), name = part, session.settings.title or session.folder.resolve().name
    pool = pool if len(rows) == len(pool) else pool.take(np.asarray(rows)).with_used_names()
    if goal is WRONG_FACTS:  # scores of facts are log-odds, whatever candidates are scored by
        return Case(pool, Annotations(), None, WRONG_FACTS_METHOD, name=name)
    known, rules, facts = map(session.find_file, ("known.parquet", "constraints.tsv", "facts.parquet"))
    return Case(
        pool,
        Annotations(),
        None if known is None else read_scored(known)[0],
        session.settings.method,
        name=name,
        constraints=Constraints() if rules is None else Constraints.read(rules),
        facts=None if facts is None else read_graph(facts),
    )


def with_answers(session: Session, part: PoolPart, case: Case, target: TargetPrecision | None) -> Case:
    """Return a case with the answers by now to whether each triple is what its part looks for, and with the target."""
    (rows, goal), people = part, session.annotations()
    people = people.take((people.rows >= rows.start) & (people.rows < rows.stop))
    people, machines = replace(people, rows=people.rows - rows.start), read_judges(session.store, case.pool, rows.start)
    if goal is WRONG_FACTS:
        p = machines.probability
        machines = replace(invert_labels(machines), probability=None if p is None else 1 - p)
        people, target = invert_labels(people), target or REMOVAL
    return replace(case, annotations=people, judged=machines, target=target)


def read_judges(store: Store, pool: ScoredTriples, start: int = 0) -> Answers:
    """Return every judge's last answer to every triple of a pool, whose rows begin at ``start`` in the session's."""
    replies = store.rows(
        "SELECT triple - ?, name, answer = 'true', probability, max(reply.rowid) FROM reply "
        "JOIN judge ON judge.id = reply.judge WHERE triple >= ? AND triple < ? "
        "GROUP BY judge, triple HAVING answer IN ('true', 'false') ORDER BY judge, triple",
        (start, start, start + len(pool)),
    )
    rows, who, labels, p, _ = zip(*replies, strict=True) if replies else ((),) * 5
    triples = pool.plain().take(np.array(rows, dtype=np.int64))
    return Answers(triples, np.array(labels), np.array(p, dtype=np.float64), who=np.array(who, dtype=object))
