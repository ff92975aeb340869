"""Read what a report is about from a session's folder or from a thresholds file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from actc.errors import FileError
from actc.session import Session
from actc.session.results import Results
from actc.tables.calibration import Calibration
from actc.trust.report import Case, read_case


def find_case(path: str | Path) -> Case:
    """Read the case behind a session (a folder) or a thresholds file.

    Thresholds that came from a session are set against all answers that it has by now.
    """
    if Path(path).is_dir():
        return read_session_case(path)
    calibration = Calibration.read(path)
    session = calibration.sources.session
    if session is None:
        return read_case(path, calibration)
    if not session.is_dir():
        raise FileError(f"{path}: it came from the session {session}, which is not there; put it back, or export anew.")
    return replace(read_session_case(session), thresholds=calibration.thresholds, name=Path(path).name)


def find_session(path: str | Path) -> Session | None:
    """Return the session behind a path: its own folder, or the one that a thresholds file came from, if it is there."""
    if Path(path).is_dir():
        return Session(path)
    folder = Calibration.read(path).sources.session
    return None if folder is None or not folder.is_dir() else Session(folder)


def read_session_case(folder: str | Path) -> Case:
    """Read a session: its candidates, what people said, and which triples were asked as random checks."""
    session = Session(folder)
    try:
        results = Results(session)
        uniform = session.asked_at_random(results.annotations)
    finally:
        session.close()
    return Case(
        results.planner.pool,
        results.annotations,
        results.thresholds,
        results.planner.known,
        session.settings.method,
        name=Path(folder).resolve().name,
        uniform_ones=uniform,
    )
