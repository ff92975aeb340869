"""The replies of machines in a session's file: each is stored when the next is taken, and (judge, key) only once."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from actc.data.answers import Answers
from actc.data.deliver import try_to_lock
from actc.data.triples import ScoredTriples
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


def add_judge_answers(store: Store, pool: ScoredTriples, answers: Answers) -> int:
    """Store answers that judges gave elsewhere, once however often; return how many were new."""
    before, numbers = store.value("SELECT count(*) FROM reply"), dict[str, int]()
    places = pool.rows_of(answers.triples)
    answers, rows = answers.take(places >= 0), places[places >= 0]
    p = np.full(len(rows), np.nan) if answers.probability is None else answers.probability
    replies = []
    for row, who, label, own in zip(rows.tolist(), answers.who, answers.labels.tolist(), p.tolist(), strict=True):
        number = numbers[who] = numbers.get(who) or add_judge(store, who)
        key, probability = hash_question("import", row, label, own), None if np.isnan(own) else own
        replies.append((number, key, row, "true" if label else "false", probability, "", time.time(), 0, 0))
    with store.transaction() as connection:
        connection.executemany("INSERT OR IGNORE INTO reply VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", replies)
    return int(store.value("SELECT count(*) FROM reply") - before)


def count_replies(store: Store) -> dict[str, int]:
    """Return how many questions each judge was asked, by its name."""
    sql = "SELECT name, (SELECT count(*) FROM reply WHERE judge = judge.id) FROM judge ORDER BY id"
    return dict(map(tuple, store.rows(sql)))


def read_judges(store: Store, pool: ScoredTriples, start: int = 0) -> Answers:
    """Return every judge's last answer to every triple of a pool, whose rows begin at ``start`` in the session's."""
    replies = store.rows(
        "SELECT triple - ?, name, answer = 'true', probability, max(reply.rowid) FROM reply "
        "JOIN judge ON judge.id = reply.judge WHERE triple >= ? AND triple < ? "
        "GROUP BY judge, triple HAVING answer IN ('true', 'false') ORDER BY judge, triple",
        (start, start, start + len(pool)),
    )
    rows, who, labels, p, _ = zip(*replies, strict=True) if replies else ((),) * 5
    triples = pool.plain().take(np.array(rows, dtype=np.int64))
    return Answers(triples, np.array(labels), np.array(p, dtype=np.float64), who=np.array(who, dtype=object))
