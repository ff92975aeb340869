"""The whole way in one call: a graph in, a better graph out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from actc.check.ask import Doubtful, ask_about
from actc.check.report import decide_outcome, for_page, put_back, write_lists
from actc.check.report import summarise as summarise_check
from actc.check.run import find_doubts
from actc.complete.earlier import (
    ACCEPTED,
    ANSWERS,
    GIVEN,
    STAYING,
    Earlier,
    compare,
    keep_answers,
    read_answers,
    read_triples_of,
    set_aside,
    write_undecided,
)
from actc.complete.find_candidates import (
    Candidates,
    find_by_both,
    find_by_rules,
    find_given,
    find_scored,
    take_proposed,
)
from actc.complete.open_case import CANDIDATES, as_decided
from actc.complete.page import write_next_page
from actc.complete.plan import CompletionPlan as CompletionPlan
from actc.complete.report import headline, read_beside, summarise, write_completion, write_report
from actc.complete.union import Proposer
from actc.complete.weighing import ask_for, best_placed, worth_asking
from actc.constraints.find_constraints import constraints_from
from actc.errors import FileError, OptionError
from actc.evidence.keep_weighed import Reasons
from actc.evidence.method import DOUBTS, LOG_ODDS
from actc.evidence.weigh_by_rules import split_holdouts
from actc.evidence.work import Progress
from actc.graphs.formats import as_table, find_ending, read_graph
from actc.graphs.graph import Graph
from actc.graphs.terms import without_literals
from actc.models.candidates import CandidateSearch, Wanted, write_candidates
from actc.models.keep_out import keep_out
from actc.models.load_scorer import find_held, load_scorer
from actc.models.recipes import choose_recipe, load_recipe
from actc.models.saved_model import save_model
from actc.models.score_triples import Scorer, knows, score_triples
from actc.models.train_model import best_device, train_model
from actc.session import Session, Settings, start_session
from actc.session.asking import Finished, Stage, annotate_command, count_said, no_stage, open_judged
from actc.session.find_case import Opened
from actc.session.oracle import Carried, Listed, Oracle, ask_oracle, split_pool
from actc.session.sought import turn
from actc.tables.answers import Answers, tell_unused
from actc.tables.begun import Begun, alone_in, fingerprint
from actc.tables.constraints import Constraints
from actc.tables.files import read_scored, write_scored, write_triples
from actc.triples import BoolArray, IntArray, ScoredTriples, Triples
from actc.trust.case import ORACLE, Case
from actc.trust.held import tell_held, tell_left_out

PLAIN_HELD = 0.02  # of the graph, to stop by, where nothing is learnt from a holdout
SMALLEST = 20  # facts, from which a tenth can be learnt from
PLAIN_METHOD = "pooled"
PLAIN_KIND = "complex"  # trained where no evidence is wanted and no model is given


def complete_graph(plan: CompletionPlan, stage: Stage = no_stage) -> Finished:
    """Go the whole way from a graph to a better graph, as ``actc complete`` does.

    Without an oracle in the plan people are asked: it starts an annotation session and stops. Called again with the
    same plan when they have judged, it goes on from there. Called with the same folder and another graph, model or
    candidates, it uses the answers again and says what changed.

    Parameters
    ----------
    plan : CompletionPlan
        The graph, the folder to write to, and every choice.
    stage : callable
        Called with a stage's name, for as long as it lasts: gives a function to tell steps done, steps in all.
    """
    with alone_in(plan.out):
        return _complete(plan, stage)


def _complete(plan: CompletionPlan, stage: Stage) -> Finished:
    started = time.perf_counter()
    if plan.if_changed and is_unchanged(plan):
        return Finished((f"Nothing is new since the last run: {plan.out} stays as it is.",))
    whole = read_graph(plan.graph, base=plan.base)
    rules = constraints_from(plan.constraints, whole, plan.base).used  # refused before long work, like the oracle
    oracle = None if plan.oracle is None else Listed.read(plan.oracle, plan.base)
    notes = put_back(plan.out, plan.facts, plan.base) if plan.undo else []
    ready, session = _prepare(plan, whole, stage), plan.out / "session"
    doubts, doubted = find_doubts(plan.checking, whole, stage) if plan.check else (None, {})
    notes += [*ready.left["notes"], *rules.notes]
    if plan.oracle is None and plan.budget > 0:
        if not session.exists():
            told = _start_session(plan, ready, session, rules, whole, doubts)
            told += _ask_judge(plan, session, stage)
            _note_state(plan)
            return Finished((*notes, *told))
        notes += _ask_judge(plan, session, stage)
        opened, wrong, told = _open_session(session, plan, ready)
        keep_answers(plan.out, ready.earlier.answers, _said_in(opened, wrong))
    else:
        opened, wrong, told = _ask_oracle(plan, oracle, ready, rules, doubts)
    outcome = None if doubts is None else decide_outcome(plan.out, doubts, wrong)
    left = whole if outcome is None else outcome.left(whole)
    words = read_answers(plan.out)
    opened = replace(opened, case=as_decided(opened.case, left, words, plan.without))
    listed = _called_true(oracle, opened.case.target, whole)
    notes += [
        *told,
        *ready.earlier.tell(opened.case, whole),
        *listed[1],
        *tell_held(opened.case),
        *tell_left_out(opened.case),
    ]
    called = words.called_true(opened.case.target, left).plus(listed[0])
    name = f"graph{find_ending(plan.graph)}"
    files = write_completion(plan.out, opened, left, name, plan.base, ready.beside, ready.reasons, called)
    seconds = ready.seconds + time.perf_counter() - started
    said = {"model": ready.model, "model_pays": ready.left["pays"], "seconds": round(seconds, 1), "notes": notes}
    said |= {"called_true": len(called), "since": _compare(plan.out, ready.earlier, opened.case, whole, words)}
    if doubts is not None and outcome is not None:
        files += write_lists(plan.out, doubts, outcome)
        said["check"] = summarise_check(doubts, wrong, outcome, whole, doubted)
    page, command = write_next_page(
        plan, opened, files[2], ready.reasons, for_page(said["check"]) if plan.check else None
    )
    report = summarise(opened.case, left, said, ready.reasons)
    files += [*page, *write_report(plan.out, {**report, "next": command})]
    _note_state(plan, opened.session)
    written = f"Written: {', '.join(map(str, files))}"
    return Finished((*headline(report), *notes, written, f"Next: {command}"), tuple(files))


def _ask_judge(plan: CompletionPlan, folder: Path, stage: Stage) -> list[str]:
    """Let the plan's judge, if there is one, judge what people judged and what is in doubt; say what came of it."""
    if plan.judge is None:
        return []
    from actc.session.judge import judge_triples

    with stage("Asking the judge") as advance:
        run = judge_triples(
            folder,
            url=plan.judge,
            model=plan.judge_model,
            key_from=plan.judge_key_from,
            progress=lambda *n: advance(1, n[1]),
        )
    return run.sentences()


def is_unchanged(plan: CompletionPlan) -> bool:
    """Say whether the last run into the folder was asked the same, and nobody has said anything since."""
    begun = Begun.peek(plan.out)
    return begun is not None and begun.asked == plan.asked and begun.done.get("state") == _state(plan)


def _note_state(plan: CompletionPlan, session: Session | None = None) -> None:
    """Write down what the files in the folder rest on, once they are all there."""
    begun = Begun.peek(plan.out)
    assert begun is not None
    begun.finish("state", _state(plan, session))


def _state(plan: CompletionPlan, session: Session | None = None) -> dict[str, Any]:
    """Return, as JSON has it, what decisions depend on besides the candidates: wishes, and what was said."""
    folder = plan.out / "session"
    if plan.oracle is not None or not folder.exists():
        return plan.wishes
    words = {"words": fingerprint(plan.out / ANSWERS) if (plan.out / ANSWERS).exists() else None}
    if session is not None:
        return {**plan.wishes, **words, "said": count_said(session)}
    with closing(Session(folder)) as opened:
        return {**plan.wishes, **words, "said": count_said(opened)}


def _said_in(opened: Opened, wrong: Case | None) -> Answers:
    """Return what was said in a session, as it was asked: of candidates, and of facts where it asks about them."""
    assert opened.session is not None
    said, pool = opened.session.answers_as_asked(), opened.case.pool
    mine = said.rows < len(pool)
    every, rest = Answers.of(pool, said.take(mine)), said.take(~mine)
    return every if wrong is None else every.plus(Answers.of(wrong.pool, replace(rest, rows=rest.rows - len(pool))))


def _called_true(oracle: Listed | None, candidates: Triples, graph: Graph) -> tuple[Answers, list[str]]:
    """Return what an oracle with labels calls true though nobody proposed it; say which labels are about candidates."""
    if oracle is None or oracle.answers is None:
        return Answers(), []
    use = oracle.answers.among(candidates, graph)[1]
    notes = [f"{oracle.path}: {tell_unused(use.used, use.unused)}"] if any(use.unused) else []
    true = oracle.answers.called_true(candidates, graph)
    return replace(true, said=replace(true.said, who=ORACLE)), notes


def _compare(folder: Path, earlier: Earlier, case: Case, graph: Graph, words: Answers) -> dict[str, int] | None:
    """Write what is undecided, and facts that people called false; count what changed since the run before."""
    undecided, against = write_undecided(folder, case), words.called_false(graph)
    if len(against):
        write_triples(folder / "disagreeing.tsv", against.triples.columns())
    if not earlier:
        return None
    accepted = read_triples_of(folder / ACCEPTED)  # as every door reads it
    return {**compare(earlier, accepted, undecided, graph), "answers_against_the_graph": len(against)}


@dataclass(frozen=True, eq=False)
class _Ready:
    """What is there before anybody is asked: the candidates and, where a model decides alone, the graph's own scores.

    ``seconds`` are those that an earlier run took to find them, ``beside`` says who proposed each.
    """

    candidates: ScoredTriples
    beside: dict[str, Any]
    known: ScoredTriples | None
    model: dict[str, Any]
    left: dict[str, Any]
    seconds: float = 0.0
    reasons: Reasons | None = None
    earlier: Earlier = field(default_factory=Earlier)
    fed_back: bool = False

    def carry(self, rows: IntArray) -> Carried:
        """Make the pool of candidates that may be asked about, with the answers of earlier runs."""
        return self.earlier.carry(self.candidates, rows, prove=not self.fed_back)

    def method(self, plan: CompletionPlan) -> str:
        """Return who chooses questions and thresholds."""
        return plan.method or (PLAIN_METHOD if self.reasons is None else LOG_ODDS)

    def worth_asking(self, rows: IntArray) -> IntArray:
        """Return those of some candidates that questions may be about: all, unless the evidence says better."""
        return rows if self.reasons is None else worth_asking(self.candidates, rows)


def _prepare(plan: CompletionPlan, whole: Graph, stage: Stage) -> _Ready:
    """Train or load, propose or take, score; what an earlier run into the same folder finished is not done again."""
    started, graph = time.perf_counter(), without_literals(whole)
    given = None if plan.candidates is None else _read_candidates(plan, graph)
    begun = Begun.open(plan.out, plan.asked, set_aside, STAYING)
    earlier = Earlier.read(plan.out, plan.judged)
    fed, graph = earlier.fed_back(graph), earlier.taken_out(graph)
    paths = [plan.out / name for name in (CANDIDATES, "known.parquet")]
    if "scores" in begun.done:
        candidates, known = (read_scored(path)[0] if path.exists() else None for path in paths)
        assert candidates is not None
        left, reasons = begun.done["scores"], Reasons.load(plan.out, candidates, graph)
        beside = read_beside(paths[0])
        return _Ready(candidates, beside, known, begun.done["model"], left, left["seconds"], reasons, earlier, fed)
    if "model" not in begun.done:
        begun = begun.finish("model", {} if plan.by_rules else _find_model(plan, graph, stage))
    found = _find_candidates(plan, graph, given, begun.done["model"].get("models", 1), stage)
    write_triples(paths[0], found.columns())
    write_triples(plan.out / GIVEN, whole.columns())
    known = None
    if not plan.evidence:
        known = score_triples(_load(plan, plan.model or plan.out / "model"), graph)
        write_scored(paths[1], known)
    if found.reasons is not None:
        found.reasons.save(plan.out)
    notes = [*_tell_training(begun.done["model"]), *_tell_literals(whole, graph), *found.notes]
    pays = None if found.pays is None else found.pays.describe()
    left = {"notes": notes, "precisions": found.precisions, "pays": pays}
    begun = begun.finish("scores", {**left, "seconds": time.perf_counter() - started})
    return _Ready(found.triples, found.beside, known, begun.done["model"], left, 0.0, found.reasons, earlier, fed)


def _tell_literals(whole: Graph, graph: Graph) -> list[str]:
    if len(graph) == len(whole):
        return list(whole.notes)
    literals = f"{len(whole) - len(graph):,} triples that end in a literal were not learnt from; they stay."
    return [*(note for note in whole.notes if "literal" not in note), literals]


def _load(plan: CompletionPlan, folder: Path) -> Scorer:
    return load_scorer(folder, trust=plan.trust, device=plan.device)


def _find_held(plan: CompletionPlan, graph: Graph, folder: Path) -> Graph | None:
    """Return facts that a model was not trained on; None where there are none."""
    return read_graph(plan.held, base=plan.base) if plan.held else find_held(folder, plan.graph, graph)


def _find_candidates(plan: CompletionPlan, graph: Graph, given: Graph | None, models: int, stage: Stage) -> Candidates:
    """Propose candidates or take those given, and score them: by evidence, unless the model alone shall decide."""
    if plan.by_rules:
        with stage("Rules") as advance:
            told = _steps(advance)
            return (
                find_by_rules(graph, plan.seed, told) if given is None else find_given(graph, given, None, None, told)
            )
    folders = [plan.model or model_folder(plan.out, k) for k in range(models)]
    if not plan.evidence:
        scorer = _load(plan, folders[0])
        return take_proposed(_propose(plan, graph, scorer, stage)) if given is None else find_scored(given, scorer)
    if given is not None:
        with stage("Evidence") as advance:
            held = _find_held(plan, graph, folders[0])
            return find_given(graph, given, _load(plan, folders[0]), held, _steps(advance))
    proposers, notes = [], []
    for folder in folders:
        scorer, held = _load(plan, folder), _find_held(plan, graph, folder)
        held = graph.take(np.arange(0)) if held is None else held
        known = graph.take(np.flatnonzero(~held.contains(graph)))
        proposals = _propose(plan, known, scorer, stage)
        placed = best_placed(proposals)
        notes += _tell_cut(len(proposals), len(placed))
        proposers.append(Proposer(scorer, held, placed))
    with stage("Evidence") as advance:
        found = find_by_both(graph, proposers, same=plan.splits, seed=plan.seed, progress=_steps(advance))
    return replace(found, notes=[*notes, *found.notes])


def _steps(advance: Callable[..., Any]) -> Progress:
    """Tell of the steps of several look-ups, one after the other: two at least, more where holdouts are small."""
    look_ups = 0

    def tell(done: int, total: int, name: str) -> None:
        nonlocal look_ups
        look_ups += done == 1
        advance(1, max(2, look_ups) * total)

    return tell


def _tell_cut(proposed: int, weighed: int) -> list[str]:
    if weighed == proposed:
        return []
    return [f"Of {proposed:,} proposals of the model the {weighed:,} best placed in their questions were weighed."]


def _ask_oracle(
    plan: CompletionPlan, listed: Listed | None, ready: _Ready, rules: Constraints, doubts: Doubtful | None
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
    rows, carried = ready.worth_asking(rows), None
    if ready.earlier:
        carried = ready.carry(split_pool(rows, np.random.default_rng(plan.seed)))
    case = ask_oracle(
        ready.candidates,
        oracle,
        rows,
        known=ready.known,
        method=ready.method(plan),
        budget=budget,
        seed=plan.seed,
        demand=plan.demand,
        carried=carried,
    )
    _keep_asked(plan.out, carried, case, wrong)
    answers = case.annotations.in_grown(len(case.pool))
    case = replace(case, annotations=answers, holdout=tuple(ready.left["precisions"]), constraints=rules)
    return Opened(case), wrong, told


def _with_earlier(case: Case | None, doubts: Doubtful, earlier: Earlier) -> Case | None:
    """Add what was said of doubtful facts before to what was said now."""
    said = turn(earlier.about_facts(doubts.facts))
    if not len(said):
        return case
    if case is None:
        return Case(doubts.facts, said, None, DOUBTS)
    rows = case.pool.rows_of(doubts.facts.take(said.rows))
    new = (rows >= 0) & ~np.isin(rows, case.annotations.rows)
    return replace(case, annotations=replace(said.take(new), rows=rows[new]).plus(case.annotations))


def _keep_asked(folder: Path, carried: Carried | None, case: Case, wrong: Case | None) -> None:
    """Write what an oracle said beside all that was said before, and the pool that it was asked from."""
    write_scored(folder / "pool.parquet", case.pool)
    every = Answers() if carried is None else carried.every
    if wrong is not None:
        every = every.plus(Answers.of(wrong.pool, turn(wrong.annotations).without_chance()))
    keep_answers(folder, now=every.plus(Answers.of(case.pool, case.annotations)))


def _ask_about_facts(
    plan: CompletionPlan, listed: Listed, doubts: Doubtful, budget: int
) -> tuple[Case | None, list[str]]:
    """Ask the oracle about doubtful facts, if it can judge any."""
    try:
        oracle, rows = listed.judge(doubts.facts)
    except FileError:
        return None, [f"{listed.path}: none of the {len(doubts.facts):,} doubtful facts is judged in it."]
    return ask_about(doubts.facts, oracle, rows, budget, plan.demand, plan.seed), []


def _start_session(
    plan: CompletionPlan, ready: _Ready, folder: Path, rules: Constraints, graph: Graph, doubts: Doubtful | None
) -> list[str]:
    """Split off the calibration pool and make a session of it, and of doubtful facts, in which people are asked."""
    rows = split_pool(ready.worth_asking(np.arange(len(ready.candidates))), np.random.default_rng(plan.seed))
    carried = ready.carry(rows)
    rows, said = carried.rows, carried.answers
    asked, path = ready.candidates.take(rows), plan.out / "pool.parquet"
    reasons = None if ready.reasons is None else ready.reasons.marked(rows)
    if doubts is not None:
        asked = asked.followed_by(doubts.facts).with_scores(np.append(asked.scores, doubts.facts.scores))
        reasons = [*(reasons or [()] * len(rows)), *doubts.reasons.marked(np.arange(len(doubts.facts)))]
    write_scored(path, asked)
    title = plan.graph.name.partition(".")[0]
    budget, doubted = min(plan.budget + len(said), len(asked)), len(asked) - len(rows)
    settings = Settings(ready.method(plan), budget, seed=plan.seed, title=title, doubted=doubted)
    known = None if ready.known is None else plan.out / "known.parquet"
    shown = known or as_table(plan.graph, plan.base, plan.out)
    given, there = (rules, graph) if len(rules) else (None, None)
    if doubts is not None:  # a pool with parts does not grow: earlier draws cannot be told from others, and teach
        facts = ready.earlier.about_facts(doubts.facts)
        said = said.without_chance().plus(replace(facts, rows=facts.rows + len(rows)))
    start_session(
        folder, path, settings, plan.names, shown, plan.language,
        reasons=reasons, constraints=given, facts=there, said=said, people=ready.earlier.session,
    ).close()  # fmt: skip
    return [
        f"{len(ready.candidates):,} candidates, of which {len(rows):,} may be asked about"
        + (f", and {settings.doubted:,} doubtful facts." if settings.doubted else "."),
        *([f"{len(said):,} earlier answers are about these, and are used again."] if len(said) else []),
        f"Judge {settings.budget - len(said):,} of them: {annotate_command(folder)}",
        "Then give the same command again: it decides, and writes the new graph.",
    ]


def _open_session(folder: Path, plan: CompletionPlan, ready: _Ready) -> tuple[Opened, Case | None, list[str]]:
    """Open the cases of what was said in a session, that of wrong facts second; say where people stopped early."""
    session = Session(folder)
    method, wanted = session.settings.method, ready.method(plan)
    if method != wanted:
        raise OptionError(f"{folder} asks for {method}, not for {wanted}; give --method {method}, or a new --out.")
    if (session.settings.doubted > 0) != plan.check:
        raise OptionError(f"{folder} was begun {'without' if plan.check else 'with'} --check; give a new --out.")
    rows = ready.candidates.rows_of(ready.earlier.answers.triples)
    (case, *wrong), early = open_judged(session, plan, carried=int((rows >= 0).sum()))
    return Opened(replace(case, candidates=ready.candidates), session), wrong[0] if wrong else None, early


def _nobody(candidates: ScoredTriples, rows: IntArray) -> BoolArray:
    """Answer nothing: for a budget of 0."""
    return np.zeros(len(rows), dtype=np.bool_)


def _find_model(plan: CompletionPlan, graph: Graph, stage: Stage) -> dict[str, Any]:
    """Train a model, or several on a small graph, unless one was given; return what is to be said of it."""
    if plan.model is not None:
        return {"folder": str(plan.model)}
    device = plan.device or best_device()
    name = choose_recipe(plan.kind or PLAIN_KIND, len(graph), device)
    splits = _keep_out(plan, graph)
    facts: list[dict[str, Any]] = []
    with stage("Epochs") as advance:
        for k, (rest, held) in enumerate(splits):
            trained = train_model(
                rest,
                load_recipe(name),
                held_out=held if len(held) else None,
                device=device,
                seed=plan.seed,
                seconds=plan.seconds / len(splits) if device == "cpu" else math.inf,
                progress=lambda done, total: advance(done, total * len(splits)),
            )
            save_model(trained, model_folder(plan.out, k), held)
            facts.append(trained.facts)
    return {"recipe": name, "models": len(splits), **facts[0]}


def model_folder(out: Path, k: int) -> Path:
    """Return where the model is that was trained without holdout ``k``."""
    return out / (f"model-{k + 1}" if k else "model")


def _tell_training(model: dict[str, Any]) -> list[str]:
    """Say where the model had no time to learn all that it could."""
    if not model.get("out_of_time"):
        return []
    return [f"Training ended by the clock in epoch {model['epochs']}; a longer --seconds makes better proposals."]


def _keep_out(plan: CompletionPlan, graph: Graph) -> list[tuple[Graph, Graph]]:
    """Split the graph into what is learnt and what is stopped by, and learnt from later.

    A small graph is split several times, a model trained each time: one small holdout teaches little. Where rules
    propose too, the holdouts are those that they are learnt from.
    """
    if not plan.evidence:
        return [keep_out(graph, PLAIN_HELD, plan.seed)]
    if plan.held:
        masks = [read_graph(plan.held, base=plan.base).contains(graph)]
    elif plan.splits and len(graph) >= SMALLEST:
        masks = split_holdouts(graph, plan.seed)
    else:
        return [keep_out(graph, seed=plan.seed)]
    return [(graph.take(~out), graph.take(out)) for out in masks]


def _read_candidates(plan: CompletionPlan, graph: Graph) -> Graph:
    """Read the candidates that were given; the graph's own triples, and literals, are left out."""
    assert plan.candidates is not None
    read = read_graph(plan.candidates, base=plan.base)
    given = without_literals(read)
    new = given.take(np.flatnonzero(~graph.contains(given)))
    if not len(new):
        raise OptionError(f"{plan.candidates}: the graph holds all of these {len(given)} triples already.")
    known = len(given) - len(new)
    notes = [*given.notes, *([f"{known:,} candidates are in the graph already."] if known else [])]
    return replace(new, notes=tuple(notes))


def _propose(plan: CompletionPlan, known: Graph, scorer: Scorer, stage: Stage) -> ScoredTriples:
    """Ask the model for its best answers to every question that the known facts leave open."""
    path, facts = plan.out / "proposals.parquet", known
    if plan.evidence and (familiar := knows(scorer, known)).any():  # rules propose where the model knows no names
        facts = known.take(np.flatnonzero(familiar))
    search = CandidateSearch(scorer, facts, Wanted(plan.answers))
    if plan.evidence:
        search = CandidateSearch(scorer, facts, Wanted(ask_for(plan.answers, search.count_questions())))
    with stage("Questions") as advance:
        if not write_candidates(search, path, advance):
            path.unlink()
            raise OptionError("The model proposes nothing new; raise --best, or give --candidates.")
    proposals = read_scored(path)[0]
    path.unlink()  # candidates.parquet has those that are new
    return proposals
