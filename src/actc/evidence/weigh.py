"""Graph, candidates and held facts in; candidates scored by all the evidence out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from actc.evidence.plan import Limits
from actc.evidence.table import Evidence, Progress, gather_evidence
from actc.evidence.worth import Worth, learn_worth
from actc.graphs.graph import Graph
from actc.triples import BoolArray, FloatArray, ScoredTriples

PLACES = 5  # a held fact counts as one the model would have proposed when it is among so many best of a question


@dataclass(frozen=True, eq=False)
class Held:
    """Facts the model was not trained on, and those of them that stand among what it proposed.

    Parameters
    ----------
    facts : Graph
        All of them.
    proposals : ScoredTriples
        N proposals.
    true : bool array of shape (N,)
        True for the proposals that are held facts.
    own_questions : bool
        True when the proposals are those for the held facts' own questions, so that the share of held ones says how
        many proposals are true.
    other_scores : sequence of float arrays of shape (N,)
        What other models give the proposals.
    proposed : bool
        True when the model proposed the held facts as it did the others. False when they were put among proposals for
        other questions: then they have fewer rivals and lower scores, and scores must not be compared.
    """

    facts: Graph
    proposals: ScoredTriples
    true: BoolArray
    own_questions: bool = True
    other_scores: Sequence[FloatArray] = ()
    proposed: bool = True

    @classmethod
    def among(cls, held: ScoredTriples, pool: ScoredTriples) -> Self:
        """Put held facts among the proposals of a pool, keeping those that the model would have proposed."""
        fresh = pool.rows_of(held) < 0
        union = held.take(fresh).followed_by(pool).with_scores(np.append(held.scores[fresh], pool.scores))
        true = np.arange(len(union)) < int(fresh.sum())
        near = best_place(union) <= PLACES
        keep = ~true | near if (true & near).sum() >= 2 else np.ones(len(union), dtype=np.bool_)
        return cls(Graph.of(held), union.take(keep), true[keep], own_questions=False, proposed=False)


def best_place(triples: ScoredTriples) -> FloatArray:
    """Return each triple's place by score in the better of its two questions, 1 the best, shape (N,)."""
    places = []
    for end in (triples.heads, triples.tails):
        question = end * len(triples.relation_names) + triples.relations
        order = np.lexsort((-triples.scores, question))
        begins = np.append(True, np.diff(question[order]) != 0)
        place = np.empty(len(order))
        place[order] = np.arange(len(order)) - np.flatnonzero(begins)[np.cumsum(begins) - 1] + 1
        places.append(place)
    return np.minimum(*places)


def without(graph: Graph, facts: Graph) -> Graph:
    """Return a graph without some facts."""
    return graph.take(~facts.contains(graph))


@dataclass(frozen=True, eq=False)
class Weighed:
    """Candidates and what all the evidence says of them.

    Parameters
    ----------
    evidence : Evidence
    worth : Worth
    log_odds : float array of shape (N,)
    """

    evidence: Evidence
    worth: Worth
    log_odds: FloatArray

    @property
    def candidates(self) -> ScoredTriples:
        """The candidates, their score being the log-odds."""
        return self.evidence.candidates.with_scores(self.log_odds)


def weigh_candidates(
    graph: Graph,
    candidates: ScoredTriples,
    held: Held,
    other_scores: Sequence[FloatArray] = (),
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Weighed:
    """Learn from held facts what evidence is worth, and score candidates by it.

    Parameters
    ----------
    graph : Graph
        All known facts, the held ones too.
    candidates : ScoredTriples
        What is to be decided.
    held : Held
        Facts the model was not trained on among its proposals.
    other_scores : sequence of float arrays of shape (N,)
        What other models give the candidates; ``held`` has theirs too.

    Returns
    -------
    Weighed
    """
    limits = limits or Limits.for_count(max(len(candidates), len(held.proposals)))
    worth, seen = learn_from_held(graph, held, limits, progress)
    evidence = gather_evidence(seen, candidates, other_scores, limits, progress=progress)
    return Weighed(evidence, worth, worth.log_odds(evidence))


def learn_from_held(
    graph: Graph, held: Held, limits: Limits | None = None, progress: Progress | None = None
) -> tuple[Worth, Graph]:
    """Learn from held facts what evidence is worth; return that, and the facts to look at candidates with."""
    before = without(graph, held.facts)
    lesson = gather_evidence(before, held.proposals, held.other_scores, limits, progress=progress)
    worth = learn_worth(lesson, held.true, held.own_questions, held.proposed)
    return worth, known_to(worth, graph, before)


def known_to(worth: Worth, graph: Graph, before: Graph) -> Graph:
    """Return the facts that candidates are looked at with.

    Trees cut at exact counts, so candidates must be looked at in the graph that the held facts were looked at in; the
    ridge bears the small difference, and where held facts are few every fact counts.
    """
    return graph if worth.trees is None else before
