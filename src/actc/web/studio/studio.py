"""A studio: its folder and its secret, and the sessions of its projects, whose pages are at /session/NAME."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from anyio import to_thread
from fastapi import Depends, HTTPException, Request
from fastapi import Path as InPath
from starlette.types import ASGIApp, Receive, Scope, Send

from actc.data.text_files import ordinary
from actc.errors import ActcError, FileError
from actc.session import OWNER, Session
from actc.session.processes import planning
from actc.session.status import progress
from actc.web.access import ALONE, KINDS, Links, token_in
from actc.web.server import create_app
from actc.web.studio.project import HIDDEN, Project, find_project

PREFIX, AUDIT = "/session/", ".audit"
MOST_OPEN = 8
"""Sessions that are open at once: each has a planner with its pool in memory."""
IDLE = 900.0  # seconds without a request, after which a session's planner gives its memory back


@dataclass(eq=False)
class Served:
    """A session that is served: its pages, and the planner beside them."""

    session: Session
    app: ASGIApp
    version: tuple[int, int]
    ending: ExitStack
    last_request: float


class Studio:
    """A folder with projects; it opens sessions when somebody asks for their pages, and closes those nobody asks for.

    Parameters
    ----------
    folder : Path
        Where the projects are.
    host : str
        Where the studio listens.
    address : str, optional
        By which address other machines reach it; None where they cannot.
    """

    def __init__(self, folder: Path, host: str = "127.0.0.1", address: str | None = None) -> None:
        self.folder, self.host, self.address = folder, host, address
        self.token = read_token(folder)
        self._open: dict[str, Served] = {}
        self._lock = threading.Lock()

    @property
    def cookie(self) -> str:
        """The name of its cookie."""
        return f"actc_studio_{hashlib.sha256(self.token.encode()).hexdigest()[:8]}"

    @property
    def place(self) -> str:
        """Where its pages are: a cookie of a path that nobody can guess goes to no other port."""
        return f"/{hashlib.sha256(f'place {self.token}'.encode()).hexdigest()[:32]}"

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
        options, folder = find_project(self.folder, key.removesuffix(AUDIT)).options, self.session_folder(key)
        version, now = _version(folder), time.monotonic()
        with self._lock:
            for other in self._idle(key, now):
                self._close(other)
            if key in self._open and self._open[key].version != version:
                self._close(key)
            if key not in self._open:
                session, ending = Session(folder), ExitStack()
                ending.callback(session.close)
                chosen = {name: getattr(options, name) for name in ("title", "guidelines")}  # since the session began
                session.change({name: text for name, text in chosen.items() if getattr(session.settings, name) != text})
                ending.enter_context(planning(session, lambda sentence: None))  # the owner's page shows trouble
                tab = "people" if key.endswith(AUDIT) else "decide"
                back = f"project/{key.removesuffix(AUDIT)}#{tab}"
                app = create_app(session, self.host, PREFIX + key, back, self.address)
                self._open[key] = Served(session, app, version, ending, now)
            self._open[key].last_request = now
            return self._open[key]

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
            for key in (name, name + AUDIT):
                if key in self._open:
                    self._close(key)
            yield

    def close(self) -> None:
        """Close every session."""
        with self._lock:
            for key in list(self._open):
                self._close(key)

    def _idle(self, key: str, now: float) -> list[str]:
        """Return the sessions without a request of late, or longer than for any of the many others."""
        others = sorted((one for one in self._open if one != key), key=lambda one: -self._open[one].last_request)
        return [one for k, one in enumerate(others) if now - self._open[one].last_request > IDLE or k >= MOST_OPEN - 1]

    def _close(self, key: str) -> None:
        self._open.pop(key).ending.close()


def read_token(folder: Path) -> str:
    """Return the secret of a studio's folder, made at its first use and readable by its owner alone."""
    path = folder / HIDDEN / "secret"
    path.parent.mkdir(mode=0o700, exist_ok=True)
    if not path.exists():
        beside = path.with_name(f"secret-{secrets.token_hex(4)}")
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(base64.urlsafe_b64encode(secrets.token_bytes(24)).decode())
        beside.replace(path)
    token = ordinary(path).read_text(encoding="ascii", errors="replace").strip()
    if len(token) < 32:
        raise FileError(f"{path}: the file is too short; remove it, and a new secret is made.")
    return token


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
