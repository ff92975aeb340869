"""More candidates for a session that runs: people, answers and leases stay, and the page goes on."""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from actc.errors import OptionError, SessionError
from actc.session.plan import Planner
from actc.session.seals import add_seal
from actc.session.session import Session
from actc.session.texts import add_texts
from actc.tables.files import write_scored
from actc.tables.parts import read_candidates
from actc.triples import ScoredTriples


class Extended(NamedTuple):
    """Candidates that are new, those that the session had already, and all that it has now."""

    added: int
    known: int
    triples: int


def extend_session(session: str | Path | Session, candidates: str | Path) -> Extended:
    """Give a session more candidates, as ``actc extend`` does; people may judge meanwhile.

    New ones stand at the end of the pool; one that is there already keeps its score. Answers of known chance that were
    drawn before are draws from the part of the pool that was there: with draws from the whole of it they prove
    something of all, each by its own weight; without, they teach.

    Parameters
    ----------
    session : path or Session
    candidates : path
        Head, relation, tail, score, by the same model; a file, or a folder of parts. A file may have a column
        ``source``, the text that each was taken from.

    Returns
    -------
    Extended
        How many are new, how many were there already, how many there are now.
    """
    opened, path = session if isinstance(session, Session) else Session(session), Path(candidates)
    _refuse(opened)
    pool, given = opened.read_pool(), read_candidates(path)
    new = given.take(~pool.contains(given)).with_used_names()
    if len(new):
        _add(opened, pool, new, path)
    return Extended(len(new), len(given) - len(new), len(pool) + len(new))


def _refuse(session: Session) -> None:
    if session.settings.design:
        raise OptionError(f"{session.folder} is an audit: what is audited is decided, and does not grow.")
    if session.settings.doubted:
        raise OptionError(f"{session.folder} asks about facts of a graph; start a new one with the facts that came.")
    if session.settings.sampled:
        raise OptionError(
            f"{session.folder} keeps a sample that stands for a larger pool; start a new session with all candidates, "
            "and bring the answers along with: actc export --labels, actc import."
        )


def _add(session: Session, pool: ScoredTriples, new: ScoredTriples, path: Path) -> None:
    """Write the new candidates beside the others, then say in one transaction that they are there.

    The file has its name only within the transaction, which is one process's at a time; killed before its end, it
    leaves a file that nobody reads.
    """
    grown, beside = pool.followed_by_scored(new), session.folder / f".{secrets.token_hex(8)}.parquet"
    write_scored(beside, new)
    with session.store.transaction() as connection:
        (count,) = connection.execute("SELECT count(*) FROM growth").fetchone()
        if session.triples != len(pool):
            beside.unlink()
            raise SessionError(f"{session.folder}: more candidates came meanwhile; give the command again.")
        add_seal(beside.rename(session.folder / f"more-{count + 1}.parquet"))
        if path.is_file():
            add_texts(session.folder, grown, path)
        for table in ("task", "plan"):
            connection.execute(f"UPDATE {table} SET reach = ? WHERE reach = 0", (len(pool),))
        connection.execute("INSERT INTO growth (at, triples) VALUES (?, ?)", (time.time(), len(grown)))
    session.settings = replace(session.settings, triples=len(grown))
    Planner(session, grown).step()  # so that the next cards are of both
