"""Scripts, the stylesheet and the icon, as files of a server."""

from __future__ import annotations

from importlib.resources import files
from pathlib import PurePath

from fastapi import HTTPException
from fastapi.responses import Response

from actc.data.pages import read_template

KINDS = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}


def read_files(*packages: str) -> dict[str, bytes]:
    """Return the scripts, styles and icons that lie in packages, and the one stylesheet, by their names."""
    found = {"page.css": read_template("page.css").encode()}
    for package in packages:
        parts = files(package).iterdir()
        found |= {part.name: part.read_bytes() for part in parts if PurePath(part.name).suffix in KINDS}
    return found


def send_file(there: dict[str, bytes], name: str) -> Response:
    """Return one of the files that there are."""
    if name not in there:
        raise HTTPException(404, "There is no such file.")
    return Response(there[name], media_type=KINDS[PurePath(name).suffix])
