"""The whole way in one call: a graph in, a better graph out."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from actc.complete.check_ask import Doubtful, ask_about
from actc.complete.check_report import (
    decide_outcome,
    for_page,
    put_back,
    tell_reasons,
    write_check_decisions,
    write_lists,
)
from actc.complete.check_report import summarise as summarise_check
from actc.complete.check_run import find_doubts
from actc.complete.earlier import (
    ACCEPTED,
    ANSWERS,
    Earlier,
    compare,
    keep_answers,
    read_answers,
    write_undecided,
)
from actc.complete.open_case import CHECK, as_decided, new_facts
from actc.complete.page import write_next_page
from actc.complete.plan import RunConfig, documented
from actc.complete.prepare import Ready, prepare
from actc.complete.report import headline, summarise, write_completion, write_report
from actc.data.answers import Answers
from actc.data.begun import Begun, alone_in, fingerprint
from actc.data.constraints import Constraints
from actc.data.files import read_listed, write_scored, write_triples
from actc.data.triples import BoolArray, IntArray, ScoredTriples, Triples
from actc.decide.case import ORACLE, Case
from actc.decide.decision_table import DECISIONS, count_excluded, describe_excluded
from actc.decide.find_constraints import constraints_from
from actc.errors import FileError, OptionError
from actc.graph.formats import as_table, find_ending, read_graph
from actc.graph.graph import Graph
from actc.methods.pooled.method import WRONG_FACTS_METHOD
from actc.session import Session
from actc.session.cases import Opened, invert_labels
from actc.session.oracle import (
    FileOracle,
    Finished,
    Oracle,
    Stage,
    annotate_command,
    ask_oracle,
    no_stage,
    open_judged,
    session_state,
    split_pool,
)
from actc.session.read_names import own_labels, try_names
from actc.session.report import name_things
from actc.session.settings import Settings
from actc.session.start import create_session


@documented("missing")
def complete_graph(graph: str | Path, out: str | Path, *, stage: Stage = no_stage, **options: Any) -> Finished:
    """Go the whole way from a graph to a better graph, as ``actc complete`` does.

    Without an oracle people are asked: it starts an annotation session and stops. Called again in the same way when
    they have judged, it goes on from there. Called with the same folder and another graph, model or candidates, it uses
    the answers again and says what changed.

    Parameters
    ----------
    graph, out : path
        The graph, in any format that actc reads; the folder to write to.
    stage : callable
        Called with a stage's name, for as long as it lasts: gives a function to tell steps done, steps in all.
    options
        Any of the options below, those of the command.
    """
    return run_completion(RunConfig(Path(graph), Path(out), **options), stage)


def run_completion(plan: RunConfig, stage: Stage = no_stage) -> Finished:
    """Do what a plan says, alone in its folder."""
    with alone_in(plan.out):
        return _complete(plan, stage)


def _complete(plan: RunConfig, stage: Stage) -> Finished:
    started = time.perf_counter()
    if plan.if_changed and is_unchanged(plan):
        return Finished((f"Nothing is new since the last run: {plan.out} stays as it is.",))
    whole = read_graph(plan.graph, base=plan.base)
    rules = constraints_from(plan.constraints, whole, plan.base).used  # refused before long work, like the oracle
    oracle = None if plan.oracle is None else FileOracle.read(plan.oracle, plan.base)
    try_names(plan.names, plan.language)
    notes = put_back(plan.out, plan.facts, plan.base) if plan.undo else []
    ready, session = prepare(plan, whole, stage), plan.out / "session"
    doubts, doubted = find_doubts(plan.checking, whole, stage) if plan.check else (None, {})
    notes += [*ready.left["notes"], *rules.notes]
    if plan.oracle is None and plan.budget > 0:
        if not session.exists():
            told = _create_session(plan, ready, session, rules, whole, doubts)
            _note_state(plan)
            return Finished((*notes, *told))
        opened, wrong, told = _open_session(session, plan, ready)
        keep_answers(plan.out, ready.earlier.answers, _said_in(opened, wrong))
    else:
        opened, wrong, told = _ask_oracle(plan, oracle, ready, rules, doubts)
    outcome = None if doubts is None else decide_outcome(plan.out, doubts, wrong)
    left = whole if outcome is None else outcome.left(whole)
    words = read_answers(plan.out)
    opened = replace(opened, case=as_decided(opened.case, left, words))
    listed = _called_true(oracle, opened.case.candidates, whole)
    notes += [
        *told,
        *ready.earlier.tell(opened.case, whole),
        *listed[1],
        *(describe_excluded(count_excluded(opened.case)) if len(opened.case.constraints) else []),
    ]
    called = words.called_true(opened.case.candidates, left).plus(listed[0])
    notes += [f"{len(called):,} more facts are called true though nobody proposed them."] if len(called) else []
    name = f"graph{find_ending(plan.graph)}"
    files = write_completion(plan.out, opened, left, name, plan.base, ready.beside, ready.reasons, called)
    seconds = ready.seconds + time.perf_counter() - started
    said = {
        "model": {} if plan.model is None else {"folder": str(plan.model)},
        "model_pays": ready.left["pays"],
        "seconds": round(seconds, 1),
        "notes": notes,
    }
    said["since"] = _compare(plan.out, ready.earlier, opened.case, whole, words)
    shown = None
    if doubts is not None and outcome is not None:
        reasons = tell_reasons(doubts, outcome)
        files += write_lists(plan.out, outcome, reasons)
        files.append(write_check_decisions(plan.out / CHECK / DECISIONS, wrong, outcome, doubts))
        said["check"] = summarise_check(doubts, wrong, outcome, whole, doubted, reasons)
        shown = for_page(said["check"], doubts, outcome, name_things(opened.session, ()).name)
        shown["added"] = len(new_facts(opened.case, left)) + len(called)
    page, command = write_next_page(plan, opened, files[2], ready.reasons, shown)
    report = summarise(opened.case, left, said, ready.reasons, called)
    if plan.candidates is not None and report["evidence"] is not None:
        report["evidence"]["expected_share"] = None  # the holdout says little of candidates that somebody chose
    files += [*page, *write_report(plan.out, {**report, "next": command})]
    _note_state(plan, opened.session)
    written = f"Written: {', '.join(map(str, files))}"
    return Finished((*headline(report), *notes, written, f"Next: {command}"), tuple(files))


def is_unchanged(plan: RunConfig) -> bool:
    """Say whether the last run into the folder was asked the same, and nobody has said anything since."""
    begun = Begun.peek(plan.out)
    return begun is not None and begun.asked == plan.asked and begun.done.get("state") == _state(plan)


def _note_state(plan: RunConfig, session: Session | None = None) -> None:
    """Write down what the files in the folder rest on, once they are all there."""
    begun = Begun.peek(plan.out)
    assert begun is not None
    begun.finish("state", _state(plan, session))


def _state(plan: RunConfig, session: Session | None = None) -> dict[str, Any]:
    """Return, as JSON has it, what decisions depend on besides the candidates: wishes, and what was said."""
    folder = plan.out / "session"
    if plan.oracle is not None or not folder.exists():
        return plan.wishes
    words = {"words": fingerprint(plan.out / ANSWERS) if (plan.out / ANSWERS).exists() else None}
    if session is not None:
        return {**plan.wishes, **words, "said": session_state(session)}
    with closing(Session(folder)) as opened:
        return {**plan.wishes, **words, "said": session_state(opened)}


def _said_in(opened: Opened, wrong: Case | None) -> Answers:
    """Return what was said in a session: of candidates, and of facts where it asks about them."""
    assert opened.session is not None
    said, pool = opened.session.annotations(), opened.case.pool
    mine = said.rows < len(pool)
    every, rest = said.take(mine).about(pool), said.take(~mine)
    return every if wrong is None else every.plus(replace(rest, rows=rest.rows - len(pool)).about(wrong.pool))


def _called_true(oracle: FileOracle | None, candidates: Triples, graph: Graph) -> tuple[Answers, list[str]]:
    """Return what an oracle with labels calls true though nobody proposed it; say which labels are about candidates."""
    if oracle is None or oracle.answers is None:
        return Answers(), []
    notes = [f"{oracle.path}: {oracle.answers.describe_unused(candidates, graph)}"]
    unused = not candidates.contains(oracle.answers.triples).all()
    return replace(oracle.answers.called_true(candidates, graph), who=ORACLE), notes if unused else []


def _compare(folder: Path, earlier: Earlier, case: Case, graph: Graph, words: Answers) -> dict[str, int] | None:
    """Write what is undecided, and facts that people called false; count what changed since the run before."""
    undecided, against = write_undecided(folder, case), words.called_false(graph)
    if len(against):
        write_triples(folder / "disagreeing.tsv", against.triples.columns())
    if not earlier:
        return None
    accepted = read_listed(folder / ACCEPTED)  # as every door reads it
    return {**compare(earlier, accepted, undecided, graph), "answers_against_the_graph": len(against)}


def _ask_oracle(
    plan: RunConfig, listed: FileOracle | None, ready: Ready, rules: Constraints, doubts: Doubtful | None
) -> tuple[Opened, Case | None, list[str]]:
    """Ask the oracle about candidates and, with half of the budget, about doubtful facts; open the cases of both."""
    rows, oracle, told = np.arange(len(ready.candidates)), cast(Oracle, _nobody), list[str]()
    wrong, budget = None, plan.budget
    if listed is not None:
        oracle, rows = listed.judge(ready.candidates)
        if doubts is not None and budget > 1:
            wrong, told = _ask_about_facts(plan, listed, doubts, budget // 2)
            budget -= 0 if wrong is None else len(wrong.annotations)
    if doubts is not None:
        wrong = _with_earlier(wrong, doubts, ready.earlier)
    rows, pool = ready.worth_asking(rows), None
    if ready.earlier:
        pool = ready.carry(split_pool(rows, np.random.default_rng(plan.seed)))
    case = ask_oracle(
        ready.candidates,
        oracle,
        rows,
        known=ready.known,
        method=ready.method(plan),
        budget=budget,
        seed=plan.seed,
        target=plan.target,
        rows=pool,
        answers=ready.earlier.answers,
    )
    _keep_asked(plan.out, ready.earlier.answers, case, wrong)
    case = replace(case, holdout=tuple(ready.left["precisions"]), constraints=rules)
    return Opened(case), wrong, told


def _with_earlier(case: Case | None, doubts: Doubtful, earlier: Earlier) -> Case | None:
    """Add what was said of doubtful facts before to what was said now."""
    said = invert_labels(earlier.about_facts(doubts.facts))
    if not len(said):
        return case
    if case is None:
        return Case(doubts.facts, said, None, WRONG_FACTS_METHOD)
    rows = case.pool.rows_of(doubts.facts.take(said.rows))
    new = (rows >= 0) & ~np.isin(rows, case.annotations.rows)
    return replace(case, annotations=replace(said.take(new), rows=rows[new]).plus(case.annotations))


def _keep_asked(folder: Path, earlier: Answers, case: Case, wrong: Case | None) -> None:
    """Write what an oracle said beside all that was said before, and the pool that it was asked from."""
    write_scored(folder / "pool.parquet", case.pool)
    every = earlier.without_inclusion_probability()
    if wrong is not None:
        every = every.plus(invert_labels(wrong.annotations).without_inclusion_probability().about(wrong.pool))
    keep_answers(folder, now=every.plus(case.annotations.about(case.pool)))


def _ask_about_facts(
    plan: RunConfig, listed: FileOracle, doubts: Doubtful, budget: int
) -> tuple[Case | None, list[str]]:
    """Ask the oracle about doubtful facts, if it can judge any."""
    try:
        oracle, rows = listed.judge(doubts.facts)
    except FileError:
        return None, [f"{listed.path}: none of the {len(doubts.facts):,} doubtful facts is judged in it."]
    target = plan.checking.target
    return ask_about(doubts.facts, oracle, rows, budget, target, plan.seed), []


def _create_session(
    plan: RunConfig, ready: Ready, folder: Path, rules: Constraints, graph: Graph, doubts: Doubtful | None
) -> list[str]:
    """Split off the calibration pool and make a session of it, and of doubtful facts, in which people are asked."""
    rows = split_pool(ready.worth_asking(np.arange(len(ready.candidates))), np.random.default_rng(plan.seed))
    rows = ready.carry(rows)
    asked, path = ready.candidates.take(rows), plan.out / "pool.parquet"
    said = ready.earlier.answers.on(asked).without_inclusion_probability()
    reasons = None if ready.reasons is None else ready.reasons.marked(rows)
    if doubts is not None:
        asked = asked.followed_by(doubts.facts).with_scores(np.append(asked.scores, doubts.facts.scores))
        reasons = [*(reasons or [()] * len(rows)), *doubts.reasons.marked(np.arange(len(doubts.facts)))]
    write_scored(path, asked)
    title = plan.graph.name.partition(".")[0]
    budget, n_facts = min(plan.budget + len(said), len(asked)), len(asked) - len(rows)
    settings = Settings(
        ready.method(plan),
        budget,
        seed=plan.seed,
        title=title,
        precision=plan.precision,
        confidence=plan.confidence,
        n_facts=n_facts,
        candidates=len(ready.candidates),
    )
    known = None if ready.known is None else plan.out / "known.parquet"
    shown = known or as_table(plan.graph, plan.base, plan.out)
    given, there = (rules, graph) if len(rules) else (None, None)
    if doubts is not None:
        facts = ready.earlier.about_facts(doubts.facts)
        said = said.plus(replace(facts, rows=facts.rows + len(rows)))
    create_session(
        folder, path, settings, (*own_labels(plan.graph), *plan.names), shown, plan.language,
        reasons=reasons, constraints=given, facts=there, answers=said, people=ready.earlier.session,
    ).close()  # fmt: skip
    return [
        f"{len(ready.candidates):,} candidates, of which {len(rows):,} may be asked about"
        + (f", and {settings.n_facts:,} doubtful facts." if settings.n_facts else "."),
        *([f"{len(said):,} earlier answers are about these, and are used again."] if len(said) else []),
        f"Judge {settings.budget - len(said):,} of them: {annotate_command(folder)}",
        "Then give the same command again: it decides, and writes the new graph.",
    ]


def _open_session(folder: Path, plan: RunConfig, ready: Ready) -> tuple[Opened, Case | None, list[str]]:
    """Open the cases of what was said in a session, that of wrong facts second; say where people stopped early."""
    session = Session(folder)
    method, wanted = session.settings.method, ready.method(plan)
    if method != wanted:
        raise OptionError(f"{folder} asks for {method}, not for {wanted}; give --method {method}, or a new --out.")
    if (session.settings.n_facts > 0) != plan.check:
        raise OptionError(f"{folder} was begun {'without' if plan.check else 'with'} --check; give a new --out.")
    rows = ready.candidates.rows_of(ready.earlier.answers.triples)
    (case, *wrong), early = open_judged(session, plan.budget, plan.target, int((rows >= 0).sum()))
    return Opened(replace(case, candidates=ready.candidates), session), wrong[0] if wrong else None, early


def _nobody(candidates: ScoredTriples, rows: IntArray) -> BoolArray:
    """Answer nothing: for a budget of 0."""
    return np.zeros(len(rows), dtype=np.bool_)
