"""What a session seeks: true candidates, wrong facts of a graph, or both.

People and machines are always asked whether a triple is true. Where wrong facts are sought, the score is the log-odds
of being wrong and what is accepted is taken out, so "true" becomes "not wrong": here, and nowhere else.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from actc.data.answers import Annotations
from actc.data.triples import ScoredTriples
from actc.decide.judge_answers import JudgeAnswers
from actc.decide.list_test import Demand
from actc.decide.words import CANDIDATES, WRONG_FACTS, Sought
from actc.methods.pooled.method import WRONG_FACTS_METHOD
from actc.session.judge_store import ReplyStore
from actc.session.session import Session
from actc.session.settings import Settings

REMOVAL = Demand(0.9)
"""What is guaranteed of the facts that are taken out without being judged, unless something else is demanded."""


@dataclass(frozen=True)
class Part:
    """Rows of a session's pool in which the same is sought; each part has a fit of its own.

    Parameters
    ----------
    rows : range
    wrong : bool
        Whether wrong facts are sought.
    whole : bool
        Whether it is the whole pool.
    """

    rows: range
    wrong: bool
    whole: bool

    def method(self, settings: Settings) -> str:
        """Return the method of its fit: doubts about facts are log-odds, whatever candidates are scored by."""
        return WRONG_FACTS_METHOD if self.wrong else settings.method

    def of(self, pool: ScoredTriples) -> ScoredTriples:
        """Return its triples."""
        return pool if self.whole else pool.take(np.asarray(self.rows)).with_used_names()


def parts_of(settings: Settings) -> tuple[Part, ...]:
    """Return the parts of a session's pool: the candidates, then the facts."""
    split, end = settings.triples - settings.doubted, settings.triples
    both = (Part(range(split), False, split == end), Part(range(split, end), True, split == 0))
    return tuple(part for part in both if part.rows)


def sought_in(settings: Settings) -> Sought:
    """Return how to speak of what a session seeks; where it seeks both, of the candidates, as its pages do."""
    parts = parts_of(settings)
    return WRONG_FACTS if parts and parts[0].wrong else CANDIDATES


def page_words(settings: Settings) -> dict[str, Any]:
    """Return what the pages call things; of an audit, they show what is true of those that were found."""
    sought = sought_in(settings)
    accepted, true = sought.accepted.capitalize(), sought.true.capitalize()
    of_audit = {
        "by_relation": f"{true} among the judged, relation by relation",
        "share": f"Share that is {sought.true}",
        "now": f"of the judged triples are {sought.true}",
        "soon": f"The share that is {sought.true} appears here with the first answer.",
    }
    count = sum(len(part.rows) for part in parts_of(settings)[:1])  # the pages are about the first part
    base = f"{count:,} of {settings.candidates:,}" if settings.candidates > count else f"all {count:,}"
    of_session = {
        "by_relation": f"{accepted} of {base}, relation by relation",
        "share": "Expected accuracy",
        "now": f"of the decisions on {base} {sought.things} should be right now",
        "soon": "Expected accuracy appears here once the method has an estimate.",
    }
    return asdict(sought) | (of_audit if settings.is_audit else of_session)


def invert_labels(said: Annotations) -> Annotations:
    """Return answers to "is it true?" as answers to "is it wrong?"."""
    return replace(said, labels=~said.labels)


def read_sought(session: Session, part: Part) -> tuple[Annotations, JudgeAnswers]:
    """Return what people and machines said of a part, as answers to whether each triple is what is sought there."""
    people, machines = session.annotations(), ReplyStore(session.folder).answers()
    if not part.whole:
        start, stop = part.rows.start, part.rows.stop
        mine = (people.rows >= start) & (people.rows < stop)
        people = replace(people.take(mine), rows=people.rows[mine] - start)
        mine = (machines.rows >= start) & (machines.rows < stop)
        machines = replace(
            machines, rows=machines.rows[mine] - start, judges=machines.judges[mine], signals=machines.signals[mine]
        )
    return (invert_labels(people), replace(machines, signals=-machines.signals)) if part.wrong else (people, machines)
