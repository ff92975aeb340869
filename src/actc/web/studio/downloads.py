"""What can be downloaded from a project: its results in every format, its answers, its reports."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from actc.errors import FileError
from actc.graph.formats import FORMATS
from actc.web.studio.project import Project

FOLDER = "take"
BASE = "urn:actc:"
"""Put before names in RDF, where not all of them are IRIs."""
LISTS = {
    "accepted": "The accepted facts",
    "removed": "The facts that were taken out",
    "graph": "The new graph",
}
FIRST = (".tsv", ".csv", ".ttl", ".nt", ".jsonld", ".parquet")
"""The formats that most people want, in this order."""
OTHERS = "Reports and answers"
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
    group: str = OTHERS
    path: Path | None = None
    source: Path | None = None

    @property
    def is_current(self) -> bool:
        """Whether the file is there, and nothing is newer that it is made from."""
        if self.path is None or not self.path.is_file():
            return False
        return self.source is None or self.path.stat().st_mtime_ns >= self.source.stat().st_mtime_ns

    def describe(self) -> dict[str, Any]:
        """Return what a page shows of it, with its size where it is there already."""
        size = {"bytes": self.path.stat().st_size} if self.path and self.is_current else {}
        rare = self.source is not None and self.name[self.name.index(".") :] not in FIRST
        return {"name": self.name, "what": self.what, "group": self.group, "rare": rare, **size}


def list_downloads(project: Project) -> list[Download]:
    """Return all files that a project offers."""
    files = []
    order = {ending: place for place, ending in enumerate(FIRST)}
    formats = sorted(FORMATS.items(), key=lambda item: order.get(item[1].suffixes[0], len(FIRST)))
    for stem, group in LISTS.items():
        source = _find_list(project.result, stem)
        for name, one in formats:
            if source is not None and (name != "quickstatements" or _is_wikidata(source)):
                file = f"{stem}{one.suffixes[0]}"
                files.append(Download(file, one.summary, group, project.folder / FOLDER / file, source))
    result = project.result
    files += [
        Download(name, what, path=result / name) for name, what in AS_THEY_ARE.items() if _is_plain(result / name)
    ]
    return files + [Download(name, what) for name, what in OF_SESSION.items() if project.session is not None]


def _find_list(result: Path, stem: str) -> Path | None:
    """Return a list of a result; the graph's file has the ending of the one that was given."""
    endings = {ending for one in FORMATS.values() for ending in one.suffixes}
    lists = (one for one in sorted(result.glob(f"{stem}.*")) if _is_plain(one))
    return next((one for one in lists if one.name.removeprefix(stem) in endings), None)


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _is_wikidata(source: Path) -> bool:
    """Return True if the first fact of a table is about Wikidata's items, which is all that QuickStatements has."""
    with source.open(encoding="utf-8", errors="replace") as lines:
        return any(re.match(r"(wd:)?Q\d+\t", line) for line in islice(lines, 2))


def make_download(project: Project, name: str) -> Path | None:
    """Return a file to download, made if it is not there as of now; None where the session makes it.

    Parameters
    ----------
    project : Project
    name : str
        One of those that :func:`list_downloads` names.
    """
    wanted = next((one for one in list_downloads(project) if one.name == name), None)
    if wanted is None:
        raise FileError(f"There is no {name!r} to download yet.")
    if wanted.path is not None and not wanted.is_current:
        wanted.path.parent.mkdir(exist_ok=True)
        command = [sys.executable, "-P", "-m", "actc.cli.main", "convert", str(wanted.source), "--overwrite"]
        for base in ([], ["--base", BASE]):  # which is put before names only where not every name is an IRI
            words = [*command, "--out", str(wanted.path), *base]
            done = subprocess.run(words, capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
            if not done.returncode:
                return wanted.path
        raise FileError((done.stderr.strip().splitlines() or ["It could not be made."])[-1].removeprefix("actc: "))
    return wanted.path
