"""What a person needs to judge a triple: names, descriptions, the graph's triples, and texts of candidates.

Everything is looked up by id in the session's file, so that a graph of any size costs a running session no memory.
Names may be added later; open sessions see them with the next card.

Texts of a candidate are of two kinds: the text that it was taken from, and reasons why it may be true or false. Reasons
are a JSON list of short texts, the strongest first; evidence against begins with "against: ". Ids stand in double
brackets, ``[[Q42]]``, and are replaced by names when they are read, so that names that were added later show too.
"""

from __future__ import annotations

import csv
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from actc.data.database import database_address, quote_file
from actc.data.files import read_triples
from actc.data.layout import COMMAS, find_comma, open_reader, split_line
from actc.data.text_files import check_file, open_bytes, open_text, readable
from actc.errors import FileError
from actc.graph.rdf import RDFS, TOO_LONG, import_pyoxigraph, refuse_doctype, syntax_error
from actc.session.store import Store

REASONS, SOURCE = "reasons", "source"
"""The kinds of texts."""
# Made after the triples are in, which is several times quicker. SQLite puts the primary key after the columns named.
INDEXES = (
    "CREATE INDEX known_head ON known (head)",
    "CREATE INDEX known_tail ON known (tail)",
    "CREATE INDEX known_place ON known (relation, place)",
)
COMPARED = 24
"""Known triples of a relation among which the most alike are looked for."""
MOST_OF_ONE = 200
"""Facts of one entity that are looked at: some have millions."""


@dataclass(frozen=True)
class Name:
    """An entity or a relation as people know it; empty where nothing is known, but the name is then the id."""

    id: str
    name: str
    description: str = ""
    types: str = ""
    template: str = ""  # of a relation: a sentence with {head} and {tail} in it


class Names:
    """Look-ups of names, known triples and texts; for use by any thread."""

    def __init__(self, store: Store, link: str = "") -> None:
        self.store, self.link = store, link  # the address of an entity with {id} in it; empty for Wikidata's ids

    @property
    def version(self) -> int:
        """A number that changes with every change of names and texts."""
        return int(self.store.value("SELECT names FROM total"))

    def of(self, identifier: str) -> Name:
        """Return what is known about an entity or a relation."""
        rows = self.store.rows(f"SELECT {', '.join(NAME_COLUMNS)} FROM name WHERE id = ?", (identifier,))
        return Name(*rows[0]) if rows else Name(identifier, shorten_id(identifier))

    def search(self, word: str) -> list[str]:
        """Return the ids of everything that has a word in its name; the case of Latin letters does not matter."""
        pattern = "%" + re.sub(r"([%_\\])", r"\\\1", word) + "%"
        return [id for (id,) in self.store.rows("SELECT id FROM name WHERE name LIKE ? ESCAPE '\\'", (pattern,))]

    def count_named(self, identifiers: Iterable[str]) -> int:
        """Count the ids that have a name or a description."""
        named = {row[0] for row in self.store.rows("SELECT id FROM name WHERE name != id OR description != ''")}
        return len(named.intersection(identifiers))

    def text(self, kind: str, triple: int | None) -> str:
        """Return the text of a kind for a candidate; empty where there is none."""
        return str(self.store.value("SELECT text FROM text WHERE kind = ? AND triple = ?", (kind, triple)) or "")

    def reasons(self, triple: int | None) -> tuple[str, ...]:
        """Return the reasons for and against a candidate, the strongest first."""
        return tuple(name_marked(text, self) for text in json.loads(self.text(REASONS, triple) or "[]"))

    def known_tails(self, head: str, relation: str, tail: str, most: int) -> list[str]:
        """Return tails that the graph has for (head, relation), less one: a doubtful fact is no evidence for itself."""
        sql = "SELECT tail FROM known WHERE relation = ? AND head = ? AND tail != ? LIMIT ?"
        return [row[0] for row in self.store.rows(sql, (relation, head, tail, most))]

    def holds(self, head: str, relation: str, tail: str) -> bool:
        """Return whether the graph has a triple."""
        sql = "SELECT 1 FROM known WHERE relation = ? AND head = ? AND tail = ?"
        return bool(self.store.rows(sql, (relation, head, tail)))

    def facts(self, entity: str, except_relation: str, most: int) -> list[tuple[str, str, str]]:
        """Return known triples of an entity, one for each relation but one."""
        facts: dict[str, tuple[str, str, str]] = {}
        for side in ("head", "tail"):
            sql = f"SELECT head, relation, tail FROM known WHERE {side} = ? AND relation != ? LIMIT ?"
            for head, relation, tail in self.store.rows(sql, (entity, except_relation, MOST_OF_ONE)):
                facts.setdefault(relation, (head, relation, tail))
        return list(facts.values())[:most]

    def examples(self, relation: str, head: str, tail: str, most: int) -> list[tuple[str, str]]:
        """Return heads and tails of known triples of a relation, of other heads than this one, the most alike first.

        Things are alike if they share types; where types are not known, if they are in the same relations.
        """
        # Others for other heads, and always the same for the same one.
        start = zlib.crc32(head.encode("utf-8", "replace"))
        pairs = [(one[0], one[1]) for one in self.store.rows(_SOME, (relation, start, head, COMPARED))]
        kinds = self._kinds({head, tail}.union(*pairs)) if pairs else {}

        def unlike(pair: tuple[str, str]) -> float:
            both = [(kinds[ours], kinds[theirs]) for ours, theirs in zip((head, tail), pair, strict=True)]
            return -sum(len(ours & theirs) / max(len(ours | theirs), 1) for ours, theirs in both)

        by_head = {pair[0]: pair for pair in sorted(pairs, key=unlike, reverse=True)}  # the most alike of each head
        return sorted(by_head.values(), key=unlike)[:most]

    def _kinds(self, entities: set[str]) -> dict[str, set[str]]:
        """Return the words of each entity's types, or of the relations that it is the head of."""
        ids, kinds = list(entities), dict[str, set[str]]((one, set()) for one in entities)
        among = f"IN ({', '.join('?' * len(ids))})"
        rows = self.store.rows(f"SELECT id, types FROM name WHERE id {among} AND types != ''", ids)
        sql = f"SELECT DISTINCT head, relation FROM known WHERE head {among} LIMIT ?"
        for entity, words in rows or self.store.rows(sql, (*ids, MOST_OF_ONE * COMPARED)):
            kinds[entity].update(words.lower().replace(",", " ").split())
        return kinds


# From a place on, and then from the beginning; each half is read by the index, and no further than it is needed.
_OF_RELATION = "SELECT head, tail FROM known WHERE relation = ?1 AND place {} ?2 AND head != ?3 ORDER BY place LIMIT ?4"
_SOME = f"SELECT * FROM ({_OF_RELATION.format('>=')}) UNION ALL SELECT * FROM ({_OF_RELATION.format('<')}) LIMIT ?4"


def shorten_id(identifier: str) -> str:
    """Return a name for an id that has none: the end of an IRI, the text of a literal, else the id itself."""
    if re.match(r"https?://", identifier):
        return unquote(re.split(r"[/#]", identifier.rstrip("/#"))[-1]).replace("_", " ") or identifier
    # One pattern for all of a literal would begin anew at every quote of a long text.
    text, _, kind = identifier.rpartition('"')
    is_literal = len(text) > 1 and text[0] == '"' and re.fullmatch(r"(@[\w-]+|\^\^<[^>]+>)?", kind)
    return text[1:] if is_literal else identifier


def name_marked(text: str, names: Names) -> str:
    """Replace ids in double brackets by names."""
    *marked, rest = text.split("]]")  # a pattern would look for this end anew from every beginning
    parts = (part.partition("[[") for part in marked)
    return "".join(before + (names.of(id).name if mark else "]]") for before, mark, id in parts) + rest


def write_known(store: Store, graph: Path | None) -> None:
    """Write the triples of the graph, once, and their indexes; triples of RDF that only name something are left out."""
    with store.transaction() as connection:
        if graph is not None:
            facts = (one for one in read_triples(graph) if not (one[1] in NAMING and one[2].startswith('"')))
            # A place that scatters neighbours: Knuth's multiplicative hashing of the row.
            placed = ((*triple, row * 2654435761 % 2**32) for row, triple in enumerate(facts))
            sql = "INSERT OR IGNORE INTO known (head, relation, tail, place) VALUES (?, ?, ?, ?)"
            connection.executemany(sql, placed)
        for index in INDEXES:
            connection.execute(index)


def copy_names(source: Store, target: Store) -> None:
    """Copy the names and the graph's triples of a session into a new one."""
    with target.connect() as connection:
        connection.execute("ATTACH ? AS source", (database_address(source.path, writing=False),))
        for table in ("name", "known"):
            connection.execute(f"INSERT INTO main.{table} SELECT * FROM source.{table}")
        connection.execute("DETACH source")
    write_known(target, None)


def insert_names(store: Store, files: Sequence[Path], ids: Iterable[str] = (), language: str = "en") -> None:
    """Add names to a session, all or none; where two files name one id, the later one counts.

    Of a dump or of RDF, only names of ``ids`` and of the graph's are stored; ``language`` is taken, where a file has
    several.
    """
    dumps = [file for file in files if ending(file) in (*RDF_FORMATS, *JSON_FORMATS)]
    sql = "SELECT head FROM known UNION SELECT tail FROM known UNION SELECT relation FROM known"
    wanted = {row[0] for row in store.rows(sql)}.union(ids) if dumps else set()
    with store.connect() as connection:
        connection.execute("CREATE TEMP TABLE added AS SELECT * FROM name WHERE false")
        try:
            connection.execute("BEGIN")
            for file in files:
                rows = read_names(file, language, wanted if file in dumps else None)
                connection.executemany("INSERT INTO added VALUES (?, ?, ?, ?, ?)", rows)
            connection.execute("COMMIT")
            # Only now does anybody's answer wait, however long the files are.
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT OR REPLACE INTO name SELECT * FROM added ORDER BY added.rowid")
            connection.execute("UPDATE total SET names = names + 1")
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            connection.execute("DROP TABLE added")


def write_texts(store: Store, kind: str, texts: Iterable[str]) -> None:
    """Write texts of a kind, in the order of the pool's rows; a candidate with an empty one has none."""
    with store.transaction() as connection:
        rows = ((kind, row, text) for row, text in enumerate(texts) if text)
        connection.executemany("INSERT OR REPLACE INTO text VALUES (?, ?, ?)", rows)
        connection.execute("UPDATE total SET names = names + 1")


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
    with open_text(path) as lines:
        if _read_entity(first) is None:
            text = lines.read()
            try:
                content = json.loads(text)
            except ValueError as error:
                raise FileError(f"{path}: this is no JSON file ({error}).") from None
            if not isinstance(content, dict):
                raise FileError(
                    f"{path}: an object was expected, with one entry per id, or an object with an id a line."
                )
            entities = content["entities"] if isinstance(content.get("entities"), dict) else content
            for identifier, entry in entities.items():
                yield {"id": identifier} | _read_fields(entry if isinstance(entry, dict) else {"name": entry}, language)
            return
        for number, line in enumerate(lines, start=1):
            entity = _read_entity(line)
            if entity is not None:
                yield {"id": entity["id"]} | _read_fields(entity, language)
            elif line.strip(" \r\n[],"):
                raise FileError(f"{path}, line {number}: this is no JSON object with an id.")


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
    best = defaultdict[str, dict[str, tuple[int, int, str]]](dict)  # of each id and column: ranks, then the text
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
                given = 0 if tag == language else 1 if not tag or tag == "mul" else 2, place, text.value
                for identifier in {subject.value, subject.value.rstrip("/#").replace("#", "/").rpartition("/")[2]}:
                    if wanted is None or identifier in wanted:
                        best[identifier][column] = min(best[identifier].get(column, given), given)
    except SyntaxError as error:
        raise syntax_error(path, error.lineno or 1, error) from None
    except MemoryError:
        raise FileError(f"{path}: {TOO_LONG}") from None
    for identifier, texts in best.items():
        yield {"id": identifier} | {column: text for column, (*_, text) in texts.items()}


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
