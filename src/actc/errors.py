"""Every error that actc raises on purpose, and what it means.

::

    ActcError                 anything below; the command line prints it as one sentence and exits with 2
    ├── TableError            a table of triples, annotations or thresholds is not usable
    │   └── RowError          ... because of one row; files turn the row into a line number
    ├── FileError             a file is missing, truncated, empty, or not what it should be
    ├── ChoiceError           a name that is not among the choices (the message offers the nearest)
    ├── OptionError           an option's value is out of range, or does not go with the others
    ├── SessionError          an annotation session refuses: no such question, nothing to undo, a key used twice
    ├── StoreError            a store cannot be reached, refuses, or does not give all that it counts
    └── MissingExtraError     an optional dependency is not installed (the message says what to install)

All are ``ValueError`` too, so callers who do not care need not import any of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, TypeVar

T = TypeVar("T")


class ActcError(ValueError):
    """Something a person can put right; the message says what came, what was expected, what to do."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Let it travel from a worker process, message and all, whatever its constructor takes."""
        return _restore, (type(self), self.args, vars(self))


def _restore(kind: type[ActcError], arguments: tuple[Any, ...], attributes: dict[str, Any]) -> ActcError:
    error = kind.__new__(kind)
    error.args = arguments
    vars(error).update(attributes)
    return error


class TableError(ActcError):
    """A table of triples, annotations or thresholds is not usable."""


class RowError(TableError):
    """One row of a table is not usable.

    Parameters
    ----------
    row : int
        0-based position of the row in the table.
    problem : str
        What is wrong with it, without the position.
    other : int, optional
        Another row that it clashes with.
    """

    def __init__(self, row: int, problem: str, other: int | None = None) -> None:
        super().__init__(f"Row {row}: {problem}" + ("" if other is None else f" See row {other}."))
        self.row = row
        self.problem = problem
        self.other = other


class FileError(ActcError):
    """A file is missing, truncated, empty, or not what it should be."""


class ChoiceError(ActcError):
    """A name that is not among the choices."""

    def __init__(self, kind: str, name: object, choices: Iterable[str]) -> None:
        known = list(choices)
        near = get_close_matches(str(name), known, n=1, cutoff=0.5)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        super().__init__(f"No {kind} is called {name!r}. {hint}Choose one of: {', '.join(known)}.")


def check_choice(kind: str, name: object, choices: Collection[str]) -> None:
    """Refuse a name that is not among the choices."""
    if name not in choices:
        raise ChoiceError(kind, name, choices)


def choose(kind: str, name: str, choices: Mapping[str, T]) -> T:
    """Return what goes by a name; refuse one that is not among the choices."""
    check_choice(kind, name, choices)
    return choices[name]


class OptionError(ActcError):
    """An option's value is out of range, or does not go with the others."""


class SessionError(ActcError):
    """An annotation session refuses what was sent: an answer to no question, or nothing to undo."""


class StoreError(ActcError):
    """A store cannot be reached, refuses, or does not give all that it counts."""


class MissingExtraError(ActcError):
    """An optional dependency is not installed."""

    def __init__(self, doing: str, package: str, extra: str) -> None:
        how = f"pip install 'actc[{extra}]' (in a checkout: pip install '.[{extra}]')"
        super().__init__(f"{doing} needs {package}. Install it with: {how}")


@contextmanager
def needing(doing: str, package: str, extra: str) -> Iterator[None]:
    """Turn a failed import into an error that names the extra to install."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").startswith("actc"):
            raise
        raise MissingExtraError(doing, package, extra) from None


def describe_failure(error: Exception) -> str:
    """Describe in one sentence what went wrong, in our checks or outside; raise it again if it is a fault of ours."""
    if isinstance(error, ActcError):
        return str(error)
    place = "".join(f"{note}: " for note in getattr(error, "__notes__", ()))
    kind = f"{type(error).__module__}.{type(error).__name__}"
    first = (str(error).strip().splitlines() or [kind])[0].rstrip(".")
    if isinstance(error, OSError):
        return f"{place or (f'{error.filename}: ' if error.filename else '')}{(error.strerror or first).lower()}."
    if "Symlink loop" in first:
        return f"{place}{first[0].lower()}{first[1:]}."
    if isinstance(error, RecursionError):
        return f"{place}a file has parts within parts within parts, deeper than anything of use."
    if isinstance(error, MemoryError):
        return f"{place}there is not enough memory for this."
    if isinstance(error, OverflowError):
        return f"{place}a number is too large ({first})."
    if isinstance(error, UnicodeError):
        return f"{place}a text is not UTF-8, or has half a character in it ({first})."
    if kind.startswith(("sqlite3.", "duckdb.", "_duckdb.", "pyarrow.")):
        return f"{place}the database reports: {first}."
    raise error
