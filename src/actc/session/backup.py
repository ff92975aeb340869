"""A copy of a session that is a session itself, made while people judge."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from actc.errors import FileError
from actc.session.session import Session
from actc.session.trouble import TROUBLE
from actc.tables.deliver import write_folder
from actc.tables.sqlite import copy_database, database_address


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
        count = session.store.copy_to(beside / "judgements.sqlite")
        session.names.copy_to(beside / "names.sqlite")
        for path in session.folder.iterdir():
            _copy_file(path, beside / path.name)
        Session(beside).close()  # a copy that cannot be opened is none
    return count


def _copy_file(path: Path, copy: Path) -> None:
    """Copy what a room beside this one keeps in a session; not what belongs to a database, nor what is hidden."""
    if not path.is_file() or copy.exists() or path.name.endswith(("-wal", "-shm", ".count", TROUBLE)):
        return
    if path.suffix != ".sqlite":
        shutil.copy2(path, copy)
        return
    with closing(sqlite3.connect(database_address(path), uri=True)) as connection:
        copy_database(connection, copy)
