"""The files of a completion: the new graph, the accepted facts with their provenance, the report and its page."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actc import __version__
from actc.complete.answers import ACCEPTED, NO_ANSWERS, UNDECIDED, describe_changes, find_undecided
from actc.complete.candidates import CANDIDATES, Candidates
from actc.complete.check import CheckedFacts, describe_wrong
from actc.complete.config import CHECK, Finished, RunConfig
from actc.data.answers import Answers
from actc.data.calibration import Sources
from actc.data.files import in_one_line, write_triples
from actc.data.frames import TRIPLE
from actc.data.text_files import render, write_json, write_text
from actc.data.triples import IntArray, Triples
from actc.decide.calibrate import describe_calibration, write_sources
from actc.decide.case import Case
from actc.decide.decision_table import BY, DECISIONS, ORACLE, rows_to_explain, write_decisions
from actc.decide.estimate import Share
from actc.decide.report import count_excluded, describe_guarantee, describe_needed, make_report, write_page
from actc.graph.formats import FORMATS, find_ending, find_format, write_graph
from actc.graph.graph import Graph
from actc.session import Session
from actc.session.export import name_things

MOST_SHOWN = 10
REJECTED, PAGE = "rejected.tsv", "report.html"
OF_RULES = ("rule_confidence", "rules")
"""Columns of candidates that no list of facts repeats."""


@dataclass(frozen=True, eq=False)
class AddedFacts:
    """What becomes of candidates, and the graph that the accepted ones are added to.

    Parameters
    ----------
    case : Case
    graph : Graph
        As it was, without what is removed.
    candidates : Candidates
        Their further columns and their reasons stand beside the decisions.
    called : Answers
        Facts that were called true though nobody proposed them.
    """

    case: Case
    graph: Graph
    candidates: Candidates
    called: Answers = NO_ANSWERS

    @cached_property
    def rows(self) -> IntArray:
        """The rows of the accepted triples that the graph does not hold."""
        rows = np.flatnonzero(self.case.decisions.accepted)
        return rows[~self.graph.contains(self.case.candidates.take(rows))]

    @property
    def called_by(self) -> NDArray[np.object_]:
        """Who called each fact true that nobody proposed: an oracle, or a person."""
        return np.where(self.called.who == ORACLE, ORACLE, "person").astype(object)

    def provenance(self, rows: IntArray) -> dict[str, Any]:
        """Return the columns of decided triples: score, probability, threshold, method, date, who decided."""
        case, decided = self.case, self.case.decisions
        p = np.full(len(rows), np.nan) if decided.probability is None else decided.probability[rows]
        return {
            "score": case.candidates.scores[rows],
            "probability": p.round(4),
            "threshold": case.thresholds.of(case.candidates)[rows],
            "method": np.full(len(rows), str(case.method), dtype=object),
            "date": np.full(len(rows), datetime.now(UTC).date().isoformat(), dtype=object),
            "by": decided.by[rows],
        }

    def _with_called(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Add the facts that were called true though nobody proposed them to a table of decisions."""
        if not len(self.called):
            return columns
        own = {
            **self.called.triples.columns(),
            **dict.fromkeys(("accepted", "without_guarantee"), True),
            **dict.fromkeys(("probability", "guaranteed"), 1.0),
            "support": 0,
            "method": str(self.case.method),
            "date": datetime.now(UTC).date().isoformat(),
            "by": self.called_by,
        }
        empty = {name: "" if column.dtype.kind == "O" else np.nan for name, column in columns.items()} | own
        return {name: np.append(one, np.full(len(self.called), empty[name])) for name, one in columns.items()}

    def write(self, config: RunConfig, session: Session | None) -> list[Path]:
        """Write the graph, the decided candidates and the thresholds into the folder of a run; return the files."""
        folder, case, graph = config.out, self.case, self.graph
        ending = ".tsv" if config.graph is None else find_ending(config.graph)
        files = [folder / name for name in (f"graph{ending}", ACCEPTED, "thresholds.json")]
        # Nobody knows anything of the graph's own triples, so only the new ones carry that a heuristic made them.
        quick = find_format(files[0]) is FORMATS["quickstatements"]
        provenance = self._with_called(self.provenance(self.rows)) if quick else {}
        extras = {name: np.append(np.full(len(graph), None), one.astype(object)) for name, one in provenance.items()}
        added = case.candidates.take(self.rows).plain().followed_by(self.called.triples)
        write_graph(files[0], Graph.of(graph.union(added)), base=config.base, extras=extras)
        self._write_list(files[1], self.rows, True)
        describe_calibration(case, self._write_sources(folder, session)).write(files[2])
        new, decided = ~graph.contains(case.candidates), case.decision_columns()
        if config.candidates is not None:
            decided |= self.candidates.triples.further
            files.append(folder / REJECTED)
            self._write_list(files[-1], np.flatnonzero(~case.decisions.accepted & new), False)
        self._write_list(folder / UNDECIDED, find_undecided(case), None)
        if self.candidates.reasons is not None:
            decided["reasons"] = self.candidates.reasons.column(rows_to_explain(decided), len(case.candidates))
        decided = self._with_called({name: column[new] for name, column in decided.items()})
        files.append(folder / DECISIONS)
        write_decisions(files[-1], decided, None if case.target is None else case.target.precision)
        if len(case.constraints):
            files.append(folder / "excluded.tsv")
            write_triples(files[-1], case.decisions.excluded_columns(case.facts))
        return files

    def _write_list(self, path: Path, rows: IntArray, accepted: bool | None) -> None:
        """Write decided candidates with their further columns, and reasons where they were accepted or rejected."""
        columns, reasons = self.case.candidates.take(rows).columns() | self.provenance(rows), self.candidates.reasons
        if accepted is None:
            columns = {name: columns[name] for name in ("head", "relation", "tail", "score", "probability")}
        hidden = OF_RULES if accepted is not None else (*OF_RULES, "rule")
        for name, values in self.candidates.triples.further.items():
            if name not in hidden:
                columns[name] = in_one_line(values[rows])
        if reasons is not None and accepted is not None:
            columns["reasons"] = np.array(reasons.of(rows, np.full(len(rows), accepted)), dtype=object)
        write_triples(path, self._with_called(columns) if accepted else columns)

    def _write_sources(self, folder: Path, session: Session | None) -> Sources:
        """Return what the thresholds rest on, all of it within the folder."""
        case = self.case
        if session is not None:
            sources = Sources(session=session.folder)
        else:
            sources = write_sources(folder, case, scores="pool.parquet", labels="judged.parquet", known=None)
        if case.facts is not None:
            write_triples(folder / "facts.parquet", case.facts.columns())
            sources = replace(sources, graph=(folder / "facts.parquet").resolve())
        return replace(sources, candidates=(folder / CANDIDATES).resolve())

    def write_page(
        self, config: RunConfig, session: Session | None, wrong: dict[str, Any] | None
    ) -> tuple[list[Path], str]:
        """Write the page, where the method gives probabilities; return it, and what to run next.

        ``wrong`` is what the page shows of wrong facts, where the graph was checked.
        """
        case, page, reasons = self.case, config.out / PAGE, self.candidates.reasons
        accepted, part = (shlex.quote(str(config.out / name)) for name in (ACCEPTED, "slice.tsv"))
        audit = f"actc audit {accepted} --count 100 --out {part}"
        if case.estimates is None:
            return [], audit
        report, more = make_report(case), config.command(config.budget or 100)
        commands: tuple[str, ...] = (audit,)
        if not len(case.annotations) or (case.guaranteed is not None and not case.guaranteed.passed):
            commands = (more,) if session is None else (config.annotate, more)
        words = replace(name_things(session, commands), wrong=wrong)
        if reasons is not None:
            questions = case.candidates.find(*([one[name] for one in report.ask_next] for name in TRIPLE))
            sure = np.flatnonzero(case.decisions.accepted & (case.decisions.by == "method"))
            sure = sure[np.argsort(-case.candidates.scores[sure], kind="stable")]
            rows = sure if len(sure) <= MOST_SHOWN else np.append(sure[: MOST_SHOWN // 2], sure[-(MOST_SHOWN // 2) :])
            both = np.append(questions, rows)
            texts = reasons.of(both, case.decisions.accepted[both], words.name)
            triples = [case.candidates.triple(row) for row in both.tolist()]
            words = replace(
                words, reasons=dict(zip(triples, texts, strict=True)), accepted=tuple(triples[len(questions) :])
            )
        write_page(report, page, words)
        return [page], " && ".join(commands)

    def summarise(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Return the report as plain values; its numbers of accepted facts are about the rows of accepted.tsv.

        ``facts`` are what else the report should have: the model, the seconds, the notes of reading.
        """
        case, candidates, called, rows = self.case, self.case.candidates, self.called, self.rows
        judged, by = case.answers, np.append(case.decisions.by[rows], self.called_by)
        added = candidates.take(rows).plain().followed_by(called.triples)
        tables = {
            "known": self.graph,
            "candidates": candidates,
            "judged": candidates.take(judged.rows),
            "accepted": added,
        }
        counts = {name: _count_relations(triples) for name, triples in tables.items()}
        removed, reasons = facts.get("check", {}).get("removed", 0), self.candidates.reasons
        return {
            "actc_version": __version__,
            "method": str(case.method),
            "triples_before": len(self.graph) + removed,
            "candidates": len(candidates),
            "judged": len(judged),
            "judged_true": int(judged.labels.sum()),
            "accepted": len(by),
            "accepted_by": {who: int((by == who).sum()) for who in BY},
            "called_true": len(called),
            "constraints": count_excluded(case) if len(case.constraints) else None,
            "triples_after": len(self.graph) + len(by),
            "accepted_precision": case.accepted_precision,
            "guarantee": case.guaranteed and case.guaranteed.describe(),
            "answers_needed": None if case.estimates is None else case.needed_answers(),
            **facts,
            "evidence": None if reasons is None else reasons.describe(),
            "relations": {
                relation: {name: of[relation] for name, of in counts.items()}
                for relation in sorted(sum(counts.values(), Counter()))
            },
        }


def _count_relations(triples: Triples) -> Counter[str]:
    counts = np.bincount(triples.relations, minlength=len(triples.relation_names)).tolist()
    return Counter(dict(zip(triples.relation_names, counts, strict=True)))


def headline(report: dict[str, Any]) -> list[str]:
    """Return in a few sentences what became of the candidates, and the precision of the accepted facts."""
    interval = report["accepted_precision"]
    if not report["accepted"]:
        sure = "No candidate is accepted."
    elif interval is None:
        sure = "Precision of the accepted facts: unknown, as this method gives no interval."
    else:
        sure = f"Precision of the accepted facts: {Share(*interval)}."
    if report["guarantee"]:
        sure += f" {describe_guarantee(report['guarantee'])}"
    lines = [
        f"{report['candidates']:,} candidates; {report['judged']:,} judged, {report['judged_true']:,} of them true; "
        f"{report['accepted']:,} accepted. The graph had {report['triples_before']:,} facts and has "
        f"{report['triples_after']:,} now.",
        sure,
    ]
    if "check" in report:
        both = f"{report['accepted']:,} facts added, {report['check']['removed']:,} taken out."
        lines = [both, *lines, *describe_wrong(report["check"])]
    if report["answers_needed"] is not None and not (report["guarantee"] and report["guarantee"]["passed"]):
        lines.append(describe_needed(report["answers_needed"]))
    return lines + ([describe_changes(report["since"])] if report["since"] else [])


def write_report(
    config: RunConfig,
    added: AddedFacts,
    checked: CheckedFacts | None,
    session: Session | None,
    facts: dict[str, Any],
    written: list[Path],
) -> Finished:
    """Write the lists of wrong facts, the page, and the report for programs and for people.

    ``facts`` are what else the report should have: the seconds, the notes, what changed.
    """
    files, wrong = [config.out / "report.json", config.out / "report.md"], None
    facts |= {"model": {} if config.model is None else {"folder": str(config.model)}}
    if checked is not None:
        files += checked.write(config.out, config.out / CHECK / DECISIONS)
        facts["check"] = checked.summarise(len(added.graph) + int(checked.columns["removed"].sum()))
        wrong = checked.on_page(facts["check"], name_things(session, ()).name)
        wrong["added"] = len(added.rows) + len(added.called)
    page, command = added.write_page(config, session, wrong)
    report = added.summarise(facts | {"next": command})
    if config.candidates is not None and report["evidence"] is not None:
        report["evidence"]["expected_share"] = None  # the holdout is no measure of candidates that somebody chose
    write_json(files[0], report)
    lines = headline(report)
    title = "A graph completed"
    write_text(files[1], render("report.md", title=title, lines=lines, report=report, wrong=report.get("check")))
    return Finished.written([*lines, *facts["notes"]], [*written, *files, *page], f"Next: {command}")
