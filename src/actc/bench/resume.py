"""A file of rows that may be cut off at any moment: a second start goes on from what is there.

Rows of a chunk are appended together, chunks in the order of the plan, so the file is the same for any number of
processes. Starting again keeps every whole chunk that is in the file and drops what was cut off. What the rows have in
common stands beside the file, in ``path.json``, and must be what is wanted now.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from actc.bench.plans import Chunk, Experiment
from actc.bench.rows import Run, read_rows, write_rows
from actc.data.deliver import clear_leftovers, refuse_odd_place
from actc.data.files import load_json, write_json
from actc.errors import OptionError


def place_of_conditions(path: Path) -> Path:
    """Return the path of what the rows of a file have in common."""
    return path.with_name(path.name + ".json")


def open_rows(path: Path, plan: Experiment, also: Mapping[str, Any]) -> set[Chunk]:
    """Begin a file or go on with one; return the chunks whose rows are in it, all of them.

    Parameters
    ----------
    path : Path
    plan : Experiment
        Its conditions must be those of the file; rows of runs that it does not have stay.
    also : mapping
        What else must be the same.
    """
    beside = place_of_conditions(path)
    clear_leftovers(path.parent, beside.name)
    wanted = json.loads(json.dumps({**asdict(plan.conditions), **also}))
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        refuse_odd_place(path)  # before anything lies beside it
        write_json(beside, wanted)
        write_rows(path, [], plan.conditions.metrics)
        return set()
    found = load_json(beside) if beside.exists() else {}
    for name, value in wanted.items():
        if found.get(name) != value:
            raise OptionError(
                f"{path} was made with {name} {_show(found.get(name))}, not {_show(value)}; "
                "write somewhere else with --out, or delete the file to begin again."
            )
    return _keep_whole_chunks(path, plan)


def _show(value: Any) -> str:
    return (", ".join(map(str, value)) or "none") if isinstance(value, list) else str(value)


def _keep_whole_chunks(path: Path, plan: Experiment) -> set[Chunk]:
    """Drop rows of chunks that were cut off; rows of runs that are not planned now stay."""
    metrics = plan.conditions.metrics
    rows = read_rows(path, metrics)
    planned: dict[tuple[Run, int], Chunk] = {
        (chunk.run, repeat): chunk for chunk in plan.chunks for repeat in chunk.written
    }
    owners = [planned.get((row.run, row.repeat)) for row in rows]
    counts = Counter(owners)
    whole = {chunk for chunk in plan.chunks if counts[chunk] == plan.count_rows(chunk)}
    kept = [row for row, owner in zip(rows, owners, strict=True) if owner is None or owner in whole]
    write_rows(path, kept, metrics)
    return whole
