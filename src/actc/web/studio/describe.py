"""What a page shows of projects: where each stands, and what to do next."""

from __future__ import annotations

import re
import shlex
from functools import lru_cache
from pathlib import Path
from typing import Any

from actc.data.files import load_json
from actc.decide.audit import answers_for
from actc.errors import ActcError
from actc.session import Session
from actc.session.status import count_labels
from actc.web.studio.commands import Target, decide_commands, go_commands
from actc.web.studio.decisions import decisions_file, name_version
from actc.web.studio.project import FILE, Project, list_projects
from actc.web.studio.recognise import found_problem
from actc.web.studio.runs import LIVING, list_runs
from actc.web.studio.studio import AUDIT, Studio

TARGETS = (0.7, 0.8, 0.9, 0.95)
STORING = ("publish", "withdraw")
"""Runs that decide nothing: a store that does not answer changes nothing in where a project stands."""
NEXT = {
    "new": ("data", "Drop your graph here, or choose a file."),
    "ready": ("go", "Look at what was recognised, then press Go."),
    "running": ("wait", "The computer is at work. You may close this page and come back."),
    "asking": ("judge", "Judge cards, alone or with others; then decide."),
    "unread": ("data", "A file cannot be read: What was recognised says why. Replace it, or say what it is."),
    "cancelled": ("again", "The last run was cancelled. Let it go on, or press Go to begin with what is chosen now."),
    "spent": ("decide", "All cards are judged. Decide, or judge more."),
    "finished": ("decide", "Nobody is asked any more. Decide."),
    "decided": ("take", "Look at what was decided, and take it with you."),
    "behind": ("decide", "There are new answers since the last decision. Decide again."),
    "failed": ("look", "The last run did not work."),
}
IN_WORDS = {
    "give --model or --candidates": "drop candidates (tab Data)",
    "give the name of a new folder with --out": "make a new project for it",
    "give a new --out": "make a new project for it",
    "name a variable with --key-from or --user-from": "add --key-from or --user-from to the command in a terminal",
}
"""What a command asks for, as the studio has it."""


def state_of(project: Project) -> str:
    """Say where a project stands, in one word of ``NEXT``."""
    runs = list_runs(project.folder)
    if runs and runs[-1].state in LIVING:
        return "running"
    deciding = [run for run in runs if run.asked.get("what") not in STORING]
    if deciding and deciding[-1].state == "failed":
        return "failed"
    if project.session is not None:
        return "decided" if project.accepted is not None else "asking"
    decides = project.options.goal == "decide"
    has = project.names_of("scores") if decides else project.names_of("graph") or project.options.store
    return "ready" if has else "new"


def list_of_projects(studio: Studio) -> list[dict[str, Any]]:
    """Return a line for each project, the one changed last first."""
    return [_line(project) for project in list_projects(studio.folder)]


def _line(project: Project) -> dict[str, Any]:
    answers = None
    if project.session is not None:
        session = Session(project.session)
        answers = count_labels(session)
        session.close()
    return {
        "name": project.name,
        "title": project.options.title,
        "goal": project.options.goal,
        "state": state_of(project),
        "changed": (project.folder / FILE).stat().st_mtime,
        "answers": answers,
        "budget": project.options.budget,
        "accepted": _count_accepted(project),
    }


def _count_accepted(project: Project) -> int | None:
    """Return how many facts were accepted, or taken out, in the last decision."""
    if project.accepted is None:
        return None
    return _count_lines(project.accepted, project.accepted.stat().st_mtime_ns) - 1


@lru_cache(256)
def _count_lines(path: Path, changed: int) -> int:
    """Count the lines of a file as it was when it last changed; pages ask every other second."""
    with path.open("rb") as lines:
        return sum(block.count(b"\n") for block in iter(lambda: lines.read(1 << 20), b""))


def describe_project(studio: Studio, project: Project) -> dict[str, Any]:
    """Return all that a project's page shows of it."""
    state, session, audit = state_of(project), None, None
    if project.session is not None:
        session = studio.describe(project.name)
        if (project.session / "audit" / "judgements.sqlite").is_file():
            audit = studio.describe(project.name + AUDIT)
    step, outcome = state, _outcome(project)
    if session is not None and state == "asking" and (session["answers"] >= session["budget"] or session["paused"]):
        step = "finished" if session["paused"] else "spent"
    if session is not None and state == "decided" and _is_behind(project, outcome.get("answers"), session["answers"]):
        step = "behind"
    runs = [run.describe() for run in list_runs(project.folder)[-10:]]
    if state == "ready" and runs and runs[-1]["state"] == "cancelled":
        step = "cancelled"
    elif state == "ready" and found_problem(project):
        step = "unread"
    what, sentence = NEXT[step]
    if state == "failed":
        sentence = f"{sentence} {_why_failed([run for run in runs if run['what'] not in STORING][-1])}"
    return {
        **_line(project),
        "folder": str(project.folder),
        "state": state,
        "options": vars(project.options),
        "files": [
            {"name": name, "role": role, "bytes": (project.files / name).stat().st_size}
            for name, role in project.roles.items()
            if (project.files / name).is_file()
        ],
        "runs": runs,
        "session": session,
        "audit": audit,
        "next": {"what": what, "sentence": sentence},
        "commands": _commands(project),
        "report": find_report(project) is not None,
        "outcome": outcome or None,
        "decided": name_version(decisions_file(project)),
        "target": vars(_target(project)),
        "audit_needs": _audit_needs(outcome),
    }


def find_report(project: Project) -> Path | None:
    """Return the report that the last decision wrote; None where there is none."""
    path = project.result / "report.html"
    return path if path.is_file() and not path.is_symlink() else None


def _target(project: Project) -> Target:
    """Return where facts were published last, or to be published; the store that the graph came from, if any."""
    runs = [run.asked for run in list_runs(project.folder)]
    words = next((run["commands"][0] for run in reversed(runs) if run.get("what") in STORING), None)
    if words is not None:
        return Target.of(words)
    chosen = project.options
    return Target(re.sub("query$", "update", chosen.store), "", out_of=chosen.graph_iri)


def _why_failed(run: dict[str, Any]) -> str:
    """Return what the command said last, in words of the studio."""
    said = next((line for line in reversed(run["log"]) if line.startswith("actc: ")), "actc: The log says why.")
    for option, words in IN_WORDS.items():
        said = said.replace(option, words)
    return said.removeprefix("actc: ")


def _is_behind(project: Project, then: int | None, now: int) -> bool:
    """Say whether anything was said since the last decision: in the session, or of candidates that are not in it."""
    files = [project.result / name for name in ("answers.tsv", "report.json")]
    said, decided = (file.stat().st_mtime_ns if file.is_file() else None for file in files)
    later = said is not None and decided is not None and said > decided
    return later or then not in (None, now)


def _outcome(project: Project) -> dict[str, Any]:
    """Return what the report of the last decision says: accepted, answers, precision; empty where there is none."""
    try:
        report = load_json(project.result / "report.json")
        quality = (report.get("quality") or {}).get("precision") or {}
        found = report.get("accepted_precision") or report.get("removed_precision")
        answers = report.get("judged", report.get("answers"))
        if "check" in report:  # candidates and facts were asked about
            answers += report["check"]["judged"]
        return {
            "accepted": report.get("accepted", report.get("removed")),
            "answers": answers,
            "precision": found or [quality.get(name) for name in ("low", "middle", "high")],
            "promise": report.get("promise"),
        }
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        return {}


def _audit_needs(outcome: dict[str, Any]) -> list[dict[str, Any]]:
    """Return how many answers an audit will need for some targets, if the expected share is the true one."""
    share, total = (outcome.get("precision") or [None] * 3)[1], outcome.get("accepted")
    if not share or not total:
        return []
    return [{"target": target, "answers": answers_for(target, share, total)} for target in TARGETS]


def _commands(project: Project) -> list[str]:
    """Return the command lines that do the same in a terminal."""
    try:
        lines = [
            *go_commands(project),
            *(decide_commands(project) if project.options.goal == "decide" else []),
        ]
    except ActcError:
        return []
    return [f"cd {shlex.quote(str(project.folder))}", *map(shlex.join, lines)]
