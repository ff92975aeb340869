"""Columns out of any data frame and into one, and a table for a notebook.

No library of frames is needed. pandas, polars and Arrow are met by what they share: a frame knows the names of its
columns, and ``frame[name]`` gives one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from typing import Any

from actc.errors import ChoiceError, OptionError, TableError

ALIASES = {"subject": "head", "predicate": "relation", "object": "tail", "rel": "relation"}
SHOWN = 10  # rows of a table in a notebook


def as_list(column: Iterable[Any]) -> list[Any]:
    """Return a column as a list: a list, a numpy array, a Series whatever its index, an Arrow array."""
    way = next((way for way in ("tolist", "to_list", "to_pylist") if hasattr(column, way)), None)
    listed = list(column) if way is None else getattr(column, way)()
    return listed if isinstance(listed, list) else [listed]


def read_frame(frame: Any, names: Sequence[str]) -> list[Any]:
    """Return the columns of the given names, or of what those are also called, in whatever case.

    Parameters
    ----------
    frame : pandas or polars DataFrame, pyarrow Table or dict of columns
    names : sequence of str
        Such as head, relation, tail, score.
    """
    found = _column_names(frame)
    if found is None:
        raise TableError(
            f"A {type(frame).__name__} is no table with columns; give a pandas or polars DataFrame, an Arrow table or "
            "a dict of columns."
        )
    called = {ALIASES.get(str(name).lower(), str(name).lower()): name for name in found}
    missing = [name for name in names if name not in called]
    if missing:
        told = ", ".join(map(str, found)) or "none"
        raise TableError(f"The column {missing[0]!r} is missing (found: {told}); rename yours.")
    return [frame[called[name]] for name in names]


def _column_names(frame: Any) -> list[Any] | None:
    if isinstance(frame, Mapping):
        return list(frame)
    names = getattr(frame, "column_names", getattr(frame, "columns", None))  # a pyarrow Table's columns are its data
    if names is None or callable(names) or not hasattr(frame, "__getitem__"):
        return None
    return list(names) if all(isinstance(name, str) for name in names) else None


FRAMES = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}
"""Each library of frames and what in it makes one from a dict of columns."""


def make_frame(columns: Mapping[str, Any], library: str) -> Any:
    """Return aligned columns as a frame of a library in ``FRAMES``."""
    if library not in FRAMES:
        raise ChoiceError("library of frames", library, FRAMES)
    try:
        module = import_module(library)
    except ModuleNotFoundError:
        raise OptionError(f"A frame of {library} needs {library}. Install it with: pip install {library}") from None
    return getattr(module, FRAMES[library])(dict(columns))


def html_table(caption: str, columns: Mapping[str, Any], total: int) -> str:
    """Return the first rows of aligned columns as an HTML table for a notebook, with a line above and below."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    rows = zip(*(column[:SHOWN] for column in columns.values()), strict=True)
    body = "".join("<tr>" + "".join(f"<td>{escape(_text(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    more = f"<p>… and {total - SHOWN:,} more</p>" if total > SHOWN else ""
    return f"<p>{escape(caption)}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _text(cell: Any) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
