"""What an earlier run of `actc complete` left in its folder, and whether its inputs were the same."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from actc.data.deliver import LOCK, alone, clear_leftovers
from actc.data.text_files import load_json, write_json
from actc.errors import ActcError, FileError, OptionError

BEGUN = "begun.json"
LOCKED = f".{BEGUN}.{LOCK}"


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Let one run at a time work in a folder; another one is refused, before it looks at what is there.

    A run that is refused before it has finished a stage leaves nothing there that was not there before.
    """
    before = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    with alone(folder / BEGUN, folder):
        try:
            yield
        except ActcError:
            begun = None if BEGUN in before else Begun.peek(folder)
            if begun is not None and not begun.done:
                for path in folder.iterdir():
                    if path.name not in (*before, LOCKED):
                        shutil.rmtree(path) if path.is_dir() else path.unlink()
            raise


@dataclass(frozen=True)
class Begun:
    """A folder in which a run was begun: its inputs, and how far it came."""

    folder: Path
    inputs: dict[str, Any]  # what the candidates and their scores depend on
    done: dict[str, Any]  # what each finished stage left to say

    @classmethod
    def open(
        cls, folder: Path, inputs: dict[str, Any], set_aside: Callable[[Path], None], staying: tuple[str, ...]
    ) -> Begun:
        """Begin in a new or empty folder, or go on; what was begun with other inputs is set aside."""
        path = folder / BEGUN
        clear_leftovers(folder)
        if not path.exists():
            if folder.exists() and any(one.name not in (*staying, LOCKED) for one in folder.iterdir()):
                raise OptionError(f"--out: {folder} has files in it that no such run began; give a new folder.")
            folder.mkdir(parents=True, exist_ok=True)
            return cls(folder, inputs, {})._write()
        before = cls.peek(folder)
        if before is None:
            raise FileError(f"{path}: it is damaged; give the name of a new folder with --out.")
        other = [name for name, value in inputs.items() if before.inputs.get(name) != value]
        if not other:
            return before
        if name := next((one for one in ("goal", "--base") if one in other), None):
            given = before.inputs.get(name)
            how = f"with {name} {given}" if given else f"without {name}"
            raise OptionError(f"{folder} was begun {how}; give the name of a new folder with --out.")
        set_aside(folder)
        return cls(folder, inputs, {})._write()

    @classmethod
    def peek(cls, folder: Path) -> Begun | None:
        """Return what a folder was begun with; None where nothing is to be read."""
        try:
            content = load_json(folder / BEGUN)
            return cls(folder, dict(content["inputs"]), dict(content["done"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def finish(self, stage: str, left: Any) -> Begun:
        """Write down that a stage is finished."""
        return replace(self, done={**self.done, stage: left})._write()

    @classmethod
    def answered(cls, folder: Path) -> int:
        """Return how many answers there were when the files in a folder were last written."""
        begun = cls.peek(folder)
        return 0 if begun is None else int(begun.done.get("answered", 0))

    def _write(self) -> Begun:
        write_json(self.folder / BEGUN, {"inputs": self.inputs, "done": self.done})
        return self


def fingerprint(path: Path | None) -> str | None:
    """Return a text that differs for files, or folders of files, that differ; None for none."""
    if path is None:
        return None
    if not path.exists():
        raise FileError(f"{path}: there is no such file.")
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            digest.update(str(file.relative_to(path)).encode())
            with file.open("rb") as content:
                digest.update(hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()
