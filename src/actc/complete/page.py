"""The page of a completion: what `actc report` shows, why facts were accepted or should be asked, what to run next."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np

from actc.complete.completion import Completion
from actc.complete.plan import CompletionPlan
from actc.complete.weighing import Reasons
from actc.session.cards import plain, sentence
from actc.session.find_case import find_case, find_session
from actc.triples import IntArray, encode_columns
from actc.trust.report import Question, make_report
from actc.trust.report_page import Words, write_page

PAGE = "report.html"
MOST_SHOWN = 10


def write_next_page(
    plan: CompletionPlan, completion: Completion, thresholds: Path, reasons: Reasons | None
) -> tuple[list[Path], str]:
    """Write the page beside the thresholds, where the method gives probabilities; return it, and what to run next."""
    accepted = shlex.quote(str(thresholds.with_name("accepted.tsv")))
    audit = f"actc audit {accepted} --count 100 --out {shlex.quote(str(thresholds.with_name('slice.tsv')))}"
    if completion.calibrator.fit_.draws is None:
        return [], audit
    report = make_report(find_case(thresholds))
    more = plan.command(budget=2 * max(plan.budget, len(completion.judged)))
    go_on = (more,) if plan.oracle else (f"actc annotate {shlex.quote(str(plan.out / 'session'))}", more)
    commands = go_on if report.advice.go_on else (audit,)
    words = _names(thresholds, commands)
    if reasons is not None:
        words = _with_reasons(words, completion, reasons, report.questions)
    write_page(report, thresholds.with_name(PAGE), words)
    return [thresholds.with_name(PAGE)], " && ".join(commands)


def _names(thresholds: Path, commands: tuple[str, ...]) -> Words:
    """Return how the page calls things: by the names of the session that people judged in, else by their ids."""
    session = find_session(thresholds)
    if session is None:
        return Words(commands=commands)
    names = session.names
    return Words(
        lambda relation: names.of(relation).name, lambda *triple: plain(sentence(*map(names.of, triple))), commands
    )


def _with_reasons(words: Words, completion: Completion, reasons: Reasons, questions: list[Question]) -> Words:
    """Add the reasons of what should be asked next, and of the surest and the least sure of what was accepted."""
    candidates = completion.candidates
    asked = [(one.head, one.relation, one.tail) for one in questions]
    shown = surest_and_least(completion, MOST_SHOWN)
    rows = candidates.rows_of(encode_columns(*zip(*asked, strict=True))) if asked else shown[:0]
    both = np.concatenate([rows, shown])
    said = reasons.of(both, completion.probabilities[both] >= 0.5)
    triples = [candidates.triple(row) for row in both.tolist()]
    return replace(words, reasons=dict(zip(triples, said, strict=True)), accepted=tuple(triples[len(rows) :]))


def surest_and_least(completion: Completion, most: int) -> IntArray:
    """Return rows of what the method accepted: the surest and the least sure, half of ``most`` each."""
    by_method = completion.accepted.copy()
    by_method[completion.judged.rows] = False
    taken = np.flatnonzero(by_method)
    taken = taken[np.argsort(-completion.candidates.scores[taken], kind="stable")]
    return taken if len(taken) <= most else np.concatenate([taken[: most // 2], taken[-(most // 2) :]])
