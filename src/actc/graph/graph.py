"""A graph: triples without scores, each once, and what reading them left out; plain tables of them.

Tables are TSV, CSV, Parquet or JSON lines with the columns head, relation, tail (or subject, predicate, object).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from actc.data.files import read_texts
from actc.data.frames import TRIPLE, Columns
from actc.data.layout import Layout, describe_empty, find_layout, open_reader, require
from actc.data.triples import FloatArray, Triples, Vocabulary, encode_columns
from actc.errors import FileError


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
        """Encode three columns of equal length; a triple that is there twice is kept once, and noted."""
        listed = encode_columns(heads, relations, tails)
        once = listed.unique()
        return cls.of(once, notes + note_repeats(len(listed) - len(once)))

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


def encode(
    connection: Any, where: Callable[[int], str], entity_name: str = "term", relation_name: str = "term"
) -> Graph:
    """Encode the table ``named``, whose columns head, relation and tail are strings, and drop it."""
    _refuse_empty_cells(connection, where)
    vocabularies = {
        "entity": ("SELECT head AS term FROM named UNION SELECT tail FROM named", entity_name),
        "kind": ("SELECT DISTINCT relation AS term FROM named", relation_name),
    }
    for table, (terms, name) in vocabularies.items():
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT term, name, "
            "CAST(dense_rank() OVER (ORDER BY name) - 1 AS INTEGER) AS code "
            f"FROM (SELECT term, {name} AS name FROM ({terms}))"
        )
    codes = connection.execute(
        "SELECT h.code AS head, r.code AS relation, t.code AS tail FROM named "
        "JOIN entity h ON head = h.term JOIN kind r ON relation = r.term JOIN entity t ON tail = t.term"
    ).fetchnumpy()
    connection.execute("DROP TABLE named")
    entities, relations = (
        Vocabulary(
            connection.execute(f"SELECT DISTINCT name, code FROM {table} ORDER BY code").fetchnumpy()["name"].tolist()
        )
        for table in vocabularies
    )
    heads, kinds, tails = (np.ma.getdata(codes[name]) for name in ("head", "relation", "tail"))
    # Joins return rows in any order: sorted, a file gives the same graph every time.
    listed = Triples(heads, kinds, tails, entities, relations)
    once = listed.sorted_once()
    return Graph.of(once, note_repeats(len(listed) - len(once)))


def _refuse_empty_cells(connection: Any, where: Callable[[int], str]) -> None:
    empty = "head IS NULL OR relation IS NULL OR tail IS NULL"
    if connection.execute(f"SELECT count(*) FROM named WHERE {empty}").fetchone()[0]:
        numbered = "SELECT row_number() OVER () - 1 AS row, * FROM named"
        row, head, relation = connection.execute(
            f"SELECT row, head, relation FROM ({numbered}) WHERE {empty} LIMIT 1"
        ).fetchall()[0]
        column = "head" if head is None else "relation" if relation is None else "tail"
        raise FileError(f"{where(row)}: {describe_empty(column)}")


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
    values = {name: _numbers(layout, name, cells[name]) if name in NUMBERS else cells[name] for name in names}
    return {name: column[rows] for name, column in values.items()}


def _numbers(layout: Layout, name: str, cells: Any) -> FloatArray:
    values = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells.tolist()):
        try:
            values[row] = np.nan if cell is None else float(cell)
        except ValueError:
            raise FileError(f"{layout.where(row)}: {cell!r} is not a number (column {name}).") from None
    return values


def is_missing(value: Any) -> bool:
    """Return whether a cell is empty: None, NaN, NaT or no text."""
    return value is None or str(value).strip() == "" or value != value


def read_table(path: Path, base: object, columns: Columns = None) -> Graph:
    """Read a table; columns beside the triple are left to :func:`read_provenance`."""
    layout = find_layout(path, columns=columns)
    require(layout, TRIPLE)
    with open_reader(path) as connection:
        connection.execute(f"CREATE TEMP TABLE named AS SELECT {layout.texts(TRIPLE)} FROM {layout.source}")
        return encode(connection, layout.where)
