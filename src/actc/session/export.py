"""What a session leads to, as files: labels, history, thresholds, accepted triples, Label Studio's tasks, a report."""

from __future__ import annotations

import json
import os
import shlex
from contextlib import ExitStack, closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.answers import Annotations, Answers
from actc.data.calibration import Sources
from actc.data.deliver import check_writable, write_beside
from actc.data.files import read_scored, write_triples
from actc.data.options import documented, options_of
from actc.data.text_files import in_json, write_json, write_text
from actc.data.triples import ScoredTriples
from actc.decide.calibrate import describe_calibration
from actc.decide.case import Case
from actc.decide.decision_table import DECISIONS, write_decisions
from actc.decide.estimate import MISSING_FACTS, WRONG_FACTS, Goal
from actc.decide.pick import pick_next
from actc.decide.report import PageContext, Report, make_report, write_page
from actc.errors import FileError, OptionError
from actc.session.cards import plain, sentence
from actc.session.cases import open_case, session_case, words_of
from actc.session.session import Session, open_session
from actc.session.settings import ExportFiles, as_target
from actc.session.status import Reliability, describe_session, history

QUANTITIES = ("accuracy", "precision", "recall")
SURELY = 1.645  # standard deviations from 0 that a weight must be to count as one: a 90% interval
ASSUMED = (
    "That rests on the assumption that judges are right more often than not. Judge more triples that they answered "
    "before you use these decisions."
)
NO_CHECKS = (
    "No answer of people's has a known inclusion probability, so nothing checks the judges; sessions ask such "
    "questions by themselves."
)


def write_labels(session: Session, path: Path) -> int:
    """Write one combined label per triple (head, relation, tail, label); return how many."""
    labels, pool = session.annotations(), session.read_pool()
    if not len(labels):
        raise FileError(f"{session.folder}: nothing is judged yet, so there is no label to write.")
    answers = labels.about(pool)
    write_triples(path, {**answers.triples.columns(), "score": pool.scores[labels.rows], **answers.columns()})
    return len(labels)


def write_history(session: Session, path: Path) -> int:
    """Write every judgement, oldest first, as JSON lines; return how many."""
    lines = history(session)[::-1]
    undone, size = {line["undoes"] for line in lines}, session.settings.triples
    with write_beside(path) as temporary:
        temporary.touch(0o600)  # names and answers: for others only if the owner gives them the right
        with temporary.open("w", encoding="utf-8") as file:
            for line in lines:
                more = {"shown": json.loads(line["shown"]), "undone": line["id"] in undone, "frame_size": size}
                file.write(json.dumps(line | more, ensure_ascii=False) + "\n")
    return len(lines)


def write_label_studio(session: Session, case: Case, path: Path, count: int) -> int:
    """Write the triples that would come next as Label Studio's tasks; return how many."""
    picks = pick_next(case.plain, count, np.random.default_rng([session.settings.seed, len(case.annotations)]))
    content = []
    for row in picks.rows.tolist():
        parts = dict(zip(Session.TRIPLE, case.pool.triple(row), strict=True))
        named = {name: session.names.of(identifier) for name, identifier in parts.items()}
        described = {f"{name}_description": one.description for name, one in named.items()}
        content.append({"data": {"triple": row, "text": plain(sentence(**named)), **parts, **described}})
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    return len(content)


def write_accepted(session: Session, case: Case, path: Path) -> int:
    """Write the accepted triples, with their probability, who decided and further columns; return how many."""
    columns = case.decisions.columns()
    pool = read_scored(session.folder / "pool.parquet", further=True)[0]
    rows = pool.rows_of(case.pool)[case.decisions.accepted]
    write_triples(path, columns, {name: column[rows] for name, column in pool.further.items()})
    return len(rows)


@documented(options_of(ExportFiles))
def export_session(session: str | Path | Session, **files: Any) -> list[tuple[int, str, Path]]:
    """Write every file that has a path, as ``actc export`` does; return how many of what went where.

    With thresholds or accepted triples the decisions on all candidates go into the session's folder, too:
    ``decisions.parquet``. With a precision, so many of the triples that the method accepts are true, or none is
    accepted; not with the baselines, which have no probabilities.

    Parameters
    ----------
    session : path or Session
    files
        Any of the options below, those of the command; and ``confidence``, of the guaranteed precision, and ``count``,
        of the tasks for Label Studio.
    """
    export = ExportFiles(**files)
    paths, target = export.paths(), as_target(export.precision, export.confidence)
    if not paths:
        raise OptionError("Give a file to export: --labels, --history, --thresholds, --accepted or --label-studio.")
    counts: dict[str, int] = {}
    # All files take their names at the end, or none does.
    with open_session(session) as session, ExitStack() as stack:
        beside = {name: stack.enter_context(write_beside(path)) for name, path in paths.items()}
        if "labels" in paths:
            counts["labels"] = write_labels(session, beside["labels"])
        if "history" in paths:
            counts["history"] = write_history(session, beside["history"])
        if from_case := paths.keys() - {"labels", "history"}:
            case = session_case(session, target)
            if from_case != {"label_studio"} and os.access(session.folder, os.W_OK):  # an archive stays as it is
                columns = case.decision_columns()
                if words_of(session.settings) is WRONG_FACTS:
                    columns["removed"] = columns.pop("accepted")
                    columns.pop("without_guarantee", None)
                decided = stack.enter_context(write_beside(session.folder / DECISIONS))
                write_decisions(decided, columns, None if case.target is None else case.target.precision)
            if "thresholds" in paths:
                sources = Sources(session=session.folder, graph=session.find_file("facts.parquet"))
                describe_calibration(case, sources).write(beside["thresholds"], paths["thresholds"])
                counts["thresholds"] = len(case.thresholds.relation_names)
            if "accepted" in paths:
                counts["accepted"] = write_accepted(session, case, beside["accepted"])
            if "label_studio" in paths:
                counts["label_studio"] = write_label_studio(session, case, beside["label_studio"], export.count)
        accepted = words_of(session.settings).accepted_facts
    things = {"history": "judgements", "accepted": accepted, "label_studio": "tasks"}
    return [(count, things.get(name, name), paths[name]) for name, count in counts.items()]


def write_report(
    source: str | Path | Session, out: str | Path = "report.html", *, json_out: str | Path | None = None
) -> Report:
    """Report how good decisions are, the evidence for that, and what to ask next, as ``actc report`` does.

    Parameters
    ----------
    source : path or Session
        A session, or a thresholds file; either with a pooled method.
    out : path
        The page.
    json_out : path, optional
        The same numbers as JSON.
    """
    if json_out is not None:  # both or none
        check_writable(json_out)
    case, session = open_case(source)
    with nullcontext() if session in (None, source) else closing(session):
        report = make_report(case)
        if session is not None:
            report = replace(report, goal=words_of(session.settings), session=tuple(describe_session(session)))
        judges = compare_judges(case)
        if judges is not None:
            report = replace(report, judges=tuple(describe_judges(judges, report.goal)))
        write_page(report, Path(out), name_things(session, _next_commands(source, case, session)))
        if json_out is not None:
            more = {} if judges is None else {"judges": in_json(judges, words=False)}
            write_json(json_out, report.to_dict() | more)
        return report


def _next_commands(source: str | Path | Session, case: Case, session: Session | None) -> tuple[str, ...]:
    """Return the commands to run next: to judge more, and to use what is decided."""
    folder = source.folder if isinstance(source, Session) else source
    there = shlex.quote(str(folder))
    if Path(folder).is_dir():
        return (
            f"actc annotate {there}",
            f"actc export {there} --thresholds thresholds.json --accepted accepted.tsv",
            f"actc audit {there} --within 0.05",
        )
    decide = f"actc decide {there} candidates.tsv --out accepted.tsv"
    if session is None:
        return (decide,)
    place = shlex.quote(os.path.relpath(session.folder))
    target = "" if case.guaranteed is None else f" --precision {case.guaranteed.precision:g}"
    return f"actc annotate {place}", f"actc export {place} --thresholds new-thresholds.json{target}", decide


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
    labels = np.full(len(pool) + 1, -1)  # the last is of what is not in the pool
    labels[people.rows] = people.labels
    of_people = labels[pool.rows_of(judged.triples)]
    equal, both = of_people == judged.labels, of_people >= 0
    names = {name: judged.who == name for name in sorted(set(judged.who))}
    return {name: Reliability.of(int(both[mine].sum()), int(equal[mine].sum())) for name, mine in names.items()}


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


def describe_judges(comparison: dict[str, Any], words: Goal = MISSING_FACTS) -> list[str]:
    """Return a comparison of :func:`compare_judges` as sentences, most important first."""
    lines = []
    for one in comparison["judges"]:
        agrees = (
            f"agrees with people on {one['agrees']:.0%} of {one['compared']:,}" if one["compared"] else "not compared"
        )
        weight = f"{one['weight']:+.1f} ± {one['spread']:.1f}"
        small = "; so few answers of people do not show that it knows anything"
        small = small if abs(one["weight"]) < SURELY * one["spread"] else ""
        lines.append(f"{one['name']}: {one['judged']:,} answers; {agrees}; its answer adds {weight} log-odds{small}.")
    lines.append(f"The judges change {comparison['changed']:,} decisions.")
    if all(abs(one["weight"]) < SURELY * one["spread"] for one in comparison["judges"]):
        lines.append(ASSUMED)
    for name in QUANTITIES:
        one, other = comparison["with"][name], comparison["without"][name]
        if one is not None:
            without = "" if other is None else f"; without them: {other}"
            lines.append(f"{words.quantities[name][0]} with judges: {one}{without}.")
    return lines if comparison["checks"] else [*lines, NO_CHECKS]
