"""Check a graph in one call: its doubtful facts, answers about them, the graph without the wrong ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actc import __version__
from actc.complete.candidates import CANDIDATES, Candidates
from actc.complete.config import RunConfig, as_path, defaults_of, options_of
from actc.complete.doubt import doubt_facts, probability_wrong, refuse_few
from actc.complete.earlier import RESTORED, has_answers, read_answers, store_answers
from actc.complete.oracle import (
    FileOracle,
    Finished,
    Oracle,
    annotate_command,
    ask_oracle,
    open_judged,
)
from actc.data.answers import Annotations
from actc.data.begun import Begun, alone_in
from actc.data.files import read_listed, write_triples
from actc.data.options import documented
from actc.data.pages import render
from actc.data.progress import Stage, no_stage
from actc.data.text_files import write_json, write_text
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Triples
from actc.decide.case import Case
from actc.decide.decision_table import BY, DECISIONS, MAX_REASONS, write_decisions
from actc.decide.estimate import WRONG_FACTS, Share
from actc.decide.guarantee import TargetPrecision
from actc.decide.report import describe_guarantee, describe_needed
from actc.errors import OptionError, TableError
from actc.graph.formats import as_table, find_ending, read_graph, write_graph
from actc.graph.graph import Graph
from actc.graph.terms import Base, without_literals
from actc.methods.pooled.method import EVIDENCE_METHOD, WRONG_FACTS_METHOD
from actc.session import Session
from actc.session.cases import invert_labels
from actc.session.export import name_things
from actc.session.read_names import own_labels, try_names
from actc.session.settings import SessionInputs, Settings
from actc.session.start import create_session

MOST_SHOWN = 20
MOST_LISTED = 50_000
DOUBTFUL, REMOVED = "doubtful.tsv", "removed.tsv"


@documented(options_of("wrong"), defaults_of("wrong"))
def check_graph(graph: str | Path, out: str | Path, *, stage: Stage = no_stage, **options: Any) -> Finished:
    """Find the wrong facts of a graph, as ``actc check`` does; the graph itself is not changed.

    Without an oracle people are asked: it starts an annotation session and stops. Called again in the same way when
    they have judged, it goes on from there. Removed are wrong facts with the guaranteed precision, and what people
    called wrong; with a budget of 0 and no answers nothing is.

    Parameters
    ----------
    graph, out : path
        The graph, in any format that actc reads; the folder to write to.
    stage : callable
        Called with a stage's name, for as long as it lasts: gives a function to call with steps done, steps in all.
    options
        Any of the options below, those of the command.
    """
    return run_check(RunConfig(as_path("graph", graph), as_path("out", out), "wrong", **options), stage)


def run_check(config: RunConfig, stage: Stage = no_stage) -> Finished:
    """Run a check, alone in its folder."""
    with alone_in(config.out):
        return _check(config, stage)


def _check(config: RunConfig, stage: Stage) -> Finished:
    assert config.graph is not None
    whole = read_graph(config.graph, base=config.base)
    listed = None if config.oracle is None else FileOracle.read(config.oracle, config.base)  # before long work
    try_names(config.names, config.language)
    notes = put_back(config.out, config.facts, config.base) if config.undo else []
    doubtful, summary = doubt_graph(config, whole, stage)
    case, opened, session = None, None, config.out / "session"
    if listed is not None:
        oracle, rows = listed.judge(doubtful.triples)
        earlier = read_answers(config.out).on(doubtful.triples)
        case = ask_about(doubtful.triples, oracle, rows, config.new_answers, config.target, config.seed, earlier)
        store_answers(config.out, now=invert_labels(case.annotations).about(case.pool))
    elif has_answers(session) or (config.budget and session.exists()):
        opened, before = Session(session), Begun.answered(config.out)
        budget = config.budget or max(opened.settings.budget - before, 0)
        (case,), early = open_judged(opened, budget, config.session_target, before)
        notes += early
    elif config.budget and not config.undo:
        with stage("Cards"):
            return Finished((*summary["notes"], *_create_session(config, doubtful, session)))
    with stage("Decisions"):
        checked = CheckedFacts.decide(config.out, doubtful, case)
    graph = config.out / f"graph{find_ending(config.graph)}"
    write_graph(graph, checked.remaining(whole), base=config.base)
    reasons = checked.reasons()
    files = [graph, *write_lists(config.out, checked, reasons), write_check_decisions(config.out / DECISIONS, checked)]
    report = summarise_check(checked, whole, reasons) | summary | {"notes": [*summary["notes"], *notes]}
    again = config.command(None, "--undo", "--facts", "right-after-all.tsv")
    words = name_things(opened, (again if checked.removed.any() else config.command(config.budget or 100),))
    lines = [*describe_wrong(report)]
    lines += [f"The graph has {report['facts_after']:,} facts now."] if report["removed"] else []
    files += [config.out / name for name in ("report.json", "report.md", "report.html")]
    write_json(files[-3], report)
    paragraphs = ["# A graph checked", *lines, to_table(report), "\n".join(f"- {note}" for note in report["notes"])]
    write_text(files[-2], "\n\n".join(paragraphs) + "\n")
    shown = describe_for_page(report, checked, words.name)
    page = render("check.html", name=config.out.resolve().name, report=report, wrong=shown, words=words)
    write_text(files[-1], page)
    Begun.note_answers(config.out, 0 if case is None else len(case.annotations))
    return Finished((*lines, *report["notes"], f"Written: {', '.join(map(str, files))}"), tuple(files))


def doubt_graph(config: RunConfig, whole: Graph, stage: Stage) -> tuple[Candidates, dict[str, Any]]:
    """Return the facts, the most doubtful first, with what the report has of them: the seconds, notes.

    What an earlier run into the same folder finished is not done again.
    """
    graph = without_literals(whole)
    refuse_few(graph)
    begun = Begun.open(config.out, config.inputs())
    if "doubts" in begun.done:
        return Candidates.load(config.out, graph, begun.done["doubts"]["facts"]), begun.done["doubts"]
    started = time.perf_counter()
    try:
        doubtful = doubt_facts(graph, config.seed, stage)
    except TableError as error:
        raise OptionError(str(error)) from None
    notes = list(whole.notes)
    if len(graph) < len(whole):
        notes.append(f"{len(whole) - len(graph):,} triples that end in a literal were not checked; they stay.")
    record = doubtful.save(config.out)
    summary = {"seconds": round(time.perf_counter() - started, 1), "notes": notes, "facts": record}
    begun.finish("doubts", summary)
    return doubtful, summary


def ask_about(
    facts: ScoredTriples,
    oracle: Oracle,
    judgeable: IntArray,
    budget: int,
    target: TargetPrecision | None = None,
    seed: int = 0,
    before: Annotations | None = None,
) -> Case:
    """Ask an oracle, which knows whether triples are true, about facts; return the case of wrong ones.

    ``before`` are answers of earlier runs.
    """

    def wrong(triples: ScoredTriples, rows: IntArray) -> BoolArray:
        return ~np.asarray(oracle(triples, rows))

    answers = None if before is None else invert_labels(before).about(facts)
    return ask_oracle(
        facts, wrong, judgeable, method=WRONG_FACTS_METHOD, budget=budget, seed=seed, target=target, answers=answers
    )


def _create_session(config: RunConfig, doubtful: Candidates, folder: Path) -> list[str]:
    """Make a session of the facts, in which people are asked."""
    assert config.graph is not None
    count = len(doubtful.triples)
    settings = Settings(
        EVIDENCE_METHOD,
        min(config.budget, count),
        seed=config.seed,
        title=config.title,
        precision=config.precision,
        confidence=config.confidence,
        n_facts=count,
    )
    assert doubtful.reasons is not None
    reasons = doubtful.reasons.marked(np.arange(count))
    shown = as_table(config.graph, config.base, config.out)
    names = (*own_labels(config.graph), *config.names)
    inputs = SessionInputs(names, config.language, shown, evidence=reasons)
    create_session(folder, config.out / CANDIDATES, settings, inputs).close()
    return [
        f"{count:,} facts may be asked about: the most doubtful ones, and some of every relation.",
        f"Judge {settings.budget:,} of them, whether each is true: {annotate_command(folder)}",
        "Then give the same command again: it takes out what is wrong, and writes the new graph.",
    ]


@dataclass(frozen=True, eq=False)
class CheckedFacts:
    """Doubtful facts, and what becomes of them.

    Parameters
    ----------
    doubtful : Candidates
    case : Case, optional
        Of wrong facts; None where nobody was asked.
    wrong : float array of shape (n,)
        P(wrong) of each.
    removed : bool array of shape (n,)
    by : object array of shape (n,)
        Who decided; empty where nobody was asked.
    """

    doubtful: Candidates
    case: Case | None
    wrong: FloatArray
    removed: BoolArray
    by: NDArray[np.object_]

    @classmethod
    def decide(cls, folder: Path, doubtful: Candidates, case: Case | None) -> CheckedFacts:
        """Decide by the case of wrong facts; without one nothing is removed; what was put back in the folder stays."""
        facts, count = doubtful.triples, len(doubtful.triples)
        removed, by = np.zeros(count, dtype=np.bool_), np.full(count, "", dtype=object)
        if case is not None:
            case = replace(case, candidates=facts, fitted=case.fit)
            decided = case.decisions
            removed, by = decided.accepted & ~restored(folder).contains(facts), decided.by
        return cls(doubtful, case, probability_wrong(doubtful, case), removed, by)

    @property
    def facts(self) -> ScoredTriples:
        """The facts."""
        return self.doubtful.triples

    @property
    def order(self) -> IntArray:
        """The rows, the most doubtful first."""
        return np.argsort(-self.wrong, kind="stable")

    def remaining(self, graph: Graph) -> Graph:
        """Return a graph without what is removed."""
        return graph.take(~self.facts.take(self.removed).contains(graph))

    def reasons(self, call: Callable[[str], str] = str, most: int = MOST_LISTED) -> list[str]:
        """Return why each of the most doubtful facts may be wrong; ``call`` gives the name of an id."""
        order = self.order[:most]
        assert self.doubtful.reasons is not None
        return self.doubtful.reasons.of(order, np.zeros(len(order), np.bool_), call)


def write_lists(folder: Path, checked: CheckedFacts, reasons: Sequence[str]) -> list[Path]:
    """Write the most doubtful facts and those that are removed, with their reasons; return the files."""
    order, texts = checked.order, np.full(len(checked.facts), "", dtype=object)
    texts[: len(reasons)] = reasons
    columns = {**checked.facts.take(order).columns(), "probability": checked.wrong[order].round(6), "reasons": texts}
    write_triples(folder / DOUBTFUL, {name: values[:MOST_LISTED] for name, values in columns.items()})
    removed = checked.removed[order]
    columns = {name: values[removed] for name, values in (columns | {"by": checked.by[order]}).items()}
    write_triples(folder / REMOVED, columns)
    return [folder / name for name in (DOUBTFUL, REMOVED)]


def write_check_decisions(path: Path, checked: CheckedFacts) -> Path:
    """Write the table of all doubtful facts: whether each is removed, the probability of being wrong."""
    facts, case = checked.facts, checked.case
    columns: dict[str, Any] = {**facts.columns(), "score": facts.scores, "removed": checked.removed}
    columns |= {"probability": checked.wrong, "by": checked.by}
    if case is not None:
        columns["guaranteed"] = case.guaranteed_precisions()
    assert checked.doubtful.reasons is not None
    columns["reasons"] = checked.doubtful.reasons.column(checked.order[:MAX_REASONS], len(facts))
    path.parent.mkdir(exist_ok=True)
    return write_decisions(path, columns, None if case is None or case.target is None else case.target.precision)


def put_back(folder: Path, facts: Path | None, base: Base) -> list[str]:
    """Note that facts which were removed shall stay: all of them, or those of a file; return how many in a sentence."""
    removed = read_listed(folder / REMOVED)
    if not len(removed):
        raise OptionError(f"--undo: {folder} has no {REMOVED}; nothing was taken out there.")
    wanted = removed if facts is None else removed.take(read_graph(facts, base=base).contains(removed))
    if not len(wanted):
        raise OptionError(f"--undo: none of these facts is among the {len(removed)} that were taken out.")
    write_triples(folder / RESTORED, restored(folder).union(wanted).columns())
    return ["1 fact is put back." if len(wanted) == 1 else f"{len(wanted):,} facts are put back."]


def restored(folder: Path) -> Triples:
    """Return the facts that were put back in a folder."""
    return read_listed(folder / RESTORED)


def summarise_check(checked: CheckedFacts, whole: Graph, reasons: Sequence[str]) -> dict[str, Any]:
    """Return the report as plain values; ``reasons`` are those of the list."""
    case, removed, order = checked.case, checked.removed, checked.order[:MOST_SHOWN]
    judged = None if case is None else case.answers
    shown = zip(order.tolist(), reasons[:MOST_SHOWN], strict=True)
    return {
        "actc_version": __version__,
        "facts_before": len(whole),
        "doubtful": min(len(checked.facts), MOST_LISTED),
        "judged": 0 if judged is None else len(judged),
        "judged_wrong": 0 if judged is None else int(judged.labels.sum()),
        "removed": int(removed.sum()),
        "removed_by": {who: int((checked.by[removed] == who).sum()) for who in BY},
        "removed_precision": None if case is None or not removed.any() else case.accepted_precision,
        "share": _wrong_share(case),
        "facts_after": len(whole) - int(removed.sum()),
        "guarantee": case and case.guaranteed and case.guaranteed.describe(),
        "answers_needed": None if case is None else case.needed_answers(),
        "most_doubtful": [
            {
                "triple": checked.facts.triple(row),
                "probability": round(float(checked.wrong[row]), 4),
                "removed": bool(removed[row]),
                "reasons": text,
            }
            for row, text in shown
        ],
    }


def _wrong_share(case: Case | None) -> list[float] | None:
    """Return the share of wrong facts: low, middle, high; None unless answers with an inclusion probability tell it."""
    if case is None or not case.annotations.has_inclusion_probability.any() or case.estimates is None:
        return None
    share = case.estimates.overall["true_share"]
    return None if share is None else [share.low, share.middle, share.high]


def describe_wrong(report: dict[str, Any]) -> list[str]:
    """Return in sentences how many facts are wrong, what became of them, and how sure that is."""
    if not report["judged"]:
        return [
            f"{report['doubtful']:,} of {report['facts_before']:,} facts are listed, the most doubtful first.",
            "Nobody was asked, so nothing is taken out, and nobody knows how many are wrong.",
        ]
    judged, wrong, removed = (f"{report[name]:,}" for name in ("judged", "judged_wrong", "removed"))
    lines = [f"{judged} facts judged, {wrong} of them wrong; {removed} taken out."]
    for name, what in (("share", "in the graph"), ("removed_precision", "among those taken out")):
        if report[name]:
            low, middle, high = report[name]
            lines.append(f"Share of wrong facts {what}: {Share(middle, low, high)}.")
    if report["guarantee"] and not report["guarantee"]["passed"]:
        failed = describe_guarantee(report["guarantee"], WRONG_FACTS)
        lines.append(f"{failed} {describe_needed(report['answers_needed'])}")
    return lines


def describe_for_page(report: dict[str, Any], checked: CheckedFacts, call: Callable[[str], str]) -> dict[str, Any]:
    """Return what a page shows of wrong facts; the most doubtful ones with reasons in names."""
    reasons = [one["reasons"] for one in report["most_doubtful"]]
    if call is not str:
        reasons = checked.reasons(call, MOST_SHOWN)
    facts = [{**one, "reasons": text} for one, text in zip(report["most_doubtful"], reasons, strict=True)]
    return {"removed": report["removed"], "sentences": describe_wrong(report), "facts": facts}


def to_table(report: dict[str, Any]) -> str:
    """Return the most doubtful facts as a table of Markdown."""
    rows = (
        f"| {' '.join(one['triple'])} | {'yes' if one['removed'] else 'no'} | {one['reasons']} |"
        for one in report["most_doubtful"]
    )
    return "\n".join(["| most doubtful | taken out | reasons |", "| --- | --- | --- |", *rows])
