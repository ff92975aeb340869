"""An audit on the page: random draws from the accepted triples, and when there are answers enough.

It is a session whose pool is the accepted set. Beside the people who judge, :class:`AuditPlanner` says after every
answer what the draws show so far, and draws more while that is not enough.
"""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np

from actc.data.answers import Annotations
from actc.data.triples import IntArray, ScoredTriples
from actc.decide.audit import Audit, assess, describe_audit, draw_next, stratify
from actc.decide.words import WRONG_FACTS
from actc.session.ask import PLACES, TASK, Task
from actc.session.session import Session
from actc.session.sought import invert_labels, sought_in

AHEAD = 10
"""Draws that wait to be given out."""


def judged_slice(session: Session) -> Annotations:
    """Return the answers to an audit; what nobody was sure of counts as not what was sought."""
    wrong = sought_in(session.settings) is WRONG_FACTS
    labels = invert_labels(session.annotations()) if wrong else session.annotations()
    rows = session.store.rows("SELECT triple FROM task WHERE answered > 0 AND labelled = 0")
    unsure = np.array([row["triple"] for row in rows], dtype=np.int64)
    return Annotations(np.append(labels.rows, unsure), np.append(labels.labels, np.zeros(len(unsure), dtype=np.bool_)))


def assess_session(session: Session, accepted: ScoredTriples | None = None, strata: IntArray | None = None) -> Audit:
    """Say what the answers to an audit tell about the whole accepted set."""
    accepted = session.read_pool() if accepted is None else accepted
    return assess(accepted, judged_slice(session), session.settings.stopping_rule, strata)


class AuditPlanner:
    """Works out, answer by answer, what an audit says, and draws what is asked next.

    Parameters
    ----------
    session : Session
        The audit.
    """

    def __init__(self, session: Session) -> None:
        self.session, self.accepted = session, session.read_pool()
        self.strata = stratify(self.accepted)
        self.seen = -1

    def step(self) -> bool:
        """Look at the answers, if there are new ones; return whether there were."""
        last = int(self.session.store.value("SELECT coalesce(max(id), 0) FROM judgement"))
        if last == self.seen:
            self._draw()  # somebody may have taken what was drawn without an answer yet
            return False
        audit = assess_session(self.session, self.accepted, self.strata)
        content = json.dumps(self._describe(audit))
        with self.session.store.transaction() as connection:
            sql = "INSERT INTO outlook (at, judgement, content) VALUES (?, ?, ?)"
            connection.execute(sql, (time.time(), last, content))
        self.seen = last
        self._draw()
        return True

    def _draw(self) -> None:
        """Put draws behind those that wait, as far as the budget goes."""
        session = self.session
        waiting = int(session.store.value("SELECT count(*) FROM plan"))
        if waiting > AHEAD // 2 or session.certified:
            return
        rows = session.store.rows("SELECT triple FROM task UNION SELECT triple FROM plan")
        drawn, answers = np.array([row["triple"] for row in rows], dtype=np.int64), judged_slice(session)
        unsure = len(answers) - int(session.store.value("SELECT labels FROM total"))
        count = min(AHEAD, session.budget - len(drawn) + unsure, len(self.accepted) - len(drawn))
        if count < 1:
            return
        settings = session.settings
        random = np.random.default_rng([settings.seed, len(drawn)])
        chosen = draw_next(self.accepted, answers, count, random, settings.stopping_rule, drawn, self.strata)
        why = f"Drawn at random from what is {sought_in(settings).accepted}."
        scores, places = self.accepted.scores, range(len(drawn), len(drawn) + len(chosen))
        tasks = [
            Task(row, *self.accepted.triple(row), float(scores[row]), why, "check", "accepted")
            for row in chosen.tolist()
        ]
        with session.store.transaction() as connection:
            connection.executemany(
                f"INSERT OR IGNORE INTO plan (place, {TASK}) VALUES (?, {PLACES})",
                [(place, *task.as_row()) for place, task in zip(places, tasks, strict=True)],
            )

    def _describe(self, audit: Audit) -> dict[str, Any]:
        """Return what the pages show: the share of true triples with its bounds, and whether that is enough."""
        return {
            "labels": audit.judged,
            "expected": audit.share.middle if audit.judged else None,
            "low": audit.share.low,
            "high": audit.share.high,
            "relations": self._relations(),
            "done": audit.more == 0,
            "verdict": describe_audit(audit, sought_in(self.session.settings)),
        }

    def _relations(self) -> list[dict[str, Any]]:
        """Return the share of true triples among the judged ones of each relation, those with most answers first."""
        answers, accepted, size = judged_slice(self.session), self.accepted, len(self.accepted.relation_names)
        relations = accepted.relations[answers.rows]
        judged = np.bincount(relations, minlength=size)
        trues = np.bincount(relations[answers.labels], minlength=size)
        chosen = np.argsort(-judged, kind="stable")[: np.count_nonzero(judged)].tolist()
        return [
            {
                "relation": accepted.relation_names[i],
                "cut": None,
                "lower": None,
                "upper": None,
                "share": round(float(trues[i] / judged[i]), 4),
                "triples": int(accepted.relation_counts[i]),
                "labels": int(judged[i]),
            }
            for i in chosen
        ]
