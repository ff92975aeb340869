"""One file from the internet: retried, resumed where it broke off, and checked before it counts.

A download grows as ``name.part`` beside its place and takes its name only when its checksum is right, so a
file that is there is a file that is whole.
"""

from __future__ import annotations

import hashlib
import time
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from actc.errors import FileError

CHUNK = 1 << 16
TIMEOUT_SECONDS = 30.0
# Answers that may be different a moment later; any other refusal is final.
PASSING_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})


def fetch_file(url: str, path: Path, sha256: str, *, attempts: int = 5, wait_seconds: float = 1.0) -> Path:
    """Make sure that ``path`` holds the file at ``url``, downloading what is missing of it.

    Parameters
    ----------
    url : str
        Where the file is.
    path : Path
        Where it should be; returned. Nothing is fetched when it is there already.
    sha256 : str
        Checksum of the whole file, in hexadecimal.
    attempts : int
        How often to try, each time going on from the bytes that came.
    wait_seconds : float
        Pause before the second attempt, doubled before each further one.

    Raises
    ------
    FileError
        If the file cannot be had, or is not the one that was expected.
    """
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    for attempt in range(attempts):
        if attempt:
            time.sleep(wait_seconds * 2 ** (attempt - 1))
        try:
            _append_rest(url, part)
        except HTTPError as error:
            problem = f"the server says {error.code} {error.reason}"
            if error.code not in PASSING_STATUS:
                raise FileError(f"{url} could not be downloaded: {problem}.") from error
        except (OSError, HTTPException) as error:
            problem = str(getattr(error, "reason", error)) or type(error).__name__
        else:
            return _keep_if_right(url, part, path, sha256)
    raise FileError(f"{url} could not be downloaded after {attempts} attempts: {problem}. Is this machine offline?")


def _append_rest(url: str, part: Path) -> None:
    start = part.stat().st_size if part.exists() else 0
    request = Request(url, headers={"Range": f"bytes={start}-"} if start else {})
    try:
        answer = urlopen(request, timeout=TIMEOUT_SECONDS)
    except HTTPError as error:
        # The server has no byte beyond the ones that are here: the part is the whole file.
        if error.code == 416 and start:
            return
        raise
    with answer:
        # A server that does not know Range sends everything again, with 200 instead of 206.
        resumed = answer.status == 206
        expected = int(answer.headers.get("Content-Length", -1))
        received = 0
        with part.open("ab" if resumed else "wb") as target:
            while chunk := answer.read(CHUNK):
                received += len(chunk)
                target.write(chunk)
    if 0 <= expected != received:
        raise OSError(f"the connection broke off after {received} of {expected} bytes")


def _keep_if_right(url: str, part: Path, path: Path, sha256: str) -> Path:
    with part.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        part.unlink()
        raise FileError(f"{url} is not the file that was expected: its SHA-256 is {found}, not {sha256}.")
    return part.replace(path)
