"""Check a graph in one call: its doubtful facts, answers about them, the graph without the wrong ones."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from actc.complete.check_ask import POOL, Doubtful, ask_about, find_doubtful
from actc.complete.check_doubt import doubt_facts, refuse_few
from actc.complete.check_report import (
    decide_outcome,
    for_page,
    headline,
    put_back,
    summarise,
    tell_reasons,
    write_check_decisions,
    write_lists,
    write_report,
)
from actc.complete.plan import RunConfig, documented
from actc.data.begun import Begun, alone_in
from actc.decide.decision_table import DECISIONS
from actc.errors import OptionError, TableError
from actc.graph.formats import as_table, find_ending, read_graph, write_graph
from actc.graph.graph import Graph
from actc.graph.terms import without_literals
from actc.methods.pooled.method import EVIDENCE_METHOD
from actc.session import Session
from actc.session.oracle import FileOracle, Finished, Stage, annotate_command, no_stage, open_judged
from actc.session.read_names import own_labels, try_names
from actc.session.report import name_things
from actc.session.settings import Settings
from actc.session.start import create_session


@documented("wrong")
def check_graph(graph: str | Path, out: str | Path, *, stage: Stage = no_stage, **options: Any) -> Finished:
    """Find the wrong facts of a graph, as ``actc check`` does; the graph itself is not changed.

    Without an oracle people are asked: it starts an annotation session and stops. Called again in the same way when
    they have judged, it goes on from there. What is taken out are wrong facts with the guaranteed precision, and what
    people called wrong; with a budget of 0 nothing is.

    Parameters
    ----------
    graph, out : path
        The graph, in any format that actc reads; the folder to write to.
    stage : callable
        Called with a stage's name, for as long as it lasts: gives a function to tell steps done, steps in all.
    options
        Any of the options below, those of the command.
    """
    return run_check(RunConfig(Path(graph), Path(out), "wrong", **options), stage)


def run_check(plan: RunConfig, stage: Stage = no_stage) -> Finished:
    """Do what a plan says, alone in its folder."""
    with alone_in(plan.out):
        return _check(plan, stage)


def _check(plan: RunConfig, stage: Stage) -> Finished:
    whole = read_graph(plan.graph, base=plan.base)
    listed = (
        FileOracle.read(plan.oracle, plan.base) if plan.oracle is not None and plan.budget else None
    )  # before long work
    try_names(plan.names, plan.language)
    told = put_back(plan.out, plan.facts, plan.base) if plan.undo else []
    doubtful, left = find_doubts(plan, whole, stage)
    case, opened, session = None, None, plan.out / "session"
    if listed is not None:
        oracle, rows = listed.judge(doubtful.facts)
        case = ask_about(doubtful.facts, oracle, rows, plan.budget, plan.target, plan.seed)
    elif plan.budget and not session.exists() and not plan.undo:
        return Finished((*left["notes"], *_create_session(plan, doubtful, session)))
    elif plan.budget and session.exists():
        opened = Session(session)
        (case,), early = open_judged(opened, plan.budget, plan.target)
        told += early
    outcome = decide_outcome(plan.out, doubtful, case)
    graph = plan.out / f"graph{find_ending(plan.graph)}"
    write_graph(graph, outcome.left(whole), base=plan.base)
    reasons = tell_reasons(doubtful, outcome)
    files = [graph, *write_lists(plan.out, outcome, reasons)]
    files.append(write_check_decisions(plan.out / DECISIONS, case, outcome, doubtful))
    left = {**left, "notes": [*left["notes"], *told]}
    report = summarise(doubtful, case, outcome, whole, left, reasons)
    again = plan.command(None, "--undo", "--facts", "right-after-all.tsv")
    commands = (again if outcome.out.any() else plan.command(2 * plan.budget or 100),)
    words = name_things(opened, commands)
    files += write_report(plan.out, report, words, for_page(report, doubtful, outcome, words.name))
    return Finished((*headline(report), *report["notes"], f"Written: {', '.join(map(str, files))}"), tuple(files))


def find_doubts(plan: RunConfig, whole: Graph, stage: Stage) -> tuple[Doubtful, dict[str, Any]]:
    """Doubt every fact; return the facts, the most doubtful first, and what is to be said of them.

    What an earlier run into the same folder finished is not done again.
    """
    graph = without_literals(whole)
    refuse_few(graph)
    begun = Begun.open(plan.out, plan.asked)
    if "doubts" in begun.done:
        return Doubtful.load(plan.out, graph), begun.done["doubts"]
    started = time.perf_counter()
    with stage("Evidence") as advance:
        try:
            doubts = doubt_facts(graph, plan.seed, lambda done, total, name: advance(1, total))
        except TableError as error:
            raise OptionError(str(error)) from None
        doubtful = find_doubtful(doubts)
    doubtful.save(plan.out)
    notes = list(whole.notes)
    if len(graph) < len(whole):
        notes.append(f"{len(whole) - len(graph):,} triples that end in a literal were not checked; they stay.")
    left = {
        "seconds": round(time.perf_counter() - started, 1),
        "notes": notes,
    }
    begun.finish("doubts", left)
    return doubtful, left


def _create_session(plan: RunConfig, doubtful: Doubtful, folder: Path) -> list[str]:
    """Make a session of the facts, in which people are asked."""
    title = plan.graph.name.partition(".")[0]
    budget = min(plan.budget, len(doubtful.facts))
    settings = Settings(
        EVIDENCE_METHOD,
        budget,
        seed=plan.seed,
        title=title,
        precision=plan.precision,
        confidence=plan.confidence,
        n_facts=len(doubtful.facts),
    )
    reasons = doubtful.reasons.marked(np.arange(len(doubtful.facts)))
    shown = as_table(plan.graph, plan.base, plan.out)
    names = (*own_labels(plan.graph), *plan.names)
    create_session(folder, plan.out / POOL, settings, names, shown, plan.language, reasons=reasons).close()
    return [
        f"{len(doubtful.facts):,} facts may be asked about: the most doubtful ones, and some of every relation.",
        f"Judge {budget:,} of them, whether each is true: {annotate_command(folder)}",
        "Then give the same command again: it takes out what is wrong, and writes the new graph.",
    ]
