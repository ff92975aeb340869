"""A graph: triples without scores, each once, and what reading them left out; plain tables of them.

Tables are TSV, CSV, Parquet or JSON lines with the columns head, relation, tail (or subject, predicate, object).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from actc.data.files import read_plain, read_texts
from actc.data.frames import TRIPLE, Columns
from actc.data.layout import find_layout, is_number, require, rows_named_by
from actc.data.triples import FloatArray, Triples, encode_columns
from actc.errors import RowError


@dataclass(frozen=True, eq=False, repr=False)
class Graph(Triples):
    """Triples that a graph holds.

    Parameters
    ----------
    heads, relations, tails : int array of shape (N,)
        Codes into ``entity_names`` (heads, tails) and ``relation_names`` (relations).
    entity_names, relation_names : Vocabulary, or sequence of str
        Sorted vocabularies.
    notes : tuple of str
        What reading it left out or changed, in sentences; a person should see them.
    """

    notes: tuple[str, ...] = field(default=())

    @classmethod
    def from_columns(
        cls, heads: Iterable[str], relations: Iterable[str], tails: Iterable[str], notes: tuple[str, ...] = ()
    ) -> Self:
        """Encode three columns of equal length; a triple that is there twice counts once, and is noted."""
        triples = encode_columns(heads, relations, tails)
        once = triples.unique()
        return cls.of(once, notes + note_repeats(len(triples) - len(once)))

    @classmethod
    def once(cls, triples: Triples, notes: tuple[str, ...] = ()) -> Self:
        """Return the triples of a table, each once and sorted, so that a file gives the same graph every time."""
        once = triples.sorted_once()
        return cls.of(once, notes + note_repeats(len(triples) - len(once)))

    @classmethod
    def of(cls, triples: Triples, notes: tuple[str, ...] = ()) -> Self:
        """Return the triples of a table, none of which is there twice, without what stands beside them."""
        names = triples.entity_names, triples.relation_names
        return cls(triples.heads, triples.relations, triples.tails, *names, notes)

    @cached_property
    def fingerprint(self) -> str:
        """A text that differs for graphs that differ."""
        digest = hashlib.sha256("\0".join((*self.entity_names, "", *self.relation_names)).encode())
        once = self.sorted_once()
        for column in (once.heads, once.relations, once.tails):
            digest.update(column.astype(np.int64).tobytes())
        return digest.hexdigest()


def note_repeats(count: int) -> tuple[str, ...]:
    """Describe how many triples were there again."""
    return (f"{count:,} repeated triples are kept once.",) if count else ()


NUMBERS = ("score", "probability", "threshold")
COLUMNS = (*NUMBERS, "method", "date", "by", "reasons")


def read_provenance(path: Path, graph: Graph, columns: Columns = None) -> dict[str, Any]:
    """Read the columns beside a table's triples that say where a fact comes from, aligned with the graph that it is.

    A table without a header has none.
    """
    layout = find_layout(path, columns=columns).with_columns(COLUMNS)
    names = [name for name in COLUMNS if name in layout.columns] if layout.has_header else []
    if not names:
        return {}
    wanted = {name: layout.columns[name] for name in (*TRIPLE, *names)}
    cells = read_texts(replace(layout, columns=wanted), TRIPLE)
    # In its own order, repeats and all: of equal rows the first is taken.
    rows = encode_columns(cells["head"], cells["relation"], cells["tail"]).rows_of(graph)
    with rows_named_by(layout):
        values = {name: _numbers(name, cells[name]) if name in NUMBERS else cells[name] for name in names}
    return {name: column[rows] for name, column in values.items()}


def _numbers(name: str, cells: Any) -> FloatArray:
    bad = next((row for row, cell in enumerate(cells) if not (cell is None or is_number(cell))), None)
    if bad is not None:
        raise RowError(bad, f"{cells[bad]!r} is not a number (column {name}).")
    return np.asarray(cells.astype(np.float64))


def is_missing(value: Any) -> bool:
    """Return whether a cell is empty: None, NaN, NaT or no text."""
    return value is None or str(value).strip() == "" or value != value


def read_table(path: Path, base: object, columns: Columns = None) -> Graph:
    """Read a table; columns beside the triple are left to :func:`read_provenance`."""
    layout = find_layout(path, columns=columns)
    require(layout, TRIPLE)
    notes = replace(layout, columns={name: layout.columns[name] for name in TRIPLE}).describe(COLUMNS)
    triples = read_plain(layout)
    if (
        not layout.has_header
        and len(triples) not in range(2, 21)
        and (triples.relations == triples.relations[0]).sum() == 1
    ):
        notes.append(f"Line 1 is taken as a fact ({', '.join(triples.triple(0))}); if it names columns, use --columns.")
    return Graph.once(triples, tuple(notes))
