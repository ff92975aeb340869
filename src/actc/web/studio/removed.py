"""Projects that were removed: whole, in a hidden folder of the studio, until they are put back or deleted for good."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from actc.data.deliver import alone
from actc.errors import FileError, OptionError
from actc.web.studio.project import CHANGING, FILE, HIDDEN, NAME, Project, free_name
from actc.web.studio.runs import LIVING, list_runs

FOLDER = "removed"
KEY = re.compile(rf"({NAME.pattern})\.[0-9]{{1,9}}")
"""How a removed project is called: by its name, and a number, for there may be several of one name."""


def remove_project(project: Project) -> str:
    """Take a project out of the studio and return what it is called now; refused while anything is written in it."""
    with CHANGING:
        if any(run.state in LIVING for run in list_runs(project.folder)):
            raise OptionError("A run of this project has not ended yet; wait for it, or cancel it.")
        for place in (project.result, project.folder / "session"):
            with alone(place):  # refused while a command that was typed in a terminal writes there
                pass
        place = _folder(project.folder.parent)
        place.mkdir(mode=0o700, exist_ok=True)
        taken = {one.name for one in place.iterdir()}
        number = next(number for number in range(1, len(taken) + 2) if f"{project.name}.{number}" not in taken)
        (project.folder / FILE).touch()  # the list has the one removed last first
        project.folder.rename(place / f"{project.name}.{number}")
    return f"{project.name}.{number}"


def list_removed(studio: Path) -> list[dict[str, Any]]:
    """Return the projects that can be put back, the one removed last first."""
    folder, found = _folder(studio), []
    for one in folder.iterdir() if folder.is_dir() else ():
        try:
            project = Project.read(one) if KEY.fullmatch(one.name) and not one.is_symlink() else None
        except FileError:
            continue
        if project is not None:
            at = (one / FILE).stat().st_mtime
            found.append({"key": one.name, "title": project.options.title, "removed": at})
    return sorted(found, key=lambda one: -one["removed"])


def put_back(studio: Path, key: str) -> Project:
    """Put a removed project back, under its old name where that is free: then the links of its people work again."""
    with CHANGING:
        place = _find(studio, key)
        name = free_name(studio, key.rpartition(".")[0])
        place.rename(studio / name)
        return Project.read(studio / name)


def delete_removed(studio: Path, key: str) -> None:
    """Delete a removed project for good."""
    with CHANGING:
        shutil.rmtree(_find(studio, key), ignore_errors=True)


def _folder(studio: Path) -> Path:
    return studio / HIDDEN / FOLDER


def _find(studio: Path, key: str) -> Path:
    place = _folder(studio) / key if KEY.fullmatch(key) else None
    if place is None or place.is_symlink() or not (place / FILE).is_file():
        raise FileError("There is no such removed project.")
    return place
