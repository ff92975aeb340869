"""What a page shows of projects: where each stands, what came of it so far, and what to do next. Its words are here."""

from __future__ import annotations

import shlex
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from actc.data.begun import BEGUN
from actc.decide.audit import answers_for
from actc.decide.estimate import MISSING_FACTS, WRONG_FACTS, Share
from actc.errors import ActcError
from actc.session import Session
from actc.session.status import progress
from actc.web.studio.commands import decide_commands, go_commands, has_graph
from actc.web.studio.decisions import decisions_file, name_version
from actc.web.studio.project import FILE, Project
from actc.web.studio.recognise import has_problem
from actc.web.studio.runs import LIVING, list_runs, read_object
from actc.web.studio.studio import AUDIT, Studio

TARGETS = (0.7, 0.8, 0.9, 0.95)
BESIDES = ("audit", "publish", "withdraw")
"""Runs that decide nothing: a store that does not answer changes nothing in where a project stands."""
SEEKS = {"complete": "missing facts", "check": "wrong facts", "both": "missing and wrong facts", "decide": "true facts"}
STATES = {
    "new": "waits for a graph",
    "ready": "ready to go",
    "unread": "a file cannot be read",
    "running": "at work",
    "asking": "people judge",
    "decided": "decided",
    "failed": "did not work",
}
NEXT = {
    "new": ("data", "data", "", "Drop your graph here, or choose a file."),
    "ready": ("go", "run", "Go", "Choose what you want to know, look at what was recognised, then press Go."),
    "running": ("wait", "run", "See the progress", "The computer is at work. You may close this page and come back."),
    "asking": ("judge", "people", "Judge now", "Judge cards, alone or with others; then decide."),
    "unread": ("data", "data", "", "A file cannot be read: see What was recognised. Replace it, or say what it is."),
    "cancelled": ("again", "run", "See the run", "The last run was cancelled. Let it go on, or press Go anew."),
    "spent": ("decide", "decide", "Decide", "All cards are judged. Decide, or judge more."),
    "finished": ("decide", "decide", "Decide", "Nobody judges any more. Decide."),
    "guarantee": ("judge", "people", "Judge now", "Judge the cards that the guarantee needs, then decide again."),
    "decided": ("take", "take", "Download the results", "Look at what was decided, and download it."),
    "behind": ("decide", "decide", "Decide again", "There are new answers since the last decision. Decide again."),
    "failed": ("look", "run", "See the log", "The last run did not work."),
}
"""What to do next, at which tab, by which button, and a sentence about it."""
GO = "Go looks for candidates and prepares the cards that people judge."
DECIDE = "Decide counts all answers and writes the files."
GO_AGAIN = (
    " If you changed the graph or a choice, it looks for candidates again; all answers stay, and people judge "
    "only what is new."
)
IN_WORDS = {
    "give --model or --candidates": "drop candidates (tab Data)",
    "give the name of a new folder with --out": "make a new project for it",
    "give a new --out": "make a new project for it",
    "name a variable with --key-from": "add --key-from to the command in a terminal",
}
"""What a command asks for, as the studio has it."""


def state_of(project: Project) -> str:
    """Return where a project stands, one of ``STATES``."""
    runs = list_runs(project.folder)
    if runs and runs[-1].state in LIVING:
        return "running"
    deciding = [run for run in runs if run.request.get("what") not in BESIDES]
    if deciding and deciding[-1].state == "failed":
        return "failed"
    if project.session is not None:
        return "decided" if project.accepted is not None else "asking"
    given = {"decide": "scores", "complete": "candidates"}.get(project.options.goal, "graph")
    has_input = project.names_of(given) or (project.options.goal != "decide" and has_graph(project))
    return "new" if not has_input else "unread" if has_problem(project) else "ready"


def describe_line(project: Project) -> dict[str, Any]:
    """Return what the first page shows of a project."""
    answers, accepted, summary, state, goal = None, None, list[str](), state_of(project), project.options.goal
    words = WRONG_FACTS if goal == "check" else MISSING_FACTS
    if project.session is not None:
        try:
            with closing(Session(project.session)) as session:
                counts = progress(session)
            answers, budget = counts["labels"], counts["budget"]
            summary.append(f"{answers:,}{'' if answers > budget else f' of {budget:,}'} cards judged")
        except ActcError as error:  # the other projects are shown all the same
            summary.append(str(error))
    if project.accepted is not None:
        accepted = _read_report(project).get("accepted") or 0
        summary.append(f"{accepted:,} fact{'s' * (accepted != 1)} {words.accepted}")
    return {
        "name": project.name,
        "title": project.options.title,
        "state": state,
        "words": asdict(words) | {"seeks": SEEKS[goal], "state": STATES[state]},
        "changed": (project.folder / FILE).stat().st_mtime,
        "answers": answers,
        "accepted": accepted,
        "summary": summary,
    }


def describe_project(studio: Studio, project: Project) -> dict[str, Any]:
    """Return all that a project's page shows of it."""
    session = audit = None
    if project.session is not None:
        session = studio.describe(project.name)
        if (project.session / "audit" / "session.sqlite").is_file():
            audit = studio.describe(project.name + AUDIT)
    line, report = describe_line(project), _read_report(project)
    runs = [run.describe() for run in list_runs(project.folder)[-10:]]
    what, tab, button, sentence = NEXT[_next_step(project, line["state"], session, report, runs)]
    if what == "look":
        sentence = f"{sentence} {_why_failed([run for run in runs if run['what'] not in BESIDES][-1])}"
    return {
        **line,
        "options": project.options.model_dump(),
        "files": [
            {"name": name, "role": role, "bytes": (project.files / name).stat().st_size}
            for name, role in project.roles.items()
            if (project.files / name).is_file()
        ],
        "runs": runs,
        "session": session,
        "audit": audit,
        "next": {"what": what, "tab": tab, "button": button, "sentence": sentence},
        "means": GO if session is None else DECIDE + GO_AGAIN * (project.options.goal != "decide"),
        "commands": _commands(project),
        "report": find_report(project) is not None,
        "outcome": report or None,
        "result": [] if session is None else _describe_result(project, session["candidates"], line["words"], report),
        "decided": name_version(decisions_file(project)),
        "audit_needs": _audit_needs(report, line["words"]),
    }


def _next_step(project: Project, state: str, session: Any, report: dict[str, Any], runs: list[dict[str, Any]]) -> str:
    """Return what to do next, one of ``NEXT``."""
    if state == "ready" and runs and runs[-1]["state"] == "cancelled":
        return "cancelled"
    if session is None or state not in ("asking", "decided"):
        return state
    is_open = session["answers"] < session["budget"] and not session["paused"]
    if state == "asking":
        return "finished" if session["paused"] else state if is_open else "spent"
    wanted, got = project.options.precision, (report.get("guarantee") or {}).get("precision")
    if wanted not in (None, got) and is_open:
        return "guarantee"
    files = [project.result / name for name in ("answers.tsv", "report.json")]
    words, decided = (file.stat().st_mtime_ns if file.is_file() else None for file in files)
    is_behind = report.get("answers") not in (None, session["answers"]) or (words and decided and words > decided)
    return "behind" if is_behind else state


def find_report(project: Project) -> Path | None:
    """Return the report that the last decision wrote; None where there is none."""
    path = project.result / "report.html"
    return path if path.is_file() and not path.is_symlink() else None


def _why_failed(run: dict[str, Any]) -> str:
    """Return the last message of the command, in words of the studio."""
    message = next((line for line in reversed(run["log"]) if line.startswith("actc: ")), "actc: See the log.")
    for option, words in IN_WORDS.items():
        message = message.replace(option, words)
    return message.removeprefix("actc: ")


def _read_report(project: Project) -> dict[str, Any]:
    """Return what the report of the last decision has: accepted, answers, precision; empty where there is none."""
    report = read_object(project.result / "report.json")
    if not report:
        return {}
    check, precision = report.get("check", {}), report.get("quality", {}).get("precision") or {}
    return {
        "accepted": report.get("accepted", report.get("removed")),
        # With both goals, candidates and facts were judged.
        "answers": report.get("judged", report.get("answers", 0)) + check.get("judged", 0),
        "removed": check.get("removed"),
        "precision": report.get("accepted_precision")
        or report.get("removed_precision")
        or [precision.get(name) for name in ("low", "middle", "high")],
        "guarantee": report.get("guarantee"),
        "needed": report.get("answers_needed") or {},
    }


def _describe_result(project: Project, count: int, words: dict[str, str], report: dict[str, Any]) -> list[str]:
    """Return what came of the runs so far, in sentences: of the candidates, then of the decision on them."""
    if not report:
        notes = read_object(project.result / BEGUN).get("done", {}).get("scores", {}).get("notes", [])
        return [f"{count:,} {words['things']} were proposed.", *notes]
    lines = [f"{report['accepted']:,} of {count:,} {words['things']} were {words['accepted']}."]
    lines += [] if report["removed"] is None else [f"{report['removed']:,} wrong facts were taken out."]
    return lines + (
        []
        if None in report["precision"]
        else [f"Precision of the {words['accepted_facts']}: {Share(*report['precision'])}."]
    )


def _audit_needs(report: dict[str, Any], words: dict[str, str]) -> dict[str, Any]:
    """Return how many answers an audit will need for some targets, if the expected share is the true one."""
    share, total = (report.get("precision") or [None] * 3)[1], report.get("accepted")
    if not share or not total:
        return {"sentence": f"An audit is possible once something is {words['accepted']}.", "answers": {}}
    answers = {target: count for target in TARGETS if (count := answers_for(target, share, total)) is not None}
    proofs = [f"{target:.0%} with about {count:,} cards" for target, count in answers.items()]
    what = ", ".join(proofs) or f"no {TARGETS[0]:.0%}, however many cards are judged"
    expected = f"About {share:.0%} of what was {words['accepted']} should be {words['true']}."
    return {"sentence": f"{expected} If so, an audit can prove {what}.", "answers": answers}


def _commands(project: Project) -> list[str]:
    """Return the command lines that do the same in a terminal."""
    try:
        decided = decide_commands(project) if project.options.goal == "decide" else []
        lines = [*go_commands(project), *decided]
    except ActcError:
        return []
    return [f"cd {shlex.quote(str(project.folder))}", *map(shlex.join, lines)]
