"""Open the case behind a session's folder or a thresholds file: once, for everything that is to be said of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from actc.data.answers import Annotations
from actc.data.calibration import Calibration
from actc.data.files import read_scored
from actc.data.triples import ScoredTriples
from actc.decide.calibrate import as_found, read_case
from actc.decide.case import Case
from actc.decide.list_test import Demand
from actc.errors import FileError, OptionError
from actc.graph.formats import read_graph
from actc.session.session import Session
from actc.session.sought import REMOVAL, Part, parts_of, read_sought


@dataclass(frozen=True, eq=False)
class Opened:
    """A case, and the session that it is of, if it is of one."""

    case: Case
    session: Session | None = None


def find_case(source: str | Path | Session | Case, demand: Demand | None = None) -> Opened:
    """Open what a report is about: a session, its folder, or a thresholds file.

    A promise can be demanded of a session; a thresholds file keeps its own.

    Thresholds that came from a session are set against all answers that it has by now.
    """
    if isinstance(source, Case):
        return Opened(source)
    if isinstance(source, Session) or Path(source).is_dir():
        session = source if isinstance(source, Session) else Session(source)
        return Opened(session_case(session, demand), session)
    calibration = Calibration.read(source)
    folder = calibration.sources.session
    if folder is None:
        return Opened(read_case(source, calibration))
    if not folder.is_dir():
        raise FileError(
            f"{source}: it came from the session {folder}, which is not there; put it back, or export anew."
        )
    session, more, graph = Session(folder), calibration.sources.candidates, calibration.sources.graph
    case = session_case(session)
    more_candidates = None if more is None else read_scored(more)[0]
    case = replace(case, candidates=more_candidates, facts=case.facts if graph is None else read_graph(graph))
    return Opened(as_found(case, source, calibration), session)


def session_case(session: Session, demand: Demand | None = None, part: Part | None = None) -> Case:
    """Return the case of a session: its candidates, what people and machines said, and how each was asked.

    Of a session about candidates and facts it is the candidates' case, unless another part is named.
    """
    if session.settings.is_audit:
        raise OptionError(f"{session.folder} is an audit: it says how many are true, and decides nothing itself.")
    part = part or parts_of(session.settings)[0]
    return with_answers(session, part, empty_case(session, part, session.read_pool()), demand)


def empty_case(session: Session, part: Part, pool: ScoredTriples) -> Case:
    """Return the case of a part of a session's pool with everything that no answer changes."""
    name, method = session.folder.resolve().name, part.method(session.settings)
    if part.wrong:
        return Case(part.of(pool), Annotations(), None, method, name=name)
    facts = None if session.facts_file is None else read_graph(session.facts_file)
    known, rules = session.read_known(), session.read_constraints()
    return Case(part.of(pool), Annotations(), known, method, name=name, constraints=rules, facts=facts)


def with_answers(session: Session, part: Part, case: Case, demand: Demand | None) -> Case:
    """Return a case with what people and machines said by now, and what is guaranteed."""
    answers, judged = read_sought(session, part)
    return replace(case, annotations=answers, judged=judged, demand=demand or (REMOVAL if part.wrong else None))
