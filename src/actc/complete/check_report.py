"""What `actc check` leaves behind: the doubtful facts, those taken out, the graph without them, a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actc import __version__
from actc.complete.check_ask import Doubtful
from actc.data.files import read_listed, write_json, write_text, write_triples
from actc.data.pages import render
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Triples
from actc.decide.case import BY, Case
from actc.decide.decision_table import MAX_REASONS, guaranteed_precisions, write_decisions
from actc.decide.goal import WRONG_FACTS
from actc.decide.report import PageContext, describe_guarantee, describe_needed
from actc.errors import OptionError
from actc.graph.formats import read_graph
from actc.graph.graph import Graph
from actc.graph.terms import Base

MOST_SHOWN = 20
MOST_LISTED = 50_000
DOUBTFUL, REMOVED, RESTORED = "doubtful.tsv", "removed.tsv", "restored.tsv"


@dataclass(frozen=True, eq=False)
class Outcome:
    """What becomes of n facts.

    Parameters
    ----------
    facts : ScoredTriples
    wrong : float array of shape (n,)
        P(wrong) of each.
    out : bool array of shape (n,)
        Which are taken out.
    by : object array of shape (n,)
        Who decided; empty where nobody was asked.
    """

    facts: ScoredTriples
    wrong: FloatArray
    out: BoolArray
    by: NDArray[np.object_]

    @property
    def order(self) -> IntArray:
        """The rows, the most doubtful first."""
        return np.argsort(-self.wrong, kind="stable")

    def left(self, graph: Graph) -> Graph:
        """Return a graph without what is taken out."""
        return graph.take(~self.facts.take(self.out).contains(graph))


def decide_outcome(folder: Path, doubtful: Doubtful, case: Case | None) -> Outcome:
    """Decide by the case of wrong facts, without one that nothing is taken out; what was put back stays."""
    wrong, count = doubtful.probability(case), len(doubtful.facts)
    if case is None:
        return Outcome(doubtful.facts, wrong, np.zeros(count, dtype=np.bool_), np.full(count, "", dtype=object))
    out = taken_out(folder, doubtful.facts, case)
    return Outcome(doubtful.facts, wrong, out, case.decide(doubtful.facts).by)


def taken_out(folder: Path, facts: ScoredTriples, case: Case) -> BoolArray:
    """Say of doubtful facts which a case of wrong ones takes out; what was put back in a folder stays."""
    return case.decide(facts).accepted & ~restored(folder).contains(facts)


def write_lists(folder: Path, outcome: Outcome, reasons: Sequence[str]) -> list[Path]:
    """Write the most doubtful facts and those that are taken out, with their reasons; return the files."""
    order, texts = outcome.order, np.full(len(outcome.facts), "", dtype=object)
    texts[: len(reasons)] = reasons
    columns = {**outcome.facts.take(order).columns(), "probability": outcome.wrong[order].round(6), "reasons": texts}
    write_triples(folder / DOUBTFUL, {name: values[:MOST_LISTED] for name, values in columns.items()})
    taken = outcome.out[order]
    columns = {name: values[taken] for name, values in (columns | {"by": outcome.by[order]}).items()}
    write_triples(folder / REMOVED, columns)
    return [folder / name for name in (DOUBTFUL, REMOVED)]


def write_check_decisions(path: Path, case: Case | None, outcome: Outcome, doubtful: Doubtful) -> Path:
    """Write the table of all doubtful facts: ``removed`` where it is taken out, the probability of being wrong."""
    columns: dict[str, Any] = {**outcome.facts.columns(), "score": outcome.facts.scores, "removed": outcome.out}
    columns |= {"probability": outcome.wrong, "by": outcome.by}
    if case is not None:
        columns["guaranteed"] = guaranteed_precisions(replace(case, candidates=outcome.facts))
    rows = outcome.order[:MAX_REASONS]
    columns["reasons"] = doubtful.reasons.column(rows, len(outcome.facts))
    path.parent.mkdir(exist_ok=True)
    return write_decisions(path, columns, None if case is None or case.target is None else case.target.precision)


def put_back(folder: Path, facts: Path | None, base: Base) -> list[str]:
    """Note that facts which were taken out shall stay: all of them, or those of a file; say how many."""
    removed = read_listed(folder / REMOVED)
    if not len(removed):
        raise OptionError(f"--undo: {folder} holds no {REMOVED}; nothing was taken out there.")
    wanted = removed if facts is None else removed.take(read_graph(facts, base=base).contains(removed))
    if not len(wanted):
        raise OptionError(f"--undo: none of these facts is among the {len(removed)} that were taken out.")
    write_triples(folder / RESTORED, restored(folder).union(wanted).columns())
    return ["1 fact is put back." if len(wanted) == 1 else f"{len(wanted):,} facts are put back."]


def restored(folder: Path) -> Triples:
    """Return the facts that were put back in a folder."""
    return read_listed(folder / RESTORED)


def summarise(
    doubtful: Doubtful,
    case: Case | None,
    outcome: Outcome,
    whole: Graph,
    facts: dict[str, Any],
    reasons: Sequence[str],
) -> dict[str, Any]:
    """Return the report as plain values; ``facts`` is what else it should hold, ``reasons`` those of the list."""
    judged = None if case is None else case.answers_in(doubtful.facts)
    out, by, order = outcome.out, outcome.by, outcome.order[:MOST_SHOWN]
    told = zip(order.tolist(), reasons[:MOST_SHOWN], strict=True)
    return {
        "actc_version": __version__,
        "facts_before": len(whole),
        "doubtful": min(len(doubtful.facts), MOST_LISTED),
        "judged": 0 if judged is None else len(judged),
        "judged_wrong": 0 if judged is None else int(judged.labels.sum()),
        "removed": int(out.sum()),
        "removed_by": {who: int((by[out] == who).sum()) for who in BY},
        "removed_precision": None if case is None or not out.any() else case.accepted_precision,
        "share": _wrong_share(case),
        "facts_after": len(whole) - int(out.sum()),
        "guarantee": case and case.guaranteed and case.guaranteed.describe(),
        "answers_needed": None if case is None else case.needed_answers(),
        **facts,
        "most_doubtful": [
            {
                "triple": doubtful.facts.triple(row),
                "probability": round(float(outcome.wrong[row]), 4),
                "removed": bool(out[row]),
                "reasons": text,
            }
            for row, text in told
        ],
    }


def tell_reasons(
    doubtful: Doubtful, outcome: Outcome, call: Callable[[str], str] = str, most: int = MOST_LISTED
) -> list[str]:
    """Return why each fact, or each of the most doubtful, may be wrong; ``call`` says what an id is called."""
    order = outcome.order[:most]
    return doubtful.reasons.of(order, np.zeros(len(order), np.bool_), call)


def _wrong_share(case: Case | None) -> list[float] | None:
    """Return the share of wrong facts: low, middle, high; None unless answers with an inclusion probability tell it."""
    if case is None or not case.annotations.has_inclusion_probability.any() or case.estimates is None:
        return None
    share = case.estimates.overall["true_share"]  # of what is sought
    return None if share is None else [share.low, share.middle, share.high]


def headline(report: dict[str, Any]) -> list[str]:
    """Say how many facts are wrong, what became of them, how sure that is, and how large the graph is now."""
    now = [f"The graph has {report['facts_after']:,} facts now."] if report["removed"] else []
    return [*tell_wrong(report), *now]


def tell_wrong(report: dict[str, Any]) -> list[str]:
    """Say how many facts are wrong, what became of them, and how sure that is."""
    if not report["judged"]:
        return [
            f"{report['doubtful']:,} of {report['facts_before']:,} facts are listed, the most doubtful first.",
            "Nobody was asked, so nothing is taken out, and nobody knows how many are wrong.",
        ]
    lines = [
        f"{report['judged']:,} facts judged, {report['judged_wrong']:,} of them wrong; {report['removed']:,} taken out."
    ]
    if report["share"]:
        lines.append(f"Share of wrong facts in the graph: {_in_percent(report['share'], 1)}.")
    if report["removed_precision"]:
        lines.append(f"Share of wrong facts among those taken out: {_in_percent(report['removed_precision'], 0)}.")
    if report["guarantee"] and not report["guarantee"]["passed"]:
        failed = describe_guarantee(report["guarantee"], WRONG_FACTS)
        lines.append(f"{failed} {describe_needed(report['answers_needed'])}")
    return lines


def _in_percent(share: list[float], digits: int) -> str:
    low, middle, high = (f"{value:.{digits}%}" for value in share)
    return f"{middle} (90% interval: {low} to {high})"


def for_page(
    report: dict[str, Any], doubtful: Doubtful, outcome: Outcome, call: Callable[[str], str] = str
) -> dict[str, Any]:
    """Return what a page shows of wrong facts; the most doubtful ones with reasons in names, where things have some."""
    reasons = [one["reasons"] for one in report["most_doubtful"]]
    if call is not str:
        reasons = tell_reasons(doubtful, outcome, call, MOST_SHOWN)
    facts = [{**one, "reasons": text} for one, text in zip(report["most_doubtful"], reasons, strict=True)]
    return {"removed": report["removed"], "said": tell_wrong(report), "facts": facts}


def write_report(folder: Path, report: dict[str, Any], words: PageContext, wrong: dict[str, Any]) -> list[Path]:
    """Write the report, for programs and for people; ``wrong`` is what the page shows. Return the files."""
    files = [folder / "report.json", folder / "report.md", folder / "report.html"]
    page = render("check.html", name=folder.resolve().name, report=report, wrong=wrong, words=words)
    write_text(files[2], page)
    write_json(files[0], report)
    lines = ["# A graph checked", "", *(line for said in headline(report) for line in (said, ""))]
    lines += [*to_lists(report), "", *(f"- {note}" for note in report["notes"])]
    write_text(files[1], "\n".join(lines) + "\n")
    return files


def to_lists(report: dict[str, Any]) -> list[str]:
    """Return the most doubtful facts, as lines of Markdown."""
    lines = ["| most doubtful | taken out | reasons |", "| --- | --- | --- |"]
    return lines + [
        f"| {' '.join(one['triple'])} | {'yes' if one['removed'] else 'no'} | {one['reasons']} |"
        for one in report["most_doubtful"]
    ]
