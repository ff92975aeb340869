"""N-Triples: lines of the usual shape are taken apart in SQL, a million a second; any others are left to pyoxigraph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.files import check_gzip, open_reader, open_text, quote, quote_file
from actc.errors import FileError, MissingExtraError
from actc.graph.graph import Graph, encode
from actc.graph.terms import (
    BLANK,
    IRI,
    LITERAL,
    Bases,
    entity_name,
    name_quoted_heads,
    note_terms,
    parse_rdf,
    relation_name,
    syntax_error,
    term_columns,
    write_lines,
)

# Four parts between single spaces are the usual line; only a literal may hold more spaces. No IRI holds a backslash
# unless it is an escape, and a literal's other escapes are how N-Triples writes it anyway.
PARTS = """
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


def read(path: Path, base: Bases) -> Graph:
    """Read a file; every line is a triple, a comment or nothing."""
    check_gzip(path)
    with open_reader(path) as connection:
        usual = USUAL.format(parts=PARTS.format(path=quote_file(path)))
        connection.execute(
            "CREATE TEMP TABLE named AS SELECT CASE WHEN tail IS NOT NULL THEN part[1] END AS head, "
            "CASE WHEN tail IS NOT NULL THEN part[2] END AS relation, coalesce(tail, line) AS tail "
            f"FROM ({usual})"
        )
        _replace_odd_lines(connection, path)
        names = [_name(connection, base.entities, entity_name), _name(connection, base.relations, relation_name)]
        graph = encode(connection, lambda row: str(path), *names)
        _refuse_bad_terms(connection, path)
    return note_terms(name_quoted_heads(graph, base.entities))


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
    """Return the number of the first line that reads so, or has it as a part."""
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if (text in line) if part else line.rstrip("\r\n") == text:
                return number
    return 0


def write(path: Path, graph: Graph, base: Bases, extras: Mapping[str, Any]) -> None:
    """Write one line for each triple."""
    write_lines(path, term_columns(graph, base), "head || ' ' || relation || ' ' || tail || ' .'")
