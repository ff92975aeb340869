"""What there is before anybody is asked: the candidates with their scores and reasons, and what earlier runs left."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from actc.complete.candidates import (
    MODEL,
    Candidates,
    ask_for,
    best_placed,
    candidates_of_rules,
    proposed_by,
)
from actc.complete.config import CANDIDATES, KNOWN, RunConfig
from actc.complete.earlier import GIVEN, STAYING, Earlier, set_aside
from actc.complete.given import GivenTable, score_by_model, score_given, score_given_with_model
from actc.complete.pykeen import find_unseen, load_result
from actc.complete.scorer import Scorer, knows, score_triples
from actc.complete.search import CandidateSearch, write_candidates
from actc.complete.union import ModelProposals, candidates_of_both
from actc.data.begun import Begun
from actc.data.database import open_database
from actc.data.files import TRIPLE, quote_file, read_scored, write_scored, write_triples
from actc.data.triples import ScoredTriples
from actc.errors import OptionError
from actc.evidence.reasons import Reasons
from actc.evidence.table import Progress
from actc.graph.formats import read_graph
from actc.graph.graph import Graph
from actc.graph.terms import without_literals
from actc.session.oracle import Stage


def prepare(config: RunConfig, whole: Graph, given: GivenTable | None, stage: Stage) -> tuple[Candidates, Earlier]:
    """Propose or take candidates and score them; what an earlier run into the folder finished is not done again."""
    started, graph = time.perf_counter(), without_literals(whole)
    begun = Begun.open(config.out, config.inputs(), set_aside, STAYING)
    earlier = Earlier.read(config.out, config.judged)
    graph = earlier.reopen(graph)
    if "scores" in begun.done:
        return _read_candidates(config, graph, begun.done["scores"]), earlier
    found = _find_candidates(config, graph, given, stage)
    write_triples(config.out / CANDIDATES, found.table())
    write_triples(config.out / GIVEN, whole.columns())
    if not config.evidence:
        known = score_triples(_load(config), graph)
        found = replace(found, known=known)
        write_scored(config.out / KNOWN, known)
    if found.reasons is not None:
        found.reasons.save(config.out)
    found = replace(found, notes=[*_note_literals(whole, graph), *found.notes])
    summary = {name: getattr(found, name) for name in ("notes", "precisions", "pays", "log_odds")}
    begun.finish("scores", {**summary, "seconds": time.perf_counter() - started})
    return found, earlier


def _read_candidates(config: RunConfig, graph: Graph, summary: dict[str, Any]) -> Candidates:
    """Read the candidates that an earlier run wrote, and what it noted."""
    triples = read_scored(config.out / CANDIDATES)[0]
    with open_database() as connection:
        table = connection.execute(f"SELECT * FROM {quote_file(config.out / CANDIDATES)}").fetchnumpy()
    columns = {
        name: np.ma.filled(column, "") if column.dtype.kind == "O" else column
        for name, column in table.items()
        if name not in (*TRIPLE, "score")
    }
    known = config.out / KNOWN
    reasons = Reasons.load(config.out, triples, graph)
    return Candidates(
        triples, columns, reasons=reasons, known=read_scored(known)[0] if known.exists() else None, **summary
    )


def _note_literals(whole: Graph, graph: Graph) -> list[str]:
    if len(graph) == len(whole):
        return list(whole.notes)
    literals = f"{len(whole) - len(graph):,} triples that end in a literal were not learnt from; they stay."
    return [*(note for note in whole.notes if "literal" not in note), literals]


def _load(config: RunConfig) -> Scorer:
    assert config.model is not None
    return load_result(config.model, trust=config.trust)


def _find_candidates(config: RunConfig, graph: Graph, given: GivenTable | None, stage: Stage) -> Candidates:
    """Propose candidates or take those given, and score them: by evidence, unless the model alone shall decide."""
    if config.model is None:
        with stage("Rules" if given is None else "Evidence") as advance:
            progress = count_look_ups(advance)
            if given is None:
                return candidates_of_rules(graph, config.seed, progress)
            return score_given(graph, given, config.seed, progress)
    scorer = _load(config)
    if not config.evidence:
        if given is not None:
            return score_by_model(given, scorer)
        proposals = _propose(config, graph, scorer, stage)
        return Candidates(proposals, proposed_by(MODEL, proposals), [])
    holdout = read_graph(config.held, base=config.base) if config.held else find_unseen(config.model, graph)
    if given is not None:
        with stage("Evidence") as advance:
            return score_given_with_model(graph, given, scorer, holdout, count_look_ups(advance))
    holdout = graph.take(np.arange(0)) if holdout is None else holdout
    proposals = _propose(config, graph.take(np.flatnonzero(~holdout.contains(graph))), scorer, stage)
    placed = best_placed(proposals)
    with stage("Evidence") as advance:
        model = ModelProposals(scorer, holdout, placed)
        found = candidates_of_both(graph, model, seed=config.seed, progress=count_look_ups(advance))
    if len(placed) == len(proposals):
        return found
    cut = f"Of {len(proposals):,} proposals of the model the {len(placed):,} best placed in their questions are scored."
    return replace(found, notes=[cut, *found.notes])


def count_look_ups(advance: Callable[..., Any]) -> Progress:
    """Report the steps of several look-ups, one after the other: two at least, more where holdouts are small."""
    look_ups = 0

    def report(done: int, total: int, name: str) -> None:
        nonlocal look_ups
        look_ups += done == 1
        advance(1, max(2, look_ups) * total)

    return report


def _propose(config: RunConfig, known: Graph, scorer: Scorer, stage: Stage) -> ScoredTriples:
    """Ask the model for its best answers to every question that the known facts leave open."""
    path, facts = config.out / "proposals.parquet", known
    if config.evidence and (familiar := knows(scorer, known)).any():  # rules propose where the model knows no names
        facts = known.take(np.flatnonzero(familiar))
    search = CandidateSearch(scorer, facts, config.answers)
    if config.evidence:
        search = CandidateSearch(scorer, facts, ask_for(config.answers, search.count_questions()))
    with stage("Questions") as advance:
        if not write_candidates(search, path, advance):
            path.unlink()
            raise OptionError("The model proposes nothing new; raise --best, or give --candidates.")
    proposals = read_scored(path)[0]
    path.unlink()  # candidates.parquet has those that are new
    return proposals
