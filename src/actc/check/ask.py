"""The doubtful facts as a pool that answers are about: what is sought there are wrong facts.

People, judges and files of labels say of a triple whether it is true; ``session.sought`` turns that round.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.check.doubt import Doubts
from actc.complete.completion import Oracle, ask_oracle
from actc.complete.weighing import LOG_ODDS
from actc.evidence.plan import Limits
from actc.evidence.pools import WeighedTriples
from actc.evidence.table import Evidence, Progress, Proposals, gather_evidence
from actc.evidence.worth import Worth, pieces_of
from actc.graphs.graph import Graph
from actc.session.sought import turn
from actc.triples import Annotations, BoolArray, IntArray, ScoredTriples
from actc.trust.case import Case
from actc.trust.promise import Demand

LEFT_OUT = 0.05  # of the expected number of wrong facts: the least doubtful ones that hold so many are not asked about
LEAST_ASKED, MOST_ASKED = 5000, 50_000


@dataclass(frozen=True, eq=False)
class Doubtful:
    """The facts that may be asked about, the most doubtful first, and what the graph says of each.

    Parameters
    ----------
    rows : int array of shape (n,)
        Of the graph's facts.
    pool : WeighedTriples
        Their scores are log-odds of being wrong; answers may move the weights of evidence and of kinds.
    evidence : Evidence
        As if each were not there.
    worth : Worth
        What that is worth for being true.
    graph : Graph
    """

    rows: IntArray
    pool: WeighedTriples
    evidence: Evidence
    worth: Worth
    graph: Graph


def find_doubtful(doubts: Doubts, progress: Progress | None = None) -> Doubtful:
    """Take the most doubtful facts, and look up what the graph says of each."""
    rows = doubts.order[: _count_doubtful(doubts)]
    facts = doubts.graph.take(rows)
    evidence = gather_evidence(doubts.graph, Proposals(facts), Limits.for_count(len(rows)), progress=progress)
    worth = doubts.worth
    pieces = worth.ridge.quantiles.transform(pieces_of(evidence, worth.columns))
    kinds = doubts.ratios[rows] - doubts.ratios[rows].mean(axis=1, keepdims=True)
    kinds = (kinds - kinds.mean(axis=0)) / np.maximum(kinds.std(axis=0), 1e-9)
    names = (*worth.columns, *(f"kind: {name}" for name in doubts.kinds))
    scored = facts.with_scores(doubts.log_odds[rows])
    pool = WeighedTriples.of(scored, np.column_stack([pieces, kinds]), names, taught=True)
    return Doubtful(rows, pool, evidence, worth, doubts.graph)


def _count_doubtful(doubts: Doubts) -> int:
    wrong = doubts.probability[doubts.order]
    enough = int(np.searchsorted(np.cumsum(wrong), (1 - LEFT_OUT) * wrong.sum())) + 1
    return min(max(enough, LEAST_ASKED), MOST_ASKED, len(wrong))


def ask_about(
    pool: ScoredTriples, oracle: Oracle, judgeable: IntArray, budget: int, demand: Demand | None = None, seed: int = 0
) -> Case:
    """Ask an oracle, which says whether triples are true, about doubtful facts; return the case of wrong ones."""

    def wrong(triples: ScoredTriples, rows: IntArray) -> BoolArray:
        return turn(Annotations(rows, oracle(triples, rows))).labels

    return ask_oracle(pool, wrong, judgeable, method=LOG_ODDS, budget=budget, seed=seed, demand=demand)
