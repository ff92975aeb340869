"""Why a candidate may be true or false: what weighed most in its log-odds, in sentences; kept beside the candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import ArrayLike, NDArray

from actc.data.deliver import write_beside
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Triples
from actc.errors import FileError
from actc.evidence.model import EvidenceModel, Quantiles, Ridge, pieces_of
from actc.evidence.plan import SIDES
from actc.evidence.sentences import SENTENCES, Row, Slots
from actc.evidence.table import Evidence
from actc.graph.graph import Graph

# Pieces that say nearly the same make one sentence: two would speak against each other.
ABOUT_ENDS = {
    "slot": "slot",
    "share": "slot",
    "degree": "slot",
    "kind": "kind",
    "rule": "rule",
    "relatives": "relatives",
}
TOPICS = {f"{side}_{name}": f"{side}_{topic}" for side in SIDES for name, topic in ABOUT_ENDS.items()}
TOPICS |= {"pair": "pair", "path": "path", "same": "same"}
TOPICS |= dict.fromkeys(("score", "place", "behind", "above"), "score")
AGAINST = "against: "  # in front of a sentence that opposes a candidate
LEAST = 0.05  # log-odds; what weighs less is no reason


def give_reasons(
    evidence: Evidence,
    model: EvidenceModel,
    rows: ArrayLike | None = None,
    *,
    graph: Graph | None = None,
    accepted: BoolArray | None = None,
    most: int = 3,
    call: Callable[[str], str] = str,
) -> list[tuple[str, ...]]:
    """Return the strongest reasons for and against each of some candidates.

    Parameters
    ----------
    evidence : Evidence
    model : EvidenceModel
        What the pieces are worth.
    rows : int array of shape (n,), optional
        The candidates that reasons are wanted of; all of them if not given.
    graph : Graph, optional
        The known facts: with them a sentence can say that 99% have only one, and which one is there.
    accepted : bool array of shape (n,), optional
        What was decided: reasons of that side come first, at least one of them, or a sentence that there is none.
        Without it the side with the strongest reason comes first.
    most : int
        Sentences per candidate at most.
    call : callable
        What an entity or a relation is called, from its id.

    Returns
    -------
    list of n tuples of str
        Those for and those against apart, the strongest of each first; those against begin with "against: ".
    """
    rows = np.arange(len(evidence)) if rows is None else np.asarray(rows)
    topics, strengths = score_topics(evidence, model, rows)
    slots = {} if graph is None else {side: Slots.of(graph, side) for side in SIDES}
    sides = np.zeros(len(rows)) if accepted is None else np.where(accepted, 1, -1)
    return [
        _choose(Row(evidence, row, slots, call), topics, strength, int(side), most)
        for row, strength, side in zip(rows.tolist(), strengths, sides.tolist(), strict=True)
    ]


def _choose(row: Row, topics: list[str], strength: FloatArray, side: int, most: int) -> tuple[str, ...]:
    """Return the strongest sentences of one candidate, those for and those against it apart."""
    found: list[tuple[bool, str]] = []
    for place in np.argsort(-np.abs(strength), kind="stable").tolist():
        supports = bool(strength[place] > 0)
        agrees = side == 0 or supports == (side > 0)
        room = len(found) < most - 1 or agrees or any(one == (side > 0) for one, _ in found)
        if abs(strength[place]) < LEAST or len(found) == most or not room:
            continue
        if sentence := SENTENCES[topics[place]](row, supports):
            found.append((supports, sentence))
    if side and not any(supports == (side > 0) for supports, _ in found):
        found.insert(0, (side > 0, f"No single piece of evidence {'supports' if side > 0 else 'opposes'} it."))
    first = side > 0 if side else bool(found) and found[0][0]
    found.sort(key=lambda reason: reason[0] != first)
    return tuple(sentence if supports else f"{AGAINST}{sentence}" for supports, sentence in found)


def join_reasons(reasons: Sequence[str]) -> str:
    """Return the reasons of one candidate as one text: "For: ... Against: ...", in their order."""
    parts: dict[str, list[str]] = {}
    for one in reasons:
        parts.setdefault("Against" if one.startswith(AGAINST) else "For", []).append(one.removeprefix(AGAINST))
    return " ".join(f"{name}: {' '.join(sentences)}" for name, sentences in parts.items())


def score_topics(evidence: Evidence, model: EvidenceModel, rows: IntArray) -> tuple[list[str], FloatArray]:
    """Return what sentences can be about, and what each adds to the log-odds of some candidates, shape (n, topics)."""
    topic = [next((one for begins, one in TOPICS.items() if name.startswith(begins)), "") for name in model.columns]
    topics = sorted(set(topic) - {""})
    pieces = model.ridge.pieces(pieces_of(evidence, model.columns, rows))
    strengths = [pieces[:, [name == one for name in topic]].sum(axis=1) for one in topics]
    return topics, np.column_stack(strengths) if strengths else np.zeros((len(rows), 0))


WEIGHED = ("evidence.npz", "evidence-of-model.npz")


@dataclass(frozen=True, eq=False)
class Reasons:
    """What the graph says of each candidate, and what that is worth.

    Parameters
    ----------
    parts : tuple of (Evidence, EvidenceModel)
        Of the first candidates, in their order: those of rules, and those of a model alone, are scored apart.
    graph : Graph
        The known facts.
    """

    parts: tuple[tuple[Evidence, EvidenceModel], ...]
    graph: Graph

    def of(self, rows: IntArray, accepted: BoolArray, call: Callable[[str], str] = str) -> list[str]:
        """Return the reasons of some candidates, those for what was decided in front, in one text each.

        ``call`` gives the name of an id; without it ids stand there as they are.
        """
        return [join_reasons(reasons) for reasons in self._give(rows, accepted, call)]

    def marked(self, rows: IntArray) -> list[tuple[str, ...]]:
        """Return the reasons of some candidates as a session keeps them: ids in double brackets, no side in front."""
        return self._give(rows, None, "[[{}]]".format)

    def column(self, rows: IntArray, count: int) -> NDArray[np.object_]:
        """Return ``count`` texts, the reasons of some candidates, ids in double brackets; the others are empty."""
        column = np.full(count, "", dtype=object)
        column[rows] = np.array([*map(join_reasons, self.marked(rows)), ""], dtype=object)[:-1]
        return column

    def _give(
        self, rows: IntArray, accepted: BoolArray | None, call: Callable[[str], str] = str
    ) -> list[tuple[str, ...]]:
        reasons: dict[int, tuple[str, ...]] = {}
        start = 0
        for evidence, model in self.parts:
            here = np.flatnonzero((rows >= start) & (rows < start + len(evidence)))
            side = None if accepted is None else accepted[here]
            given = give_reasons(evidence, model, rows[here] - start, graph=self.graph, accepted=side, call=call)
            reasons |= dict(zip(here.tolist(), given, strict=True))
            start += len(evidence)
        return [reasons.get(place, ()) for place in range(len(rows))]

    def describe(self) -> dict[str, Any]:
        """Return what the evidence was worth, as plain values: the heaviest pieces of the first part first."""
        models = [model for _, model in self.parts]
        weights = sorted(models[0].weights().items(), key=lambda item: -abs(item[1]))
        true = sum(model.share * len(evidence) for evidence, model in self.parts)
        return {
            "holdout_facts": sum(model.holdout for model in models),
            "expected_share": round(true / sum(len(evidence) for evidence, _ in self.parts), 4),
            "weights": {name: round(weight, 3) for name, weight in weights},
        }

    def save(self, folder: Path) -> None:
        """Write it into the folder of a run."""
        for (evidence, model), name in zip(self.parts, WEIGHED, strict=False):
            save_evidence(folder / name, evidence, model)

    @classmethod
    def load(cls, folder: Path, candidates: ScoredTriples, graph: Graph) -> Reasons | None:
        """Read it back; None where the run used no evidence."""
        parts: list[tuple[Evidence, EvidenceModel]] = []
        for path in (folder / name for name in WEIGHED):
            if path.exists():
                done = sum(len(evidence) for evidence, _ in parts)
                parts.append(load_evidence(path, candidates.take(np.arange(done, len(candidates)))))
        return cls(tuple(parts), graph) if parts else None


def save_evidence(path: Path, evidence: Evidence, model: EvidenceModel) -> None:
    """Write evidence and its model by the ridge."""
    quantiles = model.ridge.quantiles
    kept: dict[str, Any] = {
        "values": evidence.values.astype(np.float32),
        "named": evidence.named.astype(np.int32),
        **{name: np.array(getattr(evidence, name)) for name in ("columns", "entity_names", "relation_names")},
        "pieces": np.array(model.columns),
        "weights": model.ridge.weights,
        "numbers": np.array([model.ridge.intercept, model.share, model.holdout]),
        "knots": np.array([len(values) for values in quantiles.values]),
        "knot_values": np.concatenate(quantiles.values),
        "knot_normal": np.concatenate(quantiles.normal),
    }
    with write_beside(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **kept)


def load_evidence(path: Path, candidates: Triples) -> tuple[Evidence, EvidenceModel]:
    """Read what :func:`save_evidence` wrote of the first of these candidates."""
    try:
        with np.load(path, allow_pickle=False) as kept:
            found = dict(kept)
        columns, entities, relations, pieces = (
            tuple(found[name].tolist()) for name in ("columns", "entity_names", "relation_names", "pieces")
        )
        values, named = found["values"].astype(np.float64), found["named"].astype(np.int64)
        knots = (
            tuple(np.split(found[name], np.cumsum(found["knots"])[:-1])) for name in ("knot_values", "knot_normal")
        )
        intercept, share, holdout = found["numbers"].tolist()
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise FileError(f"{path} does not hold evidence ({error}); look it up again.") from None
    if len(values) > len(candidates):
        raise FileError(f"{path}: it has {len(values)} rows, more than the {len(candidates)} candidates.")
    candidates = candidates.take(np.arange(len(values)))
    ridge = Ridge(Quantiles(*knots), found["weights"], intercept)
    evidence = Evidence(candidates, columns, values, named, entities, relations)
    return evidence, EvidenceModel(pieces, ridge, share, int(holdout))
