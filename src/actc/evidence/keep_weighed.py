"""Evidence and what it is worth, kept beside candidates in one file of plain arrays: for reasons asked later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from actc.data.deliver import write_beside
from actc.data.triples import BoolArray, IntArray, ScoredTriples, Triples
from actc.errors import FileError
from actc.evidence.quantiles import Quantiles
from actc.evidence.reasons import give_reasons
from actc.evidence.table import Evidence
from actc.evidence.worth import Ridge, Worth
from actc.graph.graph import Graph

WEIGHED = ("evidence.npz", "evidence-of-model.npz")


@dataclass(frozen=True, eq=False)
class Reasons:
    """What the graph says of each candidate, and what that is worth.

    Parameters
    ----------
    parts : tuple of (Evidence, Worth)
        Of the candidates, in their order: those of rules, and those of a model alone, are weighed apart.
    graph : Graph
        The known facts.
    """

    parts: tuple[tuple[Evidence, Worth], ...]
    graph: Graph

    def of(self, rows: IntArray, accepted: BoolArray, call: Callable[[str], str] = str) -> list[str]:
        """Return the reasons of some candidates, those for what was decided in front, in one text each.

        ``call`` says what an id is called; without it ids stand there as they are.
        """
        return ["; ".join(texts) for texts in self._give(rows, accepted, call)]

    def marked(self, rows: IntArray) -> list[tuple[str, ...]]:
        """Return the reasons of some candidates as a session keeps them: ids in double brackets, no side in front."""
        return self._give(rows, None, "[[{}]]".format)

    def _give(
        self, rows: IntArray, accepted: BoolArray | None, call: Callable[[str], str] = str
    ) -> list[tuple[str, ...]]:
        said: dict[int, tuple[str, ...]] = {}
        start = 0
        for evidence, worth in self.parts:
            here = np.flatnonzero((rows >= start) & (rows < start + len(evidence)))
            side = None if accepted is None else accepted[here]
            given = give_reasons(evidence, worth, rows[here] - start, graph=self.graph, accepted=side, call=call)
            said |= dict(zip(here.tolist(), given, strict=True))
            start += len(evidence)
        return [said[place] for place in range(len(rows))]

    def describe(self) -> dict[str, Any]:
        """Return what the evidence was worth, as plain values: the heaviest pieces of the first part first."""
        worths = [worth for _, worth in self.parts]
        weights = sorted(worths[0].weights().items(), key=lambda item: -abs(item[1]))
        true = sum(worth.share * len(evidence) for evidence, worth in self.parts)
        return {
            "holdout_facts": sum(worth.holdout for worth in worths),
            "expected_share": round(true / sum(len(evidence) for evidence, _ in self.parts), 4),
            "weights": {name: round(weight, 3) for name, weight in weights},
        }

    def save(self, folder: Path) -> None:
        """Write it into the folder of a run."""
        for (evidence, worth), name in zip(self.parts, WEIGHED, strict=False):
            save_weighed(folder / name, evidence, worth)

    @classmethod
    def load(cls, folder: Path, candidates: ScoredTriples, graph: Graph) -> Reasons | None:
        """Read it back; None where the run used no evidence."""
        parts: list[tuple[Evidence, Worth]] = []
        for path in (folder / name for name in WEIGHED):
            if path.exists():
                done = sum(len(evidence) for evidence, _ in parts)
                parts.append(load_weighed(path, candidates.take(np.arange(done, len(candidates)))))
        return cls(tuple(parts), graph) if parts else None


def save_weighed(path: Path, evidence: Evidence, worth: Worth) -> None:
    """Write evidence and its worth by the ridge."""
    quantiles = worth.ridge.quantiles
    kept: dict[str, Any] = {
        "values": evidence.values.astype(np.float32),
        "named": evidence.named.astype(np.int32),
        **{name: np.array(getattr(evidence, name)) for name in ("columns", "entity_names", "relation_names")},
        "pieces": np.array(worth.columns),
        "weights": worth.ridge.weights,
        "numbers": np.array([worth.ridge.intercept, worth.share, worth.holdout]),
        "knots": np.array([len(values) for values in quantiles.values]),
        "knot_values": np.concatenate(quantiles.values),
        "knot_normal": np.concatenate(quantiles.normal),
    }
    with write_beside(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **kept)


def load_weighed(path: Path, candidates: Triples) -> tuple[Evidence, Worth]:
    """Read what :func:`save_weighed` wrote of the first of these candidates."""
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
        raise FileError(f"{path} does not hold weighed evidence ({error}); weigh it again.") from None
    if len(values) > len(candidates):
        raise FileError(f"{path}: it has {len(values)} rows, more than the {len(candidates)} candidates.")
    candidates = candidates.take(np.arange(len(values)))
    ridge = Ridge(Quantiles(*knots), found["weights"], intercept)
    evidence = Evidence(candidates, columns, values, named, entities, relations)
    return evidence, Worth(pieces, ridge, share, int(holdout))
