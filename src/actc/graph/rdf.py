"""RDF: terms and plain names; N-Triples, Turtle, TriG, N-Quads, RDF/XML and JSON-LD in and out.

An IRI is named by itself, less a base; other terms by their N-Triples text. With a base, every term comes back as it
was, and so does a name (except that an IRI under the base comes back without it, and a name in quotation marks at a
head, where no literal can be, with it). Relations may have a base of their own. Behind the base follows the name, with
those characters escaped that no IRI can contain. An IRI whose name would be taken for another term keeps its base; an
IRI that is not under the base and has no ``://``, so that it looks like a name, keeps its brackets: ``<urn:isbn:1>``.

Named graphs are taken together. Annotations of triples, whether RDF 1.2's or statements, are left out, with a note.
Columns beside a triple are written as a statement about it (rdf:Statement), which every reader of RDF takes. Lines of
N-Triples of the usual shape are taken apart in SQL, a million a second; any others are left to pyoxigraph.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from actc.data.database import quote, quote_file
from actc.data.files import read_codes
from actc.data.layout import open_reader
from actc.data.text_files import check_gzip, open_text
from actc.data.triples import BoolArray, Triples, Vocabulary, encode_columns
from actc.errors import FileError, MissingExtraError, OptionError, TableError, needing
from actc.graph.graph import Graph, is_missing

TOO_LONG = "a line, a text or a comment in it is longer than 16 MB, or there is not enough memory; split the file."
# Written for two engines: Python's and DuckDB's (RE2), which has no look-around.
IRI = r"[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>\"{}|^`\\\x7f]*"
BLANK = r"_:[^\x00-\x20<>\"{}|^`\\]*[^\x00-\x20<>\"{}|^`\\.]"
LITERAL = r"\"(?:[^\"\\\n\r]|\\.)*\"(?:@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^<" + IRI + ">)?"
TERM = re.compile(f"<{IRI}>|{BLANK}|{LITERAL}")
WITH_SLASHES = re.compile(IRI.replace(":", "://"))
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
XSD = "http://www.w3.org/2001/XMLSchema#"
REIFIES = f"{RDF}reifies"
VOCABULARY = "urn:actc:"
PARTS = ("subject", "predicate", "object")

# The codes of the ASCII characters that no IRI can contain. A percent sign is escaped only where it would be taken for
# one of them: every other escape in an IRI is part of its name.
_CODE = r"(?:[01][0-9A-F]|20|22|3C|3E|5C|5E|60|7[BCDF])"
_TO_ESCAPE = re.compile(r"[\x00-\x20<>\"{}|^`\\\x7f]|%(?=(?:25)*" + _CODE + ")")
_ESCAPED = re.compile(f"%(25(?=(?:25)*{_CODE})|{_CODE})")


def entity_term(name: str, base: str, may_be_literal: bool) -> str:
    """Return an entity's name as an N-Triples term: an IRI in brackets, a blank node or a literal."""
    is_term = is_blank(name) or (may_be_literal and looks_literal(name))
    return name if is_term else relation_term(name, base)


def relation_term(name: str, base: str) -> str:
    """Return a relation's name as an IRI in brackets."""
    if _is_bracketed(name):
        return name
    if base and not WITH_SLASHES.fullmatch(name):
        return f"<{base}{escape(name)}>"
    if not re.fullmatch(IRI, name):
        raise TableError(f"{name!r} is no IRI; give what to put before names: --base http://example.org/")
    return f"<{name}>"


def entity_name(term: str, base: str) -> str:
    """Return the name of a term at the head or tail of a triple."""
    if not term.startswith("<"):
        return term
    name = relation_name(term, base)
    # An IRI whose name looks like a blank node or a literal would be written as one.
    return _whole(term, base) if is_blank(name) or looks_literal(name) else name


def relation_name(term: str, base: str) -> str:
    """Return the name of an IRI in brackets."""
    if base and term.startswith(f"<{base}"):
        name = unescape(term[len(base) + 1 : -1])
        if name and not WITH_SLASHES.fullmatch(name) and not _is_bracketed(name):
            return name
    return _whole(term, base)


def _whole(term: str, base: str) -> str:
    return term[1:-1] if not base or WITH_SLASHES.fullmatch(term[1:-1]) else term


def _is_bracketed(name: str) -> bool:
    return name.startswith("<") and bool(re.fullmatch(f"<{IRI}>", name)) and not WITH_SLASHES.fullmatch(name[1:-1])


def is_blank(name: str) -> bool:
    """Return whether a name is a blank node's."""
    return name.startswith("_:") and bool(re.fullmatch(BLANK, name))


def looks_literal(name: str) -> bool:
    """Return whether a name is a literal, where one can stand: never at the head of a triple."""
    return name.startswith('"') and bool(re.fullmatch(LITERAL, name))


def escape(name: str) -> str:
    """Write a name so that it can stand in an IRI."""
    return _TO_ESCAPE.sub(lambda match: f"%{ord(match[0]):02X}", name)


def unescape(text: str) -> str:
    """Undo :func:`escape`."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


class Bases(NamedTuple):
    """What the IRIs of entities and of relations begin with, and their names do not."""

    entities: str = ""
    relations: str = ""


Base = str | Sequence[str]
"""One beginning of IRIs for all names; or two, of entities and of relations; or none."""


def as_bases(base: Base) -> Bases:
    """Return one beginning for all, or one for entities and one for relations, as both."""
    given = [base] if isinstance(base, str) else list(base)
    if len(given) > 2:
        raise OptionError(f"{len(given)} bases were given ({', '.join(given)}); give one, or entities' and relations'.")
    for one in filter(None, given):
        if not re.fullmatch(IRI, one):
            raise OptionError(f"The base {one!r} is not the beginning of an IRI, such as http://example.org/")
    return Bases(given[0], given[-1]) if given else Bases()


def term_columns(graph: Graph, base: Bases) -> tuple[Any, Any, Any]:
    """Return heads, relations and tails of a graph's triples as terms, each an object array of shape (N,)."""
    pairs = zip(graph.entity_names, _never_head(graph).tolist(), strict=True)
    entities = np.array([entity_term(name, base.entities, free) for name, free in pairs], dtype=object)
    relations = np.array([relation_term(name, base.relations) for name in graph.relation_names], dtype=object)
    return entities[graph.heads], relations[graph.relations], entities[graph.tails]


def name_terms(terms: Triples, base: Bases, notes: Sequence[str] = ()) -> Graph:
    """Return the graph of triples of terms, by their names; the triples with an end that is no IRI are noted."""
    entities, codes = Vocabulary.encode([entity_name(term, base.entities) for term in terms.entity_names])
    relations, kinds = Vocabulary.encode([relation_name(term, base.relations) for term in terms.relation_names])
    ends = codes[terms.heads], kinds[terms.relations], codes[terms.tails]
    graph = Graph.once(Triples(*ends, entities, relations))
    blank = np.array([is_blank(name) for name in entities], dtype=np.bool_)
    touched, ending = int((blank[graph.heads] | blank[graph.tails]).sum()), int(literals(graph)[graph.tails].sum())
    notes = [*graph.notes, *notes]
    if touched:
        notes.append(f"{touched:,} triples have a blank node, named by its label, which is valid in this file only.")
    if ending:
        notes.append(f"{ending:,} triples end in a literal, written as in N-Triples.")
    return replace(graph, notes=tuple(notes))


def without_literals(graph: Graph) -> Graph:
    """Leave out the triples that end in a literal, which no embedding can learn from; say so."""
    ending = literals(graph)[graph.tails]
    if not ending.any():
        return graph
    plain = graph.take(~ending).with_used_names()
    notes = [note for note in graph.notes if "end in a literal" not in note]
    notes.append(f"{int(ending.sum()):,} triples that end in a literal take no part; they stay as they are.")
    return replace(plain, notes=tuple(notes))


def literals(graph: Graph) -> BoolArray:
    """Return for each entity whether it is a literal: named like one, and never at the head of a triple."""
    return np.array([looks_literal(name) for name in graph.entity_names], dtype=np.bool_) & _never_head(graph)


def _never_head(graph: Graph) -> BoolArray:
    never = np.ones(len(graph.entity_names), dtype=np.bool_)
    never[graph.heads] = False
    return never


def import_pyoxigraph() -> Any:
    """Import pyoxigraph, or say what to install."""
    with needing("Reading this RDF", "pyoxigraph", "rdf"):
        import pyoxigraph
    return pyoxigraph


def parse_rdf(format: str, **source: Any) -> list[Any]:
    """Parse with pyoxigraph, whose IRIs are stricter than those of N-Triples: ``http://a/100%`` is one to these."""
    oxigraph = import_pyoxigraph()
    syntax = getattr(oxigraph.RdfFormat, format)
    quads = list(oxigraph.parse(**source, format=syntax, lenient=True))
    terms = {str(getattr(quad, part)) for quad in quads if quad.predicate.value != REIFIES for part in PARTS}
    if all(TERM.fullmatch(term) for term in terms):
        return quads
    return list(oxigraph.parse(**source, format=syntax))


def syntax_error(path: Path, line: int, error: SyntaxError) -> FileError:
    """Describe what pyoxigraph could not parse."""
    problem = re.sub(r"^Parser error at line \d+ (between columns \d+ and \d+|column \d+): ", "", error.msg)
    return FileError(f"{path}, line {line}: {problem}.")


def read_rdf(syntax: str, path: Path, base: Bases) -> Graph:
    """Read a file of a syntax, a name in pyoxigraph's ``RdfFormat``."""
    quads = _parse(path, syntax)
    # A statement about a triple is what has a subject, a predicate and an object.
    having = [{str(quad.subject) for quad in quads if quad.predicate.value == f"{RDF}{part}"} for part in PARTS]
    annotating = {str(quad.subject) for quad in quads if quad.predicate.value == REIFIES} | set.intersection(*having)
    facts = [quad for quad in quads if str(quad.subject) not in annotating]
    columns = ([str(getattr(quad, part)) for quad in facts] for part in PARTS)
    named = {str(quad.graph_name) for quad in quads} - {"DEFAULT"}
    notes = [f"{len(annotating)} annotations of triples are left out."] if annotating else []
    notes += [f"{len(named)} named graphs are taken together."] if named else []
    return name_terms(encode_columns(*columns), base, notes)


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


# Four parts between single spaces are the usual line; only a literal may hold more spaces. No IRI holds a backslash
# unless it is an escape, and a literal's other escapes are how N-Triples writes it anyway. Of an unusual line there is
# no head, and the line is the tail.
LOAD = """
    CREATE TABLE loaded AS
    SELECT 0 AS row, CASE WHEN end_term IS NOT NULL THEN part[1] END AS head,
           CASE WHEN end_term IS NOT NULL THEN part[2] END AS relation, coalesce(end_term, line) AS tail
    FROM (SELECT line, part, length(part[1]) + length(part[2]) AS before, CASE
            WHEN NOT (has_head AND has_relation AND len(part) >= 4 AND part[-1] = '.') THEN NULL
            WHEN prefix(part[3], '"') AND (plain OR NOT regexp_matches(line, '\\\\[uU]'))
                THEN substr(line, before + 3, length(line) - before - 4)
            WHEN plain AND len(part) = 4 THEN part[3]
          END AS end_term
          FROM (SELECT line, string_split(line, ' ') AS part, NOT contains(line, '\\') AS plain,
                       prefix(part[1], '<') AND suffix(part[1], '>') OR prefix(part[1], '_:') AS has_head,
                       prefix(part[2], '<') AND suffix(part[2], '>') AS has_relation
                FROM {lines}))
"""


def lines_sql(*paths: Path) -> str:
    """Return the SQL of the lines of some files: a table with one column, ``line``."""
    files = ", ".join(map(quote_file, paths))
    return (
        f"read_csv([{files}], columns={{'line': 'VARCHAR'}}, delim='\x01', header=false, quote='', escape='', "
        "auto_detect=false, strict_mode=false, nullstr='')"
    )


def read_ntriples(path: Path, base: Bases) -> Graph:
    """Read N-Triples; every line is a triple, a comment or nothing."""
    check_gzip(path)
    with open_reader(path) as connection:
        connection.execute(LOAD.format(lines=lines_sql(path)))
        _replace_odd_lines(connection, path)
        codes = read_codes(connection)
        _refuse_bad_terms(connection, path)
    return name_terms(Triples(*codes[:3], *map(Vocabulary, codes[3:])), base)


def _replace_odd_lines(connection: Any, path: Path) -> None:
    """Parse the lines of an unusual shape (escapes, tabs, comments behind a triple); the first bad one is named."""
    odd = [line for (line,) in connection.execute("SELECT tail FROM loaded WHERE head IS NULL").fetchall() if line]
    lines = [line for line in odd if line.strip() and line.lstrip()[0] != "#"]
    connection.execute("DELETE FROM loaded WHERE head IS NULL")
    if not lines:
        return
    try:
        quads = parse_rdf("N_TRIPLES", input="\n".join(lines))
    except MissingExtraError as error:
        place = f"{path}, line {find_line(path, lines[0])}"
        raise FileError(f"{place}: this line is out of the ordinary. {error}") from None
    except SyntaxError as error:
        raise syntax_error(path, find_line(path, lines[(error.lineno or 1) - 1]), error) from None
    terms = {part: np.array([str(getattr(quad, part)) for quad in quads], dtype=object) for part in PARTS}
    connection.register("odd", terms)
    connection.execute("INSERT INTO loaded SELECT 0, subject, predicate, object FROM odd")


def _refuse_bad_terms(connection: Any, path: Path) -> None:
    """Check every distinct term, of which there are few, not every line."""
    for table, pattern in (("entities", TERM.pattern), ("relations", f"<{IRI}>")):
        bad = connection.execute(
            f"SELECT name FROM {table} WHERE NOT regexp_full_match(name, {quote(pattern)}) LIMIT 1"
        ).fetchall()
        if bad:
            line = find_line(path, bad[0][0], part=True)
            raise FileError(f"{path}, line {line}: {bad[0][0]!r} is no RDF term that can stand there.")


def find_line(path: Path, text: str, part: bool = False) -> int:
    """Return the number of the first line that is a text, or contains it as a ``part``; 0 if there is none."""
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if (text in line) if part else line.rstrip("\r\n") == text:
                return number
    return 0


def write_rdf(syntax: str, path: Path, graph: Graph, base: Bases, extras: Mapping[str, Any]) -> None:
    """Write a file of a syntax, a name in pyoxigraph's ``RdfFormat``."""
    oxigraph = import_pyoxigraph()
    quads = parse_rdf("N_TRIPLES", input="".join(_lines(graph, base)))
    if syntax == "RDF_XML":
        _refuse_what_xml_cannot_hold(quads)
    triples = (oxigraph.Triple(quad.subject, quad.predicate, quad.object) for quad in quads)
    oxigraph.serialize(triples, str(path), format=getattr(oxigraph.RdfFormat, syntax))


def _refuse_what_xml_cannot_hold(quads: list[Any]) -> None:
    for relation in sorted({quad.predicate.value for quad in quads}):
        if not re.search(r"[A-Za-z_][\w.\-]*$", relation):
            raise TableError(f"RDF/XML has no name for the relation {relation}: it must end in a letter's word.")
    texts = (quad.object.value for quad in quads if hasattr(quad.object, "datatype"))
    odd = next((text for text in texts if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", text)), None)
    if odd is not None:
        raise TableError(f"RDF/XML cannot hold the text {odd[:50]!r}: XML has no place for its control characters.")


def _lines(graph: Graph, base: Bases) -> list[str]:
    heads, relations, tails = term_columns(graph, base)
    lines: list[str] = (heads + " " + relations + " " + tails + " .\n").tolist()
    return lines


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


def write_literal(cell: Any, name: str = "") -> str:
    """Return a value as a literal: a number with every digit, a date (of the column ``date``), or text."""
    if isinstance(cell, (float, np.floating, int, np.integer)):
        return f'"{float(cell)!r}"^^<{XSD}double>'.replace("inf", "INF")
    text = str(cell)
    if name == "date" and re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return f'"{text}"^^<{XSD}date>'
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(plain, escaped)
    return f'"{text}"'


def write_properties(extras: Mapping[str, Any]) -> list[str]:
    """Return what is known of a fact as predicates and objects; empty cells are left out."""
    known = ((name, cell) for name, cell in extras.items() if not is_missing(cell))
    return [f"<{VOCABULARY}{name}> {write_literal(cell, name)}" for name, cell in known]


def describe_statement(triple: Sequence[str], properties: Sequence[str]) -> list[str]:
    """Return a statement about a triple (rdf:Statement), with its properties, as predicates and objects."""
    parts = zip(PARTS, triple, strict=True)
    return [f"<{RDF}type> <{RDF}Statement>", *(f"<{RDF}{part}> {term}" for part, term in parts), *properties]


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines into a file, gzipped by its name."""
    open_file: Any = gzip.open if path.suffix == ".gz" else open
    with open_file(path, "wt", encoding="utf-8") as file:
        file.writelines(lines)
