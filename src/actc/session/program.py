"""A program as annotator: a language model, a rule, a look-up.

It reads one JSON object a line on its standard input (``triple``, ``head``, ``relation``, ``tail``, ``sentence``, and
what the cards say) and writes one a line on its standard output (``triple``, ``said``: true, false or unsure, and a
``note`` if it likes). Its answers are kept apart: they never become labels. The triples that people judged come first,
so that its reliability is known.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from actc.errors import ActcError
from actc.judges.converse import converse, split_command
from actc.session.agreement import Reliability, measure_reliability
from actc.session.ask import Annotator, Task, put_tasks
from actc.session.cards import make_card, plain
from actc.session.combine import combine
from actc.session.plan import Planner
from actc.session.record import LABELS, Judgement, insert
from actc.session.session import Session


@dataclass(frozen=True)
class ProgramRun:
    """What came of a run: how many triples were put to the program, how many it answered, how far to trust it."""

    asked: int
    answered: int
    reliability: Reliability


def ask_program(session: Session, command: str, count: int, name: str | None = None) -> ProgramRun:
    """Put triples to a program and store what it says.

    Parameters
    ----------
    session : Session
    command : str
        The program and its arguments; no shell interprets it.
    count : int
        How many triples that nobody judged are put to it, besides all that people judged.
    name : str, optional
        What to call it; its file's name if not given.
    """
    words = split_command(command)
    annotator = session.add_annotator(name or f"program {words[0].rpartition('/')[2]}"[:80], "program")
    tasks = _tasks(session, annotator, count)
    answered = sum(1 for _ in _answers(session, annotator, words, tasks))
    said = combine(session.votes("program").of(annotator.id), "majority")
    return ProgramRun(len(tasks), answered, measure_reliability(said, session.annotations()))


def _tasks(session: Session, annotator: Annotator, count: int) -> list[Task]:
    """Return what people judged, then what would be asked next; nothing that this program answered before."""
    done = {
        row["triple"] for row in session.store.rows("SELECT triple FROM answer WHERE annotator = ?", (annotator.id,))
    }
    labels = session.annotations()
    judged = [row for row in labels.rows.tolist() if row not in done]
    if count == 0:
        return session.tasks(judged)
    planner = Planner(session)
    picks = planner.choose(planner.fit(labels), labels, count + len(done), labels.rows)
    new = [row for row in picks.rows.tolist() if row not in done][:count]
    return session.tasks(judged) + [planner.task(row, "For a program.") for row in new]


def _answers(session: Session, annotator: Annotator, words: list[str], tasks: Sequence[Task]) -> Iterator[int]:
    """Run the program and store its answers, line by line."""
    waiting = {task.triple: task for task in tasks}
    if not waiting:
        return
    with closing(converse(words, (_tell(session, task) for task in tasks))) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                triple, said, note = _parse(line, number, waiting)
                _store(session, annotator, waiting.pop(triple), said, note)
                yield triple


def _tell(session: Session, task: Task) -> dict[str, Any]:
    """Return what the program reads of a task."""
    card = make_card(session.names, task)
    return card | {
        "sentence": plain(card["sentence"]),
        **{part: [plain(one) for one in card[part]] for part in ("examples", "head_facts", "tail_facts")},
        "score": task.score,
    }


def _parse(line: bytes, number: int, waiting: dict[int, Task]) -> tuple[int, str, str]:
    place = f"Line {number} of the program's output"
    try:
        told = json.loads(line)
        triple, said = told["triple"], str(told["said"]).strip().lower()
    except (ValueError, KeyError, TypeError, RecursionError):
        shown = line.decode(errors="replace").strip()[:80]
        raise ActcError(f'{place} is no answer such as {{"triple": 12, "said": "true"}}: {shown!r}') from None
    if not isinstance(triple, int | float) or triple not in waiting:
        raise ActcError(f"{place} speaks of triple {triple!r}, which it was not asked, or answered already.")
    if said not in LABELS:
        raise ActcError(f"{place} says {said!r}; the answers are true, false and unsure.")
    return int(triple), said, str(told.get("note") or "")[:2000]


def _store(session: Session, annotator: Annotator, task: Task, said: str, note: str) -> None:
    with session.store.transaction() as connection:
        # The triple stays in the plan: a program's answer takes no question away from people.
        put_tasks(connection, [task])
        insert(
            connection,
            annotator,
            Judgement(said, task.triple, f"p{task.triple}", note=note),
            task.triple,
            "program",
            time.time(),
        )
