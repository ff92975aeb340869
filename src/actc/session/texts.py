"""Texts beside a session's candidates: why each may be true or false, and the text that it was taken from.

They lie in the file of names. Reasons are a JSON list of short texts, the strongest first; what speaks against begins
with "against: ". Ids stand in double brackets, ``[[Q42]]``, and are replaced by names when they are read, so that names
that were added later show too. Cards show both kinds, and machine judges read them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from actc.data.database import open_database
from actc.data.files import TRIPLE, Layout, find_layout, require, with_columns
from actc.data.triples import ScoredTriples, encode_columns
from actc.errors import FileError
from actc.session.names import FILE, REASONS, SOURCE, Names, write_texts

COLUMN = "source"
MOST_TEXT = 4000
"""Characters of one text that are kept."""


def write_reasons(folder: Path, reasons: Iterable[Sequence[str]]) -> None:
    """Put the reasons of every candidate of a session into its folder.

    Parameters
    ----------
    folder : Path
        Of the session.
    reasons : iterable of sequences of str
        One for each row of the pool, in its order; ids in double brackets.
    """
    rows = ((row, json.dumps(texts, ensure_ascii=False)) for row, texts in enumerate(reasons) if texts)
    write_texts(folder / FILE, REASONS, rows)


def reasons_of(names: Names, triples: Iterable[int | None]) -> list[tuple[str, ...]]:
    """Return what speaks for and against each of some triples, the strongest first; empty where nothing is known.

    Parameters
    ----------
    names : Names
        Of the session.
    triples : iterable of int
        As judgements and tasks call them.
    """
    found = names.texts(REASONS, triples)
    return [tuple(name_marked(text, names) for text in json.loads(texts)) if texts else () for texts in found]


def name_marked(text: str, names: Names) -> str:
    """Replace ids in double brackets by names."""
    *marked, rest = text.split("]]")  # a pattern would look for this end anew from every beginning
    parts = (part.partition("[[") for part in marked)
    return "".join(before + (names.of(id).name if mark else "]]") for before, mark, id in parts) + rest


def write_sources(folder: Path, pool: ScoredTriples, table: str | Path) -> None:
    """Put the texts that candidates were taken from into a session's folder, in place of those there.

    Parameters
    ----------
    folder : Path
        Of the session.
    pool : ScoredTriples
        Its candidates.
    table : path
        With named columns: head, relation, tail, source; others are passed over, so the candidates' own file will do.
    """
    layout = find_sources(Path(table))
    if layout is None:
        raise FileError(f"{table}: there is no column {COLUMN!r}, which should have the text of each candidate.")
    write_texts(folder / FILE, SOURCE, sorted(dict(_read_sources(layout, pool)).items()))


def find_sources(table: Path) -> Layout | None:
    """Return how a table with a column of texts is laid out; None where it has none."""
    layout = with_columns(find_layout(table), [COLUMN])
    require(layout, TRIPLE)
    return layout if COLUMN in layout.position else None


def _read_sources(layout: Layout, pool: ScoredTriples) -> Iterator[tuple[int, str]]:
    """Read the texts of those candidates that are in the pool, by their rows."""
    with open_database() as connection:
        text = f"left(trim(CAST({layout.column(COLUMN)} AS VARCHAR)), {MOST_TEXT})"
        named = f"SELECT {layout.texts(TRIPLE)}, {text} AS text FROM {layout.source} WHERE {text} != ''"
        together = "string_agg(DISTINCT text, chr(10) ORDER BY text)"  # a triple may have been taken from several texts
        query = f"SELECT head, relation, tail, left({together}, {MOST_TEXT}) FROM ({named}) GROUP BY ALL"
        found = connection.execute(query)
        while part := found.fetchmany(50_000):
            heads, relations, tails, texts = zip(*part, strict=True)
            rows = pool.rows_of(encode_columns(heads, relations, tails)).tolist()
            yield from ((row, text) for row, text in zip(rows, texts, strict=True) if row >= 0)
