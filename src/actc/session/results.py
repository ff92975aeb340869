"""What a session leads to: labels, thresholds, and the triples that are accepted, as files."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from actc.data.calibration import Sources
from actc.data.deliver import write_beside
from actc.data.files import write_triples
from actc.decide.calibrate import describe_calibration
from actc.decide.decision_table import DECISIONS, decision_columns, excluded_columns, write_decisions
from actc.decide.list_test import Demand
from actc.decide.pick import pick_next
from actc.errors import OptionError
from actc.session.ask import Task
from actc.session.exchange import write_history, write_label_studio, write_labels
from actc.session.find_case import Opened, find_case
from actc.session.plan import task_of
from actc.session.session import Session, open_session
from actc.session.sought import parts_of, sought_in


def write_thresholds(opened: Opened, path: Path, place: Path | None = None) -> int:
    """Write thresholds.json, which will lie at ``place`` if that is another; return the number of relations."""
    assert opened.session is not None
    sources = Sources(session=opened.session.folder, graph=opened.session.facts_file)
    describe_calibration(opened.case, sources).write(path, place)
    return len(opened.case.thresholds.relation_names)


def write_accepted(opened: Opened, path: Path) -> int:
    """Write the accepted triples, with their probability and who decided; return how many."""
    columns = opened.case.decisions.columns()
    write_triples(path, columns)
    return len(columns["by"])


def write_session_decisions(opened: Opened, path: Path) -> None:
    """Write the decisions on every candidate of a session."""
    assert opened.session is not None
    columns = decision_columns(opened.case)
    if parts_of(opened.session.settings)[0].wrong:
        columns["removed"] = columns.pop("accepted")
        columns.pop("without_guarantee", None)
    demand = opened.case.demand
    write_decisions(path, columns, None if demand is None else demand.target)


def next_tasks(opened: Opened, count: int) -> list[Task]:
    """Return the triples that would be asked next."""
    assert opened.session is not None
    case = opened.case
    picks = pick_next(case.plain, count, np.random.default_rng([opened.session.settings.seed, len(case.annotations)]))
    return [task_of(case.pool, row, "The next to be asked.") for row in picks.rows.tolist()]


def export_session(
    session: str | Path | Session,
    labels: str | Path | None = None,
    history: str | Path | None = None,
    thresholds: str | Path | None = None,
    accepted: str | Path | None = None,
    label_studio: str | Path | None = None,
    excluded: str | Path | None = None,
    count: int = 100,
    precision: float | None = None,
    confidence: float = 0.9,
) -> list[tuple[int, str, Path]]:
    """Write whatever has a path, as ``actc export`` does; return how many of what went where.

    With thresholds, accepted or excluded triples the decisions on all candidates go into the session's folder, too:
    ``decisions.parquet``.

    Parameters
    ----------
    session : path or Session
    labels : path, optional
        One label per judged triple, with how it was asked: .tsv, .csv or .parquet.
    history : path, optional
        Everything that was ever said: .jsonl.
    thresholds : path, optional
        Where true begins: .json.
    accepted : path, optional
        The accepted triples: .tsv, .csv or .parquet.
    label_studio : path, optional
        The next ``count`` triples as Label Studio's tasks: .json.
    excluded : path, optional
        What constraints exclude, and why: .tsv, .csv or .parquet.
    precision, confidence : float
        Promise this share of true triples among those that the method accepts, with this confidence; pooled methods
        only.
    """
    if not any((labels, history, thresholds, accepted, label_studio, excluded)):
        raise OptionError("Say what to export: --labels, --history, --thresholds, --accepted or --label-studio.")
    files = (labels, history, thresholds, accepted, label_studio, excluded)
    labels, history, thresholds, accepted, label_studio, excluded = (Path(file) if file else None for file in files)
    demand = None if precision is None else Demand(precision, confidence)
    written: list[tuple[int, str, Path]] = []
    # All files take their names at the end, or none does.
    with open_session(session) as session, ExitStack() as stack:

        def beside(path: Path) -> Path:
            return stack.enter_context(write_beside(path))

        if labels:
            written.append((write_labels(session, beside(labels)), "labels", labels))
        if history:
            written.append((write_history(session, beside(history)), "judgements", history))
        if not (thresholds or accepted or label_studio or excluded):
            return written
        opened = find_case(session, demand)
        if (thresholds or accepted or excluded) and os.access(session.folder, os.W_OK):  # an archive stays as it is
            write_session_decisions(opened, beside(session.folder / DECISIONS))
        if thresholds:
            written.append((write_thresholds(opened, beside(thresholds), thresholds), "thresholds", thresholds))
        if accepted:
            written.append((write_accepted(opened, beside(accepted)), sought_in(session.settings).found, accepted))
        if excluded:
            columns = excluded_columns(opened.case)
            write_triples(beside(excluded), columns)
            written.append((len(columns["why"]), "excluded triples", excluded))
        if label_studio:
            tasks = next_tasks(opened, count)
            written.append((write_label_studio(session, beside(label_studio), tasks), "tasks", label_studio))
    return written
