"""What a session leads to, as files: labels, the history, thresholds, accepted triples, tasks for Label Studio.

As a program (``python -m actc.session.export SESSION NAME OUT``) it makes one file for the owner's page and ends: what
needs the whole pool in memory runs in a process of its own, and the server stays as small as it was.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from actc.data.answers import Answers
from actc.data.calibration import Sources
from actc.data.deliver import write_beside
from actc.data.files import write_triples
from actc.data.text_files import write_text
from actc.data.triples import encode_columns
from actc.decide.calibrate import describe_calibration
from actc.decide.case import Case
from actc.decide.decision_table import DECISIONS, write_decisions
from actc.decide.guarantee import TargetPrecision
from actc.decide.pick import pick_next
from actc.errors import ActcError, FileError, OptionError, SessionError
from actc.methods.named import find_method, imported_name
from actc.session.cards import plain, sentence
from actc.session.cases import open_case, parts_of, words_of
from actc.session.lease_queue import Task
from actc.session.plan import task_of
from actc.session.report import write_report
from actc.session.session import Session, open_session
from actc.session.status import history

MOST_SECONDS = 600.0
"""How long a file may take; a report on a million candidates takes a small part of it."""


def write_labels(session: Session, path: Path) -> int:
    """Write one combined label per triple (head, relation, tail, label); return how many."""
    labels = session.annotations()
    tasks = session.tasks(labels.rows.tolist())
    if not tasks:
        raise FileError(f"{session.folder}: nothing is judged yet, so there is no label to write.")
    triples = encode_columns(*([getattr(task, name) for task in tasks] for name in Session.TRIPLE))
    answers = Answers(triples, labels.labels, **labels.drawn_from(session.settings.triples).provenance)
    write_triples(path, {**triples.columns(), "score": [task.score for task in tasks], **answers.columns()})
    return len(labels)


def write_history(session: Session, path: Path) -> int:
    """Write every judgement, oldest first, as JSON lines; return how many."""
    lines = history(session)[::-1]
    undone = {line["undoes"] for line in lines}
    with write_beside(path) as temporary:
        temporary.touch(0o600)  # names and answers: for others only if the owner gives them the right
        with temporary.open("w", encoding="utf-8") as file:
            for line in lines:
                more = {"shown": json.loads(line["shown"]), "undone": line["id"] in undone}
                entry = line | more | {"frame_size": session.settings.triples}
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
    return len(lines)


def write_label_studio(session: Session, path: Path, tasks: Sequence[Task]) -> int:
    """Write triples to judge as Label Studio's tasks; return how many."""
    content = []
    for task in tasks:
        parts = {name: getattr(task, name) for name in Session.TRIPLE}
        named = {name: session.names.of(identifier) for name, identifier in parts.items()}
        described = {f"{name}_description": one.description for name, one in named.items()}
        content.append({"data": {"triple": task.triple, "text": plain(sentence(**named)), **parts, **described}})
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    return len(content)


def write_thresholds(session: Session, case: Case, path: Path, place: Path | None = None) -> int:
    """Write thresholds.json, which will lie at ``place`` if that is another; return the number of relations."""
    describe_calibration(case, Sources(session=session.folder, graph=session.find_file("facts.parquet"))).write(
        path, place
    )
    return len(case.thresholds.relation_names)


def write_accepted(case: Case, path: Path) -> int:
    """Write the accepted triples, with their probability and who decided; return how many."""
    columns = case.decisions.columns()
    write_triples(path, columns)
    return len(columns["by"])


def write_session_decisions(session: Session, case: Case, path: Path) -> None:
    """Write the decisions on every candidate of a session."""
    columns = case.decision_columns()
    if parts_of(session.settings)[0].wrong:
        columns["removed"] = columns.pop("accepted")
        columns.pop("without_guarantee", None)
    write_decisions(path, columns, None if case.target is None else case.target.precision)


def next_tasks(session: Session, case: Case, count: int) -> list[Task]:
    """Return the triples that would be asked next."""
    picks = pick_next(case.plain, count, np.random.default_rng([session.settings.seed, len(case.annotations)]))
    return [task_of(case.pool, row, "The next to be asked.") for row in picks.rows.tolist()]


def export_session(
    session: str | Path | Session,
    labels: str | Path | None = None,
    history: str | Path | None = None,
    thresholds: str | Path | None = None,
    accepted: str | Path | None = None,
    label_studio: str | Path | None = None,
    count: int = 100,
    precision: float | None = None,
    confidence: float = 0.9,
) -> list[tuple[int, str, Path]]:
    """Write every file that has a path, as ``actc export`` does; return how many of what went where.

    With thresholds or accepted triples the decisions on all candidates go into the session's folder, too:
    ``decisions.parquet``.

    Parameters
    ----------
    session : path or Session
    labels : path, optional
        One label per judged triple, with how it was selected: .tsv, .csv or .parquet.
    history : path, optional
        Every judgement, those that were taken back too: .jsonl.
    thresholds : path, optional
        The threshold of each relation: .json.
    accepted : path, optional
        The accepted triples: .tsv, .csv or .parquet.
    label_studio : path, optional
        The next ``count`` triples as Label Studio's tasks: .json.
    precision, confidence : float
        Guarantee this share of true triples among those that the method accepts, with this confidence; not
        with the baselines, which have no probabilities.
    """
    files = (labels, history, thresholds, accepted, label_studio)
    if not any(files):
        raise OptionError("Give a file to export: --labels, --history, --thresholds, --accepted or --label-studio.")
    labels, history, thresholds, accepted, label_studio = (Path(file) if file else None for file in files)
    target = None if precision is None else TargetPrecision(precision, confidence)
    written: list[tuple[int, str, Path]] = []
    # All files take their names at the end, or none does.
    with open_session(session) as session, ExitStack() as stack:

        def beside(path: Path) -> Path:
            return stack.enter_context(write_beside(path))

        if labels:
            written.append((write_labels(session, beside(labels)), "labels", labels))
        if history:
            written.append((write_history(session, beside(history)), "judgements", history))
        if not (thresholds or accepted or label_studio):
            return written
        case = open_case(session, target).case
        if (thresholds or accepted) and os.access(session.folder, os.W_OK):  # an archive stays as it is
            write_session_decisions(session, case, beside(session.folder / DECISIONS))
        if thresholds:
            count_cuts = write_thresholds(session, case, beside(thresholds), thresholds)
            written.append((count_cuts, "thresholds", thresholds))
        if accepted:
            written.append(
                (write_accepted(case, beside(accepted)), words_of(session.settings).accepted_facts, accepted)
            )
        if label_studio:
            tasks = next_tasks(session, case, count)
            written.append((write_label_studio(session, beside(label_studio), tasks), "tasks", label_studio))
    return written


MAKERS: dict[str, Callable[[Session, Path], object]] = {
    "labels.tsv": write_labels,
    "history.jsonl": write_history,
    "thresholds.json": lambda session, out: write_thresholds(session, open_case(session).case, out),
    "accepted.tsv": lambda session, out: write_accepted(open_case(session).case, out),
    "report.html": write_report,
}
"""The files that the owner's page offers."""


def make_file(session: Session, name: str) -> bytes:
    """Return the content of a file about a session, as it is now."""
    # Beside the session: paths in a file are relative to it, so it is right wherever it lies beside the session.
    out = session.folder.absolute().parent / f".{session.folder.name}-{secrets.token_hex(4)}-{name}"
    try:
        if name in ("labels.tsv", "history.jsonl"):  # these need no pool
            MAKERS[name](session, out)
        else:
            own = imported_name(session.settings.method)
            command = [sys.executable, "-P", "-m", "actc.session.export", str(session.folder), name, str(out), *own]
            done = subprocess.run(command, capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
            if done.returncode:
                raise SessionError((done.stderr.strip().splitlines() or ["It could not be made."])[-1])
        return out.read_bytes()
    finally:
        out.unlink(missing_ok=True)


def main(folder: str, name: str, out: str, method: str | None = None) -> None:
    """Make one file; an error is one sentence on standard error."""
    if method is not None:
        find_method(method)
    try:
        with open_session(folder) as session:
            MAKERS[name](session, Path(out))
    except ActcError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
