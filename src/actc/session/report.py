"""The report on a session or a thresholds file: what ``actc report`` writes."""

from __future__ import annotations

import os
import shlex
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.answers import Annotations, Answers
from actc.data.deliver import check_writable
from actc.data.text_files import in_json, write_json
from actc.data.triples import ScoredTriples
from actc.decide.case import Case
from actc.decide.estimate import MISSING_FACTS, Goal
from actc.decide.report import PageContext, Report, make_report, write_page
from actc.session.agreement import Reliability, measure_reliability
from actc.session.cards import plain, sentence
from actc.session.cases import Opened, open_case, words_of
from actc.session.session import Session
from actc.session.status import describe_session

QUANTITIES = ("accuracy", "precision", "recall")
SURELY = 1.645  # standard deviations from 0 that a weight must be to count as one: a 90% interval
NO_CHECKS = (
    "No answer of people's has a known inclusion probability, so nothing checks the judges; sessions ask such "
    "questions by themselves."
)


def write_report(
    source: str | Path | Session | Case, out: str | Path = "report.html", *, json_out: str | Path | None = None
) -> Report:
    """Report how good decisions are, the evidence for that, and what to ask next, as ``actc report`` does.

    Parameters
    ----------
    source : path, Session or Case
        A session, or a thresholds file; either with a pooled method.
    out : path
        The page.
    json_out : path, optional
        The same numbers as JSON.
    """
    if json_out is not None:  # both or none
        check_writable(json_out)
    opened = open_case(source)
    session = opened.session
    with nullcontext() if session in (None, source) else closing(session):
        report = make_report(opened.case)
        if session is not None:
            report = replace(report, goal=words_of(session.settings), session=tuple(describe_session(session)))
        judges = compare_judges(opened.case)
        if judges is not None:
            report = replace(report, judges=tuple(describe_judges(judges, report.goal)))
        write_page(report, Path(out), name_things(session, _next_commands(source, opened)))
        if json_out is not None:
            more = {} if judges is None else {"judges": in_json(_without_classes(judges), words=False)}
            write_json(json_out, report.to_dict() | more)
        return report


def _next_commands(source: str | Path | Session | Case, opened: Opened) -> tuple[str, ...]:
    """Return the commands to run next: to judge more, and to use what is decided."""
    if isinstance(source, Case):
        return ()
    folder = source.folder if isinstance(source, Session) else source
    there = shlex.quote(str(folder))
    if Path(folder).is_dir():
        return (
            f"actc annotate {there}",
            f"actc export {there} --thresholds thresholds.json --accepted accepted.tsv",
            f"actc audit {there} --within 0.05",
        )
    decide = f"actc decide {there} candidates.tsv --out accepted.tsv"
    if opened.session is None:
        return (decide,)
    session, guaranteed = shlex.quote(os.path.relpath(opened.session.folder)), opened.case.guaranteed
    target = "" if guaranteed is None else f" --precision {guaranteed.precision:g}"
    return f"actc annotate {session}", f"actc export {session} --thresholds new-thresholds.json{target}", decide


def name_things(session: Session | None, commands: tuple[str, ...]) -> PageContext:
    """Return the words of a page: the names in the session that people judged in, else ids."""
    if session is None:
        return PageContext(commands=commands)
    names = session.names
    return PageContext(
        lambda relation: names.of(relation).name, lambda *triple: plain(sentence(*map(names.of, triple))), commands
    )


def measure_judges(pool: ScoredTriples, people: Annotations, judged: Answers) -> dict[str, Reliability]:
    """Return how often each judge agrees with people about a pool, by its name."""
    rows = pool.rows_of(judged.triples)
    of = {name: (judged.who == name) & (rows >= 0) for name in sorted(set(judged.who))}
    return {name: measure_reliability(rows[mine], judged.labels[mine], people) for name, mine in of.items()}


def compare_judges(case: Case) -> dict[str, Any] | None:
    """Compare decisions with and without machine judges; None where no machine judged, or without probabilities.

    The result has a line for each of the ``judges`` (how many triples it judged, how often it agrees with people, the
    log-odds that its answer adds), how many decisions they ``changed``, how good decisions are ``with`` them and
    ``without`` them, and the number of people's ``checks``.
    """
    if case.judge_adjusted is None:
        return None
    alone = case.without_judges()
    assert case.estimates is not None
    assert alone.estimates is not None
    counts = (~np.isnan(case.judge_adjusted.signals)).sum(axis=0).tolist()
    measured, lines = measure_judges(case.pool, case.annotations, case.judged), []
    for judge, name in enumerate(case.judge_adjusted.names):
        weight, spread = case.judge_adjusted.weight(judge)
        agrees = {"compared": measured[name].compared, "agrees": measured[name].right}
        lines.append({"name": name, "judged": counts[judge], **agrees, "weight": weight, "spread": spread})
    return {
        "judges": lines,
        "changed": int((case.decisions.accepted != alone.decisions.accepted).sum()),
        "with": {name: case.estimates.overall[name] for name in QUANTITIES},
        "without": {name: alone.estimates.overall[name] for name in QUANTITIES},
        "checks": int(case.annotations.has_inclusion_probability.sum()),
    }


def _without_classes(comparison: dict[str, Any]) -> dict[str, Any]:
    shares = {
        part: {name: None if share is None else vars(share) for name, share in comparison[part].items()}
        for part in ("with", "without")
    }
    return comparison | shares


def describe_judges(comparison: dict[str, Any], words: Goal = MISSING_FACTS) -> list[str]:
    """Return a comparison of :func:`compare_judges` as sentences, most important first."""
    lines = []
    for one in comparison["judges"]:
        agrees = (
            f"agrees with people on {one['agrees']:.0%} of {one['compared']:,}" if one["compared"] else "not compared"
        )
        weight = f"{one['weight']:+.1f} ± {one['spread']:.1f}"
        small = " (not significant)" if abs(one["weight"]) < SURELY * one["spread"] else ""
        lines.append(f"{one['name']}: {one['judged']:,} answers; {agrees}; its answer adds {weight} log-odds{small}.")
    lines.append(f"The judges change {comparison['changed']:,} decisions.")
    for name in QUANTITIES:
        one, other = comparison["with"][name], comparison["without"][name]
        if one is not None:
            without = "" if other is None else f"; without them: {other}"
            lines.append(f"{words.quantities[name][0]} with judges: {one}{without}.")
    return lines if comparison["checks"] else [*lines, NO_CHECKS]
