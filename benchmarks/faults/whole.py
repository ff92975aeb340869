"""Is an output whole? Said by reading it, and by comparing it with one of a run that nothing happened to."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np


def state_of(out: Path, reference: Path, outputs: tuple[str, ...], goes_on: bool) -> str:
    """Return complete, absent, begun (whole, but not all of it yet) or half_written."""
    found, wanted = _files(out, outputs), _files(reference, outputs)
    if not found and not any((out / name).exists() for name in outputs):
        return "absent"
    if any(name not in wanted or not is_whole(out / name, reference / name) for name in found):
        return "half_written"
    missing = set(wanted) - set(found)
    if missing or any((out / name).stat().st_size < _least(reference / name) for name in found):
        # Several files of one command come one after the other, each of them whole.
        folder = len(outputs) == 1 and (reference / outputs[0]).is_dir()
        return "half_written" if folder and not goes_on else "begun"
    return "complete"


def is_whole(path: Path, reference: Path) -> bool:
    """Say whether one file holds all that such a file holds."""
    try:
        return bool(READERS.get(path.suffix, _read_bytes)(path, reference))
    except (OSError, ValueError, EOFError, KeyError, RuntimeError, duckdb.Error, sqlite3.Error, zipfile.BadZipFile):
        return False


def leftovers(out: Path) -> list[Path]:
    """Return what lies about that is nobody's output: hidden neighbours, parts of runs."""
    return [path for path in out.rglob("*") if path.name.endswith((".unfinished", ".parts", ".part"))]


def _files(out: Path, outputs: tuple[str, ...]) -> list[str]:
    """Return the files of the outputs, by name; not those that only an unfinished run needs, nor SQLite's notes."""
    paths = [path for name in outputs for path in ([out / name], (out / name).rglob("*"))[(out / name).is_dir()]]
    names = [str(path.relative_to(out)) for path in paths if path.is_file()]
    others = (".unfinished", ".parts", "proposals.parts", "-wal", "-shm")
    return [name for name in names if not any(word in name for word in others)]


def _least(reference: Path) -> int:
    """Return how large a file that grows by and by must be to have all; others are compared when they are read."""
    return int(0.98 * reference.stat().st_size) if reference.name == "rows.csv" else 0


def _rows(path: Path) -> list[list[str]]:
    """Return the rows of a comparison without their last column, which is the time it took."""
    return [line.split(",")[:-1] for line in path.read_text(encoding="utf-8").splitlines()]


def _read_csv(path: Path, reference: Path) -> bool:
    mine, theirs = _rows(path), _rows(reference)
    return path.read_bytes().endswith(b"\n") and mine == theirs[: len(mine)]


def _read_bytes(path: Path, reference: Path) -> bool:
    if path.parent.name == "better":
        return path.stat().st_size > 0 and path.read_bytes()[-1:] in (b"\n", b"}", b"|", b".", b">")
    return path.read_bytes() == reference.read_bytes() or (path.name == "secret" and path.stat().st_size == 32)


def _read_json(path: Path, reference: Path) -> bool:
    mine, theirs = (json.loads(one.read_text(encoding="utf-8")) for one in (path, reference))
    return type(mine) is type(theirs) and (path.name in ("begun.json", "names.json") or list(mine) == list(theirs))


def _read_parquet(path: Path, reference: Path) -> bool:
    mine, theirs = (duckdb.sql(f"SELECT * FROM read_parquet('{one}')").fetchall() for one in (path, reference))
    return bool(mine) and (path.parent.name == "better" or _in_words(mine) == _in_words(theirs))


def _in_words(rows: list[tuple[object, ...]]) -> list[str]:
    """Return rows in order; of numbers that threads added up, the last digits may be others."""
    return sorted(str([f"{cell:.6g}" if isinstance(cell, float) else cell for cell in row]) for row in rows)


def _read_sqlite(path: Path, reference: Path) -> bool:
    return _counts(path) == _counts(reference)


def _counts(path: Path) -> dict[str, int]:
    """Return how many rows each table of a sound database has."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        if connection.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
            raise ValueError(path)
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables}


def _read_tensors(path: Path, reference: Path) -> bool:
    import torch

    mine, theirs = (torch.load(one, weights_only=True) for one in (path, reference))
    return bool(mine.keys() == theirs.keys())


def _read_arrays(path: Path, reference: Path) -> bool:
    with np.load(path) as mine, np.load(reference) as theirs:
        return all(mine[name].dtype == theirs[name].dtype for name in theirs)


def _read_array(path: Path, reference: Path) -> bool:
    return bool(np.load(path).ndim == np.load(reference).ndim)


READERS = {
    ".csv": _read_csv,
    ".json": _read_json,
    ".jsonl": _read_bytes,
    ".parquet": _read_parquet,
    ".sqlite": _read_sqlite,
    ".pt": _read_tensors,
    ".npy": _read_array,
    ".npz": _read_arrays,
}
