"""The routes: what the pages can do, a program with a token can do too (``Authorization: Bearer TOKEN``).

Every route is one call into the session. The server holds no state of its own: what it acknowledges is on the disk,
and it may be killed at any moment.
"""

from __future__ import annotations

import json
import tempfile
import time
from html import escape
from importlib.resources import files
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException as StarletteHTTPException

from actc import __version__
from actc.app.gate import Bucket, Gate, loopback_names
from actc.app.links import JUDGE_COOKIE, OWNER_COOKIE, Links
from actc.errors import ActcError, SessionError
from actc.session import Annotator, Judgement, Session
from actc.session.cards import make_card
from actc.session.exchange import write_history, write_labels
from actc.session.status import agreement, count_labels, disagreements, history, people, picture, progress, what_is_left

MOST_CARDS = 32
LARGEST = 2**62
LONG, PAUSES = 0.2, 10  # what takes longer than so many seconds is done again after so many times as long
FILES = {
    "judge.js": "text/javascript; charset=utf-8",
    "owner.js": "text/javascript; charset=utf-8",
    "draw.js": "text/javascript; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
# What a person sees where there is no page; programs get the same sentence as JSON.
SORRY = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} · actc</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    '<meta name="color-scheme" content="light dark"><link rel="icon" href="/files/icon.svg">'
    '<link rel="stylesheet" href="/files/page.css"></head><body class="sorry"><main class="card message">'
    "<h1>{title}</h1><p>{text}</p></main></body></html>"
)
# A cookie that is sent to our own pages only would not follow a redirect from a mail or a chat; a page of ours that
# goes on by itself carries it, and takes the token out of the address bar.
WELCOME = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>actc</title>'
    '<link rel="icon" href="/files/icon.svg">'
    '<meta http-equiv="refresh" content="0; url={target}"><p><a href="{target}">Go on</a></p></html>'
)


class Strict(BaseModel):
    """A body without unknown fields."""

    model_config = ConfigDict(extra="forbid")


class JudgementBody(Strict):
    """One judgement, or the undoing of one."""

    said: Literal["true", "false", "unsure", "undo"]
    triple: int | None = Field(None, ge=0, le=LARGEST)
    key: str = Field(min_length=1, max_length=64, pattern="^[A-Za-z0-9_.-]+$")
    seconds: float | None = Field(None, ge=0, le=1e6, allow_inf_nan=False)
    note: str = Field("", max_length=2000)
    undoes: str | None = Field(None, max_length=64)


class ExchangeBody(Strict):
    """Judgements to store, in order, and how many cards the annotator wants to hold afterwards."""

    judgements: list[JudgementBody] = Field(default_factory=list, max_length=100)
    cards: int = Field(0, ge=0, le=MOST_CARDS)


class SettleBody(Strict):
    """The owner's decision on a triple."""

    triple: int = Field(ge=0, le=LARGEST)
    said: Literal["true", "false", "unsure"]
    key: str = Field(min_length=1, max_length=64, pattern="^[A-Za-z0-9_.-]+$")
    note: str = Field("", max_length=2000)


class AnnotatorBody(Strict):
    """A new annotator."""

    name: str = Field(min_length=1, max_length=80)


class LinkBody(Strict):
    """Whose link, and what becomes of it."""

    name: str = Field(min_length=1, max_length=80)
    void: bool


class PauseBody(Strict):
    """Whether everybody waits."""

    paused: bool


class BudgetBody(Strict):
    """A new budget."""

    budget: int = Field(ge=1, le=1_000_000_000)


def session_of(request: Request) -> Session:
    """Return the session that is served."""
    session: Session = request.app.state.session
    return session


def links_of(request: Request) -> Links:
    """Return its links."""
    links: Links = request.app.state.links
    return links


async def judge_of(request: Request) -> Annotator:
    """Return the annotator who asks, unless they ask too fast."""
    judge = _signed_in(request, "person", JUDGE_COOKIE)
    if not request.app.state.paces.allows(judge.name):
        raise HTTPException(429, "Too many requests; wait a second.", {"Retry-After": "1"})
    return judge


async def owner_of(request: Request) -> Annotator:
    """Return the owner, if it is the owner who asks."""
    return _signed_in(request, "owner", OWNER_COOKIE)


def _signed_in(request: Request, kind: str, role: str) -> Annotator:
    links = links_of(request)
    token = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
    token = token or request.cookies.get(links.cookie(role), "")
    annotator = links.find(session_of(request), token, kind) if token else None
    if annotator is None:
        raise HTTPException(401, "Open the page with your own link.")
    return annotator


Open = Annotated[Session, Depends(session_of)]
OpenLinks = Annotated[Links, Depends(links_of)]
Judge = Annotated[Annotator, Depends(judge_of)]
Owner = Annotated[Annotator, Depends(owner_of)]
REFUSED: dict[int | str, dict[str, Any]] = {
    400: {"description": "A value that the session cannot take"},
    401: {"description": "No valid token"},
    409: {"description": "Not asked, nothing to undo, or otherwise refused by the session"},
    429: {"description": "Too many requests"},
}
judging = APIRouter(prefix="/api", responses=REFUSED)
owning = APIRouter(prefix="/api/owner", responses=REFUSED)
pages = APIRouter(include_in_schema=False)


@judging.post("/exchange")
def exchange(body: ExchangeBody, session: Open, judge: Judge) -> JSONResponse:
    """Store judgements and return the cards that the annotator holds; everything is on the disk when this answers."""
    judgements = [Judgement(**one.model_dump()) for one in body.judgements]
    recorded, tasks = session.exchange(judge, judgements, body.cards)
    return JSONResponse(
        {
            "recorded": [vars(one) for one in recorded],
            "cards": [make_card(session.names, task, session.settings.show_score) for task in tasks],
            "progress": progress(session, judge) | {"left": "more" if tasks else what_is_left(session, judge)},
        }
    )


@judging.get("/picture")
def get_picture(request: Request, session: Open, links: OpenLinks, judge: Judge) -> JSONResponse:
    """Return progress and what came of the answers so far."""
    return JSONResponse(
        {
            "session": links.cookie(JUDGE_COOKIE),
            "name": judge.name,
            "title": session.settings.title,
            "progress": progress(session, judge),
            "picture": _same_picture(request.app, session),
        }
    )


@judging.get("/guidelines")
def get_guidelines(session: Open, judge: Judge) -> dict[str, str]:
    """Return what the owner wants annotators to know, as Markdown; empty if nothing."""
    return {"text": session.settings.guidelines}


def _same_picture(app: FastAPI, session: Session) -> dict[str, Any]:
    """Return the picture, drawn once for everybody who looks at it."""
    state = (session.store.value("SELECT max(id) FROM outlook"), count_labels(session), session.budget)
    if app.state.picture[0] != state:
        app.state.picture = (state, picture(session))
    return app.state.picture[1]  # type: ignore[no-any-return]


@judging.get("/history")
def get_history(session: Open, judge: Judge, most: Annotated[int, Query(ge=1, le=500)] = 50) -> list[dict[str, Any]]:
    """Return the annotator's own judgements, newest first; not what tells a repeat, nor what the model thought."""
    hidden = ("purpose", "probability", "shown")
    lines = history(session, judge, most)
    return [{name: value for name, value in line.items() if name not in hidden} for line in lines]


@owning.get("")
def get_overview(request: Request, session: Open, links: OpenLinks, owner: Owner) -> JSONResponse:
    """Return everything about the session: progress, people, agreement, disagreements."""
    return JSONResponse(
        {
            "title": session.settings.title,
            "settings": vars(session.settings),
            "paused": session.paused,
            "progress": progress(session),
            "picture": _same_picture(request.app, session),
            **_recent_people(request.app, session, links),
        }
    )


def _recent_people(app: FastAPI, session: Session, links: Links) -> dict[str, Any]:
    """Return who judged how, and where they differ: anew, unless that took long and was done a moment ago.

    The page asks every two seconds; after 50,000 answers each time takes a good part of one.
    """
    state, now = (len(session.annotators()), _settled(session)), time.monotonic()
    if app.state.people[:2] != (state, True) or now > app.state.people[2]:
        everybody = session.annotators()
        lines = [
            line | {"link": None if one.kind == "program" or one.link < 0 else links.path(one)}
            for line, one in zip(people(session, everybody), everybody, strict=True)
        ]
        found = {"people": lines, "agreement": agreement(session), "disagreements": disagreements(session)}
        took = time.monotonic() - now
        app.state.people = (state, took > LONG, time.monotonic() + PAUSES * took, found)
    return app.state.people[3]  # type: ignore[no-any-return]


def _settled(session: Session) -> int:
    """Return how many decisions the owner made: each is to be seen at once."""
    return int(session.store.value("SELECT sum(judged) FROM annotator WHERE kind = 'owner'") or 0)


@owning.get("/history")
def get_everything(
    session: Open, owner: Owner, most: Annotated[int, Query(ge=1, le=100_000)] = 200
) -> list[dict[str, Any]]:
    """Return the judgements of everybody, newest first."""
    return history(session, None, most)


@owning.post("/settle")
def settle(body: SettleBody, session: Open, owner: Owner) -> dict[str, Any]:
    """Decide a triple on which people differ."""
    return vars(session.settle(body.triple, body.said, body.key, body.note))


@owning.post("/annotators")
def add_annotator(body: AnnotatorBody, session: Open, links: OpenLinks, owner: Owner) -> dict[str, str]:
    """Add an annotator and return their link."""
    annotator = session.add_annotator(body.name)
    return {"name": annotator.name, "link": links.path(annotator)}


@owning.post("/link")
def change_link(body: LinkBody, session: Open, links: OpenLinks, owner: Owner) -> dict[str, str | None]:
    """Make an annotator's link void, or give them a new one."""
    annotator = session.change_link(body.name, body.void)
    return {"name": annotator.name, "link": None if body.void else links.path(annotator)}


@owning.post("/pause")
def set_paused(body: PauseBody, session: Open, owner: Owner) -> dict[str, bool]:
    """Let everybody wait, or go on."""
    session.set_paused(body.paused)
    return {"paused": session.paused}


@owning.get("/download/{name}")
def download(name: Literal["labels.tsv", "history.jsonl"], session: Open, owner: Owner) -> Response:
    """Return one label per judged triple, or everything that was ever said, as a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = FilePath(folder) / name
        (write_labels if name == "labels.tsv" else write_history)(session, path)
        content = path.read_bytes()
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type="application/octet-stream", headers=headers)


@owning.post("/budget")
def set_budget(body: BudgetBody, session: Open, owner: Owner) -> dict[str, Any]:
    """Change the budget."""
    session.set_budget(body.budget)
    return progress(session)


@pages.get("/")
async def judge_page(request: Request) -> Response:
    """Return the annotator's page; it asks for its data itself."""
    return HTMLResponse(request.app.state.files["judge.html"])


@pages.get("/owner")
async def owner_page(request: Request) -> Response:
    """Return the owner's page."""
    return HTMLResponse(request.app.state.files["owner.html"])


@pages.get("/files/{name}")
async def get_file(request: Request, name: Annotated[str, Path(max_length=20)]) -> Response:
    """Return a script, a style or the icon: looked up among those there are, never joined to a path."""
    if name not in FILES:
        raise HTTPException(404, "There is no such file.")
    return Response(request.app.state.files[name], media_type=FILES[name])


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
        if not request.app.state.guesses.allows(request.client.host if request.client else ""):
            raise HTTPException(429, "Too many wrong links; wait a minute.", {"Retry-After": "60"})
        raise HTTPException(404, "This link is not valid, or not any more. Ask the owner of the session for yours.")
    response = HTMLResponse(WELCOME.format(target=target))
    response.set_cookie(
        links.cookie(role),
        token,
        max_age=30 * 86400,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return response


def create_app(session: Session, host: str = "127.0.0.1") -> FastAPI:
    """Return the application over a session.

    Parameters
    ----------
    session : Session
        What is served.
    host : str
        The address it will listen on, which decides the names it answers to.
    """
    app = FastAPI(title="actc annotation session", version=__version__, docs_url=None, redoc_url=None)
    folder = files("actc.app")
    app.state.session = session
    app.state.links = Links.of(session.folder)
    app.state.picture = (None, None)
    app.state.people = (None, False, 0.0, {})
    app.state.paces = Bucket(rate=50, burst=200)
    app.state.guesses = Bucket(rate=1 / 6, burst=20)
    app.state.files = {name: folder.joinpath(name).read_bytes() for name in (*FILES, "judge.html", "owner.html")}
    app.add_middleware(Gate, hosts=loopback_names(host))
    for router in (judging, owning, pages):
        app.include_router(router)
    app.add_exception_handler(ActcError, _refuse)
    app.add_exception_handler(StarletteHTTPException, _sorry)
    app.add_exception_handler(RequestValidationError, _refuse_body)
    return app


def _sorry(request: Request, error: Exception) -> Response:
    """Answer a browser that went to a wrong place with a page, and a program with JSON."""
    assert isinstance(error, StarletteHTTPException)
    asks_for_page = request.method == "GET" and "text/html" in request.headers.get("accept", "")
    if not asks_for_page or request.url.path.startswith(("/api", "/files")):
        return JSONResponse({"detail": error.detail}, error.status_code, error.headers)
    title = {404: "There is no such page", 429: "Please wait"}.get(error.status_code, "This did not work")
    if request.url.path.startswith(("/j/", "/o/")) and error.status_code == 404:
        title = "This link does not work"
    text = "" if error.detail == "Not Found" else error.detail
    return HTMLResponse(SORRY.format(title=title, text=escape(text)), error.status_code, error.headers)


def _refuse_body(request: Request, error: Exception) -> Response:
    """Say what is wrong with a body, without saying it back: it may hold what no answer can, half a character."""
    assert isinstance(error, RequestValidationError)
    problems = [{"loc": [str(part) for part in one["loc"]], "msg": str(one["msg"])} for one in error.errors()]
    # In ASCII, with escapes: a key of the body may be anything as well.
    return Response(json.dumps({"detail": problems}), 422, media_type="application/json")


def _refuse(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, 409 if isinstance(error, SessionError) else 400)
