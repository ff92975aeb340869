"""What a session seeks: true candidates, or wrong facts of a graph.

People and machines are always asked whether a triple is true. Where wrong facts are sought, the score is the log-odds
of being wrong and what is accepted is taken out, so "true" becomes "not wrong": here, and nowhere else.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from actc.judges.answers import JudgeAnswers
from actc.session.judged import read_judged
from actc.session.session import Session
from actc.session.settings import Settings
from actc.triples import Annotations
from actc.trust.words import CANDIDATES, WRONG_FACTS, Sought


def sought_in(settings: Settings) -> Sought:
    """Return how to speak of what a session seeks."""
    return WRONG_FACTS if settings.wrong else CANDIDATES


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
    of_session = {
        "by_relation": f"{accepted}, relation by relation",
        "share": "Expected accuracy",
        "now": f"of the decisions on all {sought.things} should be right now",
        "soon": "Expected accuracy appears here once the method has an estimate.",
    }
    return asdict(sought) | (of_audit if settings.design else of_session)


def turn(said: Annotations) -> Annotations:
    """Turn answers to "is it true?" into answers to "is it wrong?"."""
    return replace(said, labels=~said.labels)


def read_sought(session: Session) -> tuple[Annotations, JudgeAnswers]:
    """Return what people and machines said, as answers to whether each triple is what the session seeks."""
    people, machines = session.annotations(), read_judged(session)
    if not session.settings.wrong:
        return people, machines
    return turn(people), replace(machines, signals=-machines.signals)
