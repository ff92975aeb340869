"""What the studio's routes share: who asks, and for which project."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fastapi import Depends, HTTPException, Request
from fastapi import Path as InPath

from actc.data.files import ordinary
from actc.errors import FileError
from actc.web.common import bearer
from actc.web.studio.project import HIDDEN, Project, find_project
from actc.web.studio.sessions import Sessions

NOT_HERE = "Open the studio with its own link, which the terminal shows."


@dataclass(frozen=True)
class Studio:
    """A folder with projects, and the secret that opens it.

    Parameters
    ----------
    folder : Path
    token : str
        The secret part of its link.
    sessions : Sessions
        The pages of people who judge.
    others : str, optional
        By which name other machines reach it; None where they cannot.
    """

    folder: Path
    token: str
    sessions: Sessions
    others: str | None = None

    @property
    def cookie(self) -> str:
        """The name of its cookie."""
        return f"actc_studio_{hashlib.sha256(self.token.encode()).hexdigest()[:8]}"

    @property
    def place(self) -> str:
        """Where its pages are: a cookie of a path that nobody can guess goes to no other port."""
        return f"/{hashlib.sha256(f'place {self.token}'.encode()).hexdigest()[:32]}"

    def opens(self, token: str) -> bool:
        """Say whether a token is the right one, in constant time."""
        return hmac.compare_digest(self.token.encode(), token.encode("utf-8", "replace"))


def read_token(folder: Path) -> str:
    """Return the secret of a studio's folder, made when it is first asked for and readable by its owner alone."""
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


async def studio_of(request: Request) -> Studio:
    """Return the studio, if whoever asks may."""
    studio: Studio = request.app.state.studio
    if not studio.opens(bearer(request) or request.cookies.get(studio.cookie, "")):
        raise HTTPException(401, NOT_HERE)
    return studio


OpenStudio = Annotated[Studio, Depends(studio_of)]


def project_of(studio: OpenStudio, name: Annotated[str, InPath(max_length=40)]) -> Project:
    """Return the project that a path names."""
    try:
        return find_project(studio.folder, name)
    except FileError as error:
        raise HTTPException(404, str(error)) from None


OpenProject = Annotated[Project, Depends(project_of)]
