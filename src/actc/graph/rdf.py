"""RDF: Turtle, TriG, N-Quads, RDF/XML and JSON-LD, as pyoxigraph reads them, and out again; N-Triples.

Named graphs are taken together. Annotations of triples, whether RDF 1.2's or statements, are left out, with a note.
Columns beside a triple are written as a statement about it (rdf:Statement), which every reader of RDF takes. Lines of
N-Triples of the usual shape are taken apart in SQL, a million a second; any others are left to pyoxigraph.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.database import quote, quote_file
from actc.data.layout import open_reader
from actc.data.text_files import check_gzip, open_text
from actc.data.triples import Triples, Vocabulary
from actc.errors import FileError, MissingExtraError, TableError
from actc.graph.graph import Graph
from actc.graph.terms import (
    BLANK,
    IRI,
    LITERAL,
    PARTS,
    RDF,
    REIFIES,
    Bases,
    describe_statement,
    entity_name,
    import_pyoxigraph,
    note_terms,
    parse_rdf,
    relation_name,
    syntax_error,
    term_columns,
    write_lines,
    write_properties,
)

TOO_LONG = "a line, a text or a comment in it is longer than 16 MB, or there is not enough memory; split the file."


def reader(syntax: str) -> Callable[[Path, Bases], Graph]:
    """Return a function that reads files of a syntax, a name in pyoxigraph's ``RdfFormat``."""

    def read(path: Path, base: Bases) -> Graph:
        quads = _parse(path, syntax)
        triples, notes = _without_annotations(quads)
        columns = list(zip(*triples, strict=True)) or [(), (), ()]
        entities = {term: entity_name(term, base.entities) for term in {*columns[0], *columns[2]}}
        kinds = {term: relation_name(term, base.relations) for term in set(columns[1])}
        heads, relations, tails = (
            [names[term] for term in column] for names, column in zip((entities, kinds, entities), columns, strict=True)
        )
        graph = Graph.from_columns(heads, relations, tails)
        named = {str(quad.graph_name) for quad in quads} - {"DEFAULT"}
        together = [f"{len(named)} named graphs are taken together."] if named else []
        return note_terms(replace(graph, notes=(*graph.notes, *notes, *together)))

    return read


def writer(syntax: str) -> Callable[[Path, Graph, Bases, Mapping[str, Any]], None]:
    """Return a function that writes files of a syntax, a name in pyoxigraph's ``RdfFormat``."""

    def write(path: Path, graph: Graph, base: Bases, extras: Mapping[str, Any]) -> None:
        oxigraph = import_pyoxigraph()
        quads = parse_rdf("N_TRIPLES", input="".join(_lines(graph, base)))
        if syntax == "RDF_XML":
            _refuse_what_xml_cannot_hold(quads)
        triples = (oxigraph.Triple(quad.subject, quad.predicate, quad.object) for quad in quads)
        oxigraph.serialize(triples, str(path), format=getattr(oxigraph.RdfFormat, syntax))

    return write


def _lines(graph: Graph, base: Bases) -> list[str]:
    heads, relations, tails = term_columns(graph, base)
    lines: list[str] = (heads + " " + relations + " " + tails + " .\n").tolist()
    return lines


def _refuse_what_xml_cannot_hold(quads: list[Any]) -> None:
    for relation in sorted({quad.predicate.value for quad in quads}):
        if not re.search(r"[A-Za-z_][\w.\-]*$", relation):
            raise TableError(f"RDF/XML has no name for the relation {relation}: it must end in a letter's word.")
    texts = (quad.object.value for quad in quads if hasattr(quad.object, "datatype"))
    odd = next((text for text in texts if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", text)), None)
    if odd is not None:
        raise TableError(f"RDF/XML cannot hold the text {odd[:50]!r}: XML has no place for its control characters.")


def _parse(path: Path, syntax: str) -> list[Any]:
    if syntax == "RDF_XML":
        refuse_doctype(path, path.read_bytes())
    try:
        check_gzip(path)
        source = {"input": gzip.decompress(path.read_bytes())} if path.suffix.lower() == ".gz" else {"path": path}
        return parse_rdf(syntax, **source)
    except SyntaxError as error:
        raise syntax_error(path, error.lineno or 1, error) from None
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: the file cannot be read ({error}).") from None
    except MemoryError:
        raise FileError(f"{path}: {TOO_LONG}") from None


def refuse_doctype(path: Path, content: bytes) -> None:
    """Refuse RDF/XML with a DOCTYPE: its entities can turn a few lines into more than memory holds."""
    if re.search(rb"<!doctype", content, re.IGNORECASE):
        raise FileError(f"{path}: RDF/XML with a DOCTYPE is not read; save the graph as Turtle or N-Triples.")


def _without_annotations(quads: list[Any]) -> tuple[list[tuple[str, str, str]], list[str]]:
    # A statement about a triple is what has a subject, a predicate and an object.
    having = [{str(quad.subject) for quad in quads if quad.predicate.value == f"{RDF}{part}"} for part in PARTS]
    annotating = {str(quad.subject) for quad in quads if quad.predicate.value == REIFIES}
    annotating |= set.intersection(*having)
    triples = [
        (str(quad.subject), str(quad.predicate), str(quad.object))
        for quad in quads
        if str(quad.subject) not in annotating
    ]
    notes = [f"{len(annotating)} annotations of triples are left out."] if annotating else []
    return triples, notes


def write_ntriples(path: Path, graph: Graph, base: Bases, extras: Mapping[str, Any]) -> None:
    """Write one line for each triple, which is Turtle, too."""
    write_lines(path, _lines(graph, base))


def write_statements(path: Path, graph: Graph, base: Bases, extras: Mapping[str, Any]) -> None:
    """Write Turtle: the triples, each followed by a statement about it (rdf:Statement) if something is known of it."""
    triples = zip(*(column.tolist() for column in term_columns(graph, base)), strict=True)
    columns = {name: np.asarray(values, dtype=object).tolist() for name, values in extras.items()}
    with path.open("w", encoding="utf-8") as file:
        for row, triple in enumerate(triples):
            properties = write_properties({name: values[row] for name, values in columns.items()})
            statement = f"[] {' ; '.join(describe_statement(triple, properties))} .\n" if properties else ""
            file.write(f"{' '.join(triple)} .\n{statement}")


# Four parts between single spaces are the usual line; only a literal may hold more spaces. No IRI holds a backslash
# unless it is an escape, and a literal's other escapes are how N-Triples writes it anyway.
LINES = """
    SELECT line, string_split(line, ' ') AS part, NOT contains(line, '\\') AS plain,
           prefix(part[1], '<') AND suffix(part[1], '>') OR prefix(part[1], '_:') AS has_head,
           prefix(part[2], '<') AND suffix(part[2], '>') AS has_relation
    FROM read_csv({path}, columns={{'line': 'VARCHAR'}}, delim='\x01', header=false, quote='', escape='',
                  auto_detect=false, strict_mode=false, nullstr='')
"""
USUAL = """
    SELECT line, part, length(part[1]) + length(part[2]) AS before, CASE
        WHEN NOT (has_head AND has_relation AND len(part) >= 4 AND part[-1] = '.') THEN NULL
        WHEN prefix(part[3], '"') AND (plain OR NOT regexp_matches(line, '\\\\[uU]'))
            THEN substr(line, before + 3, length(line) - before - 4)
        WHEN plain AND len(part) = 4 THEN part[3]
    END AS tail FROM ({parts})
"""


def read_ntriples(path: Path, base: Bases) -> Graph:
    """Read N-Triples; every line is a triple, a comment or nothing."""
    check_gzip(path)
    with open_reader(path) as connection:
        usual = USUAL.format(parts=LINES.format(path=quote_file(path)))
        connection.execute(
            "CREATE TEMP TABLE named AS SELECT CASE WHEN tail IS NOT NULL THEN part[1] END AS head, "
            "CASE WHEN tail IS NOT NULL THEN part[2] END AS relation, coalesce(tail, line) AS tail "
            f"FROM ({usual})"
        )
        _replace_odd_lines(connection, path)
        names = [_name(connection, base.entities, entity_name), _name(connection, base.relations, relation_name)]
        graph = _encode(connection, *names)
        _refuse_bad_terms(connection, path)
    return note_terms(graph)


def _encode(connection: Any, entity_name: str, relation_name: str) -> Graph:
    """Encode the table ``named`` of terms, whose names are SQL, and drop it."""
    vocabularies = {
        "entity": ("SELECT head AS term FROM named UNION SELECT tail FROM named", entity_name),
        "kind": ("SELECT DISTINCT relation AS term FROM named", relation_name),
    }
    for table, (terms, name) in vocabularies.items():
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT term, name, "
            "CAST(dense_rank() OVER (ORDER BY name) - 1 AS INTEGER) AS code "
            f"FROM (SELECT term, {name} AS name FROM ({terms}))"
        )
    codes = connection.execute(
        "SELECT h.code AS head, r.code AS relation, t.code AS tail FROM named "
        "JOIN entity h ON head = h.term JOIN kind r ON relation = r.term JOIN entity t ON tail = t.term"
    ).fetchnumpy()
    connection.execute("DROP TABLE named")
    entities, relations = (
        Vocabulary(
            connection.execute(f"SELECT DISTINCT name, code FROM {table} ORDER BY code").fetchnumpy()["name"].tolist()
        )
        for table in vocabularies
    )
    heads, kinds, tails = (np.ma.getdata(codes[name]) for name in ("head", "relation", "tail"))
    return Graph.once(Triples(heads, kinds, tails, entities, relations))


def _replace_odd_lines(connection: Any, path: Path) -> None:
    """Parse the lines of an unusual shape and put their triples in their place."""
    odd = [row[0] for row in connection.execute("SELECT tail FROM named WHERE head IS NULL").fetchall()]
    if not odd:
        return
    triples = _parse_odd(path, [line for line in odd if line is not None and line.strip() and line.lstrip()[0] != "#"])
    connection.execute("DELETE FROM named WHERE head IS NULL")
    columns = list(zip(*triples, strict=True))
    if columns:
        table = {name: np.array(column, dtype=object) for name, column in zip(("h", "r", "t"), columns, strict=True)}
        connection.register("odd_triples", table)
        connection.execute("INSERT INTO named SELECT h, r, t FROM odd_triples")


def _name(connection: Any, base: str, function: Callable[[str, str], str]) -> str:
    """Return the SQL that names a term; Python, a million a second at best, sees only those that need a closer look."""
    if not base:
        return "CASE WHEN prefix(term, '<') THEN term[2:-2] ELSE term END"
    connection.create_function(function.__name__, lambda term: function(term, base), ["VARCHAR"], "VARCHAR")
    is_under, name = f"prefix(term, {quote('<' + base)})", f"term[{len(base) + 2}:-2]"
    is_plain = f"{name} <> '' AND NOT (contains(term, '%') OR contains({name}, '://') OR prefix({name}, '_:'))"
    return (
        "CASE WHEN NOT prefix(term, '<') THEN term "
        f"WHEN {is_under} AND {is_plain} THEN {name} "
        f"WHEN NOT {is_under} AND (prefix(term, '<http://') OR prefix(term, '<https://')) THEN term[2:-2] "
        f"ELSE {function.__name__}(term) END"
    )


def _parse_odd(path: Path, lines: list[str]) -> list[tuple[str, str, str]]:
    """Parse lines of an unusual shape: escapes, tabs, comments behind a triple; the first bad one is named."""
    if not lines:
        return []
    try:
        quads = parse_rdf("N_TRIPLES", input="\n".join(lines))
    except MissingExtraError as error:
        raise FileError(
            f"{path}, line {find_line(path, lines[0])}: this line is out of the ordinary. {error}"
        ) from None
    except SyntaxError as error:
        raise syntax_error(path, find_line(path, lines[(error.lineno or 1) - 1]), error) from None
    return [(str(quad.subject), str(quad.predicate), str(quad.object)) for quad in quads]


def _refuse_bad_terms(connection: Any, path: Path) -> None:
    """Check every distinct term, of which there are few, not every line."""
    iri = f"<{IRI}>"
    for table, pattern in (("entity", f"{iri}|{BLANK}|{LITERAL}"), ("kind", iri)):
        bad = connection.execute(
            f"SELECT term FROM {table} WHERE NOT regexp_full_match(term, {quote(pattern)}) LIMIT 1"
        ).fetchall()
        if bad:
            term = bad[0][0]
            raise FileError(
                f"{path}, line {find_line(path, term, part=True)}: {term!r} is no RDF term that can stand there."
            )


def find_line(path: Path, text: str, part: bool = False) -> int:
    """Return the number of the first line that is a text, or contains it as a ``part``; 0 if there is none."""
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if (text in line) if part else line.rstrip("\r\n") == text:
                return number
    return 0
