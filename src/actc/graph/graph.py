"""A graph: triples without scores, each once, and what reading them left out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from actc.data.files import Layout, open_reader
from actc.data.triples import Triples, Vocabulary, encode_columns
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
    return (f"{count} repeated triples are kept once.",) if count else ()


def read_columns(layout: Layout, triple: Mapping[str, str]) -> Graph:
    """Read a graph from a file laid out in columns; ``triple`` is the SQL of head, relation and tail."""
    columns = ", ".join(f"{sql} AS {name}" for name, sql in triple.items())
    with open_reader(layout.path) as connection:
        connection.execute(f"CREATE TEMP TABLE named AS SELECT {columns} FROM {layout.source}")
        return encode(connection, layout.where)


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
        raise FileError(f"{where(row)}: there is nothing in column {column}.")
