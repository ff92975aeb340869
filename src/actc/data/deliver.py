"""Output that is complete or absent: written in a hidden neighbour, moved into place at the end.

There is one way for a file (:func:`write_beside`), and one that keeps other runs out, for a file or a folder
(:func:`deliver`). A run that is killed leaves only its hidden neighbour behind; the next one to the same place clears
it away, and puts back what the killed run had moved aside.
"""

from __future__ import annotations

import errno
import glob
import os
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from actc.errors import ActcError, FileError

MARK = ".unfinished"
PART_NAMES = ("part-*", "_SUCCESS", ".*.crc")
LOCK, NEW, OLD = "lock", "new", "old"
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
NO_ROOM_WORDS = ("No space left", "disk is full", "File too large", "Could not write", "unexpected pos")
LEAST_FREE = 1 << 20
SQLITE = b"SQLite format 3\0"
SESSION_FILES = ("session.sqlite", "pool.parquet", "known.parquet", "secret")
_OWN: set[tuple[int, Path]] = set()  # the places that a thread keeps from all others, see `alone`


def check_writable(path: str | Path, folder: bool = False) -> Path:
    """Refuse a place that no file, or no folder, can be written to; worth asking before long work."""
    path = Path(path)
    if path.is_symlink():  # its target is somebody's
        raise FileError(f"{path} is a link; give the name of what it leads to.")
    if path.exists() and not (path.is_file() or path.is_dir()):  # a device or a pipe, which no file replaces
        raise FileError(f"{path} is no ordinary file; give the name of a file to write.")
    if path.exists() and path.is_dir() != folder:
        there, wanted = ("folder", "file to write") if path.is_dir() else ("file", "folder")
        raise FileError(f"{path} is a {there}; give the name of a {wanted}.")
    if not folder and not path.absolute().parent.is_dir():
        raise FileError(f"{path} cannot be written: there is no folder {path.parent}.")
    return path


def _cannot_write(path: Path, error: OSError) -> FileError:
    return FileError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}.")


@contextmanager
def write_beside(path: str | Path) -> Iterator[Path]:
    """Give a place to write a file to; it takes its name at the end, or is removed if anything fails."""
    path = check_writable(path)
    with _hidden_neighbour(path) as unfinished:
        yield unfinished
        _move(unfinished, path)


@contextmanager
def deliver(path: Path, overwrite: bool = False) -> Iterator[Path]:
    """Give a place to write a file or a folder to, alone, and move it to ``path`` at the end.

    A folder is replaced only if it holds nothing but parts of a table.
    """

    def refuse() -> None:
        if path.exists() and not overwrite:
            raise FileError(f"{path} is there already; choose another name or give --overwrite.")
        others = [one for one in path.iterdir() if not any(map(one.match, PART_NAMES))] if path.is_dir() else []
        if others:
            raise FileError(f"{path} is there already and holds {others[0].name}; choose another name.")

    check_writable(path, path.is_dir())
    with alone(path), _hidden_neighbour(path) as unfinished:
        refuse()
        yield unfinished
        refuse()  # hours may have passed
        _move(unfinished, path)


@contextmanager
def alone(path: Path, shown: Path | None = None, patience: float = 0.0) -> Iterator[None]:
    """Let one run at a time write to a place; another is refused, after so many seconds, and nothing of either is lost.

    The thread that has a place may take it once more. Folders above it are made where they are missing, and removed
    again where nothing came to be in them.
    """
    place, shown, until = path.absolute(), shown or path, time.monotonic() + patience
    own = threading.get_ident(), place
    if own in _OWN:
        yield
        return
    name = place.with_name(f".{place.name}.{LOCK}")
    missing = [one for one in place.parents if not one.exists()]
    while True:
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            lock = open_lock(name)  # closed below, after the name is gone
        except OSError as error:
            raise _cannot_write(shown, error) from None
        free = try_to_lock(lock) is not False
        if free and name.exists() and os.path.samestat(os.fstat(lock.fileno()), name.stat()):
            break
        lock.close()  # another run has it, or has just removed it
        if not free and time.monotonic() >= until:
            raise FileError(f"{shown} is being written by another run; wait for it, or choose another name.")
        time.sleep(0 if free else 0.02)
    _OWN.add(own)
    try:
        yield
    finally:
        _OWN.discard(own)
        name.unlink(missing_ok=True)
        lock.close()
        for folder in missing:
            with suppress(OSError):  # something is in it
                folder.rmdir()


@contextmanager
def _hidden_neighbour(path: Path) -> Iterator[Path]:
    """Give a place in a locked hidden folder beside ``path``, which is gone at the end."""
    place = path.absolute()
    clear_leftovers(place.parent, place.name)
    try:
        scratch = Path(tempfile.mkdtemp(prefix=f".{place.name}.", suffix=MARK, dir=place.parent))
    except OSError as error:
        raise _cannot_write(path, error) from None
    try:
        with open_lock(scratch / LOCK) as lock, _named_failure(path, scratch):
            try_to_lock(lock)
            (scratch / NEW).mkdir()
            yield scratch / NEW / place.name  # writers that look at the ending see that of the output
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _named_failure(path: Path, scratch: Path) -> Iterator[None]:
    """Name the output, not its temporary neighbour, in the error of a full or read-only disk."""
    try:
        yield
    except ActcError as error:
        if str(scratch) in str(error):
            error.args = (str(error).replace(str(scratch / NEW / path.name), str(path)),)
        raise
    except Exception as error:
        text = str(error)
        full = isinstance(error, OSError) and error.errno in NO_ROOM
        if full or str(scratch) in text or any(words in text for words in NO_ROOM_WORDS):
            # DuckDB and SQLite say it in words of their own, torch in an error of any kind.
            reason = (error.strerror or text) if isinstance(error, OSError) else text
            first = next(iter(reason.replace(str(scratch), "...").splitlines()), "").rstrip(".")
            raise FileError(f"{path} cannot be written: {first[:1].lower()}{first[1:]}.") from None
        raise


def _move(unfinished: Path, path: Path) -> None:
    """Give the output its name. A file replaces a file at once; a folder needs the old one out of the way first.

    A replaced file keeps its rights.
    """
    for file in unfinished.rglob("*") if unfinished.is_dir() else [unfinished]:
        if file.is_file() and not file.is_symlink():
            with file.open("rb+") as content:
                os.fsync(content.fileno())  # after a power cut, a name must not stand for an empty file
    if not path.exists() or not (path.is_dir() or unfinished.is_dir()):
        if path.exists():
            unfinished.chmod(path.stat().st_mode & unfinished.stat().st_mode & 0o777)
        os.replace(unfinished, path)
        return
    aside = unfinished.parent.with_name(OLD)
    path.rename(aside)  # killed here, the next run to this place puts it back
    try:
        unfinished.rename(path)
    except BaseException:
        aside.rename(path)
        raise


def clear_leftovers(folder: Path, name: str | None = None) -> None:
    """Remove what killed runs left in a folder, and put back what they had moved aside.

    One that is still alive holds a lock on its own.
    """
    for scratch in folder.glob(f".{'*' if name is None else glob.escape(name)}.*{MARK}"):
        place = folder / scratch.name[1:].rsplit(".", 2)[0]
        status = scratch.lstat()
        # Anybody may put a link, or a folder with links in it, into /tmp.
        foreign = hasattr(os, "geteuid") and status.st_uid != os.geteuid()
        if foreign or not stat.S_ISDIR(status.st_mode):
            continue
        with suppress(OSError), open_lock(scratch / LOCK) as lock:
            if try_to_lock(lock):
                if (scratch / OLD).exists() and not place.exists():
                    (scratch / OLD).rename(place)
                shutil.rmtree(scratch, ignore_errors=True)


def open_lock(path: Path) -> IO[str]:
    """Open a file to lock, made where it is missing; a link may lead to somebody's file, a pipe waits: both refused."""
    refused = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    return open(path, "a", encoding="ascii", opener=lambda name, flags: os.open(name, flags | refused, 0o666))


def try_to_lock(file: IO[str]) -> bool | None:
    """Return whether this run has the lock now; None where the system has none (Windows), and leftovers stay."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True


def check_output(
    path: str | Path,
    *,
    overwrite: bool = False,
    inputs: Iterable[str | Path | None] = (),
    folder: bool = False,
) -> None:
    """Refuse a place where an output must not, or cannot, be written."""
    path = check_writable(path, folder)
    refuse_inputs(path, inputs)
    _refuse_session_files(path)
    if path.exists() and not overwrite and not (folder and not any(path.iterdir())):
        raise FileError(f"{path} is there already; choose another name or give --overwrite.")
    # Folders are made where they are missing.
    parent = next(one for one in path.absolute().parents if one.exists())
    try:
        with tempfile.TemporaryFile(dir=parent) as file:
            file.write(bytes(LEAST_FREE))
    except OSError as error:
        raise _cannot_write(path, error) from None


def refuse_inputs(path: Path, inputs: Iterable[str | Path | None]) -> None:
    """Refuse a place that is read, or that lies in a folder that is read."""
    place = Path(os.path.realpath(path))
    for given in inputs:
        if given is None or not os.path.exists(given):
            continue
        source = Path(os.path.realpath(given))
        same = path.exists() and os.path.samefile(path, given)
        if same or source == place or (source.is_dir() and not _is_session(source) and source in place.parents):
            raise FileError(f"{path} is read by this command, or lies in what is read; write somewhere else.")


def _refuse_session_files(path: Path) -> None:
    if _is_session(path):
        raise FileError(f"{path} is an annotation session; write somewhere else.")
    if _is_session(path.absolute().parent) and path.name.startswith(SESSION_FILES):
        raise FileError(f"{path} belongs to an annotation session; write somewhere else.")
    if path.is_file():
        with path.open("rb") as file:
            if file.read(len(SQLITE)) == SQLITE:
                raise FileError(f"{path} is a database, perhaps a session's; write somewhere else.")


def _is_session(folder: Path) -> bool:
    return (folder / "session.sqlite").exists()
