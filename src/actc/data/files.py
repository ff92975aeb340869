"""Tables of triples in and out, through DuckDB: one reader for every door.

An error is one sentence with the line; an output is complete or absent. A row that is there again, to the last digit,
counts once; the logger ``actc`` reports it, and which columns were recognised.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actc.data.database import open_database, quote
from actc.data.deliver import write_beside
from actc.data.frames import COLUMNS, TRIPLE, as_labels
from actc.data.layout import (
    DELIMITERS,
    JSON_LINES,
    SOURCE,
    Columns,
    Layout,
    find_kind,
    find_layout,
    find_parts,
    is_number,
    open_reader,
    quote_name,
    require,
    rows_named_by,
)
from actc.data.triples import (
    BoolArray,
    FloatArray,
    IntArray,
    ScoredTriples,
    Triples,
    Vocabulary,
    are_probabilities,
    encode_columns,
)
from actc.errors import FileError, OptionError

LOG = logging.getLogger("actc")
SCORED = (*TRIPLE, "score")
MOST_READ = 1_000_000
"""Candidates that a session or ``calibrate`` reads; of more, a random sample of so many."""
RESERVED = {*SCORED, "probability", "accepted", "by", "reasons", "guaranteed", "without_guarantee", "threshold",
            "method", "date", "proposed_by", "rule", "label", SOURCE, "support"}  # fmt: skip
"""Columns of the outputs: a column of the user's with such a name gets ``given_`` in front."""


def name_further(layout: Layout) -> dict[str, str]:
    """Return the SQL of the columns that come back in every output: the text, and those that are not known here."""
    text = {SOURCE: layout.column(SOURCE)} if SOURCE in layout.columns else {}
    own = {f"given_{name}" if name.lower() in RESERVED else name: layout.own_column(name) for name in layout.others}
    return text | own


def read_scored(
    path: str | Path, columns: Columns = None, further: bool = False
) -> tuple[ScoredTriples, BoolArray | None]:
    """Read scored triples, from a file or a folder of parts, and their labels where they have a column of labels.

    Scores in a column that is called probability or confidence are probabilities, where all are within 0 and 1.
    """
    layout = find_parts([path], SCORED, columns)
    with open_reader(layout) as connection:
        return _read_scored(connection, layout, further)


def read_sample(
    path: str | Path, labelled: Triples | None = None, seed: int = 0, columns: Columns = None, further: bool = False
) -> ScoredTriples:
    """Read candidates; of more than ``MOST_READ`` a random sample of so many, and those with labels."""
    layout = find_parts([path], SCORED, columns)
    for line in layout.describe(layout.others if further else ()):
        LOG.warning(line)
    with open_reader(layout) as connection:
        total = int(connection.execute(f"SELECT count(*) FROM {layout.source}").fetchall()[0][0])
        if total <= MOST_READ:
            return _read_scored(connection, layout, further)[0]
        bad = f"{BAD_ROW} OR {NAMELESS}"
        texts = f"SELECT {layout.texts(SCORED)} FROM {layout.source}"
        scored = f"SELECT * REPLACE (TRY_CAST(score AS DOUBLE) AS score) FROM ({texts})"
        if connection.execute(f"SELECT count(*) FROM ({scored}) WHERE {bad}").fetchall()[0][0]:
            raise find_bad_row(connection, layout, bad)
        connection.register("drawn", {"row": np.random.default_rng(seed).choice(total, MOST_READ, replace=False)})
        chosen = "row IN (SELECT row FROM drawn)"
        if labelled is not None:
            connection.register("labelled", labelled.columns())
            chosen += " OR (head, relation, tail) IN (SELECT head, relation, tail FROM labelled)"
        sampled = _read_scored(connection, layout, further, chosen)[0]
    LOG.warning(
        "%s: of its %s candidates a random sample of %s is used; `actc decide` applies thresholds to all of them.",
        path, f"{total:,}", f"{len(sampled):,}",
    )  # fmt: skip
    return sampled


def _read_scored(
    connection: Any, layout: Layout, further: bool, chosen: str = "true"
) -> tuple[ScoredTriples, BoolArray | None]:
    more = name_further(layout) if further else {}
    rows = _load(connection, layout, [name for name in COLUMNS if name in layout.columns], more, chosen)
    labels = None
    if "label" in layout.columns:
        with rows_named_by(layout, rows):
            texts = connection.execute("SELECT label FROM loaded ORDER BY row").fetchnumpy()["label"]
            labels = as_labels(texts).astype(np.bool_)
    scores = _read_scores(connection, layout, rows)
    codes = _read_codes(connection)
    columns = {name: _read_column(connection, name) for name in more}
    likely = layout.score_name == "probability" and are_probabilities(scores)
    names = map(Vocabulary, codes[3:])
    table = ScoredTriples(*codes[:3], *names, scores=scores, probabilities=likely, further=columns)
    once = _first_of_equal_rows(table, labels)
    if len(once) < len(table):
        again = len(table) - len(once)
        LOG.warning("%s: %d rows are there again, score and all; each is kept once.", layout.path, again)
        table, rows, labels = table.take(once), rows[once], None if labels is None else labels[once]
    if labels is None and SOURCE in layout.columns:
        best = np.lexsort((-table.scores, table.keys))  # of a triple that several texts have, the highest score
        first = np.append(True, np.diff(table.keys[best]) != 0)
        if not first.all():
            LOG.warning("%s: %d triples are in several texts; each is kept once, with its highest score.", layout.path,
                        len(table) - first.sum())  # fmt: skip
            best = np.sort(best[first])
            table, rows = table.take(best), rows[best]
    with rows_named_by(layout, rows):
        table.check()
    return table, labels


def _first_of_equal_rows(triples: ScoredTriples, labels: BoolArray | None) -> IntArray:
    """Return the rows of a table without those that are there before: triple, score and label."""
    rows = np.arange(len(triples))
    if (np.diff(np.sort(triples.keys)) != 0).all():
        return rows
    columns = (triples.scores, triples.keys) if labels is None else (labels, triples.scores, triples.keys)
    order = np.lexsort(columns)  # stable, so that of equal rows the first stands in front
    again = np.logical_and.reduce([column[order[1:]] == column[order[:-1]] for column in columns])
    return np.delete(rows, order[1:][again])


def read_texts(layout: Layout, needed: Sequence[str]) -> dict[str, NDArray[np.object_]]:
    """Return the known columns of a file as text, None where a cell is empty; those that are needed have no such."""
    more = {name: layout.column(name) for name in layout.columns if name not in needed}
    with open_reader(layout) as connection:
        _load(connection, layout, needed, more)
        return {name: _read_column(connection, name) for name in (*needed, *more)}


def read_triples(path: str | Path) -> Iterator[tuple[str, str, str]]:
    """Read head, relation and tail, row by row, from a table that need not fit into memory."""
    layout = find_layout(path)
    require(layout, TRIPLE)
    with open_reader(layout.path) as connection:
        rows, number = connection.execute(f"SELECT {layout.texts(TRIPLE)} FROM {layout.source}"), 0
        while batch := rows.fetchmany(50_000):
            for row in batch:
                if None in row:
                    raise FileError(f"{layout.where(number)}: a head, relation or tail is missing.")
                number += 1
                yield row


def read_listed(path: Path) -> Triples:
    """Read the triples of a table that fits into memory and may be empty; none where there is no file."""
    rows = list(read_triples(path)) if path.exists() else []
    return encode_columns(*([row[end] for row in rows] for end in range(3)))


def write_triples(path: str | Path, columns: Mapping[str, Any]) -> None:
    """Write aligned columns to a TSV, CSV or Parquet file, named by its suffix."""
    refuse_tabs(Path(path), columns)
    with write_beside(path) as temporary, open_database() as connection:
        connection.register("rows_to_write", {name: np.asarray(values) for name, values in columns.items()})
        connection.execute(
            f"COPY (SELECT * FROM rows_to_write) TO {quote(str(temporary))} ({copy_options(Path(path))})"
        )


def write_scored(path: str | Path, triples: ScoredTriples) -> None:
    """Write a table of scored triples, in its own order."""
    name = "probability" if triples.probabilities else "score"
    write_triples(path, {**triples.plain().columns(), name: triples.scores, **triples.further})


def write_named(layout: Layout, path: Path) -> None:
    """Write a table with the names that its columns have here, and its further columns: Parquet."""
    known = [name for name in COLUMNS if name in layout.columns]
    texts = layout.texts(known).replace('AS "score"', f'AS "{layout.score_name}"')
    more = "".join(f", {sql} AS {quote_name(name)}" for name, sql in name_further(layout).items())
    with open_reader(layout) as connection, write_beside(path) as unfinished:
        query = f"SELECT {texts}{more} FROM {layout.source}"
        connection.execute(f"COPY ({query}) TO {quote(str(unfinished))} (FORMAT parquet)")


def refuse_tabs(path: Path, columns: Mapping[str, Any]) -> None:
    """Refuse names that a file of columns between tabs cannot hold."""
    if find_kind(path)[0] not in (".tsv", ".txt"):
        return
    for name, values in columns.items():
        array = np.asarray(values)
        if array.dtype.kind in "OU":
            bad = next((text for text in dict.fromkeys(array.tolist()) if re.search(r"[\t\r\n]", str(text))), None)
            if bad is not None:
                raise OptionError(f"{path}: {bad!r} (column {name}) has a tab or a line break; write CSV or Parquet.")


def copy_options(path: Path) -> str:
    """DuckDB's options for writing a file with this suffix."""
    kind, compressed = find_kind(path)
    if kind == ".parquet":
        return "FORMAT parquet"
    if kind in JSON_LINES:
        return "FORMAT json" + (", COMPRESSION gzip" if compressed else "")
    # A TSV file has no quoting, here as in what is read: a name's quotation marks are its own.
    quoting = "" if kind == ".csv" else ", QUOTE '', ESCAPE ''"
    return f"FORMAT csv, HEADER, DELIMITER '{DELIMITERS[kind]}'{quoting}" + (", COMPRESSION gzip" if compressed else "")


def _load(
    connection: Any, layout: Layout, names: Sequence[str], more: Mapping[str, str], chosen: str = "true"
) -> IntArray:
    """Load columns as text into a table ``loaded``, and return its rows' places in the file.

    An empty table and empty cells are refused; cells of ``more``, columns with their SQL, may be empty.
    """
    further = "".join(f", CAST({sql} AS VARCHAR) AS {quote_name(name)}" for name, sql in more.items())
    numbered = f"SELECT row_number() OVER () - 1 AS row, {layout.texts(names)}{further} FROM {layout.source}"
    connection.execute(f"CREATE TABLE loaded AS SELECT * FROM ({numbered}) WHERE {chosen}")
    empty = ", ".join(f"min(row) FILTER ({name} IS NULL OR {name} = '')" for name in names)
    (size, *bad) = connection.execute(f"SELECT count(*), {empty} FROM loaded").fetchall()[0]
    if not size:
        raise FileError(f"{layout.path}: there is no triple in the file.")
    for name, row in zip(names, bad, strict=True):
        if row is not None:
            raise FileError(f"{layout.where(row)}: there is nothing in column {name}.")
    return np.asarray(connection.execute("SELECT row FROM loaded ORDER BY row").fetchnumpy()["row"])


def _read_column(connection: Any, name: str) -> NDArray[np.object_]:
    """Return a loaded column as text, None where a cell is empty."""
    cells = connection.execute(f"SELECT {quote_name(name)} AS cell FROM loaded ORDER BY row").fetchnumpy()["cell"]
    texts = np.ma.getdata(cells).astype(object)
    texts[np.ma.getmaskarray(cells)] = None
    return texts


def _read_codes(connection: Any) -> tuple[IntArray, IntArray, IntArray, tuple[str, ...], tuple[str, ...]]:
    """Return heads, relations and tails as codes into the sorted names of entities and relations."""
    entities = "SELECT head AS name FROM loaded UNION SELECT tail FROM loaded"
    for table, names in {"entities": entities, "relations": "SELECT DISTINCT relation AS name FROM loaded"}.items():
        connection.execute(
            f"CREATE TABLE {table} AS SELECT name, row_number() OVER (ORDER BY name) - 1 AS code FROM ({names})"
        )
    codes = connection.execute(
        "SELECT h.code AS head, r.code AS relation, t.code AS tail FROM loaded JOIN entities h ON head = h.name "
        "JOIN relations r ON relation = r.name JOIN entities t ON tail = t.name ORDER BY row"
    ).fetchnumpy()
    entity_names, relation_names = (
        tuple(connection.execute(f"SELECT name FROM {table} ORDER BY code").fetchnumpy()["name"].tolist())
        for table in ("entities", "relations")
    )
    return codes["head"], codes["relation"], codes["tail"], entity_names, relation_names


def _read_scores(connection: Any, layout: Layout, rows: IntArray) -> FloatArray:
    values = connection.execute("SELECT TRY_CAST(score AS DOUBLE) AS value FROM loaded ORDER BY row").fetchnumpy()
    bad = np.flatnonzero(np.ma.getmaskarray(values["value"]))
    if bad.size:
        row = int(rows[bad[0]])
        text = connection.execute("SELECT score FROM loaded WHERE row = ?", [row]).fetchall()[0][0]
        hint = "; write a point in place of the comma" if is_number(text.replace(",", ".", 1)) else ""
        raise FileError(f"{layout.where(row)}: {text!r} is not a number (column score){hint}.")
    return np.asarray(values["value"], dtype=np.float64)


BAD_SCORE = "(score IS NULL OR NOT abs(score) < CAST('inf' AS DOUBLE))"
BAD_ROW = f"relation IS NULL OR {BAD_SCORE}"
NAMELESS = "head IS NULL OR tail IS NULL OR head = '' OR tail = '' OR relation = ''"


def find_bad_row(connection: Any, layout: Layout, condition: str) -> FileError:
    """Describe where the first row is that fulfils a condition on its columns, and what is wrong with it."""
    for part in layout.parts:
        texts = f"SELECT row_number() OVER () - 1 AS row, {part.texts(SCORED)} FROM {part.source}"
        row = connection.execute(
            f"SELECT row, head, relation, tail, text FROM (SELECT row, head, relation, tail, score AS text, "
            f"TRY_CAST(score AS DOUBLE) AS score FROM ({texts})) WHERE {condition} ORDER BY row LIMIT 1"
        ).fetchone()
        if row is not None:
            return FileError(f"{part.where(row[0])}: {describe_bad_row(*row[1:])}")
    return FileError(f"{layout.path}: the candidates changed while they were read.")


def describe_bad_row(head: Any, relation: Any, tail: Any, score: str | None) -> str:
    """Describe what is wrong with a row: an empty name, or no score."""
    empty = [name for name, value in zip(SCORED, (head, relation, tail, score), strict=True) if value in (None, "")]
    if empty:
        return f"there is nothing in column {empty[0]}."
    return f"the score is {score!r}; every score must be a finite number."
