"""A project of the studio: a folder with what was dropped into it, what was chosen, and what came of it.

::

    project.json   title, goal, the role of each file, what was chosen
    files/         what was dropped or chosen, under plain names
    result/        what `actc complete` or `actc check` writes; its session is in it
    session/       where scores are decided: the session itself
    runs/1/        a command that was run: run.json, progress.jsonl, log.txt, ended.json

Everything is on the disk, written complete or not at all; so that the folder can be read at any time.
"""

from __future__ import annotations

import re
import secrets
import shutil
import threading
import unicodedata
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field

from actc.data.deliver import alone
from actc.data.text_files import load_json, write_json
from actc.errors import ActcError, FileError, OptionError
from actc.session.names import own_labels
from actc.session.session import tidy_name
from actc.session.settings import MOST_GUIDELINES
from actc.session.start import copy_sample
from actc.web.access import Strict
from actc.web.studio.runs import LIVING, list_runs

FORMAT, VERSION, FILE = "actc-project", 1, "project.json"
HIDDEN = ".actc-studio"
"""What a studio's folder has beside its projects: its secret, and what is being deleted."""
ONE = ("graph", "scores", "candidates")
"""Roles that one file of a project has."""
Role = Literal["graph", "scores", "candidates", "names", "unused"]
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
MOST_TITLE, MOST_NAME = 200, 100
CHANGING = threading.Lock()
"""Held from reading a project to writing it: files are dropped several at a time."""
PACKED = (".zip", ".tar", ".tgz", ".tar.gz", ".7z", ".rar", ".xz", ".bz2", ".zst")


def _check_read(address: str) -> str:
    if address:
        check_store(address, "query")
    return address


Address = Annotated[str, Field(max_length=2000, pattern=r"^[^\x00]*$")]
"""Of a store, or an IRI: it becomes a word of a command line."""


class Options(Strict):
    """What was chosen for a project, besides its files.

    Parameters
    ----------
    title : str
    goal : {"complete", "check", "both", "decide"}
        Facts that are missing, facts that are wrong, both, or scored candidates to decide on.
    budget : int
        How many answers to ask for.
    precision : float, optional
        The share of true facts that is guaranteed.
    guidelines, language : str
        What people should know; the language of names.
    store, graph_iri : str
        Where the graph is, if not in a file; the named graph in it.
    constraints : {"", "learned"}
        Whether what may not be true together is learned from the graph.
    """

    model_config = ConfigDict(strict=True, frozen=True)

    title: Annotated[str, AfterValidator(lambda title: tidy_name(title, "a project", MOST_TITLE))]
    goal: Literal["complete", "check", "both", "decide"] = "complete"
    budget: int = Field(default=30, ge=1, lt=2**31)
    precision: float | None = Field(default=None, gt=0, lt=1)
    guidelines: str = Field(default="", max_length=MOST_GUIDELINES)
    language: str = Field(default="en", pattern="^[A-Za-z0-9-]{1,35}$")
    store: Annotated[Address, AfterValidator(_check_read)] = ""
    graph_iri: Address = ""
    constraints: Literal["", "learned"] = ""


def check_store(address: str, end: str) -> None:
    """Refuse what is no address of a SPARQL store, and one with a password in it: addresses are written down."""
    scheme, _, place = address.partition("://")
    if scheme not in ("sparql:http", "sparql:https"):
        raise OptionError(f"The address of a store begins with sparql:http, such as sparql:http://host:7878/{end}.")
    if "@" in place.partition("/")[0]:
        raise OptionError(
            "There is a password in the address; leave it out. A store with a login is read and published to in a "
            "terminal: --key-from of actc convert and actc publish names the variable that holds it."
        )


@dataclass(frozen=True)
class Project:
    """A project as its folder has it.

    Parameters
    ----------
    folder : Path
    options : Options
    roles : dict of str
        What each file is: graph, scores, candidates, names, or unused.
    """

    folder: Path
    options: Options
    roles: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Project:
        """Read a project, or say in one sentence why it cannot be read."""
        path = folder / FILE
        try:
            content = load_json(path)
            if content["format"] != FORMAT or content["version"] != VERSION:
                raise ValueError
            options = Options(**content["options"])
            roles = {safe_name(name): role for name, role in dict(content["roles"]).items()}
        except FileNotFoundError:
            raise FileError(f"{folder} is no project of the studio.") from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, ActcError):
            raise FileError(f"{path}: the file is damaged.") from None
        return cls(folder, options, roles)

    def write(self) -> Project:
        """Write it down."""
        content = {"format": FORMAT, "version": VERSION, "options": self.options.model_dump(), "roles": self.roles}
        write_json(self.folder / FILE, content)
        return self

    def change(self, chosen: dict[str, Any]) -> Project:
        """Choose anew; what is not named stays."""
        with CHANGING:
            now = Project.read(self.folder)
            return replace(now, options=Options(**now.options.model_dump() | chosen)).write()

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name

    @property
    def files(self) -> Path:
        """Where the files are."""
        return self.folder / "files"

    @property
    def result(self) -> Path:
        """What `actc complete` or `actc check` writes."""
        return self.folder / "result"

    @property
    def session(self) -> Path | None:
        """The session in which people judge; None where it has not begun."""
        folder = self.folder / "session" if self.options.goal == "decide" else self.result / "session"
        return folder if (folder / "session.sqlite").is_file() else None

    @property
    def accepted(self) -> Path | None:
        """The accepted triples, or the facts that were taken out; None while nothing is decided."""
        name = "removed.tsv" if self.options.goal == "check" else "accepted.tsv"
        return path if (path := self.result / name).is_file() else None

    def path_of(self, name: str) -> Path:
        """Return where a file is; links are not followed."""
        path = self.files / name
        if name not in self.roles or path.is_symlink() or not path.is_file():
            raise FileError(f"There is no file {name!r} in this project.")
        return path

    def names_of(self, role: str) -> list[str]:
        """Return the files of a role, in the order in which they came."""
        return [name for name, has in self.roles.items() if has == role and not (self.files / name).is_symlink()]

    def name_files(self) -> list[Path]:
        """Return the files with names in them: labels of a graph in RDF, then tables; the later counts."""
        graphs, tables = ([self.path_of(name) for name in self.names_of(role)] for role in ("graph", "names"))
        return [*(path for graph in graphs for path in own_labels(graph)), *tables]

    def with_file(self, name: str, role: str) -> Project:
        """Note what a file is; of a graph, scores and candidates there is one each, the latest: others are not used."""
        with CHANGING:
            now = Project.read(self.folder)
            roles = {key: "unused" if role in ONE and has == role else has for key, has in now.roles.items()}
            roles.pop(name, None)
            return replace(now, roles={**roles, name: role}).write()

    def without_file(self, name: str) -> Project:
        """Remove a file."""
        path = self.path_of(name)
        with CHANGING:
            now = Project.read(self.folder)
            made = replace(now, roles={key: role for key, role in now.roles.items() if key != name}).write()
        path.unlink(missing_ok=True)
        return made


def delete_project(project: Project) -> None:
    """Delete a project for good; refused while anything is written in it."""
    with CHANGING:
        if any(run.state in LIVING for run in list_runs(project.folder)):
            raise OptionError("A run of this project has not ended yet; wait for it, or cancel it.")
        for place in (project.result, project.folder / "session"):
            with alone(place):  # refused while a command that was typed in a terminal writes there
                pass
        gone = project.folder.parent / HIDDEN / f"{project.name}.{secrets.token_hex(4)}"
        project.folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def list_projects(studio: Path) -> list[Project]:
    """Return the projects of a studio's folder, the one changed last first; damaged ones and links are left out."""
    projects = []
    for folder in studio.iterdir():
        if NAME.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink():
            try:
                projects.append(Project.read(folder))
            except FileError:
                continue
    return sorted(projects, key=lambda one: -(one.folder / FILE).stat().st_mtime)


def find_project(studio: Path, name: str) -> Project:
    """Return a project by its name, which is looked at before it is made part of a path."""
    folder = studio / name if NAME.fullmatch(name) else None
    if folder is None or folder.is_symlink() or not (folder / FILE).is_file():
        raise FileError("There is no such project.")
    return Project.read(folder)


def create_studio_folder(folder: Path) -> Path:
    """Return a studio's folder; a new one gets a first project with the packaged graph."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise FileError(f"{folder} is no folder; give the name of a folder, or of one to be made.")
    folder = folder.absolute()
    if not (folder / HIDDEN).is_dir():
        if folder.exists() and any(folder.iterdir()):
            raise FileError(f"{folder} has files in it that are no studio's; give an empty folder, or a new name.")
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        (folder / HIDDEN).mkdir(mode=0o700)  # before anything else: killed here, it is a studio's folder
        add_sample(create_project(folder, "Words and what they mean"))
    return folder


def create_project(studio: Path, title: str) -> Project:
    """Make the folder of a project, under a plain name after its title."""
    options = Options(title=title)
    plain = unicodedata.normalize("NFKD", options.title).encode("ascii", "ignore").decode().lower()
    stem = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:32] or "project"
    taken = {one.name for one in studio.iterdir()}
    name = next(name for name in chain([stem], (f"{stem}-{number}" for number in count(2))) if name not in taken)
    (studio / name / "files").mkdir(parents=True)
    return Project(studio / name, options).write()


def add_sample(project: Project) -> Project:
    """Put the packaged graph, candidates that a model scored, and names into a project: facts that anyone can judge."""
    scores, names, graph = copy_sample(project.files)
    for path, role in ((graph, "graph"), *((path, "names") for path in names), (scores, "scores")):
        project = project.with_file(path.name, role)
    return project.change({"goal": "decide"})


def safe_name(name: str) -> str:
    """Return a plain file name for one that came from outside: letters, digits, dots and dashes, no folder, no link."""
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    plain = re.sub(r"[^\w.-]+", "-", last).lstrip(".-")
    if not plain or len(plain.encode()) > MOST_NAME:
        raise OptionError(f"The name of a file has 1 to {MOST_NAME} bytes, not {last[:60]!r}; rename it.")
    if plain.lower().endswith(PACKED):
        raise OptionError(f"{plain} is an archive; unpack it, and drop the files in it.")
    return plain
