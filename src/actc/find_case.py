"""Where do decisions come from? A session's folder, or a thresholds file: both lead to a case for a report."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from actc.errors import FileError
from actc.report import Case, read_case
from actc.session import Session
from actc.session.outlook import RANDOM_CHECK, REASONS
from actc.session.results import Results
from actc.sketch_file import has_sketch


def find_case(path: str | Path) -> Case:
    """Read the case behind a session (a folder) or a thresholds file."""
    return read_session_case(path) if Path(path).is_dir() else read_case(path)


def read_session_case(folder: str | Path) -> Case:
    """Read a session: its candidates, what people said, and which triples were asked as random checks."""
    session = Session(folder)
    try:
        if has_sketch(session.folder):
            raise FileError(
                f"{folder}: a report looks at every candidate, and this session keeps a sample of its "
                f"{session.settings.triples:,}; check what was accepted with `actc audit`."
            )
        results = Results(session)
        why = session.store.rows("SELECT triple FROM task WHERE reason IN (?, ?)", (RANDOM_CHECK, REASONS["random"]))
    finally:
        session.close()
    at_random = np.array([row[0] for row in why], dtype=np.int64)
    return Case(
        results.planner.pool,
        results.annotations,
        results.thresholds,
        results.planner.known,
        session.settings.method,
        name=Path(folder).resolve().name,
        uniform_ones=np.isin(results.annotations.rows, at_random),
    )
