"""A client of SPARQL servers: queries and updates, repeated where that may help.

Nothing in a reply is trusted. Every reply has a deadline for the whole of it. Redirects are not followed: passwords
would go along.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

from actc.errors import OptionError, StoreError, needing
from actc.graph.rdf import IRI

SPARQL = "sparql:"
MOST_BYTES = 1 << 26
"""Of a reply that is read into memory: a table of counts, an error."""
PATIENCE = 300.0
"""Seconds for a reply, before any row of it."""
ROWS_A_SECOND = 500
"""A server that sends rows more slowly is not waited for."""
TRIES, FIRST_WAIT = 4, 0.5
"""How often a request is made at most; seconds before the second time, doubled each time."""
N_TRIPLES = "application/n-triples"
Row = dict[str, str]
Result = TypeVar("Result")


def is_store(text: str) -> bool:
    """Return whether a text names a store, not a file."""
    return text.startswith(SPARQL)


@dataclass(frozen=True)
class StoreAddress:
    """The address of a store and the secret that is sent to it."""

    url: str  # without ``sparql:``
    key: str = field(default="", repr=False)  # a bearer token; empty for none
    # user, password: sent when the server wants them, by digest where it can; empty for none
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @classmethod
    def of(cls, text: str, key_from: str | None = None) -> StoreAddress:
        """Read an address, and the environment variable that contains a bearer token, or user:password."""
        url = text.removeprefix(SPARQL)
        try:
            parts = urlsplit(url)
        except ValueError:  # a bracket that is not closed
            parts = urlsplit("")
        if "@" in parts.netloc:
            raise OptionError("The address of the store has a password in it; give it with --key-from.")
        if not is_store(text) or parts.scheme not in ("http", "https") or not parts.hostname:
            raise OptionError(f"{text!r} is no address of a store such as sparql:http://host/query.")
        user, colon, password = read_variable("--key-from", key_from).partition(":")  # a token has no colon
        return cls(url, "", user, password) if colon else cls(url, user)

    def __str__(self) -> str:
        """Return the address, as it was given."""
        return f"{SPARQL}{self.url}"

    def quote_reply(self, text: str) -> str:
        """Return a server's text for a message; none of a server that gets a secret, which it may repeat."""
        return "(its text is not shown: it may have the key or the password in it)" if self.key or self.user else text


def refuse_store_options(graph: str | Path, graphs: Sequence[str], key_from: str | None) -> None:
    """Refuse options of a store where the graph is a file."""
    for name in (name for name, value in (("--graph", graphs), ("--key-from", key_from)) if value):
        raise OptionError(f"{name} is for stores; {graph} is a file.")


def read_variable(option: str, name: str | None) -> str:
    """Return the value of an environment variable; empty without a name."""
    if name is None:
        return ""
    value = os.environ.get(name, "").strip()
    if not value:
        raise OptionError(f"{option}: the environment variable {name} is not set, or empty.")
    if not value.isascii() or not value.isprintable():
        raise OptionError(f"{option}: the value of the environment variable {name} cannot be sent: it is not ASCII.")
    return value


class TransientError(Exception):
    """A request failed, and may succeed when it is repeated."""


class SparqlClient:
    """A connection to a server; queries may have an address of their own."""

    def __init__(self, store: StoreAddress) -> None:
        with needing("Asking a store", "httpx", "store"):
            import httpx
        self.store, self.query_url = store, store.url
        self._http = self._open()
        self._errors = (httpx.HTTPError, httpx.InvalidURL, RuntimeError, OSError, ValueError)

    def _open(self) -> Any:
        import httpx

        headers = {"User-Agent": "actc", **({"Authorization": f"Bearer {self.store.key}"} if self.store.key else {})}
        return httpx.Client(headers=headers, timeout=httpx.Timeout(PATIENCE, connect=10.0))

    def __enter__(self) -> Self:
        """Return the client."""
        return self

    def __exit__(self, *problem: object) -> None:
        """Close its connections."""
        self._http.close()

    def select(self, query: str) -> list[Row]:
        """Return the rows of a query: the text of each variable that is bound."""

        def read() -> list[Row]:
            content = bytearray()
            with self._open_reply(
                self.query_url, {"query": query}, "application/sparql-results+json", PATIENCE
            ) as response:
                for part in response.iter_bytes():
                    content += part
                    if len(content) > MOST_BYTES:
                        raise StoreError(f"{self.store}: the answer is longer than any table of counts.")
            try:
                rows = json.loads(content)["results"]["bindings"]
                return [{name: str(term["value"]) for name, term in row.items()} for row in rows]
            except (KeyError, TypeError, AttributeError):
                raise StoreError(f"{self.store}: the answer is no table of SPARQL results.") from None
            except (ValueError, RecursionError):
                raise TransientError("the answer is no JSON, or was cut off") from None

        return self.repeat(read)

    def update(self, text: str) -> None:
        """Have the server carry out an update; twice must do the same as once."""

        def send() -> None:
            with self._open_reply(self.store.url, {"update": text}, "*/*", PATIENCE) as response:
                for _ in response.iter_bytes():
                    pass

        self.repeat(send)

    @contextmanager
    def read_triples(self, rows: int, query: str = "", url: str = "") -> Iterator[Iterator[bytes]]:
        """Give N-Triples in blocks of bytes; a ``TransientError`` where they break off."""
        form = {"query": query} if query else None
        seconds = PATIENCE + rows / ROWS_A_SECOND
        with self._open_reply(url or self.query_url, form, f"{N_TRIPLES}, text/plain;q=0.1", seconds) as response:
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind not in (N_TRIPLES, "text/plain"):
                shown = self.store.quote_reply(kind or "no format")
                raise StoreError(f"{self.store} answers in {shown}, where N-Triples are needed.")
            yield response.iter_bytes()

    def repeat(self, request: Callable[[], Result], advice: str = "") -> Result:
        """Make a request until it succeeds, a few times at most; the last failure is an error with an advice."""
        for attempt in range(TRIES):
            try:
                return request()
            except TransientError as error:
                if attempt + 1 == TRIES:
                    reason = f"{str(error).rstrip('.')}{advice and f'; {advice}'}"
                    raise StoreError(f"{self.store} cannot be used: {reason}.") from None
                self.pause(attempt)
        raise AssertionError("unreachable")

    def pause(self, attempt: int) -> None:
        """Wait before a request is repeated."""
        time.sleep(FIRST_WAIT * 2**attempt)

    @contextmanager
    def _open_reply(self, url: str, form: dict[str, str] | None, accept: str, seconds: float) -> Iterator[Any]:
        """Post a form to a URL of the store, or get it; once more with the password, where the server wants one.

        When its time is over the connections are closed: a server that sends a byte now and then never exceeds a
        time-out of reading, and may never come to the end of the headers.
        """
        import httpx

        if self._http.is_closed:
            self._http = self._open()
        end = threading.Timer(seconds, self._http.close)
        end.daemon = True
        end.start()
        request = {"method": "POST" if form else "GET", "url": url, "data": form}
        try:
            with self._http.stream(**request, headers={"Accept": accept}) as response:
                if response.status_code != 401 or self._http.auth is not None or not self.store.user:
                    self._refuse(response)
                    yield response
                    return
                is_digest = response.headers.get("www-authenticate", "").lower().startswith("digest")
                self._http.auth = (httpx.DigestAuth if is_digest else httpx.BasicAuth)(
                    self.store.user, self.store.password
                )
            with self._http.stream(**request, headers={"Accept": accept}) as response:
                self._refuse(response)
                yield response
        except StoreError:
            raise
        except self._errors as error:
            reason = self.store.quote_reply(str(error)) or type(error).__name__
            raise TransientError("the answer comes too slowly" if self._http.is_closed else reason) from None
        finally:
            end.cancel()

    def _refuse(self, response: Any) -> None:
        """Raise the meaning of a status: repeat the request, or an error of the store's."""
        code = response.status_code
        if 200 <= code < 300:
            return
        if 300 <= code < 400:
            raise StoreError(f"{self.store} sends requests elsewhere ({code}); give that address.")
        if code in (401, 403):
            secret = "the key" if self.store.key else "the user and the password" if self.store.user else ""
            what = f"it does not accept {secret}" if secret else "name a variable with --key-from"
            raise StoreError(f"{self.store} refuses ({code}); {what}.")
        text = " ".join(next(response.iter_bytes(2000), b"").decode("utf-8", "replace").split())[:200]
        reason = self.store.quote_reply(text)
        if code in (408, 425, 429) or code >= 500:
            raise TransientError(f"{code} {reason}".strip())
        raise StoreError(f"{self.store} refuses the request ({code}): {reason or 'no reason given'}")


def refuse_odd_iri(text: str, source: str | StoreAddress) -> str:
    """Return an IRI that may stand in a query; refuse anything else, whether an option or a store gave it."""
    if not re.fullmatch(IRI, text):
        shown = repr(text[:200])
        raise StoreError(f"{source}: {shown if isinstance(source, str) else source.quote_reply(shown)} is no IRI.")
    return text
