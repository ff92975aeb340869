"""One client of SPARQL servers: queries and updates, tried again where that may help.

Nothing in a reply is trusted. Every reply has a deadline for the whole of it. Nobody is followed elsewhere:
passwords would go along.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from actc.errors import OptionError, StoreError, needing

SPARQL = "sparql:"


def is_store(text: str) -> bool:
    """Return whether a text names a store, not a file."""
    return text.startswith(SPARQL)


@dataclass(frozen=True)
class Store:
    """A store, and who asks it."""

    place: str  # its address without ``sparql:``
    key: str = field(default="", repr=False)  # a bearer token; empty for none
    # user, password: sent when the server asks for them, by digest where it can; empty for none
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @classmethod
    def of(cls, text: str, key_from: str | None = None) -> Store:
        """Read an address, and the environment variable that holds a bearer token, or user:password."""
        place = text.removeprefix(SPARQL)
        try:
            parts = urlsplit(place)
        except ValueError:  # a bracket that is not closed
            parts = urlsplit("")
        if "@" in parts.netloc:
            raise OptionError("The address of the store has a password in it; give it with --key-from.")
        if not is_store(text) or parts.scheme not in ("http", "https") or not parts.hostname:
            raise OptionError(f"{text!r} is no address of a store such as sparql:http://host/query.")
        user, colon, password = read_variable("--key-from", key_from).partition(":")  # a token has no colon
        return cls(place, "", user, password) if colon else cls(place, user)

    def __str__(self) -> str:
        """Return the address, as it was given."""
        return f"{SPARQL}{self.place}"

    def with_secrets_of(self, other: Store) -> Store:
        """Return the same place for the one who asks another; not if it is another host's, or on another port."""
        if urlsplit(self.place)[:2] != urlsplit(other.place)[:2]:
            return self
        return replace(self, key=other.key, user=other.user, password=other.password)

    def quote_reply(self, text: str) -> str:
        """Return a server's text for a message; none of a server that gets a secret, which it may repeat."""
        return "(its text is not shown: it may have the key or the password in it)" if self.key or self.user else text


def refuse_store_options(graph: str | Path, graphs: Sequence[str], key_from: str | None) -> None:
    """Refuse options of a store where the graph is a file."""
    for name in (name for name, value in (("--graph", graphs), ("--key-from", key_from)) if value):
        raise OptionError(f"{name} is for stores; {graph} is a file.")


def read_variable(option: str, name: str | None) -> str:
    """Return what an environment variable holds; empty without a name."""
    if name is None:
        return ""
    value = os.environ.get(name, "").strip()
    if not value:
        raise OptionError(f"{option}: the environment variable {name} is not set, or empty.")
    if not value.isascii() or not value.isprintable():
        raise OptionError(f"{option}: what the environment variable {name} holds cannot be sent: it is no plain ASCII.")
    return value


MOST_BYTES = 1 << 26
"""Of a reply that is read into memory: a table of counts, an error."""
PATIENCE = 300.0
"""Seconds for a reply, before any row of it."""
ROWS_A_SECOND = 500
"""A server that sends rows more slowly is not waited for."""
TRIES, FIRST_WAIT = 4, 0.5
"""How often a request is made at most; seconds before the second time, doubled each time."""
N_TRIPLES = "application/n-triples"
ASK_WHO = "name a variable with --key-from"
Row = dict[str, str]
Result = TypeVar("Result")


class RequestError(Exception):
    """A request that failed, and may be made again."""


class SparqlClient:
    """A connection to a server."""

    def __init__(self, store: Store, wait: float = FIRST_WAIT) -> None:
        with needing("Asking a store", "httpx", "store"):
            import httpx
        self.store, self.wait = store, wait
        self._http = self._open()
        self._errors = (httpx.HTTPError, httpx.InvalidURL, RuntimeError, OSError, ValueError)

    def _open(self) -> Any:
        import httpx

        headers = {"User-Agent": "actc", **({"Authorization": f"Bearer {self.store.key}"} if self.store.key else {})}
        return httpx.Client(headers=headers, timeout=httpx.Timeout(PATIENCE, connect=10.0))

    def __enter__(self) -> SparqlClient:
        """Return the client."""
        return self

    def __exit__(self, *problem: object) -> None:
        """Close its connections."""
        self._http.close()

    def select(self, query: str) -> list[Row]:
        """Return the rows of a query: the text of each variable that is bound."""
        return self._again(lambda: self._select(query))

    def ask(self, query: str) -> bool:
        """Return the result of an ASK query."""
        return bool(self._again(lambda: self._json(query)).get("boolean"))

    def update(self, text: str) -> None:
        """Have the server carry out an update; twice must do the same as once."""
        self._again(lambda: self._update(text))

    @contextmanager
    def read_triples(self, rows: int, query: str = "", address: str = "") -> Iterator[Iterator[bytes]]:
        """Give N-Triples in blocks of bytes; a ``RequestError`` where they break off."""
        form = {"query": query} if query else None
        with self._sent(form, f"{N_TRIPLES}, text/plain;q=0.1", PATIENCE + rows / ROWS_A_SECOND, address) as found:
            kind = found.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind not in (N_TRIPLES, "text/plain"):
                shown = self.store.quote_reply(kind or "no format")
                raise StoreError(f"{self.store} answers in {shown}, where N-Triples are needed.")
            yield found.iter_bytes()

    def _select(self, query: str) -> list[Row]:
        try:
            rows = self._json(query)["results"]["bindings"]
            return [{name: str(term["value"]) for name, term in row.items()} for row in rows]
        except (KeyError, TypeError, AttributeError):
            raise StoreError(f"{self.store}: the answer is no table of SPARQL results.") from None

    def _json(self, query: str) -> dict[str, Any]:
        content = bytearray()
        with self._sent({"query": query}, "application/sparql-results+json", PATIENCE) as found:
            for part in found.iter_bytes():
                content += part
                if len(content) > MOST_BYTES:
                    raise StoreError(f"{self.store}: the answer is longer than any table of counts.")
        try:
            table = json.loads(content)
        except (ValueError, RecursionError):
            raise RequestError("the answer is no JSON, or was cut off") from None
        if not isinstance(table, dict):
            raise StoreError(f"{self.store}: the answer is no table of SPARQL results.")
        return table

    def _update(self, text: str) -> None:
        with self._sent({"update": text}, "*/*", PATIENCE) as found:
            for _ in found.iter_bytes():
                pass

    @contextmanager
    def _sent(self, form: dict[str, str] | None, accept: str, seconds: float, address: str = "") -> Iterator[Any]:
        """Send a form to the store, or get what is at an address of it; again with the password, where it asks for one.

        When its time is over the connections are closed: who sends a byte now and then never exceeds a time-out of
        reading, and may never come to the end of the headers.
        """
        if self._http.is_closed:
            self._http = self._open()
        end = threading.Timer(seconds, self._http.close)
        end.daemon = True
        end.start()
        request = {"method": "POST" if form else "GET", "url": address or self.store.place}
        try:
            with self._http.stream(**request, data=form, headers={"Accept": accept}) as found:
                if found.status_code != 401 or self._http.auth is not None or not self.store.user:
                    self._refuse(found)
                    yield found
                    return
                self._log_in(found.headers.get("www-authenticate", ""))
            with self._http.stream(**request, data=form, headers={"Accept": accept}) as found:
                self._refuse(found)
                yield found
        except StoreError:
            raise
        except self._errors as error:
            reason = self.store.quote_reply(str(error)) or type(error).__name__
            raise RequestError("the answer comes too slowly" if self._http.is_closed else reason) from None
        finally:
            end.cancel()

    def _log_in(self, challenge: str) -> None:
        import httpx

        kind = httpx.DigestAuth if challenge.lower().startswith("digest") else httpx.BasicAuth
        self._http.auth = kind(self.store.user, self.store.password)

    def _refuse(self, found: Any) -> None:
        """Raise what a status means: try again, or an error of the store's."""
        code = found.status_code
        if 200 <= code < 300:
            return
        if 300 <= code < 400:
            raise StoreError(f"{self.store} sends requests elsewhere ({code}); give that address.")
        if code in (401, 403):
            given = "the key" if self.store.key else "the user and the password" if self.store.user else ""
            what = f"{given} that it was given will not do" if given else ASK_WHO
            raise StoreError(f"{self.store} refuses ({code}); {what}.")
        text = " ".join(next(found.iter_bytes(2000), b"").decode("utf-8", "replace").split())[:200]
        reason = self.store.quote_reply(text)
        if code in (408, 425, 429) or code >= 500:
            raise RequestError(f"{code} {reason}".strip())
        raise StoreError(f"{self.store} refuses the request ({code}): {reason or 'no reason given'}")

    def _again(self, request: Callable[[], Result]) -> Result:
        """Make a request until it succeeds, a few times at most."""
        for attempt in range(TRIES):
            try:
                return request()
            except RequestError as trouble:
                if attempt + 1 == TRIES:
                    raise StoreError(f"{self.store} cannot be used: {trouble}.".replace("..", ".")) from None
                self.pause(attempt)
        raise AssertionError("unreachable")

    def pause(self, attempt: int) -> None:
        """Wait before a request is made once more."""
        time.sleep(self.wait * 2**attempt)


def refuse_odd_iri(text: str, source: str | Store) -> str:
    """Return an IRI that may stand in a query; refuse anything else, whether an option or a store gave it."""
    from actc.graph.terms import IRI

    if not re.fullmatch(IRI, text):
        shown = repr(text[:200])
        raise StoreError(f"{source}: {source.quote_reply(shown) if isinstance(source, Store) else shown} is no IRI.")
    return text
