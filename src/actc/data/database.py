"""DuckDB as everything here uses it: in memory, silent, and with no more memory than it is given."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

from actc.data.frames import silence
from actc.data.progress import Progress
from actc.errors import OptionError

LEAST_MEMORY = 256e6
LIMITS = {
    "memory_limit": "4GB",
    "max_temp_directory_size": "20GB",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
"""What a database may use: a small file can unpack to more than any machine has."""


@contextmanager
def open_database() -> Iterator[Any]:
    """Open a database in memory; it has a bounded memory, a folder of its own to spill into, and installs nothing."""
    import duckdb

    with (
        tempfile.TemporaryDirectory(prefix="actc-") as folder,
        duckdb.connect(config={**LIMITS, "temp_directory": folder}) as connection,
    ):
        yield silence(connection)


def parse_bytes(text: str) -> int:
    """Read an amount such as ``800MB`` or ``1.5 GB`` as bytes, else 0; units are powers of 1,000, as in DuckDB."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT])i?B?\s*", text, flags=re.IGNORECASE)
    return int(float(match[1]) * 1000 ** (" KMGT".index(match[2].upper()))) if match else 0


def parse_memory(text: str) -> int:
    """Read an amount of memory that is enough to work in, as bytes."""
    amount = parse_bytes(text)
    if amount < LEAST_MEMORY:
        raise OptionError(f"{text!r} is not enough memory, or none at all; write at least 256MB, such as 1GB.")
    return amount


def run_watched(
    action: Callable[[], Any],
    share_done: Callable[[], float],
    cancel: Callable[[], Any],
    progress: Progress,
    span: tuple[int, int],
) -> Any:
    """Run an action in a thread and return what it returns, so that progress can be told and an interrupt cancels it.

    Parameters
    ----------
    share_done : callable
        How much of it is done, 0 ... 1, as far as can be told.
    progress, span : callable, (int, int)
        Told how many more per cent are done: the action takes them from the first to the second number.
    """
    with ThreadPoolExecutor(1) as thread:
        running, done, over = thread.submit(action), span[0], set[Any]()
        try:
            while not over:
                over = wait([running], 0.1).done
                share = 1.0 if over else min(max(share_done(), 0.0), 1.0)
                now = max(done, span[0] + int(share * (span[1] - span[0])))
                progress(now - done, 100)
                done = now
        except BaseException:
            cancel()
            raise
        return running.result()
