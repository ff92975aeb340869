"""Judgements from elsewhere, brought into a session."""

from __future__ import annotations

from pathlib import Path

from actc.session.exchange import Imported, read_judgements
from actc.session.plan import Planner
from actc.session.session import Session


def import_judgements(
    session: str | Path | Session, judgements: str | Path, *, annotator: str | None = None, owner: bool = False
) -> Imported:
    """Bring judgements into a session, as ``actc import`` does.

    Those about triples that are no candidates of the session are left out; where all are, the file is refused. If
    some of them, drawn at random, are no candidates here, the draw was from another pool: then all of them teach and
    none proves anything.

    Parameters
    ----------
    session : path or Session
    judgements : path
        A table, JSON lines, or Label Studio's export.
    annotator : str, optional
        Whose judgements they are, where the file does not tell.
    owner : bool
        Take what an owner decided, by the file, as decisions of this session's owner; otherwise such lines are refused.

    Returns
    -------
    Imported
        How many were new (``added``), and what is to be said of the others (``notes``).
    """
    opened = session if isinstance(session, Session) else Session(session)
    added = read_judgements(opened, Path(judgements), annotator, owner)
    Planner(opened).step()  # so that status tells what these answers buy
    return added
