"""What there is before anybody is asked: a model, the candidates, what the graph says of them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.complete.earlier import GIVEN, STAYING, Earlier, set_aside
from actc.complete.find_candidates import (
    FoundCandidates,
    find_by_both,
    find_by_rules,
    find_given,
    find_scored,
    take_proposed,
)
from actc.complete.open_case import CANDIDATES
from actc.complete.plan import CompletionPlan
from actc.complete.report import read_beside
from actc.complete.union import Proposer
from actc.complete.weighing import ask_for, best_placed, worth_asking
from actc.errors import OptionError
from actc.evidence.keep_weighed import Reasons
from actc.evidence.method import LOG_ODDS
from actc.evidence.weigh_by_rules import split_holdouts
from actc.evidence.work import Progress
from actc.graphs.formats import read_graph
from actc.graphs.graph import Graph
from actc.graphs.terms import without_literals
from actc.models.candidates import CandidateSearch, Wanted, write_candidates
from actc.models.keep_out import keep_out
from actc.models.load_scorer import find_held, load_scorer
from actc.models.recipes import choose_recipe, load_recipe
from actc.models.saved_model import save_model
from actc.models.score_triples import Scorer, knows, score_triples
from actc.models.train_model import best_device, train_model
from actc.session.asking import Stage
from actc.session.oracle import Carried
from actc.tables.begun import Begun
from actc.tables.files import read_scored, write_scored, write_triples
from actc.triples import IntArray, ScoredTriples

PLAIN_HELD = 0.02  # of the graph, to stop by, where nothing is learnt from a holdout
SMALLEST = 20  # facts, from which a tenth can be learnt from
PLAIN_METHOD = "pooled"
PLAIN_KIND = "complex"  # trained where no evidence is wanted and no model is given


@dataclass(frozen=True, eq=False)
class Ready:
    """What is there before anybody is asked: the candidates and, where a model decides alone, the graph's own scores.

    ``seconds`` are those that an earlier run took to find them, ``beside`` says who proposed each.
    """

    candidates: ScoredTriples
    beside: dict[str, Any]
    known: ScoredTriples | None
    model: dict[str, Any]
    left: dict[str, Any]
    seconds: float
    reasons: Reasons | None
    earlier: Earlier

    def carry(self, rows: IntArray) -> Carried:
        """Make the pool of candidates that may be asked about, with the answers of earlier runs."""
        return self.earlier.carry(self.candidates, rows)

    def method(self, plan: CompletionPlan) -> str:
        """Return who chooses questions and thresholds."""
        return plan.method or (PLAIN_METHOD if self.reasons is None else LOG_ODDS)

    def worth_asking(self, rows: IntArray) -> IntArray:
        """Return those of some candidates that questions may be about: all, unless the evidence says better."""
        return rows if self.reasons is None else worth_asking(self.candidates, rows)


def prepare(plan: CompletionPlan, whole: Graph, stage: Stage) -> Ready:
    """Train or load, propose or take, score; what an earlier run into the same folder finished is not done again."""
    started, graph = time.perf_counter(), without_literals(whole)
    given = None if plan.candidates is None else _read_candidates(plan, graph)
    begun = Begun.open(plan.out, plan.asked, set_aside, STAYING)
    earlier = Earlier.read(plan.out, plan.judged)
    graph = earlier.taken_out(graph)
    paths = [plan.out / name for name in (CANDIDATES, "known.parquet")]
    if "scores" in begun.done:
        candidates, known = (read_scored(path)[0] if path.exists() else None for path in paths)
        assert candidates is not None
        left, reasons = begun.done["scores"], Reasons.load(plan.out, candidates, graph)
        beside = read_beside(paths[0])
        return Ready(candidates, beside, known, begun.done["model"], left, left["seconds"], reasons, earlier)
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
    return Ready(found.triples, found.beside, known, begun.done["model"], left, 0.0, found.reasons, earlier)


def _tell_literals(whole: Graph, graph: Graph) -> list[str]:
    if len(graph) == len(whole):
        return list(whole.notes)
    literals = f"{len(whole) - len(graph):,} triples that end in a literal were not learnt from; they stay."
    return [*(note for note in whole.notes if "literal" not in note), literals]


def _load(plan: CompletionPlan, folder: Path) -> Scorer:
    return load_scorer(folder, trust=plan.trust, device=plan.device)


def _find_held(plan: CompletionPlan, graph: Graph, folder: Path) -> Graph | None:
    """Return facts that a model was not trained on; None where there are none."""
    return read_graph(plan.held, base=plan.base) if plan.held else find_held(folder, graph)


def _find_candidates(
    plan: CompletionPlan, graph: Graph, given: Graph | None, models: int, stage: Stage
) -> FoundCandidates:
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
