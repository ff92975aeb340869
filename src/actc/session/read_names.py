"""Read names and descriptions from whatever they come in: tables, JSON, JSON lines (Wikidata's dump too), RDF.

Every reader yields dicts with some of the columns id, name, description, types, template.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Container, Iterable, Iterator, Mapping
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from actc.data.database import quote_file
from actc.data.layout import COMMAS, find_comma, open_reader, split_line
from actc.data.text_files import check_file, open_bytes, open_text, readable
from actc.errors import FileError
from actc.graph.rdf import TOO_LONG, refuse_doctype
from actc.graph.terms import RDFS, import_pyoxigraph, syntax_error

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
# The predicates of RDF for each column; of two, the one named first counts.
PREDICATES = {
    "name": (f"{SKOS}prefLabel", f"{RDFS}label", "http://schema.org/name", "https://schema.org/name"),
    "description": (
        *("http://schema.org/description", "https://schema.org/description", f"{SKOS}definition", f"{RDFS}comment"),
        *(f"{DC}terms/description", f"{DC}elements/1.1/description"),
    ),
}
NAMING = frozenset(name for names in PREDICATES.values() for name in names)
RDF_FORMATS = {".nt": "N_TRIPLES", ".ttl": "TURTLE", ".rdf": "RDF_XML", ".owl": "RDF_XML", ".jsonld": "JSON_LD"}
JSON_FORMATS = (".json", ".jsonl", ".ndjson")
FIRST = 100_000  # names that are read before long work
Row = dict[str, Any]


def own_labels(graph: Path) -> tuple[Path, ...]:
    """Return a graph's file where it may have names in it: RDF, if that can be read."""
    return (graph,) if ending(graph) in RDF_FORMATS and find_spec("pyoxigraph") is not None else ()


def try_names(paths: Iterable[Path], language: str = "en") -> None:
    """Refuse files without names in them before long work; of a dump only the first names are looked at."""
    for path in paths:
        for _ in islice(read_names(path, language), FIRST):
            pass


def read_names(path: Path, language: str = "en", wanted: Container[str] | None = None) -> Iterator[tuple[str, ...]]:
    """Read the rows of a file: .tsv, .csv, .parquet; .json, .jsonl; .nt, .ttl, .rdf, .owl, .jsonld; most also with .gz.

    Where a file has several languages, a text of ``language`` is taken; one of no language, or of any other, is the
    second choice. Only the ``wanted`` ids are read, if given.
    """
    check_file(path)
    if ending(path) in RDF_FORMATS:
        rows: Iterable[Row] = _read_rdf(path, language, wanted)
    else:
        rows = _read_json(path, language) if ending(path) in JSON_FORMATS else _read_table(path)
    with readable(path):
        for row in rows:
            first, name, *values = (str(row.get(column) or "") for column in NAME_COLUMNS)
            title = str(row.get("title") or "")  # GraphRAG's relationships name entities by it, not by their id
            for identifier in {first, title} - {""}:
                if wanted is None or identifier in wanted:
                    yield identifier, name or title or identifier, *values


def ending(path: Path) -> str:
    """Return a file's ending, less .gz."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


def _read_json(path: Path, language: str) -> Iterator[Row]:
    """Read one object, or one entity a line; Wikidata's dump is such lines between brackets, with commas after them."""
    with open_text(path) as lines:
        first = next((line for line in lines if line.strip(" \r\n[")), "")
    if _read_entity(first) is None:
        yield from _read_object(path, language)
        return
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            entity = _read_entity(line)
            if entity is not None:
                yield {"id": entity["id"]} | _read_fields(entity, language)
            elif line.strip(" \r\n[],"):
                raise FileError(f"{path}, line {number}: this is no JSON object with an id.")


def _read_object(path: Path, language: str) -> Iterator[Row]:
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
        yield {"id": identifier} | _read_fields(entry if isinstance(entry, dict) else {"name": entry}, language)


def _read_entity(line: str) -> dict[str, Any] | None:
    try:
        content = json.loads(line.strip().rstrip(","))
    except ValueError:
        return None
    return content if isinstance(content, dict) and isinstance(content.get("id"), str) else None


def _read_fields(entry: Mapping[str, Any], language: str) -> Row:
    """Return the columns of an entry: Wikidata has a text for each language, others have one."""
    if not isinstance(entry.get("labels"), dict):
        return _rename((name, value) for name, value in entry.items() if name != "id")
    row = {}
    for column, texts in (("name", entry["labels"]), ("description", entry.get("descriptions") or {})):
        chosen = next((one for one in (language, "mul", *texts) if one in texts), None)
        row[column] = "" if chosen is None else str(texts[chosen]["value"])
    return row


def _read_rdf(path: Path, language: str, wanted: Container[str] | None) -> Iterator[Row]:
    """Read labels and descriptions; an id may be a whole IRI, or what comes after the last / or #."""
    pyoxigraph = import_pyoxigraph()
    columns = {name: (column, place) for column, names in PREDICATES.items() for place, name in enumerate(names)}
    best: dict[str, dict[str, tuple[tuple[int, int], str]]] = {}
    syntax = getattr(pyoxigraph.RdfFormat, RDF_FORMATS[ending(path)])
    try:
        with open_bytes(path) as content:
            if syntax == pyoxigraph.RdfFormat.RDF_XML:
                refuse_doctype(path, content.read())
                content.seek(0)
            for quad in pyoxigraph.parse(content, format=syntax, lenient=True):
                subject, text = quad.subject, quad.object
                literal = isinstance(text, pyoxigraph.Literal) and isinstance(subject, pyoxigraph.NamedNode)
                if not literal or quad.predicate.value not in columns:
                    continue
                column, place = columns[quad.predicate.value]
                tag = text.language
                rank = (0 if tag == language else 1 if not tag or tag == "mul" else 2, place)
                for identifier in {subject.value, subject.value.rstrip("/#").replace("#", "/").rpartition("/")[2]}:
                    if wanted is None or identifier in wanted:
                        known = best.setdefault(identifier, {})
                        known[column] = min(known.get(column, (rank, text.value)), (rank, text.value))
    except SyntaxError as error:
        raise syntax_error(path, error.lineno or 1, error) from None
    except MemoryError:
        raise FileError(f"{path}: {TOO_LONG}") from None
    for identifier, known in best.items():
        yield {"id": identifier} | {column: text for column, (_, text) in known.items()}


def _read_table(path: Path) -> Iterator[Row]:
    if path.suffix == ".parquet":
        with open_reader(path) as connection:
            result = connection.execute(f"SELECT * FROM read_parquet({quote_file(path)}, hive_partitioning=false)")
            names = [column[0].lower() for column in result.description or []]
            while rows := result.fetchmany(10_000):
                yield from (_rename(zip(names, row, strict=True)) for row in rows)
        return
    with open_text(path) as lines:
        line = next(lines, "").rstrip("\r\n")
        comma = find_comma(line, 2) if ".csv" in path.suffixes else "\t"
        header = split_line(line, comma)
        columns = list(_rename((name.strip().lower(), name) for name in header))
        if "id" not in columns:
            raise FileError(f"{path}, line 1: a column 'id' is needed (the columns are: {', '.join(header)}).")
        split = (one.rstrip("\r\n").split(comma) for one in lines if one.strip())
        for number, cells in enumerate(csv.reader(lines, delimiter=comma) if comma in COMMAS else split, start=2):
            if len(cells) > len(columns):
                raise FileError(f"{path}, line {number}: it has {len(cells)} columns, the header {len(columns)}.")
            yield dict(zip(columns, cells, strict=False))


def _rename(fields: Iterable[tuple[str, Any]]) -> Row:
    return {NAME_ALIASES.get(name, name): value for name, value in fields}
