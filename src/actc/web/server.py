"""The routes: what the pages can do, a program with a token can do too (``Authorization: Bearer TOKEN``).

Every route is one call into the session. The server holds no state of its own: what it acknowledges is on the disk,
and it may be killed at any moment.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import APIRouter, FastAPI, HTTPException, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import Field
from starlette.exceptions import HTTPException as StarletteHTTPException

from actc import __version__
from actc.data.deliver import NO_ROOM
from actc.data.pages import render
from actc.errors import ActcError, OptionError, SessionError
from actc.session import Judgement, Session
from actc.session.record import is_storable
from actc.session.status import all_relations, own_answers, progress, what_is_left
from actc.web.common import (
    LARGEST,
    REFUSED,
    Anybody,
    Key,
    Open,
    OpenKept,
    OpenLinks,
    Strict,
    Who,
    checking,
    judge_of,
    links_of,
    session_of,
)
from actc.web.files import read_files, send_file
from actc.web.gate import Bucket, Gate, loopback_names, name_for_others
from actc.web.kept import Kept, send_json
from actc.web.links import JUDGE_COOKIE, OWNER_COOKIE, Links
from actc.web.owner import owning

MOST_CARDS = 32
THREADS = 8
"""Answers that are stored at once: those that wait for the disk together share a sync."""


class JudgementBody(Strict):
    """One judgement, or the undoing of one."""

    said: Literal["true", "false", "unsure", "undo"]
    triple: int | None = Field(None, ge=0, le=LARGEST)
    key: Key
    seconds: float | None = Field(None, ge=0, le=1e6, allow_inf_nan=False)
    note: str = Field("", max_length=2000)
    undoes: str | None = Field(None, max_length=64)


class MoreBody(Strict):
    """How many more triples to judge."""

    triples: int = Field(50, ge=1, le=1000)


class ExchangeBody(Strict):
    """Judgements to store, in order, and how many cards shall be leased to the annotator afterwards."""

    judgements: list[JudgementBody] = Field(default_factory=list, max_length=100)
    cards: int = Field(0, ge=0, le=MOST_CARDS)
    relation: str | None = Field(None, max_length=2000)


judging = APIRouter(prefix="/api", responses=REFUSED, route_class=checking(judge_of))
pages = APIRouter(include_in_schema=False)


@judging.post("/exchange")
def exchange(body: ExchangeBody, session: Open, kept: OpenKept, judge: Who) -> Response:
    """Store judgements and return the cards that are leased to the annotator; all is on the disk when this answers."""
    judgements = [Judgement(**one.model_dump()) for one in body.judgements]
    if body.relation is not None and not is_storable(body.relation):
        raise OptionError("The relation has half a character in it (a lone surrogate).")
    recorded, tasks = session.exchange(judge, judgements, body.cards, body.relation)
    left = "more" if tasks else what_is_left(session, judge, body.relation)
    counts = progress(session, judge) | {"left": left}
    return send_json(recorded=[vars(one) for one in recorded], cards=kept.cards(tasks), progress=counts)


@judging.get("/picture")
async def get_picture(
    session: Open, links: OpenLinks, kept: OpenKept, judge: Who, have: Annotated[str, Query(max_length=64)] = ""
) -> Response:
    """Return progress and what came of the answers so far; no picture, where ``have`` is the state of the latest.

    Every page looks every two seconds, so this is done at once: to hand it to a thread takes longer.
    """
    counts = progress(session, judge)
    state, picture = kept.picture(counts)
    return send_json(
        session=links.cookie(JUDGE_COOKIE),
        name=judge.name,
        title=session.title,
        progress=counts,
        state=state,
        picture=None if have == state else picture,
    )


@judging.get("/relations")
def get_relations(session: Open, judge: Who) -> list[dict[str, str]]:
    """Return the relations that an annotator may choose one of; none in an audit."""
    lines = [] if session.settings.is_audit else all_relations(session)
    return [{"relation": line["relation"], "name": line["name"]} for line in lines]


@judging.get("/guidelines")
def get_guidelines(session: Open, judge: Who) -> dict[str, str]:
    """Return what the owner wants annotators to know, as Markdown; empty if nothing."""
    return {"text": session.guidelines}


@judging.get("/answers")
def get_answers(session: Open, judge: Who, most: Annotated[int, Query(ge=1, le=500)] = 100) -> list[dict[str, Any]]:
    """Return the annotator's own standing answers, newest first, so that they can change their mind."""
    return own_answers(session, judge, most)


@judging.post("/more")
def judge_more(body: MoreBody, session: Open, judge: Who) -> JSONResponse:
    """Let somebody who judges alone go on when the budget is spent."""
    session.raise_budget(judge, body.triples)
    return JSONResponse(progress(session, judge))


@pages.get("/")
async def judge_page(request: Request) -> Response:
    """Return the annotator's page; it asks for its data itself."""
    return HTMLResponse(render("judge.html", files="files", back=request.app.state.back))


@pages.get("/owner")
async def owner_page(request: Request) -> Response:
    """Return the owner's page."""
    return HTMLResponse(render("owner.html", files="files"))


@pages.get("/openapi.json")
async def describe_routes(request: Request, somebody: Anybody) -> Response:
    """Return what a program can ask for, to whoever holds a link."""
    return JSONResponse(request.app.openapi())


@pages.get("/files/{name}")
async def get_file(request: Request, name: Annotated[str, Path(max_length=20)]) -> Response:
    """Return a script, a style or the icon: looked up among those there are, never joined to a path."""
    return send_file(request.app.state.files, name)


@pages.get("/j/{token}")
async def enter_as_judge(request: Request, token: Annotated[str, Path(max_length=64)]) -> Response:
    """Let an annotator in."""
    return _welcome(request, token, "person", JUDGE_COOKIE, "/")


@pages.get("/o/{token}")
async def enter_as_owner(request: Request, token: Annotated[str, Path(max_length=64)]) -> Response:
    """Let the owner in."""
    return _welcome(request, token, "owner", OWNER_COOKIE, "/owner")


def _welcome(request: Request, token: str, kind: str, role: str, target: str) -> Response:
    links = links_of(request)
    if links.find(session_of(request), token, kind) is None:
        raise HTTPException(404, "This link is not valid, or not any more. Ask the owner of the session for yours.")
    return welcome(request, links.cookie(role), token, links.place, target)


def welcome(request: Request, cookie: str, token: str, root: str, target: str) -> Response:
    """Let a page of ours carry a token on to where it leads, as a cookie of the pages under a root."""
    response = HTMLResponse(render("welcome.html", target=root + target, files=f"{root}/files"))
    response.set_cookie(
        cookie,
        token,
        path=root,
        max_age=30 * 86400,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return response


@asynccontextmanager
async def _few_threads(app: FastAPI) -> AsyncIterator[None]:
    """Let few threads do the work: they take turns anyway, and each keeps memory and connections."""
    to_thread.current_default_thread_limiter().total_tokens = THREADS
    yield


def create_app(session: Session, host: str = "127.0.0.1", root: str = "", back: str = "") -> FastAPI:
    """Return the application over a session.

    Parameters
    ----------
    session : Session
        What is served.
    host : str
        The address it will listen on, which decides the names it answers to.
    root : str
        What the paths of its pages begin with, where another application has it mounted there.
    back : str
        Where somebody who judges alone goes back to when all cards are judged; nowhere, if empty.
    """
    title = "actc annotation session"
    app = FastAPI(title=title, version=__version__, openapi_url=None, lifespan=_few_threads)
    app.state.session = session
    app.state.links = Links.of(session.folder, root)
    app.state.back = back
    app.state.kept = Kept(session)
    app.state.others = name_for_others(host)
    app.state.people = (None, False, 0.0, {})
    app.state.aside = ThreadPoolExecutor(1, "aside")
    app.state.paces = Bucket(rate=50, burst=200)
    app.state.files = read_files("actc.web")
    app.add_middleware(Gate, hosts=loopback_names(host), place=app.state.links.place)
    for router in (judging, owning, pages):
        app.include_router(router)
    add_refusals(app)
    return app


def add_refusals(app: FastAPI) -> None:
    """Let an application say what is refused: to people on a page, to programs as JSON."""
    app.add_exception_handler(ActcError, _refuse)
    app.add_exception_handler(OSError, _no_room)
    app.add_exception_handler(sqlite3.OperationalError, _no_room)
    app.add_exception_handler(StarletteHTTPException, _sorry)
    app.add_exception_handler(RequestValidationError, _refuse_body)


def _sorry(request: Request, error: Exception) -> Response:
    """Answer a browser that went to a wrong place with a page, and a program with JSON."""
    assert isinstance(error, StarletteHTTPException)
    asks_for_page = request.method == "GET" and "text/html" in request.headers.get("accept", "")
    root = request.scope.get("root_path", "")
    path = request.url.path.removeprefix(root)
    if not asks_for_page or path.startswith(("/api", "/files")):
        return JSONResponse({"detail": error.detail}, error.status_code, error.headers)
    title = "There is no such page" if error.status_code == 404 else "This did not work"
    if path.startswith(("/j/", "/o/", "/s/")) and error.status_code == 404:
        title = "This link does not work"
    text = "" if error.detail == "Not Found" else error.detail
    page = render("sorry.html", title=title, text=text, files=f"{root}/files")
    return HTMLResponse(page, error.status_code, error.headers)


def _refuse_body(request: Request, error: Exception) -> Response:
    """Say what is wrong with a body, without saying it back: it may hold what no answer can, half a character."""
    assert isinstance(error, RequestValidationError)
    problems = [{"loc": [str(part) for part in one["loc"]], "msg": str(one["msg"])} for one in error.errors()]
    # In ASCII, with escapes: a key of the body may be anything as well.
    return Response(json.dumps({"detail": problems}), 422, media_type="application/json")


def _refuse(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, 409 if isinstance(error, SessionError) else 400)


def _no_room(request: Request, error: Exception) -> JSONResponse:
    """Say that the disk is full; what a page could not send it keeps, and sends again."""
    full = error.errno in NO_ROOM if isinstance(error, OSError) else str(error) == "database or disk is full"
    if not full:
        raise error
    return JSONResponse({"detail": "The disk of the server is full, so nothing was stored; make room on it."}, 507)
