"""What every request passes: the right host, a bounded body in bounded time, a bounded rate, and headers sent.

The page takes data from strangers (names, descriptions) and answers from people who hold a secret link. Scripts and
styles come from this server's own files only, nothing inline, and nothing is fetched from anywhere else.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
import time
from collections import OrderedDict
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
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, source: str) -> bool:
        """Count a request, and say whether it may pass."""
        now = time.monotonic()
        level, then = self._levels.pop(source, (self.burst, now))
        level = min(self.burst, level + (now - then) * self.rate)
        allowed = level >= 1
        self._levels[source] = (level - 1 if allowed else level, now)
        if len(self._levels) > self.most_sources:
            self._levels.popitem(last=False)
        return allowed


class Gate:
    """The middleware around the routes.

    Parameters
    ----------
    app : ASGI application
    hosts : set of str, or None
        Names under which this server may be addressed; None for any. A server on loopback answers to loopback names
        only, so that no page from elsewhere can reach it under a name of its own.
    uploads : int
        How many bytes a file may have that is sent by PUT; its time begins anew with each part. 0 for no files.
    place : str
        The path below which the pages are there as well, for browsers whose cookie is sent to that path only.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str] | None = None, uploads: int = 0, place: str = "") -> None:
        self.app, self.hosts, self.uploads, self.place = app, hosts, uploads, place
        self.requests = Bucket(rate=400, burst=2000)
        self.addresses = Bucket(rate=2000, burst=10_000)  # whoever changes the cookie all the time has one address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        problem = self._problem(scope, headers)
        if problem is not None:
            await _refuse(send, *problem)
            return
        if self.place and scope["path"].startswith(self.place + "/"):
            scope = {**scope, "root_path": self.place}
        length, whole, deadline = 0, False, time.monotonic() + SECONDS
        is_file = self.uploads > 0 and scope["method"] == "PUT"

        async def counted() -> Message:
            nonlocal length, whole, deadline
            try:
                message = await asyncio.wait_for(receive(), None if whole else max(0.0, deadline - time.monotonic()))
            except TimeoutError:
                raise HTTPException(408, "The request did not come in time.") from None
            length, whole = length + len(message.get("body", b"")), not message.get("more_body", False)
            if length > (self.uploads if is_file else MOST_BYTES):
                raise HTTPException(413, "The request is too large.")
            deadline = time.monotonic() + SECONDS if is_file else deadline
            return message

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _with_headers(message["headers"])
            await send(message)

        await self.app(scope, counted, sealed)

    def _problem(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        host = headers.get(b"host", b"").decode("latin-1")
        if self.hosts is not None and host_name(host) not in self.hosts:
            return 421, "This server does not answer to that name."
        length = headers.get(b"content-length", b"0")
        is_file = self.uploads > 0 and scope["method"] == "PUT"
        if not length.isdigit() or int(length) > (self.uploads if is_file else MOST_BYTES):
            return 413, "The request is too large."
        # The cookie tells annotators behind one address apart; it is not trusted for anything else here.
        address = (scope.get("client") or ("", 0))[0]
        source = f"{address} {hash((headers.get(b'cookie'), headers.get(b'authorization')))}"
        if not (self.addresses.allows(address) and self.requests.allows(source)):
            return 429, "Too many requests; wait a second."
        if scope["method"] not in ("GET", "HEAD") and not _from_here(headers, host, is_file):
            return 403, "A request from another site."
        return None


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


def name_for_others(host: str) -> str | None:
    """Return by which name other machines reach a server that listens on ``host``; None if they cannot."""
    if loopback_names(host) is not None:
        return None
    if host not in ("0.0.0.0", "::"):
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unsent:  # names of hosts are known to few phones
        try:
            unsent.connect(("192.0.2.1", 9))  # sends nothing: it asks which of our addresses others see
        except OSError:
            return socket.gethostname()
        return str(unsent.getsockname()[0])


def _from_here(headers: dict[bytes, bytes], host: str, is_file: bool) -> bool:
    """Say whether a writing request comes from one of our pages, or from a program that holds a token itself."""
    site = headers.get(b"sec-fetch-site")
    if site is not None and site != b"same-origin":
        return False
    origin = headers.get(b"origin")
    if origin is not None and origin.decode("latin-1").partition("://")[2] != host:
        return False
    # A form of another site cannot send these types without asking first, and we never answer such a question.
    kind = b"application/octet-stream" if is_file else b"application/json"
    return headers.get(b"content-type", b"").partition(b";")[0].strip() == kind


def _with_headers(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    sent = dict(SENT)
    if (POLICY, REPORT_POLICY.encode()) in headers:
        sent[POLICY] = REPORT_POLICY.encode()
    return [(name, value) for name, value in headers if name.lower() not in SENT] + [*sent.items()]


async def _refuse(send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"detail": sentence}).encode()
    headers: list[tuple[bytes, bytes]] = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    if status == 429:
        headers.append((b"retry-after", b"1"))
    start: dict[str, Any] = {"type": "http.response.start", "status": status, "headers": _with_headers(headers)}
    await send(start)
    await send({"type": "http.response.body", "body": body})
