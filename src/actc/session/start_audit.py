"""Draw a slice of what a session accepts, and make the audit in which people judge it."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.answers import Annotations
from actc.data.deliver import write_folder
from actc.data.files import write_scored
from actc.data.parts import read_candidates
from actc.data.triples import ScoredTriples, Triples
from actc.decide.audit import StoppingRule, assess
from actc.decide.words import WRONG_FACTS
from actc.errors import FileError, OptionError
from actc.graph.formats import read_graph
from actc.session.audit_plan import AuditPlanner
from actc.session.find_case import find_case
from actc.session.names import FILE, REASONS, SOURCE, write_texts
from actc.session.results import write_accepted
from actc.session.session import Session, open_session
from actc.session.settings import Settings
from actc.session.sought import sought_in
from actc.session.start import write_core


def start_audit(
    session: str | Path | Session,
    folder: str | Path | None = None,
    *,
    among: str | Path | None = None,
    count: int | None = None,
    within: float = 0.05,
    target: float | None = None,
    level: float = 0.9,
    seed: int = 0,
) -> Session:
    """Make a session of its own in which people judge random draws from the accepted triples of a session.

    Parameters
    ----------
    session : path or Session
        Whose accepted triples; what people called true is among them, what they called false is not.
    folder : path, optional
        A new folder; ``audit`` in the session's own if not given.
    among : path, optional
        A table of what was accepted, such as the ``accepted.tsv`` of a promise; what the session accepts now, without
        a promise, if not given.
    count : int, optional
        How many triples are judged at most; by default as many as ``within`` takes at worst, or 100 for a target.
    within : float
        It ends when the share of true triples is known to plus or minus so much.
    target : float, optional
        It ends when at least this share is certified instead, such as 0.9.
    level : float
        How sure the bounds are.
    seed : int
        Where the draw starts from.
    """
    with open_session(session) as session:
        folder = session.folder / "audit" if folder is None else Path(folder)
        if folder.exists():
            raise FileError(
                f"{folder} is there already; give another with --out, or go on with: actc annotate {folder}"
            )
        rule = StoppingRule(within, target, level)
        accepted = (
            _accepted_by(session) if among is None else _with_scores(read_graph(Path(among)), session.read_pool())
        )
        if not len(accepted):
            became = sought_in(session.settings).accepted
            raise OptionError(f"{among or session.folder}: nothing is {became} yet, so there is nothing to audit.")
        if count is None:
            count = (target is not None and 100) or assess(accepted, Annotations(), rule).more or 100
        if count < 1:
            raise OptionError(f"{count} answers audit nothing; ask for at least 1.")
        old = session.settings
        settings = Settings(
            budget=min(count, len(accepted)), title=f"Audit of {old.title}", guidelines=old.guidelines, seed=seed,
            triples=len(accepted), relations=len(accepted.relation_names), within=within, target=target, level=level,
            doubted=len(accepted) if sought_in(old) is WRONG_FACTS else 0,
        )  # fmt: skip
        with write_folder(folder) as made:
            made.chmod(0o700)
            write_scored(made / "pool.parquet", accepted)
            names = Path(shutil.copyfile(session.names.path, made / FILE))
            for kind in (REASONS, SOURCE):  # an audit is judged without them, and its rows are others
                write_texts(names, kind, ())
            audit = write_core(made, settings)
            for person in session.people():
                audit.add_annotator(person.name)
            AuditPlanner(audit).step()
            audit.close()
    return Session(folder)


def _accepted_by(session: Session) -> ScoredTriples:
    """Return what a session accepts by now."""
    with tempfile.TemporaryDirectory(dir=session.folder) as beside:
        found = Path(beside) / "accepted.parquet"
        return (
            read_candidates(found)
            if write_accepted(find_case(session), found)
            else session.read_pool().take(np.arange(0))
        )


def _with_scores(triples: Triples, pool: ScoredTriples) -> ScoredTriples:
    """Give triples the scores that they have in the pool, and 0 where it does not have them."""
    rows = pool.rows_of(triples)
    return triples.with_scores(np.where(rows >= 0, pool.scores[rows], 0.0))


def find_audit(session: str | Path, folder: str | Path | None = None, **drawn: Any) -> Session:
    """Return the audit of a session, if it is there; else draw one, with the options of :func:`start_audit`."""
    there = Path(session) / "audit" if folder is None else Path(folder)
    return Session(there) if there.is_dir() else start_audit(session, there, **drawn)
