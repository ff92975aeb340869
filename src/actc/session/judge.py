"""Let machines judge a session's candidates: which, told what, and where what they say is kept."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.answers import Annotations
from actc.data.progress import Progress, ignore_progress
from actc.data.triples import IntArray
from actc.decide.case import Case
from actc.errors import ChoiceError, OptionError, check_choice
from actc.session.agreement import Reliability, measure_reliability
from actc.session.ask import Task
from actc.session.ask_program import ask_program, split_command
from actc.session.ask_server import WAYS, Server, Traffic, ask_server, read_key
from actc.session.cards import make_card, plain
from actc.session.find_case import session_case
from actc.session.judge_store import MOST_NAME, ReplyStore, tidy_name
from actc.session.judged import compare_judges
from actc.session.plan import task_of
from actc.session.prompt import DEFAULT, fill_prompt, read_prompt
from actc.session.replies import Question, Reply, key_of
from actc.session.session import Session, open_session
from actc.session.texts import reasons_of, write_sources

Replies = Iterator[tuple[Question, Reply]]


@dataclass(frozen=True)
class JudgeRun:
    """What came of a run.

    Parameters
    ----------
    judge : str
        Its name.
    wanted, before : int
        Triples that it should judge; those of them that it had judged before, told the same.
    answered, senseless, failed : int
        New answers; replies that made no sense, which are no answer; questions that could not be put.
    requests, tokens_in, tokens_out : int
        What a model server was asked, retries among it; what the model read and wrote.
    problem : str
        Why the last question failed that could not be put to a server; empty where none did.
    seconds : float
        How long it took.
    reliability : Reliability
        How often it says what people said.
    """

    judge: str
    wanted: int
    before: int
    answered: int
    senseless: int
    failed: int
    requests: int
    tokens_in: int
    tokens_out: int
    problem: str
    seconds: float
    reliability: Reliability

    def sentences(self) -> list[str]:
        """Say what the judge was asked, what came of it and how far it can be trusted."""
        rate = (self.answered + self.senseless) / max(self.seconds, 1e-9)
        lines = [
            f"{self.judge}: {self.answered:,} new answers in {self.seconds:.1f} s ({rate:,.1f} a second); "
            f"{self.before:,} of {self.wanted:,} triples were judged before."
            if self.wanted
            else f"{self.judge}: nothing was asked."
        ]
        if self.senseless:
            lines.append(f"{self.senseless:,} replies made no sense: they count as no answer.")
        if self.failed:
            why = f" ({self.problem})" if self.problem else ""
            lines.append(f"{self.failed:,} questions are left, failed{why} or over the limit: run it again to go on.")
        if self.requests:
            lines.append(f"{self.requests:,} requests, {self.tokens_in:,} tokens read and {self.tokens_out:,} written.")
        trust = self.reliability
        lines.append(
            f"It says what people said on {100 * trust.right:.0f} % of {trust.compared:,} triples that both judged."
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
    texts: str | Path | None = None,
    progress: Progress = ignore_progress,
) -> JudgeRun:
    """Let a machine judge triples of a session, as ``actc judge`` does.

    What people judged comes first, since it tells what the machine is worth. What it was asked before, told the same,
    is not asked again, so a run that was cut off goes on where it was.

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
        A text with fields, for a model; see ``actc.session.prompt``.
    key_from : str, optional
        The environment variable that holds the server's key.
    name : str, optional
        What to call the judge; the model's or program's name if not given.
    jobs, retries, timeout
        Requests at a time, tries after the first, seconds to wait for a reply.
    limit : int
        Requests in this run at most, retries among them; also the most lines that a program is given.
    way : {"tokens", "schema", "text"}, optional
        How a server answers: by the probabilities of its first word, by an object of a given form, or by any text; if
        not given, the first of these that it can, found out once.
    texts : path, optional
        A table with head, relation, tail and source: the text that each candidate was taken from, for judges and cards.
    progress : callable
        Told how many are done, and of how many.
    """
    _check_choice(program, url, model)
    if way is not None and way not in WAYS:
        raise ChoiceError("way to ask", way, WAYS)
    if limit < 1:
        raise OptionError(f"--limit must be at least 1, not {limit}.")
    text, traffic, began = read_prompt(prompt), Traffic(limit), time.monotonic()
    ask: Callable[[Iterable[Question]], Replies]
    if url is not None:
        server = Server(url, model or "", text, read_key(key_from), jobs, retries, timeout, limit)
    else:
        split_command(program or "")
        ask = partial(ask_program, program or "")
    judge = tidy_name(name or _name_of(program, model), "a judge")
    if url is not None:
        judge = name_asked(judge, text)
    with open_session(session) as session:
        tasks = choose_triples(session, which, count)
        if texts is not None:
            write_sources(session.folder, session.read_pool(), texts)
        store = ReplyStore(session.folder, create=True)
        number = store.add_judge(judge)
        with store.alone(number):
            if url is not None:
                ask = partial(ask_server, replace(server, way=way or store.way(number)), traffic=traffic)
            questions = Fresh(session, tasks, store.keys(number), model or "", None if url is None else text)
            tally: Counter[str] = Counter()  # what came of the run so far
            asked = questions if url is not None else islice(questions, min(limit, len(tasks)))
            known = way or ""
            for reply in store.keep(number, ask(asked)):
                if traffic.way != known:  # at once: a run that is killed need not find it out again
                    known = traffic.way
                    store.keep_way(number, known)
                tally.update(replies=1, answered=reply.said is not None, read=reply.tokens_in, written=reply.tokens_out)
                progress(tally["replies"], len(tasks) - questions.before)
        return JudgeRun(
            judge,
            len(tasks),
            questions.before,
            tally["answered"],
            tally["replies"] - tally["answered"],
            len(tasks) - questions.before - tally["replies"],
            traffic.requests,
            tally["read"],
            tally["written"],
            traffic.problem,
            time.monotonic() - began,
            compare_judges(session.annotations(), store.answers()).get(judge, NOT_COMPARED),
        )


NOT_COMPARED = measure_reliability(Annotations(), Annotations())


@dataclass
class Fresh:
    """The questions that a judge was not asked before, made one by one: a hundred thousand cards take a while.

    Parameters
    ----------
    asked : set of str
        The keys of those that it was asked.
    prompt : str, optional
        The prompt of a model.
    before : int
        How many of the tasks it was asked before, as far as they have been looked at.
    """

    session: Session
    tasks: Sequence[Task]
    asked: set[str]
    model: str
    prompt: str | None
    before: int = 0

    def __iter__(self) -> Iterator[Question]:
        for task in self.tasks:
            question = make_question(self.session, task, self.model, self.prompt)
            if question.key in self.asked:
                self.before += 1
                continue
            yield question


def _check_choice(program: str | None, url: str | None, model: str | None) -> None:
    if (program is None) == (url is None):
        raise OptionError("Say who judges, one of: --program 'CMD', or --url URL --model NAME.")
    if (url is None) != (model is None):
        raise OptionError("--url and --model go together: where the server is, and its name for the model.")


def _name_of(program: str | None, model: str | None) -> str:
    if program is not None:
        return " ".join(word.rpartition("/")[2] for word in split_command(program)[:2])[:MOST_NAME]
    return (model or "")[:MOST_NAME]


def name_asked(name: str, prompt: str) -> str:
    """Return the name of a judge that is asked in its own way: another prompt is another judge."""
    if prompt == DEFAULT:
        return name
    mark = f" ({key_of(prompt)[:6]})"
    return name[: MOST_NAME - len(mark)] + mark


def choose_triples(session: Session, which: str, count: int | None) -> list[Task]:
    """Return the triples for a judge: what people judged, then those asked for, best first where they have an order."""
    check_choice("choice of triples", which, CHOICES)
    if count is not None and count < 0:
        raise OptionError(f"--count: {count} triples cannot be; give 0 or more.")
    case = session_case(session)
    labels = case.annotations
    chosen = CHOICES[which](case, session.settings.seed) if count != 0 else labels.rows[:0]
    most = count if count is not None else MOST_CHOSEN if which in ("doubtful", "random") else None
    more = chosen[~np.isin(chosen, labels.rows)]
    return [task_of(case.pool, row, "") for row in (*labels.rows.tolist(), *more[:most].tolist())]


MOST_CHOSEN = 1000


def find_accepted(case: Case, seed: int) -> IntArray:
    """Return the rows that are accepted so far."""
    return np.flatnonzero(case.decisions.accepted) if case.fit.thresholds is not None else np.zeros(0, dtype=np.int64)


def find_doubtful(case: Case, seed: int) -> IntArray:
    """Return all rows, the most doubtful first."""
    p = case.fit.probabilities(case.pool)
    if p is None:
        raise OptionError("This session's method has no probabilities; choose --which accepted, random or all.")
    return np.argsort(np.abs(p - 0.5), kind="stable")


def shuffle(case: Case, seed: int) -> IntArray:
    """Return all rows in random order; more of them hold the fewer."""
    return np.random.default_rng([seed, 16]).permutation(len(case.pool))


def take_all(case: Case, seed: int) -> IntArray:
    """Return every row."""
    return np.arange(len(case.pool))


CHOICES: dict[str, Callable[[Case, int], IntArray]] = {
    "doubtful": find_doubtful,
    "accepted": find_accepted,
    "random": shuffle,
    "all": take_all,
}


def make_question(session: Session, task: Task, model: str = "", prompt: str | None = None) -> Question:
    """Return a triple as a judge is told of it; nothing in it changes with what the method thinks.

    Parameters
    ----------
    prompt : str, optional
        The prompt of a model: then the question is the filled prompt, else all that there is to tell.
    """
    card = make_card(session.names, task)
    told: dict[str, Any] = {"triple": task.triple, "sentence": plain(card["sentence"])}
    for role in ("head", "relation", "tail"):
        one = card[role]
        told |= {role: one["name"], f"{role}_id": one["id"], f"{role}_description": one["description"]}
    told["known"] = card["known"]
    told |= {part: [plain(one) for one in card[part]] for part in ("examples", "head_facts", "tail_facts")}
    (reasons,) = reasons_of(session.names, [task.triple])
    told |= {"source": card["source"], "reasons": list(reasons), "score": task.score}
    key = key_of(told) if prompt is None else key_of(task.triple, model, fill_prompt(prompt, told))
    return Question(task.triple, key, told)
