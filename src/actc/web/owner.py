"""The owner's routes: see everything, decide single triples, change what holds for all, download files."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from pydantic import Field

from actc.errors import OptionError
from actc.session import Annotator, Judgement
from actc.session.processes import make_file
from actc.session.status import agreement, all_relations, count_reviews, list_reviews, people, progress, show_review
from actc.web.access import LARGEST, OWNER_PAGE, Strict, Who, checking
from actc.web.judge import REFUSED, JudgementBody, Open, Pages, pages_of, send_json, to_bytes

LAST_OF_OWNER = "SELECT max(id) FROM judgement WHERE annotator IN (SELECT id FROM annotator WHERE kind = 'owner')"
LONG, PAUSES = 0.2, 30  # seconds; a result that took longer is cached for so many times as long as it took


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
async def get_overview(pages: Open, owner: Who) -> Response:
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


@owning.get("/relations")
def get_relations(pages: Open, owner: Who) -> list[dict[str, Any]]:
    """Return every relation: its cut, what is accepted, how many are judged."""
    return all_relations(pages.session)


@owning.get("/review/{kind}")
def get_reviews(
    kind: Literal["differ", "unsure", "noted"],
    pages: Open,
    owner: Who,
    most: Annotated[int, Query(ge=1, le=500)] = 50,
) -> list[dict[str, Any]]:
    """Return triples to look at: where people differ, what nobody could decide, or what has a note."""
    return list_reviews(pages.session, kind, most)


@owning.get("/card/{triple}")
def get_card(triple: Annotated[int, Path(ge=0, le=LARGEST)], pages: Open, owner: Who) -> dict[str, Any]:
    """Return the whole card of a triple, and who answered what."""
    return show_review(pages.session, triple)


@owning.post("/settle")
def settle(body: JudgementBody, pages: Open, owner: Who) -> dict[str, Any]:
    """Decide a triple on which people differ; "undo" takes back the last decision, or the one stored under a key."""
    if body.answer != "undo" and body.triple is None:
        raise OptionError("A decision is about a triple: give its number.")
    return pages.session.settle(Judgement(**body.model_dump()))


@owning.post("/annotators")
def add_annotator(body: PersonBody, pages: Open, owner: Who) -> dict[str, str]:
    """Add an annotator and return their link."""
    annotator = pages.session.add_annotator(body.name)
    return {"name": annotator.name, "link": pages.links.path(annotator)}


@owning.post("/link")
def change_link(body: PersonBody, pages: Open, owner: Who) -> dict[str, str | None]:
    """Make an annotator's link void, or give them a new one."""
    annotator = pages.session.change_link(body.name, body.void)
    return {"name": annotator.name, "link": None if body.void else pages.links.path(annotator)}


@owning.post("/change")
def change(body: ChangeBody, pages: Open, owner: Who) -> dict[str, Any]:
    """Let everybody wait or go on; change the budget, or how many triples two people judge, from the next ones on."""
    session = pages.session
    session.change({name: value for name, value in body.model_dump().items() if value is not None})
    return {name: getattr(session.settings, name) for name in ("paused", "budget", "overlap")}


@owning.get("/download/{name}")
def download(
    name: Literal["labels.tsv", "history.jsonl", "thresholds.json", "accepted.tsv", "report.html"],
    pages: Open,
    owner: Who,
) -> Response:
    """Return a file about the session as it is now: labels, history, thresholds, accepted triples, or the report."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(make_file(pages.session, name), media_type="application/octet-stream", headers=headers)
