"""What `actc complete` leaves behind: the new graph, the accepted facts with their provenance, a report."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actc import __version__
from actc.complete.check_report import tell_wrong, to_lists
from actc.complete.earlier import tell_changes
from actc.complete.open_case import CANDIDATES, new_facts
from actc.data.answers import Answers
from actc.data.calibration import Sources
from actc.data.database import open_database
from actc.data.files import quote_file, write_json, write_text, write_triples
from actc.data.triples import IntArray, Triples
from actc.decide.calibrate import describe_calibration, write_sources
from actc.decide.case import BY, ORACLE, Case
from actc.decide.decision_table import (
    DECISIONS,
    count_excluded,
    decision_columns,
    excluded_columns,
    rows_to_explain,
    write_decisions,
)
from actc.decide.estimate import Share
from actc.decide.report import describe_guarantee, describe_needed
from actc.evidence.reasons import Reasons
from actc.graph.formats import FORMATS, find_format, write_graph
from actc.graph.graph import Graph
from actc.graph.terms import Base
from actc.session.cases import Opened

NOBODY = Answers()
MOST_EXAMPLES = 10
MOST_WEIGHTS = 12
PROPOSED = ("proposed_by", "rule")


def provenance_of(case: Case, rows: IntArray | None = None) -> dict[str, Any]:
    """Return, beside accepted triples, all or some: score, probability, threshold, method, date, who decided."""
    decided = case.decisions
    rows = np.flatnonzero(decided.accepted) if rows is None else rows
    told = np.full(len(rows), np.nan) if decided.probability is None else decided.probability[rows]
    return {
        "score": case.candidates.scores[rows],
        "probability": np.ma.masked_invalid(told.round(4)),
        "threshold": case.thresholds.of(case.candidates)[rows],
        "method": np.full(len(rows), str(case.method), dtype=object),
        "date": np.full(len(rows), datetime.now(UTC).date().isoformat(), dtype=object),
        "by": decided.by[rows],
    }


def _add_called(columns: dict[str, Any], called: Answers, method: str) -> dict[str, Any]:
    """Add facts that were called true though nobody proposed them to the table of what is accepted."""
    if not len(called):
        return columns
    own = {
        **called.triples.columns(),
        "probability": np.ones(len(called)),
        "method": np.full(len(called), method, dtype=object),
        "date": np.full(len(called), datetime.now(UTC).date().isoformat(), dtype=object),
        "by": _called_by(called),
    }
    nothing = np.full(len(called), np.nan)
    own |= {"score": nothing, "threshold": nothing}
    texts = np.full(len(called), "", dtype=object)
    joined = {name: np.append(np.ma.filled(one, np.nan), own.get(name, texts)) for name, one in columns.items()}
    return {name: np.ma.masked_invalid(one) if one.dtype.kind == "f" else one for name, one in joined.items()}


def _called_by(called: Answers) -> NDArray[np.object_]:
    """Return who called each fact true: an oracle, or a person."""
    return np.where(called.who == ORACLE, ORACLE, "person").astype(object)


def write_completion(
    folder: Path,
    opened: Opened,
    graph: Graph,
    file_name: str,
    base: Base,
    beside: dict[str, Any],
    reasons: Reasons | None,
    called: Answers,
) -> list[Path]:
    """Write the graph, the accepted facts and the thresholds into a folder; return the files.

    Parameters
    ----------
    folder : Path
    opened : Opened
        The case, and the session in which people judged; without one, the pool and the answers are written too.
    graph : Graph
        The graph as it was.
    file_name : str
        What to call the new graph; the ending names its format.
    base : str
        Put before names that are no IRIs, in RDF.
    beside : dict of arrays
        Of each candidate who proposed it, and by which rule; the accepted ones get columns of it.
    reasons : Reasons, optional
        What the graph says of each candidate; the accepted ones get a column of it.
    called : Answers
        Facts that were called true though nobody proposed them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    case = opened.case
    rows = new_facts(case, graph)
    accepted = Graph.of(case.candidates.take(rows))
    files = [folder / name for name in (file_name, "accepted.tsv", "thresholds.json")]
    provenance = provenance_of(case, rows)
    # Nobody knows anything of the graph's own triples, so only the new ones say that a heuristic made them.
    told = provenance if find_format(files[0]) is FORMATS["quickstatements"] else {}
    told = _add_called(told, called, str(case.method))
    extras = {name: np.append(np.full(len(graph), None), values.astype(object)) for name, values in told.items()}
    write_graph(files[0], Graph.of(graph.union(accepted.followed_by(called.triples))), base=base, extras=extras)
    provenance |= {name: beside[name][rows] for name in PROPOSED if name in beside}
    if reasons is not None:
        # an array of texts, even of none
        provenance["reasons"] = np.array([*reasons.of(rows, np.ones(len(rows), np.bool_)), ""], dtype=object)[:-1]
    write_triples(files[1], _add_called({**accepted.columns(), **provenance}, called, str(case.method)))
    describe_calibration(case, _sources(folder, opened)).write(files[2])
    files.append(_write_decisions(folder, case, graph, reasons, called))
    if len(case.constraints):
        files.append(folder / "excluded.tsv")
        write_triples(files[-1], excluded_columns(case))
    return files


def _write_decisions(folder: Path, case: Case, graph: Graph, reasons: Reasons | None, called: Answers) -> Path:
    """Write the table of all candidates that the graph does not hold, and of what was called true besides."""
    columns = decision_columns(case)
    if reasons is not None:
        columns["reasons"] = reasons.column(rows_to_explain(columns), len(case.candidates))
    new = ~graph.contains(case.candidates)
    columns = {name: column[new] for name, column in columns.items()}
    if len(called):
        count = len(called)
        own = {**called.triples.columns(), "by": _called_by(called), "reasons": np.full(count, "", dtype=object)}
        true = np.ones(count, dtype=np.bool_)
        own |= {"accepted": true, "without_guarantee": true, "score": np.full(count, np.nan)}
        own |= {name: true.astype(np.float64) for name in ("probability", "guaranteed")}
        columns = {name: np.append(column, own[name]) for name, column in columns.items()}
    return write_decisions(folder / DECISIONS, columns, None if case.target is None else case.target.precision)


def read_beside(path: Path) -> dict[str, Any]:
    """Return who proposed each candidate of a file, and by which rule, as far as it says so."""
    with open_database() as connection:
        rows = connection.execute(f"SELECT * FROM {quote_file(path)}").fetchnumpy()
    return {name: np.ma.filled(rows[name], "") for name in PROPOSED if name in rows}


def write_report(folder: Path, report: dict[str, Any]) -> list[Path]:
    """Write what :func:`summarise` returned, for programs and for people; return the files."""
    files = [folder / "report.json", folder / "report.md"]
    write_json(files[0], report)
    write_text(files[1], to_markdown(report) + "\n")
    return files


def _sources(folder: Path, opened: Opened) -> Sources:
    """Return what the thresholds rest on, all of it within the folder."""
    candidates = folder / CANDIDATES  # written when the graph was scored, like known.parquet
    if opened.session is not None:
        sources = Sources(session=opened.session.folder)
    else:
        known = folder / "known.parquet" if opened.case.known is not None else None
        sources = write_sources(folder, opened.case, scores="pool.parquet", labels="judged.parquet", known=known)
    if opened.case.facts is not None:
        write_triples(folder / "facts.parquet", opened.case.facts.columns())
        sources = replace(sources, graph=(folder / "facts.parquet").resolve())
    return replace(sources, candidates=candidates.resolve())


def summarise(
    case: Case, graph: Graph, facts: dict[str, Any], reasons: Reasons | None = None, called: Answers = NOBODY
) -> dict[str, Any]:
    """Return the report as plain values; what it says of accepted facts is about the rows of accepted.tsv.

    Parameters
    ----------
    case : Case
    graph : Graph
        The graph as it was, without what is taken out.
    facts : dict
        What else the report should hold: the model, the seconds, the notes of reading.
    reasons : Reasons, optional
        What the graph says of each candidate.
    called : Answers
        Facts that were called true though nobody proposed them.
    """
    candidates, judged, rows = case.candidates, case.answers_in(case.candidates), new_facts(case, graph)
    accepted, by = candidates.take(rows), np.append(case.decisions.by[rows], _called_by(called))
    known, asked, seen, taken, more = map(
        _count_relations, (graph, candidates, candidates.take(judged.rows), accepted, called.triples)
    )
    removed = facts["check"]["removed"] if "check" in facts else 0
    new = len(by)
    return {
        "actc_version": __version__,
        "method": str(case.method),
        "triples_before": len(graph) + removed,
        "candidates": len(candidates),
        "judged": len(judged),
        "judged_true": int(judged.labels.sum()),
        "accepted": new,
        "accepted_by": {who: int((by == who).sum()) for who in BY},
        "called_true": len(called),
        "constraints": count_excluded(case) if len(case.constraints) else None,
        "triples_after": len(graph) + new,
        "accepted_precision": case.accepted_precision,
        "guarantee": case.guaranteed and case.guaranteed.describe(),
        "answers_needed": None if case.estimates is None else case.needed_answers(),
        **facts,
        "evidence": None if reasons is None else reasons.describe() | {"examples": _examples(case, reasons)},
        "relations": {
            name: {
                "known": known[name],
                "candidates": asked[name],
                "judged": seen[name],
                "accepted": (taken + more)[name],
            }
            for name in sorted({*candidates.relation_names, *more})
        },
    }


def _count_relations(triples: Triples) -> Counter[str]:
    counts = np.bincount(triples.relations, minlength=len(triples.relation_names)).tolist()
    return Counter(dict(zip(triples.relation_names, counts, strict=True)))


def _examples(case: Case, reasons: Reasons) -> list[dict[str, Any]]:
    """Return the surest of the accepted facts, and what was asked, each with its reasons."""
    decided, judged = case.decisions, case.answers_in(case.candidates).first(MOST_EXAMPLES)
    sure = np.flatnonzero(decided.accepted & (decided.by == "method"))
    sure = sure[np.argsort(-case.candidates.scores[sure], kind="stable")][:MOST_EXAMPLES]
    rows = np.concatenate([sure, judged.rows])
    became = ["accepted"] * len(sure) + ["called true" if label else "called false" for label in judged.labels]
    said = zip(rows.tolist(), became, reasons.of(rows, decided.accepted[rows]), strict=True)
    return [{"triple": case.candidates.triple(row), "became": what, "reasons": text} for row, what, text in said]


def headline(report: dict[str, Any], strong: str = "") -> tuple[str, ...]:
    """Say in a few sentences what became of the candidates, and how many of the accepted facts should be true."""
    interval = report["accepted_precision"]
    if not report["accepted"]:
        sure = "No candidate is accepted."
    elif interval is None:
        sure = "How many of the accepted facts are true is not known: this method gives no interval."
    else:
        low, middle, high = interval
        sure = f"Precision of the accepted facts: {Share(middle, low, high)}."
    if report["guarantee"]:
        sure += f" {describe_guarantee(report['guarantee'])}"
    became = (
        f"{report['candidates']:,} candidates; {report['judged']:,} judged, {report['judged_true']:,} of them true; "
        f"{strong}{report['accepted']:,} accepted{strong}. "
        f"The graph had {report['triples_before']:,} facts and has {report['triples_after']:,} now."
    )
    since = [tell_changes(report["since"])] if report.get("since") else []
    if report.get("answers_needed") and not (report["guarantee"] and report["guarantee"]["passed"]):
        since.insert(0, describe_needed(report["answers_needed"]))
    if "check" not in report:
        return became, sure, *since
    both = f"{strong}{report['accepted']:,} facts added, {report['check']['removed']:,} taken out{strong}."
    return both, became, sure, *tell_wrong(report["check"]), *since


def to_markdown(report: dict[str, Any]) -> str:
    """Return the report for people."""
    lines = [
        "# A graph completed",
        "",
        *([f"Next: `{report['next']}`", ""] if report.get("next") else []),
        *(line for said in headline(report, strong="**") for line in (said, "")),
        "| relation | known | candidates | judged | accepted |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, row in report["relations"].items():
        lines.append(f"| {name} | {row['known']} | {row['candidates']} | {row['judged']} | {row['accepted']} |")
    lines += _tell_evidence(report["evidence"])
    if "check" in report:
        lines += ["", "## Wrong facts", "", *to_lists(report["check"])]
    notes = report.get("notes") or []
    return "\n".join([*lines, *([""] if notes else []), *(f"- {note}" for note in notes)])


def _tell_evidence(evidence: dict[str, Any] | None) -> list[str]:
    """Say what the evidence was worth, and why some facts were accepted or asked about."""
    if evidence is None:
        return []
    share = evidence["expected_share"]
    expected = "unknown before any answer" if share is None else f"{share:.1%}, estimated from them"
    lines = [
        "",
        "## What the graph says",
        "",
        f"{evidence['holdout_facts']} holdout facts taught what each piece of evidence is worth. Share of true "
        f"candidates: {expected}. The heaviest pieces, in log-odds for one standard deviation:",
        "",
        "| piece | weight |",
        "| --- | ---: |",
    ]
    lines += [f"| {name} | {weight:+.2f} |" for name, weight in list(evidence["weights"].items())[:MOST_WEIGHTS]]
    lines += ["", "| fact | became | reasons |", "| --- | --- | --- |"]
    for example in evidence["examples"]:
        lines.append(f"| {' '.join(example['triple'])} | {example['became']} | {example['reasons']} |")
    return lines
