"""The doubtful facts as a pool that answers are about: what is sought there are wrong facts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from actc.complete.check_doubt import Doubts
from actc.data.deliver import write_beside
from actc.data.files import read_scored, write_scored
from actc.data.numeric import moderate, sigmoid
from actc.data.triples import Annotations, BoolArray, FloatArray, IntArray, ScoredTriples
from actc.decide.case import Case
from actc.decide.list_test import Demand
from actc.evidence.model import pieces_of
from actc.evidence.plan import Limits
from actc.evidence.reasons import Reasons
from actc.evidence.score import TriplesWithEvidence, gather_evidence
from actc.evidence.table import Proposals
from actc.graph.graph import Graph
from actc.methods.pooled.model import leave_one_out
from actc.methods.pooled_evidence import DOUBTS, PooledEvidence
from actc.session.oracle import Oracle, ask_oracle
from actc.session.sought import turn

LEFT_OUT = 0.05  # of the expected number of wrong facts: the least doubtful ones that hold so many are not asked about
LEAST_ASKED, MOST_ASKED = 5000, 50_000
LEAST_CHANCE = 1e-6
SPREAD = 1.645  # standard errors: nine in ten
RAREST = 10  # answers, those with the least chance to be asked
POOL, RATIOS = "pool.parquet", "kinds.npy"


@dataclass(frozen=True, eq=False)
class Doubtful:
    """The facts that may be asked about, the most doubtful first, and what the graph says of each.

    Parameters
    ----------
    facts : ScoredTriples
        Their scores are log-odds of being wrong.
    ratios : float array of shape (n, K)
        The log of the density of each kind of error over that of facts.
    reasons : Reasons
        The evidence, as if each fact were not there, and what it is worth for being true.
    """

    facts: ScoredTriples
    ratios: FloatArray
    reasons: Reasons

    @property
    def pool(self) -> TriplesWithEvidence:
        """The facts with all that answers may move the weights of: pieces of evidence, and kinds of errors."""
        ((evidence, worth),) = self.reasons.parts
        pieces = worth.ridge.quantiles.transform(pieces_of(evidence, worth.columns))
        kinds = self.ratios - self.ratios.mean(axis=1, keepdims=True)
        kinds = (kinds - kinds.mean(axis=0)) / np.maximum(kinds.std(axis=0), 1e-9)
        names = (*worth.columns, *(f"kind_{at + 1}" for at in range(kinds.shape[1])))
        return TriplesWithEvidence.of(self.facts, np.column_stack([pieces, kinds]), names, with_log_odds=True)

    def probability(self, case: Case | None = None) -> FloatArray:
        """Return P(wrong) of each: before any answer, or by all that the answers of a case taught, shape (n,).

        What is taken out is decided by the case, whose precision can be vouched for; this puts the list in order. Four
        fits are averaged: relations alike or each with a line of its own, as they would have foretold each answer
        without it; the weights of evidence and of kinds moved or not. So a few answers cannot spoil a good order.
        """
        if case is None or not len(case.annotations):
            return sigmoid(self.facts.scores)
        answers, pool = case.answers_in(self.facts), self.pool
        told, foretold = zip(*(_fit_twice(one, answers) for one in (pool, pool.as_if(0))), strict=True)
        weights = np.exp(np.array(foretold) - max(foretold))
        found = np.asarray(weights / weights.sum() @ np.stack(told))
        found[answers.rows] = answers.labels
        return found

    def share(self, case: Case, before: float) -> FloatArray:
        """Return the share of wrong facts by the answers: low, middle, high, as Horvitz and Thompson weight them.

        A ratio estimate: by how much more of the judged facts are wrong than was expected of them. As if half a wrong
        one were found among the least likely asked about: that nothing was found there does not say there is nothing.

        Parameters
        ----------
        case : Case
            With answers of known chance.
        before : float
            The share that was expected before any answer.
        """
        answers = case.answers_in(self.facts)
        answers = answers.take(answers.proves)
        expected, weights = sigmoid(self.facts.scores[answers.rows]), 1 / answers.chance
        whole = float(weights @ expected)
        times = float(weights @ answers.labels) / whole
        error = SPREAD * float(np.sqrt(np.square(weights * (answers.labels - times * expected)).sum())) / whole
        luck = 0.5 * float(np.median(np.sort(weights)[-RAREST:])) / whole
        return np.clip(before * np.array([times - error, times, times + luck + error]), 0, 1)

    def save(self, folder: Path) -> None:
        """Write it into the folder of a run."""
        write_scored(folder / POOL, self.facts)
        with write_beside(folder / RATIOS) as temporary, temporary.open("wb") as file:
            np.save(file, self.ratios)
        self.reasons.save(folder)

    @classmethod
    def load(cls, folder: Path, graph: Graph) -> Self:
        """Read what an earlier run wrote."""
        facts = read_scored(folder / POOL)[0]
        reasons = Reasons.load(folder, facts, graph)
        assert reasons is not None
        return cls(facts, np.load(folder / RATIOS, allow_pickle=False), reasons)


def _fit_twice(pool: TriplesWithEvidence, answers: Annotations) -> tuple[FloatArray, float]:
    """Return P(wrong) with and without moved weights, on average, and the log of how likely the answers were."""
    fit = PooledEvidence().fit(pool, answers)
    foretold = moderate(*leave_one_out(fit.draws, answers)).clip(LEAST_CHANCE, 1 - LEAST_CHANCE)
    likelihood = float(np.log(np.where(answers.labels, foretold, 1 - foretold)).sum())
    return (fit.probabilities(pool) + fit.base.probabilities(pool)) / 2, likelihood


def find_doubtful(doubts: Doubts) -> Doubtful:
    """Take the most doubtful facts, and look up what the graph says of each."""
    rows = most_doubtful(doubts)
    facts = doubts.graph.take(rows).with_scores(doubts.log_odds[rows]).with_used_names()
    evidence = gather_evidence(doubts.graph, Proposals(facts), Limits.for_count(len(rows)))
    return Doubtful(facts, doubts.ratios[rows], Reasons(((evidence, doubts.worth),), doubts.graph))


def most_doubtful(doubts: Doubts) -> IntArray:
    """Return the rows of the facts that may be asked about, the most doubtful first."""
    wrong = doubts.probability[doubts.order]
    enough = int(np.searchsorted(np.cumsum(wrong), (1 - LEFT_OUT) * wrong.sum())) + 1
    return doubts.order[: min(max(enough, LEAST_ASKED), MOST_ASKED)]


def ask_about(
    facts: ScoredTriples, oracle: Oracle, judgeable: IntArray, budget: int, demand: Demand | None = None, seed: int = 0
) -> Case:
    """Ask an oracle, which says whether triples are true, about doubtful facts; return the case of wrong ones."""

    def wrong(triples: ScoredTriples, rows: IntArray) -> BoolArray:
        return turn(Annotations(rows, oracle(triples, rows))).labels

    return ask_oracle(facts, wrong, judgeable, method=DOUBTS, budget=budget, seed=seed, demand=demand)
