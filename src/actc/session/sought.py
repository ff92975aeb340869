"""What a session seeks: true candidates, or wrong facts of a graph.

People and machines are always asked whether a triple is true. Where wrong facts are sought, the score is the log-odds
of being wrong and what is accepted is taken out, so "true" becomes "not wrong": here, and nowhere else.
"""

from __future__ import annotations

from dataclasses import replace

from actc.judges.answers import JudgeAnswers
from actc.session.judged import read_judged
from actc.session.session import Session
from actc.triples import Annotations


def turn(said: Annotations) -> Annotations:
    """Turn answers to "is it true?" into answers to "is it wrong?"."""
    return replace(said, labels=~said.labels)


def read_sought(session: Session) -> tuple[Annotations, JudgeAnswers]:
    """Return what people and machines said, as answers to whether each triple is what the session seeks."""
    people, machines = session.annotations(), read_judged(session)
    if not session.settings.wrong:
        return people, machines
    return turn(people), replace(machines, signals=-machines.signals)
