"""What a project can be left with: its results in every format, its answers, its reports, its command lines.

As a program (``python -m actc.web.studio.take PROJECT NAME``) it makes one of them and ends: the server stays small.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actc.data.deliver import write_beside
from actc.errors import ActcError, FileError, TableError
from actc.graph.formats import FORMATS, read_extras, read_graph, write_graph
from actc.session import Session
from actc.session.asking import annotate_command
from actc.session.exchange import write_history, write_labels
from actc.session.status import count_labels
from actc.web.studio.commands import decide_commands, go_commands
from actc.web.studio.project import Project

FOLDER = "take"
BASE = "urn:actc:"
"""Put before names in RDF, where not all of them are IRIs."""
LISTS = {
    "accepted": "the accepted facts",
    "removed": "the facts that were taken out",
    "graph": "the new graph",
}
AS_THEY_ARE = {
    "report.html": "the report, to read",
    "report.md": "the report as text",
    "report.json": "the report's numbers",
    "doubtful.tsv": "the doubtful facts, the most doubtful first",
    "undecided.tsv": "candidates that are still in doubt",
    "excluded.tsv": "what constraints exclude, and why",
    "answers.tsv": "all that was ever said about this graph",
    "thresholds.json": "the cuts, to decide on other candidates",
    "decisions.parquet": "all decisions, with reasons and guarantees",
}
SAID: dict[str, tuple[str, Callable[[Session, Path], Any]]] = {
    "labels.tsv": ("one answer per judged fact", write_labels),
    "history.jsonl": ("every answer ever given, with who and when", write_history),
}
COMMANDS = "commands.sh"
SMALL = 2_000_000
"""Bytes; what is made of more is made in a process of its own."""
MOST_SECONDS = 1800.0


@dataclass(frozen=True)
class Taken:
    """Something to take away.

    Parameters
    ----------
    name : str
        What the file is called.
    what : str
        What is in it.
    source : Path, optional
        The file that it is, or is made from; None where it is made from the session or the project.
    format : str
        In which graph format it is written; empty where the source is taken as it is.
    """

    name: str
    what: str
    source: Path | None = None
    format: str = ""

    def describe(self, folder: Path) -> dict[str, Any]:
        """Return what a page shows of it, with its size where it is there already."""
        found = self.ready(folder)
        return {"name": self.name, "what": self.what, **({} if found is None else {"bytes": found.stat().st_size})}

    def ready(self, folder: Path) -> Path | None:
        """Return the file, if it is there and nothing is newer that it is made from."""
        if self.source is None:
            return None
        if not self.format:
            return self.source
        made = folder / FOLDER / self.name
        newer = made.exists() and made.stat().st_mtime_ns >= self.source.stat().st_mtime_ns
        return made if newer else None


def list_taken(project: Project) -> list[Taken]:
    """Return all that there is to take."""
    found: list[Taken] = []
    for stem, what in LISTS.items():
        source = _find(project.result, stem)
        if source is not None:
            found += [
                Taken(f"{stem}{one.suffixes[0]}", f"{what}: {one.summary}", source, name)
                for name, one in FORMATS.items()
                if name != "quickstatements" or _is_wikidata(source)
            ]
    files = [(project.result / name, what) for name, what in AS_THEY_ARE.items()]
    found += [Taken(file.name, what, file) for file, what in files if _is_plain(file)]
    if project.session is not None:
        found += [Taken(name, what) for name, (what, _) in SAID.items()]
    return [*found, Taken(COMMANDS, "the command lines that do the same")]


def _find(result: Path, stem: str) -> Path | None:
    """Return a list of a result; the graph's file has the ending of the one that was given."""
    tables = sorted(one for one in result.glob(f"{stem}.*") if _is_plain(one))
    endings = tuple(ending for one in FORMATS.values() for ending in one.suffixes)
    return next((one for one in tables if one.name.removeprefix(stem) in endings), None)


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _is_wikidata(source: Path) -> bool:
    """Say whether the first fact of a table speaks of Wikidata's items, which is all that QuickStatements has."""
    if source.suffix != ".tsv":
        return False
    with source.open(encoding="utf-8") as lines:
        return any(re.match(r"(wd:)?Q\d+\t", line) for line in [next(lines, ""), next(lines, "")])


def take(project: Project, name: str) -> Path:
    """Return a file to take, made if it is not there as of now; complete or absent.

    Parameters
    ----------
    project : Project
    name : str
        One of those that :func:`list_taken` names.
    """
    wanted = next((one for one in list_taken(project) if one.name == name), None)
    if wanted is None:
        raise FileError(f"There is no {name!r} to take yet.")
    (project.folder / FOLDER).mkdir(exist_ok=True)
    ready = wanted.ready(project.folder)
    if ready is not None:
        return ready
    if wanted.source is not None and wanted.source.stat().st_size > SMALL:
        _make_beside(project, name)
    else:
        make(project, name)
    return project.folder / FOLDER / name


def _make_beside(project: Project, name: str) -> None:
    """Make a file in another process; its error is ours."""
    command = [sys.executable, "-P", "-m", "actc.web.studio.take", str(project.folder), name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
    if done.returncode:
        raise FileError((done.stderr.strip().splitlines() or ["It could not be made."])[-1])


def make(project: Project, name: str) -> None:
    """Make one file in the project's folder of what is taken."""
    wanted = next(one for one in list_taken(project) if one.name == name)
    out = project.folder / FOLDER / name
    if wanted.source is not None:
        _convert(wanted.source, out, wanted.format)
    elif name == COMMANDS:
        with write_beside(out) as unfinished:
            unfinished.write_text(write_commands(project), encoding="utf-8")
    else:
        assert project.session is not None
        session = Session(project.session)
        if not count_labels(session) and name == "labels.tsv":
            raise FileError("Nothing is judged yet, so there is no label to take.")
        SAID[name][1](session, out)
        session.close()


def _convert(source: Path, out: Path, format: str) -> None:
    """Write a list in another format; with where each fact comes from, where readers of the format take that."""
    graph, found = read_graph(source), FORMATS[format]
    extras = read_extras(source, graph) if found.carries else None
    with write_beside(out) as unfinished, tempfile.TemporaryDirectory(dir=unfinished.parent) as folder:
        made = Path(folder) / f"made{found.suffixes[0]}"  # writers look at the ending
        try:
            write_graph(made, graph, "", extras)
        except TableError:  # not every name is an IRI
            write_graph(made, graph, BASE, extras)
        made.replace(unfinished)


def write_commands(project: Project) -> str:
    """Return the command lines of a project as a program of the shell: what was pressed on its pages."""
    judge = annotate_command(Path("session" if project.options.goal == "decide" else "result/session"))
    lines = [
        "#!/bin/sh",
        "set -eu",
        f"cd {shlex.quote(str(project.folder))}",
        *map(shlex.join, go_commands(project)),
        f"{judge}  # people judge; end it with Ctrl-C",
        *map(shlex.join, decide_commands(project)),
    ]
    return "\n".join(lines) + "\n"


def main(folder: str, name: str) -> None:
    """Make one file; what goes wrong is one sentence on standard error."""
    try:
        make(Project.read(Path(folder)), name)
    except ActcError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
