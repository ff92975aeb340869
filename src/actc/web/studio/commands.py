"""The command lines of a project: what its buttons do, and a person could type in its folder; and its downloads."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from actc.data.begun import Begun
from actc.errors import FileError, OptionError
from actc.graph.formats import FORMATS
from actc.web.access import Strict
from actc.web.studio.project import Address, Project, check_store

Words = list[str]
MISSING = {
    "scores": "Scored candidates are missing: a table with head, relation, tail and score.",
    "graph": "The graph is missing: drop a file with it, or give the address of a store.",
}
FROM_STORE = "graph.nt"
"""The file that the graph of a store is read into, where scored candidates are decided beside it."""

FOLDER = "take"
BASE = "urn:actc:"
"""Put before names in RDF, where not all of them are IRIs."""
LISTS = {
    "accepted": "The accepted facts",
    "removed": "The facts that were taken out",
    "graph": "The new graph",
}
FIRST = (".tsv", ".csv", ".ttl", ".nt", ".jsonld", ".parquet")
"""The formats that most people want."""
AS_THEY_ARE = {
    "report.html": "the report, to read",
    "report.md": "the report as text",
    "report.json": "the report's numbers",
    "doubtful.tsv": "the doubtful facts, the most doubtful first",
    "rejected.tsv": "triples that were rejected",
    "undecided.tsv": "candidates that are still in doubt",
    "excluded.tsv": "what constraints excluded, and why",
    "answers.tsv": "all answers about this graph, with those of earlier runs",
    "thresholds.json": "the thresholds, to decide on other candidates",
    "decisions.parquet": "all decisions, with reasons and guarantees",
}
OF_SESSION = {
    "labels.tsv": "one answer per judged fact",
    "history.jsonl": "every answer ever given, with who and when",
}
MOST_SECONDS = 1800.0


def go_commands(project: Project) -> list[Words]:
    """Return what leads up to the first card; for a graph it decides as well, later.

    A graph that is in a store is read into a file first, where scored candidates are decided.
    """
    chosen = project.options
    if chosen.goal != "decide":
        return [_whole_way(project)]
    words = ["actc", "start", "session", *_needed(project, "scores"), *_names(project)]
    words += ["--graph", FROM_STORE] if chosen.store else _files(project, "graph", "--graph")
    words += ["--constraints", chosen.constraints] if chosen.constraints else []
    words += ["--budget", str(chosen.budget), "--title", chosen.title]
    if not chosen.store:
        return [words]
    return [["actc", "convert", *_graph(project), "--out", FROM_STORE, "--overwrite"], words]


def decide_commands(project: Project) -> list[Words]:
    """Return what decides, with what was chosen, and writes the files."""
    if project.options.goal != "decide":
        return [_whole_way(project)]
    project.result.mkdir(exist_ok=True)
    files = {"--labels": "labels.tsv", "--thresholds": "thresholds.json", "--accepted": "accepted.tsv"}
    words = ["actc", "export", "session", *_precision(project), "--overwrite"]
    words += [word for option, name in files.items() for word in (option, f"result/{name}")]
    report = "actc report result/thresholds.json --out result/report.html --json result/report.json --overwrite"
    return [words, report.split()]


class RunBody(Strict):
    """What is to be run; where decided facts go, if anywhere; what an audit shall show.

    Parameters
    ----------
    what : {"go", "decide", "audit", "publish", "withdraw"}
    to, into : str
        A store, and the IRI under which it gets decided facts.
    base : str
        What is put before names that are no IRIs.
    remove : bool
        Whether facts that were taken out leave the store's graph, too.
    out_of : str
        That graph's name; empty for the default graph.
    write : bool
        Whether the store is changed; else what would be written is printed.
    count, target : int, float
        How many cards to draw for an audit, and the share of true ones that it shall certify.
    """

    what: Literal["go", "decide", "audit", "publish", "withdraw"]
    to: Address = ""
    into: Address = ""
    base: Address = ""
    remove: bool = False
    out_of: Address = ""
    write: bool = False
    count: int = Field(default=100, ge=1, le=100_000)
    target: float = Field(default=0.9, gt=0, lt=1, allow_inf_nan=False)

    @property
    def where(self) -> dict[str, Any] | None:
        """The store, and what of it: to be shown, and withdrawn from, later."""
        return self.model_dump(include={"to", "into", "base", "remove", "out_of"}) if self.to else None


def commands_of(project: Project, run: RunBody) -> list[Words]:
    """Return the command lines of a run."""
    if run.what == "go":
        return go_commands(project)
    if run.what == "decide":
        return decide_commands(project)
    if run.what == "audit":  # people judge accepted triples once more, by themselves
        if project.session is None or project.accepted is None:
            raise OptionError("Nothing is decided yet, so there is nothing to audit.")
        session, accepted = (str(path.relative_to(project.folder)) for path in (project.session, project.accepted))
        draw = ["--count", str(run.count), "--target", f"{run.target:g}"]
        return [["actc", "audit", session, "--among", accepted, *draw]]
    check_store(run.to, "update")
    words = ["actc", run.what, "result", "--to", run.to, "--into", run.into]
    words += ["--base", run.base] if run.base else []
    if run.what == "withdraw":
        return [[*words, *([] if run.write else ["--dry-run"])]]
    if run.remove:
        words += ["--remove", *(["--graph", run.out_of] if run.out_of else [])]
    return [[*words, "--write" if run.write else "--dry-run"]]


def has_graph(project: Project) -> bool:
    """Return True if a project has a graph, in a file or in a store."""
    return bool(project.names_of("graph") or project.options.store)


def _whole_way(project: Project) -> Words:
    """Return `actc complete` or `actc check`, whichever the goal is."""
    chosen = project.options
    # Triples from text need no graph; what they say of each other, and people's answers, decide.
    alone = chosen.goal == "complete" and not has_graph(project) and project.names_of("candidates")
    words = ["actc", "check" if chosen.goal == "check" else "complete", *([] if alone else _graph(project))]
    words += _names(project)
    if chosen.goal != "check":
        words += _files(project, "candidates", "--candidates")
        words += ["--constraints", chosen.constraints] if chosen.constraints else []
        words += ["--check"] * (chosen.goal == "both")
    # The budget of a command is of new answers, that of a project of all.
    budget = max(0, chosen.budget - Begun.answered(project.result))
    return [*words, *_precision(project), "--budget", str(budget), "--out", "result"]


def _graph(project: Project) -> Words:
    if project.options.store:
        named = ["--graph", project.options.graph_iri] if project.options.graph_iri else []
        return [project.options.store, *named]
    return _needed(project, "graph")


def _needed(project: Project, role: str) -> Words:
    names = project.names_of(role)
    if not names:
        raise OptionError(MISSING[role])
    return [f"files/{project.path_of(names[0]).name}"]


def _files(project: Project, role: str, option: str) -> Words:
    return [word for name in project.names_of(role) for word in (option, f"files/{project.path_of(name).name}")]


def _names(project: Project) -> Words:
    """Return the files with names, and their language where it is another than English."""
    chosen = project.options.language
    return [*_files(project, "names", "--names"), *(["--language", chosen] if chosen != "en" else [])]


def _precision(project: Project) -> Sequence[str]:
    precision = project.options.precision
    return [] if precision is None else ["--precision", f"{precision:g}"]


@dataclass(frozen=True)
class Download:
    """A file of a project.

    Parameters
    ----------
    name : str
        What the file is called.
    what : str
        What is in it, or in which format it is.
    group : str
        What is there in several formats; or the others.
    path : Path, optional
        Where it is, or will be; None where the session makes it.
    source : Path, optional
        The list that ``actc convert`` makes it from; None where it is there as it is.
    """

    name: str
    what: str
    group: str = "Reports and answers"
    path: Path | None = None
    source: Path | None = None

    @property
    def bytes(self) -> int | None:
        """The size of the file, if it exists and none of its sources is newer."""
        if self.path is None or not self.path.is_file():
            return None
        file = self.path.stat()
        return None if self.source and self.source.stat().st_mtime_ns > file.st_mtime_ns else file.st_size

    def describe(self) -> dict[str, Any]:
        """Return what a page shows of it."""
        rare = self.source is not None and self.name[self.name.index(".") :] not in FIRST
        return {"name": self.name, "what": self.what, "group": self.group, "rare": rare, "bytes": self.bytes}


def list_downloads(project: Project) -> list[Download]:
    """Return all files that a project offers."""
    result, files = project.result, []
    endings = {ending for one in FORMATS.values() for ending in one.suffixes}
    for stem, group in LISTS.items():
        # The graph's file has the ending of the one that was given.
        sources = [path for path in sorted(result.glob(f"{stem}.*")) if path.name.removeprefix(stem) in endings]
        for one in FORMATS.values() if sources and not sources[0].is_symlink() else ():
            file = f"{stem}{one.suffixes[0]}"
            files.append(Download(file, one.summary, group, project.folder / FOLDER / file, sources[0]))
    there = {name: result / name for name in AS_THEY_ARE if (result / name).is_file()}
    files += [Download(name, AS_THEY_ARE[name], path=path) for name, path in there.items() if not path.is_symlink()]
    return files + [Download(name, what) for name, what in OF_SESSION.items() if project.session is not None]


def make_download(project: Project, name: str) -> Path | None:
    """Return a file to download, made if it is not there as of now; None where the session makes it."""
    wanted = next((one for one in list_downloads(project) if one.name == name), None)
    if wanted is None:
        raise FileError(f"There is no {name!r} to download yet.")
    if wanted.path is not None and wanted.bytes is None:
        wanted.path.parent.mkdir(exist_ok=True)
        command = [sys.executable, "-P", "-m", "actc.cli.main", "convert", str(wanted.source), "--overwrite"]
        for base in ([], ["--base", BASE]):  # which is put before names only where not every name is an IRI
            words = [*command, "--out", str(wanted.path), *base]
            done = subprocess.run(words, capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
            if not done.returncode:
                return wanted.path
        raise FileError((done.stderr.strip().splitlines() or ["It could not be made."])[-1].removeprefix("actc: "))
    return wanted.path
