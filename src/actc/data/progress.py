"""Progress: of a command, a line of JSON for each step in the file that ACTC_PROGRESS names."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

Progress = Callable[[int, int], object]
"""Gets how many more steps are done, of how many in all."""
Advance = Callable[..., Any]
Stage = Callable[[str], AbstractContextManager[Advance]]
"""Called with a stage's name, for as long as it lasts: gives a function to call with steps done, and steps in all."""
PROGRESS = "ACTC_PROGRESS"
PAUSE = 0.2  # seconds between two lines of a stage


def ignore_progress(done: int, total: int) -> None:
    """Report nothing."""


def no_stage(name: str) -> AbstractContextManager[Callable[..., Any]]:
    """Report no stage."""
    return nullcontext(lambda *steps: None)


def report_progress(stage: str) -> Callable[..., None]:
    """Return a function that reports steps done, and steps in all, of a stage that begins now."""
    name = os.environ.get(PROGRESS)
    if not name:
        return lambda done, total=None: None
    path, steps, last = Path(name), 0, 0.0

    def report(done: int, total: int | None = None) -> None:
        nonlocal steps, last
        steps += done
        now = time.time()
        if now - last >= PAUSE or not done or (total is not None and steps >= total):
            last = now
            line = {"stage": stage, "done": steps, "total": total, "at": now}
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    report(0)
    return report


def read_progress(path: Path) -> list[dict[str, Any]]:
    """Return the stages that were reported: name, done, total, and how many seconds each has taken so far."""
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
    except (OSError, ValueError):
        return []
    stages: list[dict[str, Any]] = []
    for line in lines:
        if not line["done"] or not stages or stages[-1]["name"] != line["stage"]:
            stages.append({"name": line["stage"], "began": line["at"]})
        total = None if line["total"] is None else max(line["total"], line["done"])  # work may turn out to be more
        stages[-1] |= {"done": line["done"], "total": total, "seconds": line["at"] - stages[-1]["began"]}
    return stages
