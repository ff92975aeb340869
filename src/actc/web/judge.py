"""The routes of people who judge: what the page can do, a program with a token can do too (``Authorization: Bearer``).

Every route is one call into the session.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Depends, HTTPException, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import AliasChoices, Field

from actc.session import Annotator, Judgement, Session
from actc.session.cards import make_card
from actc.session.lease_queue import Task
from actc.session.status import own_answers, picture, progress, what_is_left
from actc.web.access import JUDGE, KINDS, LARGEST, Key, Links, Strict, Who, checking, token_in
from actc.web.gate import Bucket

MOST_CARDS = 32
CACHED_CARDS = 2048
"""Cards that are cached: a page gets each several times, first ahead of time and then until it is answered."""
REFUSED: dict[int | str, dict[str, Any]] = {
    400: {"description": "A value that the session cannot take"},
    401: {"description": "No valid token"},
    409: {"description": "No card of theirs, nothing to undo, or otherwise refused by the session"},
    429: {"description": "Too many requests"},
}


class Pages:
    """A session as its pages show it; what many requests show is made once, and cached as the bytes that are sent.

    Parameters
    ----------
    session : Session
    links : Links
    address : str, optional
        By which address other machines reach the pages; None where they cannot.
    """

    def __init__(self, session: Session, links: Links, address: str | None = None) -> None:
        self.session, self.links, self.address = session, links, address
        self.paces = Bucket(rate=50, burst=200)
        self.aside = ThreadPoolExecutor(1, "aside")
        self.people: tuple[Any, float, dict[str, bytes]] = (None, 0.0, {})  # see owner.py
        self._picture = ("", b"")
        self._cards: tuple[Any, dict[Task, bytes]] = (None, {})

    def signed_in(self, request: Request, page: str) -> Annotator:
        """Return the annotator or the owner who asks for something of a page."""
        annotator = self.links.match(self.session, token_in(request, self.links.cookie(page)), KINDS[page])
        if annotator is None:
            raise HTTPException(401, "Open the page with your own link.")
        return annotator

    def picture(self, counts: dict[str, Any]) -> tuple[str, bytes]:
        """Return the picture after these counts (see ``progress``), and a name that another picture does not have."""
        last = self.session.store.value("SELECT max(id) FROM refit")
        # The advice depends on whether there is a label and whether the budget is spent: no other answer changes it.
        state = f"{last}.{counts['labels'] > 0:d}.{counts['done']:d}.{counts['budget']}"
        if self._picture[0] != state:
            self._picture = (state, to_bytes(picture(self.session)))
        return self._picture

    def cards(self, tasks: list[Task]) -> bytes:
        """Return the cards of some triples; made anew where names, reasons or texts were added since."""
        names, when = self.session.names, self.session.settings.reasons
        state = (when, names.version)
        if self._cards[0] != state:
            self._cards = (state, {})
        cached = self._cards[1]
        cards = {task: card for task in tasks if (card := cached.get(task)) is not None}
        new = [task for task in tasks if task not in cards]
        cards |= {task: to_bytes(make_card(names, task, when)) for task in new}
        cached |= cards
        for oldest in list(cached)[: max(0, len(cached) - CACHED_CARDS)]:
            cached.pop(oldest, None)
        return b"[" + b",".join(cards[task] for task in tasks) + b"]"


def to_bytes(value: Any) -> bytes:
    """Return a value as JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def send_json(**parts: Any) -> Response:
    """Answer with an object; parts that are bytes are JSON already."""
    named = (
        b'"%s":' % name.encode() + (part if isinstance(part, bytes) else to_bytes(part)) for name, part in parts.items()
    )
    return Response(b"{" + b",".join(named) + b"}", media_type="application/json")


async def pages_of(request: Request) -> Pages:  # a plain function would be handed to a thread and back
    """Return the session that is served."""
    pages: Pages = request.app.state.pages
    return pages


async def judge_of(request: Request) -> Annotator:
    """Return the annotator who asks, unless they ask too fast."""
    pages = await pages_of(request)
    judge = pages.signed_in(request, JUDGE)
    if not pages.paces.allows(judge.name):
        raise HTTPException(429, "Too many requests; wait a second.", {"Retry-After": "1"})
    return judge


Open = Annotated[Pages, Depends(pages_of)]


class JudgementBody(Strict):
    """One judgement, or the undoing of one."""

    answer: Literal["true", "false", "unsure", "undo"] = Field(validation_alias=AliasChoices("answer", "said"))
    triple: int | None = Field(None, ge=0, le=LARGEST)
    key: Key
    seconds: float | None = Field(None, ge=0, le=1e6, allow_inf_nan=False)
    note: str = Field("", max_length=2000)
    undoes: str | None = Field(None, max_length=64)


class ExchangeBody(Strict):
    """Judgements to store, in order, and how many cards shall be leased to the annotator afterwards."""

    judgements: list[JudgementBody] = Field(default_factory=list, max_length=100)
    cards: int = Field(0, ge=0, le=MOST_CARDS)


judging = APIRouter(prefix="/api", responses=REFUSED, route_class=checking(judge_of))


@judging.post("/exchange")
def exchange(body: ExchangeBody, pages: Open, judge: Who) -> Response:
    """Store judgements and return the cards that are leased to the annotator; all is on the disk when this answers."""
    session, judgements = pages.session, [Judgement(**one.model_dump()) for one in body.judgements]
    recorded, tasks = session.exchange(judge, judgements, body.cards)
    left = "more" if tasks else what_is_left(session, judge)
    counts = progress(session, judge) | {"left": left}
    return send_json(recorded=recorded, cards=pages.cards(tasks), progress=counts)


@judging.get("/picture")
async def get_picture(pages: Open, judge: Who, have: Annotated[str, Query(max_length=64)] = "") -> Response:
    """Return progress and what came of the answers so far; no picture, where ``have`` is the state of the latest.

    Every page looks every two seconds, so this is done at once: to hand it to a thread takes longer.
    """
    counts = progress(pages.session, judge)
    state, picture = pages.picture(counts)
    return send_json(
        session=pages.links.cookie(JUDGE),
        name=judge.name,
        title=pages.session.settings.title,
        progress=counts,
        state=state,
        picture=None if have == state else picture,
    )


@judging.get("/guidelines")
def get_guidelines(pages: Open, judge: Who) -> dict[str, str]:
    """Return what the owner wants annotators to know, as Markdown; empty if nothing."""
    return {"text": pages.session.settings.guidelines}


@judging.get("/answers")
def get_answers(pages: Open, judge: Who, most: Annotated[int, Query(ge=1, le=500)] = 100) -> list[dict[str, Any]]:
    """Return the annotator's own current answers, newest first, so that they can change their mind."""
    return own_answers(pages.session, judge, most)


@judging.post("/more")
def judge_more(
    pages: Open, judge: Who, triples: Annotated[int, Body(embed=True, ge=1, le=1000)] = 50
) -> dict[str, Any]:
    """Let somebody who judges alone go on when the budget is spent."""
    pages.session.raise_budget(judge, triples)
    return progress(pages.session, judge)


@judging.get("/openapi.json", include_in_schema=False)
async def describe_routes(request: Request, judge: Who) -> Response:
    """Return what a program can ask for."""
    return JSONResponse(request.app.openapi())
