"""Commands that run in processes of their own, and go on when the studio's server ends.

A run is a folder. Its supervisor (``python -m actc.web.studio.runs RUN``) holds a lock in it for as long as it lives,
runs the command lines one after the other, and writes how they ended. So a run that lives differs
from one that was killed, after a restart too, which can be started again: commands go on from what is on the disk.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from actc.data.deliver import try_to_lock
from actc.data.progress import PROGRESS, read_progress
from actc.data.text_files import load_json, write_json
from actc.errors import OptionError

LIVING = ("waiting", "running")
TITLES = {"go": "Prepare the cards", "decide": "Decide", "audit": "Audit", "publish": "Publish", "withdraw": "Withdraw"}
STATES = {
    "waiting": "is being started",
    "running": "at work",
    "done": "done",
    "failed": "did not work",
    "cancelled": "cancelled",
    "interrupted": "was interrupted",
}
LINES, MOST_LOG = 40, 64 * 1024
TRIES = 20  # of a supervisor to get its lock: a look at a run has it for a moment


@dataclass(frozen=True)
class StudioRun:
    """A run, as its folder has it."""

    folder: Path

    @property
    def id(self) -> int:
        """Its number."""
        return int(self.folder.name)

    @property
    def project(self) -> Path:
        """The project's folder, where its command lines are run."""
        return self.folder.parent.parent

    @property
    def request(self) -> dict[str, Any]:
        """What was requested, and when."""
        return read_object(self.folder / "run.json")

    @property
    def state(self) -> str:
        """One of waiting, running, done, failed, cancelled, interrupted."""
        ended = read_object(self.folder / "ended.json")
        if ended:
            return str(ended["state"])
        if _is_locked(self.folder / "lock"):
            return "running"
        if (self.folder / "cancel").exists():
            return "cancelled"
        return "interrupted" if (self.folder / "pid").exists() else "waiting"

    def describe(self) -> dict[str, Any]:
        """Return what a page shows of it."""
        state, request, ended = self.state, self.request, read_object(self.folder / "ended.json")
        seconds = ended.get("seconds")
        if state == "running":
            seconds = time.time() - (self.folder / "lock").stat().st_mtime  # it is taken when the run begins
        return {
            "id": self.id,
            "what": request.get("what"),
            "where": request.get("where"),
            "title": TITLES.get(request.get("what", "")),
            "command": "\n".join(shlex.join(words) for words in request.get("commands", [])),
            "state": state,
            "living": state in LIVING,
            "words": STATES[state],
            "seconds": seconds,
            "stages": read_progress(self.folder / "progress.jsonl"),
            "log": _tail(self.folder / "log.txt"),
        }

    def start(self) -> None:
        """Start the supervisor, which leaves a run alone that lives already, and outlives this process."""
        command = [sys.executable, "-P", "-m", "actc.web.studio.runs", str(self.folder)]
        null = subprocess.DEVNULL
        call = partial(subprocess.call, command, stdin=null, stdout=null, stderr=null, start_new_session=True)
        threading.Thread(target=call, daemon=True).start()  # which waits for its end

    def cancel(self) -> None:
        """End the run; what its commands have finished so far stays."""
        (self.folder / "cancel").touch()
        if self.state == "running":
            with suppress(ValueError, OSError):
                os.killpg(int((self.folder / "pid").read_text()), signal.SIGTERM)

    def again(self) -> None:
        """Start the run once more; its command goes on from the files that are there."""
        if self.state in LIVING:
            raise OptionError("This run has not ended yet.")
        for name in ("ended.json", "cancel", "pid", "progress.jsonl"):
            (self.folder / name).unlink(missing_ok=True)
        self.start()


def list_runs(project: Path) -> list[StudioRun]:
    """Return the runs of a project, oldest first."""
    runs = (StudioRun(path.parent) for path in project.glob("runs/*/run.json") if path.parent.name.isdigit())
    return sorted(runs, key=lambda one: one.id)


def add_run(
    project: Path, what: str, commands: Sequence[Sequence[str]], where: dict[str, Any] | None = None
) -> StudioRun:
    """Request a run; one at a time works on a project."""
    before = list_runs(project)
    if any(one.state in LIVING for one in before):
        raise OptionError("A run of this project has not ended yet; wait for it, or cancel it.")
    folder = project / "runs" / str(before[-1].id + 1 if before else 1)
    folder.mkdir(parents=True, exist_ok=True)
    request = {"what": what, "where": where, "commands": [list(words) for words in commands], "at": time.time()}
    write_json(folder / "run.json", request)
    return StudioRun(folder)


def resume_runs(studio: Path) -> None:
    """Start the runs of a studio that a kill has ended."""
    for project in studio.iterdir():
        for run in [] if project.is_symlink() else list_runs(project)[-1:]:
            if run.state == "interrupted":
                run.again()
            elif run.state == "waiting":
                run.start()


def supervise(folder: Path) -> None:
    """Run the command lines of a run, one after the other, and write how they ended."""
    run = StudioRun(folder)
    with (folder / "lock").open("w") as lock:
        for _ in range(TRIES):
            if try_to_lock(lock) is not False:
                break
            time.sleep(0.05)
        else:
            return
        if read_object(folder / "ended.json") or (folder / "cancel").exists():
            return
        started = time.time()
        (folder / "pid").write_text(str(os.getpid()))

        def end(state: str) -> None:
            write_json(folder / "ended.json", {"state": state, "seconds": round(time.time() - started, 1)})

        def leave(*_: object) -> None:  # what ends a run ends its whole group
            end("cancelled")
            os._exit(0)

        signal.signal(signal.SIGTERM, leave)
        with (folder / "log.txt").open("ab") as log:
            failed = any(_call(words, run.project, folder, log) for words in run.request["commands"])
        end("failed" if failed else "done")


def _call(words: Sequence[str], project: Path, folder: Path, log: Any) -> int:
    log.write(f"$ {shlex.join(words)}\n".encode())
    log.flush()
    command = [sys.executable, "-P", "-m", "actc.cli.main", *words[1:]]
    where = {**os.environ, PROGRESS: str(folder / "progress.jsonl")}
    return subprocess.call(command, cwd=project, env=where, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def _is_locked(path: Path) -> bool:
    try:
        with path.open("r+") as lock:
            return try_to_lock(lock) is False
    except OSError:
        return False


def read_object(path: Path) -> dict[str, Any]:
    """Read a file that the studio or a command wrote as JSON; empty where there is none, or a damaged one."""
    try:
        return dict(load_json(path))
    except (OSError, ValueError, TypeError):
        return {}


def _tail(path: Path) -> list[str]:
    """Return the last lines of a log."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - MOST_LOG))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    return text.splitlines()[-LINES:]


if __name__ == "__main__":
    supervise(Path(sys.argv[1]))
