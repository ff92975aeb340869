"""Who may ask: secret links, the cookies that they leave, and what every request passes before it is read.

That is the right host, a bounded body in bounded time, and headers that are sent back: the pages take data from
strangers (names, descriptions) and answers from people who hold a secret link. Scripts and styles come from this
server's own files only, nothing inline, and nothing is fetched from anywhere else.

A link's token is the annotator's number and a keyed hash of the name it stands for, and of how often it was made anew.
So links stay the same over restarts, and nothing about them needs to be stored beside the secret and that count.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import ipaddress
import re
import socket
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from actc.data.text_files import ordinary, render
from actc.errors import FileError
from actc.session import Annotator, Session

ALONE = "you"
"""The name of somebody who judges a session of their own."""
JUDGE, OWNER_PAGE = "judge", "owner"
KINDS = {JUDGE: "person", OWNER_PAGE: "owner"}
"""Whose link opens which page."""
LARGEST = 2**62
MOST_BYTES = 256 * 1024
SECONDS = 20.0
"""For the body of a request to come."""
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""Of a report, which is one file with its styles in it: no script runs, nothing is fetched."""
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
POLICY, AS_REPORT = b"content-security-policy", REPORT_POLICY.encode()
SENT = {name.encode(): value.encode() for name, value in HEADERS.items()}
Key = Annotated[str, Field(min_length=1, max_length=64, pattern="^[A-Za-z0-9_.-]+$")]
"""A sender's own name for something to be stored: sent twice, it is stored once."""


class Strict(BaseModel):
    """A body without unknown fields."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Links:
    """Tokens of a session."""

    secret: bytes
    root: str = ""

    @classmethod
    def of(cls, folder: Path, root: str = "") -> Links:
        """Read the secret of a session folder."""
        secret = b""
        with suppress(OSError):
            secret = ordinary(folder / "secret").read_bytes()
        if len(secret) < 32:
            raise FileError(f"{folder / 'secret'}: the file is missing or too short; the session is damaged.")
        return cls(secret, root)

    def token(self, annotator: Annotator) -> str:
        """Return the secret part of an annotator's link."""
        # No name holds a line break, so nobody's first link is another's later one.
        later = f"\n{annotator.link}" if annotator.link else ""
        return f"{annotator.id}-{self.sign(f'{annotator.kind}:{annotator.name}{later}')}"

    def path(self, annotator: Annotator) -> str:
        """Return the path of an annotator's link."""
        return f"{self.root}/{'o' if annotator.kind == 'owner' else 'j'}/{self.token(annotator)}"

    @property
    def place(self) -> str:
        """Where the pages are that a link leads to: a cookie of a path that nobody can guess goes to no other port."""
        return f"{self.root}/{self.sign('place')}"

    def cookie(self, page: str) -> str:
        """Return the name of a page's cookie."""
        return f"actc_{self.sign('cookie')[:8].replace('-', 'x').replace('_', 'y')}_{page}"

    def match(self, session: Session, token: str, *kinds: str) -> Annotator | None:
        """Return whose token it is, of some kinds, if it still is: the link may be void, or made anew."""
        number = re.match("[0-9]{1,9}-", token)
        for annotator in session.annotators(int(number[0][:-1])) if number else []:
            same = hmac.compare_digest(self.token(annotator).encode(), token.encode("utf-8", "replace"))
            if same and annotator.kind in kinds and annotator.link >= 0:
                return annotator
        return None

    def sign(self, text: str) -> str:
        """Return what nobody makes of a text without the secret: 192 bits."""
        digest = hmac.new(self.secret, text.encode(), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest[:24]).decode()


def token_in(request: Request, cookie: str) -> str:
    """Return the token that a program sends with a request, or a browser in a cookie; empty, if none."""
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
    return bearer or request.cookies.get(cookie, "")


def checking(check: Callable[[Request], Awaitable[Any]]) -> type[APIRoute]:
    """Return a kind of route that checks who asks before it reads anything else of a request; FastAPI does it last."""

    class CheckedRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def check_and_handle(request: Request) -> Response:
                request.state.who = await check(request)
                return await handle(request)

            return check_and_handle

    return CheckedRoute


async def _who(request: Request) -> Any:
    return request.state.who


Who = Annotated[Annotator, Depends(_who)]
"""Whoever a route's kind let in: see :func:`checking`."""


def welcome(request: Request, cookie: str, token: str, root: str, target: str) -> Response:
    """Let a page of ours carry a token on to where it leads, as a cookie of the pages under a root."""
    response = HTMLResponse(render("welcome.html", target=root + target, files=f"{root}/files"))
    public: str = request.app.state.address or ""
    response.set_cookie(
        cookie,
        token,
        path=root,
        max_age=30 * 86400,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https" or public.startswith("https:"),
    )
    return response


class Bucket:
    """At most ``rate`` requests a second from a source, after a first ``burst``; the longest unseen is forgotten."""

    def __init__(self, rate: float, burst: float, most_sources: int = 10_000) -> None:
        self.rate, self.burst, self.most_sources = rate, burst, most_sources
        self._levels: dict[str, tuple[float, float]] = {}

    def allows(self, source: str) -> bool:
        """Count a request, and return whether it may pass."""
        now = time.monotonic()
        level, then = self._levels.pop(source, (self.burst, now))
        level = min(self.burst, level + (now - then) * self.rate)
        allowed = level >= 1
        self._levels[source] = (level - 1 if allowed else level, now)
        if len(self._levels) > self.most_sources:
            del self._levels[next(iter(self._levels))]
        return allowed


class Gate:
    """The middleware around the routes.

    Parameters
    ----------
    app : ASGI application
    host : str
        Where the server listens. On loopback it answers to loopback names only, so that no page from elsewhere can
        reach it under a name of its own.
    uploads : int
        How many bytes a file may have that is sent by PUT; its time begins anew with each part. 0 for no files.
    place : str
        The path below which the pages are there as well, for browsers whose cookie is sent to that path only.
    public : str, optional
        The address under which a proxy shows the pages, such as https://kg.example.org.
    """

    def __init__(
        self, app: ASGIApp, host: str = "127.0.0.1", uploads: int = 0, place: str = "", public: str | None = None
    ) -> None:
        self.app, self.uploads, self.place = app, uploads, place
        self.public = (public or "").encode()
        names = loopback_names(host)
        self.hosts = names and names | {host_name((public or "").partition("://")[2])}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        is_file = self.uploads > 0 and scope["method"] == "PUT"
        most = self.uploads if is_file else MOST_BYTES
        if self.place and scope["path"].startswith(self.place + "/"):
            scope = {**scope, "root_path": self.place}
        length, whole, deadline = 0, False, time.monotonic() + SECONDS

        async def counted() -> Message:
            nonlocal length, whole, deadline
            try:
                message = await asyncio.wait_for(receive(), None if whole else max(0.0, deadline - time.monotonic()))
            except TimeoutError:
                raise HTTPException(408, "The request did not come in time.") from None
            length, whole = length + len(message.get("body", b"")), not message.get("more_body", False)
            if length > most:
                raise HTTPException(413, "The request is too large.")
            deadline = time.monotonic() + SECONDS if is_file else deadline
            return message

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = message["headers"]
                sent = SENT | ({POLICY: AS_REPORT} if (POLICY, AS_REPORT) in own else {})
                message["headers"] = [(name, value) for name, value in own if name.lower() not in SENT] + [
                    *sent.items()
                ]
            await send(message)

        problem = self._problem(scope, dict(scope["headers"]), most, is_file)
        app = self.app if problem is None else JSONResponse({"detail": problem[1]}, problem[0])
        await app(scope, counted, sealed)

    def _problem(self, scope: Scope, headers: dict[bytes, bytes], most: int, is_file: bool) -> tuple[int, str] | None:
        host = headers.get(b"host", b"")
        if self.hosts is not None and host_name(host.decode("latin-1")) not in self.hosts:
            return 421, "This server does not answer to that name."
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > most:
            return 413, "The request is too large."
        if scope["method"] not in ("GET", "HEAD") and not self._is_ours(headers, host, is_file):
            return 403, "A request from another site."
        return None

    def _is_ours(self, headers: dict[bytes, bytes], host: bytes, is_file: bool) -> bool:
        """Return True if a writing request comes from one of our pages, or from a program that holds a token itself."""
        origin = headers.get(b"origin", self.public)
        if headers.get(b"sec-fetch-site", b"same-origin") != b"same-origin":
            return False
        if origin != self.public and origin.partition(b"://")[2] != host:
            return False
        # A form of another site cannot send these types without asking first, and we never answer such a question.
        kind = b"application/octet-stream" if is_file else b"application/json"
        return headers.get(b"content-type", b"").partition(b";")[0].strip() == kind


def host_name(host: str) -> str:
    """Return the name part of a Host header."""
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0].lower()


def loopback_names(host: str) -> frozenset[str] | None:
    """Return the names of a server that listens on ``host``; None if that is more than this machine."""
    loopback = host == "localhost"
    if not loopback:
        try:
            loopback = ipaddress.ip_address(host).is_loopback
        except ValueError:
            return None
    return frozenset({"localhost", "127.0.0.1", "::1", host}) if loopback else None


def address_for_others(host: str, port: int, public: str | None = None) -> str | None:
    """Return by which address other machines reach a server; None if they cannot."""
    if public or loopback_names(host) is not None:
        return public
    if host in ("0.0.0.0", "::"):  # names of hosts are known to few phones
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unsent:
            try:
                unsent.connect(("192.0.2.1", 9))  # sends nothing: it asks which of our addresses others see
                host = str(unsent.getsockname()[0])
            except OSError:
                host = socket.gethostname()
    return address_of(host, port)


def address_of(host: str, port: int) -> str:
    """Return the address of a server by its name."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
