"""Why a candidate may be true or false, for the people who judge it: short sentences beside the pool.

A session that was started with evidence has a file ``reasons.sqlite`` in its folder, one row for each candidate that
has reasons: ``triple`` (the candidate's row in the pool, which judgements call a triple) and ``said``, a JSON list of
short texts, the strongest first; what speaks against begins with "against: ". Ids stand in double brackets,
``[[Q42]]``, and are replaced by names when they are read, so that names that were added later show too. On a card::

    from actc.session.reasons import reasons_of

    (texts,) = reasons_of(session.names, [task.triple])  # () where there is nothing to show

A session without evidence has no such file, and every answer is empty.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from actc.session.names import Names
from actc.tables.deliver import write_beside

FILE = "reasons.sqlite"
MARKED = re.compile(r"\[\[(.*?)\]\]")


def write_reasons(folder: Path, reasons: Iterable[Sequence[str]]) -> None:
    """Put the reasons of every candidate of a session into its folder.

    Parameters
    ----------
    folder : Path
        Of the session.
    reasons : iterable of sequences of str
        One for each row of the pool, in its order; ids in double brackets.
    """
    rows = ((row, json.dumps(texts, ensure_ascii=False)) for row, texts in enumerate(reasons) if texts)
    with write_beside(folder / FILE) as temporary, closing(sqlite3.connect(temporary)) as connection:
        connection.execute("CREATE TABLE reason (triple INTEGER PRIMARY KEY, said TEXT NOT NULL)")
        connection.executemany("INSERT INTO reason VALUES (?, ?)", rows)
        connection.commit()


def reasons_of(names: Names, triples: Iterable[int | None]) -> list[tuple[str, ...]]:
    """Return what speaks for and against each of some triples, the strongest first; empty where nothing is known.

    Parameters
    ----------
    names : Names
        Of the session: its folder has the reasons, and ids are called by these names.
    triples : iterable of int
        As judgements and tasks call them.
    """
    triples, path = list(triples), names.path.with_name(FILE)
    if not path.exists():
        return [()] * len(triples)
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        found = [connection.execute("SELECT said FROM reason WHERE triple = ?", (row,)).fetchone() for row in triples]
    return [tuple(_named(text, names) for text in json.loads(row[0])) if row else () for row in found]


def _named(text: str, names: Names) -> str:
    return MARKED.sub(lambda found: names.of(found[1]).name, text)
