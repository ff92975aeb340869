"""Candidates before any answer: what the graph's rules propose, with the log-odds and the reasons by evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from actc.data.database import open_database, quote_file
from actc.data.deliver import write_beside
from actc.data.files import read_scored, write_scored
from actc.data.frames import TRIPLE
from actc.data.numeric import sigmoid
from actc.data.progress import Stage, no_stage
from actc.data.triples import IntArray, ScoredTriples
from actc.errors import OptionError, TableError
from actc.evidence.holdouts import score_rules
from actc.evidence.model import EvidenceModel
from actc.evidence.reasons import Reasons
from actc.evidence.rules import propose_by_rules
from actc.evidence.score import best_place
from actc.graph.graph import Graph
from actc.methods.pooled.method import EVIDENCE_METHOD

CANDIDATES, KNOWN, PIECES = "candidates.parquet", "known.parquet", "pieces.npz"
"""In a run's folder: the candidates; the graph with a model's scores; the evidence of facts."""
RECORDED = ("notes", "precisions", "pays", "log_odds", "by_themselves")
MODEL, GIVEN = "model", "given"
"""Who proposed a candidate, beside ``RULES``."""
PLAIN_METHOD = "pooled"
TOO_SMALL = "The graph is too small to learn the weights of evidence; the model's scores decide alone."
HOPELESS = 0.05  # of the expected number of true candidates: no question is about the least likely ones that sum to it
LEAST_ELIGIBLE = 10_000  # candidates that questions may be about, however unlikely
MOST_PROPOSED = 2_000_000  # by a model; of these the MOST_SCORED placed best get evidence
MOST_SCORED = 1_000_000  # proposals; each takes half a kilobyte of evidence, a few times over


@dataclass(frozen=True, eq=False)
class Candidates:
    """Triples that may be decided, and what is known of each before any answer.

    Parameters
    ----------
    triples : ScoredTriples
        Missing facts, or the graph's facts where wrong ones are looked for. Their scores are log-odds of being what is
        looked for where ``log_odds`` is set, else a model's. Beside them stand who proposed each (``proposed_by``), by
        which rule, and the columns of the user's own table. The pieces of facts are normal quantiles of their evidence,
        in single precision: answers move the weight of each.
    notes : tuple of str
    reasons : Reasons, optional
    precisions : tuple of float
        Draws of the accepted precision by the holdout; empty where no holdout gives it.
    pays : dict, optional
        What a model adds to the rules, by the holdout.
    log_odds : bool
    by_themselves : bool
        Whether they are evidence for each other, as no graph is.
    known : ScoredTriples, optional
        The graph's triples with the model's scores, where a model decides alone.
    seconds : float
        What it took to make them, where an earlier run did.
    """

    triples: ScoredTriples
    notes: tuple[str, ...] = ()
    reasons: Reasons | None = None
    precisions: tuple[float, ...] = ()
    pays: dict[str, Any] | None = None
    log_odds: bool = False
    by_themselves: bool = False
    known: ScoredTriples | None = None
    seconds: float = 0.0

    @classmethod
    def by_evidence(cls, scored: ScoredTriples, model: EvidenceModel, graph: Graph, *notes: str) -> Self:
        """Return candidates whose scores are log-odds by evidence."""
        return cls(scored.without_pieces(), notes, Reasons(((scored, model),), graph), log_odds=True)

    @property
    def scored(self) -> ScoredTriples:
        """The triples and their scores alone."""
        return replace(self.triples, further={}, pieces={})

    @property
    def method(self) -> str:
        """Who selects questions and decides, unless the user names another method."""
        return EVIDENCE_METHOD if self.log_odds else PLAIN_METHOD

    def worth_asking(self, rows: IntArray) -> IntArray:
        """Return those of some candidates that questions may be about: all, unless the evidence rules some out."""
        return rows if self.reasons is None else worth_asking(self.triples, rows)

    def save(self, folder: Path) -> dict[str, Any]:
        """Write them into the folder of a run; return what its record has of them."""
        folder.mkdir(exist_ok=True)
        write_scored(folder / CANDIDATES, self.triples)
        if self.known is not None:
            write_scored(folder / KNOWN, self.known)
        if self.reasons is not None:
            self.reasons.save(folder)
        if self.triples.pieces:
            with write_beside(folder / PIECES) as temporary, temporary.open("wb") as file:
                columns: dict[str, Any] = {**self.triples.pieces}
                np.savez(file, **columns)
        return {name: getattr(self, name) for name in RECORDED}

    @classmethod
    def load(cls, folder: Path, graph: Graph, record: dict[str, Any]) -> Self:
        """Read what :meth:`save` wrote, with what the folder's record has of it."""
        triples = read_scored(folder / CANDIDATES)[0]
        with open_database() as connection:
            table = connection.execute(f"SELECT * FROM {quote_file(folder / CANDIDATES)}").fetchnumpy()
        further = {
            name: np.ma.filled(column, "") if column.dtype.kind == "O" else np.ma.filled(column, np.nan)
            for name, column in table.items()
            if name not in (*TRIPLE, "score")
        }
        pieces = dict(np.load(folder / PIECES, allow_pickle=False)) if (folder / PIECES).exists() else {}
        values: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in record.items()}
        return cls(
            replace(triples, further=further, pieces=pieces),
            reasons=Reasons.load(folder, triples, Graph.of(graph.union(triples)) if record["by_themselves"] else graph),
            known=read_scored(folder / KNOWN)[0] if (folder / KNOWN).exists() else None,
            **values,
        )


def candidates_of_rules(graph: Graph, seed: int = 0, stage: Stage = no_stage) -> Candidates:
    """Return what the graph's own rules propose, scored by evidence."""
    with stage("Rules") as advance:
        proposed, rules = propose_by_rules(graph, progress=advance)
    try:
        estimate = score_rules(graph, proposed, rules, seed=seed, stage=stage)
    except TableError as error:
        raise OptionError(f"{str(error).rstrip('.')}; give --model or --candidates.") from None
    scored = Candidates.by_evidence(estimate.scored, estimate.model, graph, estimate.summary())
    return replace(scored, precisions=tuple(estimate.precisions.round(4).tolist()))


def proposed_by(who: str, triples: ScoredTriples) -> ScoredTriples:
    """Return triples with a column of who proposed them, the same for all."""
    return replace(triples, further={**triples.further, "proposed_by": np.full(len(triples), who, dtype=object)})


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
    hopeless[-LEAST_ELIGIBLE:] = False
    return np.sort(rows[order[~hopeless]])
