"""Make the files that the owner's page offers; what needs the whole pool in memory in a process of its own.

As a program (``python -m actc.session.make_file SESSION NAME OUT``) it makes one and ends: the server that asked for it
stays as small as it was.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from actc.errors import ActcError, SessionError
from actc.methods.named import import_here, imported_name
from actc.session.examine import write_report
from actc.session.exchange import write_history, write_labels
from actc.session.find_case import find_case
from actc.session.results import write_accepted, write_thresholds
from actc.session.session import Session, open_session

MOST_SECONDS = 600.0
"""How long a file may take; a report on a million candidates takes a small part of it."""
MAKERS: dict[str, Callable[[Session, Path], object]] = {
    "labels.tsv": write_labels,
    "history.jsonl": write_history,
    "thresholds.json": lambda session, out: write_thresholds(find_case(session), out),
    "accepted.tsv": lambda session, out: write_accepted(find_case(session), out),
    "report.html": write_report,
}
AT_ONCE = ("labels.tsv", "history.jsonl")
"""These need no pool."""


def make_file(session: Session, name: str) -> bytes:
    """Return the content of a file about a session, as it is now."""
    # Beside the session: paths in a file are relative to it, so it is right wherever it lies beside the session.
    out = session.folder.absolute().parent / f".{session.folder.name}-{secrets.token_hex(4)}-{name}"
    try:
        if name in AT_ONCE:
            MAKERS[name](session, out)
        else:
            _make_beside(session, name, out)
        return out.read_bytes()
    finally:
        out.unlink(missing_ok=True)


def _make_beside(session: Session, name: str, out: Path) -> None:
    """Make a file in another process; its error is ours."""
    own = imported_name(session.settings.method)
    command = [sys.executable, "-P", "-m", "actc.session.make_file", str(session.folder), name, str(out), *own]
    done = subprocess.run(command, capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
    if done.returncode:
        raise SessionError((done.stderr.strip().splitlines() or ["It could not be made."])[-1])


def main(folder: str, name: str, out: str, method: str | None = None) -> None:
    """Make one file; what goes wrong is one sentence on standard error."""
    if method is not None:
        import_here(method)
    try:
        with open_session(folder) as session:
            MAKERS[name](session, Path(out))
    except ActcError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
