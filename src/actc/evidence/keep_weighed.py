"""Evidence and what it is worth, kept beside candidates in one file of plain arrays: for reasons asked later."""

from __future__ import annotations

from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from actc.errors import FileError
from actc.evidence.quantiles import Quantiles
from actc.evidence.table import Evidence
from actc.evidence.trees import Trees
from actc.evidence.worth import Ridge, Worth
from actc.tables.deliver import write_beside
from actc.triples import Triples

TREES = ("table", "labels", "cases")


def save_weighed(path: Path, evidence: Evidence, worth: Worth) -> None:
    """Write evidence and worth; of trees what they learn from, since the same ones grow from it again."""
    quantiles = worth.ridge.quantiles
    kept = {
        "values": evidence.values.astype(np.float32),
        "named": evidence.named.astype(np.int32),
        **{name: np.array(getattr(evidence, name)) for name in ("columns", "entity_names", "relation_names")},
        "pieces": np.array(worth.columns),
        "weights": worth.ridge.weights,
        "numbers": np.array([worth.ridge.intercept, worth.share, worth.holdout]),
        "knots": np.array([len(values) for values in quantiles.values]),
        "knot_values": np.concatenate(quantiles.values),
        "knot_normal": np.concatenate(quantiles.normal),
        **({} if worth.trees is None else {name: getattr(worth.trees, name) for name in TREES}),
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
        trees = Trees(*(found[name] for name in TREES)) if "table" in found else None
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise FileError(f"{path} does not hold weighed evidence ({error}); weigh it again.") from None
    if len(values) > len(candidates):
        raise FileError(f"{path}: it has {len(values)} rows, more than the {len(candidates)} candidates.")
    candidates = candidates.take(np.arange(len(values)))
    ridge = Ridge(Quantiles(*knots), found["weights"], intercept)
    evidence = Evidence(candidates, columns, values, named, entities, relations)
    return evidence, Worth(pieces, ridge, trees, share, int(holdout))
