"""What there is before any question: the candidates with their scores and reasons, and what earlier runs left."""

from __future__ import annotations

import time
from dataclasses import replace

from actc.complete.candidates import Candidates, candidates_of_rules
from actc.complete.config import RunConfig
from actc.complete.doubt import doubt_facts
from actc.complete.earlier import GIVEN, STAYING, Earlier, set_aside
from actc.complete.given import score_by_model, score_given, score_given_with_model
from actc.complete.oracle import FileOracle
from actc.complete.propose import candidates_of_model, candidates_of_rules_and_model, read_holdout
from actc.complete.pykeen import load_result
from actc.complete.search import Scorer, score_triples
from actc.data.begun import Begun
from actc.data.files import write_triples
from actc.data.progress import Stage
from actc.graph.graph import Graph
from actc.graph.rdf import without_literals

PROPOSALS = "proposals.parts"
"""A model's answers, until all are given."""


def prepare(
    config: RunConfig, whole: Graph, given: Candidates | None, oracle: FileOracle | None, stage: Stage
) -> tuple[Candidates, Earlier]:
    """Propose or take candidates and score them; what an earlier run into the folder finished is not done again.

    Where wrong facts are looked for, the candidates are the facts of the graph. An oracle that can judge none of them
    is refused before the run has finished anything.
    """
    started, missing, without = time.perf_counter(), config.goal == "missing", without_literals(whole)
    begun = Begun.open(config.out, config.inputs(), set_aside, STAYING)
    earlier = Earlier.read(config.out, config.judged)
    graph = earlier.reopen(without)
    if "scores" in begun.done:
        candidates = Candidates.load(config.out, graph, begun.done["scores"])
    elif missing:
        candidates = _find_candidates(config, graph, given, stage)
    else:
        candidates = doubt_facts(graph, config.seed, stage)
    if oracle is not None:
        oracle.refuse_others(candidates.triples)
    if "scores" in begun.done:
        return candidates, earlier
    known = None if config.evidence else score_triples(_load(config), graph)
    candidates = replace(candidates, known=known, notes=(*without.notes, *candidates.notes))
    if missing:
        write_triples(config.out / GIVEN, whole.columns())
    begun.finish("scores", {**candidates.save(config.out), "seconds": time.perf_counter() - started})
    return candidates, earlier


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
