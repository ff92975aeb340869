"""Tables of triples in and out: TSV, CSV and Parquet (through DuckDB), gzipped or not, with or without a header.

Columns are taken by name where there is a header, otherwise by order: head, relation, tail, score, label. An error is
one sentence with the line; an output is complete or absent. A row that is there again, to the last digit, counts once;
the logger ``actc`` reports it.
"""

from __future__ import annotations

import csv
import errno
import glob
import gzip
import io
import json
import logging
import math
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actc.data.database import open_database, parse_bytes
from actc.data.deliver import write_beside
from actc.data.frames import ALIASES, LABELS, PROBABILITIES, TEXTS, as_labels, call_columns
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
from actc.errors import FileError, OptionError, RowError, TableError

LOG = logging.getLogger("actc")
TRIPLE = ("head", "relation", "tail")
MOST_FIRST = 100_000  # characters of a first line; csv takes no cell of many more
COLUMNS = (*TRIPLE, "score", "label")
DELIMITERS = {".tsv": "\t", ".txt": "\t", ".csv": ","}
JSON_LINES = (".jsonl", ".ndjson")
RELATED = "related_to"
"""The relation of all facts of a table of edges without a column for it, such as GraphRAG's relationships."""
COMMAS = {",": "commas", ";": "semicolons"}
"""What separates the cells of CSV files."""


@dataclass(frozen=True)
class Layout:
    """How a file of triples is laid out."""

    path: Path
    delimiter: str | None  # None for Parquet
    has_header: bool
    width: int  # the number of columns of a text file
    # where each known column stands: the column's name in a Parquet file, its index in a text file
    position: Mapping[str, int | str]
    others: tuple[str, ...] = field(default=(), compare=False)  # what the other columns are called, which nobody reads
    # what the score column is called when it is copied: probability, if it is named so, else score
    score_name: str = "score"
    names: tuple[str, ...] = ()  # of JSON lines, all of them
    encoding: str = "utf-8"

    @property
    def source(self) -> str:
        """The table function that reads it in SQL, all columns of a text file being text."""
        return self.source_of([self.path])

    def source_of(self, paths: Sequence[Path]) -> str:
        """Return the table function that reads several files of this layout."""
        # A folder called score=9 is a folder, not a column.
        path = "[" + ", ".join(quote_file(path) for path in paths) + "], hive_partitioning=false"
        if self.delimiter is None and _kind(self.path)[0] in JSON_LINES:
            columns = ", ".join(f"{quote(name)}: 'VARCHAR'" for name in self.names)
            return f"read_json({path}, format='newline_delimited', columns={{{columns}}})"
        if self.delimiter is None:
            return f"read_parquet({path})"
        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(self.width))
        zipped = {path.suffix.lower() == ".gz" for path in paths}
        # Given, not detected: DuckDB does not see the ending of a name with a ? in it.
        compression = "auto" if len(zipped) == 2 else "gzip" if True in zipped else "none"
        quoting = "quote='\"', escape='\"'" if self.quoted else "quote='', escape=''"
        return (
            f"read_csv({path}, columns={{{columns}}}, delim='{self.delimiter}', header={self.has_header}, "
            f"{quoting}, compression='{compression}', encoding='{self.encoding}', auto_detect=false, "
            "strict_mode=true, nullstr='')"
        )

    @property
    def quoted(self) -> bool:
        """Whether quotation marks are around cells, not in them."""
        return self.delimiter in COMMAS

    def cells(self) -> list[str]:
        """Return the cells of the first line of a text file."""
        return split_line(first_line(self.path), str(self.delimiter))

    def column(self, name: str) -> str:
        """The SQL name of a column."""
        where = self.position[name]
        if name == "relation" and where == "":
            return quote(RELATED)
        return f"c{where}" if isinstance(where, int) else '"' + where.replace('"', '""') + '"'

    def texts(self, names: Sequence[str]) -> str:
        """The SQL of some columns as text, under their own names."""
        return ", ".join(f'CAST({self.column(name)} AS VARCHAR) AS "{name}"' for name in names)

    def where(self, row: int) -> str:
        """Describe where a 0-based row stands in the file, for a message."""
        if self.delimiter is None:
            return f"{self.path}, row {row + 1}"
        with open_text(self.path) as lines:
            reader = csv.reader(lines, delimiter=self.delimiter) if self.quoted else None
            seen = -1 if self.has_header else 0
            for number, line in enumerate(reader or lines, start=1):
                if not line or line == "\n":
                    continue
                if seen == row:
                    return f"{self.path}, line {reader.line_num if reader else number}"
                seen += 1
        return f"{self.path}, row {row + 1}"


def read_scored(path: str | Path) -> tuple[ScoredTriples, BoolArray | None]:
    """Read scored triples, and their labels where the file has a label column.

    Scores in a column that is called probability or confidence are probabilities, where all are within 0 and 1.
    """
    layout = find_layout(path)
    require(layout, (*TRIPLE, "score"))
    with _loaded(layout, [name for name in COLUMNS if name in layout.position]) as connection:
        labels = None
        if "label" in layout.position:
            with rows_named_by(layout):
                texts = connection.execute("SELECT label FROM loaded ORDER BY row").fetchnumpy()["label"]
                labels = as_labels(texts).astype(np.bool_)
        scores = _read_scores(connection, layout)
        codes = _read_codes(connection)
    probabilities = layout.score_name == "probability" and are_probabilities(scores)
    table = ScoredTriples(*codes[:3], *map(Vocabulary, codes[3:]), scores=scores, probabilities=probabilities)
    rows_kept = _first_of_equal_rows(table, labels)
    if len(rows_kept) < len(table):
        LOG.warning("%s: %d rows are there again, score and all; each is kept once.", path, len(table) - len(rows_kept))
        table, labels = table.take(rows_kept), None if labels is None else labels[rows_kept]
    if labels is None and "source" in with_columns(layout, ("source",)).position:
        best = np.lexsort((-table.scores, table.keys))  # of a triple that several texts have, the highest score
        first = np.append(True, np.diff(table.keys[best]) != 0)
        if not first.all():
            LOG.warning("%s: %d triples are in several texts; each is kept once, with its highest score.", path,
                        len(table) - first.sum())  # fmt: skip
            rows = np.sort(best[first])
            table, rows_kept = table.take(rows), rows_kept[rows]
    with rows_named_by(layout, rows_kept):
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
    more = [name for name in layout.position if name not in needed]
    with _loaded(layout, needed, more) as connection:
        columns = connection.execute("SELECT * EXCLUDE (row) FROM loaded ORDER BY row").fetchnumpy()
    texts = {name: np.ma.getdata(cells).astype(object) for name, cells in columns.items()}
    for name, cells in columns.items():
        texts[name][np.ma.getmaskarray(cells)] = None
    return texts


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
    if not path.exists():
        return encode_columns([], [], [])
    layout = find_layout(path)
    require(layout, TRIPLE)
    with open_reader(path) as connection:
        columns = connection.execute(f"SELECT {layout.texts(TRIPLE)} FROM {layout.source}").fetchnumpy()
    return encode_columns(*(np.ma.getdata(columns[name]) for name in TRIPLE))


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


def write_text(path: str | Path, text: str) -> None:
    """Write a text, complete or not at all."""
    with write_beside(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_csv(path: str | Path, rows: Iterable[Iterable[Any]], delimiter: str = ",") -> None:
    """Write rows of cells, complete or not at all."""
    with write_beside(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)


def in_json(value: Any, words: bool = True) -> Any:
    """Return plain values that JSON has: an infinite number, such as a cut that accepts nothing, becomes a word.

    Without words, it becomes None.
    """
    if isinstance(value, dict):
        return {key: in_json(inner, words) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [in_json(inner, words) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(float(value)) if words else None
    return value


def write_json(path: str | Path, content: Any) -> None:
    """Write plain values as JSON, complete or not at all; of tables in tables, each is one line."""
    with write_beside(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.writelines(_json_lines(content))
        file.write("\n")


_AS_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _json_lines(content: Any, depth: int = 0) -> Iterator[str]:
    # Python's indent would do the same, at a tenth of the speed: whole lines are written by its C code.
    if depth == 2 or not isinstance(content, dict) or not content:
        yield _AS_JSON(content)
        return
    for number, (key, value) in enumerate(content.items()):
        yield f"{',' if number else '{'}\n{' ' * (depth + 1)}{_AS_JSON(key)}: "
        yield from _json_lines(value, depth + 1)
    yield f"\n{' ' * depth}}}"


def refuse_tabs(path: Path, columns: Mapping[str, Any]) -> None:
    """Refuse names that a file of columns between tabs cannot hold."""
    if _kind(path)[0] not in (".tsv", ".txt"):
        return
    for name, values in columns.items():
        array = np.asarray(values)
        if array.dtype.kind in "OU":
            bad = next((text for text in dict.fromkeys(array.tolist()) if re.search(r"[\t\r\n]", str(text))), None)
            if bad is not None:
                raise OptionError(f"{path}: {bad!r} (column {name}) has a tab or a line break; write CSV or Parquet.")


def copy_options(path: Path) -> str:
    """DuckDB's options for writing a file with this suffix."""
    kind, compressed = _kind(path)
    if kind == ".parquet":
        return "FORMAT parquet"
    if kind in JSON_LINES:
        return "FORMAT json" + (", COMPRESSION gzip" if compressed else "")
    # A TSV file has no quoting, here as in what is read: a name's quotation marks are its own.
    quoting = "" if kind == ".csv" else ", QUOTE '', ESCAPE ''"
    return f"FORMAT csv, HEADER, DELIMITER '{DELIMITERS[kind]}'{quoting}" + (", COMPRESSION gzip" if compressed else "")


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Describe that a text is not UTF-8, that a gzip file is not whole, or that a cell has no end."""
    try:
        yield
    except UnicodeDecodeError:
        raise FileError(f"{path}: {NOT_UTF8}") from None
    except csv.Error as error:
        raise FileError(f"{path}: this is no table; a quotation mark may not be closed ({error}).") from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise FileError(f"{path}: {NOT_WHOLE}") from None


NOT_UTF8 = "the text is not UTF-8; convert the file first."
NOT_WHOLE = "the gzip file is truncated or damaged; copy or download it again."


@contextmanager
def open_text(path: Path) -> Iterator[Any]:
    """Open a text file, gzipped or not."""
    _check_ordinary(path)
    with (
        readable(path),
        open_bytes(path) as content,
        # Some editors begin with a mark.
        io.TextIOWrapper(content, encoding=_find_encoding(path).replace("utf-8", "utf-8-sig"), newline="") as lines,
    ):
        yield lines


def open_bytes(path: Path) -> Any:
    """Open a file, gzipped or not, to read what is in it."""
    return _Gzip(path) if path.suffix.lower() == ".gz" else path.open("rb")


class _Gzip(gzip.GzipFile):
    """A gzip file that is refused once it gave far more than such files have in them: it would fill the memory."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self._path, self._most = path, _most_unpacked(path)

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(PIECE), b""))
        return self._bounded(super().read(size))

    def read1(self, size: int = -1) -> bytes:
        return self._bounded(super().read1(size))

    def _bounded(self, piece: bytes) -> bytes:
        if self.tell() > self._most:
            raise FileError(
                f"{self._path}: it unpacks to more than {self._most / 1e9:.3g} GB, far more than its size lets expect; "
                f"if it is meant so, set the environment variable {UNPACKED} to more, such as 50GB."
            )
        return piece


def _check_ordinary(path: Path) -> None:
    """Refuse what has no end: a pipe that nobody writes to, a device such as /dev/zero."""
    if not path.is_file():
        raise FileError(f"{path}: there is no such file, or it is no ordinary one.")


def ordinary(path: Path) -> Path:
    """Return a path that can be read to its end; a pipe or a device is a file that cannot be read: an OSError."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is no ordinary file", str(path))
    return path


def load_json(path: Path) -> Any:
    """Read JSON that may be anybody's: an OSError where it cannot be read, a ValueError where it is none of use."""
    try:
        return json.loads(ordinary(path).read_bytes())
    except RecursionError:
        raise ValueError("parts within parts within parts, deeper than anything of use") from None


def read_text(path: Path) -> str:
    """Read a text whole, or say in one sentence why it cannot be read."""
    _check_ordinary(path)
    with readable(path):
        return path.read_text(encoding="utf-8-sig")


def find_layout(path: str | Path, order: Sequence[str] = COLUMNS) -> Layout:
    """Find out how a file is laid out, from its name and its first line."""
    path = Path(path)
    if not path.exists():
        raise FileError(f"{path}: there is no such file.")
    if path.is_dir():
        raise FileError(f"{path} is a folder; give the name of a file.")
    if not path.is_file():  # a pipe is read once, and a table twice: for its layout, and for its rows
        raise FileError(f"{path} is no ordinary file; write what it gives into one first.")
    kind, _ = _kind(path)
    check_gzip(path)
    if kind == ".parquet" or kind in JSON_LINES:
        names = tuple(parquet_types(path) if kind == ".parquet" else _json_names(path))
        called = _known(path, names)
        own = () if kind == ".parquet" else names
        return Layout(path, None, True, 0, called, _others(names, called.values()), _score_name(called), own)
    line = first_line(path)
    delimiter = find_comma(line, len(TRIPLE)) if kind == ".csv" else DELIMITERS[kind]
    first = split_line(line, delimiter)
    if _is_header([cell.strip().lower() for cell in first]):
        called = _known(path, first)
        position: dict[str, int | str] = {name: first.index(cell) if cell else "" for name, cell in called.items()}
        others, encoding = _others(first, called.values()), _find_encoding(path)
        return Layout(path, delimiter, True, len(first), position, others, _score_name(called), encoding=encoding)
    places = dict(zip(order, range(len(first)), strict=False))
    return Layout(path, delimiter, False, len(first), places, encoding=_find_encoding(path))


def find_comma(line: str, least: int) -> str:
    """Return what separates cells in a CSV file: a comma, or the semicolon of spreadsheets where a comma is a point."""
    return next((comma for comma in COMMAS if len(split_line(line, comma)) >= least), ",")


def split_line(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line."""
    if delimiter not in COMMAS:
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:  # a cell longer than csv takes
        return line.split(delimiter)


def check_gzip(path: Path) -> None:
    """Refuse a gzip file that ends before its end, which some readers of such files take for all there is.

    And one that has far more in it than such tables have.
    """
    if path.suffix.lower() == ".gz":
        with readable(path), open_bytes(path) as content:
            while content.read(PIECE):
                pass


PIECE = 2**20
UNPACKED = "ACTC_MOST_UNPACKED"
"""The environment variable with how much a gzip file may have in it."""


def _most_unpacked(path: Path) -> int:
    """Return how many bytes a gzip file may have in it: by default a gigabyte, or a hundred times its size."""
    return bytes_told(UNPACKED, "50GB") or max(10**9, 100 * path.stat().st_size)


def bytes_told(name: str, such_as: str) -> int:
    """Return the amount in an environment variable, in bytes; 0 where there is none."""
    value = os.environ.get(name)
    amount = 0 if value is None else int(float(value)) if value.isdecimal() else parse_bytes(value)
    if value is not None and not amount:
        raise OptionError(f"The environment variable {name} is {value!r}; write an amount, such as {such_as}.")
    return amount


def _is_header(names: Sequence[str]) -> bool:
    """Tell column names from a first triple, whose entities may be called like a column."""
    known = sum(name in COLUMNS or ALIASES.get(name) in TRIPLE for name in names)
    if {"head", "tail"} <= call_columns(names).keys():
        return True
    return known >= 2 or (known == 1 and not any(_is_number(name) or name in LABELS for name in names))


def require(layout: Layout, names: Sequence[str]) -> None:
    """Refuse a file that lacks a column."""
    missing = [name for name in names if name not in layout.position]
    if not missing:
        return
    if any(part.lower().startswith(f"{missing[0]}=") for part in layout.path.absolute().parent.parts):
        raise FileError(
            f"{layout.path}: the column {missing[0]!r} is in the name of a folder, not in the file; "
            "write it as a column."
        )
    if layout.has_header:
        known = ", ".join(layout.position) or "none of the known ones"
        others = f"; not known: {', '.join(layout.others[:5])}" if layout.others else ""
        raise FileError(f"{layout.path}, line 1: the column {missing[0]!r} is missing (found: {known}{others}).")
    raise FileError(
        f"{layout.path}, line 1: {layout.width} columns were found, but {len(names)} are needed ({', '.join(names)}), "
        f"separated by {COMMAS.get(str(layout.delimiter), 'tabs')}."
    )


@contextmanager
def rows_named_by(layout: Layout, rows: IntArray | None = None) -> Iterator[None]:
    """Turn the row numbers of table errors into the file's line numbers; ``rows`` are those that it has, if not all."""
    try:
        yield
    except RowError as error:
        places = np.arange(max(error.row, error.other or 0) + 1) if rows is None else rows
        other = "" if error.other is None else f" See {layout.where(int(places[error.other]))}."
        raise FileError(f"{layout.where(int(places[error.row]))}: {error.problem}{other}") from None
    except TableError as error:
        raise FileError(f"{layout.path}: {error}") from None


def read_failed(path: Path, error: Exception) -> FileError:
    """Describe why DuckDB could not read a file."""
    text = str(error)
    line = re.search(r"on Line: (\d+)", text)
    place = f"{path}, line {line[1]}" if line else f"{path}"
    if counts := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text):
        return FileError(f"{place}: {counts[2]} columns were found where the lines before have {counts[1]}.")
    if "state machine" in text:
        return FileError(
            f"{place}: the lines end differently (\\n here, \\r\\n there), or a quotation mark is not closed; "
            "save the file with one kind of line end."
        )
    if "unicode" in text or "utf-8" in text.lower():
        return FileError(f"{place}: {NOT_UTF8}")
    if "Malformed JSON" in text or "JSON transform error" in text:
        return _no_json_object(path)
    if "GZIP" in text.upper():
        return FileError(f"{place}: {NOT_WHOLE}")
    if "parquet" in text.lower() or path.suffix == ".parquet":
        return FileError(f"{place}: this is no readable Parquet file ({text.splitlines()[0]}).")
    return FileError(f"{place}: the file cannot be read ({text.splitlines()[0]}).")


def is_table(path: Path) -> bool:
    """Return whether the name is that of a table of triples."""
    try:
        _kind(path)
    except OptionError:
        return False
    return True


def quote(text: str) -> str:
    """Write a string as an SQL literal; DuckDB takes names in UTF-8 alone, and its error for others is of no use."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise FileError(f"{text!r}: the name is not UTF-8, or has half a character in it; rename the file.") from None
    return "'" + text.replace("'", "''") + "'"


def quote_file(path: str | Path) -> str:
    """Write the name of a file to read as an SQL literal: DuckDB takes ``*?[]`` for patterns, ``~`` for a home."""
    return quote(glob.escape(os.path.abspath(path)))


def _kind(path: Path) -> tuple[str, bool]:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = bool(suffixes) and suffixes[-1] == ".gz"
    kind = (suffixes[:-1] if compressed else suffixes)[-1:]
    if kind and (kind[0] in (*DELIMITERS, *JSON_LINES) or (kind[0] == ".parquet" and not compressed)):
        return kind[0], compressed
    raise OptionError(
        f"{path}: the name must end in .tsv, .csv, .jsonl or .parquet (.tsv.gz, .csv.gz and .jsonl.gz work too)."
    )


def first_line(path: Path) -> str:
    """Return the first line that is not empty, without its end."""
    with open_text(path) as lines:
        first = next((line for line in iter(lambda: lines.readline(MOST_FIRST + 1), "") if line.strip()), "")
    if not first:
        raise FileError(f"{path}: the file is empty.")
    if "\0" in first:
        raise FileError(f"{path}: {NOT_UTF8}")
    if len(first) > MOST_FIRST:
        raise FileError(f"{path}, line 1: more than {MOST_FIRST:,} characters without a line end; this is no table.")
    return str(first).rstrip("\r\n")


def _known(path: Path, names: Sequence[str]) -> dict[str, str]:
    """Return a file's own names of the columns that are known here; none for the relation of edges without one."""
    called = call_columns(names)
    columns = {name: called[name] for name in COLUMNS if name in called}
    if {"source", "target"} <= called.keys() and "relation" not in columns:
        LOG.warning("%s: there is no column for the relation; every fact is taken as %s.", path, RELATED)
        columns["relation"] = ""
    return columns


def _no_json_object(path: Path) -> FileError:
    """Name the first line that is no JSON object; DuckDB's own number may be off by one."""
    with open_text(path) as lines:
        bad = next((number for number, line in enumerate(lines, start=1) if not _is_json_object(line)), None)
    return FileError(f"{path}{f', line {bad}' if bad else ''}: this is no JSON object on one line.")


def _is_json_object(line: str) -> bool:
    try:
        return not line.strip() or isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _json_names(path: Path) -> list[str]:
    """Return the names in a file of JSON lines, each of them an object."""
    with open_reader(path) as connection:
        described = f"DESCRIBE SELECT * FROM read_json({quote_file(path)}, format='newline_delimited')"
        names = [row[0] for row in connection.execute(described).fetchall()]
    if names == ["json"]:  # what DuckDB calls lines that are no objects, or not all
        raise _no_json_object(path)
    return names


def _score_name(called: Mapping[str, str]) -> str:
    return "probability" if called.get("score", "").strip().lower() in PROBABILITIES else "score"


def _others(names: Sequence[str], known: Iterable[str]) -> tuple[str, ...]:
    taken = set(known)
    return tuple(name.strip() for name in names if name not in taken)


def _find_encoding(path: Path) -> str:
    """Return the encoding that the first bytes of a text tell."""
    with open_bytes(path) as content:
        start = content.peek(2)[:2]
    if start == b"\xfe\xff":  # which DuckDB does not read
        raise FileError(f"{path}: {NOT_UTF8}")
    return "utf-16" if start == b"\xff\xfe" else "utf-8"


def parquet_types(path: Path) -> dict[str, str]:
    """Return the columns of a Parquet file, each with its type in SQL."""
    with open_reader(path) as connection:
        described = f"DESCRIBE SELECT * FROM read_parquet({quote_file(path)}, hive_partitioning=false)"
        return {row[0]: row[1].lower() for row in connection.execute(described).fetchall()}


@contextmanager
def open_reader(path: Path) -> Iterator[Any]:
    """Open a database to read a file with; its errors become sentences about the file."""
    import duckdb

    with open_database() as connection:
        try:
            yield connection
        except duckdb.Error as error:
            raise read_failed(path, error) from None


def with_columns(layout: Layout, names: Iterable[str]) -> Layout:
    """Return a layout that knows further columns, those of these names that the file has; none without a header."""
    if layout.delimiter is None:
        own = layout.names or tuple(parquet_types(layout.path))
        places: dict[str, int | str] = {name.lower(): name for name in own}
    else:
        cells = layout.cells() if layout.has_header else []
        places = {cell.strip().lower(): place for place, cell in enumerate(cells)}
    free = (name for name in TEXTS if name in places and places[name] not in layout.position.values())
    text = next(free, None)
    known = {**places, "source": "" if text is None else places[text]}
    further = {name: known[name] for name in names if known.get(name, "") != ""}
    return replace(layout, position={**layout.position, **further})


@contextmanager
def _loaded(layout: Layout, names: Sequence[str], optional: Sequence[str] = ()) -> Iterator[Any]:
    """Load columns as text into a table ``loaded``, its rows numbered; refuse an empty table and empty cells.

    Cells of the optional columns may be empty.
    """
    with open_reader(layout.path) as connection:
        connection.execute(
            f"CREATE TABLE loaded AS SELECT row_number() OVER () - 1 AS row, {layout.texts((*names, *optional))} "
            f"FROM {layout.source}"
        )
        empty = ", ".join(f"min(row) FILTER ({name} IS NULL OR {name} = '')" for name in names)
        (size, *rows) = connection.execute(f"SELECT count(*), {empty} FROM loaded").fetchall()[0]
        if not size:
            raise FileError(f"{layout.path}: there is no triple in the file.")
        for name, row in zip(names, rows, strict=True):
            if row is not None:
                raise FileError(f"{layout.where(row)}: there is nothing in column {name}.")
        yield connection


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


def _read_scores(connection: Any, layout: Layout) -> FloatArray:
    values = connection.execute("SELECT TRY_CAST(score AS DOUBLE) AS value FROM loaded ORDER BY row").fetchnumpy()
    bad = np.flatnonzero(np.ma.getmaskarray(values["value"]))
    if bad.size:
        text = connection.execute("SELECT score FROM loaded WHERE row = ?", [int(bad[0])]).fetchall()[0][0]
        hint = "; write a point in place of the comma" if _is_number(text.replace(",", ".", 1)) else ""
        raise FileError(f"{layout.where(int(bad[0]))}: {text!r} is not a number (column score){hint}.")
    return np.asarray(values["value"], dtype=np.float64)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
