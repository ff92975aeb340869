"""Change one bit of a file, as a worn disk or a bad copy does."""

from __future__ import annotations

import random
from pathlib import Path

# Which inputs, in turn.
FLIPPED = {
    "start": ("scores.tsv", "graph.tsv"),
    "decide": ("thresholds.json", "many.parquet"),
    "candidates": ("graph.tsv",),
    "complete": ("graph.tsv", "truth.tsv"),
    "export": ("session/session.sqlite", "session/pool.parquet", "session/session.sqlite"),
    "bench": ("set/model/valid.tsv", "set/model/test.tsv"),
}


def flip(path: Path, chance: random.Random) -> None:
    """Change a random bit of a file."""
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)
