"""Somebody who judges as the truth is."""

from __future__ import annotations

from actc.session import Judgement
from actc.session.plan import Planner


def answer_truly(session, pool, labels, count):
    """Let ada answer cards one by one, each as its label is; there is a new plan after every ten."""
    ada, planner = session.add_annotator("ada"), Planner(session)
    for number in range(count):
        if number % 10 == 0:
            planner.step()
        task = session.ask(ada)[0]
        row = int(pool.find([task.head], [task.relation], [task.tail])[0])
        session.record(ada, [Judgement("true" if labels[row] else "false", task.triple, f"key-{number}")])
    planner.step()
