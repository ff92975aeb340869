"""What the routes of annotators and of the owner share: who asks, bodies without unknown fields."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field

from actc.session import Annotator, Session
from actc.web.kept import Kept
from actc.web.links import JUDGE_COOKIE, OWNER_COOKIE, Links

LARGEST = 2**62
Key = Annotated[str, Field(min_length=1, max_length=64, pattern="^[A-Za-z0-9_.-]+$")]
"""A sender's own name for something to be stored: sent twice, it is stored once."""


class Strict(BaseModel):
    """A body without unknown fields."""

    model_config = ConfigDict(extra="forbid")


def session_of(request: Request) -> Session:
    """Return the session that is served."""
    session: Session = request.app.state.session
    return session


def links_of(request: Request) -> Links:
    """Return its links."""
    links: Links = request.app.state.links
    return links


# What FastAPI finds out for a request: plain functions would each be handed to a thread and back.
async def _session(request: Request) -> Session:
    return session_of(request)


async def _links(request: Request) -> Links:
    return links_of(request)


async def _kept(request: Request) -> Kept:
    kept: Kept = request.app.state.kept
    return kept


async def judge_of(request: Request) -> Annotator:
    """Return the annotator who asks, unless they ask too fast."""
    judge = _signed_in(request, "person", JUDGE_COOKIE)
    if not request.app.state.paces.allows(judge.name):
        raise HTTPException(429, "Too many requests; wait a second.", {"Retry-After": "1"})
    return judge


async def owner_of(request: Request) -> Annotator:
    """Return the owner, if it is the owner who asks."""
    return _signed_in(request, "owner", OWNER_COOKIE)


async def anybody_of(request: Request) -> Annotator:
    """Return whoever asks: an annotator, or the owner."""
    try:
        return _signed_in(request, "person", JUDGE_COOKIE)
    except HTTPException:
        return _signed_in(request, "owner", OWNER_COOKIE)


def _signed_in(request: Request, kind: str, role: str) -> Annotator:
    links = links_of(request)
    annotator = links.find(session_of(request), bearer(request) or request.cookies.get(links.cookie(role), ""), kind)
    if annotator is None:
        raise HTTPException(401, "Open the page with your own link.")
    return annotator


def bearer(request: Request) -> str:
    """Return the token that a program sends with a request; empty, if none."""
    return request.headers.get("authorization", "").removeprefix("Bearer ").strip()


def checking(check: Callable[[Request], Awaitable[Any]]) -> type[APIRoute]:
    """Return a kind of route that checks who asks before it reads anything else of a request; FastAPI does it last."""

    class Checking(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def check_and_handle(request: Request) -> Response:
                request.state.who = await check(request)
                return await handle(request)

            return check_and_handle

    return Checking


async def _who(request: Request) -> Annotator:
    who: Annotator = request.state.who
    return who


Open = Annotated[Session, Depends(_session)]
OpenLinks = Annotated[Links, Depends(_links)]
OpenKept = Annotated[Kept, Depends(_kept)]
Anybody = Annotated[Annotator, Depends(anybody_of)]
Who = Annotated[Annotator, Depends(_who)]
"""Whoever a route's kind let in: see :func:`checking`."""
REFUSED: dict[int | str, dict[str, Any]] = {
    400: {"description": "A value that the session cannot take"},
    401: {"description": "No valid token"},
    409: {"description": "Not asked, nothing to undo, or otherwise refused by the session"},
    429: {"description": "Too many requests"},
}
