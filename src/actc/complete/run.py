"""The whole way in one call: a graph in, a better graph out."""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from actc.complete.by_rules import find_by_rules
from actc.complete.completion import Oracle, ask_oracle, read_oracle, split_pool
from actc.complete.folder import Begun
from actc.complete.page import write_next_page
from actc.complete.plan import CompletionPlan as CompletionPlan
from actc.complete.report import headline, summarise, write_completion, write_report
from actc.complete.weighing import (
    LOG_ODDS,
    Reasons,
    ask_for,
    best_placed,
    tell_learnt,
    weigh_given,
    weigh_proposals,
    worth_asking,
)
from actc.errors import OptionError
from actc.evidence.weigh import best_place
from actc.graphs.formats import find_ending, read_graph
from actc.graphs.graph import Graph
from actc.graphs.terms import without_literals
from actc.models.candidates import CandidateSearch, Wanted, write_candidates
from actc.models.keep_out import keep_out
from actc.models.load_scorer import find_held, load_scorer
from actc.models.recipes import choose_recipe, load_recipe
from actc.models.saved_model import save_model
from actc.models.score_triples import Scorer, refuse_strangers, score_triples
from actc.models.train_model import best_device, train_model
from actc.session import Session, Settings, start_session
from actc.session.find_case import Opened, session_case
from actc.tables.files import read_scored, write_scored, write_triples
from actc.triples import BoolArray, IntArray, ScoredTriples

PLAIN_HELD = 0.02  # of the graph, to stop by, where nothing is learnt from a holdout
PLAIN_METHOD = "pooled"
PLAIN_KIND = "complex"  # trained where no evidence is wanted and no model is given


Stage = Callable[[str], AbstractContextManager[Callable[..., Any]]]
"""Called with a stage's name, for as long as it lasts: gives a function to tell steps done, steps in all."""


@dataclass(frozen=True)
class Completed:
    """What came of `actc complete`.

    Parameters
    ----------
    lines : tuple of str
        What a person should read.
    files : tuple of Path
        The new graph, the accepted facts, thresholds and reports; none while people have yet to judge.
    """

    lines: tuple[str, ...]
    files: tuple[Path, ...] = ()


def complete_graph(plan: CompletionPlan, stage: Stage = lambda name: nullcontext(lambda *steps: None)) -> Completed:
    """Go the whole way from a graph to a better graph, as ``actc complete`` does.

    Without an oracle in the plan people are asked: it starts an annotation session and stops. Called again with the
    same plan when they have judged, it goes on from there.

    Parameters
    ----------
    plan : CompletionPlan
        The graph, the folder to write to, and every choice.
    stage : callable
        Called with a stage's name, for as long as it lasts: gives a function to tell steps done, steps in all.
    """
    started = time.perf_counter()
    whole = read_graph(plan.graph, base=plan.base)
    ready = _prepare(plan, whole, stage)
    notes, session = list(ready.notes), plan.out / "session"
    if plan.oracle is None and plan.budget > 0:
        if not session.exists():
            return Completed((*notes, *_start_session(plan, ready, session)))
        opened, told = _open_session(session, plan, ready)
        notes += told
    else:
        rows, oracle = np.arange(len(ready.candidates)), cast(Oracle, _nobody)
        if plan.oracle is not None:
            oracle, rows = read_oracle(plan.oracle, ready.candidates, plan.base)
        case = ask_oracle(
            ready.candidates,
            oracle,
            ready.worth_asking(rows),
            known=ready.known,
            method=ready.method(plan),
            budget=plan.budget,
            seed=plan.seed,
            demand=plan.demand,
        )
        opened = Opened(replace(case, holdout=tuple(ready.precisions)))
    files = write_completion(plan.out, opened, whole, f"graph{find_ending(plan.graph)}", plan.base, ready.reasons)
    page, command = write_next_page(plan, opened, files[2], ready.reasons)
    seconds = ready.seconds + time.perf_counter() - started
    facts = {"model": ready.model, "seconds": round(seconds, 1), "notes": notes}
    report = summarise(opened.case, whole, facts, ready.reasons)
    files += [*page, *write_report(plan.out, {**report, "next": command})]
    written = f"Written: {', '.join(map(str, files))}"
    return Completed((*headline(report), *notes, written, f"Next: {command}"), tuple(files))


@dataclass(frozen=True, eq=False)
class _Ready:
    """What is there before anybody is asked: the candidates and, by a model, the graph's own triples with their scores.

    Where there is evidence the candidates' scores are log-odds by it, and ``reasons`` say why. ``seconds`` are those
    that an earlier run took to find them, ``precisions`` what a holdout says of the accepted before anybody is asked.
    """

    candidates: ScoredTriples
    known: ScoredTriples | None
    model: dict[str, Any]
    notes: list[str]
    seconds: float
    reasons: Reasons | None = None
    precisions: list[float] = field(default_factory=list)

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
    begun = Begun.open(plan.out, plan.asked)
    paths = [plan.out / name for name in ("candidates.parquet", "known.parquet")]
    if "scores" in begun.done:
        candidates, known = (read_scored(path)[0] if path.exists() else None for path in paths)
        assert candidates is not None
        left, reasons = begun.done["scores"], Reasons.load(plan.out, candidates, graph)
        said = left.get("precisions", [])
        return _Ready(candidates, known, begun.done["model"], left["notes"], left["seconds"], reasons, said)
    if "model" not in begun.done:
        begun = begun.finish("model", {} if plan.by_rules else _find_model(plan, graph, stage))
    if plan.by_rules:
        with stage("Rules") as advance:
            candidates, reasons, beside, notes, precisions = find_by_rules(graph, given, plan.seed, advance)
        write_triples(paths[0], {**candidates.columns(), **beside})
        known = None
    else:
        precisions = []
        scorer = load_scorer(plan.model or plan.out / "model", trust=plan.trust, device=plan.device)
        candidates, reasons, notes = _find_candidates(plan, graph, given, scorer, stage)
        write_scored(paths[0], candidates)
        known = score_triples(scorer, graph)
        write_scored(paths[1], known)
    if reasons is not None:
        reasons.save(plan.out)
    if len(graph) < len(whole):
        literals = f"{len(whole) - len(graph):,} triples that end in a literal were not learnt from; they stay."
        notes = [*(note for note in whole.notes if "literal" not in note), literals, *notes]
    else:
        notes = [*whole.notes, *notes]
    notes = [*_tell_training(begun.done["model"]), *notes]
    seconds = time.perf_counter() - started
    begun = begun.finish("scores", {"notes": notes, "seconds": seconds, "precisions": precisions})
    return _Ready(candidates, known, begun.done["model"], notes, 0.0, reasons, precisions)


def _find_held(plan: CompletionPlan, graph: Graph) -> Graph | None:
    """Return facts that the model was not trained on; None where evidence is not wanted or there are none."""
    if not plan.evidence:
        return None
    if plan.held:
        return read_graph(plan.held, base=plan.base)
    return find_held(plan.model or plan.out / "model", plan.graph, graph)


def _find_candidates(
    plan: CompletionPlan, graph: Graph, given: Graph | None, scorer: Scorer, stage: Stage
) -> tuple[ScoredTriples, Reasons | None, list[str]]:
    """Propose candidates or take those given, and score them: by evidence, unless the model alone shall decide."""
    held = _find_held(plan, graph)
    known = graph if held is None else graph.take(np.flatnonzero(~held.contains(graph)))
    notes: list[str] = []
    if given is None:
        candidates = _propose(plan, known, scorer, stage)
    else:
        candidates, notes = _score_given(given, scorer)
    if not plan.evidence:
        return candidates, None, notes
    with stage("Evidence") as advance:
        if given is None:
            placed = best_placed(candidates)
            notes += _tell_cut(len(candidates), len(placed))
            weighed, candidates = weigh_proposals(graph, held, placed, advance)
            weighed = weighed and weighed.keep_best(plan.answers)
        else:
            weighed = weigh_given(graph, held, candidates, scorer, advance)
    notes += tell_learnt(None if weighed is None else weighed.worth, held, given is not None)
    if weighed is None:
        new = best_place(candidates) <= plan.answers if given is None else np.ones(len(candidates), dtype=np.bool_)
        return candidates.take(np.flatnonzero(new)), None, notes
    return weighed.candidates, Reasons(weighed.evidence, weighed.worth, graph), notes


def _tell_cut(proposed: int, weighed: int) -> list[str]:
    if weighed == proposed:
        return []
    return [f"Of {proposed:,} proposals the {weighed:,} best placed in their questions were weighed."]


def _start_session(plan: CompletionPlan, ready: _Ready, folder: Path) -> list[str]:
    """Split off the calibration pool and make a session of it, in which people are asked."""
    rows = split_pool(ready.worth_asking(np.arange(len(ready.candidates))), np.random.default_rng(plan.seed))
    pool = plan.out / "pool.parquet"
    write_scored(pool, ready.candidates.take(rows))
    title = plan.graph.name.partition(".")[0]
    settings = Settings(ready.method(plan), min(plan.budget, len(rows)), seed=plan.seed, title=title)
    reasons = None if ready.reasons is None else ready.reasons.marked(rows)
    known = None if ready.known is None else plan.out / "known.parquet"
    start_session(folder, pool, settings, plan.names, known or plan.graph, reasons=reasons).close()
    return [
        f"{len(ready.candidates):,} candidates, of which {len(rows):,} may be asked about.",
        f"Judge {settings.budget:,} of them: {_annotate(folder)}",
        "Then give the same command again: it decides, and writes the new graph.",
    ]


def _annotate(folder: Path) -> str:
    return f"actc annotate {shlex.quote(str(folder))}"


def _open_session(folder: Path, plan: CompletionPlan, ready: _Ready) -> tuple[Opened, list[str]]:
    """Open the case of what people, and judges, said in a session; say where people stopped early."""
    session = Session(folder)
    method, wanted = session.settings.method, ready.method(plan)
    if method != wanted:
        raise OptionError(f"{folder} asks for {method}, not for {wanted}; give --method {method}, or a new --out.")
    budget = min(plan.budget, session.settings.triples)
    if budget != session.budget:
        session.set_budget(budget)
    case = replace(session_case(session, plan.demand), candidates=ready.candidates)
    answers = len(case.annotations)
    if not answers:
        raise OptionError(f"{folder}: nobody has called any triple true or false yet; judge with: {_annotate(folder)}")
    early = f"{answers:,} of {budget:,} answers are there; for more: {_annotate(folder)}, then this command again."
    return Opened(case, session), [early] if answers < budget else []


def _nobody(candidates: ScoredTriples, rows: IntArray) -> BoolArray:
    """Answer nothing: for a budget of 0."""
    return np.zeros(len(rows), dtype=np.bool_)


def _find_model(plan: CompletionPlan, graph: Graph, stage: Stage) -> dict[str, Any]:
    """Train a model, unless one was given, and return what is to be said of it."""
    if plan.model is not None:
        return {"folder": str(plan.model)}
    device = plan.device or best_device()
    name = choose_recipe(plan.kind or PLAIN_KIND, len(graph), device)
    rest, held = _keep_out(plan, graph)
    with stage("Epochs") as advance:
        trained = train_model(
            rest,
            load_recipe(name),
            held_out=held if len(held) else None,
            device=device,
            seed=plan.seed,
            seconds=plan.seconds if device == "cpu" else math.inf,
            progress=advance,
        )
    save_model(trained, plan.out / "model", held)
    return {"recipe": name, **trained.facts}


def _tell_training(model: dict[str, Any]) -> list[str]:
    """Say where the model had no time to learn all that it could."""
    if not model.get("out_of_time"):
        return []
    return [f"Training ended by the clock in epoch {model['epochs']}; a longer --seconds makes better proposals."]


def _keep_out(plan: CompletionPlan, graph: Graph) -> tuple[Graph, Graph]:
    """Split the graph into what is learnt and what is stopped by, and learnt from later."""
    if plan.evidence and plan.held:
        facts = read_graph(plan.held, base=plan.base)
        out = facts.contains(graph)
        return graph.take(~out), graph.take(out)
    return keep_out(graph, seed=plan.seed) if plan.evidence else keep_out(graph, PLAIN_HELD, plan.seed)


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
    path = plan.out / "proposals.parquet"
    search = CandidateSearch(scorer, known, Wanted(plan.answers))
    if plan.evidence:
        search = CandidateSearch(scorer, known, Wanted(ask_for(plan.answers, search.count_questions())))
    with stage("Questions") as advance:
        if not write_candidates(search, path, advance):
            path.unlink()
            raise OptionError("The model proposes nothing new; raise --best, or give --candidates.")
    proposals = read_scored(path)[0]
    path.unlink()  # candidates.parquet has those that are new
    return proposals


def _score_given(given: Graph, scorer: Scorer) -> tuple[ScoredTriples, list[str]]:
    """Score the candidates that were given; those with names that the model does not know are left out."""
    codes = given.recoded(scorer.entity_names, scorer.relation_names)
    familiar = (codes.heads >= 0) & (codes.relations >= 0) & (codes.tails >= 0)
    if not familiar.any():
        refuse_strangers(given, codes)
    strange = int((~familiar).sum())
    scored = score_triples(scorer, given.take(np.flatnonzero(familiar)))
    unknown = f"{strange:,} candidates have names that the model does not know; they are left out."
    return scored, [*given.notes, *([unknown] if strange else [])]
