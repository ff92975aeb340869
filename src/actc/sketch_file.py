"""A sketch of a large pool on disk: its sample as a table, and what was measured on the whole of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from actc.errors import FileError
from actc.files import read_scored, write_beside, write_scored
from actc.pooled_features import NormalScores, PreparedPool, SampledTriples

SAMPLE, MEASURED = "sample.parquet", "sketch.npz"
_ARRAYS = ("relations", "x", "members", "places", "starts", "counts", "sizes", "points", "agreement")
_NORMAL = ("scores", "before", "z")
_FEATURE = "feature_"


def write_sketch(folder: Path, sample: SampledTriples) -> None:
    """Write a sketch into a folder, as two files."""
    pool = sample.prepared
    arrays = {name: np.asarray(getattr(pool, name)) for name in _ARRAYS}
    arrays |= {name: getattr(pool.normal, name) for name in _NORMAL}
    arrays |= {_FEATURE + name: values for name, values in pool.features.items()}
    write_scored(folder / SAMPLE, sample)
    with write_beside(folder / MEASURED) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def has_sketch(folder: Path) -> bool:
    """Say whether there is a sketch in a folder."""
    return (folder / MEASURED).is_file()


def read_sketch(folder: Path) -> SampledTriples:
    """Read a sketch back."""
    sample = read_scored(folder / SAMPLE)[0]
    try:
        with np.load(folder / MEASURED) as file:
            arrays = dict(file)
        measured = {name: arrays[name] for name in _ARRAYS}
        normal = NormalScores(*(arrays[name] for name in _NORMAL))
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise FileError(f"{folder / MEASURED}: the sketch is damaged ({type(error).__name__}: {error}).") from None
    measured["agreement"] = float(measured["agreement"])
    features = {name.removeprefix(_FEATURE): values for name, values in arrays.items() if name.startswith(_FEATURE)}
    pool = PreparedPool(normal, sample.relation_names, features=features, **measured)
    columns = (sample.heads, sample.relations, sample.tails, sample.scores)
    return SampledTriples(*columns, sample.entity_names, sample.relation_names, pool)
