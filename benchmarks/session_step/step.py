"""Time one planner step of a session, for one version of actc: whichever PYTHONPATH finds.

    python benchmarks/session_step/step.py LABELLED_SCORES ANSWERS

prints the processor's milliseconds of the quickest of many steps, each on all answers. Only names that older
versions have too are used here, so that ``run.py`` can set one beside this one.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import process_time

from actc.data.files import read_scored
from actc.session.lease_queue import Judgement
from actc.session.plan import Planner
from actc.session.settings import Settings
from actc.session.start import create_session

STEPS = 25


def time_step(scores: Path, answers: int) -> float:
    """Answer from the labels of the file, then plan again and again; return milliseconds of the quickest step."""
    labels = read_scored(scores)[1]
    assert labels is not None
    with tempfile.TemporaryDirectory() as folder:
        session = create_session(Path(folder) / "session", scores, Settings(budget=2 * answers))
        planner, owner = Planner(session), session.annotators()[0]
        for turn in range(answers):
            task = session.ask(owner)[0]
            session.record(owner, [Judgement("true" if labels[task.triple] else "false", task.triple, str(turn))])
            if turn % 50 == 49:
                planner.step()
        times = []
        for _ in range(STEPS):
            planner.seen = -1, -1  # as if the last answer had just come
            start = process_time()
            assert planner.step()
            times.append(1000 * (process_time() - start))
        session.close()
    return min(times)


if __name__ == "__main__":
    print(f"{time_step(Path(sys.argv[1]), int(sys.argv[2])):.2f}")
