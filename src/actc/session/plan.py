"""Plan what to ask next, and estimate the decisions, beside the process that serves annotators.

A planner reads the answers, fits the method, and writes two things into the session: the plan (the triples to ask next,
best first) and the refit (thresholds, expected accuracy). A server of pages only reads those, so a pool of a million
triples costs an answer nothing. Of an audit it computes what the draws show, and draws more.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import numpy as np

from actc.data.answers import Annotations, Picks
from actc.data.text_files import in_json
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Thresholds
from actc.decide.audit import assess, describe_audit, draw_next
from actc.decide.case import Case
from actc.decide.estimate import WRONG_FACTS
from actc.decide.guarantee import RoundPlan
from actc.decide.pick import pick_next
from actc.session.cases import PoolPart, empty_case, invert_labels, parts_of, with_answers, words_of
from actc.session.lease_queue import PLACES, TASK, Task
from actc.session.session import Session

LEAST_PLANNED, MOST_PLANNED = 128, 12_288
FIRST_PLANNED = 2000
"""The first plan must last, for all annotators together, until a planner has read the pool and made the next."""
LEASED_EACH = 6
"""Cards that a page leases at a time: a plan has as many for each person, besides those for the time until the next."""
PLANNED_SECONDS, REFITS = 10.0, 6
"""A later plan has as many triples as were judged in the last seconds, or during so many refits, if that is longer."""
BEGIN_ROUND = (
    "UPDATE task SET round = ? WHERE round < ? AND answered = 0 AND selection != 'list' AND triple >= ? AND triple < ?"
)
# What people judged or took while the plan was made.
DROP_GIVEN_OUT = (
    "DELETE FROM plan WHERE EXISTS (SELECT 1 FROM lease WHERE lease.triple = plan.triple) OR EXISTS "
    "(SELECT 1 FROM task WHERE task.triple = plan.triple AND answered > 0)"
)
Plan = tuple[Picks, FloatArray, dict[str, Any]]
"""What to ask next, the probability that each is true, and the refit."""


class Planner:
    """Refits a session's method whenever there are new answers; ``pool`` is given where it is in memory already."""

    def __init__(self, session: Session, pool: ScoredTriples | None = None) -> None:
        self.session = session
        self.pool = session.read_pool() if pool is None else pool
        self.parts = [(part, empty_case(session, part, self.pool)) for part in parts_of(session.settings)]
        self.seen = -1, -1  # the last judgement and the last change of settings
        self.accepted: BoolArray | None = None  # the decisions of the first part
        self.seconds = 0.0  # of the last refit

    def step(self) -> bool:
        """Refit and plan, if there is anything new; return whether there was."""
        store, started = self.session.store, time.monotonic()
        last = store.value("SELECT coalesce(max(id), 0) FROM judgement")
        change, planned = store.value("SELECT max(id) FROM setting"), store.value("SELECT count(*) FROM plan")
        is_new = (last, change) != self.seen
        if not is_new and planned >= LEAST_PLANNED // 2:
            return False
        given_out = store.integers("SELECT triple FROM task WHERE answered > 0 UNION SELECT triple FROM lease")
        if not is_new and len(self.pool) <= planned + len(given_out):
            return False
        plan = self._plan_audit if self.session.settings.is_audit else self._plan_questions
        picks, p, refit = plan(self._plan_size(last), given_out)
        self._write(last, self._tasks(picks, p), refit, anew=self.seen[1] not in (-1, change))
        self.seen, self.seconds = (last, change), time.monotonic() - started
        return True

    def _plan_questions(self, count: int, given_out: IntArray) -> Plan:
        """Choose by the method of each part; of two parts as many questions are about each, earlier ones included."""
        count = -(-count // len(self.parts))
        planned = [self._plan_part(part, empty, count, given_out) for part, empty in self.parts]
        picks, places, probabilities, (case, *_) = zip(*planned, strict=True)
        order = np.argsort(np.concatenate(places), kind="stable")
        together = picks[0] if len(picks) == 1 else picks[0].plus(picks[1])
        refit = describe_refit(case, self.accepted)  # pages show that of the first part
        self.accepted = None if case.fit.thresholds is None else case.decisions.accepted
        return together.take(order), np.concatenate(probabilities)[order], refit

    def _plan_part(
        self, part: PoolPart, empty: Case, count: int, given_out: IntArray
    ) -> tuple[Picks, IntArray, FloatArray, Case]:
        """Choose what to ask next of a part.

        Returns the picks, their places among all of the part's questions, their probabilities of being true, and the
        case that was fitted.
        """
        settings, (rows, goal) = self.session.settings, part
        busy = given_out[(given_out >= rows.start) & (given_out < rows.stop)] - rows.start
        case = replace(with_answers(self.session, part, empty, settings.target_precision), open_round=self._begun(rows))
        budget = max(settings.budget // len(self.parts), 1)
        random = np.random.default_rng([settings.seed, len(case.annotations)])
        picks, case = pick_next(case, count, random, budget, waiting=busy), case.plain
        known = (
            case.probabilities(case.pool.take(picks.rows)) if len(picks) and case.fit.thresholds is not None else None
        )
        p = np.full(len(picks), np.nan) if known is None else 1 - known if goal is WRONG_FACTS else known
        return replace(picks, rows=picks.rows + rows.start), len(busy) + np.arange(len(picks)), p, case

    def _plan_audit(self, count: int, given_out: IntArray) -> Plan:
        """Draw at random from what is audited."""
        pool, settings, answers = self.pool, self.session.settings, judged_draws(self.session)
        goal, rule = words_of(settings), settings.stopping_rule
        random = np.random.default_rng([settings.seed, len(answers)])
        rows = draw_next(pool, answers, count, random, rule, given_out)
        why = f"Drawn at random from what is {goal.accepted}."
        audit = assess(pool, answers, rule)
        judged, trues = (
            np.bincount(pool.relations[rows], minlength=len(pool.relation_names))
            for rows in (answers.rows, answers.rows[answers.labels])
        )
        order = np.argsort(-judged, kind="stable")[: np.count_nonzero(judged)]
        refit = {
            "labels": audit.judged,
            "expected": audit.share.middle if audit.judged else None,
            "low": audit.share.low,
            "high": audit.share.high,
            "relations": describe_relations(pool, order, trues / np.maximum(judged, 1), judged),
            "done": audit.more == 0,
            "verdict": describe_audit(audit, goal),
        }
        return Picks(rows, why, selection="check", sampling_frame="accepted"), np.full(len(rows), np.nan), refit

    def _begun(self, rows: range) -> RoundPlan | None:
        """Return the last round of draws that has begun in a part of the pool."""
        draw = "SELECT triple, round, sampling_frame, inclusion_probability, selection FROM"
        begun = self.session.store.rows(
            f"SELECT round, sampling_frame, inclusion_probability FROM ({draw} task UNION ALL {draw} plan) "
            "WHERE selection = 'list' AND triple >= ? AND triple < ? ORDER BY round DESC LIMIT 1",
            (rows.start, rows.stop),
        )
        return next((RoundPlan.read(*row) for row in begun), None)

    def _plan_size(self, last: int) -> int:
        """Return how many triples to plan after judgement number ``last``."""
        leased = LEASED_EACH * len(self.session.people())
        if last == 0:
            return FIRST_PLANNED + leased
        since = time.time() - max(PLANNED_SECONDS, REFITS * self.seconds)
        sql = "SELECT count(*) FROM judgement WHERE at > ? AND id > ?"
        recent = self.session.store.value(sql, (since, last - MOST_PLANNED))
        return int(np.clip(recent, LEAST_PLANNED, MOST_PLANNED)) + leased

    def _tasks(self, picks: Picks, p: FloatArray) -> list[Task]:
        """Return picks as tasks, each with how many annotators shall judge it: the same whenever it is planned."""
        settings, tasks = self.session.settings, []
        for at, row in enumerate(picks.rows.tolist()):
            share = np.random.default_rng([settings.seed, row]).random() if settings.overlap else 1.0
            inclusion, true = (float(x) if np.isfinite(x) else None for x in (picks.inclusion_probability[at], p[at]))
            how = picks.selection[at], picks.sampling_frame[at], inclusion, int(picks.round[at])
            tasks.append(task_of(self.pool, row, picks.reasons[at], *how, true, 1 + int(share < settings.overlap)))
        return tasks

    def _write(self, last: int, tasks: list[Task], refit: dict[str, Any], *, anew: bool) -> None:
        """Replace the plan, unless another process planned with newer answers; and add the refit, if it is another."""
        planned = [(place, *task.as_row()) for place, task in enumerate(tasks)]
        relations, content = json.dumps(refit.pop("relations")), json.dumps(refit)
        # Answers wait while this has the file, so all is prepared before, and only what is needed is read.
        with self.session.store.transaction() as connection:
            newest = connection.execute("SELECT coalesce(max(judgement), -1) FROM refit").fetchone()[0]
            if newest > last:
                return
            # What is answered after a round has begun did not make its list.
            for (rows, _), _ in self.parts:
                latest = max((task.round for task in tasks if task.triple in rows), default=0)
                connection.execute(BEGIN_ROUND, (latest, latest, rows.start, rows.stop))
            connection.execute("DELETE FROM plan")
            connection.executemany(f"INSERT INTO plan (place, {TASK}) VALUES (?, {PLACES})", planned)
            connection.execute(DROP_GIVEN_OUT)
            connection.execute("INSERT OR REPLACE INTO relations VALUES (1, ?)", (relations,))
            if newest < last or anew:
                connection.execute(
                    "INSERT INTO refit (at, judgement, content) VALUES (?, ?, ?)", (time.time(), last, content)
                )


def describe_refit(case: Case, before: BoolArray | None) -> dict[str, Any]:
    """Return what the method makes of the answers.

    That is the number of ``labels``; the share of decisions that ``changed`` since the refit before; the ``expected``
    share of right decisions with its bounds, ``low`` and ``high``; and the ``relations``, those with most labels first.
    A value is None where the method has none.
    """
    pool, answers, thresholds = case.pool, case.annotations, case.fit.thresholds
    refit: dict[str, Any] = {"labels": len(answers), "relations": []}
    refit |= dict.fromkeys(("changed", "expected", "low", "high"))
    if thresholds is None:
        return refit
    accepted = case.decisions.accepted
    accuracy = None if case.estimates is None else case.estimates.overall["accuracy"]
    if accuracy is not None:
        refit |= {"expected": accuracy.middle, "low": accuracy.low, "high": accuracy.high}
    if before is not None:
        refit["changed"] = float(np.mean(accepted != before))
    labels = np.bincount(pool.relations[answers.rows], minlength=len(pool.relation_names))
    shares = np.bincount(pool.relations, accepted, minlength=len(labels)) / np.maximum(pool.relation_counts, 1)
    order = np.lexsort((np.arange(len(labels)), -pool.relation_counts, -labels))
    return refit | {"relations": describe_relations(pool, order, shares, labels, thresholds)}


def describe_relations(
    pool: ScoredTriples, order: IntArray, shares: FloatArray, labels: IntArray, thresholds: Thresholds | None = None
) -> list[dict[str, Any]]:
    """Return relations in an order: the cut, the share that is accepted, or true, and the number of labels of each."""
    lines = [
        {
            "relation": pool.relation_names[i],
            "cut": None if thresholds is None else float(thresholds.cuts[i]),
            "share": round(float(shares[i]), 4),
            "triples": int(pool.relation_counts[i]),
            "labels": int(labels[i]),
        }
        for i in order.tolist()
    ]
    return list(in_json(lines, words=False))


def judged_draws(session: Session) -> Annotations:
    """Return the answers to an audit; an unsure answer counts as a no."""
    labels = session.annotations()
    if words_of(session.settings) is WRONG_FACTS:
        labels = invert_labels(labels)
    unsure = session.store.integers("SELECT triple FROM task WHERE answered > 0 AND labelled = 0")
    return Annotations(np.append(labels.rows, unsure), np.append(labels.labels, np.zeros(len(unsure), dtype=np.bool_)))


def task_of(pool: ScoredTriples, row: int, reason: str, *more: Any) -> Task:
    """Return a row of the pool as a task; ``more`` are its fields after the reason."""
    return Task(row, *pool.triple(row), float(pool.scores[row]), reason, *more)
