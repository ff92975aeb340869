"""What every request passes: the right host, a bounded body in bounded time, and headers that are sent back.

The page takes data from strangers (names, descriptions) and answers from people who hold a secret link. Scripts and
styles come from this server's own files only, nothing inline, and nothing is fetched from anywhere else.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
import time
from typing import Any

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
POLICY = b"content-security-policy"
SENT = {name.encode(): value.encode() for name, value in HEADERS.items()}


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
        problem = self._problem(scope, dict(scope["headers"]), most, is_file)
        if problem is not None:
            await _refuse(send, *problem)
            return
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
                message["headers"] = _with_headers(message["headers"])
            await send(message)

        await self.app(scope, counted, sealed)

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


def _with_headers(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    sent = dict(SENT)
    if (POLICY, REPORT_POLICY.encode()) in headers:
        sent[POLICY] = REPORT_POLICY.encode()
    return [(name, value) for name, value in headers if name.lower() not in SENT] + [*sent.items()]


async def _refuse(send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"detail": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    start: dict[str, Any] = {"type": "http.response.start", "status": status, "headers": _with_headers(headers)}
    await send(start)
    await send({"type": "http.response.body", "body": body})
