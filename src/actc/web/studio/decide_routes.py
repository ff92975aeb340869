"""The studio's routes about decisions: pages of the table, what guarantees cost, the owner's answers, what to take."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Query
from fastapi import Path as InPath
from fastapi.responses import FileResponse, Response
from pydantic import Field

from actc.session import Session
from actc.web.common import Key, Strict, checking
from actc.web.studio.common import OpenProject, OpenStudio, studio_of
from actc.web.studio.decisions import Decided, Look, answer, describe_learning, own_answers_of
from actc.web.studio.take import list_taken, take

deciding = APIRouter(prefix="/api/projects/{name}", route_class=checking(studio_of))
Of = Literal["candidates", "facts"]
"""Where a project seeks both missing and wrong facts: which of them are meant."""
Level = Annotated[float | None, Query(ge=0, lt=1)]
Name = Annotated[str, Field(min_length=1, max_length=100_000)]
MOST_PAGES, MOST_ROWS = 10_000_000, 500


class AnswerBody(Strict):
    """The owner's answer to a fact; "undo" takes back the one under the key."""

    head: Name
    relation: Name
    tail: Name
    said: Literal["true", "false", "unsure", "undo"]
    key: Key


def session_of(project: OpenProject, studio: OpenStudio) -> Session:
    """Return the session in which the people of a project judge."""
    if project.session is None:
        raise HTTPException(409, "There is nothing to decide yet: nobody can judge before the first run has ended.")
    return studio.sessions.served(project.name).session


OpenSession = Annotated[Session, Depends(session_of)]


def decided_of(project: OpenProject, session: OpenSession, of: Of = "candidates") -> Decided:
    """Return the table that the project's last run wrote."""
    return Decided.of(project, session, of == "facts")


OpenDecided = Annotated[Decided, Depends(decided_of)]


@deciding.get("/decisions")
def get_page(
    decided: OpenDecided,
    session: OpenSession,
    level: Level = None,
    part: Literal["accepted", "rejected", "all"] = "all",
    sort: Literal["probability", "score", "relation", "by"] = "probability",
    down: bool = True,
    search: Annotated[str, Query(max_length=500)] = "",
    relation: Annotated[str, Query(max_length=2000)] = "",
    by: Annotated[str, Query(max_length=100)] = "",
    page: Annotated[int, Query(ge=0, le=MOST_PAGES)] = 0,
    rows: Annotated[int, Query(ge=1, le=MOST_ROWS)] = 50,
) -> dict[str, Any]:
    """Return a page of the table, how many rows fit, and what the owner said of those that are shown."""
    found = decided.page(Look(level, part, sort, down, search, relation, by, page, rows))
    said = own_answers_of(session)
    for row in found["rows"]:
        row["said"] = said.get(tuple(row[name] for name in Session.TRIPLE))
    return found


@deciding.get("/overview")
def get_overview(decided: OpenDecided, session: OpenSession, level: Level = None) -> dict[str, Any]:
    """Return what each guarantee would accept; relation by relation, what this one does."""
    return {**decided.overview(level), "learning": describe_learning(session)}


@deciding.post("/answer")
def post_answer(body: AnswerBody, project: OpenProject, session: OpenSession) -> dict[str, str]:
    """Store the owner's answer to a fact: it overrules everybody's, and the next decision heeds it."""
    answer(project, session, (body.head, body.relation, body.tail), body.said, body.key)
    return {"key": body.key}


@deciding.get("/take")
def get_list(project: OpenProject) -> list[dict[str, Any]]:
    """Return what there is to take."""
    return [one.describe(project.folder) for one in list_taken(project)]


@deciding.get("/take/{file}")
def get_taken(project: OpenProject, file: Annotated[str, InPath(max_length=100)]) -> Response:
    """Return a file to take: one of those listed, never joined to a path before it is found there."""
    path = take(project, file)
    return FileResponse(path, media_type="application/octet-stream", filename=file)
