"""The files of a completion: the new graph, the accepted facts with their provenance, the report and its page."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actc import __version__
from actc.complete.candidates import CANDIDATES, KNOWN, Candidates
from actc.complete.check import describe_wrong, to_table
from actc.complete.config import RunConfig
from actc.complete.earlier import ACCEPTED, UNDECIDED, describe_changes, find_undecided
from actc.data.answers import Answers
from actc.data.calibration import Sources
from actc.data.files import write_triples
from actc.data.text_files import write_json, write_text
from actc.data.triples import IntArray, Triples, encode_columns
from actc.decide.calibrate import describe_calibration, write_sources
from actc.decide.case import Case
from actc.decide.decision_table import (
    BY,
    DECISIONS,
    ORACLE,
    rows_to_explain,
    write_decisions,
)
from actc.decide.estimate import Share
from actc.decide.report import count_excluded, describe_guarantee, describe_needed, make_report, write_page
from actc.evidence.reasons import Reasons
from actc.graph.formats import FORMATS, find_ending, find_format, write_graph
from actc.graph.graph import Graph
from actc.session.cases import Opened
from actc.session.export import name_things

NO_ANSWERS = Answers()
MOST_EXAMPLES = 10
MOST_WEIGHTS = 12
MOST_SHOWN = 10
REJECTED, PAGE = "rejected.tsv", "report.html"
OF_RULES = ("rule_confidence", "rules")
"""Columns of candidates that no list of facts repeats."""


def new_facts(case: Case, graph: Triples) -> IntArray:
    """Return the rows of the accepted triples that a graph does not hold."""
    rows = np.flatnonzero(case.decisions.accepted)
    return rows[~graph.contains(case.candidates.take(rows))]


def provenance_of(case: Case, rows: IntArray) -> dict[str, Any]:
    """Return the columns of decided triples: score, probability, threshold, method, date, who decided."""
    decided = case.decisions
    p = np.full(len(rows), np.nan) if decided.probability is None else decided.probability[rows]
    return {
        "score": case.candidates.scores[rows],
        "probability": np.ma.masked_invalid(p.round(4)),
        "threshold": case.thresholds.of(case.candidates)[rows],
        "method": np.full(len(rows), str(case.method), dtype=object),
        "date": np.full(len(rows), datetime.now(UTC).date().isoformat(), dtype=object),
        "by": decided.by[rows],
    }


def _add_called(columns: dict[str, Any], called: Answers, method: str) -> dict[str, Any]:
    """Add facts that were called true though nobody proposed them to a table of decisions."""
    count = len(called)
    if not count:
        return columns
    texts, true = np.full(count, "", dtype=object), np.ones(count, dtype=np.bool_)
    own = {
        **called.triples.columns(),
        **dict.fromkeys(("accepted", "without_guarantee"), true),
        **dict.fromkeys(("probability", "guaranteed"), true.astype(np.float64)),
        **dict.fromkeys(("score", "threshold", "confidence", "given_score"), np.full(count, np.nan)),
        "support": np.zeros(count, dtype=np.int64),
        "method": np.full(count, method, dtype=object),
        "date": np.full(count, datetime.now(UTC).date().isoformat(), dtype=object),
        "by": _called_by(called),
    }
    filled = {name: np.ma.filled(one, np.nan) if one.dtype.kind == "f" else one for name, one in columns.items()}
    joined = {name: np.append(one, own.get(name, texts)) for name, one in filled.items()}
    return {name: np.ma.masked_invalid(one) if one.dtype.kind == "f" else one for name, one in joined.items()}


def _called_by(called: Answers) -> NDArray[np.object_]:
    """Return who called each fact true: an oracle, or a person."""
    return np.where(called.who == ORACLE, ORACLE, "person").astype(object)


def write_completion(
    config: RunConfig, opened: Opened, graph: Graph, candidates: Candidates, called: Answers
) -> list[Path]:
    """Write the graph, the decided candidates and the thresholds into the folder of a run; return the files.

    Parameters
    ----------
    config : RunConfig
    opened : Opened
        The case, and the session in which people judged; without one, the pool and the answers are written too.
    graph : Graph
        The graph as it was.
    candidates : Candidates
        Their further columns and their reasons stand beside the decisions.
    called : Answers
        Facts that were called true though nobody proposed them.
    """
    folder, case = config.out, opened.case
    rows = new_facts(case, graph)
    accepted, method = Graph.of(case.candidates.take(rows)), str(case.method)
    ending = ".tsv" if config.graph is None else find_ending(config.graph)
    files = [folder / name for name in (f"graph{ending}", ACCEPTED, "thresholds.json")]
    # Nobody knows anything of the graph's own triples, so only the new ones carry that a heuristic made them.
    provenance = provenance_of(case, rows) if find_format(files[0]) is FORMATS["quickstatements"] else {}
    provenance = _add_called(provenance, called, method)
    extras = {name: np.append(np.full(len(graph), None), values.astype(object)) for name, values in provenance.items()}
    write_graph(files[0], Graph.of(graph.union(accepted.followed_by(called.triples))), base=config.base, extras=extras)
    _write_list(files[1], case, candidates, rows, True, called)
    describe_calibration(case, _write_sources(folder, opened)).write(files[2])
    decided = case.decision_columns()
    if config.candidates is not None:
        decided |= candidates.triples.further
        rejected = np.flatnonzero(~case.decisions.accepted & ~graph.contains(case.candidates))
        files.append(folder / REJECTED)
        _write_list(files[-1], case, candidates, rejected, False)
    _write_list(folder / UNDECIDED, case, candidates, find_undecided(case), None)
    if candidates.reasons is not None:
        decided["reasons"] = candidates.reasons.column(rows_to_explain(decided), len(case.candidates))
    new = ~graph.contains(case.candidates)
    decided = _add_called({name: column[new] for name, column in decided.items()}, called, method)
    decided = {name: np.ma.filled(one, np.nan) if one.dtype.kind == "f" else one for name, one in decided.items()}
    files.append(write_decisions(folder / DECISIONS, decided, None if case.target is None else case.target.precision))
    if len(case.constraints):
        files.append(folder / "excluded.tsv")
        write_triples(files[-1], case.decisions.excluded_columns(case.facts))
    return files


def _write_list(
    path: Path,
    case: Case,
    candidates: Candidates,
    rows: IntArray,
    accepted: bool | None,
    called: Answers = NO_ANSWERS,
) -> None:
    """Write decided candidates with their further columns, and reasons where they were accepted or rejected."""
    columns = {**case.candidates.take(rows).columns(), **provenance_of(case, rows)}
    if accepted is None:
        columns = {name: columns[name] for name in ("head", "relation", "tail", "score", "probability")}
    more = {name: values[rows] for name, values in candidates.triples.further.items() if name not in OF_RULES}
    columns |= {name: _in_one_line(values) for name, values in more.items() if accepted is not None or name != "rule"}
    if candidates.reasons is not None and accepted is not None:
        texts = candidates.reasons.of(rows, np.full(len(rows), accepted))
        columns["reasons"] = np.array([*texts, ""], dtype=object)[:-1]  # an array of texts, even of none
    write_triples(path, _add_called(columns, called, str(case.method)))


def _in_one_line(values: NDArray[Any]) -> NDArray[Any]:
    """Return texts without tabs and line ends, which no cell of a TSV file can hold."""
    if values.dtype.kind != "O":
        return np.ma.masked_invalid(values) if values.dtype.kind == "f" else values
    return np.array([*(re.sub(r"[\t\r\n]+", " ", str(text)) for text in values), ""], dtype=object)[:-1]


def _write_sources(folder: Path, opened: Opened) -> Sources:
    """Return what the thresholds rest on, all of it within the folder."""
    if opened.session is not None:
        sources = Sources(session=opened.session.folder)
    else:
        known = folder / KNOWN if opened.case.known is not None else None
        sources = write_sources(folder, opened.case, scores="pool.parquet", labels="judged.parquet", known=known)
    if opened.case.facts is not None:
        write_triples(folder / "facts.parquet", opened.case.facts.columns())
        sources = replace(sources, graph=(folder / "facts.parquet").resolve())
    return replace(sources, candidates=(folder / CANDIDATES).resolve())


def write_next_page(
    config: RunConfig, opened: Opened, reasons: Reasons | None, wrong: dict[str, Any] | None
) -> tuple[list[Path], str]:
    """Write the page, where the method gives probabilities; return it, and what to run next.

    ``wrong`` is what the page shows of wrong facts, where the graph was checked.
    """
    case, page = opened.case, config.out / PAGE
    accepted, part = (shlex.quote(str(config.out / name)) for name in (ACCEPTED, "slice.tsv"))
    audit = f"actc audit {accepted} --count 100 --out {part}"
    if case.estimates is None:
        return [], audit
    report, more = make_report(case), config.command(config.budget or 100)
    go_on = (more,) if opened.session is None else (f"actc annotate {shlex.quote(str(config.out / 'session'))}", more)
    passed = case.guaranteed is None or case.guaranteed.passed
    commands = (audit,) if passed and len(case.annotations) else go_on
    words = replace(name_things(opened.session, commands), wrong=wrong)
    if reasons is not None:
        questions = [(one["head"], one["relation"], one["tail"]) for one in report.ask_next]
        shown = surest_and_least(case, MOST_SHOWN)
        rows = case.candidates.rows_of(encode_columns(*zip(*questions, strict=True))) if questions else shown[:0]
        both = np.concatenate([rows, shown])
        texts = reasons.of(both, case.decisions.accepted[both], words.name)
        triples = [case.candidates.triple(row) for row in both.tolist()]
        words = replace(words, reasons=dict(zip(triples, texts, strict=True)), accepted=tuple(triples[len(rows) :]))
    write_page(report, page, words)
    return [page], " && ".join(commands)


def surest_and_least(case: Case, most: int) -> IntArray:
    """Return rows of what the method accepted: the surest and the least sure, half of ``most`` each."""
    rows = np.flatnonzero(case.decisions.accepted & (case.decisions.by == "method"))
    rows = rows[np.argsort(-case.candidates.scores[rows], kind="stable")]
    return rows if len(rows) <= most else np.concatenate([rows[: most // 2], rows[-(most // 2) :]])


def summarise(
    case: Case, graph: Graph, facts: dict[str, Any], reasons: Reasons | None = None, called: Answers = NO_ANSWERS
) -> dict[str, Any]:
    """Return the report as plain values; its numbers of accepted facts are about the rows of accepted.tsv.

    Parameters
    ----------
    case : Case
    graph : Graph
        The graph as it was, without what is removed.
    facts : dict
        What else the report should have: the model, the seconds, the notes of reading.
    reasons : Reasons, optional
        What the graph says of each candidate.
    called : Answers
        Facts that were called true though nobody proposed them.
    """
    candidates, judged, rows = case.candidates, case.answers, new_facts(case, graph)
    accepted, by = candidates.take(rows), np.append(case.decisions.by[rows], _called_by(called))
    tables = {"known": graph, "candidates": candidates, "judged": candidates.take(judged.rows), "accepted": accepted}
    counts = {name: _count_relations(triples) for name, triples in tables.items()}
    counts["accepted"] += _count_relations(called.triples)
    removed = facts["check"]["removed"] if "check" in facts else 0
    return {
        "actc_version": __version__,
        "method": str(case.method),
        "triples_before": len(graph) + removed,
        "candidates": len(candidates),
        "judged": len(judged),
        "judged_true": int(judged.labels.sum()),
        "accepted": len(by),
        "accepted_by": {who: int((by == who).sum()) for who in BY},
        "called_true": len(called),
        "constraints": count_excluded(case) if len(case.constraints) else None,
        "triples_after": len(graph) + len(by),
        "accepted_precision": case.accepted_precision,
        "guarantee": case.guaranteed and case.guaranteed.describe(),
        "answers_needed": None if case.estimates is None else case.needed_answers(),
        **facts,
        "evidence": None if reasons is None else reasons.describe() | {"examples": _examples(case, reasons)},
        "relations": {
            relation: {name: of[relation] for name, of in counts.items()}
            for relation in sorted({*candidates.relation_names, *called.triples.relation_names})
        },
    }


def _count_relations(triples: Triples) -> Counter[str]:
    counts = np.bincount(triples.relations, minlength=len(triples.relation_names)).tolist()
    return Counter(dict(zip(triples.relation_names, counts, strict=True)))


def _examples(case: Case, reasons: Reasons) -> list[dict[str, Any]]:
    """Return the surest of the accepted facts, and what was judged, each with its reasons."""
    decided, judged = case.decisions, case.answers.first(MOST_EXAMPLES)
    sure = np.flatnonzero(decided.accepted & (decided.by == "method"))
    sure = sure[np.argsort(-case.candidates.scores[sure], kind="stable")][:MOST_EXAMPLES]
    rows = np.concatenate([sure, judged.rows])
    became = ["accepted"] * len(sure) + ["called true" if label else "called false" for label in judged.labels]
    examples = zip(rows.tolist(), became, reasons.of(rows, decided.accepted[rows]), strict=True)
    return [{"triple": case.candidates.triple(row), "became": what, "reasons": text} for row, what, text in examples]


def headline(report: dict[str, Any], strong: str = "") -> tuple[str, ...]:
    """Return in a few sentences what became of the candidates, and the precision of the accepted facts."""
    interval, accepted = report["accepted_precision"], f"{strong}{report['accepted']:,} accepted{strong}"
    if not report["accepted"]:
        sure = "No candidate is accepted."
    elif interval is None:
        sure = "Precision of the accepted facts: unknown, as this method gives no interval."
    else:
        sure = f"Precision of the accepted facts: {Share(interval[1], interval[0], interval[2])}."
    if report["guarantee"]:
        sure += f" {describe_guarantee(report['guarantee'])}"
    lines = [
        f"{report['candidates']:,} candidates; {report['judged']:,} judged, {report['judged_true']:,} of them true; "
        f"{accepted}. The graph had {report['triples_before']:,} facts and has {report['triples_after']:,} now.",
        sure,
    ]
    if "check" in report:
        both = f"{strong}{report['accepted']:,} facts added, {report['check']['removed']:,} taken out{strong}."
        lines = [both, *lines, *describe_wrong(report["check"])]
    if report.get("answers_needed") is not None and not (report["guarantee"] and report["guarantee"]["passed"]):
        lines.append(describe_needed(report["answers_needed"]))
    return (*lines, *([describe_changes(report["since"])] if report.get("since") else []))


def to_markdown(report: dict[str, Any]) -> str:
    """Return the report for people."""
    lines = [
        "# A graph completed",
        "",
        *([f"Next: `{report['next']}`", ""] if report.get("next") else []),
        *(line for one in headline(report, strong="**") for line in (one, "")),
        "| relation | known | candidates | judged | accepted |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, row in report["relations"].items():
        lines.append(f"| {name} | {row['known']} | {row['candidates']} | {row['judged']} | {row['accepted']} |")
    lines += _describe_evidence(report["evidence"])
    if "check" in report:
        lines += ["", "## Wrong facts", "", to_table(report["check"])]
    notes = report.get("notes") or []
    return "\n".join([*lines, *([""] if notes else []), *(f"- {note}" for note in notes)])


def _describe_evidence(evidence: dict[str, Any] | None) -> list[str]:
    """Return the weights of the evidence, and why some facts were accepted or judged, as Markdown."""
    if evidence is None:
        return []
    share = evidence["expected_share"]
    expected = "unknown before any answer" if share is None else f"{share:.1%}, estimated from them"
    lines = [
        "",
        "## What the graph says",
        "",
        f"The weight of each piece of evidence was learnt from {evidence['holdout_facts']} holdout facts. Share of "
        f"true candidates: {expected}. The largest weights, in log-odds for one standard deviation:",
        "",
        "| piece | weight |",
        "| --- | ---: |",
    ]
    lines += [f"| {name} | {weight:+.2f} |" for name, weight in list(evidence["weights"].items())[:MOST_WEIGHTS]]
    lines += ["", "| fact | became | reasons |", "| --- | --- | --- |"]
    for example in evidence["examples"]:
        lines.append(f"| {' '.join(example['triple'])} | {example['became']} | {example['reasons']} |")
    return lines


def write_report(folder: Path, report: dict[str, Any]) -> list[Path]:
    """Write what :func:`summarise` returned, for programs and for people; return the files."""
    files = [folder / "report.json", folder / "report.md"]
    write_json(files[0], report)
    write_text(files[1], to_markdown(report) + "\n")
    return files
