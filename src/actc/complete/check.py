"""Wrong facts: which are taken out of a graph, the files that name them, the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actc import __version__
from actc.complete.answers import RESTORED
from actc.complete.candidates import Candidates
from actc.complete.config import Finished, RunConfig
from actc.complete.doubt import probability_wrong
from actc.data.files import read_list, write_triples
from actc.data.text_files import render, write_json, write_text
from actc.data.triples import IntArray, ScoredTriples
from actc.decide.case import Case
from actc.decide.decision_table import BY, DECISIONS, MAX_REASONS, write_decisions
from actc.decide.estimate import WRONG_FACTS, Share
from actc.decide.report import describe_guarantee, describe_needed
from actc.errors import OptionError
from actc.graph.formats import find_ending, read_graph, write_graph
from actc.graph.graph import Graph
from actc.session import Session
from actc.session.export import name_things

MOST_SHOWN = 20
MOST_IN_FILE = 50_000
DOUBTFUL, REMOVED = "doubtful.tsv", "removed.tsv"


@dataclass(frozen=True, eq=False)
class CheckedFacts:
    """Doubtful facts, and what becomes of them.

    Parameters
    ----------
    facts : ScoredTriples
        Of N rows, the most doubtful first.
    columns : dict of arrays of shape (N,)
        ``removed``; ``probability``, that each is wrong; ``by``, who decided, empty where nobody has answered;
        ``guaranteed``, where there are answers: the precision under whose guarantee it is removed.
    case : Case, optional
        Of wrong facts; None where nobody has answered.
    candidates : Candidates
        The facts before any answer, with their reasons.
    rows : int array of shape (N,)
        The row of each among the candidates.
    """

    facts: ScoredTriples
    columns: dict[str, NDArray[Any]]
    case: Case | None
    candidates: Candidates
    rows: IntArray

    @classmethod
    def decide(cls, folder: Path, doubtful: Candidates, case: Case | None) -> CheckedFacts:
        """Decide by the case of wrong facts; without one nothing is removed; what was put back in the folder stays."""
        facts, p = doubtful.scored, probability_wrong(doubtful, case)
        columns = {"removed": np.zeros(len(p), np.bool_), "probability": p, "by": np.full(len(p), "", dtype=object)}
        if case is not None:
            case = replace(case, candidates=facts, fitted=case.fit)
            removed = case.decisions.accepted & ~read_list(folder / RESTORED).contains(facts)
            columns |= {"removed": removed, "by": case.decisions.by, "guaranteed": case.guaranteed_precisions()}
        rows = np.argsort(-p, kind="stable")
        columns = {name: column[rows] for name, column in columns.items()}
        return cls(facts.take(rows), columns, case, doubtful, rows)

    @cached_property
    def reasons(self) -> list[str]:
        """Why each of the most doubtful facts may be wrong."""
        return self.reasons_of(MOST_IN_FILE)

    def reasons_of(self, most: int, name: Callable[[str], str] = str) -> list[str]:
        """Return why each of the most doubtful facts may be wrong; ``name`` gives the name of an id."""
        assert self.candidates.reasons is not None
        rows = self.rows[:most]
        return self.candidates.reasons.of(rows, np.zeros(len(rows), np.bool_), name)

    def remaining(self, graph: Graph) -> Graph:
        """Return a graph without what is removed."""
        return graph.take(~self.facts.take(self.columns["removed"]).contains(graph))

    def write(self, folder: Path, decisions: Path) -> list[Path]:
        """Write the most doubtful facts, those that are removed, and the decisions on all; return the files."""
        assert self.candidates.reasons is not None
        facts, removed, count = self.facts, self.columns["removed"], len(self.facts)
        texts = np.array([*self.reasons, *[""] * (count - len(self.reasons))], dtype=object)
        columns = {**facts.columns(), "probability": self.columns["probability"].round(6), "reasons": texts}
        write_triples(folder / DOUBTFUL, {name: values[:MOST_IN_FILE] for name, values in columns.items()})
        columns["by"] = self.columns["by"]
        write_triples(folder / REMOVED, {name: values[removed] for name, values in columns.items()})
        marked = self.candidates.reasons.column(self.rows[:MAX_REASONS], count)[self.rows]
        table = {**facts.table_columns(), **self.columns, "reasons": marked}
        target = None if self.case is None else self.case.target
        decisions.parent.mkdir(exist_ok=True)
        write_decisions(decisions, table, None if target is None else target.precision)
        return [folder / DOUBTFUL, folder / REMOVED, decisions]

    def summarise(self, facts_before: int) -> dict[str, Any]:
        """Return the report as plain values."""
        case, removed, by = self.case, self.columns["removed"], self.columns["by"]
        judged = np.zeros(0, np.bool_) if case is None else case.answers.labels
        share = None  # of wrong facts, which only answers with an inclusion probability show
        if case is not None and case.estimates is not None and case.annotations.has_inclusion_probability.any():
            share = case.estimates.overall["true_share"]
        return {
            "actc_version": __version__,
            "facts_before": facts_before,
            "doubtful": min(len(self.facts), MOST_IN_FILE),
            "judged": len(judged),
            "judged_wrong": int(judged.sum()),
            "removed": int(removed.sum()),
            "removed_by": {who: int((by[removed] == who).sum()) for who in BY},
            "removed_precision": None if case is None or not removed.any() else case.accepted_precision,
            "share": None if share is None else [*vars(share).values()],
            "facts_after": facts_before - int(removed.sum()),
            "guarantee": case and case.guaranteed and case.guaranteed.describe(),
            "answers_needed": None if case is None else case.needed_answers(),
            "most_doubtful": [
                {
                    "triple": self.facts.triple(row),
                    "probability": round(float(self.columns["probability"][row]), 4),
                    "removed": bool(removed[row]),
                    "reasons": text,
                }
                for row, text in enumerate(self.reasons[:MOST_SHOWN])
            ],
        }

    def on_page(self, report: dict[str, Any], name: Callable[[str], str]) -> dict[str, Any]:
        """Return what a page shows of wrong facts; the most doubtful ones with reasons in names."""
        reasons = self.reasons_of(MOST_SHOWN, name)
        facts = [{**one, "reasons": text} for one, text in zip(report["most_doubtful"], reasons, strict=False)]
        return {"removed": report["removed"], "sentences": describe_wrong(report), "facts": facts}


def write_check(
    config: RunConfig, checked: CheckedFacts, whole: Graph, session: Session | None, facts: dict[str, Any]
) -> Finished:
    """Write what a check decided into its folder: the graph, the lists, the report.

    ``facts`` are what else the report should have: the seconds, the notes.
    """
    assert config.graph is not None
    folder, report = config.out, checked.summarise(len(whole)) | facts
    graph = folder / f"graph{find_ending(config.graph)}"
    write_graph(graph, checked.remaining(whole), base=config.base)
    files = [graph, *checked.write(folder, folder / DECISIONS)]
    files += [folder / name for name in ("report.json", "report.md", "report.html")]
    lines = describe_wrong(report)
    lines += [f"The graph has {report['facts_after']:,} facts now."] if report["removed"] else []
    write_json(files[-3], report)
    write_text(files[-2], render("report.md", title="A graph checked", lines=lines, report=report, wrong=report))
    undo = config.command(None, "--undo", "right-after-all.tsv")
    words = name_things(session, (undo if report["removed"] else config.command(config.budget or 100),))
    wrong = checked.on_page(report, words.name)
    write_text(files[-1], render("check.html", name=folder.resolve().name, report=report, wrong=wrong, words=words))
    return Finished.written([*lines, *report["notes"]], files)


def put_back(config: RunConfig) -> list[str]:
    """Note that facts which were removed shall stay: all of them, or those of a file; return how many in a sentence."""
    folder = config.out
    removed, restored = read_list(folder / REMOVED), read_list(folder / RESTORED)
    if not len(removed):
        raise OptionError(f"--undo: {folder} has no {REMOVED}; nothing was taken out there.")
    if config.facts is not None:
        count, removed = len(removed), removed.take(read_graph(config.facts, base=config.base).contains(removed))
        if not len(removed):
            raise OptionError(f"--undo: none of these facts is among the {count} that were taken out.")
    write_triples(folder / RESTORED, restored.union(removed).columns())
    return ["1 fact is put back." if len(removed) == 1 else f"{len(removed):,} facts are put back."]


def describe_wrong(report: dict[str, Any]) -> list[str]:
    """Return in sentences how many facts are wrong, what became of them, and how sure that is."""
    if not report["judged"]:
        return [
            f"{report['doubtful']:,} of {report['facts_before']:,} facts are in the list, the most doubtful first.",
            "Nobody has judged one, so nothing is taken out, and nobody knows how many are wrong.",
        ]
    judged, wrong, removed = (f"{report[name]:,}" for name in ("judged", "judged_wrong", "removed"))
    lines = [f"{judged} facts judged, {wrong} of them wrong; {removed} taken out."]
    for name, what in (("share", "in the graph"), ("removed_precision", "among those taken out")):
        if report[name]:
            lines.append(f"Share of wrong facts {what}: {Share(*report[name])}.")
    if report["guarantee"] and not report["guarantee"]["passed"]:
        failed = describe_guarantee(report["guarantee"], WRONG_FACTS)
        lines.append(f"{failed} {describe_needed(report['answers_needed'])}")
    return lines
