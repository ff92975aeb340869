"""What there is before anybody is asked: a model, the candidates, what the graph says of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from actc.complete.candidates import CandidateSearch, Wanted, write_candidates
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
from actc.complete.plan import RunConfig
from actc.complete.pykeen import find_unseen, load_result
from actc.complete.report import read_beside
from actc.complete.score_triples import Scorer, knows, score_triples
from actc.complete.union import Proposer
from actc.complete.weighing import ask_for, best_placed, worth_asking
from actc.data.begun import Begun
from actc.data.files import read_scored, write_scored, write_triples
from actc.data.triples import IntArray, ScoredTriples
from actc.errors import OptionError
from actc.evidence.reasons import Reasons
from actc.evidence.table import Progress
from actc.graph.formats import read_graph
from actc.graph.graph import Graph
from actc.graph.terms import without_literals
from actc.methods.pooled.method import EVIDENCE_METHOD
from actc.session.oracle import Stage

PLAIN_METHOD = "pooled"


@dataclass(frozen=True, eq=False)
class Ready:
    """What is there before anybody is asked: the candidates and, where a model decides alone, the graph's own scores.

    ``seconds`` are those that an earlier run took to find them, ``beside`` says who proposed each.
    """

    candidates: ScoredTriples
    beside: dict[str, Any]
    known: ScoredTriples | None
    left: dict[str, Any]
    seconds: float
    reasons: Reasons | None
    earlier: Earlier

    def carry(self, rows: IntArray) -> IntArray:
        """Return the pool: candidates that may be asked about, and those with an answer of an earlier run."""
        return self.earlier.carry(self.candidates, rows)

    def method(self, plan: RunConfig) -> str:
        """Return who chooses questions and thresholds."""
        return plan.method or (PLAIN_METHOD if self.reasons is None else EVIDENCE_METHOD)

    def worth_asking(self, rows: IntArray) -> IntArray:
        """Return those of some candidates that questions may be about: all, unless the evidence says better."""
        return rows if self.reasons is None else worth_asking(self.candidates, rows)


def prepare(plan: RunConfig, whole: Graph, stage: Stage) -> Ready:
    """Propose or take candidates and score them; what an earlier run into the folder finished is not done again."""
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
        return Ready(candidates, beside, known, left, left["seconds"], reasons, earlier)
    found = _find_candidates(plan, graph, given, stage)
    write_triples(paths[0], found.columns())
    write_triples(plan.out / GIVEN, whole.columns())
    known = None
    if not plan.evidence:
        known = score_triples(_load(plan), graph)
        write_scored(paths[1], known)
    if found.reasons is not None:
        found.reasons.save(plan.out)
    notes = [*_tell_literals(whole, graph), *found.notes]
    pays = None if found.pays is None else found.pays.describe()
    left = {"notes": notes, "precisions": found.precisions, "pays": pays}
    begun.finish("scores", {**left, "seconds": time.perf_counter() - started})
    return Ready(found.triples, found.beside, known, left, 0.0, found.reasons, earlier)


def _tell_literals(whole: Graph, graph: Graph) -> list[str]:
    if len(graph) == len(whole):
        return list(whole.notes)
    literals = f"{len(whole) - len(graph):,} triples that end in a literal were not learnt from; they stay."
    return [*(note for note in whole.notes if "literal" not in note), literals]


def _load(plan: RunConfig) -> Scorer:
    assert plan.model is not None
    return load_result(plan.model, trust=plan.trust)


def _find_held(plan: RunConfig, graph: Graph) -> Graph | None:
    """Return facts that the model was not trained on; None where there are none."""
    assert plan.model is not None
    return read_graph(plan.held, base=plan.base) if plan.held else find_unseen(plan.model, graph)


def _find_candidates(plan: RunConfig, graph: Graph, given: Graph | None, stage: Stage) -> FoundCandidates:
    """Propose candidates or take those given, and score them: by evidence, unless the model alone shall decide."""
    if plan.model is None:
        with stage("Rules") as advance:
            told = _steps(advance)
            return (
                find_by_rules(graph, plan.seed, told) if given is None else find_given(graph, given, None, None, told)
            )
    scorer = _load(plan)
    if not plan.evidence:
        return take_proposed(_propose(plan, graph, scorer, stage)) if given is None else find_scored(given, scorer)
    held = _find_held(plan, graph)
    if given is not None:
        with stage("Evidence") as advance:
            return find_given(graph, given, scorer, held, _steps(advance))
    held = graph.take(np.arange(0)) if held is None else held
    proposals = _propose(plan, graph.take(np.flatnonzero(~held.contains(graph))), scorer, stage)
    placed = best_placed(proposals)
    cut = (
        f"Of {len(proposals):,} proposals of the model the {len(placed):,} best placed in their questions were weighed."
    )
    with stage("Evidence") as advance:
        found = find_by_both(graph, Proposer(scorer, held, placed), seed=plan.seed, progress=_steps(advance))
    return replace(found, notes=[*([cut] if len(placed) < len(proposals) else []), *found.notes])


def _steps(advance: Callable[..., Any]) -> Progress:
    """Tell of the steps of several look-ups, one after the other: two at least, more where holdouts are small."""
    look_ups = 0

    def tell(done: int, total: int, name: str) -> None:
        nonlocal look_ups
        look_ups += done == 1
        advance(1, max(2, look_ups) * total)

    return tell


def _read_candidates(plan: RunConfig, graph: Graph) -> Graph:
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


def _propose(plan: RunConfig, known: Graph, scorer: Scorer, stage: Stage) -> ScoredTriples:
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
