"""Work in processes of their own: the planner, and the files of the owner's page.

``python -m actc.session.processes SESSION METHOD`` plans until its standard input closes; with ``NAME OUT`` it makes
one file and ends. What needs the whole pool in memory runs there, so a server of pages stays as small as it was. Why
planning fails, if it does, is one line in a file, for the owner's page and ``actc report``: the database may be what
failed.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from actc.errors import SessionError, describe_failure
from actc.methods.named import IMPORTED, find_method
from actc.session.export import export_session, write_report
from actc.session.plan import Planner
from actc.session.session import FAILURE, Session

GOODBYE_SECONDS = 2.0
"""How long a planner may take to end when its parent does."""
MOST_SECONDS = 600.0
"""How long a file may take; a report on a million candidates takes a small part of it."""


def describe_in_a_line(error: Exception) -> str:
    """Describe any error in one line."""
    try:
        message = describe_failure(error)
    except Exception:  # no failure of the machine's
        message = f"a fault in actc: {type(error).__name__}: {error}"
    return " ".join(message.split())


def command_of(session: Session, *words: str) -> list[str]:
    """Return the command of a process for a session, which imports nothing from the folder it is started in.

    A method of the user's own is imported there too, if this process imported it.
    """
    own = session.settings.method if session.settings.method in IMPORTED else ""
    return [sys.executable, "-P", "-m", "actc.session.processes", str(session.folder), own, *words]


@contextmanager
def planning(session: Session, report: Callable[[str], None]) -> Iterator[None]:
    """Keep a planner running in a process of its own; it ends with this block, or with this process."""
    command = command_of(session)
    ending, starting = threading.Event(), threading.Lock()
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


def _plan_until_closed(session: Session) -> None:
    """Plan until standard input closes, which is when the parent ends, however it ends."""

    def leave_with_parent() -> None:
        sys.stdin.buffer.read()
        os._exit(0)

    threading.Thread(target=leave_with_parent, daemon=True).start()
    planner = Planner(session)
    while True:
        started = time.process_time()
        planner.step()
        with suppress(OSError):
            (session.folder / FAILURE).unlink(missing_ok=True)
        # At most half of a core, on a busy machine, too: annotators come first, but soon they need new cards.
        time.sleep(max(0.2, time.process_time() - started))


def make_file(session: Session, name: str) -> bytes:
    """Return the content of a file that the owner's page offers, as it is now."""
    # Beside the session: paths in a file are relative to it, so it is right wherever it lies beside the session.
    out = session.folder.absolute().parent / f".{session.folder.name}-{secrets.token_hex(4)}-{name}"
    try:
        command = command_of(session, name, str(out))
        done = subprocess.run(command, capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
        if done.returncode:
            raise SessionError((done.stderr.strip().splitlines() or ["It could not be made."])[-1])
        return out.read_bytes()
    finally:
        out.unlink(missing_ok=True)


def main(folder: str, method: str, name: str = "", out: str = "") -> None:
    """Make a file, or plan; an error is one line on standard error, and of a planner also in a file."""
    if method:
        find_method(method)
    try:
        with closing(Session(folder, synced=bool(name))) as session:
            if name == "report.html":
                write_report(session, out)
            elif name:  # labels.tsv, history.jsonl, thresholds.json or accepted.tsv
                export_session(session, **{name.partition(".")[0]: out})
            else:
                _plan_until_closed(session)
    except Exception as error:
        sentence = describe_in_a_line(error)
        if not name:
            with suppress(OSError):
                (Path(folder) / FAILURE).write_text(sentence + "\n", encoding="utf-8", errors="replace")
        print(sentence, file=sys.stderr, flush=True)
        os._exit(1)  # an ordinary end would wait for the thread that reads, and die of it


if __name__ == "__main__":
    main(*sys.argv[1:])
