"""Why a candidate may be true or false, for the people who judge it: short sentences beside the pool.

A session that was started with evidence has a file ``reasons.sqlite`` in its folder (:mod:`actc.session.by_triple`),
with a JSON list of short texts for each candidate that has reasons, the strongest first; what speaks against begins
with "against: ". Ids stand in double brackets, ``[[Q42]]``, and are replaced by names when they are read, so that names
that were added later show too. On a card::

    from actc.session.reasons import reasons_of

    (texts,) = reasons_of(session.names, [task.triple])  # () where there is nothing to show

A session without evidence has no such file, and every answer is empty.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from actc.session.by_triple import read_by_triple, write_by_triple
from actc.session.names import Names

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
    write_by_triple(folder / FILE, rows)


def reasons_of(names: Names, triples: Iterable[int | None]) -> list[tuple[str, ...]]:
    """Return what speaks for and against each of some triples, the strongest first; empty where nothing is known.

    Parameters
    ----------
    names : Names
        Of the session: its folder has the reasons, and ids are called by these names.
    triples : iterable of int
        As judgements and tasks call them.
    """
    found = read_by_triple(names.path.with_name(FILE), list(triples))
    return [tuple(name_marked(text, names) for text in json.loads(said)) if said else () for said in found]


def name_marked(text: str, names: Names) -> str:
    """Replace ids in double brackets by names."""
    return MARKED.sub(lambda found: names.of(found[1]).name, text)
