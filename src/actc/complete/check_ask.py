"""The facts of a graph as candidates for "wrong": what the graph says of each, and what answers teach about all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from actc.complete.check_doubt import Doubts
from actc.data.answers import Annotations
from actc.data.deliver import write_beside
from actc.data.files import read_scored, write_scored
from actc.data.numeric import sigmoid
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples
from actc.decide.case import Case
from actc.decide.guarantee import TargetPrecision
from actc.evidence.reasons import Reasons
from actc.evidence.score import TriplesWithEvidence
from actc.evidence.steps import Limits
from actc.evidence.table import Proposals, gather_evidence
from actc.graph.graph import Graph
from actc.methods.pooled.method import WRONG_FACTS_METHOD, Pooled
from actc.session.cases import invert_labels
from actc.session.oracle import Oracle, ask_oracle

MOST_ASKED = 900_000  # a session holds a million triples, of which 50,000 may be candidates
EXPLAINED = 50_000  # the most doubtful facts, which have reasons: half a kilobyte each
POOL, PIECES = "pool.parquet", "pieces.npy"


@dataclass(frozen=True, eq=False)
class Doubtful:
    """The facts of a graph, the most doubtful first, and what the graph says of each.

    Parameters
    ----------
    facts : ScoredTriples
        Their scores are log-odds of being wrong.
    pieces : float array of shape (n, F)
        The evidence as normal quantiles: answers move what each piece is worth.
    reasons : Reasons
        The evidence of the first ones, as if each fact were not there, and what it is worth for being true.
    """

    facts: ScoredTriples
    pieces: FloatArray
    reasons: Reasons

    def probability(self, case: Case | None = None) -> FloatArray:
        """Return P(wrong) of each: before any answer, or by all that the answers of a case taught, shape (n,).

        It puts the list in order, by relations and by the pieces of evidence. What is taken out is decided by the case.
        """
        if case is None or not len(case.annotations):
            return sigmoid(self.facts.scores)
        answers, names = case.answers_in(self.facts), self.reasons.parts[0][1].columns
        pool = TriplesWithEvidence.of(self.facts, self.pieces, names, with_log_odds=True)
        found = Pooled(reads="evidence").fit(pool, answers).probabilities(pool)
        found[answers.rows] = answers.labels
        return found

    def save(self, folder: Path) -> None:
        """Write it into the folder of a run."""
        write_scored(folder / POOL, self.facts)
        with write_beside(folder / PIECES) as temporary, temporary.open("wb") as file:
            np.save(file, self.pieces)
        self.reasons.save(folder)

    @classmethod
    def load(cls, folder: Path, graph: Graph) -> Self:
        """Read what an earlier run wrote."""
        facts = read_scored(folder / POOL)[0]
        reasons = Reasons.load(folder, facts, graph)
        assert reasons is not None
        return cls(facts, np.load(folder / PIECES, allow_pickle=False), reasons)


def find_doubtful(doubts: Doubts) -> Doubtful:
    """Put the facts in order, and look up why the first ones may be wrong."""
    rows = doubts.order[:MOST_ASKED]
    facts = doubts.graph.take(rows).with_scores(doubts.log_odds[rows]).with_used_names()
    first = facts.take(np.arange(min(len(facts), EXPLAINED)))
    evidence = gather_evidence(doubts.graph, Proposals(first), Limits.for_count(len(first)))
    return Doubtful(facts, doubts.pieces[rows], Reasons(((evidence, doubts.worth),), doubts.graph))


def ask_about(
    facts: ScoredTriples,
    oracle: Oracle,
    judgeable: IntArray,
    budget: int,
    target: TargetPrecision | None = None,
    seed: int = 0,
) -> Case:
    """Ask an oracle, which says whether triples are true, about facts; return the case of wrong ones."""

    def wrong(triples: ScoredTriples, rows: IntArray) -> BoolArray:
        return invert_labels(Annotations(rows, oracle(triples, rows))).labels

    return ask_oracle(facts, wrong, judgeable, method=WRONG_FACTS_METHOD, budget=budget, seed=seed, target=target)
