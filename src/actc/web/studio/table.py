"""A table of decisions, page by page: sorted, searched and filtered in the file that ``make_table`` wrote."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from actc.decide.case import BY, CONSTRAINT
from actc.errors import SessionError, check_choice
from actc.session.cards import plain, sentence
from actc.session.names import Names
from actc.session.reasons import name_marked, reasons_of

MEMORY, THREADS = "256MB", 2
PARTS = {"accepted": "accepted", "rejected": "NOT accepted", "near": "near", "all": "true"}
SORTS = {
    "probability": ("probability", "score"),
    "score": ("score",),
    "relation": ("relation", "probability", "score"),
    "head": ("head", "tail"),
    "tail": ("tail", "head"),
    "by": ("hand", "probability"),
    "distance": ("abs(distance)",),
}
"""What rows are sorted by: codes of names are their places in the alphabet. Equal ones by their number."""
USED = ("number", "head", "relation", "tail", "score", "probability", "distance", "hand")
COLUMNS = (
    "triple",
    "head",
    "relation",
    "tail",
    "sentence",
    "score",
    "probability",
    "distance",
    "accepted",
    "by",
    "why",
)


@dataclass(frozen=True)
class Look:
    """Which rows are wanted, and in which order.

    Parameters
    ----------
    part : {"accepted", "rejected", "near", "all"}
        ``near`` are the rejected nearest to the cut.
    sort, down : str, bool
        One of ``SORTS``; whether the largest comes first.
    search : str
        A piece of a name, an id or the sentence, as it is; small and capital letters are the same.
    relation : str
        Its id; empty for all.
    by : str
        Who decided: one of ``BY``, ``constraint``, or a person's name; empty for all.
    page, rows : int
    """

    part: str = "all"
    sort: str = "probability"
    down: bool = True
    search: str = ""
    relation: str = ""
    by: str = ""
    page: int = 0
    rows: int = 50

    def __post_init__(self) -> None:
        for kind, name, choices in (("part of the table", self.part, PARTS), ("order", self.sort, SORTS)):
            check_choice(kind, name, choices)


class Table:
    """An open table, for use by any thread.

    Parameters
    ----------
    path : Path
        What :func:`actc.web.studio.make_table.make_table` wrote; it may be removed while it is open.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        config: dict[str, Any] = {"memory_limit": MEMORY, "threads": str(THREADS), "enable_external_access": "false"}
        self._connection = duckdb.connect(str(path), read_only=True, config=config)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _rows(self, sql: str, values: Any = ()) -> list[Any]:
        with self._connection.cursor() as cursor:
            return cursor.execute(sql, list(values)).fetchall()

    def told(self, name: str) -> Any:
        """Return what was worked out with the table: levels, pictures, or what is sought."""
        return json.loads(self._rows("SELECT content FROM told WHERE name = ?", [name])[0][0])

    def counts(self) -> dict[str, int]:
        """Return how many candidates there are, and how many are accepted."""
        sql = "SELECT coalesce(sum(count), 0), coalesce(sum(count) FILTER (accepted), 0) FROM counted"
        candidates, accepted = self._rows(sql)[0]
        return {"candidates": int(candidates), "accepted": int(accepted)}

    def hands(self) -> dict[str, list[str]]:
        """Return who decided anything: the kinds of hands, and people by their names."""
        rows = self._rows('SELECT "by", who FROM hand ORDER BY code')
        people = {name for _, who in rows for name in who.split(",") if name}
        return {"hands": list(dict.fromkeys(by for by, _ in rows)), "people": sorted(people)}

    def relations(self) -> list[dict[str, str]]:
        """Return every relation with its name."""
        return [
            {"relation": id, "name": name} for id, name in self._rows("SELECT id, name FROM relation ORDER BY code")
        ]

    def triple(self, number: int) -> tuple[str, str, str, float | None, int]:
        """Return head, relation, tail, score and row in the session's pool of the candidate of a number."""
        rows = self._rows(
            "SELECT h.id, r.id, t.id, score, pool FROM decision JOIN entity AS h ON h.code = head "
            "JOIN relation AS r ON r.code = relation JOIN entity AS t ON t.code = tail WHERE number = ?",
            [number],
        )
        if not rows:
            raise SessionError(f"There is no candidate {number} in the table.")
        return rows[0]  # type: ignore[no-any-return]

    def page(self, look: Look, names: Names) -> dict[str, Any]:
        """Return a page of rows, and how many there are in all that fit."""
        where, values = self._where(look)
        if where is None:
            return {"columns": COLUMNS, "rows": [], "count": 0}
        order = ", ".join(f"{key} {'DESC' if look.down else 'ASC'} NULLS LAST" for key in SORTS[look.sort])
        asked = f"ORDER BY {order}, number LIMIT {look.rows:d} OFFSET {look.page * look.rows:d}"
        if look.search:  # one look at all texts, for the page and for the count
            fitting = f"SELECT rowid AS place, {', '.join(USED)} FROM decision WHERE {where}"
            page = f"SELECT list(place) FROM (SELECT place FROM fitting {asked})"
            sql = f"WITH fitting AS MATERIALIZED ({fitting}) SELECT ({page}), (SELECT count(*) FROM fitting)"
            rows, count = self._rows(sql, values)[0]
        else:
            rows = [row for (row,) in self._rows(f"SELECT rowid FROM decision WHERE {where} {asked}")]
            [(count,)] = self._rows(f"SELECT coalesce(sum(count), 0) FROM counted WHERE {where}")
        return {"columns": COLUMNS, "rows": self._show(rows or [], names), "count": int(count)}

    def _where(self, look: Look) -> tuple[str | None, list[Any]]:
        """Return the condition that rows fulfil, with its values; None where no row does."""
        terms, values = [PARTS[look.part]], list[Any]()
        if look.relation:
            codes = self._rows("SELECT code FROM relation WHERE id = ?", [look.relation])
            if not codes:
                return None, []
            terms.append(f"relation = {codes[0][0]:d}")
        if look.by:
            rows = self._rows('SELECT code, "by", who FROM hand')
            kinds = {*BY, CONSTRAINT}
            codes = [
                code for code, by, who in rows if (by == look.by if look.by in kinds else look.by in who.split(","))
            ]
            if not codes:
                return None, []
            terms.append(f"hand IN ({', '.join(f'{code:d}' for code in codes)})")
        if look.search:
            terms.append("contains(text, lower(nfc_normalize(?)))")
            values.append(look.search)
        return " AND ".join(terms), values

    def _show(self, rows: list[int], names: Names) -> list[dict[str, Any]]:
        """Return rows as a page shows them, in the order asked for."""
        if not rows:
            return []
        found = self._rows(
            'SELECT d.rowid, d.number, h.id, r.id, t.id, score, probability, distance, accepted, near, "by", who, '
            "pool, coalesce(rule, ''), w.text FROM decision AS d JOIN entity AS h ON h.code = head "
            "JOIN relation AS r ON r.code = relation JOIN entity AS t ON t.code = tail JOIN hand ON hand.code = hand "
            f"LEFT JOIN why AS w ON w.number = d.number WHERE d.rowid IN ({', '.join(f'{row:d}' for row in rows)})"
        )
        by_row = {row[0]: row[1:] for row in found}
        lines = [by_row[row] for row in rows]
        reasons = reasons_of(names, [line[11] if line[11] >= 0 else None for line in lines])
        return [_line(line, said[0] if said else "", names) for line, said in zip(lines, reasons, strict=True)]


def _line(row: Any, reason: str, names: Names) -> dict[str, Any]:
    number, head, relation, tail, score, probability, distance, accepted, near, by, who, _, rule, text = row
    named = [names.of(id) for id in (head, relation, tail)]
    return {
        "triple": number,
        "head": head,
        "relation": relation,
        "tail": tail,
        "names": [one.name for one in named],
        "sentence": plain(sentence(*named)),
        "score": score,
        "probability": probability,
        "distance": distance,
        "accepted": accepted,
        "near": near,
        "by": by,
        "who": who,
        "why": reason or (name_marked(text, names) if text else "") or rule,
    }
