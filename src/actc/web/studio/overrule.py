"""The owner's word on a candidate of the table: an answer, whichever set the candidate is in.

One that people may be asked about gets it in the session. One of a completion that is not in the session's pool gets it
among all that was ever said in the folder (``answers.tsv``), which every run into the folder hears: it decides this
candidate, and teaches nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from actc.complete.earlier import keep_word
from actc.errors import SessionError
from actc.session import OWNER, Session
from actc.session.ask import Task
from actc.session.record import LABELS
from actc.web.studio.decisions import Wish
from actc.web.studio.table import Table

OVERRULED = "The owner decided it."


def overrule(session: Session, wish: Wish, table: Table, number: int, said: str, key: str) -> dict[str, Any]:
    """Store the owner's word on the candidate of a number; "unsure" takes it back.

    Parameters
    ----------
    session : Session
    wish : Wish
        Whose table it is.
    table : Table
    number : int
        As the table calls the candidate.
    said : {"true", "false", "unsure"}
        Whether the triple is true, whatever is sought.
    key : str
        The sender's own name for it: sent twice, it is stored once.
    """
    head, relation, tail, score, row = table.triple(number)
    if row >= 0:
        task = Task(row, head, relation, tail, float(score or 0.0), OVERRULED)
        return vars(session.settle(row, said, key, unasked=task))
    if wish.result is None:
        raise SessionError(f"Candidate {number} is not in the session any more.")
    label = LABELS[said]
    keep_word(Path(wish.result), (head, relation, tail), None if label is None else bool(label), OWNER)
    return {"id": None, "triple": number}
