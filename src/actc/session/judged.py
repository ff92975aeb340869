"""What machines said of a session's triples, set against what people said."""

from __future__ import annotations

from actc.data.answers import Annotations
from actc.decide.judge_answers import JudgeAnswers
from actc.session.agreement import Reliability, measure_reliability


def compare_judges(people: Annotations, judged: JudgeAnswers) -> dict[str, Reliability]:
    """Return how often each judge says what people said, by its name."""
    found = {}
    for at, name in enumerate(judged.names):
        mine = judged.judges == at
        said = Annotations(judged.rows[mine], judged.signals[mine] > 0)
        found[name] = measure_reliability(said, people)
    return found
