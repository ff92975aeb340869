"""Candidates before any answer: what the graph's rules propose, with the log-odds and the reasons by evidence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from actc.data.numeric import sigmoid
from actc.data.triples import IntArray, ScoredTriples, Triples
from actc.errors import OptionError, TableError
from actc.evidence.holdouts import score_rules
from actc.evidence.reasons import Reasons
from actc.evidence.rules import propose_by_rules
from actc.evidence.score import ScoredEvidence, best_place
from actc.evidence.table import Progress
from actc.graph.graph import Graph
from actc.methods.pooled.method import EVIDENCE_METHOD

RULES, MODEL, GIVEN = "rules", "model", "given"
"""Who proposed a candidate."""
PLAIN_METHOD = "pooled"
TOO_SMALL = "The graph is too small to learn the weights of evidence; the model's scores decide alone."
HOPELESS = 0.05  # of the expected number of true candidates: no question is about the least likely ones that sum to it
LEAST_ASKED = 10_000  # candidates that questions may be about, however unlikely
MOST_PROPOSED = 2_000_000  # by a model; of these the MOST_SCORED placed best get evidence
MOST_SCORED = 1_000_000  # proposals; each takes half a kilobyte of evidence, a few times over


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidates, and what is known of them before any answer.

    Parameters
    ----------
    triples : ScoredTriples
        Their scores are log-odds where ``log_odds`` says so, else the model's.
    columns : dict of arrays
        The further columns of their file: who proposed each (``proposed_by``), by which rule, the text it is from.
    notes : list of str
    reasons : Reasons, optional
    precisions : list of float
        Draws of the accepted precision by the holdout; empty where no holdout gives it.
    pays : dict, optional
        What a model adds to the rules, by the holdout.
    log_odds : bool
    known : ScoredTriples, optional
        The graph's triples with the model's scores, where a model decides alone.
    seconds : float
        What it took to make them, where an earlier run did.
    """

    triples: ScoredTriples
    columns: dict[str, Any]
    notes: list[str]
    reasons: Reasons | None = None
    precisions: list[float] = field(default_factory=list)
    pays: dict[str, Any] | None = None
    log_odds: bool = False
    known: ScoredTriples | None = None
    seconds: float = 0.0

    @classmethod
    def by_evidence(cls, scored: ScoredEvidence, graph: Graph, columns: dict[str, Any], *notes: str) -> Candidates:
        """Return candidates whose scores are log-odds by evidence."""
        reasons = Reasons(((scored.evidence, scored.model),), graph)
        return cls(scored.candidates, columns, list(notes), reasons, log_odds=True)

    def table(self) -> dict[str, Any]:
        """Return the columns of their file."""
        return {**self.triples.columns(), "score": self.triples.scores, **self.columns}

    @property
    def method(self) -> str:
        """Who selects questions and decides, unless the user names another method."""
        return EVIDENCE_METHOD if self.log_odds else PLAIN_METHOD

    def worth_asking(self, rows: IntArray) -> IntArray:
        """Return those of some candidates that questions may be about: all, unless the evidence rules some out."""
        return rows if self.reasons is None else worth_asking(self.triples, rows)


def candidates_of_rules(graph: Graph, seed: int = 0, progress: Progress | None = None) -> Candidates:
    """Return what the graph's own rules propose, scored by evidence."""
    proposed = propose_by_rules(graph)
    try:
        found = score_rules(graph, proposed, seed=seed, progress=progress)
    except TableError as error:
        raise OptionError(f"{str(error).rstrip('.')}; give --model or --candidates.") from None
    table = proposed.columns()
    columns = {name: table[name] for name in ("rule", "rule_confidence", "rules", "proposed_by")}
    scored = Candidates.by_evidence(found.scored, graph, columns, found.summary())
    return replace(scored, precisions=found.precisions.round(4).tolist())


def proposed_by(who: str, triples: Triples) -> dict[str, Any]:
    """Return the column of who proposed candidates, the same for all."""
    return {"proposed_by": np.full(len(triples), who, dtype=object)}


def best_placed(proposals: ScoredTriples, most: int = MOST_SCORED) -> ScoredTriples:
    """Return the proposals that stand highest in the better of their two slots: about ``most``, or all first ones."""
    place = best_place(proposals)
    up_to = np.cumsum(np.bincount(place.astype(np.int64)))
    last = max(1, int(np.searchsorted(up_to, most, side="right")) - 1)
    return proposals.take(np.flatnonzero(place <= last))


def ask_for(best: int, slots: int) -> int:
    """Return how many proposals for each slot to ask the model for: not many more in all than get evidence."""
    return max(1, min(best, -(-MOST_PROPOSED // max(slots, 1))))


def worth_asking(candidates: ScoredTriples, rows: IntArray) -> IntArray:
    """Return those of some candidates, by rising row, that questions should be about: without the least likely.

    Of a large graph's proposals one in a hundred or a thousand is true: a hundred questions about any of them would
    find none. Scores are log-odds.
    """
    p = sigmoid(candidates.scores[rows])
    order = np.argsort(p, kind="stable")
    hopeless = np.cumsum(p[order]) <= HOPELESS * p.sum()
    hopeless[-LEAST_ASKED:] = False
    return np.sort(rows[order[~hopeless]])
