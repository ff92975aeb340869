"""The owner's routes: see everything, decide single triples, change what holds for all, take the files."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Any, Literal

from fastapi import APIRouter, FastAPI, Path, Query, Request
from fastapi.responses import Response
from pydantic import Field

from actc.session import Session
from actc.session.make_file import make_file
from actc.session.status import agreement, all_relations, count_reviews, list_reviews, people, progress, show_review
from actc.session.trouble import read_trouble
from actc.web.common import LARGEST, REFUSED, Key, Open, OpenKept, OpenLinks, Strict, Who, checking, owner_of
from actc.web.kept import send_json, to_bytes
from actc.web.links import Links

LONG, PAUSES = 0.2, 30  # seconds; a result that took longer is kept for so many times as long as it took
owning = APIRouter(prefix="/api/owner", responses=REFUSED, route_class=checking(owner_of))
Kind = Literal["differ", "unsure", "noted"]
File = Literal["labels.tsv", "history.jsonl", "thresholds.json", "accepted.tsv", "report.html"]


class SettleBody(Strict):
    """The owner's decision on a triple."""

    triple: int = Field(ge=0, le=LARGEST)
    said: Literal["true", "false", "unsure"]
    key: Key
    note: str = Field("", max_length=2000)


class UndoBody(Strict):
    """Which decision is taken back: the last one, or the one stored under a key."""

    key: Key
    undoes: Key | None = None


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


class OverlapBody(Strict):
    """A new share of triples that two people judge."""

    overlap: float = Field(ge=0, le=1, allow_inf_nan=False)


@owning.get("")
async def get_overview(request: Request, session: Open, links: OpenLinks, kept: OpenKept, owner: Who) -> Response:
    """Return everything about the session: progress, people, agreement, what waits for the owner."""
    # All of them in one thread of its own: annotators' threads stay free, and only one keeps the memory that it takes.
    aside, loop = request.app.state.aside, asyncio.get_running_loop()
    lines = await loop.run_in_executor(aside, _recent_people, request.app, session, links)
    chosen, counts = {"overlap": session.overlap}, progress(session)
    return send_json(
        title=session.title,
        settings=vars(session.settings) | chosen,
        paused=session.paused,
        trouble=read_trouble(session.folder),
        others=request.app.state.others,
        progress=counts,
        picture=kept.picture(counts)[1],
        **lines,
    )


def _recent_people(app: FastAPI, session: Session, links: Links) -> dict[str, bytes]:
    """Return who judged how, and where they differ: anew, unless that took long and was done a moment ago.

    The page asks every two seconds; after 50,000 answers of 200 people each time takes about one, and others wait.
    """
    everybody = session.annotators()
    state, now = (everybody, _last_of_owner(session)), time.monotonic()
    if app.state.people[:2] != (state, True) or now > app.state.people[2]:
        lines = [
            line | {"link": None if one.link < 0 else links.path(one)}
            for line, one in zip(people(session, everybody), everybody, strict=True)
        ]
        found = {"people": lines, "agreement": agreement(session), "review": count_reviews(session)}
        sent = {name: to_bytes(part) for name, part in found.items()}
        took = time.monotonic() - now
        app.state.people = (state, took > LONG, time.monotonic() + PAUSES * took, sent)
    return app.state.people[3]  # type: ignore[no-any-return]


def _last_of_owner(session: Session) -> int:
    """Return the number of the owner's last word: each is to be seen at once."""
    owner = "SELECT id FROM annotator WHERE kind = 'owner'"
    return int(session.store.value(f"SELECT coalesce(max(id), 0) FROM judgement WHERE annotator IN ({owner})"))


@owning.get("/relations")
def get_relations(session: Open, owner: Who) -> list[dict[str, Any]]:
    """Return every relation: its cut, what is accepted, how many are judged."""
    return all_relations(session)


@owning.get("/review/{kind}")
def get_reviews(
    kind: Kind, session: Open, owner: Who, most: Annotated[int, Query(ge=1, le=500)] = 50
) -> list[dict[str, Any]]:
    """Return triples to look at: where people differ, what nobody could decide, or what has a note."""
    return list_reviews(session, kind, most)


@owning.get("/card/{triple}")
def get_card(triple: Annotated[int, Path(ge=0, le=LARGEST)], session: Open, owner: Who) -> dict[str, Any]:
    """Return the whole card of a triple, and who said what of it."""
    return show_review(session, triple)


@owning.post("/settle")
def settle(body: SettleBody, session: Open, owner: Who) -> dict[str, Any]:
    """Decide a triple on which people differ."""
    return vars(session.settle(body.triple, body.said, body.key, body.note))


@owning.post("/undo")
def undo(body: UndoBody, session: Open, owner: Who) -> dict[str, Any]:
    """Take a decision back."""
    return vars(session.unsettle(body.key, body.undoes))


@owning.post("/annotators")
def add_annotator(body: AnnotatorBody, session: Open, links: OpenLinks, owner: Who) -> dict[str, str]:
    """Add an annotator and return their link."""
    annotator = session.add_annotator(body.name)
    return {"name": annotator.name, "link": links.path(annotator)}


@owning.post("/link")
def change_link(body: LinkBody, session: Open, links: OpenLinks, owner: Who) -> dict[str, str | None]:
    """Make an annotator's link void, or give them a new one."""
    annotator = session.change_link(body.name, body.void)
    return {"name": annotator.name, "link": None if body.void else links.path(annotator)}


@owning.post("/pause")
def set_paused(body: PauseBody, session: Open, owner: Who) -> dict[str, bool]:
    """Let everybody wait, or go on."""
    session.set_paused(body.paused)
    return {"paused": session.paused}


@owning.post("/budget")
def set_budget(body: BudgetBody, session: Open, owner: Who) -> dict[str, Any]:
    """Change the budget."""
    session.set_budget(body.budget)
    return progress(session)


@owning.post("/overlap")
def set_overlap(body: OverlapBody, session: Open, owner: Who) -> dict[str, float]:
    """Change how many triples two people judge, from the next ones on."""
    session.change({"overlap": body.overlap})
    return {"overlap": session.overlap}


@owning.get("/download/{name}")
def download(name: File, session: Open, owner: Who) -> Response:
    """Return a file about the session as it is now: labels, history, thresholds, accepted triples, or the report."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(make_file(session, name), media_type="application/octet-stream", headers=headers)
