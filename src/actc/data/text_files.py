"""Plain files in and out: texts, gzipped or not, CSV and JSON, pages from ``templates/``; complete or absent."""

from __future__ import annotations

import csv
import errno
import gzip
import io
import json
import math
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from actc.data.database import parse_bytes
from actc.data.deliver import write_beside
from actc.errors import FileError, OptionError

NOT_UTF8 = "the text is not UTF-8; convert the file first."
NOT_WHOLE = "the gzip file is truncated or damaged; copy or download it again."
PIECE = 2**20
UNPACKED = "ACTC_MOST_UNPACKED"
"""The environment variable with how much a gzip file may have in it."""


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
    if is_dataclass(value):
        value = vars(value)
    if hasattr(value, "tolist"):  # an array
        value = value.tolist()
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


@contextmanager
def open_text(path: Path) -> Iterator[Any]:
    """Open a text file, gzipped or not."""
    check_file(path)
    with (
        readable(path),
        open_bytes(path) as content,
        # Some editors begin with a mark.
        io.TextIOWrapper(content, encoding=find_encoding(path).replace("utf-8", "utf-8-sig"), newline="") as lines,
    ):
        yield lines


def open_bytes(path: Path) -> Any:
    """Open a file, gzipped or not, to read what is in it."""
    return _Gzip(path) if path.suffix.lower() == ".gz" else path.open("rb")


class _Gzip(gzip.GzipFile):
    """A gzip file that is refused once it gave far more than such files have in them: it would fill the memory."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        # By default a gigabyte, or a hundred times its size.
        self._path, self._most = path, read_amount(UNPACKED, "50GB") or max(10**9, 100 * path.stat().st_size)

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


def check_file(path: Path) -> None:
    """Refuse what is no file, or has no end: a pipe that nobody writes to, a device such as /dev/zero."""
    if not path.exists():
        raise FileError(f"{path}: there is no such file.")
    if path.is_dir():
        raise FileError(f"{path} is a folder; give the name of a file.")
    if not path.is_file():  # a pipe is read once, and a table twice: for its layout, and for its rows
        raise FileError(f"{path} is no ordinary file; write what it gives into one first.")


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
    check_file(path)
    with readable(path):
        return path.read_text(encoding="utf-8-sig")


def check_gzip(path: Path) -> None:
    """Refuse a gzip file that ends before its end, which some readers of such files take for all there is.

    And one that has far more in it than such tables have.
    """
    if path.suffix.lower() == ".gz":
        with readable(path), open_bytes(path) as content:
            while content.read(PIECE):
                pass


def read_amount(name: str, such_as: str) -> int:
    """Return the amount in an environment variable, in bytes; 0 where there is none."""
    value = os.environ.get(name)
    amount = 0 if value is None else int(float(value)) if value.isdecimal() else parse_bytes(value)
    if value is not None and not amount:
        raise OptionError(f"The environment variable {name} is {value!r}; write an amount, such as {such_as}.")
    return amount


def find_encoding(path: Path) -> str:
    """Return the encoding of a text, by its first bytes."""
    with open_bytes(path) as content:
        start = content.peek(2)[:2]
    if start == b"\xfe\xff":  # which DuckDB does not read
        raise FileError(f"{path}: {NOT_UTF8}")
    return "utf-16" if start == b"\xff\xfe" else "utf-8"


def render(template: str, **values: Any) -> str:
    """Return a template, filled, what is put in being escaped, but in Markdown; a value that is missing is an error."""
    return str(_environment().get_template(template).render(**values))


def read_template(name: str) -> str:
    """Return a template as it stands: the stylesheet, for who serves it as a file."""
    loader = _environment().loader
    return str(loader.get_source(_environment(), name)[0])


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("actc.data"),
        autoescape=lambda name: not str(name).endswith(".md"),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters |= {"percent": "{:.0%}".format, "count": "{:,}".format, "number": "{:.3g}".format}
    return made
