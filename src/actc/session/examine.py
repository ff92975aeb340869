"""How good are decisions? Of a session or a thresholds file: what ``actc report`` and ``actc audit`` do."""

from __future__ import annotations

import logging
import os
import shlex
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np

from actc.data.answers import Annotations, Answers
from actc.data.deliver import check_writable
from actc.data.files import write_json, write_scored
from actc.data.parts import read_candidates
from actc.data.triples import ScoredTriples
from actc.decide.audit import Audit, StoppingRule, assess, draw_next
from actc.decide.case import Case
from actc.decide.report import PageContext, Report, make_report, write_page
from actc.errors import OptionError
from actc.session.cards import plain, sentence
from actc.session.find_case import Opened, find_case
from actc.session.judge_report import report_judges
from actc.session.session import Session
from actc.session.sought import sought_in
from actc.session.status import describe_session

PathLike = str | Path


def write_report(
    source: PathLike | Session | Case,
    out: PathLike = "report.html",
    *,
    json_out: PathLike | None = None,
) -> Report:
    """Say how good decisions are, resting on what, and what to ask next, as ``actc report`` does.

    Parameters
    ----------
    source : path or Case
        A session, or a thresholds file; either with a pooled method.
    out : path
        The page.
    json_out : path, optional
        The same numbers as JSON.
    """
    if json_out is not None:  # both or none
        check_writable(json_out)
    opened = find_case(source)
    with nullcontext() if opened.session in (None, source) else closing(opened.session):
        report, judges = make_report(opened.case), report_judges(opened)
        if opened.session is not None:
            goal = sought_in(opened.session.settings)
            report = replace(report, goal=goal, session=tuple(describe_session(opened.session)))
        if judges is not None:
            report = replace(report, judges=tuple(judges.sentences(report.goal)))
        write_page(report, Path(out), name_things(opened.session, _next_commands(source, opened)))
        if json_out is not None:
            write_json(json_out, report.to_dict() | ({} if judges is None else {"judges": judges.to_dict()}))
        return report


def draw_audit(
    accepted: PathLike | ScoredTriples,
    out: PathLike | None,
    labels: PathLike | Answers | None = None,
    *,
    count: int = 100,
    target: float | None = None,
    seed: int = 0,
) -> ScoredTriples:
    """Draw and write the accepted triples to judge next, as ``actc audit --out`` does; return them.

    Parameters
    ----------
    accepted : path or ScoredTriples
        The whole accepted set.
    out : path
        Write the draws there.
    labels : path or Answers, optional
        What was judged so far: more draws go where they bring most.
    count : int
        How many answers to ask for.
    target : float, optional
        The share that is to be certified.
    seed : int
        Where the draw starts from.
    """
    triples = _triples(accepted)
    if out is None:
        raise OptionError("Give --out to draw triples to judge, or --labels to read judged ones.")
    answers = _answers(labels, triples)
    random = np.random.default_rng([seed, len(answers)])
    drawn = triples.take(draw_next(triples, answers, count, random, StoppingRule(target=target)))
    write_scored(out, drawn)
    return drawn


def audit_accepted(
    accepted: PathLike | ScoredTriples,
    labels: PathLike | Answers,
    *,
    within: float = 0.05,
    target: float | None = None,
    level: float = 0.9,
) -> Audit:
    """Say how many accepted triples are true, by judged draws and without any model, as ``actc audit`` does.

    Parameters
    ----------
    accepted : path or ScoredTriples
        The whole accepted set.
    labels : path or Answers
        Answers on what :func:`actc.draw_audit` drew.
    within : float
        The answers are enough when the share of true triples is known to plus or minus so much.
    target : float, optional
        The share of true triples to certify instead, such as 0.9.
    level : float
        How sure the bounds should be.
    """
    triples = _triples(accepted)
    return assess(triples, _answers(labels, triples), StoppingRule(within, target, level))


def _next_commands(source: PathLike | Session | Case, opened: Opened) -> tuple[str, ...]:
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
    asked, promised = shlex.quote(os.path.relpath(opened.session.folder)), opened.case.promised
    kept = "" if promised is None else f" --precision {promised.target:g} --confidence {promised.confidence:g}"
    return f"actc annotate {asked}", f"actc export {asked} --thresholds new-thresholds.json{kept}", decide


def name_things(session: Session | None, commands: tuple[str, ...]) -> PageContext:
    """Return how a page calls things: by the names of the session that people judged in, else by their ids."""
    if session is None:
        return PageContext(commands=commands)
    names = session.names
    return PageContext(
        lambda relation: names.of(relation).name, lambda *triple: plain(sentence(*map(names.of, triple))), commands
    )


def _triples(given: PathLike | ScoredTriples) -> ScoredTriples:
    return given if isinstance(given, ScoredTriples) else read_candidates(given)


def _answers(given: PathLike | Answers | None, triples: ScoredTriples) -> Annotations:
    if given is None:
        return Annotations()
    answers = given if isinstance(given, Answers) else Answers.read(given)
    for note in answers.describe_use(triples, source="answers" if answers is given else str(given)):
        logging.getLogger("actc").warning(note)
    return answers.on(triples)
