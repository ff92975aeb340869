"""The replies of machines in a session's file: each is stored when the next is taken, and (judge, key) only once."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from actc.data.deliver import try_to_lock
from actc.decide.judges import JudgeAnswers
from actc.errors import OptionError
from actc.session.questions import Question, Reply, hash_question
from actc.session.session import tidy_name
from actc.session.store import Store


def add_judge(store: Store, name: str) -> int:
    """Return the number of the judge of that name, new or not."""
    name = tidy_name(name, "a judge")
    with store.transaction() as connection:
        connection.execute("INSERT OR IGNORE INTO judge (name, created) VALUES (?, ?)", (name, time.time()))
    return int(store.value("SELECT id FROM judge WHERE name = ?", (name,)))


@contextmanager
def lock_judge(store: Store, judge: str) -> Iterator[None]:
    """Let one run at a time ask a judge: a second one would ask the same questions. A killed run locks nothing."""
    with open(store.path.with_name(f".judge-{hash_question(judge)[:8]}.lock"), "a", encoding="ascii") as file:
        if try_to_lock(file) is False:
            raise OptionError(
                "Another run is asking this judge now; wait for it, end it, or give this one a --name of its own."
            )
        yield


def store_replies(store: Store, judge: str, replies: Iterable[tuple[Question, Reply]]) -> Iterator[Reply]:
    """Store replies as they come, each committed before it is passed on; an earlier one of the same key stays.

    The judge of that name is added with its first reply.
    """
    number = None
    for question, reply in replies:
        number = add_judge(store, judge) if number is None else number
        values = (number, question.key, question.triple, reply.answer, reply.probability, reply.reason)
        with store.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO reply VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*values, time.time(), reply.tokens_in, reply.tokens_out),
            )
        yield reply


def add_judge_answers(store: Store, judged: JudgeAnswers) -> int:
    """Store answers that judges gave elsewhere, once however often; return how many were new."""
    before = store.value("SELECT count(*) FROM reply")
    rows = []
    for judge, name in enumerate(judged.names):
        mine, number = judged.judges == judge, add_judge(store, name)
        for row, signal in zip(judged.rows[mine].tolist(), judged.signals[mine].tolist(), strict=True):
            # A plain yes or no has no probability.
            answer, p = "true" if signal > 0 else "false", None if abs(signal) == 1 else (1 + signal) / 2
            rows.append((number, hash_question("import", row, signal), row, answer, p, "", time.time(), 0, 0))
    with store.transaction() as connection:
        connection.executemany("INSERT OR IGNORE INTO reply VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    return int(store.value("SELECT count(*) FROM reply") - before)


def count_replies(store: Store) -> dict[str, int]:
    """Return how many questions each judge was asked, by its name."""
    sql = "SELECT name, (SELECT count(*) FROM reply WHERE judge = judge.id) FROM judge ORDER BY id"
    return dict(map(tuple, store.rows(sql)))


def read_judges(store: Store) -> JudgeAnswers:
    """Return every judge's answer to every triple: its last one, where it was asked in several ways."""
    rows = store.rows(
        "SELECT triple, judge - 1, answer = 'true', coalesce(probability, -1), max(reply.rowid) FROM reply "
        "GROUP BY judge, triple HAVING answer IN ('true', 'false') ORDER BY judge, triple"
    )
    names = [name for (name,) in store.rows("SELECT name FROM judge ORDER BY id")]  # as many as rows know, or more
    table = np.array([tuple(row) for row in rows], dtype=np.float64).reshape(-1, 5)
    true, p, codes = table[:, 2] == 1, table[:, 3], table[:, :2].astype(np.int64)
    return JudgeAnswers.of(codes[:, 0], codes[:, 1], true, np.where(p < 0, np.nan, p), tuple(names))
