"""An audit on the page: a slice of accepted triples in its own order, and when there are answers enough.

It is a session whose pool is the accepted set and whose plan is the slice, written once, at its start: no answer moves
what is asked. Beside the people who judge, :class:`AuditPlanner` says after every answer what the slice tells so far.
"""

from __future__ import annotations

import json
import math
import time
from typing import Any

import numpy as np

from actc.data.triples import Annotations, ScoredTriples
from actc.decide.audit import Audit, answers_to_certify, assess, write_verdict
from actc.decide.words import WRONG_FACTS, Sought
from actc.session.session import Session
from actc.session.sought import invert_labels, sought_in


def judged_slice(session: Session) -> Annotations:
    """Return the answers to an audit; what nobody was sure of counts as not what was sought."""
    wrong = sought_in(session.settings) is WRONG_FACTS
    labels = invert_labels(session.annotations()) if wrong else session.annotations()
    rows = session.store.rows("SELECT triple FROM task WHERE answered > 0 AND labelled = 0")
    unsure = np.array([row["triple"] for row in rows], dtype=np.int64)
    return Annotations(np.append(labels.rows, unsure), np.append(labels.labels, np.zeros(len(unsure), dtype=np.bool_)))


def assess_session(session: Session, accepted: ScoredTriples | None = None) -> Audit:
    """Say what the answers to an audit tell about the whole accepted set."""
    accepted = session.read_pool() if accepted is None else accepted
    return assess(accepted, judged_slice(session), session.settings.design, session.settings.level)


class AuditPlanner:
    """Works out, answer by answer, what an audit says.

    Parameters
    ----------
    session : Session
        The audit.
    """

    def __init__(self, session: Session) -> None:
        self.session, self.accepted = session, session.read_pool()
        self.seen = -1

    def step(self) -> bool:
        """Look at the answers, if there are new ones; return whether there were."""
        last = int(self.session.store.value("SELECT coalesce(max(id), 0) FROM judgement"))
        if last == self.seen:
            return False
        content = json.dumps(self._look())
        with self.session.store.transaction() as connection:
            sql = "INSERT INTO outlook (at, judgement, content) VALUES (?, ?, ?)"
            connection.execute(sql, (time.time(), last, content))
        self.seen = last
        return True

    def _look(self) -> dict[str, Any]:
        """Return what the pages show: the share of true triples with its bounds, and whether that is enough."""
        settings = self.session.settings
        audit = assess_session(self.session, self.accepted)
        more = None if settings.target is None else answers_to_certify(audit, settings.target)
        # Only a simple draw may be looked at as it grows; the others are read when all of the slice is judged.
        done = settings.design == "simple" and more == 0
        return {
            "labels": audit.judged,
            "expected": None if math.isnan(audit.share) else audit.share,
            "low": audit.interval.low,
            "high": audit.interval.high,
            "relations": self._relations(),
            "done": done,
            "verdict": _say(audit, settings.target, more, sought_in(settings)),
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


def _say(audit: Audit, target: float | None, more: int | None, sought: Sought) -> str:
    """Return the verdict, and when to stop."""
    if not audit.judged:
        return f"Judge the triples in the order they come; what they tell about all {sought.found} appears here."
    low, high = audit.interval
    found = f"Between {low:.1%} and {high:.1%} of the {audit.total:,} {sought.found} are {sought.true}."
    if audit.design != "simple":
        return f"{found} Such a slice is read when all of it is judged."
    if target is None:
        return f"{found} The bounds hold whenever you look: stop when they are close enough."
    return f"{found} {write_verdict(target, more, sought)}"
