"""Connections that ask for nothing keep nobody out: few seconds for a request to be complete, and a bounded number.

A server process may hold so many files open, and every connection is one. When all are in use, the one that has waited
longest without ever asking anything makes room for the next.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

SECONDS = 20.0
"""For a request to be complete, from the connection or from the answer before."""


def guarded(most: int, seconds: float = SECONDS) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol with a bound on connections, and on the time that they may be silent.

    Parameters
    ----------
    most : int
        How many connections are held at most.
    seconds : float
        How long one may take to complete a request, headers and body.
    """
    everyone: dict[Any, None] = {}  # in the order they came; those that asked something are sorted out below

    class Guarded(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(everyone) >= most and not _make_room():
                transport.abort()
                return
            everyone[self] = None
            self._began, self._answered = self.loop.time(), None
            self._watch = self.loop.call_later(seconds / 4, self._look)

        def connection_lost(self, error: Exception | None) -> None:
            if self in everyone:
                del everyone[self]
                self._watch.cancel()
            super().connection_lost(error)

        def _look(self) -> None:
            """End the connection if it has asked nothing for too long; otherwise look again soon."""
            cycle = self.cycle
            if cycle is not None and cycle.response_complete and cycle is not self._answered:
                self._began, self._answered = self.loop.time(), cycle  # the time for the next request begins here
            at_work = cycle is not None and not cycle.response_complete and not cycle.more_body
            if not at_work and self.loop.time() - self._began > seconds:
                self.transport.abort()
                return
            self._watch = self.loop.call_later(seconds / 4, self._look)

    def _make_room() -> bool:
        silent = next((one for one in everyone if one.cycle is None), None)
        if silent is None:
            return False
        del everyone[silent]
        silent._watch.cancel()
        silent.transport.abort()
        return True

    return Guarded
