"""Decisions as a table in a file of its own, laid out so that any page of it is found at once.

As a program (``python -m actc.web.studio.make_table WISH OUT``) it makes one and ends: the server stays small.

The rows are numbers but for one text, in the order of what is decided and how probable it is; names stand in tables
beside them, each with its place in the alphabet, and counts are there already, so that no total needs a look at all
rows.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.database import open_database
from actc.data.deliver import write_beside
from actc.data.files import quote
from actc.data.sqlite import database_address
from actc.errors import ActcError
from actc.session.names import Names
from actc.web.studio.decisions import RULE, Standing, Wish, open_standing, refuse_unjudged, who_said
from actc.web.studio.levels import describe_levels
from actc.web.studio.pictures import describe_pictures

MEMORY = "400MB"
NEAR = 1000
"""Rejected candidates nearest to the cut."""
MOST_REASONS = 20_000
"""Candidates out of the pool whose reasons are worked out: the accepted and those near the cut come first."""
AT_ONCE = 100_000


def make_table(wish: Wish, out: Path) -> None:
    """Write the table of all candidates, complete or not at all."""
    with open_standing(wish) as standing:
        refuse_unjudged(standing)
        told = {"levels": describe_levels(standing, wish), "pictures": describe_pictures(standing)}
        with write_beside(out) as unfinished, open_database() as connection:
            connection.execute(f"SET memory_limit='{MEMORY}'; SET temp_directory={quote(str(unfinished.parent))}")
            connection.execute(f"ATTACH {quote(str(unfinished))} AS made; USE made")
            _write(connection, standing, told)
            connection.execute("CHECKPOINT made; USE memory; DETACH made")
            for left in unfinished.parent.iterdir():
                if left != unfinished:
                    left.unlink()


def _write(connection: Any, standing: Standing, told: dict[str, Any]) -> None:
    _take_decided(connection, standing)
    _name(connection, standing.session.names)
    _take_cuts(connection, standing)
    connection.register("said_columns", who_said(standing.case))
    connection.execute(_MAKE)
    _take_reasons(connection, standing)
    connection.execute("CREATE TABLE told (name VARCHAR, content VARCHAR)")
    facts = {"sought": {"wrong": standing.wrong}, **told}
    connection.executemany("INSERT INTO told VALUES (?, ?)", [[name, json.dumps(one)] for name, one in facts.items()])


def _take_decided(connection: Any, standing: Standing) -> None:
    """Put the decisions into a table in memory."""
    columns = standing.columns | ({} if standing.rules is None else {RULE: standing.rules})
    connection.register("decided_columns", columns)
    rule = "'' AS rule" if standing.rules is None else RULE
    wanted = 'number, head, relation, tail, score, probability, own, accepted, "by", pool'
    connection.execute(f"CREATE TABLE memory.decided AS SELECT {wanted}, {rule} FROM decided_columns")
    connection.unregister("decided_columns")


def _name(connection: Any, names: Names) -> None:
    """Put the names of what the candidates speak of into a table in memory."""
    connection.execute("CREATE TABLE memory.called (id VARCHAR, name VARCHAR, template VARCHAR)")
    for rows in _named(names):
        columns = zip(("id", "name", "template"), zip(*rows, strict=True), strict=True)
        connection.register("name_columns", {name: np.array(column, dtype=object) for name, column in columns})
        connection.execute("INSERT INTO memory.called SELECT id, name, template FROM name_columns")
        connection.unregister("name_columns")


def _named(names: Names) -> Iterator[list[tuple[str, str, str]]]:
    with closing(sqlite3.connect(database_address(names.path, writing=False), uri=True)) as file:
        cursor = file.execute("SELECT id, name, template FROM name")
        while some := cursor.fetchmany(AT_ONCE):
            yield some


def _take_cuts(connection: Any, standing: Standing) -> None:
    """Put each relation's cut into a table, and the probability there."""
    case = standing.case
    cuts, curves = case.thresholds, case.curves
    there = np.full(len(cuts.cuts) + 1, np.nan)
    if curves is not None:
        inside = np.clip(cuts.cuts_and_default, curves.low, curves.high)
        there = curves.look_up(inside, np.arange(len(inside)))
    names = np.array([*cuts.relation_names, ""], dtype=object)  # no relation has an empty name: the default's
    connection.register("cut_columns", {"name": names, "cut": cuts.cuts_and_default, "p": there})


# The distance to the cut is in probability where there is one, else in scores; none where nothing can be accepted.
_MAKE = f"""
    CREATE TABLE relation AS
        SELECT row_number() OVER (ORDER BY lower(name), id)::INTEGER - 1 AS code, * FROM (
            SELECT d.id, coalesce(c.name, d.id) AS name, coalesce(template, '') AS template,
                coalesce(own.cut, other.cut) AS cut, coalesce(own.p, other.p) AS p
            FROM (SELECT DISTINCT relation AS id FROM memory.decided) AS d LEFT JOIN memory.called AS c ON c.id = d.id
                LEFT JOIN cut_columns AS own ON own.name = d.id
                JOIN (SELECT cut, p FROM cut_columns WHERE name = '') AS other ON true);
    CREATE TABLE entity AS
        SELECT row_number() OVER (ORDER BY lower(name), id)::INTEGER - 1 AS code, id, name FROM (
            SELECT d.id, coalesce(c.name, d.id) AS name
            FROM (SELECT head AS id FROM memory.decided UNION SELECT tail FROM memory.decided) AS d
                LEFT JOIN memory.called AS c ON c.id = d.id);
    CREATE TABLE memory.spoken AS
        SELECT d.number, d."by", coalesce(s.who, '') AS who FROM memory.decided AS d LEFT JOIN said_columns AS s
            ON s.head = d.head AND s.relation = d.relation AND s.tail = d.tail;
    CREATE TABLE hand AS
        SELECT (row_number() OVER (ORDER BY "by", who))::SMALLINT - 1::SMALLINT AS code, "by", who
        FROM (SELECT DISTINCT "by", who FROM memory.spoken);
    CREATE TABLE memory.placed AS
        SELECT d.number::INTEGER AS number, h.code AS head, r.code AS relation, t.code AS tail, score,
            nullif(probability, 'nan'::DOUBLE) AS probability, accepted, hand.code AS hand, pool::INTEGER AS pool,
            CASE WHEN isinf(r.cut) THEN NULL WHEN isnan(own) OR isnan(r.p) THEN score - r.cut ELSE own - r.p END::FLOAT
                AS distance,
            rule, lower(nfc_normalize(concat_ws(chr(10), h.name || ' ' || r.name || ' ' || t.name,
                CASE WHEN r.template != '' THEN
                    replace(replace(r.template, '{{head}}', h.name), '{{tail}}', t.name) END,
                CASE WHEN h.id != h.name THEN h.id END, CASE WHEN r.id != r.name THEN r.id END,
                CASE WHEN t.id != t.name THEN t.id END))) AS text
        FROM memory.decided AS d JOIN entity AS h ON h.id = d.head JOIN relation AS r ON r.id = d.relation
            JOIN entity AS t ON t.id = d.tail JOIN memory.spoken AS s ON s.number = d.number
            JOIN hand ON hand."by" = d."by" AND hand.who = s.who;
    CREATE TABLE decision AS
        SELECT p.* EXCLUDE (text, rule), n.number IS NOT NULL AS near, rule, text
        FROM memory.placed AS p LEFT JOIN (
            SELECT number FROM memory.placed JOIN hand ON hand = code
            WHERE NOT accepted AND distance IS NOT NULL AND "by" NOT IN ('person', 'oracle')
            ORDER BY abs(distance), number LIMIT {NEAR}) AS n ON n.number = p.number
        ORDER BY accepted DESC, probability DESC NULLS LAST, score DESC NULLS LAST, p.number;
    CREATE TABLE counted AS
        SELECT relation, accepted, near, hand, count(*) AS count FROM decision GROUP BY ALL;
    DROP TABLE memory.decided; DROP TABLE memory.called; DROP TABLE memory.spoken; DROP TABLE memory.placed;
"""


def _take_reasons(connection: Any, standing: Standing) -> None:
    """Say why of candidates that people cannot be asked about; those of the pool have their reasons in the session."""
    connection.execute("CREATE TABLE why (number INTEGER, text VARCHAR)")
    if standing.reasons is None:
        return
    found = connection.execute(
        "SELECT number, accepted FROM decision WHERE pool < 0 AND number >= 0 "
        f"ORDER BY near DESC, accepted DESC, probability DESC, number LIMIT {MOST_REASONS}"
    ).fetchnumpy()
    rows = found["number"].astype(np.int64)
    marked = standing.reasons.marked(rows) if len(rows) else []
    texts = np.array([*(said[0] if said else "" for said in marked), ""], dtype=object)[:-1]
    connection.register("reason_columns", {"number": rows, "text": texts})
    connection.execute("INSERT INTO why SELECT number, text FROM reason_columns WHERE text != '' ORDER BY number")


def main(wish: str, out: str) -> None:
    """Make one table; what goes wrong is one sentence on standard error."""
    with suppress(OSError, AttributeError):
        os.nice(10)  # people who judge come first
    try:
        make_table(Wish.from_text(wish), Path(out))
    except ActcError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
