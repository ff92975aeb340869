"""The routes of people who judge and of the owner: what a page can do, a program with a token can do too.

It sends the token as ``Authorization: Bearer``. Every route is one call into the session.
"""

from __future__ import annotations

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Depends, HTTPException, Path, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import AliasChoices, Field

from actc.errors import OptionError
from actc.session import Annotator, Judgement, Session
from actc.session.cards import make_card
from actc.session.lease_queue import Task
from actc.session.machines import ANSWER_FIELDS
from actc.session.processes import make_file
from actc.session.status import (
    agreement,
    count_reviews,
    list_reviews,
    own_answers,
    people,
    picture,
    progress,
    show_review,
    what_is_left,
)
from actc.web.access import JUDGE, KINDS, LARGEST, OWNER_PAGE, Bucket, Key, Links, Strict, Who, checking, token_in

MOST_CARDS = 32
CACHED_CARDS = 2048
"""Cards that are cached: a page gets each several times, first ahead of time and then until it is answered."""
LAST_OF_OWNER = "SELECT max(id) FROM judgement WHERE annotator IN (SELECT id FROM annotator WHERE kind = 'owner')"
LONG, PAUSES = 0.2, 30  # seconds; a result that took longer is cached for so many times as long as it took
REFUSED: dict[int | str, dict[str, Any]] = {
    400: {"description": "A value that the session cannot take"},
    401: {"description": "No valid token"},
    409: {"description": "No card of theirs, nothing to undo, or otherwise refused by the session"},
    429: {"description": "Too many requests"},
}


class Pages:
    """A session as its pages show it; what many requests show is made once, and cached as the bytes that are sent."""

    def __init__(self, session: Session, links: Links, address: str | None = None) -> None:
        self.session, self.links, self.address = session, links, address
        self.paces = Bucket(rate=50, burst=200)
        self.aside = ThreadPoolExecutor(1, "aside")
        self.people: tuple[Any, float, dict[str, bytes]] = (None, 0.0, {})  # see owner.py
        self._picture = lru_cache(1)(lambda state: to_bytes(picture(session)))
        self._card = lru_cache(CACHED_CARDS)(
            lambda task, when, version: to_bytes(make_card(session.names, task, when))  # of these names alone
        )

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
        return state, self._picture(state)

    def cards(self, tasks: list[Task]) -> bytes:
        """Return the cards of some triples; made anew where names, reasons or texts were added since."""
        when, version = self.session.settings.reasons, self.session.names.version
        return b"[" + b",".join(self._card(task, when, version) for task in tasks) + b"]"


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

    answer: Annotated[Literal["true", "false", "unsure", "undo"], Field(validation_alias=AliasChoices(*ANSWER_FIELDS))]
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
def get_guidelines(pages: Open) -> dict[str, str]:
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
async def describe_routes(request: Request) -> Response:
    """Return what a program can ask for."""
    return JSONResponse(request.app.openapi())


# ---------------------------------------------------------------- the owner


async def owner_of(request: Request) -> Annotator:
    """Return the owner, if it is the owner who asks."""
    return (await pages_of(request)).signed_in(request, OWNER_PAGE)


owning = APIRouter(prefix="/api/owner", responses=REFUSED, route_class=checking(owner_of))


class PersonBody(Strict):
    """Who gets a link, a new one or none."""

    name: str = Field(min_length=1, max_length=80)
    void: bool = False


class ChangeBody(Strict):
    """What holds for everybody from now on; what is not named stays."""

    paused: bool | None = None
    budget: int | None = Field(None, ge=1, le=1_000_000_000)
    overlap: float | None = Field(None, ge=0, le=1, allow_inf_nan=False)


@owning.get("")
async def get_overview(pages: Open) -> Response:
    """Return everything about the session: progress, people, agreement, what waits for the owner."""
    # All of them in one thread of its own: annotators' threads stay free, and only one keeps the memory that it takes.
    lines = await asyncio.get_running_loop().run_in_executor(pages.aside, recent_people, pages)
    session, counts = pages.session, progress(pages.session)
    return send_json(
        settings=vars(session.settings),
        trouble=session.read_failure(),
        address=pages.address,
        progress=counts,
        picture=pages.picture(counts)[1],
        **lines,
    )


def recent_people(pages: Pages) -> dict[str, bytes]:
    """Return who judged how, and where they differ: anew, unless that took long and was done a moment ago.

    The page asks every two seconds; after 50,000 answers of 200 people each time takes about one, and others wait.
    """
    session, now = pages.session, time.monotonic()
    everybody = session.annotators()
    # The owner's judgements are to be seen at once.
    state = (everybody, session.store.value(LAST_OF_OWNER))
    if pages.people[0] != state or now > pages.people[1]:
        lines = [
            line | {"link": None if one.link < 0 else pages.links.path(one)}
            for line, one in zip(people(session, everybody), everybody, strict=True)
        ]
        content = {"people": lines, "agreement": agreement(session), "review": count_reviews(session)}
        took = time.monotonic() - now
        until = time.monotonic() + (PAUSES * took if took > LONG else -1.0)
        pages.people = (state, until, {name: to_bytes(part) for name, part in content.items()})
    return pages.people[2]


@owning.get("/review/{kind}")
def get_reviews(
    kind: Literal["differ", "unsure", "noted"],
    pages: Open,
    most: Annotated[int, Query(ge=1, le=500)] = 50,
) -> list[dict[str, Any]]:
    """Return triples to look at: where people differ, what nobody could decide, or what has a note."""
    return list_reviews(pages.session, kind, most)


@owning.get("/card/{triple}")
def get_card(triple: Annotated[int, Path(ge=0, le=LARGEST)], pages: Open) -> dict[str, Any]:
    """Return the whole card of a triple, and who answered what."""
    return show_review(pages.session, triple)


@owning.post("/settle")
def settle(body: JudgementBody, pages: Open) -> dict[str, Any]:
    """Decide a triple on which people differ; "undo" takes back the last decision, or the one stored under a key."""
    if body.answer != "undo" and body.triple is None:
        raise OptionError("A decision is about a triple: give its number.")
    return pages.session.settle(Judgement(**body.model_dump()))


@owning.post("/annotators")
def add_annotator(body: PersonBody, pages: Open) -> dict[str, str]:
    """Add an annotator and return their link."""
    annotator = pages.session.add_annotator(body.name)
    return {"name": annotator.name, "link": pages.links.path(annotator)}


@owning.post("/link")
def change_link(body: PersonBody, pages: Open) -> dict[str, str | None]:
    """Make an annotator's link void, or give them a new one."""
    annotator = pages.session.change_link(body.name, body.void)
    return {"name": annotator.name, "link": None if body.void else pages.links.path(annotator)}


@owning.post("/change")
def change(body: ChangeBody, pages: Open) -> dict[str, Any]:
    """Let everybody wait or go on; change the budget, or how many triples two people judge, from the next ones on."""
    session = pages.session
    session.change({name: value for name, value in body.model_dump().items() if value is not None})
    return {name: getattr(session.settings, name) for name in ("paused", "budget", "overlap")}


@owning.get("/download/{name}")
def download(
    name: Literal["labels.tsv", "history.jsonl", "thresholds.json", "accepted.tsv", "report.html"],
    pages: Open,
) -> Response:
    """Return a file about the session as it is now: labels, history, thresholds, accepted triples, or the report."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(make_file(pages.session, name), media_type="application/octet-stream", headers=headers)
