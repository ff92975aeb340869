"""The planner in a process of its own, which ends however its parent ends.

As a program (``python -m actc.session.planner_process SESSION``) it plans until its standard input closes. Why it
fails, if it does, is one line in a file, for the owner's page and ``actc report``: the database may be what failed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from actc.errors import ActcError, describe_failure
from actc.methods.named import find_method, imported_name
from actc.session.session import FAILURE, Session

GOODBYE_SECONDS = 2.0
"""How long a planner may take to end when its parent does."""


def write_failure(folder: Path, error: Exception) -> str:
    """Write why planning failed, if there is room for it; return the sentence."""
    try:
        message = str(error) if isinstance(error, ActcError) else describe_failure(error)
    except Exception:  # no failure of the machine's
        message = f"a fault in actc: {type(error).__name__}: {error}"
    sentence = " ".join(message.split())
    with suppress(OSError):
        (folder / FAILURE).write_text(sentence + "\n", encoding="utf-8", errors="replace")
    return sentence


def planner_command(folder: Path) -> list[str]:
    """Return the command that runs a session's planner, which imports nothing from the folder it is started in.

    A method of the user's own is imported there too, if this process imported it.
    """
    with closing(Session(folder, synced=False)) as session:
        method = session.settings.method
    return [sys.executable, "-P", "-m", "actc.session.planner_process", str(folder), *imported_name(method)]


@contextmanager
def planning(folder: Path, report: Callable[[str], None]) -> Iterator[None]:
    """Keep a planner running in a process of its own; it ends with this block, or with this process."""
    ending, starting, command = threading.Event(), threading.Lock(), planner_command(folder)
    current: list[subprocess.Popen[bytes]] = []

    def keep_running() -> None:
        while True:
            with starting:  # none is started once the block has ended
                if ending.is_set():
                    return
                process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
                )
                current[:] = [process]
            assert process.stderr is not None
            with process.stderr as errors:
                error = errors.read().decode(errors="replace").strip()
            _end(process)
            if not ending.wait(1.0):
                report(f"The planner stopped and is started again: {(error.splitlines() or ['no reason given'])[-1]}")

    thread = threading.Thread(target=keep_running, daemon=True)
    thread.start()
    try:
        yield
    finally:
        with starting:
            ending.set()
        for process in current:
            _end(process)
        thread.join(10)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let a planner end by itself; one that is still loading, which takes long on a busy machine, is killed.

    Nothing is lost with it: it writes in one transaction, and what it writes can be computed again.
    """
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(GOODBYE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main(folder: str, method: str | None = None) -> None:
    """Plan until standard input closes; with a method of the user's own, if it is named."""

    def leave_with_parent() -> None:
        sys.stdin.buffer.read()
        os._exit(0)

    threading.Thread(target=leave_with_parent, daemon=True).start()
    try:
        _plan_for_ever(Path(folder), method)
    except Exception as error:
        print(write_failure(Path(folder), error), file=sys.stderr, flush=True)
        os._exit(1)  # an ordinary end would wait for the thread that reads, and die of it


def _plan_for_ever(folder: Path, method: str | None) -> None:
    from actc.session.audit import AuditPlanner
    from actc.session.plan import Planner

    if method is not None:
        find_method(method)
    session = Session(folder, synced=False)
    planner = AuditPlanner(session) if session.settings.is_audit else Planner(session)
    while True:
        started = time.process_time()
        planner.step()
        with suppress(OSError):
            (folder / FAILURE).unlink(missing_ok=True)
        # At most half of a core, on a busy machine, too: annotators come first, but soon they need new cards.
        time.sleep(max(0.2, time.process_time() - started))


if __name__ == "__main__":
    main(*sys.argv[1:])
