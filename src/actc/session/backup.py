"""A copy of a session that is a session itself, made while people judge."""

from __future__ import annotations

import shutil
from pathlib import Path

from actc.errors import FileError
from actc.judges.store import ReplyStore
from actc.session.session import Session
from actc.tables.deliver import write_folder

DATABASES = ("judgements.sqlite", "names.sqlite", "judges.sqlite")


def backup_session(session: str | Path | Session, copy: str | Path) -> int:
    """Copy a session, as ``actc backup`` does; people may judge meanwhile.

    Parameters
    ----------
    session : path or Session
    copy : path
        A new folder; complete or absent. It is a session itself: to go back to it, give it the session's name. The
        links of its annotators are the same.

    Returns
    -------
    int
        How many judgements it has.
    """
    session, copy = session if isinstance(session, Session) else Session(session), Path(copy)
    if copy.exists():
        raise FileError(f"{copy} is there already; give a new name.")
    if session.folder.resolve() in copy.resolve().parents:
        raise FileError(f"{copy} lies in the session itself; give a place outside of it.")
    with write_folder(copy) as beside:
        beside.chmod(0o700)
        # The databases first: rows that a judgement speaks of are in the other files before it is.
        count = session.store.copy_to(beside / DATABASES[0])
        session.names.copy_to(beside / DATABASES[1])
        ReplyStore(session.folder).copy_to(beside)
        for path in session.folder.iterdir():  # no folder: what is hidden is somebody's unfinished work
            if path.is_file() and not path.name.startswith((*DATABASES, "judgements.count")):
                shutil.copy2(path, beside / path.name)
        Session(beside).close()  # a copy that cannot be opened is none
    return count
