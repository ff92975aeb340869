"""The command lines of a project: what its buttons do, and a person could type in its folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from actc.data.begun import Begun
from actc.errors import OptionError
from actc.session.names import own_labels
from actc.web.access import Strict
from actc.web.studio.project import Project, check_store

Words = list[str]
MISSING = {
    "scores": "Scored candidates are missing: a table with head, relation, tail and score.",
    "graph": "The graph is missing: drop a file with it, or give the address of a store.",
}
FROM_STORE = "graph.nt"
"""The file that the graph of a store is read into, where scored candidates are decided beside it."""


def go_commands(project: Project) -> list[Words]:
    """Return what leads up to the first card; for a graph it decides as well, later."""
    return _start(project) if project.options.goal == "decide" else [_whole_way(project)]


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
    """What is to be run; where decided facts go, if anywhere.

    Parameters
    ----------
    what : {"go", "decide", "publish", "withdraw"}
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
    """

    what: Literal["go", "decide", "publish", "withdraw"]
    to: str = Field("", max_length=2000)
    into: str = Field("", max_length=2000)
    base: str = Field("", max_length=2000)
    remove: bool = False
    out_of: str = Field("", max_length=2000)
    write: bool = False


def commands_of(project: Project, run: RunBody) -> list[Words]:
    """Return the command lines of a run."""
    if run.what == "go":
        return go_commands(project)
    if run.what == "decide":
        return decide_commands(project)
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


def _start(project: Project) -> list[Words]:
    """Return what begins a session of scored candidates; a graph that is in a store is read into a file first."""
    chosen = project.options
    words = ["actc", "start", "session", *_needed(project, "scores"), *_names(project)]
    words += ["--graph", FROM_STORE] if chosen.store else _files(project, "graph", "--graph")
    words += ["--constraints", chosen.constraints] if chosen.constraints else []
    words += ["--budget", str(chosen.budget), "--title", chosen.title]
    read = ["actc", "convert", *_graph(project), "--out", FROM_STORE, "--overwrite"] if chosen.store else []
    return [read, words] if read else [words]


def _graph(project: Project) -> Words:
    if project.options.store:
        named = ["--graph", project.options.graph_iri] if project.options.graph_iri else []
        return [project.options.store, *named]
    return _needed(project, "graph")


def _needed(project: Project, role: str) -> Words:
    words = _files(project, role, "")
    if not words:
        raise OptionError(MISSING[role])
    return words


def _files(project: Project, role: str, option: str) -> Words:
    names = [project.path_of(name).name for name in project.names_of(role)]
    return [word for name in names for word in ((option, f"files/{name}") if option else (f"files/{name}",))]


def _names(project: Project) -> Words:
    """Return the files with names, and their language where it is another than English."""
    chosen = project.options.language
    return [*_files(project, "names", "--names"), *(["--language", chosen] if chosen != "en" else [])]


def name_files(project: Project) -> list[Path]:
    """Return the files with names in them: labels of a graph in RDF, then tables; the later counts."""
    graphs = [project.path_of(name) for name in project.names_of("graph")]
    return [
        *(path for graph in graphs for path in own_labels(graph)),
        *(project.path_of(name) for name in project.names_of("names")),
    ]


def _precision(project: Project) -> Sequence[str]:
    precision = project.options.precision
    return [] if precision is None else ["--precision", f"{precision:g}"]
