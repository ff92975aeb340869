"""What a session leads to: thresholds, and the triples that are accepted."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from actc.decide.decide_candidates import decide_candidates
from actc.errors import OptionError
from actc.session.ask import Task
from actc.session.exchange import write_history, write_label_studio, write_labels
from actc.session.plan import Planner
from actc.session.session import Session
from actc.tables.calibration import Sources
from actc.tables.database import open_database
from actc.tables.deliver import check_writable, write_beside
from actc.tables.files import copy_options, quote, quote_file, write_triples
from actc.triples import BoolArray, Thresholds
from actc.trust.calibrate import describe_calibration


class Results:
    """The session's method, fitted to all answers that there are.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        if session.settings.design:
            raise OptionError(f"{session.folder} is an audit: it says how many are true, and decides nothing itself.")
        self.session = session
        self.planner = Planner(session)
        self.annotations = session.annotations()
        self.fit = self.planner.fit(self.annotations)
        if self.fit.thresholds is None:
            raise OptionError(
                f"{session.settings.method} needs answers before it finds thresholds; judge some triples."
            )
        self.thresholds: Thresholds = self.fit.thresholds
        self.heeded = self.planner.heed(self.annotations, self.fit)

    def next_tasks(self, count: int) -> list[Task]:
        """Return the triples that would be asked next."""
        picks = self.planner.choose(self.fit, self.annotations, count, self.annotations.rows)
        return [self.planner.task(row, "The next to be asked.") for row in picks.rows.tolist()]

    def write_thresholds(self, path: Path) -> int:
        """Write thresholds.json; return the number of relations."""
        method, sources = self.session.settings.method, Sources(session=self.session.folder)
        pool, fit = self.planner.pool, self.fit
        describe_calibration(fit, pool, self.annotations, method=method, sources=sources).write(path)
        return len(self.thresholds.relation_names)

    def write_accepted(self, path: Path) -> int:
        """Write the accepted triples; return how many.

        What people said of a triple counts more than its score: those they called true are in, those they called false
        are out. Where machine judges spoke, and no person, score and judges decide together. The column ``by`` says
        who decided: person, judges (where they turned the decision round) or threshold.
        """
        if self.session.settings.sampled:
            return self._write_accepted_of_all(path)
        pool = self.planner.pool
        accepted, by = self._decide()
        rows = np.flatnonzero(accepted)
        write_triples(path, {**pool.take(rows).columns(), "score": pool.scores[rows], "by": by[rows]})
        return len(rows)

    def _decide(self) -> tuple[BoolArray, NDArray[np.object_]]:
        """Return of each triple of the pool whether it is accepted, and who decided."""
        pool, answers = self.planner.pool, self.annotations
        accepted = self.heeded.decisions.copy()
        by = np.where(accepted != self.thresholds.decide(pool), "judges", "threshold").astype(object)
        accepted[answers.rows], by[answers.rows] = answers.labels, "person"
        return accepted, by

    def _write_accepted_of_all(self, path: Path) -> int:
        """Do the same for a pool that stays on disk."""
        pool = self.planner.pool
        accepted, by = self._decide()
        rows = np.flatnonzero(by != "threshold")
        judged = {**pool.take(rows).columns(), "score": pool.scores[rows], "label": accepted[rows], "who": by[rows]}
        with (
            tempfile.TemporaryDirectory(dir=check_writable(path).absolute().parent) as folder,
            open_database() as connection,
        ):
            decided = Path(folder) / "decided.parquet"
            decide_candidates(self.thresholds, self.session.folder / "pool.parquet", decided)
            table = f"read_parquet({quote_file(decided)}, hive_partitioning=false)"
            query = f"SELECT head, relation, tail, score, 'threshold' AS by FROM {table}"
            if len(rows):
                connection.register("judged", judged)
                query += " ANTI JOIN judged USING (head, relation, tail)"
                query += " UNION ALL SELECT head, relation, tail, score, who FROM judged WHERE label"
            with write_beside(path) as temporary:
                copy = f"COPY ({query}) TO {quote(str(temporary))} ({copy_options(path)})"
                return int(connection.execute(copy).fetchall()[0][0])


def export_session(
    session: str | Path | Session,
    labels: Path | None = None,
    history: Path | None = None,
    thresholds: Path | None = None,
    accepted: Path | None = None,
    label_studio: Path | None = None,
    count: int = 100,
) -> list[tuple[int, str, Path]]:
    """Write whatever has a path, as ``actc export`` does; return how many of what went where.

    Parameters
    ----------
    session : path or Session
    labels : path, optional
        One label per judged triple: .tsv, .csv or .parquet.
    history : path, optional
        Everything that was ever said: .jsonl.
    thresholds : path, optional
        Where true begins: .json.
    accepted : path, optional
        The accepted triples: .tsv, .csv or .parquet.
    label_studio : path, optional
        The next ``count`` triples as Label Studio's tasks: .json.
    """
    if not any((labels, history, thresholds, accepted, label_studio)):
        raise OptionError("Say what to export: --labels, --history, --thresholds, --accepted or --label-studio.")
    session = session if isinstance(session, Session) else Session(session)
    written: list[tuple[int, str, Path]] = []
    if labels:
        written.append((write_labels(session, labels), "labels", labels))
    if history:
        written.append((write_history(session, history), "judgements", history))
    if not (thresholds or accepted or label_studio):
        return written
    results = Results(session)
    if thresholds:
        written.append((results.write_thresholds(thresholds), "thresholds", thresholds))
    if accepted:
        written.append((results.write_accepted(accepted), "accepted triples", accepted))
    if label_studio:
        tasks = results.next_tasks(count)
        written.append((write_label_studio(session, label_studio, tasks), "tasks", label_studio))
    return written
