"""Judgements from elsewhere, brought into a session."""

from __future__ import annotations

from pathlib import Path

from actc.session.exchange import read_judgements
from actc.session.plan import Planner
from actc.session.session import Session


def import_judgements(
    session: str | Path | Session, judgements: str | Path, *, annotator: str | None = None, owner: bool = False
) -> int:
    """Bring judgements into a session, as ``actc import`` does; return how many were new.

    Parameters
    ----------
    session : path or Session
    judgements : path
        A table, JSON lines, or Label Studio's export.
    annotator : str, optional
        Whose judgements they are, where the file does not tell.
    owner : bool
        Take what an owner decided, by the file, as decisions of this session's owner; otherwise such lines are refused.
    """
    opened = session if isinstance(session, Session) else Session(session)
    added = read_judgements(opened, Path(judgements), annotator, owner)
    Planner(opened).step()  # so that status tells what these answers buy
    return added
