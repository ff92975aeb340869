"""What is there to say about thresholds? How good, resting on what, which relations not to trust, what to do next.

:func:`make_report` turns a case into numbers, ``report_page`` into a page.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from actc.frames import html_table
from actc.tables.files import in_json
from actc.triples import FloatArray, ScoredTriples, as_vocabulary
from actc.trust.case import PEOPLE, Case
from actc.trust.discrepancy import answers_left_out
from actc.trust.expect import QUANTITIES, Expectation, Share, expect
from actc.trust.held import count_held
from actc.trust.intervals import check_level
from actc.trust.words import CANDIDATES, Sought

CURVE = (10, 20, 50, 100, 200, 500, 1000, 2000)
QUESTIONS = 10
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
    level: float
    expectation: Expectation
    quality: dict[str, Share | None]
    relations: list[RelationLine]
    questions: list[Question]
    curve: list[tuple[int, Share]]
    said: FloatArray  # probability of each judged triple, without its own answer
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
        return _RESTS_ON[self.expectation.source].format(checks=self.expectation.checks, chance=self.expectation.misfit)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {
            "format": "actc-report",
            "format_version": 1,
            "name": self.case.name,
            "method": self.case.method,
            "level": self.level,
            "pool": len(self.case.target),
            "answers": len(self.case.annotations),
            "accepted": self.accepted,
            "constraints": count_held(self.case) if len(self.case.constraints) else None,
            "promise": self.case.promised and self.case.promised.describe(),
            "rests_on": self.expectation.source,
            "checks": self.expectation.checks,
            "misfit_p_value": self.expectation.misfit,
            "quality": {name: share and asdict(share) for name, share in self.quality.items()},
            "learning_curve": [{"answers": count, **asdict(share)} for count, share in self.curve],
            "session": list(self.session),
            "relations": in_json([asdict(line) for line in self.relations]),
            "ask_next": [asdict(question) for question in self.questions],
        }


def make_report(case: Case, level: float = 0.9) -> Report:
    """Work out every number of the report."""
    check_level(level)
    found = case.expectation
    return Report(
        case,
        level,
        found,
        {name: Share.of(found.overall, name, level) for name in QUANTITIES},
        _relation_lines(case, found, level),
        find_questions(case),
        _learning_curve(case, level),
        answers_left_out(case.posterior, case.annotations).probabilities,
    )


def _relation_lines(case: Case, found: Expectation, level: float) -> list[RelationLine]:
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
        known = found.relations.get(name)
        quality = {key: None if known is None else Share.of(known, key, level) for key in QUANTITIES}
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


def expected_precision(case: Case, accepted: ScoredTriples) -> FloatArray:
    """Return draws of the precision that a case, people's words and judges heard, expects of an accepted set."""
    found = expect(
        case.posterior,
        case.thresholds.cuts_and_default,
        case.annotations,
        accepted,
        each=False,
        settled=case.answers_in(accepted),
        heeded=case.heeded,
        least=case.least,
        accepted=np.ones(len(accepted), dtype=np.bool_),
    )
    return found.overall.precision


def _learning_curve(case: Case, level: float) -> list[tuple[int, Share]]:
    """Say what was to be expected after the first 10, 20, 50 ... answers, each with the thresholds of that moment.

    The last point is the report's own.
    """
    curve = []
    for count in [count for count in (0, *CURVE) if count < len(case.annotations)]:
        earlier = Case(case.pool, case.annotations.first(count), case.known, case.method)
        cuts = earlier.thresholds.cuts_and_default
        found = expect(earlier.posterior, cuts, earlier.annotations, case.pool, 200, 1000, each=False)
        curve.append((count, Share.of(found.overall, "accuracy", level)))
    curve.append((len(case.annotations), Share.of(case.expectation.overall, "accuracy", level)))
    return [(count, share) for count, share in curve if share is not None]


_RESTS_ON = {
    "holdout": "Nobody was asked. The share of true ones among the accepted is estimated from facts that were held "
    "out of the graph; the other numbers rest on the model alone.",
    "model": "These numbers rest on the model alone; the bounds allow for the errors that it made on other pools. "
    "No answer has a known chance to be asked, so nothing has checked the model here; an audit would.",
    "model and answers": "These numbers rest on the model, corrected by {checks} answers, each weighted by its chance "
    "to be asked. The answers do not contradict the model (p = {chance:.2g}).",
    "answers": "The answers contradict the model (p = {chance:.2g}), so the overall numbers rest on {checks} answers, "
    "each weighted by its chance to be asked. Numbers of single relations still rest on the model: do not rely on "
    "them.",
}
