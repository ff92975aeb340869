"""Candidates before anybody is asked: who proposed them, what the evidence says of each, what a holdout says of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from actc.complete.score_triples import Scorer, knows, refuse_strangers, score_triples
from actc.complete.union import GIVEN, MODEL, Pays, Proposer, join_candidates, weigh_union
from actc.data.triples import ScoredTriples, Triples
from actc.errors import OptionError, TableError
from actc.evidence.holdouts import score_rules
from actc.evidence.reasons import Reasons
from actc.evidence.rules import propose_by_rules
from actc.evidence.score import ScoredEvidence, TrainingSet, create_training_set, score_evidence
from actc.evidence.table import Progress, Proposals
from actc.graph.graph import Graph

NOBODYS = "Nobody's rules or model proposed these candidates: the graph's own facts teach what evidence is worth."
UNSCORED = "The model did not propose these candidates: what evidence is worth is learnt without its scores."
TOO_SMALL = "The graph is too small to learn from what evidence is worth; the model's scores decide alone."
NO_HOLDOUT = "No facts are known that the model was not trained on: whether it pays cannot be said; --held gives some."
OWN_FACTS = "the graph's own facts teach what evidence is worth, and scores do not count; --held gives some."


@dataclass(frozen=True, eq=False)
class FoundCandidates:
    """Candidates, and what is known of them before anybody is asked.

    Parameters
    ----------
    triples : ScoredTriples
        Their scores are log-odds where there are reasons, else the model's.
    beside : dict of arrays
        What their file has beside them: who proposed each (``proposed_by``), and by which rule.
    notes : list of str
    reasons : Reasons, optional
    precisions : list of float
        Draws of the accepted precision by the holdout; none where no holdout says it.
    pays : Pays, optional
        What a model brings beside rules.
    """

    triples: ScoredTriples
    beside: dict[str, Any]
    notes: list[str]
    reasons: Reasons | None = None
    precisions: list[float] = field(default_factory=list)
    pays: Pays | None = None

    def columns(self) -> dict[str, Any]:
        """Return the table of the candidates' file."""
        return {**self.triples.columns(), "score": self.triples.scores, **self.beside}


def find_by_rules(graph: Graph, seed: int = 0, progress: Progress | None = None) -> FoundCandidates:
    """Take what the graph's own rules propose, and weigh it."""
    proposed = propose_by_rules(graph)
    try:
        found = score_rules(graph, proposed, seed=seed, progress=progress)
    except TableError as error:
        raise OptionError(f"{str(error).rstrip('.')}; give --model or --candidates.") from None
    told = proposed.columns()
    beside = {name: told[name] for name in ("rule", "rule_confidence", "rules", "proposed_by")}
    precisions = found.precisions.round(4).tolist()
    return FoundCandidates(*_weighed(found.scored, graph, beside, [found.summary()]), precisions)


def find_by_both(
    graph: Graph,
    model: Proposer,
    relations: Sequence[str] = (),
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> FoundCandidates:
    """Take what rules and a model propose, and weigh it by facts that neither had seen.

    Parameters
    ----------
    graph : Graph
        The known facts.
    model : Proposer
        With an empty holdout where none is known: the graph's own facts then teach what evidence is worth.
    relations : sequence of str
        Only these; all if empty.
    """
    graph = _with_all_names(graph, model)
    try:
        both = weigh_union(graph, model, relations, seed=seed, progress=progress)
    except TableError:
        return _by_own_facts(graph, model, relations, progress)
    every = reduce(ScoredTriples.followed_by_scored, (part.candidates for part in both.parts))
    reasons = Reasons(tuple((part.evidence, part.model) for part in both.parts), graph)
    pays = both.pays if len(model.holdout) else None
    notes = [both.found.summary(), NO_HOLDOUT if pays is None else pays.tell(), *both.notes]
    return FoundCandidates(every, both.beside, notes, reasons, both.found.precisions.round(4).tolist(), pays)


def _with_all_names(graph: Graph, model: Proposer) -> Graph:
    """Return the graph with all holdout facts, and names for all that is proposed."""
    if not graph.contains(model.holdout).all():
        graph = Graph.of(graph.union(model.holdout))
    proposed = model.proposals
    return graph.recoded(
        sorted({*graph.entity_names, *proposed.entity_names}), sorted({*graph.relation_names, *proposed.relation_names})
    )


def _by_own_facts(
    graph: Graph, model: Proposer, relations: Sequence[str], progress: Progress | None
) -> FoundCandidates:
    """Weigh what rules and a model propose by some of the graph's own facts, where a holdout cannot teach."""
    union = join_candidates(graph, propose_by_rules(graph).of_relations(relations), model)
    plain = Proposals(union.proposals.triples)
    why = "Too few holdout facts are among the proposals" if len(model.holdout) else "No holdout facts are known"
    try:
        weighed = score_evidence(graph, plain, TrainingSet.from_graph(graph, plain.triples), progress=progress)
    except TableError:
        scores = union.proposals.marks["score"]
        rows = np.flatnonzero(union.by_model & np.isfinite(scores))
        beside = {name: values[rows] for name, values in union.beside.items()}
        return FoundCandidates(plain.triples.take(rows).with_scores(scores[rows]), beside, [TOO_SMALL])
    return FoundCandidates(*_weighed(weighed, graph, union.beside, [f"{why}: {OWN_FACTS}"]))


def find_given(
    graph: Graph, given: Graph, model: Scorer | None, holdout: Graph | None, progress: Progress | None
) -> FoundCandidates:
    """Weigh the candidates that somebody else proposed; only these are decided.

    Parameters
    ----------
    graph : Graph
        The known facts.
    given : Graph
    model : Scorer, optional
        Candidates with names that it does not know are left out.
    holdout : Graph, optional
        Facts that the model was not trained on.
    """
    if model is None:
        try:
            weighed = score_evidence(graph, Proposals(given), TrainingSet.from_graph(graph, given), progress=progress)
        except TableError as error:
            raise OptionError(f"{str(error).rstrip('.')}; give --model.") from None
        return FoundCandidates(*_weighed(weighed, graph, _proposed_by(GIVEN, given), [*given.notes, NOBODYS]))
    scored = find_scored(given, model)
    known = None if holdout is None else holdout.take(np.flatnonzero(knows(model, holdout)))
    facts = None if known is None or len(known) < 2 else score_triples(model, known)
    try:
        training = create_training_set(graph, scored.triples, facts)
        weighed = score_evidence(graph, scored.triples, training, progress=progress)
    except TableError:
        return FoundCandidates(scored.triples, scored.beside, [*scored.notes, TOO_SMALL])
    why = UNSCORED if holdout is not None else f"No holdout facts are known: {OWN_FACTS}"
    notes = [*scored.notes, *([] if weighed.model.with_scores else [why])]
    return FoundCandidates(*_weighed(weighed, graph, scored.beside, notes))


def find_scored(given: Graph, model: Scorer) -> FoundCandidates:
    """Score the candidates that were given; those with names that the model does not know are left out."""
    familiar = knows(model, given)
    if not familiar.any():
        refuse_strangers(given, given.recoded(model.entity_names, model.relation_names))
    strange = int((~familiar).sum())
    unknown = f"{strange:,} candidates have names that the model does not know; they are left out."
    scored = score_triples(model, given.take(np.flatnonzero(familiar)))
    return FoundCandidates(scored, _proposed_by(GIVEN, scored), [*given.notes, *([unknown] if strange else [])])


def take_proposed(proposals: ScoredTriples) -> FoundCandidates:
    """Take what a model proposes, by its scores alone."""
    return FoundCandidates(proposals, _proposed_by(MODEL, proposals), [])


def _proposed_by(who: str, triples: Triples) -> dict[str, Any]:
    return {"proposed_by": np.full(len(triples), who, dtype=object)}


def _weighed(
    weighed: ScoredEvidence, graph: Graph, beside: dict[str, Any], notes: list[str]
) -> tuple[ScoredTriples, dict[str, Any], list[str], Reasons]:
    return weighed.candidates, beside, notes, Reasons(((weighed.evidence, weighed.model),), graph)
