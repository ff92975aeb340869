"""The studio's routes about decisions: the table, what a promise costs, the owner's word, pictures, what to take."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi import Path as InPath
from fastapi.responses import FileResponse, Response
from pydantic import Field

from actc.session import Session
from actc.web.common import Key, Strict
from actc.web.studio.common import OpenProject, OpenStudio
from actc.web.studio.decisions import Wish
from actc.web.studio.kept_tables import KeptTables, Shown
from actc.web.studio.overrule import overrule
from actc.web.studio.pictures import describe_learning
from actc.web.studio.project import Project
from actc.web.studio.table import COLUMNS, Look
from actc.web.studio.take import list_taken, take

deciding = APIRouter(prefix="/api/projects/{name}")
Of = Literal["candidates", "facts"]
"""Where a project seeks both missing and wrong facts: which of them are meant."""
MOST_PAGES, MOST_ROWS = 10_000_000, 500


class OverruleBody(Strict):
    """The owner's word on a candidate of the table."""

    triple: int = Field(ge=-(2**31), lt=2**31)
    said: Literal["true", "false", "unsure"]
    key: Key


class Deciding:
    """A project whose people have begun to judge: its session, and what is wanted of the decisions."""

    def __init__(self, request: Request, project: OpenProject, studio: OpenStudio, of: Of = "candidates") -> None:
        if project.session is None:
            raise HTTPException(409, "There is nothing to decide yet: nobody can judge before the first run has ended.")
        self.project: Project = project
        self.session: Session = studio.sessions.served(project.name).session
        self.wish = wish_of(project, of == "facts")
        self._tables: KeptTables = request.app.state.tables

    def show(self) -> Shown:
        """Return the table as it is, or the one before it while a new one is being made."""
        return self._tables.show(self.project.folder, self.wish, self.session)


def wish_of(project: Project, facts: bool = False) -> Wish:
    """Return which decisions a project wants: on candidates, or on doubtful facts where both are sought."""
    goal, chosen = project.options.goal, project.options
    result = None if goal == "decide" else str(project.result)
    facts = facts and goal == "both"
    return Wish(str(project.session), result, chosen.precision, facts)


OpenDeciding = Annotated[Deciding, Depends(Deciding)]


@deciding.get("/table")
def get_table(
    open_deciding: OpenDeciding,
    part: Literal["accepted", "rejected", "near", "all"] = "all",
    sort: Literal["probability", "score", "relation", "head", "tail", "by", "distance"] = "probability",
    down: bool = True,
    search: Annotated[str, Query(max_length=500)] = "",
    relation: Annotated[str, Query(max_length=2000)] = "",
    by: Annotated[str, Query(max_length=100)] = "",
    page: Annotated[int, Query(ge=0, le=MOST_PAGES)] = 0,
    rows: Annotated[int, Query(ge=1, le=MOST_ROWS)] = 50,
) -> dict[str, Any]:
    """Return a page of the table of all candidates, and how many fit; ``stale`` while a newer table is being made."""
    shown = open_deciding.show()
    told = {"state": shown.state, "stale": shown.stale}
    if shown.table is None:
        nothing = {"columns": COLUMNS, "rows": [], "count": 0, "accepted": 0, "candidates": 0, "making": True}
        return {**nothing, "relations": [], "hands": [], "people": [], **told}
    look = Look(part, sort, down, search, relation, by, page, rows)
    found = shown.table.page(look, open_deciding.session.names)
    lists = {"relations": shown.table.relations(), **shown.table.hands()}
    return {**found, **shown.table.counts(), **lists, "making": False, **told}


@deciding.get("/levels")
def get_levels(open_deciding: OpenDeciding) -> dict[str, Any]:
    """Return how many would be accepted under each promise, overall and by relation."""
    shown = open_deciding.show()
    return {**shown.there().told("levels"), "state": shown.state, "stale": shown.stale}


@deciding.get("/pictures")
def get_pictures(open_deciding: OpenDeciding) -> dict[str, Any]:
    """Return what the pictures show."""
    shown, learning = open_deciding.show(), describe_learning(open_deciding.session)
    told = {"precision": [], "relations": []} if shown.table is None else shown.table.told("pictures")
    return {"learning": learning, **told, "state": shown.state, "stale": shown.stale}


@deciding.post("/overrule")
def post_overrule(body: OverruleBody, open_deciding: OpenDeciding) -> dict[str, Any]:
    """Store the owner's word on a candidate: an answer, which overrules everybody's."""
    table = open_deciding.show().there()
    return overrule(open_deciding.session, open_deciding.wish, table, body.triple, body.said, body.key)


@deciding.get("/take")
def get_list(project: OpenProject) -> list[dict[str, Any]]:
    """Return what there is to take."""
    return [one.describe(project.folder) for one in list_taken(project)]


@deciding.get("/take/{file}")
def get_taken(project: OpenProject, file: Annotated[str, InPath(max_length=100)]) -> Response:
    """Return a file to take: one of those listed, never joined to a path before it is found there."""
    path = take(project, file)
    return FileResponse(path, media_type="application/octet-stream", filename=file)
