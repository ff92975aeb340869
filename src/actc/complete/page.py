"""The page of a completion: what `actc report` shows, why facts were accepted or should be asked, what to run next."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.complete.plan import RunConfig
from actc.data.triples import IntArray, encode_columns
from actc.decide.case import Case
from actc.decide.report import PageContext, Question, make_report, write_page
from actc.evidence.reasons import Reasons
from actc.session.cases import Opened
from actc.session.report import name_things

PAGE = "report.html"
MOST_SHOWN = 10


def write_next_page(
    plan: RunConfig,
    opened: Opened,
    thresholds: Path,
    reasons: Reasons | None,
    wrong: dict[str, Any] | None,
) -> tuple[list[Path], str]:
    """Write the page beside the thresholds, where the method gives probabilities; return it, and what to run next.

    ``wrong`` is what the page shows of wrong facts, where these were sought.
    """
    case = opened.case
    accepted = shlex.quote(str(thresholds.with_name("accepted.tsv")))
    audit = f"actc audit {accepted} --count 100 --out {shlex.quote(str(thresholds.with_name('slice.tsv')))}"
    if case.estimates is None:
        return [], audit
    report = make_report(case)
    more = plan.command(budget=2 * max(plan.budget, len(case.annotations)) or 100)
    go_on = (more,) if opened.session is None else (f"actc annotate {shlex.quote(str(plan.out / 'session'))}", more)
    kept = case.guaranteed is None or case.guaranteed.passed
    commands = (audit,) if kept and len(case.annotations) else go_on
    words = replace(name_things(opened.session, commands), wrong=wrong)
    if reasons is not None:
        words = _with_reasons(words, case, reasons, report.ask_next)
    write_page(report, thresholds.with_name(PAGE), words)
    return [thresholds.with_name(PAGE)], " && ".join(commands)


def _with_reasons(words: PageContext, case: Case, reasons: Reasons, questions: list[Question]) -> PageContext:
    """Add the reasons of what should be asked next, and of the surest and the least sure of what was accepted."""
    candidates = case.candidates
    asked = [(one.head, one.relation, one.tail) for one in questions]
    shown = surest_and_least(case, MOST_SHOWN)
    rows = candidates.rows_of(encode_columns(*zip(*asked, strict=True))) if asked else shown[:0]
    both = np.concatenate([rows, shown])
    said = reasons.of(both, case.decisions.accepted[both], words.name)
    triples = [candidates.triple(row) for row in both.tolist()]
    return replace(words, reasons=dict(zip(triples, said, strict=True)), accepted=tuple(triples[len(rows) :]))


def surest_and_least(case: Case, most: int) -> IntArray:
    """Return rows of what the method accepted: the surest and the least sure, half of ``most`` each."""
    taken = np.flatnonzero(case.decisions.accepted & (case.decisions.by == "method"))
    taken = taken[np.argsort(-case.candidates.scores[taken], kind="stable")]
    return taken if len(taken) <= most else np.concatenate([taken[: most // 2], taken[-(most // 2) :]])
