"""DuckDB as everything here uses it: in memory, silent, and with no more memory than it is given."""

from __future__ import annotations

import re
from typing import Any

from actc.errors import OptionError
from actc.frames import silence

LEAST_MEMORY = 256e6


def open_database() -> Any:
    """Open a database in memory, which closes at the end of a ``with`` block."""
    import duckdb

    return silence(duckdb.connect())


def parse_memory(text: str) -> int:
    """Read an amount of memory such as ``800MB`` or ``1.5 GB`` as bytes; units are powers of 1,000, as in DuckDB."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT])i?B?\s*", text, flags=re.IGNORECASE)
    amount = float(match[1]) * 1000 ** (" KMGT".index(match[2].upper())) if match else 0.0
    if amount < LEAST_MEMORY:
        raise OptionError(f"{text!r} is not enough memory, or none at all; write at least 256MB, such as 1GB.")
    return int(amount)
