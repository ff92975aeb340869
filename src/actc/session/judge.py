"""Let machines judge a session's candidates: which triples, what the machine reads, and the run."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.progress import Progress, ignore_progress
from actc.data.triples import IntArray
from actc.decide.case import Case
from actc.errors import OptionError, check_choice
from actc.session.agreement import Reliability
from actc.session.ask_program import ask_program, split_command
from actc.session.ask_server import Server, read_key
from actc.session.cards import make_card, plain
from actc.session.cases import session_case
from actc.session.judge_store import lock_judge, read_judges, store_replies
from actc.session.lease_queue import Task
from actc.session.plan import task_of
from actc.session.questions import DEFAULT, Question, fill_prompt, hash_question, read_prompt
from actc.session.report import measure_judges
from actc.session.session import MOST_NAME, Session, open_session, tidy_name
from actc.session.store import Store


@dataclass(frozen=True)
class JudgeRun:
    """The counts of a run.

    Parameters
    ----------
    judge : str
        Its name.
    wanted, before : int
        Triples that it should judge; those of them that it had judged before, by the same question.
    answered, unreadable, failed : int
        New answers; replies that could not be read, which are no answer; questions that could not be put.
    requests, tokens_in, tokens_out : int
        Requests to a model server, retries among them; what the model read and wrote.
    problem : str
        Why the last question failed that could not be put to a server; empty where none did.
    seconds : float
        How long it took.
    reliability : Reliability
        How often it agrees with people.
    """

    judge: str
    wanted: int
    before: int
    answered: int
    unreadable: int
    failed: int
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    problem: str = ""
    seconds: float = 0.0
    reliability: Reliability = field(default_factory=Reliability)

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


def judge_triples(
    session: str | Path | Session,
    *,
    program: str | None = None,
    url: str | None = None,
    model: str | None = None,
    which: str = "doubtful",
    count: int | None = None,
    prompt: str | Path | None = None,
    key_from: str | None = None,
    name: str | None = None,
    jobs: int = 4,
    retries: int = 5,
    timeout: float = 120.0,
    limit: int = 10_000,
    way: str | None = None,
    progress: Progress = ignore_progress,
) -> JudgeRun:
    """Let a machine judge triples of a session, as ``actc judge`` does.

    The triples that people judged come first, since they show how reliable the machine is. The same question is not
    asked again, so a run that was cut off goes on where it was.

    Parameters
    ----------
    session : path or Session
    program : str, optional
        A command that reads JSON lines and writes JSON lines.
    url, model : str, optional
        A server that speaks the OpenAI chat protocol, and its name for the model.
    which : {"doubtful", "accepted", "random", "all"}
        Which triples, besides those that people judged.
    count : int, optional
        How many of them at most; 1,000 of the doubtful or random ones, else all.
    prompt : path, optional
        A text with fields, for a model; see ``actc.session.questions``.
    key_from : str, optional
        The environment variable that holds the server's key.
    name : str, optional
        The name of the judge; the model's or program's name if not given.
    jobs, retries, timeout
        Requests at a time, tries after the first, seconds to wait for a reply.
    limit : int
        Requests in this run at most, retries among them; also the most lines that a program is given.
    way : {"tokens", "schema", "text"}, optional
        How a server answers: by the probabilities of its first word, by an object of a given form, or by any text; if
        not given, the first of these that it can.
    progress : callable
        Called with how many are done, and of how many.
    """
    if (program is None) == (url is None):
        raise OptionError("Say who judges, one of: --program 'CMD', or --url URL --model NAME.")
    if (url is None) != (model is None):
        raise OptionError("--url and --model go together: where the server is, and its name for the model.")
    if limit < 1:
        raise OptionError(f"--limit must be at least 1, not {limit}.")
    text, server, began = read_prompt(prompt), None, time.monotonic()
    if url is not None and model is not None:
        server = Server(url, model, text, read_key(key_from), jobs, retries, timeout, limit, way or "")
        judge = name_judge(name or model[:MOST_NAME], text)
    else:
        words = " ".join(word.rpartition("/")[2] for word in split_command(program or "")[:2])
        judge = tidy_name(name or words[:MOST_NAME], "a judge")
    with open_session(session) as session:
        tasks, pool = choose_triples(session, which, count), session.read_pool()
        store = Store(session.store.path, synced=False)  # a reply that a crash of the machine loses is asked again
        known_keys = {
            key for (key,) in store.rows("SELECT key FROM reply JOIN judge ON judge = id WHERE name = ?", (judge,))
        }
        tally = Counter[str]()

        def new_questions() -> Iterator[Question]:
            # One by one: a hundred thousand cards take a while.
            for task in tasks:
                question = make_question(session, task, model or "", None if server is None else text)
                if question.key in known_keys:
                    tally["before"] += 1
                else:
                    yield question

        with lock_judge(store, judge):
            if server is not None:
                server.way = server.way or store.value("SELECT way FROM judge WHERE name = ?", (judge,)) or ""
                known, replies = way or "", server.ask(new_questions())
            else:
                known, replies = "", ask_program(program or "", islice(new_questions(), min(limit, len(tasks))))
            for reply in store_replies(store, judge, replies):
                if server is not None and server.way != known:  # at once: a run that is killed need not find it again
                    known = server.way
                    with store.transaction() as connection:
                        connection.execute("UPDATE judge SET way = ? WHERE name = ?", (known, judge))
                tally.update(
                    replies=1, answered=reply.answer is not None, read=reply.tokens_in, written=reply.tokens_out
                )
                progress(tally["replies"], len(tasks) - tally["before"])
        measured = measure_judges(pool, session.annotations(), read_judges(store, pool))
        store.close()
        return JudgeRun(
            judge,
            len(tasks),
            tally["before"],
            tally["answered"],
            tally["replies"] - tally["answered"],
            len(tasks) - tally["before"] - tally["replies"],
            0 if server is None else server.requests,
            tally["read"],
            tally["written"],
            "" if server is None else server.problem,
            time.monotonic() - began,
            measured.get(judge, Reliability()),
        )


def name_judge(name: str, prompt: str) -> str:
    """Return the name of a model with a prompt: with another prompt it is another judge."""
    name = tidy_name(name, "a judge")
    mark = "" if prompt == DEFAULT else f" ({hash_question(prompt)[:6]})"
    return name[: MOST_NAME - len(mark)] + mark


MOST_CHOSEN = 1000


def choose_triples(session: Session, which: str, count: int | None) -> list[Task]:
    """Return the triples for a judge: those that people judged, then the chosen ones, best first."""
    check_choice("choice of triples", which, CHOICES)
    if count is not None and count < 0:
        raise OptionError(f"--count: {count} triples cannot be; give 0 or more.")
    case = session_case(session)
    rows = case.annotations.rows
    chosen = CHOICES[which](case, session.settings.seed) if count != 0 else rows[:0]
    most = count if count is not None else MOST_CHOSEN if which in ("doubtful", "random") else None
    more = chosen[~np.isin(chosen, rows)]
    return [task_of(case.pool, row, "") for row in (*rows.tolist(), *more[:most].tolist())]


def choose_accepted(case: Case, seed: int) -> IntArray:
    """Return the rows that are accepted so far."""
    return np.flatnonzero(case.decisions.accepted) if case.fit.thresholds is not None else np.zeros(0, dtype=np.int64)


def choose_doubtful(case: Case, seed: int) -> IntArray:
    """Return all rows, those with a probability near one half first."""
    p = case.fit.probabilities(case.pool)
    if p is None:
        raise OptionError("This session's method has no probabilities; choose --which accepted, random or all.")
    return np.argsort(np.abs(p - 0.5), kind="stable")


CHOICES: dict[str, Callable[[Case, int], IntArray]] = {
    "doubtful": choose_doubtful,
    "accepted": choose_accepted,
    "random": lambda case, seed: np.random.default_rng([seed, 16]).permutation(len(case.pool)),
    "all": lambda case, seed: np.arange(len(case.pool)),
}


def make_question(session: Session, task: Task, model: str = "", prompt: str | None = None) -> Question:
    """Return a triple as a judge reads it; nothing in it depends on what the method estimates.

    Parameters
    ----------
    prompt : str, optional
        The prompt of a model: then the question is the filled prompt, else all fields.
    """
    card = make_card(session.names, task)
    fields: dict[str, Any] = {"triple": task.triple, "sentence": plain(card["sentence"])}
    for role in ("head", "relation", "tail"):
        one = card[role]
        fields |= {role: one["name"], f"{role}_id": one["id"], f"{role}_description": one["description"]}
    fields["known"] = card["known"]
    fields |= {part: [plain(one) for one in card[part]] for part in ("examples", "head_facts", "tail_facts")}
    (reasons,) = session.names.reasons([task.triple])
    fields |= {"source": card["source"], "reasons": list(reasons), "score": task.score}
    key = hash_question(fields) if prompt is None else hash_question(task.triple, model, fill_prompt(prompt, fields))
    return Question(task.triple, key, fields)
