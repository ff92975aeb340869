"""Why no questions are planned, in words, for the owner's page and ``actc report``: one line in a file.

A planner that fails writes it, one that plans removes it. No database is asked: it may be what failed.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from actc.data.files import ordinary
from actc.errors import ActcError, say_failure

TROUBLE = "trouble.txt"


def write_trouble(folder: Path, error: Exception) -> str:
    """Write down why planning failed, if there is room for it; return the sentence."""
    try:
        message = str(error) if isinstance(error, ActcError) else say_failure(error)
    except Exception:  # no fault of the world's
        message = f"a fault in actc: {type(error).__name__}: {error}"
    sentence = " ".join(message.split())
    with suppress(OSError):
        (folder / TROUBLE).write_text(sentence + "\n", encoding="utf-8", errors="replace")
    return sentence


def remove_trouble(folder: Path) -> None:
    """Say that planning goes on."""
    with suppress(OSError):
        (folder / TROUBLE).unlink(missing_ok=True)


def read_trouble(folder: Path) -> str:
    """Return why no questions are planned; empty if they are."""
    try:
        return ordinary(folder / TROUBLE).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
