"""A studio: its folder and its secret, and the sessions of its projects, whose pages are at /session/NAME."""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from anyio import to_thread
from fastapi import Depends, HTTPException, Request
from fastapi import Path as InPath
from starlette.types import ASGIApp, Receive, Scope, Send

from actc.data.deliver import write_beside
from actc.errors import ActcError, FileError
from actc.session import OWNER, Session
from actc.session.processes import planning
from actc.session.status import progress
from actc.web.access import ALONE, KINDS, Links, token_in
from actc.web.server import create_app
from actc.web.studio.project import HIDDEN, Project, find_project

PREFIX, AUDIT = "/session/", ".audit"
MOST_OPEN = 8
"""Sessions that are open at once, those used last: each has a planner with its pool in memory."""


@dataclass(frozen=True, eq=False)
class Served:
    """A session that is served: its pages, and the planner beside them."""

    session: Session
    app: ASGIApp
    version: tuple[int, int]
    ending: ExitStack


class Studio:
    """A folder with projects; it opens sessions when somebody asks for their pages, and closes the oldest of many."""

    def __init__(self, folder: Path, host: str = "127.0.0.1", address: str | None = None) -> None:
        self.folder, self.host, self.address = folder, host, address
        secret = folder / HIDDEN / "secret"
        if not secret.exists():
            with write_beside(secret) as unfinished:
                unfinished.touch(0o600)
                unfinished.write_bytes(secrets.token_bytes(32))
        links = Links.of(secret.parent)
        self.token, self.place, self.cookie = links.sign("studio"), links.place, links.cookie("studio")
        self._open: dict[str, Served] = {}
        self._lock = threading.Lock()

    def opens(self, token: str) -> bool:
        """Return True if a token is the right one, in constant time."""
        return hmac.compare_digest(self.token.encode(), token.encode("utf-8", "replace"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request with a link's secret on to the session that its path names; all others get one answer."""
        key, _, path = scope["path"].removeprefix(PREFIX).partition("/")
        if not await to_thread.run_sync(self._admits, key, path, Request(scope)):
            raise HTTPException(401, "This link is not valid, or not any more. Ask the owner of the session for yours.")
        served = await to_thread.run_sync(self.served, key)
        await served.app({**scope, "root_path": PREFIX + key}, receive, send)

    def _admits(self, key: str, path: str, request: Request) -> bool:
        """Return True if a request has a secret of a session's; no planner is started to find out."""
        try:
            folder = self.session_folder(key)
            links, served = Links.of(folder), self._open.get(key)
            if served and served.version != _version(folder):
                served = None
            tokens = [token_in(request, links.cookie(page)) for page in KINDS]
            tokens += [path[2:]] if path[:2] in ("j/", "o/") else []
            with nullcontext(served.session) if served else closing(Session(folder, synced=False)) as session:
                return any(links.match(session, token, "person", "owner") for token in tokens)
        except ActcError:
            return False

    def session_folder(self, key: str) -> Path:
        """Return the session of a project, or its audit (NAME.audit)."""
        project = find_project(self.folder, key.removesuffix(AUDIT))
        session = project.session
        if session is not None and key.endswith(AUDIT):
            session = session / "audit" if (session / "audit" / "session.sqlite").is_file() else None
        if session is None:
            raise FileError("Nobody can judge here yet: the session has not begun.")
        return session

    def served(self, key: str) -> Served:
        """Return an open session; a new one where another has taken its folder's place."""
        name, is_audit = key.removesuffix(AUDIT), key.endswith(AUDIT)
        options, folder = find_project(self.folder, name).options, self.session_folder(key)
        version = _version(folder)
        with self._lock:
            served = self._open.pop(key, None)
            if served is not None and served.version != version:
                served.ending.close()
                served = None
            if served is None:
                session, ending = Session(folder), ExitStack()
                ending.callback(session.close)
                chosen = {name: getattr(options, name) for name in ("title", "guidelines")}  # since the session began
                session.change({name: text for name, text in chosen.items() if getattr(session.settings, name) != text})
                ending.enter_context(planning(session, lambda sentence: None))  # the owner's page shows trouble
                back = f"project/{name}#{'people' if is_audit else 'decide'}"
                app = create_app(session, self.host, PREFIX + key, back, self.address)
                served = Served(session, app, version, ending)
            self._open[key] = served  # the last one, until another is used
            if len(self._open) > MOST_OPEN:
                self._close(next(iter(self._open)))
            return served

    def describe(self, key: str) -> dict[str, Any]:
        """Return where a session stands, and the links of its owner and of somebody who judges alone."""
        session = self.served(key).session
        links, counts = Links.of(session.folder, PREFIX + key), progress(session)
        return {
            "candidates": session.settings.candidates or counts["triples"],
            "answers": counts["labels"],
            "unsure": counts["unsure"],
            "budget": counts["budget"],
            "paused": session.settings.paused,
            "owner": links.path(session.annotator(OWNER)),
            "judge": links.path(session.add_annotator(ALONE)),
        }

    def people(self, key: str) -> list[dict[str, Any]]:
        """Return who may judge, by which link; with the address that other machines reach, and its QR code as SVG."""
        import segno

        session = self.served(key).session
        links, lines = Links.of(session.folder, PREFIX + key), []
        for one in session.people():
            link = links.path(one) if one.link >= 0 else None
            address = self.address + link if self.address and link else None
            code = address and segno.make(address, error="m", micro=False).svg_inline(omitsize=True, border=4)
            lines.append({"name": one.name, "link": link, "address": address, "qr": code})
        return lines

    @contextmanager
    def closed(self, name: str) -> Iterator[None]:
        """Close the sessions of a project, and let nobody open one for as long as this lasts."""
        with self._lock:
            for key in {name, name + AUDIT} & {*self._open}:
                self._close(key)
            yield

    def close(self) -> None:
        """Close every session."""
        with self._lock:
            for key in list(self._open):
                self._close(key)

    def _close(self, key: str) -> None:
        self._open.pop(key).ending.close()


def _version(folder: Path) -> tuple[int, int]:
    """Return what is another where another session has taken a folder's place."""
    secret = (folder / "secret").stat()
    return secret.st_ino, secret.st_mtime_ns


async def studio_of(request: Request) -> Studio:
    """Return the studio to those who have its link."""
    studio: Studio = request.app.state.studio
    if not studio.opens(token_in(request, studio.cookie)):
        raise HTTPException(401, "Open the studio with its own link, which the terminal shows.")
    return studio


OpenStudio = Annotated[Studio, Depends(studio_of)]


def project_of(studio: OpenStudio, name: Annotated[str, InPath(max_length=40)]) -> Project:
    """Return the project that a path names."""
    try:
        return find_project(studio.folder, name)
    except FileError as error:
        raise HTTPException(404, str(error)) from None


OpenProject = Annotated[Project, Depends(project_of)]
