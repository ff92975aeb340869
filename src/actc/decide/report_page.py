"""The report as one self-contained page: what is accepted, how good it is, what to ask next; pictures inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.files import write_text
from actc.data.pages import render
from actc.decide.case import ORACLE
from actc.decide.held import tell_held
from actc.decide.report import HALF, RelationLine, Report, tell_needed
from actc.decide.svg import histogram, shares, whisker

MOST_PICTURES = 24
MOST_LINES = 30
"""Relations in the first table; those after them, the smaller ones, can be opened."""


@dataclass(frozen=True)
class Words:
    """How a page speaks of things.

    Parameters
    ----------
    name : callable
        Gives the name of a relation's id.
    sentence : callable
        Gives the sentence of a head, a relation and a tail.
    commands : tuple of str
        What to run next, ready to copy.
    reasons : mapping of (head, relation, tail) to str
        Why a triple may be true or false, of those that are shown; empty where nobody looked.
    accepted : tuple of (head, relation, tail)
        Accepted triples to show with their reasons.
    wrong : mapping, optional
        How many facts are ``added``, how many wrong ones ``removed``, what is ``said`` of these, and the most doubtful
        ``facts``, where wrong ones were sought too.
    """

    name: Callable[[str], str] = str
    sentence: Callable[[str, str, str], str] = lambda head, relation, tail: f"{head}  {relation}  {tail}"
    commands: tuple[str, ...] = ()
    reasons: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    accepted: tuple[tuple[str, str, str], ...] = ()
    wrong: Mapping[str, Any] | None = None


def write_page(report: Report, path: str | Path, words: Words | None = None) -> None:
    """Write the page, complete or not at all."""
    doubtful = [line for line in report.relations if line.over_half == "not sure"]
    page = render(
        "report.html",
        report=report,
        case=report.case,
        words=words or Words(),
        sought=report.sought,
        judged_by="an oracle" if (report.case.annotations.who == ORACLE).any() else "people",
        doubtful=sorted(doubtful, key=lambda line: -line.accepted),
        most_lines=MOST_LINES,
        half=HALF,
        needed=tell_needed(report.needed),
        histograms=_draw_scores(report),
        held=tell_held(report.case),
        infinity=np.inf,
        shares=shares,
        whisker=whisker,
    )
    write_text(path, page)


def _draw_scores(report: Report) -> list[tuple[RelationLine, str]]:
    """Draw where the scores and the threshold of each of the larger relations are."""
    pool, found = report.case.target, list[tuple[RelationLine, str]]()
    annotations = report.case.answers_in(pool)
    low, high = map(float, np.quantile(pool.scores, [0.002, 0.998]))
    span = (low, high) if high > low else (low - 1, high + 1)
    for line in report.relations[:MOST_PICTURES]:
        mine = pool.relations == pool.relation_names.places[line.relation]
        judged = mine[annotations.rows]
        scores, labels = pool.scores[annotations.rows][judged], annotations.labels[judged]
        found.append((line, histogram(pool.scores[mine], line.cut, line.interval, scores, labels, span)))
    return found
