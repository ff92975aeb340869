"""Folders of numbers and the files that name them, as OpenKE and LibKGE write them; and tables of scored numbers.

OpenKE: ``entity2id.txt``, ``relation2id.txt`` (a count, then name and number), ``train2id.txt`` (a count, then head,
TAIL, relation). LibKGE: ``entity_ids.del``, ``relation_ids.del`` (number, name), ``train.del`` (head, relation, tail).
DGL-KE: ``result.tsv`` (head, rel, tail, score), of names or of numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from actc.errors import FileError
from actc.graphs.graph import Graph
from actc.graphs.terms import Bases
from actc.tables.files import read_scored, read_text
from actc.triples import ScoredTriples


@dataclass(frozen=True)
class IdFiles:
    """How a tool names its numbers.

    Parameters
    ----------
    entities, relations, triples : str
        File names in the folder.
    counted : bool
        Whether the first line of each is the number of lines that follow.
    name_first : bool
        Whether a line is a name and then its number, or the other way round.
    order : tuple of int
        Where head, relation and tail stand in a line of triples.
    validation : str
        The file name of the triples that a model is not trained on but stopped by.
    """

    entities: str
    relations: str
    triples: str
    counted: bool
    name_first: bool
    order: tuple[int, int, int]
    validation: str

    def read_graph(self, path: Path, base: Bases) -> Graph:
        """Read the folder's triples by name."""
        entities, relations = self.read_names(path)
        rows = _rows(path / self.triples, 3, self.counted)
        codes = [_numbers(path / self.triples, rows, column, self.counted) for column in self.order]
        named = (
            [_name(names, code, path / self.triples, at + 1 + self.counted, kind) for at, code in enumerate(column)]
            for names, column, kind in zip(
                (entities, relations, entities), codes, ("entity", "relation", "entity"), strict=True
            )
        )
        heads, kinds, tails = named
        return Graph.from_columns(heads, kinds, tails)

    def read_names(self, path: str | Path) -> tuple[dict[int, str], dict[int, str]]:
        """Return the names of entities and of relations in a folder, by number."""
        return (
            read_names(Path(path) / self.entities, counted=self.counted, name_first=self.name_first),
            read_names(Path(path) / self.relations, counted=self.counted, name_first=self.name_first),
        )


def read_names(path: str | Path, *, counted: bool = False, name_first: bool = False) -> dict[int, str]:
    """Read a file of numbers and names."""
    path = Path(path)
    rows = _rows(path, 2, counted)
    numbers = _numbers(path, rows, 1 if name_first else 0, counted)
    names = dict(zip(numbers, (row[0 if name_first else 1] for row in rows), strict=True))
    if len(names) < len(numbers):
        raise FileError(f"{path}: a number has two names.")
    return names


def read_scored_ids(path: str | Path, entities: Mapping[int, str], relations: Mapping[int, str]) -> ScoredTriples:
    """Read a table of scored triples whose entities and relations are numbers, as LibKGE and DGL-KE dump them.

    Parameters
    ----------
    path : path
        head, relation, tail, score; with a header or in that order.
    entities, relations : dict
        Names by number, see :func:`read_names`.
    """
    path = Path(path)
    scored = read_scored(path)[0]
    entity_names = np.array(
        [_scored_name(entities, name, path, "entity") for name in scored.entity_names], dtype=object
    )
    kinds = np.array([_scored_name(relations, name, path, "relation") for name in scored.relation_names], dtype=object)
    return ScoredTriples.from_columns(
        entity_names[scored.heads], kinds[scored.relations], entity_names[scored.tails], scored.scores
    )


def _scored_name(names: Mapping[int, str], number: str, path: Path, kind: str) -> str:
    if not number.isdigit() or int(number) not in names:
        raise FileError(f"{path}: {number!r} is the number of no {kind}; the names are of another model.")
    return names[int(number)]


def _rows(path: Path, width: int, counted: bool) -> list[list[str]]:
    lines = read_text(path).splitlines()
    rows = [line.split("\t") if "\t" in line else line.split() for line in lines[counted:]]
    for number, row in enumerate(rows, start=1 + counted):
        if len(row) < width:
            raise FileError(f"{path}, line {number}: {width} columns were expected, {len(row)} were found.")
    if counted and (not lines or lines[0].strip() != str(len(rows))):
        said = lines[0].strip() if lines else "nothing"
        raise FileError(f"{path}, line 1: it says {said!r}, but {len(rows)} lines follow; the file is damaged.")
    return rows


def _numbers(path: Path, rows: Sequence[Sequence[str]], column: int, counted: bool) -> list[int]:
    for number, row in enumerate(rows, start=1 + counted):
        if not row[column].isdigit():
            raise FileError(f"{path}, line {number}: {row[column]!r} is not a number.")
    return [int(row[column]) for row in rows]


def _name(names: Mapping[int, str], code: int, path: Path, line: int, kind: str) -> str:
    if code not in names:
        raise FileError(f"{path}, line {line}: {code} is the number of no {kind}.")
    return names[code]


def read_validation(folder: Path) -> Graph | None:
    """Read the validation triples of a folder of numbers; None where it is no such folder, or has none."""
    for tool in (OPENKE, LIBKGE):
        if all((folder / name).is_file() for name in (tool.entities, tool.relations, tool.validation)):
            return replace(tool, triples=tool.validation).read_graph(folder, Bases())
    return None


OPENKE = IdFiles("entity2id.txt", "relation2id.txt", "train2id.txt", True, True, (0, 2, 1), "valid2id.txt")
LIBKGE = IdFiles("entity_ids.del", "relation_ids.del", "train.del", False, False, (0, 1, 2), "valid.del")
