"""Plan what to ask next, and say what came of the answers, in a process beside the one that serves annotators.

A planner reads the answers, fits the method, and writes two things into the session: the plan (the triples to ask
next, best first) and an outlook (thresholds, expected accuracy). Whoever serves annotators only reads those, so a pool
of a million triples costs an answer nothing. As a program (``python -m actc.session.plan SESSION``) it does so until
its standard input closes, which happens however its parent dies.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.answers import Picks
from actc.data.triples import BoolArray, IntArray, ScoredTriples
from actc.decide.case import Case
from actc.decide.guarantee import BegunRound
from actc.decide.pick import pick_next
from actc.methods.named import import_here, imported_name
from actc.session.ask import PLACES, TASK, Task
from actc.session.audit_plan import AuditPlanner
from actc.session.find_case import empty_case, with_answers
from actc.session.outlook import Outlook, look_ahead
from actc.session.session import Session
from actc.session.sought import Part, parts_of
from actc.session.trouble import remove_trouble, write_trouble

LEAST_PLANNED, MOST_PLANNED = 128, 12_288
FIRST_PLANNED = 2000
"""The first plan must last, for all annotators together, until a planner has read the pool and made the next."""
LEASED_EACH = 6
"""Cards that a page leases at a time: a plan has as many for each person, besides those for the time until the next."""
PLANNED_SECONDS, REFITS = 10.0, 6
"""A later plan has as many triples as were judged in the last seconds, or during so many refits, if that is longer."""
GOODBYE_SECONDS = 2.0
"""How long a planner may take to leave when its parent does."""

BEGIN_ROUND = (
    "UPDATE task SET round = ? WHERE round < ? AND answered = 0 AND selection != 'list' AND triple >= ? AND triple < ?"
)
# What people judged or took while the plan was made.
DROP_GIVEN_OUT = (
    "DELETE FROM plan WHERE EXISTS (SELECT 1 FROM lease WHERE lease.triple = plan.triple) OR EXISTS "
    "(SELECT 1 FROM task WHERE task.triple = plan.triple AND answered > 0)"
)


@dataclass(frozen=True, eq=False)
class _Planned:
    """What to ask next of a part of the pool, whose rows count from its start, and what is expected of it.

    ``before`` triples of it were asked already.
    """

    part: Part
    before: int
    picks: Picks
    outlook: Outlook


class Planner:
    """Refits a session's method whenever there are new answers.

    Parameters
    ----------
    session : Session
    pool : ScoredTriples, optional
        The session's candidates, where they are in memory already.
    """

    def __init__(self, session: Session, pool: ScoredTriples | None = None) -> None:
        self.session = session
        self.seen: tuple[object, ...] = ()
        self.accepted: BoolArray | None = None
        self.took = 0.0  # seconds of the last refit
        self.pool = session.read_pool() if pool is None else pool
        self.parts = [(part, empty_case(session, part, self.pool)) for part in parts_of(session.settings)]

    def step(self) -> bool:
        """Refit and plan, if there is anything new; return whether there was."""
        store = self.session.store
        last = int(store.value("SELECT coalesce(max(id), 0) FROM judgement"))
        choices = int(store.value("SELECT coalesce(max(id), 0) FROM choice"))
        state = last, choices
        short = store.value("SELECT count(*) FROM plan") < LEAST_PLANNED // 2
        if state == self.seen and not (short and self._untouched() > 0):
            return False
        started = time.monotonic()
        given_out, count = self._given_out(), -(-self._plan_size(last) // len(self.parts))
        planned = [self._plan_part(part, empty, count, given_out) for part, empty in self.parts]
        self._write(last, *_in_turn(planned), anew=bool(self.seen) and self.seen[1:] != state[1:])
        self.seen, self.accepted = state, planned[0].outlook.accepted
        self.took = time.monotonic() - started
        return True

    def _taken(self, seconds: float) -> int:
        """Return how many cards were answered in the last seconds, of the most that are ever planned."""
        last = "(SELECT coalesce(max(id), 0) FROM judgement)"
        sql = f"SELECT count(*) FROM judgement WHERE at > ? AND id > {last} - {MOST_PLANNED}"
        return int(self.session.store.value(sql, (time.time() - seconds,)))

    def _plan_part(self, part: Part, empty: Case, count: int, given_out: IntArray) -> _Planned:
        """Refit the method of a part of the pool, and choose what to ask next of it."""
        busy = given_out[(given_out >= part.rows.start) & (given_out < part.rows.stop)] - part.rows.start
        case = replace(with_answers(self.session, part, empty, self.session.demand), begun=self._begun(part))
        budget = max(self.session.budget // len(self.parts), 1)
        random = np.random.default_rng([self.session.settings.seed, len(case.annotations)])
        picks = pick_next(case, count, random, budget, besides=busy)
        case = case.plain
        if part.rows.start:
            return _Planned(part, len(busy), picks, _as_true(part, look_ahead(case, picks, None)))
        return _Planned(part, len(busy), picks, _as_true(part, look_ahead(case, picks, self.accepted)))

    def _begun(self, part: Part) -> BegunRound | None:
        """Return the last round of draws that has begun in a part of the pool."""
        draw = "SELECT triple, round, sampling_frame, inclusion_probability, selection FROM"
        rows = self.session.store.rows(
            f"SELECT round, sampling_frame, inclusion_probability FROM ({draw} task UNION ALL {draw} plan) "
            "WHERE selection = 'list' AND triple >= ? AND triple < ? ORDER BY round DESC LIMIT 1",
            (part.rows.start, part.rows.stop),
        )
        return next((BegunRound.read(*row) for row in rows), None)

    def _given_out(self) -> IntArray:
        """Return the triples that people judged or have leased."""
        rows = self.session.store.rows("SELECT triple FROM task WHERE answered > 0 UNION SELECT triple FROM lease")
        return np.array([row[0] for row in rows], dtype=np.int64)

    def _untouched(self) -> int:
        return len(self.pool) - len(self._given_out()) - int(self.session.store.value("SELECT count(*) FROM plan"))

    def _plan_size(self, last: int) -> int:
        """Return how many triples to plan after judgement number ``last``."""
        leased = LEASED_EACH * len(self.session.people())
        if last == 0:
            return FIRST_PLANNED + leased
        recent = self._taken(max(PLANNED_SECONDS, REFITS * self.took))
        return int(np.clip(recent, LEAST_PLANNED, MOST_PLANNED)) + leased

    def _write(self, last: int, picks: Picks, outlook: Outlook, *, anew: bool) -> None:
        """Replace the plan, unless another process planned with newer answers; and the outlook, if it is another."""
        rows = picks.rows.tolist()
        overlap = self.session.overlap
        wanted = [self._wanted(row, overlap) for row in rows]
        probabilities = [p if np.isfinite(p) else None for p in picks.inclusion_probability.tolist()]
        rounds = picks.round.astype(np.int64).tolist()
        how = (picks.reasons, picks.selection, picks.sampling_frame, probabilities, rounds)
        columns = (rows, *how, outlook.probabilities, wanted)
        tasks = [task_of(self.pool, *values) for values in zip(*columns, strict=True)]
        planned = [(place, *task.as_row()) for place, task in enumerate(tasks)]
        content, relations = json.dumps(outlook.as_json()), json.dumps(outlook.relations)
        # Answers wait while this has the file, so everything is ready before, and nothing is read that is not needed.
        with self.session.store.transaction() as connection:
            newest = connection.execute("SELECT coalesce(max(judgement), -1) FROM outlook").fetchone()[0]
            if newest > last:
                return
            # What is answered after a round has begun did not make its list.
            for part, _ in self.parts:
                latest = max((task.round for task in tasks if task.triple in part.rows), default=0)
                connection.execute(BEGIN_ROUND, (latest, latest, part.rows.start, part.rows.stop))
            connection.execute("DELETE FROM plan")
            connection.executemany(f"INSERT INTO plan (place, {TASK}) VALUES (?, {PLACES})", planned)
            connection.execute(DROP_GIVEN_OUT)
            connection.execute("INSERT OR REPLACE INTO latest VALUES (1, ?)", (relations,))
            if newest < last or anew:
                sql = "INSERT INTO outlook (at, judgement, content) VALUES (?, ?, ?)"
                connection.execute(sql, (time.time(), last, content))

    def _wanted(self, row: int, overlap: float) -> int:
        """Say how many annotators shall judge a row; the same whenever it is planned."""
        if overlap == 0:
            return 1
        return 1 + int(np.random.default_rng([self.session.settings.seed, row]).random() < overlap)


def _in_turn(planned: list[_Planned]) -> tuple[Picks, Outlook]:
    """Put what is planned of each part in turn, so that as many of each are asked; the outlook is the candidates'."""
    (first, *others) = planned
    picks, outlook = first.picks, first.outlook
    for other in others:
        turns = [one.before + np.arange(len(one.picks)) for one in (first, other)]
        order = np.argsort(np.concatenate(turns), kind="stable").tolist()
        picks = picks.plus(replace(other.picks, rows=other.picks.rows + other.part.rows.start)).take(order)
        both = [*outlook.probabilities, *other.outlook.probabilities]
        probabilities = [both[place] for place in order]
        outlook = replace(outlook, probabilities=probabilities)
    return picks, outlook


def _as_true(part: Part, outlook: Outlook) -> Outlook:
    """Say of each planned triple how probably true it is, as its card does, whatever is sought."""
    if not part.wrong:
        return outlook
    return replace(outlook, probabilities=[None if p is None else 1 - p for p in outlook.probabilities])


def task_of(pool: ScoredTriples, row: int, reason: str, *more: Any) -> Task:
    """Return a row of the pool as a task; ``more`` are its fields after the reason."""
    return Task(row, *pool.triple(row), float(pool.scores[row]), reason, *more)


def planner_command(folder: Path) -> list[str]:
    """Return the command that runs a session's planner, which imports nothing from the folder it is started in.

    But for a method of the user's own, where this process imported it: then that one does so too.
    """
    with closing(Session(folder, synced=False)) as session:
        method = session.settings.method
    return [sys.executable, "-P", "-m", "actc.session.plan", str(folder), *imported_name(method)]


@contextmanager
def planning(folder: Path, report: Callable[[str], None]) -> Iterator[None]:
    """Keep a planner running in a process of its own; it ends with this block, or with this process."""
    ending, starting, command = threading.Event(), threading.Lock(), planner_command(folder)
    current: list[subprocess.Popen[bytes]] = []

    def keep() -> None:
        while True:
            with starting:  # none is started once the block has ended
                if ending.is_set():
                    return
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                )
                current[:] = [process]
            assert process.stderr is not None
            with process.stderr as errors:
                error = errors.read().decode(errors="replace").strip()
            _end(process)
            if not ending.wait(1.0):
                report(f"The planner stopped and is started again: {(error.splitlines() or ['no reason given'])[-1]}")

    thread = threading.Thread(target=keep, daemon=True)
    thread.start()
    try:
        yield
    finally:
        with starting:
            ending.set()
        for process in current:
            _end(process)
        thread.join(10)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let a planner go by itself. One that is still loading, which takes long on a busy machine, is ended.

    Nothing is lost with it: what a planner writes is in one transaction, and can be worked out again.
    """
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(GOODBYE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main(folder: str, method: str | None = None) -> None:
    """Plan until standard input closes; with a method of the user's own, if it is named."""
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    try:
        _plan_for_ever(Path(folder), method)
    except Exception as error:
        print(write_trouble(Path(folder), error), file=sys.stderr, flush=True)
        os._exit(1)  # an ordinary end would wait for the thread that reads, and die of it


def _plan_for_ever(folder: Path, method: str | None) -> None:
    if method is not None:
        import_here(method)
    session = Session(folder, synced=False)
    planner = AuditPlanner(session) if session.settings.is_audit else Planner(session)
    while True:
        started = time.process_time()
        planner.step()
        remove_trouble(folder)
        # At most half of a core, on a busy machine, too: annotators come first, but soon they need new cards.
        time.sleep(max(0.2, time.process_time() - started))


def _leave_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
