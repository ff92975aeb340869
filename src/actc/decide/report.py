"""What is there to say about thresholds? How good, resting on what, which relations not to trust, what to do next.

:func:`make_report` turns a case into numbers, ``report_page`` into a page.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from actc.data.files import in_json
from actc.data.frames import html_table
from actc.data.triples import as_vocabulary
from actc.decide.case import PEOPLE, Case
from actc.decide.estimate import Estimates, Share
from actc.decide.held import count_held
from actc.decide.list_test import Demand
from actc.decide.words import CANDIDATES, Sought
from actc.errors import OptionError

QUESTIONS = 10
TARGETS = (0.9, 0.95)
HALF = 0.5
"""A relation is doubtful while the precision of its accepted triples may lie below this."""


@dataclass(frozen=True)
class RelationLine:
    """What the report says of one relation."""

    relation: str
    triples: int
    answers: int
    answered_true: int
    accepted: int
    cut: float
    interval: tuple[float, float] | None
    quality: dict[str, Share | None]
    over_half: str  # is more than half of what is accepted true: "surely", "not sure", or "nothing accepted"


@dataclass(frozen=True)
class Question:
    """A triple to ask about next."""

    head: str
    relation: str
    tail: str
    score: float
    probability: float


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """The numbers of a report; see the fields' own classes."""

    case: Case
    estimates: Estimates
    quality: dict[str, Share | None]
    relations: list[RelationLine]
    questions: list[Question]
    needed: dict[str, int | None]  # about how many more answers a guarantee of each precision needs
    judges: tuple[str, ...] = ()  # what machine judges brought, in sentences
    session: tuple[str, ...] = ()  # where the session stands, in sentences
    sought: Sought = CANDIDATES

    def __repr__(self) -> str:
        counts = (
            f"{len(self.case.annotations):,} answers, {self.accepted:,} of {len(self.case.target):,} "
            f"{self.sought.accepted}"
        )
        return f"Report({self.case.name!r}, {self.case.method}, {counts})"

    def _repr_html_(self) -> str:
        """Return what to expect of each relation as a table, for a notebook."""
        lines = [asdict(line) for line in self.relations]
        shown = {
            name: [line[name] for line in lines] for name in ("relation", "cut", "accepted", "answers", "over_half")
        }
        return html_table(repr(self), shown, len(lines))

    @property
    def accepted(self) -> int:
        """How many triples of the pool are accepted."""
        return int(self.case.decisions.accepted.sum())

    @property
    def rests_on(self) -> str:
        """Say what the numbers rest on, in a sentence or two."""
        return _RESTS_ON[self.estimates.source].format(draws=self.draws)

    @property
    def draws(self) -> int:
        """How many answers have a known inclusion probability."""
        return int(self.case.annotations.has_inclusion_probability.sum())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {
            "format": "actc-report",
            "format_version": 1,
            "name": self.case.name,
            "method": self.case.method,
            "pool": len(self.case.target),
            "answers": len(self.case.annotations),
            "accepted": self.accepted,
            "constraints": count_held(self.case) if len(self.case.constraints) else None,
            "promise": self.case.promised and self.case.promised.describe(),
            "rests_on": self.estimates.source,
            "draws": self.draws,
            "answers_needed": self.needed,
            "quality": {name: share and asdict(share) for name, share in self.quality.items()},
            "session": list(self.session),
            "relations": in_json([asdict(line) for line in self.relations]),
            "ask_next": [asdict(question) for question in self.questions],
        }


def make_report(case: Case) -> Report:
    """Work out every number of the report."""
    found = case.estimates
    if found is None:
        raise OptionError(f"{case.method} has no probabilities; use a pooled method, such as --method pooled.")
    lines, questions = _relation_lines(case, found), find_questions(case)
    return Report(case, found, found.overall, lines, questions, describe_needed(case))


def describe_needed(case: Case) -> dict[str, int | None]:
    """Return about how many more answers a guarantee of each of some precisions needs."""
    return {f"{target:g}": case.answers_needed(Demand(target)) for target in TARGETS}


def tell_needed(needed: dict[str, int | None]) -> str:
    """Say how many more answers guarantees need: "about 40 more answers for 90%, 120 for 95%"."""
    known = [(float(target), count) for target, count in needed.items() if count is not None]
    if not known:
        return "No guarantee is in sight by today's probabilities; more answers may change that."
    (first, count), *others = known
    more = "".join(f", {count:,} for {target:.0%}" for target, count in others)
    return f"A guaranteed precision needs about {count:,} more answers for {first:.0%}{more}."


def _relation_lines(case: Case, found: Estimates) -> list[RelationLine]:
    target, size = case.target, len(case.target.relation_names)
    accepted = np.bincount(target.relations[case.decisions.accepted], minlength=size).tolist()
    given = case.answers_in(target)
    judged = target.relations[given.rows]
    answers = np.bincount(judged, minlength=size).tolist()
    trues = np.bincount(judged[given.labels], minlength=size).tolist()
    places = as_vocabulary(case.thresholds.relation_names).codes(target.relation_names)  # -1: the default's
    cuts, lower, upper = case.thresholds.cuts_and_default, case.thresholds.lower, case.thresholds.upper
    lines = []
    for at in np.argsort(-target.relation_counts, kind="stable").tolist():
        name, count, place = target.relation_names[at], int(target.relation_counts[at]), int(places[at])
        quality = found.of_relation(at)
        interval = None
        if lower is not None and upper is not None and place >= 0:
            interval = (float(lower[place]), float(upper[place]))
        cut = float(cuts[place])
        over_half = _over_half(quality["precision"], accepted[at])
        numbers = (count, answers[at], trues[at], accepted[at])
        lines.append(RelationLine(name, *numbers, cut, interval, quality, over_half))
    return lines


def _over_half(precision: Share | None, accepted: int) -> str:
    if not accepted:
        return "nothing accepted"
    return "surely" if precision is not None and precision.low >= HALF else "not sure"


def find_questions(case: Case, count: int = QUESTIONS) -> list[Question]:
    """Return the most uncertain candidates, those with a probability nearest to one half; none that was judged."""
    probability = case.decisions.probability
    assert probability is not None
    rows = np.flatnonzero(~np.isin(case.decisions.by, PEOPLE))
    rows = rows[np.argsort(np.abs(probability[rows] - HALF), kind="stable")][:count]
    return [
        Question(*case.target.triple(row), float(case.target.scores[row]), float(probability[row]))
        for row in rows.tolist()
    ]


_RESTS_ON = {
    "holdout": "Nobody was asked. The precision of the accepted facts is estimated from a holdout of the graph; the "
    "other numbers rest on the probabilities of the method.",
    "model": "These numbers rest on the probabilities of the method alone. No answer has a known inclusion "
    "probability, so nothing has checked them here; an audit would.",
    "answers": "These numbers rest on the probabilities of the method, corrected by {draws} random draws that people "
    "judged, each weighted by the inverse of its inclusion probability.",
}
