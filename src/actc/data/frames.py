"""Columns out of any data frame and into one; a table and a bar for a notebook.

No library of frames is needed. pandas, polars and Arrow are met by what they share: a frame knows the names of its
columns, and ``frame[name]`` gives one. A LazyFrame of polars and a relation of DuckDB give the columns that
are needed, and no others. Whatever came in, the same kind goes out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actc.errors import OptionError, RowError, TableError, check_choice, choose

TRIPLE = ("head", "relation", "tail")
SCORED = (*TRIPLE, "score")
COLUMNS = (*SCORED, "label")
PROBABILITIES = ("probability", "confidence")
"""Names of a score column whose values are probabilities, where all of them are within 0 and 1."""
ALIASES = {"subject": "head", "predicate": "relation", "object": "tail", "rel": "relation"}
ALIASES |= dict.fromkeys(PROBABILITIES, "score")
"""What columns are also called."""
EDGE_NAMES = {
    "head": ("head_label", "head_id", "source", "source_id", ":start_id", "_start", "s", "item"),
    "relation": ("relation_label", "relation_id", "relationship", "type", ":type", "_type", "p", "property"),
    "tail": ("tail_label", "tail_id", "target", "target_id", ":end_id", "_end", "o", "value"),
}
"""Their names in PyKEEN, GraphRAG, LlamaIndex, Neo4j and Wikidata's results; used where both ends are there."""
TEXT = "text"
"""The column with the text that a triple was taken from."""
TEXTS = ("sentence", TEXT, "evidence", "source", "description", "context", "chunk")
"""What it is also called; the first that is there."""
Columns = str | Mapping[str, str] | None
"""The user's own names of columns: ``head=subj,tail=obj``, or a dict; a number is a column's place, from 1 on."""
SHOWN = 10  # rows of a table in a notebook


def as_list(column: Iterable[Any]) -> list[Any]:
    """Return a column as a list: a list, a numpy array, a Series whatever its index, an Arrow array."""
    way = next((way for way in ("tolist", "to_list", "to_pylist") if hasattr(column, way)), None)
    cells = list(column) if way is None else getattr(column, way)()
    return cells if isinstance(cells, list) else [cells]


MANY = 10_000  # rows from which it pays to import pyarrow


def as_arrow(column: Any) -> Any | None:
    """Return a long column of text that can be had in Arrow's form as a pyarrow array, None for any other.

    A Series of pandas or polars and a column of Arrow can, where pyarrow is installed: then no text passes through
    Python one by one.
    """
    if not hasattr(column, "__arrow_c_stream__") or len(column) < MANY:
        return None
    try:
        import pyarrow
    except ModuleNotFoundError:
        return None
    try:
        whole = pyarrow.chunked_array(column).combine_chunks()
        text = whole.cast(pyarrow.large_string()) if "string" in str(whole.type) else None  # no numbers or dates
    except (pyarrow.ArrowException, UnicodeError, TypeError):  # whatever it is, the slow way has a sentence for it
        return None
    return None if text is None or text.null_count else text


def read_frame(frame: Any, names: Sequence[str], columns: Columns = None) -> list[Any]:
    """Return the columns of the given names, or of what those are also called, in whatever case.

    Heads, relations and tails may be whole numbers: they become text. ``columns`` are those that the user names.
    """
    called = call_columns(_column_names(frame), columns)
    missing = [name for name in names if name not in called]
    if missing:
        there = ", ".join(dict.fromkeys(map(str, called.values()))) or "none"
        raise TableError(f"The column {missing[0]!r} is missing (the columns: {there}); name or rename yours.")
    pairs = zip(names, _take(frame, [called[name] for name in names]), strict=True)
    return [list(map(str, as_list(one))) if name in TRIPLE and are_integers(one) else one for name, one in pairs]


def has_probabilities(frame: Any, columns: Columns = None) -> bool:
    """Return whether the score column of a frame is called like probabilities."""
    called = call_columns(_column_names(frame), columns)
    return any(name in called and called[name] == called["score"] for name in PROBABILITIES)


def read_optional(frame: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return those columns of the given names that a frame has."""
    called = call_columns(_column_names(frame))
    there = [name for name in names if name in called]
    return dict(zip(there, _take(frame, [called[name] for name in there]), strict=True))


def read_further(frame: Any, names: Sequence[str], columns: Columns = None) -> dict[str, Any]:
    """Return the columns of a frame in memory that are not those of the given names, as arrays."""
    if _is_lazy(frame) or _is_relation(frame):
        return {}
    called = call_columns(_column_names(frame), columns)
    used = {called.get(name) for name in names}
    return {str(name): _as_array(frame[name]) for name in _column_names(frame) if name not in used}


def _as_array(column: Any) -> NDArray[Any]:
    """Return a column as an array; text as objects."""
    array = np.asarray(column) if hasattr(column, "__array__") else None
    if array is not None and array.ndim == 1 and array.dtype.kind not in "US":
        return array
    cells = as_list(column)
    numbers = bool(cells) and all(type(cell) in (int, float, bool) for cell in cells)
    return np.array(cells) if numbers else np.array([*cells, None], dtype=object)[:-1]


def _take(frame: Any, names: Sequence[Any]) -> list[Any]:
    """Return columns by the frame's own names; of a frame that is lazy, these alone."""
    if names and _is_lazy(frame):
        frame = frame.select(names).collect()
    elif names and _is_relation(frame):
        frame = frame.select(*(f'"{name.replace(chr(34), chr(34) * 2)}"' for name in names)).to_arrow_table()
    return [frame[name] for name in names]


def _is_lazy(frame: Any) -> bool:
    return hasattr(frame, "collect") and hasattr(frame, "collect_schema")


def _is_relation(frame: Any) -> bool:
    return hasattr(frame, "fetchnumpy") and hasattr(frame, "select")


def are_integers(column: Any) -> bool:
    """Return whether a column holds whole numbers and nothing else."""
    if as_arrow(column) is not None:  # text
        return False
    kinds = set(map(type, as_list(column)))
    return bool(kinds) and all(issubclass(kind, Integral) and not issubclass(kind, bool) for kind in kinds)


def parse_columns(columns: Columns) -> dict[str, str]:
    """Read the names that a user gives columns, such as ``head=subj,tail=obj``; refuse what no table has here."""
    if columns is None or isinstance(columns, Mapping):
        chosen = {str(name): str(own) for name, own in (columns or {}).items()}
    else:
        pairs = [part.partition("=") for part in columns.split(",") if part.strip()]
        chosen = {name.strip(): own.strip() for name, _, own in pairs}
    for name, own in chosen.items():
        check_choice("column", name, (*COLUMNS, *PROBABILITIES, TEXT))
        if not own:
            raise OptionError(f"columns: {name} has no name; write such as head=subj,relation=verb,tail=obj.")
    return chosen


def write_columns(columns: Columns) -> str | None:
    """Write the names that a user gives columns as the command line takes them."""
    return None if columns is None else ",".join(map("=".join, parse_columns(columns).items()))


def call_columns(names: Sequence[str], columns: Columns = None) -> dict[str, str]:
    """Return the own name of each column by what it is called here; "score" is the score, whatever else there is.

    ``columns`` are those that the user names, each by its name or its place, from 1 on.
    """
    called = parse_columns(columns)
    for name, given in called.items():
        if given not in names:
            if not (given.isdecimal() and 0 < int(given) <= len(names)):
                raise TableError(f"there is no column {given!r}; there are: {', '.join(map(str, names))}.")
            called[name] = names[int(given) - 1]
    taken = set(called.values())
    for name in [name for name in names if name not in taken]:
        # Neo4j writes :START_ID(Person), spreadsheets "Head Label".
        called.setdefault(re.sub(r"\(.*\)$", "", str(name).strip().lower()).strip().replace(" ", "_"), name)
    for other, name in ALIASES.items():
        if other in called:
            called.setdefault(name, called[other])
    edge = {name: next((called[other] for other in (name, *others) if other in called), None)
            for name, others in EDGE_NAMES.items()}  # fmt: skip
    if edge["head"] is not None and edge["tail"] is not None:
        # LlamaIndex: a label of the edge, no answer.
        if edge["relation"] is None and "label" in called and "source_id" in called:
            edge["relation"] = called.pop("label")
        called |= {name: own for name, own in edge.items() if own is not None}
        if "weight" in called:
            called.setdefault("score", called["weight"])
    return called


def _column_names(frame: Any) -> list[Any]:
    """Return the frame's own names of its columns; refuse what is no table."""
    if isinstance(frame, Mapping):
        return list(frame)
    if _is_lazy(frame):
        return list(frame.collect_schema().names())
    names = getattr(frame, "column_names", getattr(frame, "columns", None))  # a pyarrow Table's columns are its data
    if names is None or callable(names) or not hasattr(frame, "__getitem__"):
        raise TableError(
            f"A {type(frame).__name__} is no table with columns; give a pandas or polars DataFrame, an Arrow table, a "
            "DuckDB relation or a dict of columns."
        )
    return list(names)


FRAMES: dict[str, tuple[str, Callable[[Any, dict[str, Any]], Any]]] = {
    "pandas": ("pandas", lambda pandas, columns: pandas.DataFrame(columns)),
    "polars": ("polars", lambda polars, columns: polars.DataFrame(columns)),
    "polars-lazy": ("polars", lambda polars, columns: polars.LazyFrame(columns)),
    "pyarrow": ("pyarrow", lambda pyarrow, columns: pyarrow.table(columns)),
    "duckdb": ("pyarrow", lambda pyarrow, columns: import_module("duckdb").from_arrow(pyarrow.table(columns))),
}
"""Each kind of frame: the library that it needs, and how that makes one from a dict of columns."""


def kind_of(frame: Any) -> str:
    """Return which kind of ``FRAMES`` a frame is; pandas for what is none of them, such as a dict."""
    if _is_relation(frame):
        return "duckdb"
    library = type(frame).__module__.partition(".")[0]
    return "polars-lazy" if _is_lazy(frame) and library == "polars" else library if library in FRAMES else "pandas"


def make_frame(columns: Mapping[str, Any], library: str) -> Any:
    """Return aligned columns as a frame of a kind in ``FRAMES``."""
    needed, make = choose("library of frames", library, FRAMES)
    try:
        module = import_module(needed)
    except ModuleNotFoundError:
        raise OptionError(f"A frame of {library} needs {needed}. Install it with: pip install {needed}") from None
    return make(module, dict(columns))


# WN11 and FB13, as they are given out, write -1 for false.
LABELS = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False, "-1": False, "-1.0": False}
"""How a label may be written, in whatever case."""


def as_labels(labels: Any) -> NDArray[Any]:
    """Return labels as an array: true, false, or NaN where there is none; text is read as files are."""
    cells = as_list(labels)
    if not any(cell is None or isinstance(cell, str) or cell != cell for cell in cells):
        return np.asarray(cells)
    return np.array([_as_label(row, cell) for row, cell in enumerate(cells)])


def _as_label(row: int, cell: Any) -> float:
    if cell is None or cell != cell:
        return np.nan
    if not isinstance(cell, str):
        return float(cell)
    if cell.strip().lower() not in LABELS:
        raise RowError(
            row, f"the label is the text {cell!r}; write 1 (true), 0 (false), or nothing where none is known."
        )
    return float(LABELS[cell.strip().lower()])
