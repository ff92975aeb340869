"""How a table of triples is laid out: its format, its columns by the names that they have here, its parts.

TSV, CSV, Parquet and JSON lines, gzipped or not. Columns are recognised by the field's usual names where there is a
header, otherwise by their order: head, relation, tail, score, label. A user may name them.
"""

from __future__ import annotations

import csv
import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from shlex import quote as quote_word
from typing import Any

from actc.data.database import open_database, quote, quote_file
from actc.data.frames import (
    ALIASES,
    COLUMNS,
    LABELS,
    PROBABILITIES,
    TEXT,
    TEXTS,
    TRIPLE,
    Columns,
    call_columns,
    parse_columns,
)
from actc.data.text_files import NOT_UTF8, NOT_WHOLE, check_file, check_gzip, find_encoding, open_text
from actc.data.triples import IntArray
from actc.errors import FileError, OptionError, RowError, TableError

LOG = logging.getLogger("actc")
MOST_FIRST = 100_000  # characters of a first line; csv takes no cell of many more
DELIMITERS = {".tsv": "\t", ".txt": "\t", ".csv": ","}
JSON_LINES = (".jsonl", ".ndjson")
RELATED = "related_to"
"""The relation of all facts of a table of edges without a column for it, such as GraphRAG's relationships."""
COMMAS = {",": "commas", ";": "semicolons"}
"""What separates the cells of CSV files."""


@dataclass(frozen=True)
class Layout:
    """How a table of triples is laid out: one file, or parts that are laid out alike.

    Parameters
    ----------
    paths : tuple of Path
    delimiter : str, optional
        None for Parquet and JSON lines.
    has_header : bool
    names : tuple of str
        The columns' own names; 1, 2, ... without a header.
    columns : dict
        The own name of each column that is known here, empty for the relation of edges without one.
    score_name : str
        What the score column is called when it is copied: probability, if it is called so, else score.
    types : dict
        The type in SQL of each column by its own name, of Parquet and JSON lines.
    """

    paths: tuple[Path, ...]
    delimiter: str | None
    has_header: bool
    names: tuple[str, ...]
    columns: Mapping[str, str] = field(default_factory=dict)
    score_name: str = "score"
    encoding: str = "utf-8"
    types: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """The file, or the first part."""
        return self.paths[0]

    @property
    def parts(self) -> Iterator[Layout]:
        """The layout of each part, to look into one at a time."""
        return (replace(self, paths=(path,)) for path in self.paths)

    @property
    def others(self) -> tuple[str, ...]:
        """The own names of columns that are none of the known ones."""
        used = set(self.columns.values())
        return tuple(name for name in self.names if name not in used) if self.has_header else ()

    @property
    def source(self) -> str:
        """The table function that reads it in SQL, all columns of a text file being text."""
        # A folder called score=9 is a folder, not a column.
        files = "[" + ", ".join(map(quote_file, self.paths)) + "], hive_partitioning=false"
        if self.delimiter is None and find_kind(self.path)[0] == ".parquet":
            return f"read_parquet({files})"
        columns = ", ".join(f"{quote(name)}: 'VARCHAR'" for name in self.names)
        if self.delimiter is None:
            return f"read_json({files}, format='newline_delimited', columns={{{columns}}})"
        zipped = {path.suffix.lower() == ".gz" for path in self.paths}
        # Given, not detected: DuckDB does not see the ending of a name with a ? in it.
        compression = "auto" if len(zipped) == 2 else "gzip" if True in zipped else "none"
        quoting = "quote='\"', escape='\"'" if self.delimiter in COMMAS else "quote='', escape=''"
        return (
            f"read_csv({files}, columns={{{columns}}}, delim='{self.delimiter}', header={self.has_header}, "
            f"{quoting}, compression='{compression}', encoding='{self.encoding}', auto_detect=false, "
            "strict_mode=true, nullstr='')"
        )

    def column(self, name: str) -> str:
        """The SQL name of a known column."""
        return quote_name(self.columns[name]) if self.columns[name] else quote(RELATED)

    def texts(self, names: Sequence[str]) -> str:
        """The SQL of some columns as text, under the names that they have here."""
        return ", ".join(f"CAST({self.column(name)} AS VARCHAR) AS {quote_name(name)}" for name in names)

    def with_columns(self, names: Sequence[str]) -> Layout:
        """Return a layout that knows further columns, those of these names that the file has; none without a header."""
        own = {name.strip().lower(): name for name in self.names} if self.has_header else {}
        return replace(self, columns={**self.columns, **{name: own[name] for name in names if name in own}})

    def describe(self, used: Sequence[str] = ()) -> list[str]:
        """Describe columns that are called otherwise than here, and those that are not used, labels too, if any."""
        pairs = [(self.score_name if name == "score" else name, own) for name, own in self.columns.items() if own]
        odd = [f"{name} is {own}" for name, own in pairs if own.strip().lower() != name] if self.has_header else []
        unused = [name for name in (*self.others, self.columns.get("label")) if name and name not in used]
        parts = [", ".join(odd)] * bool(odd) + [f"not used: {', '.join(unused)}"] * bool(unused)
        return [f"{self.path}: {'; '.join(parts)}."] if parts else []

    def where(self, row: int) -> str:
        """Describe where a 0-based row stands in the file, for a message."""
        for part in self.parts if len(self.paths) > 1 else ():
            with open_reader(part) as connection:
                count = connection.execute(f"SELECT count(*) FROM {part.source}").fetchall()[0][0]
            if row < count:
                return part.where(row)
            row -= count
        if self.delimiter is None:
            return f"{self.path}, row {row + 1}"
        with open_text(self.path) as lines:
            reader = csv.reader(lines, delimiter=self.delimiter) if self.delimiter in COMMAS else None
            seen = -1 if self.has_header else 0
            for number, line in enumerate(reader or lines, start=1):
                if not line or line == "\n":
                    continue
                if seen == row:
                    return f"{self.path}, line {reader.line_num if reader else number}"
                seen += 1
        return f"{self.path}, row {row + 1}"


def quote_name(name: str) -> str:
    """Write the name of a column in SQL."""
    return '"' + name.replace('"', '""') + '"'


def find_layout(
    path: str | Path, order: Sequence[str] = COLUMNS, columns: Columns = None, has_header: bool | None = None
) -> Layout:
    """Find out how a file is laid out, from its name and its first line.

    ``order`` is that of the columns without a header; ``columns`` are those that the user names.
    """
    path, chosen = Path(path), parse_columns(columns)
    check_file(path)
    kind, _ = find_kind(path)
    check_gzip(path)
    if kind not in DELIMITERS:
        types = _read_types(path, kind)
        return _name_columns(Layout((path,), None, True, tuple(types), types=types), chosen)
    lines = first_lines(path, 2)
    delimiter = find_comma(lines[0], len(TRIPLE)) if kind == ".csv" else DELIMITERS[kind]
    cells, *rows = (tuple(cell.strip() for cell in split_line(line, delimiter)) for line in lines)
    places = tuple(str(place) for place in range(1, len(cells) + 1))
    if has_header is None:
        by_name = bool(chosen) and not set(chosen.values()) <= set(places)
        beside = [pair for row in rows for pair in zip(cells, row, strict=False)][len(TRIPLE) :]
        unlike = any(is_number(cell) and not is_number(name) for name, cell in beside)
        has_header = by_name or unlike or _is_header([cell.lower() for cell in cells])
    names = places if not has_header else _distinct(cells)
    layout = Layout((path,), delimiter, has_header, names, encoding=find_encoding(path))
    if has_header or chosen:
        return _name_columns(layout, chosen)
    return replace(layout, columns=dict(zip(order, places, strict=False)))


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of columns that DuckDB takes for different ones: where one is empty or repeated, with its place."""
    keys = [name.lower() for name in names]
    return tuple(
        name if key and key not in keys[:at] else f"{name}_{at + 1}"
        for at, (name, key) in enumerate(zip(names, keys, strict=True))
    )


def _name_columns(layout: Layout, chosen: Mapping[str, str]) -> Layout:
    """Return a layout with the columns that are known here: those that the user names, and by their usual names."""
    with rows_named_by(layout):
        called = call_columns(layout.names, chosen)
    columns = {name: called[name] for name in COLUMNS if name in called}
    if {"source", "target"} <= called.keys() and "relation" not in columns:
        LOG.warning("%s: there is no column for the relation; every fact is taken as %s.", layout.path, RELATED)
        columns["relation"] = ""
    free = {name.strip().lower(): name for name in reversed(layout.names) if name not in columns.values()}
    text = called[TEXT] if TEXT in chosen else next((free[name] for name in TEXTS if name in free), None)
    if text is not None:
        columns[TEXT] = text
    likely = any(name in called and called[name] == columns["score"] for name in PROBABILITIES)
    return replace(layout, columns=columns, score_name="probability" if likely else "score")


def find_parts(paths: Sequence[str | Path], needed: Sequence[str], columns: Columns = None) -> Layout:
    """Find the parts behind files and folders, and refuse parts that differ in layout or lack a needed column."""
    parts = tuple(part for path in paths for part in _parts_of(Path(path)))
    if not parts:
        raise OptionError("There is no file of candidates; give at least one file or folder.")
    first = find_layout(parts[0], columns=columns)
    require(first, needed)
    for part in (find_layout(path, columns=columns) for path in parts[1:]):
        if _shape(part, needed) != _shape(first, needed):
            theirs, ours = (
                ", ".join(f"{name} {one.types.get(name, '')}".strip() for name in one.names) for one in (part, first)
            )
            raise FileError(
                f"{part.path}: its columns ({theirs}) are not those of {first.path} ({ours}); write all parts alike."
            )
    return replace(first, paths=parts)


def _shape(layout: Layout, needed: Sequence[str]) -> Layout | list[tuple[str, str | None]]:
    """Return what all parts have in common: DuckDB would give Parquet's columns the types of the first part's."""
    if find_kind(layout.path)[0] != ".parquet":
        return replace(layout, paths=(), types={})
    return [(own, layout.types.get(own)) for own in (layout.columns.get(name, "") for name in needed)]


def _parts_of(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    # Names that begin with _ or . are bookkeeping (Spark's _SUCCESS, .crc).
    names = (one for one in path.rglob("*") if not any(p[0] in "._" for p in one.relative_to(path).parts))
    parts = sorted(one for one in names if one.is_file() and is_table(one))
    if not parts:
        raise FileError(f"{path}: there is no .parquet, .tsv or .csv file in the folder.")
    return parts


def require(layout: Layout, names: Sequence[str]) -> None:
    """Refuse a file that lacks a column."""
    missing = [name for name in names if name not in layout.columns]
    if not missing:
        return
    if layout.has_header:
        there = f"there are: {', '.join(layout.names)}"
        used = {layout.columns.get(name) for name in names}
        named = ",".join(map("=".join, zip(missing, (name for name in layout.names if name not in used), strict=False)))
        # Of several tables that a command reads, the option is about one, which is none of answers.
        remedy = f"Name yours: --columns {quote_word(named)}, or rename it." if named else "Add it."
        if names[-1] in ("label", "judge"):
            remedy = "Rename yours, or add it."
        raise FileError(f"{layout.path}, line 1: the column {missing[0]!r} is missing; {there}. {remedy}")
    there = "column is" if len(layout.names) == 1 else "columns are"
    tabs = "tabs (by commas in a file named .csv)"
    raise FileError(
        f"{layout.path}, line 1: {len(layout.names)} {there} there, but {len(names)} are needed "
        f"({', '.join(names)}), separated by {COMMAS.get(str(layout.delimiter), tabs)}."
    )


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


def _is_header(names: Sequence[str]) -> bool:
    """Distinguish column names from a first triple, whose entities may be called like a column."""
    known = sum(name in COLUMNS or ALIASES.get(name) in TRIPLE for name in names)
    if {"head", "tail"} <= call_columns(names).keys():
        return True
    return known >= 2 or (known == 1 and not any(is_number(name) or name in LABELS for name in names))


def is_number(cell: Any) -> bool:
    """Return whether a cell of a table is a number."""
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def find_kind(path: Path) -> tuple[str, bool]:
    """Return the ending of a table's name, and whether it is compressed; refuse any other name."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = bool(suffixes) and suffixes[-1] == ".gz"
    kind = (suffixes[:-1] if compressed else suffixes)[-1:]
    if kind and (kind[0] in (*DELIMITERS, *JSON_LINES) or (kind[0] == ".parquet" and not compressed)):
        return kind[0], compressed
    raise OptionError(
        f"{path}: the name must end in .tsv, .csv, .jsonl or .parquet (.tsv.gz, .csv.gz and .jsonl.gz work too)."
    )


def is_table(path: Path) -> bool:
    """Return whether the name is that of a table of triples."""
    try:
        find_kind(path)
    except OptionError:
        return False
    return True


def first_lines(path: Path, count: int = 1) -> list[str]:
    """Return the first lines that are not empty, without their ends; at least one."""
    with open_text(path) as lines:
        first = list(islice((line for line in iter(lambda: lines.readline(MOST_FIRST + 1), "") if line.strip()), count))
    if not first:
        raise FileError(f"{path}: the file is empty.")
    if "\0" in first[0]:
        raise FileError(f"{path}: {NOT_UTF8}")
    if len(first[0]) > MOST_FIRST:
        raise FileError(f"{path}, line 1: more than {MOST_FIRST:,} characters without a line end; this is no table.")
    return [line.rstrip("\r\n") for line in first]


def _read_types(path: Path, kind: str) -> dict[str, str]:
    """Return the columns of a Parquet file, or of lines that are JSON objects, each with its type in SQL."""
    way = "parquet({}, hive_partitioning=false)" if kind == ".parquet" else "json({}, format='newline_delimited')"
    with open_reader(path) as connection:
        described = f"DESCRIBE SELECT * FROM read_{way.format(quote_file(path))}"
        types = {row[0]: row[1].lower() for row in connection.execute(described).fetchall()}
    if kind != ".parquet" and list(types) == ["json"]:  # what DuckDB calls lines that are no objects, or not all
        raise _no_json_object(path)
    return types


def _no_json_object(path: Path) -> FileError:
    """Name the first line that is no JSON object; DuckDB's own number may be off by one."""
    bad = ""
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            with suppress(json.JSONDecodeError):
                if not line.strip() or isinstance(json.loads(line), dict):
                    continue
            bad = f", line {number}"
            break
    return FileError(f"{path}{bad}: this is no JSON object; write one on each line.")


@contextmanager
def open_reader(table: Path | Layout) -> Iterator[Any]:
    """Open a database to read a file or its parts with; its errors become sentences about the file."""
    import duckdb

    with open_database() as connection:
        try:
            yield connection
        except duckdb.Error as error:
            if isinstance(table, Path):
                raise read_failed(table, error) from None
            raise (find_unreadable_part(table) or read_failed(table.path, error)) from None


def find_unreadable_part(layout: Layout) -> FileError | None:
    """Describe which part cannot be read, and why; None if all can."""
    import duckdb

    for part in layout.parts:
        with open_database() as connection:
            try:
                columns = ", ".join(part.column(name) for name in part.columns)
                connection.execute(f"SELECT bit_xor(hash({columns})) FROM {part.source}").fetchall()
            except duckdb.Error as failure:
                return read_failed(part.path, failure)
    return None


READ_FAILURES = {
    "maximum line size": "a cell is too long; a line may have two million bytes at most.",
    "state machine": "the lines end differently (\\n here, \\r\\n there), or a quotation mark is not closed; "
    "save the file with one kind of line end.",
    "unicode": NOT_UTF8,
    "utf-8": NOT_UTF8,
    "gzip": NOT_WHOLE,
    "parquet": "this is no readable Parquet file ({first}).",
    "": "the file cannot be read ({first}).",
}
"""What a person reads where DuckDB's message has certain words; the first that fit."""


def read_failed(path: Path, error: Exception) -> FileError:
    """Describe why DuckDB could not read a file."""
    text = str(error)
    line = re.search(r"on Line: (\d+)", text)
    place = f"{path}, line {line[1]}" if line else f"{path}"
    if counts := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text):
        return FileError(f"{place}: {counts[2]} columns are there, where the lines before have {counts[1]}.")
    if "Malformed JSON" in text or "JSON transform error" in text:
        return _no_json_object(path)
    # DuckDB repeats the line, which may have any words.
    words = re.sub(r"(?m)^Original Line: .*$", "", text).lower() + path.suffix
    reason = next(reason for mark, reason in READ_FAILURES.items() if mark in words)
    return FileError(f"{place}: {reason.format(first=text.splitlines()[0])}")


@contextmanager
def rows_named_by(layout: Layout, rows: IntArray | None = None) -> Iterator[None]:
    """Turn the row numbers of table errors into the file's line numbers; ``rows`` are those that it has, if not all."""
    try:
        yield
    except RowError as error:
        row, other = error.row, error.other
        more = "" if other is None else f" See {layout.where(other if rows is None else int(rows[other]))}."
        raise FileError(f"{layout.where(row if rows is None else int(rows[row]))}: {error.problem}{more}") from None
    except TableError as error:
        raise FileError(f"{layout.path}: {error}") from None
