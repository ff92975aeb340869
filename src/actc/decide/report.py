"""A report on decisions, as plain data: how good they are, what that is known from, what to judge next.

Templates make a page of it. JSON and the terminal have the same numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.text_files import in_json, render, write_text
from actc.data.triples import as_vocabulary
from actc.decide.case import Case
from actc.decide.decision_table import ORACLE, PEOPLE
from actc.decide.estimate import MISSING_FACTS, Goal, Share
from actc.errors import OptionError

QUESTIONS = 10
MAX_HISTOGRAMS = 24
MAX_NAMED = 3
BINS = 28
RESTS_ON = {
    "holdout": "Nobody has judged a triple. The precision of the {accepted} is estimated from a holdout of the graph; "
    "the other numbers rest on the probabilities of the method.",
    "model": "These numbers rest on the probabilities of the method alone. No answer has a known inclusion "
    "probability, so no answer has checked them; an audit would.",
    "answers": "These numbers rest on the probabilities of the method, corrected by the answers to random draws "
    "({draws:,}), each weighted by the inverse of its inclusion probability.",
}


@dataclass(frozen=True)
class RelationLine:
    """The numbers of one relation."""

    relation: str
    triples: int
    answers: int
    answered_true: int
    accepted: int
    cut: float
    interval: tuple[float, float] | None
    quality: dict[str, Share | None]
    over_half: str  # is more than half of what is accepted true: "yes", "uncertain" or "nothing accepted"


@dataclass(frozen=True, repr=False)
class Report:
    """All numbers of a report."""

    name: str
    method: str
    # pool, answers, accepted: the candidates, the answers about them, and how many of them are accepted
    pool: int
    answers: int
    accepted: int
    judged_by: str  # who gave the answers: people or an oracle
    constraints: dict[str, Any] | None  # what constraints excluded, where there are any
    guarantee: dict[str, Any] | None  # the precision to guarantee, where there is one, and whether a list has passed
    rests_on: str  # what corrects the mean probability, if anything: "model", "holdout", "answers"
    draws: int  # answers with a known inclusion probability
    # about how many more answers a guarantee of each precision needs; None where none is in sight
    answers_needed: dict[str, int | None]
    quality: dict[str, Share | None]
    relations: list[RelationLine]
    ask_next: list[dict[str, Any]]  # the triples to judge next: head, relation, tail, score, probability
    # the scores of the largest relations, as :func:`draw_scores` returns them; not in JSON
    histograms: list[dict[str, Any]]
    # session, judges: sentences about the session and about what machine judges added, where there are any
    session: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    goal: Goal = MISSING_FACTS

    def __repr__(self) -> str:
        counts = f"{self.answers:,} answers, {self.accepted:,} of {self.pool:,} {self.goal.accepted}"
        return f"Report({self.name!r}, {self.method}, {counts})"

    def sentences(self) -> list[str]:
        """Return the report in a few sentences, the most important first."""
        goal, precision = self.goal, self.quality["precision"]
        verb = "is" if self.accepted == 1 else "are"
        lines = [
            f"{self.accepted:,} of {self.pool:,} {goal.things} {verb} {goal.accepted}.",
            *([] if precision is None else [f"Precision of the {goal.accepted_facts}: {precision}."]),
            *([] if self.guarantee is None else [describe_guarantee(self.guarantee, goal)]),
            describe_needed(self.answers_needed),
            *([] if self.constraints is None else describe_excluded(self.constraints)),
        ]
        return [*lines, RESTS_ON[self.rests_on].format(accepted=goal.accepted_facts, draws=self.draws)]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        hidden = {"histograms", "goal", "judges", "judged_by"}
        values = {name: value for name, value in asdict(self).items() if name not in hidden}
        return {"format": "actc-report", "format_version": 1, **in_json(values)}


def make_report(case: Case, goal: Goal = MISSING_FACTS) -> Report:
    """Compute every number of the report."""
    if case.estimates is None:
        raise OptionError(f"{case.method} has no probabilities; use a pooled method, such as --method pooled.")
    lines, annotations = _relation_lines(case), case.annotations
    return Report(
        name=case.name,
        method=str(case.method),
        pool=len(case.candidates),
        answers=len(annotations),
        accepted=int(case.decisions.accepted.sum()),
        judged_by="an oracle" if (annotations.who == ORACLE).any() else "people",
        constraints=count_excluded(case) if len(case.constraints) else None,
        guarantee=None if case.guaranteed is None else case.guaranteed.describe(),
        rests_on=case.estimates.source,
        draws=int(annotations.has_inclusion_probability.sum()),
        answers_needed=case.needed_answers(),
        quality=case.estimates.overall,
        relations=lines,
        ask_next=select_questions(case),
        histograms=[draw_scores(case, line) for line in lines[:MAX_HISTOGRAMS]],
        goal=goal,
    )


def count_excluded(case: Case) -> dict[str, Any]:
    """Count what constraints exclude: in all, against facts, and by each constraint, the most frequent first."""
    losses = case.decisions.losses
    return {
        "excluded": len(losses),
        "against_facts": sum(fact >= 0 for _, fact, _ in losses),
        "violated_by_people": case.violated_by_people,
        "by_constraint": dict(Counter(str(constraint) for constraint, _, _ in losses).most_common()),
    }


def describe_excluded(counts: dict[str, Any]) -> list[str]:
    """Return in sentences what :func:`count_excluded` counted."""
    named = list(counts["by_constraint"].items())[:MAX_NAMED]
    others = sum(counts["by_constraint"].values()) - sum(count for _, count in named)
    parts = [f"{count:,} by {rule}" for rule, count in (*named, *([("others", others)] if others else ()))]
    facts = f"; {counts['against_facts']:,} contradict a fact" if counts["against_facts"] else ""
    because = f" ({', '.join(parts)}{facts})" if named else ""
    sentences = [f"Constraints exclude {counts['excluded']:,} candidates{because}."]
    if violated := counts["violated_by_people"]:
        sentences.append(f"People judged more triples true than a constraint allows in {violated:,} places; they stay.")
    return sentences


def describe_needed(needed: dict[str, int | None]) -> str:
    """Return in a sentence how many more answers guarantees of some precisions need."""
    if not needed:
        return (
            "The random draws so far have spent the error of a guarantee; another one needs new draws, in a new folder."
        )
    counts = {f"{100 * float(precision):g}%": count for precision, count in needed.items()}
    known = ", ".join(f"about {count:,} for {precision}" for precision, count in counts.items() if count is not None)
    unknown = " or ".join(", ".join(name for name, count in counts.items() if count is None).rsplit(", ", 1))
    far = "is out of reach by today's probabilities"
    if not known:
        return f"A guaranteed precision of {unknown} {far}; more answers may change that."
    return f"More answers needed for a guaranteed precision: {known}{f'; {unknown} {far}' if unknown else ''}."


def describe_guarantee(guarantee: dict[str, Any], goal: Goal = MISSING_FACTS) -> str:
    """Return in a sentence what is guaranteed, or that nothing is."""
    precision, confidence = (f"{100 * guarantee[name]:g}%" for name in ("precision", "confidence"))
    if guarantee["passed"]:
        what = f"at least {precision} of what the method has {goal.accepted} is {goal.true}"
        return f"Guaranteed with {confidence} confidence: {what}."
    only = f"only what people judged {goal.true} is {goal.accepted}"
    return f"No list has passed the test for a precision of {precision}, so {only}."


def _relation_lines(case: Case) -> list[RelationLine]:
    """Return the numbers of each relation, the largest first."""
    target, estimates, thresholds, lines = case.candidates, case.estimates, case.thresholds, []
    assert estimates is not None
    judged = target.relations[case.answers.rows]
    groups = target.relations, judged, judged[case.answers.labels], target.relations[case.decisions.accepted]
    counts = np.stack([np.bincount(relations, minlength=len(target.relation_names)) for relations in groups])
    places = as_vocabulary(thresholds.relation_names).codes(target.relation_names)  # -1: the default's
    for at in np.argsort(-counts[0], kind="stable").tolist():
        place, quality, interval, over_half = int(places[at]), estimates.of_relation(at), None, "uncertain"
        if thresholds.lower is not None and thresholds.upper is not None and place >= 0:
            interval = (float(thresholds.lower[place]), float(thresholds.upper[place]))
        triples, answers, trues, accepted = counts[:, at].tolist()
        if not accepted:
            over_half = "nothing accepted"
        elif (precision := quality["precision"]) is not None and precision.low >= 0.5:
            over_half = "yes"
        cut = float(thresholds.cuts_and_default[place])
        name = target.relation_names[at]
        lines.append(RelationLine(name, triples, answers, trues, accepted, cut, interval, quality, over_half))
    return lines


def select_questions(case: Case, count: int = QUESTIONS) -> list[dict[str, Any]]:
    """Return the most uncertain candidates, those with a probability nearest to one half; none that was judged."""
    p = case.decisions.probability
    assert p is not None
    rows = np.flatnonzero(~np.isin(case.decisions.by, PEOPLE))
    rows = rows[np.argsort(np.abs(p[rows] - 0.5), kind="stable")][:count]
    chosen = case.candidates.take(rows)
    columns = {**chosen.plain().columns(), "score": chosen.scores, "probability": p[rows]}
    values = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, one, strict=True)) for one in values]


def draw_scores(case: Case, line: RelationLine) -> dict[str, Any]:
    """Return the histogram of a relation's scores, with its threshold and answers; places go from 0 to 1.

    ``bars`` are (left, right, height, accepted), ``low`` and ``high`` the scores at 0 and 1, ``threshold`` a place or
    None where it is outside, ``interval`` the places between which it may lie, ``answers`` (place, label).
    """
    pool, answers = case.candidates, case.answers
    low, high = map(float, np.quantile(pool.scores, [0.002, 0.998]))
    low, high = (low, high) if high > low else (low - 1, high + 1)
    places = np.clip((pool.scores - low) / (high - low), 0, 1)
    mine = pool.relations == pool.relation_names.places[line.relation]
    counts, edges = np.histogram(places[mine], BINS, (0, 1))
    cut, heights = (line.cut - low) / (high - low), counts / max(counts.max(), 1)
    columns = edges[:-1], edges[1:], heights, (edges[:-1] + edges[1:]) / 2 >= cut
    answers = answers.take(mine[answers.rows])
    return {
        "line": line,
        "bars": [bar for bar in zip(*(column.tolist() for column in columns), strict=True) if bar[2]],
        "low": low,
        "high": high,
        "threshold": cut if 0 <= cut <= 1 else None,
        "interval": line.interval and np.clip((np.array(line.interval) - low) / (high - low), 0, 1).tolist(),
        "answers": list(zip(places[answers.rows].tolist(), answers.labels.tolist(), strict=True)),
    }


@dataclass(frozen=True)
class PageContext:
    """What a page shows beside the report."""

    name: Callable[[str], str] = str  # gives the name of a relation's id
    # gives the sentence of a head, a relation and a tail
    sentence: Callable[[str, str, str], str] = lambda head, relation, tail: f"{head}  {relation}  {tail}"
    commands: tuple[str, ...] = ()  # the next commands, to be copied
    # why a triple may be true or false, of those that are shown; empty where nobody looked
    reasons: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    accepted: tuple[tuple[str, str, str], ...] = ()  # accepted triples to show with their reasons
    # where wrong facts were looked for too: how many facts are ``added`` and ``removed``, ``sentences`` about these,
    # and the most doubtful ``facts``
    wrong: Mapping[str, Any] | None = None


def write_page(report: Report, path: str | Path, context: PageContext | None = None) -> None:
    """Write the report as one page that needs nothing else, complete or not at all."""
    write_text(path, render("report.html", report=report, goal=report.goal, words=context or PageContext()))
