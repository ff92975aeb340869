"""Read what a report is about from a session's folder or from a thresholds file."""

from __future__ import annotations

from pathlib import Path

from actc.session import Session
from actc.session.results import Results
from actc.trust.report import Case, read_case


def find_case(path: str | Path) -> Case:
    """Read the case behind a session (a folder) or a thresholds file."""
    return read_session_case(path) if Path(path).is_dir() else read_case(path)


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
