"""The server of a session: its pages, their files, and what it answers where something is refused.

The server holds no state of its own: what it acknowledges is on the disk, and it may be killed at any moment.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import files
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, FastAPI, HTTPException, Path, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import ValidationError
from starlette.exceptions import HTTPException as StarletteHTTPException

from actc import __version__
from actc.data.deliver import NO_ROOM
from actc.data.text_files import read_template, render
from actc.errors import ActcError, SessionError
from actc.session import Session
from actc.web.access import JUDGE, KINDS, OWNER_PAGE, Gate, Links, welcome
from actc.web.routes import Open, Pages, judging, owning

THREADS = 8
"""Answers that are stored at once: those that wait for the disk together share a sync."""
FILES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
STYLES = ("page.css", "app.css", "studio.css")
everybody = APIRouter(include_in_schema=False)


@everybody.get("/")
async def judge_page(request: Request) -> Response:
    """Return the annotator's page; it asks for its data itself."""
    return HTMLResponse(render("judge.html", files="files", back=request.app.state.back))


@everybody.get("/owner")
async def owner_page() -> Response:
    """Return the owner's page."""
    return HTMLResponse(render("owner.html", files="files"))


@everybody.get("/files/{name:path}")
async def get_file(name: Annotated[str, Path(max_length=40)]) -> Response:
    """Return a script, a style or the icon: looked up among those there are, never joined to a path."""
    if name not in read_files():
        raise HTTPException(404, "There is no such file.")
    return Response(read_files()[name], media_type=FILES[f".{name.rpartition('.')[2]}"])


@cache
def read_files() -> dict[str, bytes]:
    """Return the scripts, styles and icons that pages ask for, by their paths."""
    contents = {name: read_template(name).encode() for name in STYLES}
    for folder in ("", "studio/", "vendor/"):
        for part in files("actc.web").joinpath(folder).iterdir():
            if part.name.endswith(tuple(FILES)):
                contents[folder + part.name] = part.read_bytes()
    return contents


@everybody.get("/j/{token}")
async def enter_as_judge(request: Request, pages: Open, token: Annotated[str, Path(max_length=64)]) -> Response:
    """Let an annotator in."""
    return _enter(request, pages, token, JUDGE, "/")


@everybody.get("/o/{token}")
async def enter_as_owner(request: Request, pages: Open, token: Annotated[str, Path(max_length=64)]) -> Response:
    """Let the owner in."""
    return _enter(request, pages, token, OWNER_PAGE, "/owner")


def _enter(request: Request, pages: Pages, token: str, page: str, target: str) -> Response:
    if pages.links.match(pages.session, token, KINDS[page]) is None:
        raise HTTPException(404, "This link is not valid, or not any more. Ask the owner of the session for yours.")
    return welcome(request, pages.links.cookie(page), token, pages.links.place, target)


@asynccontextmanager
async def _few_threads(app: FastAPI) -> AsyncIterator[None]:
    """Let few threads do the work: they take turns anyway, and each keeps memory and connections."""
    to_thread.current_default_thread_limiter().total_tokens = THREADS
    yield


def create_app(
    session: Session, host: str = "127.0.0.1", root: str = "", back: str = "", address: str | None = None
) -> FastAPI:
    """Return the application over a session.

    Parameters
    ----------
    session : Session
        What is served.
    host : str
        Where it will listen, which decides the names it answers to.
    root : str
        What the paths of its pages begin with, where another application has it mounted there.
    back : str
        Where somebody who judges alone goes back to when all cards are judged; nowhere, if empty.
    address : str, optional
        By which address other machines reach it.
    """
    app = FastAPI(title="actc annotation session", version=__version__, openapi_url=None, lifespan=_few_threads)
    links = Links.of(session.folder, root)
    app.state.pages, app.state.back, app.state.address = Pages(session, links, address), back, address
    app.add_middleware(Gate, host=host, place=links.place, public=address)
    for router in (judging, owning, everybody):
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
    app.add_exception_handler(ValidationError, _refuse_body)


def _sorry(request: Request, error: Exception) -> Response:
    """Answer a browser that went to a wrong place with a page, and a program with JSON."""
    assert isinstance(error, StarletteHTTPException)
    asks_for_page = request.method == "GET" and "text/html" in request.headers.get("accept", "")
    root = request.scope.get("root_path", "")
    path = request.url.path.removeprefix(root)
    if not asks_for_page or path.startswith(("/api", "/files")):
        return JSONResponse({"detail": error.detail}, error.status_code, error.headers)
    text = error.detail.replace("Not Found", "There is no such page.")
    page = render("sorry.html", title="This did not work", text=text, files=f"{root}/files")
    return HTMLResponse(page, error.status_code, error.headers)


def _refuse_body(request: Request, error: Exception) -> Response:
    """Describe what is wrong with a body, without its values: it may hold what no answer can, half a character."""
    assert isinstance(error, RequestValidationError | ValidationError)
    problems = [
        {"loc": [str(part) for part in one["loc"]], "msg": str(one["msg"]).removeprefix("Value error, ")}
        for one in error.errors()
    ]
    # In ASCII, with escapes: a key of the body may be anything as well.
    return Response(json.dumps({"detail": problems}), 422, media_type="application/json")


def _refuse(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, 409 if isinstance(error, SessionError) else 400)


def _no_room(request: Request, error: Exception) -> JSONResponse:
    """Answer that the disk is full; a page keeps what it could not send, and sends it again."""
    full = error.errno in NO_ROOM if isinstance(error, OSError) else str(error) == "database or disk is full"
    if not full:
        raise error
    return JSONResponse({"detail": "The disk of the server is full, so nothing was stored; make room on it."}, 507)
