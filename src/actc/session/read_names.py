"""Read names and descriptions from whatever they come in: tables, JSON, JSON lines (Wikidata's dump too), RDF.

Every reader yields rows of (id, name, description, types, template); empty text stands for what a file does not say.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from actc.data.database import open_database
from actc.data.files import COMMAS, find_comma, open_bytes, open_text, quote_file, read_failed, readable, split_line
from actc.errors import FileError, needing
from actc.graph.rdf import TOO_LONG, refuse_doctype
from actc.graph.terms import RDFS

NAME_COLUMNS = ("id", "name", "description", "types", "template")
NAME_ALIASES = {
    "label": "name",
    "entity": "id",
    "relation": "id",
    "type": "types",
    "definition": "description",
    "sentence": "template",
}
SKOS, DC = "http://www.w3.org/2004/02/skos/core#", "http://purl.org/dc/"
# Which predicates of RDF give what; of two, the one named first counts.
PREDICATES = {
    "name": (f"{SKOS}prefLabel", f"{RDFS}label", "http://schema.org/name", "https://schema.org/name"),
    "description": (
        *("http://schema.org/description", "https://schema.org/description", f"{SKOS}definition", f"{RDFS}comment"),
        *(f"{DC}terms/description", f"{DC}elements/1.1/description"),
    ),
}
NAMING = frozenset(name for names in PREDICATES.values() for name in names)
RDF_FORMATS = {".nt": "N_TRIPLES", ".ttl": "TURTLE", ".rdf": "RDF_XML", ".owl": "RDF_XML", ".jsonld": "JSON_LD"}
FIRST = 100_000  # names that are read before long work
Row = dict[str, Any]


def own_labels(graph: Path) -> tuple[Path, ...]:
    """Return a graph's file, where what it calls things may stand in it: in RDF, if that can be read."""
    return (graph,) if ending(graph) in RDF_FORMATS and find_spec("pyoxigraph") is not None else ()


def try_names(paths: Iterable[Path], language: str = "en") -> None:
    """Refuse files without names in them before long work; of a dump only the first names are looked at."""
    for path in paths:
        for _ in islice(read_names(path, language), FIRST):
            pass


def read_names(path: Path, language: str = "en", wanted: Container[str] | None = None) -> Iterator[tuple[str, ...]]:
    """Read the rows of a file.

    Parameters
    ----------
    path : Path
        What it is, its ending says: .tsv, .csv, .parquet; .json, .jsonl; .nt, .ttl, .rdf, .owl, .jsonld; most also
        with .gz.
    language : str
        Which language counts where a file has several; what has no language, or any other, is second and third choice.
    wanted : container of str, optional
        The ids that are asked for; all if not given. A dump of everything has little of interest.
    """
    if not path.is_file():
        raise FileError(f"{path}: there is no such file.")
    reader: Callable[[Path, str, Container[str] | None], Iterable[Row]] = _read_table
    if ending(path) in RDF_FORMATS:
        reader = _read_rdf
    elif ending(path) in (".json", ".jsonl", ".ndjson"):
        reader = _read_json
    with readable(path):
        for row in reader(path, language, wanted):
            values = [str(row.get(column) or "") for column in NAME_COLUMNS]
            if wanted is None or values[0] in wanted:
                yield values[0], values[1] or values[0], *values[2:]


def ending(path: Path) -> str:
    """Return a file's ending, less .gz."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


def _read_json(path: Path, language: str, wanted: Container[str] | None) -> Iterator[Row]:
    with open_text(path) as lines:
        first = next((line for line in lines if line.strip(" \r\n[")), "")
    if _one_entity(first) is not None:
        yield from _read_json_lines(path, language)
        return
    try:
        with open_text(path) as lines:
            content = json.load(lines)
    except FileError:
        raise
    except ValueError as error:
        raise FileError(f"{path}: this is no JSON file ({error}).") from None
    if not isinstance(content, dict):
        raise FileError(f"{path}: an object was expected, with one entry per id, or one object with an id a line.")
    entities = content["entities"] if isinstance(content.get("entities"), dict) else content
    for identifier, entry in entities.items():
        yield {"id": identifier} | _fields(entry if isinstance(entry, dict) else {"name": entry}, language)


def _read_json_lines(path: Path, language: str) -> Iterator[Row]:
    """Read one entity a line; Wikidata's dump is such lines between brackets, with commas at their ends."""
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip(" \r\n[],"):
                continue
            entity = _one_entity(line)
            if entity is None:
                raise FileError(f"{path}, line {number}: this is no JSON object with an id.")
            yield {"id": entity["id"]} | _fields(entity, language)


def _one_entity(line: str) -> dict[str, Any] | None:
    try:
        content = json.loads(line.strip().rstrip(","))
    except ValueError:
        return None
    return content if isinstance(content, dict) and isinstance(content.get("id"), str) else None


def _fields(entry: Mapping[str, Any], language: str) -> Row:
    """Return what an entry says: Wikidata has a text for each language, others have one."""
    if not isinstance(entry.get("labels"), dict):
        return _renamed((name, value) for name, value in entry.items() if name != "id")
    texts = {"name": entry["labels"], "description": entry.get("descriptions") or {}}
    return {field: _in_language(values, language) for field, values in texts.items()}


def _in_language(values: Mapping[str, Any], language: str) -> str:
    for wanted in (language, "mul", *values):
        if wanted in values:
            return str(values[wanted]["value"])
    return ""


def _read_rdf(path: Path, language: str, wanted: Container[str] | None) -> Iterator[Row]:
    """Read labels and descriptions; an entity may be known by its whole IRI, or by what comes after the last / or #."""
    fields = {name: (field, place) for field, names in PREDICATES.items() for place, name in enumerate(names)}
    best: dict[str, dict[str, tuple[tuple[int, int], str]]] = {}
    for subject, predicate, value, tag in _statements(path):
        if predicate not in fields:
            continue
        field, place = fields[predicate]
        rank = (0 if tag == language else 1 if not tag or tag == "mul" else 2, place)
        for identifier in {subject, subject.rstrip("/#").replace("#", "/").rpartition("/")[2]}:
            if wanted is None or identifier in wanted:
                known = best.setdefault(identifier, {})
                known[field] = min(known.get(field, (rank, value)), (rank, value))
    for identifier, known in best.items():
        yield {"id": identifier} | {field: value for field, (_, value) in known.items()}


def _statements(path: Path) -> Iterator[tuple[str, str, str, str | None]]:
    """Return subject, predicate, text and language of the statements that end in text, one after the other."""
    with needing("Reading names from RDF", "pyoxigraph", "rdf"):
        import pyoxigraph
    syntax = getattr(pyoxigraph.RdfFormat, RDF_FORMATS[ending(path)])
    try:
        with open_bytes(path) as content:
            if syntax == pyoxigraph.RdfFormat.RDF_XML:
                refuse_doctype(path, content.read())
                content.seek(0)
            for quad in pyoxigraph.parse(content, format=syntax, lenient=True):
                if isinstance(quad.object, pyoxigraph.Literal) and isinstance(quad.subject, pyoxigraph.NamedNode):
                    yield quad.subject.value, quad.predicate.value, quad.object.value, quad.object.language
    except SyntaxError as error:
        raise FileError(f"{path}: {error.msg}.") from None
    except MemoryError:
        raise FileError(f"{path}: {TOO_LONG}") from None


def _read_table(path: Path, language: str, wanted: Container[str] | None) -> Iterator[Row]:
    if path.suffix == ".parquet":
        yield from _read_parquet(path)
        return
    with open_text(path) as lines:
        line = next(lines, "").rstrip("\r\n")
        delimiter = find_comma(line, 2) if ".csv" in path.suffixes else "\t"
        header = split_line(line, delimiter)
        columns = list(_renamed((name.strip().lower(), name) for name in header))
        if "id" not in columns:
            raise FileError(f"{path}, line 1: a column 'id' is needed (found: {', '.join(header)}).")
        for number, row in enumerate(_split(lines, delimiter), start=2):
            if len(row) > len(columns):
                raise FileError(
                    f"{path}, line {number}: {len(row)} columns were found where the header has {len(columns)}."
                )
            yield dict(zip(columns, row, strict=False))


def _split(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    if delimiter in COMMAS:
        yield from csv.reader(lines, delimiter=delimiter)
    else:
        for line in lines:
            if line.strip():
                yield line.rstrip("\r\n").split("\t")


def _read_parquet(path: Path) -> Iterator[Row]:
    import duckdb

    with open_database() as connection:
        try:
            found = connection.execute(f"SELECT * FROM read_parquet({quote_file(path)}, hive_partitioning=false)")
        except duckdb.Error as error:
            raise read_failed(path, error) from None
        columns = [name[0].lower() for name in found.description or []]
        while rows := found.fetchmany(10_000):
            for row in rows:
                yield _renamed(zip(columns, row, strict=True))


def _renamed(fields: Iterable[tuple[str, Any]]) -> Row:
    return {NAME_ALIASES.get(name, name): value for name, value in fields}
