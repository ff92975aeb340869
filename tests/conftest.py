"""A tiny graph for most tests; the shared data, where they are, for the others."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from actc import ScoredTriples
from actc.experiment.cells import Cell, read_cell

# The same examples every time, so that a change is never blamed for what luck found; to go and look for more:
# ACTC_RANDOM=1 make test
settings.register_profile("actc", deadline=None, derandomize=not os.environ.get("ACTC_RANDOM"))
settings.load_profile("actc")


def make_pool(size: int = 60, relations: int = 3, seed: int = 0) -> tuple[ScoredTriples, np.ndarray]:
    """Make a pool whose true triples score higher, each relation having a cut of its own."""
    rng = np.random.default_rng(seed)
    relation = rng.integers(relations, size=size)
    relation[:relations] = np.arange(relations)
    scores = rng.random(size)
    labels = scores + 0.1 * rng.normal(size=size) > 0.2 + 0.6 * relation / max(relations - 1, 1)
    names = [f"r{code}" for code in relation]
    pool = ScoredTriples.from_columns([f"h{i}" for i in range(size)], names, ["t"] * size, scores)
    return pool, labels


@pytest.fixture
def pool() -> ScoredTriples:
    return make_pool()[0]


@pytest.fixture
def labels() -> np.ndarray:
    return make_pool()[1]


@pytest.fixture(scope="session")
def data_folder() -> Path:
    folder = os.environ.get("ACTC_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("ACTC_DATA does not point to a folder with CoDEx and scores; see docs/how-to/rerun-paper.md")
    return Path(folder)


@pytest.fixture(scope="session")
def authors_cell(data_folder: Path) -> Cell:
    return read_cell(data_folder / "scores" / "codex-s" / "complex-authors")
