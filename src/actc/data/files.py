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
from actc.data.frames import COLUMNS, SCORED, TEXT, TRIPLE, Columns, as_labels
from actc.data.layout import (
    DELIMITERS,
    JSON_LINES,
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
    IntArray,
    ScoredTriples,
    Triples,
    Vocabulary,
    are_probabilities,
    encode_columns,
)
from actc.errors import FileError, OptionError

LOG = logging.getLogger("actc")
MOST_READ = 1_000_000
"""Candidates that a session or ``calibrate`` reads; of more, a random sample of so many."""
SUPPORT = "support"
"""The column with how many texts a triple has; where it has none, how many rows."""
RESERVED = {*SCORED, "probability", "accepted", "by", "reasons", "guaranteed", "without_guarantee", "threshold",
            "method", "date", "proposed_by", "rule", "label", TEXT}  # fmt: skip
"""Columns of the outputs: a column of the user's with such a name gets ``given_`` in front."""
TABBED = (".tsv", ".txt")
NOTHING: dict[str, Any] = {}
EMPTY = "there is nothing in column {}; fill the cell, or leave the row out."
MOST_TEXT = 4000  # characters of the texts of one triple


def name_further(layout: Layout) -> dict[str, str]:
    """Return the own names of the columns that come back in every output: the text, and those not known here."""
    text = {TEXT: layout.columns[TEXT]} if TEXT in layout.columns else {}
    return text | {f"given_{name}" if name.lower() in RESERVED else name: name for name in layout.others}


def read_scored(
    path: str | Path, columns: Columns = None, further: bool = False, needs_score: bool = True
) -> tuple[ScoredTriples, BoolArray | None]:
    """Read scored triples, from a file or a folder of parts, and their labels where they have a column of labels.

    Scores in a column that is called probability or confidence are probabilities, where all are within 0 and 1. A
    triple of several texts is one, with the highest of its scores. Where no score is needed, a triple is one in any
    case, its labels are not read, and a missing score is NaN. ``columns`` are those that the user names.
    """
    layout = find_parts([path], SCORED if needs_score else TRIPLE, columns)
    if not needs_score:
        warn_of_unused(layout)
    with open_reader(layout) as connection:
        return _read_scored(connection, layout, further, needs_score=needs_score)


def warn_of_unused(layout: Layout, further: bool = True) -> None:
    """Print, through the logger ``actc``, which columns of candidates are called otherwise, and which are not used."""
    for line in layout.describe(layout.others if further else ()):
        LOG.warning(line)


def read_sample(
    path: str | Path, labelled: Triples | None = None, seed: int = 0, columns: Columns = None, further: bool = False
) -> ScoredTriples:
    """Read candidates; of more than ``MOST_READ`` a random sample of so many, and those with labels."""
    layout = find_parts([path], SCORED, columns)
    warn_of_unused(layout, further)
    with open_reader(layout) as connection:
        total = int(connection.execute(f"SELECT count(*) FROM {layout.source}").fetchall()[0][0])
        if total <= MOST_READ:
            return _read_scored(connection, layout, further)[0]
        bad = f"{BAD_ROW} OR {NAMELESS}"
        texts = f"SELECT {layout.texts(SCORED)} FROM {layout.source}"
        scored = f"SELECT * REPLACE (TRY_CAST(score AS DOUBLE) AS score) FROM ({texts})"
        if connection.execute(f"SELECT count(*) FROM ({scored}) WHERE {bad}").fetchall()[0][0]:
            raise find_bad_row(layout, bad)
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
    connection: Any, layout: Layout, further: bool, chosen: str = "true", needs_score: bool = True
) -> tuple[ScoredTriples, BoolArray | None]:
    more = {name: quote_name(own) for name, own in name_further(layout).items()} if further else {}
    needed = [name for name in COLUMNS if name in layout.columns]
    if not needs_score:
        needed, score = list(TRIPLE), {"score": layout.column("score") if "score" in layout.columns else "NULL"}
    rows = _load(connection, layout, needed, more if needs_score else more | score, chosen)
    bad = "score <> '' AND NOT coalesce(isfinite(TRY_CAST(score AS DOUBLE)), false)"
    query = f"SELECT row, {', '.join(SCORED)} FROM loaded WHERE {bad} ORDER BY row LIMIT 1"
    for row, *cells in connection.execute(query).fetchall():
        raise FileError(f"{layout.where(row)}: column {layout.columns['score']}: {describe_bad_row(*cells)}")
    labels = None
    if "label" in needed:
        with rows_named_by(layout, rows):
            labels = as_labels(_read_column(connection, "label")).astype(np.bool_)
    elif TEXT in layout.columns or not needs_score:
        before, rows = len(rows), _merge(connection, more)
        if len(rows) < before:
            LOG.warning("%s: %d rows repeat a triple: each counts once, with all its texts and its highest score.",
                        layout.path, before - len(rows))  # fmt: skip
    query = "SELECT TRY_CAST(score AS DOUBLE) AS score FROM loaded ORDER BY row"
    scores = np.ma.filled(connection.execute(query).fetchnumpy()["score"].astype(np.float64), np.nan)
    codes = read_codes(connection)
    columns = {name: _read_column(connection, name, "") for name in more}
    likely = layout.score_name == "probability" and are_probabilities(scores[~np.isnan(scores)])
    names = map(Vocabulary, codes[3:])
    table = ScoredTriples(*codes[:3], *names, scores=scores, probabilities=likely, further=columns)
    once = _first_of_equal_rows(table, labels)
    if len(once) < len(table):
        again = len(table) - len(once)
        LOG.warning("%s: %d rows are there again, score and all; each counts once.", layout.path, again)
        table, rows, labels = table.take(once), rows[once], None if labels is None else labels[once]
    if needs_score:
        with rows_named_by(layout, rows):
            table.check()
    return table, labels


def _merge(connection: Any, more: dict[str, str]) -> IntArray:
    """Keep each loaded triple once, with its highest score; return the place of its first row in the file.

    Its texts are put together and counted (``SUPPORT``, which ``more`` has then); of other columns the first row
    counts.
    """
    cells = {name: f"first({quote_name(name)} ORDER BY row)" for name in more}
    count = "count(*)"
    if TEXT in more:
        text = f"nullif(trim({TEXT}), '')"
        cells[TEXT] = f"left(string_agg(DISTINCT {text}, chr(10) ORDER BY {text}), {MOST_TEXT})"
        count = f"greatest(count(DISTINCT {text}), CASE WHEN count({text}) = 0 THEN count(*) ELSE 0 END)"
    if SUPPORT in more:  # counted before
        count = f"sum(coalesce(TRY_CAST({SUPPORT} AS BIGINT), 1))"
    cells |= {SUPPORT: f"CAST({count} AS BIGINT)", "score": "max_by(score, TRY_CAST(score AS DOUBLE))"}
    columns = ", ".join(f"{sql} AS {quote_name(name)}" for name, sql in cells.items())
    once = f"SELECT min(row) AS row, head, relation, tail, {columns} FROM loaded GROUP BY head, relation, tail"
    connection.execute(f"CREATE TABLE once AS {once}; DROP TABLE loaded; ALTER TABLE once RENAME TO loaded")
    support = _read_column(connection, SUPPORT)
    if TEXT in more or (support > 1).any():
        more[SUPPORT] = SUPPORT
    return _read_column(connection, "row")


def _first_of_equal_rows(triples: ScoredTriples, labels: BoolArray | None) -> IntArray:
    """Return the rows of a table without those that are there before: triple, score and label."""
    if len(np.unique(triples.keys)) == len(triples):
        return np.arange(len(triples))
    columns = [triples.keys, triples.scores] if labels is None else [triples.keys, triples.scores, labels]
    return np.sort(np.unique(np.rec.fromarrays(columns), return_index=True)[1])


def read_texts(layout: Layout, needed: Sequence[str]) -> dict[str, NDArray[np.object_]]:
    """Return the known columns of a file as text, None where a cell is empty; those that are needed have no such."""
    more = {name: layout.column(name) for name in layout.columns if name not in needed}
    with open_reader(layout) as connection:
        _load(connection, layout, needed, more)
        return {name: _read_column(connection, name) for name in (*needed, *more)}


def read_plain(layout: Layout) -> Triples:
    """Read the triples of a table that fits into memory, row by row."""
    with open_reader(layout) as connection:
        _load(connection, layout, TRIPLE, {})
        codes = read_codes(connection)
    return Triples(*codes[:3], *map(Vocabulary, codes[3:]))


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


def read_list(path: Path) -> Triples:
    """Read the triples of a table that fits into memory and may be empty; none where there is no file."""
    rows = list(read_triples(path)) if path.exists() else []
    return encode_columns(*([row[end] for row in rows] for end in range(3)))


def write_triples(path: str | Path, columns: Mapping[str, Any], further: Mapping[str, NDArray[Any]] = NOTHING) -> None:
    """Write aligned columns to a TSV, CSV or Parquet file, named by its suffix.

    The texts of further columns stand in one line where the file can hold no more.
    """
    refuse_tabs(Path(path), columns)
    if find_kind(Path(path))[0] in TABBED:
        further = {name: in_one_line(column) for name, column in further.items()}
    with write_beside(path) as temporary, open_database() as connection:
        every = {**columns, **further}
        connection.register("rows_to_write", {name: np.asarray(values) for name, values in every.items()})
        connection.execute(
            f"COPY (SELECT * FROM rows_to_write) TO {quote(str(temporary))} ({copy_options(Path(path))})"
        )


def write_scored(path: str | Path, triples: ScoredTriples) -> None:
    """Write a table of scored triples, in its own order."""
    name = "probability" if triples.probabilities else "score"
    write_triples(path, {**triples.plain().columns(), name: triples.scores}, triples.further)


def write_named(layout: Layout, path: Path) -> None:
    """Write a table as Parquet: the known columns under the names that they have here, then the further ones."""
    known = [name for name in COLUMNS if name in layout.columns]
    texts = layout.texts(known).replace('AS "score"', f'AS "{layout.score_name}"')
    further = name_further(layout).items()
    more = "".join(f", {quote_name(own)} AS {quote_name(name)}" for name, own in further)
    with open_reader(layout) as connection, write_beside(path) as unfinished:
        query = f"SELECT {texts}{more} FROM {layout.source}"
        connection.execute(f"COPY ({query}) TO {quote(str(unfinished))} (FORMAT parquet)")


def in_one_line(texts: NDArray[Any]) -> NDArray[Any]:
    """Return texts without tabs and line ends, which no cell of a TSV file can hold."""
    if texts.dtype.kind != "O":
        return texts
    return np.array([*(re.sub(r"[\t\r\n]+", " ", str(text)) for text in texts), ""], dtype=object)[:-1]


def refuse_tabs(path: Path, columns: Mapping[str, Any]) -> None:
    """Refuse names that a file of columns between tabs cannot hold."""
    if find_kind(path)[0] not in TABBED:
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
            raise FileError(f"{layout.where(row)}: {EMPTY.format(name)}")
    return np.asarray(connection.execute("SELECT row FROM loaded ORDER BY row").fetchnumpy()["row"])


def _read_column(connection: Any, name: str, empty: str | None = None) -> NDArray[Any]:
    """Return a loaded column as it is; of text, what stands for an empty cell."""
    cells = connection.execute(f"SELECT {quote_name(name)} AS cell FROM loaded ORDER BY row").fetchnumpy()["cell"]
    if not np.ma.is_masked(cells):
        return np.ma.getdata(cells)
    texts = np.ma.getdata(cells).astype(object)
    texts[np.ma.getmaskarray(cells)] = empty
    return texts


def read_codes(connection: Any) -> tuple[IntArray, IntArray, IntArray, tuple[str, ...], tuple[str, ...]]:
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


BAD_SCORE = "(score IS NULL OR NOT abs(score) < CAST('inf' AS DOUBLE))"
BAD_ROW = f"relation IS NULL OR {BAD_SCORE}"
NAMELESS = "head IS NULL OR tail IS NULL OR head = '' OR tail = '' OR relation = ''"


def find_bad_row(layout: Layout, condition: str) -> FileError:
    """Describe where the first row is that fulfils a condition on its columns, and what is wrong with it."""
    texts = f"SELECT row_number() OVER () - 1 AS row, {layout.texts(SCORED)} FROM {layout.source}"
    with open_reader(layout) as connection:
        row = connection.execute(
            f"SELECT row, head, relation, tail, text FROM (SELECT row, head, relation, tail, score AS text, "
            f"TRY_CAST(score AS DOUBLE) AS score FROM ({texts})) WHERE {condition} ORDER BY row LIMIT 1"
        ).fetchone()
    if row is None:
        return FileError(f"{layout.path}: the candidates changed while they were read.")
    return FileError(f"{layout.where(row[0])}: {describe_bad_row(*row[1:])}")


def describe_bad_row(head: Any, relation: Any, tail: Any, score: str | None) -> str:
    """Describe what is wrong with a row: an empty name, or no score."""
    empty = [name for name, value in zip(SCORED, (head, relation, tail, score), strict=True) if value in (None, "")]
    if empty:
        return EMPTY.format(empty[0])
    hint = (
        "; write a point in place of the comma"
        if "," in str(score) and is_number(str(score).replace(",", ".", 1))
        else ""
    )
    return f"the score is {score!r}; every score must be a finite number{hint}."
