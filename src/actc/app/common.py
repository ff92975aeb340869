"""What the routes of annotators and of the owner share: who asks, bodies without unknown fields, the picture."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Request
from pydantic import BaseModel, ConfigDict, Field

from actc.app.links import JUDGE_COOKIE, OWNER_COOKIE, Links
from actc.session import Annotator, Session
from actc.session.status import count_labels, picture

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


def same_picture(app: FastAPI, session: Session) -> dict[str, Any]:
    """Return the picture, drawn once for everybody who looks at it."""
    labels, budget = count_labels(session), session.budget
    # The advice says whether there is a label, and whether the budget is spent: no other answer changes the picture.
    state = (session.store.value("SELECT max(id) FROM outlook"), labels > 0, labels >= budget, budget)
    if app.state.picture[0] != state:
        app.state.picture = (state, picture(session))
    return app.state.picture[1]  # type: ignore[no-any-return]
