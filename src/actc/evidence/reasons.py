"""Why a candidate may be true or false: what weighed most in its log-odds, in sentences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from actc.data.triples import BoolArray, FloatArray, IntArray
from actc.evidence.plan import SIDES
from actc.evidence.sentences import SENTENCES, Row
from actc.evidence.slots import Slots
from actc.evidence.table import Evidence
from actc.evidence.worth import Worth, pieces_of
from actc.graph.graph import Graph

# Pieces whose columns speak of the same thing make one sentence.
TOPICS = {f"{side}_{name}": f"{side}_{name}" for side in SIDES for name in ("slot", "kind", "rule", "relatives")}
TOPICS |= {f"{side}_{name}": f"{side}_share" for side in SIDES for name in ("degree", "share")}
TOPICS |= {"pair": "pair", "path": "path", "same": "same"}
TOPICS |= dict.fromkeys(("score", "place", "behind", "above"), "score")
LEAST = 0.05  # log-odds; what weighs less is no reason


def give_reasons(
    evidence: Evidence,
    worth: Worth,
    rows: ArrayLike | None = None,
    *,
    graph: Graph | None = None,
    accepted: BoolArray | None = None,
    most: int = 3,
    call: Callable[[str], str] = str,
) -> list[tuple[str, ...]]:
    """Say of some candidates what speaks most for or against each.

    Parameters
    ----------
    evidence : Evidence
    worth : Worth
        What the pieces are worth by the ridge.
    rows : int array of shape (n,), optional
        The candidates asked about; all of them if not given.
    graph : Graph, optional
        The known facts: with them a sentence can say that 99% have only one, and which one is there.
    accepted : bool array of shape (n,), optional
        What was decided: reasons of that side come first, at least one of them where there is one; else that is said.
    most : int
        Sentences per candidate at most.
    call : callable
        What an entity or a relation is called, from its id.

    Returns
    -------
    list of n tuples of str
        The strongest first; what speaks against begins with "against: ".
    """
    rows = np.arange(len(evidence)) if rows is None else np.asarray(rows)
    topics, strengths = weigh_topics(evidence, worth, rows)
    slots = {} if graph is None else {side: Slots.of(graph, side) for side in SIDES}
    sides = np.zeros(len(rows)) if accepted is None else np.where(accepted, 1, -1)
    return [
        _choose(Row(evidence, row, slots, call), topics, strength, int(side), most)
        for row, strength, side in zip(rows.tolist(), strengths, sides.tolist(), strict=True)
    ]


def _choose(row: Row, topics: list[str], strength: FloatArray, side: int, most: int) -> tuple[str, ...]:
    """Return the strongest sentences of one candidate, those of the side that was decided for in front."""
    found: list[tuple[bool, str]] = []
    for place in np.argsort(-np.abs(strength), kind="stable").tolist():
        speaks_for = bool(strength[place] > 0)
        agrees = side == 0 or speaks_for == (side > 0)
        room = len(found) < most - 1 or agrees or any(same for same, _ in found)
        if abs(strength[place]) < LEAST or len(found) == most or not room:
            continue
        if sentence := SENTENCES[topics[place]](row, speaks_for):
            found.append((agrees, sentence if speaks_for else f"against: {sentence}"))
    if side and not any(agrees for agrees, _ in found):
        found = [(True, f"no piece of evidence alone speaks {'for' if side > 0 else 'against'} it"), *found]
    return tuple(text for _, text in sorted(found, key=lambda item: not item[0]))


def weigh_topics(evidence: Evidence, worth: Worth, rows: IntArray) -> tuple[list[str], FloatArray]:
    """Return what sentences can be about, and what each adds to the log-odds of some candidates, shape (n, topics)."""
    topic = [next((said for begins, said in TOPICS.items() if name.startswith(begins)), "") for name in worth.columns]
    topics = sorted(set(topic) - {""})
    pieces = worth.ridge.pieces(pieces_of(evidence, worth.columns, rows))
    strengths = [pieces[:, [name == said for name in topic]].sum(axis=1) for said in topics]
    return topics, np.column_stack(strengths) if strengths else np.zeros((len(rows), 0))
