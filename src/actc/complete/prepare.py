"""What there is before anybody is asked: the candidates with their scores and reasons, and what earlier runs left."""

from __future__ import annotations

import time
from dataclasses import replace

from actc.complete.candidates import Candidates, candidates_of_rules
from actc.complete.config import RunConfig
from actc.complete.earlier import GIVEN, STAYING, Earlier, set_aside
from actc.complete.given import score_by_model, score_given, score_given_with_model
from actc.complete.propose import candidates_of_model, candidates_of_rules_and_model, read_holdout
from actc.complete.pykeen import load_result
from actc.complete.search import Scorer, score_triples
from actc.data.begun import Begun
from actc.data.files import write_triples
from actc.data.progress import Stage
from actc.graph.graph import Graph
from actc.graph.terms import without_literals

PROPOSALS = "proposals.parquet"
"""A model's answers, while they are not scored."""


def prepare(config: RunConfig, whole: Graph, given: Candidates | None, stage: Stage) -> tuple[Candidates, Earlier]:
    """Propose or take candidates and score them; what an earlier run into the folder finished is not done again."""
    started, graph = time.perf_counter(), without_literals(whole)
    begun = Begun.open(config.out, config.inputs(), set_aside, STAYING)
    earlier = Earlier.read(config.out, config.judged)
    graph = earlier.reopen(graph)
    if "scores" in begun.done:
        return Candidates.load(config.out, graph, begun.done["scores"]), earlier
    found = _find_candidates(config, graph, given, stage)
    known = None if config.evidence else score_triples(_load(config), graph)
    found = replace(found, known=known, notes=(*_note_literals(whole, graph), *found.notes))
    write_triples(config.out / GIVEN, whole.columns())
    begun.finish("scores", {**found.save(config.out), "seconds": time.perf_counter() - started})
    return found, earlier


def _note_literals(whole: Graph, graph: Graph) -> list[str]:
    if len(graph) == len(whole):
        return list(whole.notes)
    literals = f"{len(whole) - len(graph):,} triples that end in a literal were not learnt from; they stay."
    return [*(note for note in whole.notes if "literal" not in note), literals]


def _load(config: RunConfig) -> Scorer:
    assert config.model is not None
    return load_result(config.model, trust=config.trust)


def _find_candidates(config: RunConfig, graph: Graph, given: Candidates | None, stage: Stage) -> Candidates:
    """Propose candidates or take those given, and score them: by evidence, unless the model alone shall decide."""
    if config.model is None:
        if given is None:
            return candidates_of_rules(graph, config.seed, stage)
        return score_given(graph, given, config.seed, stage)
    scorer = _load(config)
    if not config.evidence:
        if given is not None:
            return score_by_model(given, scorer)
        return candidates_of_model(graph, scorer, config.answers, config.out / PROPOSALS, stage)
    holdout = read_holdout(config.model, config.holdout, graph, config.base)
    if given is not None:
        return score_given_with_model(graph, given, scorer, holdout, stage)
    path = config.out / PROPOSALS
    return candidates_of_rules_and_model(graph, scorer, holdout, config.answers, path, stage, config.seed)
