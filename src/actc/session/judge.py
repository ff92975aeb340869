"""Let machines judge a session's candidates: which triples, what the machine reads, and the run."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import numpy as np

from actc.data.answers import Answers
from actc.data.deliver import try_to_lock
from actc.data.options import documented, options_of
from actc.data.progress import Progress, ignore_progress
from actc.data.triples import IntArray, ScoredTriples
from actc.decide.case import Case
from actc.errors import OptionError, check_choice
from actc.graph.client import read_variable
from actc.session.cards import make_card, plain
from actc.session.cases import read_judges, session_case
from actc.session.export import measure_judges
from actc.session.lease_queue import Task
from actc.session.machines import (
    DEFAULT,
    Question,
    Reply,
    Server,
    ask_program,
    fill_prompt,
    hash_question,
    read_prompt,
    split_command,
)
from actc.session.plan import task_of
from actc.session.session import MOST_NAME, Session, open_session, tidy_name
from actc.session.settings import JudgeConfig
from actc.session.status import Reliability
from actc.session.store import Store

PROGRAM = 'an answer is a line such as {"triple": 12, "answer": "true"}'


@dataclass
class JudgeRun:
    """The counts of a run."""

    judge: str
    wanted: int  # triples that it should judge
    before: int = 0  # those of them that it had judged before, by the same question
    answered: int = 0  # new answers
    unreadable: int = 0  # replies that could not be read, which are no answer
    tokens_in: int = 0  # what a model read
    tokens_out: int = 0  # what it wrote
    requests: int = 0  # to its server, retries among them
    problem: str = PROGRAM  # why the last question failed that could not be put
    seconds: float = 0.0  # how long it took
    reliability: Reliability = field(default_factory=Reliability)  # how often it agrees with people

    @property
    def failed(self) -> int:
        """Questions that could not be put."""
        return self.wanted - self.before - self.answered - self.unreadable

    def sentences(self) -> list[str]:
        """Return the run as sentences."""
        rate = (self.answered + self.unreadable) / max(self.seconds, 1e-9)
        lines = [
            f"{self.judge}: {self.answered:,} new answers in {self.seconds:.1f} s ({rate:,.1f} a second); "
            f"{self.before:,} of {self.wanted:,} triples were judged before."
            if self.wanted
            else f"{self.judge}: there was nothing to ask."
        ]
        if self.unreadable:
            lines.append(f"{self.unreadable:,} replies could not be read: they count as no answer.")
        if self.failed:
            why = f" ({self.problem})" if self.problem else ""
            lines.append(f"{self.failed:,} questions are left, failed{why} or over the limit: run it again to go on.")
        if self.requests:
            lines.append(f"{self.requests:,} requests, {self.tokens_in:,} tokens read and {self.tokens_out:,} written.")
        trust = self.reliability
        lines.append(
            f"It agrees with people on {trust.right:.0%} of the {trust.compared:,} triples that both judged."
            if trust.compared
            else "No triple was judged both by it and by people yet; until then its answers count little."
        )
        return lines


@documented(options_of(JudgeConfig))
def judge_triples(session: str | Path | Session, *, progress: Progress = ignore_progress, **options: Any) -> JudgeRun:
    """Let a machine judge triples of a session, as ``actc judge`` does.

    The triples that people judged come first, since they show how reliable the machine is. The same question is not
    put again, so a run that was cut off goes on where it was.

    Parameters
    ----------
    session : path or Session
    progress : callable
        Called with how many are done, and of how many.
    options
        Any of the options below, those of the command; and ``retries``, ``timeout`` and ``way`` of
        :class:`actc.session.settings.JudgeConfig`.
    """
    config, began = JudgeConfig(**options), time.monotonic()
    prompt = read_prompt(config.prompt)
    name = name_judge(config, prompt)
    key = read_variable("--key-from", config.key_from)
    server = None if config.url is None else Server(config, prompt, key, config.way)
    with open_session(session) as session:
        tasks = choose_triples(session, config.which, config.count)
        run = JudgeRun(name, len(tasks))
        # Not synced: a question whose reply is lost with a crash of the machine is put again.
        with closing(Store(session.store.path, synced=False)) as store, lock_judge(store, name):
            replied = store.rows("SELECT key FROM reply JOIN judge ON judge = id WHERE name = ?", (name,))
            questions = _new_questions(session, tasks, config, prompt, {key for (key,) in replied}, run)
            if server is None:
                replies = ask_program(config.program or "", islice(questions, min(config.limit, len(tasks))))
            else:
                server.way = server.way or store.value("SELECT way FROM judge WHERE name = ?", (name,)) or ""
                replies = server.ask(questions)
            for question, reply in replies:
                with store.transaction() as connection:
                    put_reply(connection, name, question, reply)
                    if server is not None:  # a run that is killed need not find it again
                        connection.execute("UPDATE judge SET way = ? WHERE name = ?", (server.way, name))
                run.answered += reply.answer is not None
                run.unreadable += reply.answer is None
                run.tokens_in += reply.tokens_in
                run.tokens_out += reply.tokens_out
                progress(run.answered + run.unreadable, run.wanted - run.before)
        pool = session.read_pool()
        measured = measure_judges(pool, session.annotations(), read_judges(session.store, pool))
    if server is not None:
        run.requests, run.problem = server.requests, server.problem
    run.seconds, run.reliability = time.monotonic() - began, measured.get(name, run.reliability)
    return run


def _new_questions(
    session: Session, tasks: Iterable[Task], config: JudgeConfig, prompt: str, known: Container[str], run: JudgeRun
) -> Iterator[Question]:
    """Make the questions whose keys are not known, one by one: a hundred thousand cards take a while."""
    for task in tasks:
        question = make_question(session, task, config.model or "", None if config.url is None else prompt)
        if question.key in known:
            run.before += 1
        else:
            yield question


def name_judge(config: JudgeConfig, prompt: str) -> str:
    """Return the name of a judge: a model with another prompt is another judge."""
    if config.model is None:
        words = " ".join(word.rpartition("/")[2] for word in split_command(config.program or "")[:2])
        return tidy_name(config.name or words[:MOST_NAME], "a judge")
    name = tidy_name(config.name or config.model[:MOST_NAME], "a judge")
    mark = "" if prompt == DEFAULT else f" ({hash_question(prompt)[:6]})"
    return name[: MOST_NAME - len(mark)] + mark


MOST_CHOSEN = 1000


def choose_triples(session: Session, which: str, count: int | None) -> list[Task]:
    """Return the triples for a judge: those that people judged, then the chosen ones, best first."""
    check_choice("choice of triples", which, CHOICES)
    case = session_case(session)
    rows = case.annotations.rows
    chosen = CHOICES[which](case, session.settings.seed) if count != 0 else rows[:0]
    most = count if count is not None else MOST_CHOSEN if which in ("doubtful", "random") else None
    more = chosen[~np.isin(chosen, rows)]
    return [task_of(case.pool, row, "") for row in (*rows.tolist(), *more[:most].tolist())]


def choose_doubtful(case: Case, seed: int) -> IntArray:
    """Return all rows, those with a probability near one half first."""
    p = case.fit.probabilities(case.pool)
    if p is None:
        raise OptionError("This session's method has no probabilities; choose --which accepted, random or all.")
    return np.argsort(np.abs(p - 0.5), kind="stable")


CHOICES: dict[str, Callable[[Case, int], IntArray]] = {
    "doubtful": choose_doubtful,
    # none while no threshold decides
    "accepted": lambda case, seed: np.flatnonzero(case.decisions.accepted & (case.fit.thresholds is not None)),
    "random": lambda case, seed: np.random.default_rng([seed, 16]).permutation(len(case.pool)),
    "all": lambda case, seed: np.arange(len(case.pool)),
}


def make_question(session: Session, task: Task, model: str = "", prompt: str | None = None) -> Question:
    """Return a triple as a judge reads it; nothing in it depends on what the method estimates.

    With the prompt of a model the question is the filled prompt, else all fields.
    """
    card = make_card(session.names, task)
    fields: dict[str, Any] = {"triple": task.triple, "sentence": plain(card["sentence"])}
    for role in ("head", "relation", "tail"):
        one = card[role]
        fields |= {role: one["name"], f"{role}_id": one["id"], f"{role}_description": one["description"]}
    fields["known"] = card["known"]
    fields |= {part: [plain(one) for one in card[part]] for part in ("examples", "head_facts", "tail_facts")}
    fields |= {"source": card["source"], "reasons": list(session.names.reasons(task.triple)), "score": task.score}
    key = hash_question(fields) if prompt is None else hash_question(task.triple, model, fill_prompt(prompt, fields))
    return Question(task.triple, key, fields)


@contextmanager
def lock_judge(store: Store, judge: str) -> Iterator[None]:
    """Let one run at a time ask a judge: a second one would ask the same questions. A killed run locks nothing."""
    with open(store.path.with_name(f".judge-{hash_question(judge)[:8]}.lock"), "a", encoding="ascii") as file:
        if try_to_lock(file) is False:
            raise OptionError(
                "Another run is asking this judge now; wait for it, end it, or give this one a --name of its own."
            )
        yield


def put_reply(connection: Connection, judge: str, question: Question, reply: Reply) -> int:
    """Add a reply, and its judge, unless they are there; return how many were new: 1 or 0."""
    now = time.time()
    connection.execute("INSERT OR IGNORE INTO judge (name, created) VALUES (?, ?)", (judge, now))
    values = question.key, question.triple, reply.answer, reply.probability, reply.reason, now
    return connection.execute(
        "INSERT OR IGNORE INTO reply SELECT id, ?, ?, ?, ?, ?, ?, ?, ? FROM judge WHERE name = ?",
        (*values, reply.tokens_in, reply.tokens_out, judge),
    ).rowcount


def add_judge_answers(store: Store, pool: ScoredTriples, answers: Answers) -> int:
    """Store answers that judges gave elsewhere, each once; return how many were new."""
    rows, new = pool.rows_of(answers.triples), 0
    probabilities = np.full(len(rows), np.nan) if answers.probability is None else answers.probability
    with store.transaction() as connection:
        for at in np.flatnonzero(rows >= 0).tolist():
            row, label, p = int(rows[at]), "true" if answers.labels[at] else "false", float(probabilities[at])
            question = Question(row, hash_question("import", row, label, p), {})
            # SQLite stores NaN as NULL.
            new += put_reply(connection, tidy_name(answers.who[at], "a judge"), question, Reply(label, p))
    return new
