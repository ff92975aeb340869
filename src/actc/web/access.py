"""Who may ask: secret links, the cookies that they leave, and routes that check them before they read anything else.

A link's token is the annotator's number and a keyed hash of the name it stands for, and of how often it was made anew.
So links stay the same over restarts, and nothing about them needs to be stored beside the secret and that count.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field

from actc.data.pages import render
from actc.data.text_files import ordinary
from actc.errors import FileError
from actc.session import Annotator, Session

ALONE = "you"
"""The name of somebody who judges a session of their own."""
JUDGE, OWNER_PAGE = "judge", "owner"
KINDS = {JUDGE: "person", OWNER_PAGE: "owner"}
"""Whose link opens which page."""
LARGEST = 2**62
Key = Annotated[str, Field(min_length=1, max_length=64, pattern="^[A-Za-z0-9_.-]+$")]
"""A sender's own name for something to be stored: sent twice, it is stored once."""


class Strict(BaseModel):
    """A body without unknown fields."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Links:
    """Tokens of a session.

    Parameters
    ----------
    secret : bytes
        The session's secret.
    root : str
        What every path begins with, where the session's pages are part of others.
    """

    secret: bytes
    root: str = ""

    @classmethod
    def of(cls, folder: Path, root: str = "") -> Links:
        """Read the secret of a session folder."""
        try:
            secret = ordinary(folder / "secret").read_bytes()
        except OSError:
            raise FileError(f"{folder / 'secret'}: the file cannot be read; the session is incomplete.") from None
        if len(secret) < 32:
            raise FileError(f"{folder / 'secret'}: the file is too short; the session is damaged.")
        return cls(secret, root)

    def token(self, annotator: Annotator) -> str:
        """Return the secret part of an annotator's link."""
        # No name holds a line break, so nobody's first link is another's later one.
        later = f"\n{annotator.link}" if annotator.link else ""
        return f"{annotator.id}-{self._sign(f'{annotator.kind}:{annotator.name}{later}')}"

    def path(self, annotator: Annotator) -> str:
        """Return the path of an annotator's link."""
        return f"{self.root}/{'o' if annotator.kind == 'owner' else 'j'}/{self.token(annotator)}"

    @property
    def place(self) -> str:
        """Where the pages are that a link leads to: a cookie of a path that nobody can guess goes to no other port."""
        return f"{self.root}/{self._sign('place')}"

    def cookie(self, page: str) -> str:
        """Return the name of a page's cookie."""
        return f"actc_{self._sign('cookie')[:8].replace('-', 'x').replace('_', 'y')}_{page}"

    def match(self, session: Session, token: str, *kinds: str) -> Annotator | None:
        """Return whose token it is, of some kinds, if it still is: the link may be void, or made anew."""
        number = re.match("[0-9]{1,9}-", token)
        for annotator in session.annotators(int(number[0][:-1])) if number else []:
            same = hmac.compare_digest(self.token(annotator).encode(), token.encode("utf-8", "replace"))
            if same and annotator.kind in kinds and annotator.link >= 0:
                return annotator
        return None

    def _sign(self, text: str) -> str:
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
