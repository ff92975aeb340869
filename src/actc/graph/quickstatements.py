"""Wikidata QuickStatements (version 1): a statement a line, referenced where it is machine-made, as it has to be.

A statement that a method decided gets the reference "based on heuristic" (P887), and "retrieved" (P813) if it has a
date; a statement of a person, or of the graph as it was, gets none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.files import read_text
from actc.errors import FileError, TableError
from actc.graph.graph import Graph, is_missing, made_by_method
from actc.graph.terms import Bases, write_lines

HEURISTIC = "Q2539"  # machine learning
ITEM, PROPERTY = re.compile(r"Q[1-9][0-9]*"), re.compile(r"P[1-9][0-9]*")
COMMENT = re.compile(r'("[^"]*")|/\*.*?\*/')
LABEL = re.compile(r"[LDAS][a-z][a-z_-]*")
COMMANDS = {
    "CREATE": "makes an item that has no id yet",
    "LAST": "stands for an item that has no id yet",
    "MERGE": "merges two items",
    "CREATE_PROPERTY": "makes a property that has no id yet",
}
VALUES = {
    "an item": ITEM,
    "a string": re.compile(r'(?:[a-z][a-z-]*:)?".*'),
    "a date": re.compile(r"[+-][0-9]+-[0-9]{2}-[0-9]{2}T.*"),
    "a quantity": re.compile(r"[+-]?[0-9].*"),
    "a place": re.compile(r"@-?[0-9].*"),
    "no value or an unknown one": re.compile(r"novalue|somevalue"),
    "a property, lexeme or file": re.compile(r"[PLM][1-9][0-9]*(?:-[FS][1-9][0-9]*)?"),
}


def read(path: Path, base: Bases) -> Graph:
    """Read statements between items; what else there is to an item is left out with a note, other commands refused."""
    triples, left_out, referenced = [], Counter[str](), 0
    for place, command in _commands(path):
        cells = [cell.strip() for cell in command.split("\t" if "\t" in command else "|")]
        kind = _kind(cells, place)
        if kind != "an item":
            left_out[kind] += 1
            continue
        triples.append(cells[:3])
        referenced += len(cells) > 3
    notes = [f"{count} lines that give {kind} are left out." for kind, count in sorted(left_out.items())]
    if referenced:
        notes.append(f"The qualifiers and references of {referenced} statements are left out.")
    heads, relations, tails = zip(*triples, strict=True) if triples else ((), (), ())
    return Graph.from_columns(heads, relations, tails, tuple(notes))


def _commands(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the commands, each with its place; ``||`` may stand between two of them, as in a link."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        text = COMMENT.sub(lambda found: found[1] or "", line).strip()
        for command in [text] if "\t" in text else text.split("||"):
            if command.strip():
                yield f"{path}, line {number}", command


def _kind(cells: list[str], place: str) -> str:
    """Return what a command gives its item: another item, a value, a label; refuse what no graph can hold."""
    subject, expected = cells[0], "a statement between two items was expected (Q1, P31, Q5 and so on)"
    if subject.startswith("-"):
        raise FileError(f"{place}: {subject} removes a statement; {expected}.")
    if subject in COMMANDS:
        raise FileError(f"{place}: {subject} {COMMANDS[subject]}; {expected}.")
    if not ITEM.fullmatch(subject):
        raise FileError(f"{place}: {subject!r} is not the id of an item; {expected}.")
    if len(cells) < 3:
        raise FileError(f"{place}: {len(cells)} of 3 parts were found; {expected}, between tabs or |.")
    if LABEL.fullmatch(cells[1]):
        return "a label, description, alias or page"
    if not PROPERTY.fullmatch(cells[1]):
        raise FileError(f"{place}: {cells[1]!r} is not the id of a property; {expected}.")
    found = next((kind for kind, pattern in VALUES.items() if pattern.fullmatch(cells[2])), None)
    if found is None:
        raise FileError(f"{place}: {cells[2]!r} is neither the id of an item nor a value; {expected}.")
    return found


def write(path: Path, graph: Graph, base: Bases, extras: Mapping[str, Any]) -> None:
    """Write the statements; the columns beside them say which of them need a reference."""
    _refuse_other_names(graph)
    references = np.full(len(graph), "", dtype=object)
    dates = extras.get("date", [None] * len(graph))
    for row in np.flatnonzero(made_by_method(extras, len(graph))).tolist():
        references[row] = f"\tS887\t{HEURISTIC}{_retrieved(dates[row])}"
    columns = {**graph.columns(), "reference": references}
    write_lines(path, columns, "head || '\t' || relation || '\t' || tail || reference")


def _retrieved(date: Any) -> str:
    if is_missing(date):
        return ""
    day = str(date)[:10]
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", day):
        raise TableError(f"{str(date)!r} is no date (column date); write it as 2026-11-15.")
    return f"\tS813\t+{day}T00:00:00Z/11"


def _refuse_other_names(graph: Graph) -> None:
    for pattern, names, kind in (
        (ITEM, graph.entity_names, "an item (Q…)"),
        (PROPERTY, graph.relation_names, "a property (P…)"),
    ):
        wrong = next((name for name in names if not pattern.fullmatch(name)), None)
        if wrong is not None:
            raise TableError(f"{wrong!r} is not the id of {kind}; QuickStatements takes Wikidata's ids only.")
