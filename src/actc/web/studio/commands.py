"""The command lines of a project: what its buttons do, and a person could type in its folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from actc.errors import OptionError
from actc.session.read_names import own_labels
from actc.web.studio.project import Project, check_store

Words = list[str]
FROM_STORE = "graph.nt"
"""The file that the graph of a store is read into, where scored candidates are decided beside it."""


def go_commands(project: Project) -> list[Words]:
    """Return what leads up to the first card; for a graph it decides as well, later."""
    if project.options.goal != "decide":
        return [_whole_way(project)]
    return _start(project)


def decide_commands(project: Project) -> list[Words]:
    """Return what decides, with what was chosen, and writes the files."""
    if project.options.goal != "decide":
        return [_whole_way(project)]
    project.result.mkdir(exist_ok=True)
    files = {"--labels": "labels.tsv", "--thresholds": "thresholds.json", "--accepted": "accepted.tsv"}
    words = ["actc", "export", "session", *_promise(project), "--overwrite"]
    words += [word for option, name in files.items() for word in (option, f"result/{name}")]
    return [
        words,
        [
            "actc",
            "report",
            "result/thresholds.json",
            "--out",
            "result/report.html",
            "--json",
            "result/report.json",
            "--overwrite",
        ],
    ]


@dataclass(frozen=True)
class Target:
    """Where decided facts go.

    Parameters
    ----------
    to, into : str
        A store, and the IRI under which it gets them.
    base : str
        What is put before names that are no IRIs.
    remove : bool
        Whether facts that were taken out leave the store's graph, too.
    out_of : str
        That graph's name; empty for the default graph.
    """

    to: str
    into: str
    base: str = ""
    remove: bool = False
    out_of: str = ""

    @property
    def words(self) -> Words:
        """Its part of a command line."""
        check_store(self.to, "update")
        return ["--to", self.to, "--into", self.into]

    @classmethod
    def of(cls, words: Sequence[str]) -> Target:
        """Return the one that a command line names."""

        def told(option: str) -> str:
            return words[words.index(option) + 1] if option in words[:-1] else ""

        return cls(told("--to"), told("--into"), told("--base"), "--remove" in words, told("--graph"))


def publish_commands(target: Target, write: bool) -> list[Words]:
    """Return what writes the decided facts into a store; without ``write`` what says what would be written."""
    words = ["actc", "publish", "result", *target.words, *(["--base", target.base] if target.base else [])]
    if target.remove:
        words += ["--remove", *(["--graph", target.out_of] if target.out_of else [])]
    return [[*words, "--write" if write else "--dry-run"]]


def withdraw_commands(target: Target, write: bool) -> list[Words]:
    """Return what takes the last published run back out of a store."""
    return [["actc", "withdraw", "result", *target.words, *([] if write else ["--dry-run"])]]


def _whole_way(project: Project) -> Words:
    """Return `actc complete` or `actc check`, whichever the goal is."""
    chosen = project.options
    words = ["actc", "check" if chosen.goal == "check" else "complete", *_graph(project)]
    words += _names(project)
    if chosen.goal != "check":
        words += _files(project, "candidates", "--candidates")
        words += ["--constraints", chosen.constraints] if chosen.constraints else []
        words += ["--check"] * (chosen.goal == "both")
    return [*words, *_promise(project), "--budget", str(chosen.budget), "--out", "result"]


def _start(project: Project) -> list[Words]:
    """Return what begins a session of scored candidates; a graph that is in a store is read into a file first."""
    chosen = project.options
    words = ["actc", "start", "session", *_scores(project), *_names(project)]
    words += ["--graph", FROM_STORE] if chosen.store else _files(project, "graph", "--graph")
    words += ["--constraints", chosen.constraints] if chosen.constraints else []
    words += ["--budget", str(chosen.budget), "--title", chosen.title]
    read = ["actc", "convert", *_graph(project), "--out", FROM_STORE, "--overwrite"] if chosen.store else []
    return [read, words] if read else [words]


def _scores(project: Project) -> Words:
    found = _files(project, "scores", "")
    if not found:
        raise OptionError("Scored candidates are missing: a table with head, relation, tail and score.")
    return found


def _graph(project: Project) -> Words:
    if project.options.store:
        named = ["--graph", project.options.graph_iri] if project.options.graph_iri else []
        return [project.options.store, *named]
    found = _files(project, "graph", "")
    if not found:
        raise OptionError("The graph is missing: drop a file with it, or give the address of a store.")
    return found


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


def _promise(project: Project) -> Sequence[str]:
    precision = project.options.precision
    return [] if precision is None else ["--precision", f"{precision:g}"]
