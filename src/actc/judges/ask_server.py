"""A language model behind a server that speaks the OpenAI chat protocol, on this machine or elsewhere.

What leaves this process is the filled prompt and the name of the model; the key goes into one header and nowhere else.
"""

from __future__ import annotations

import http.client
import json
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from functools import partial
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from actc.errors import ActcError, OptionError
from actc.judges.prompt import fill_prompt
from actc.judges.replies import NO_ANSWER, Question, Reply, read_reply

MOST_BYTES = 1_000_000
FIRST_WAIT, MOST_WAIT = 0.5, 60.0
"""Seconds before the first retry, doubled each time; and the longest."""
MOST_IN_A_ROW = 20
"""So many questions that failed for good, one after the other: the server is not there."""
Outcome = tuple[Question, Reply | None, str]
"""A question, its reply, and if there is none, why."""


class RequestError(Exception):
    """A request that may be tried again, and how long the server wants to be left alone."""

    def __init__(self, problem: str, after: float = 0.0) -> None:
        super().__init__(problem)
        self.after = after


@dataclass(frozen=True)
class Server:
    """How to reach a model.

    Parameters
    ----------
    url : str
        Where the server is: ``http://127.0.0.1:8080/v1``; ``/chat/completions`` is added.
    model : str
        Its name for the model.
    prompt : str
        The prompt, with its fields.
    key : str
        Sent as a bearer token; empty for none. It is not shown, nor part of any error.
    jobs : int
        Requests at the same time.
    retries : int
        How often a request that failed is tried again.
    timeout : float
        Seconds to wait for a reply.
    most_tokens : int
        How much the model may write.
    limit : int
        Requests in all, retries among them.
    """

    url: str
    model: str
    prompt: str
    key: str = field(default="", repr=False)
    jobs: int = 4
    retries: int = 5
    timeout: float = 120.0
    most_tokens: int = 300
    limit: int = 10_000

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise OptionError(f"--url: {self.url!r} is no address such as http://127.0.0.1:8080/v1.")
        if "@" in parts.netloc:
            raise OptionError("--url has a password in it; name an environment variable with --key-from instead.")
        for name, least in (("jobs", 1), ("retries", 0), ("limit", 1), ("most_tokens", 1)):
            if getattr(self, name) < least:
                raise OptionError(f"{name} must be at least {least}, not {getattr(self, name)}.")

    @property
    def address(self) -> str:
        """Where requests go."""
        base = self.url.rstrip("/")
        return base if base.endswith("/chat/completions") else f"{base}/chat/completions"

    def body(self, question: Question) -> dict[str, Any]:
        """Return what is sent: nothing else leaves."""
        text = fill_prompt(self.prompt, question.told)
        messages = [{"role": "user", "content": text}]
        return {"model": self.model, "messages": messages, "temperature": 0, "max_tokens": self.most_tokens}


def read_key(name: str | None) -> str:
    """Return the key in an environment variable; empty without a name."""
    if name is None:
        return ""
    key = os.environ.get(name, "").strip()
    if not key:
        raise OptionError(f"The environment variable {name} is empty; put the key there: export {name}=...")
    if not (key.isascii() and key.isprintable()):
        raise OptionError(f"The key in {name} has characters that no header can hold; check what it was set to.")
    return key


@dataclass
class Traffic:
    """What was sent so far; several threads count, so there is a lock.

    Parameters
    ----------
    limit : int
        Requests in all; the one after is not made.
    problem : str
        Why the last question that failed for good did.
    """

    limit: int
    requests: int = 0
    problem: str = ""
    resume_at: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)
    stop: threading.Event = field(default_factory=threading.Event)

    def take(self) -> bool:
        """Count one more request; False where the limit is reached."""
        with self.lock:
            if self.requests >= self.limit:
                return False
            self.requests += 1
            return True

    def leave_alone(self, seconds: float) -> None:
        """Let everybody wait: the server said so."""
        with self.lock:
            self.resume_at = max(self.resume_at, time.monotonic() + min(seconds, MOST_WAIT))

    def wait(self, seconds: float) -> None:
        """Wait so long, and as long as the server wants; a run that ends wakes everybody."""
        self.stop.wait(max(seconds, self.resume_at - time.monotonic(), 0.0))


def ask_server(
    server: Server, questions: Iterable[Question], traffic: Traffic | None = None
) -> Iterator[tuple[Question, Reply]]:
    """Put questions to a model, several at a time, and return its replies as they come.

    A question whose request failed for good is not among them, and is asked in the next run. The run ends early when
    the limit of requests is reached. A server that does not answer a single question is an error.
    """
    traffic = traffic or Traffic(server.limit)
    ask = partial(_ask_until_answered, urllib.request.build_opener(_NoRedirect()), server, traffic)
    in_a_row, answered = 0, False
    with closing(_ask_side_by_side(ask, questions, server.jobs, traffic)) as found:
        for question, reply, problem in found:
            if reply is not None:
                in_a_row, answered = 0, True
                yield question, reply
            elif problem:
                in_a_row, traffic.problem = in_a_row + 1, problem
                if in_a_row >= MOST_IN_A_ROW:
                    raise ActcError(f"The server fails again and again ({problem}); the answers so far are kept.")
    if in_a_row and not answered:
        raise ActcError(f"The server answered nothing ({traffic.problem}).")


def _ask_side_by_side(
    ask: Callable[[Question], Outcome], questions: Iterable[Question], jobs: int, traffic: Traffic
) -> Generator[Outcome, None, None]:
    """Ask several questions at a time.

    No more than ``jobs`` are on their way or not yet taken: a process that is killed asks no more than those again.
    """
    pending, waiting = iter(questions), set[Future[Outcome]]()
    with ThreadPoolExecutor(jobs, thread_name_prefix="judge") as threads:
        try:
            while True:
                free = jobs - len(waiting) if traffic.requests < traffic.limit else 0
                waiting |= {threads.submit(ask, question) for question in islice(pending, free)}
                if not waiting:
                    return
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        finally:
            traffic.stop.set()
            threads.shutdown(wait=False, cancel_futures=True)


def _ask_until_answered(
    opener: urllib.request.OpenerDirector, server: Server, traffic: Traffic, question: Question
) -> Outcome:
    problem = ""
    for attempt in range(server.retries + 1):
        traffic.wait(0.0 if attempt == 0 else min(FIRST_WAIT * 2 ** (attempt - 1), MOST_WAIT))
        if traffic.stop.is_set() or not traffic.take():
            return question, None, ""
        try:
            return question, _ask_once(opener, server, question), ""
        except RequestError as failure:
            problem = str(failure)
            if failure.after:
                traffic.leave_alone(failure.after)
    return question, None, problem


def _ask_once(opener: urllib.request.OpenerDirector, server: Server, question: Question) -> Reply:
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "actc"}
    if server.key:
        headers["Authorization"] = f"Bearer {server.key}"
    request = urllib.request.Request(server.address, json.dumps(server.body(question)).encode(), headers)
    try:
        with opener.open(request, timeout=server.timeout) as response:
            content = response.read(MOST_BYTES)
    except urllib.error.HTTPError as error:
        raise _judge_status(error, server) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise RequestError(_without_key(str(error) or type(error).__name__, server.key)) from None
    return _read_completion(content, server.key)


def _judge_status(error: urllib.error.HTTPError, server: Server) -> Exception:
    """Return what an error of the server's means: try again, or stop the run."""
    with error:
        told = _without_key(" ".join(error.read(2000).decode("utf-8", "replace").split())[:200], server.key)
    if error.code in (408, 409, 425, 429) or error.code >= 500:
        return RequestError(f"{error.code} {told}".strip(), _retry_after(error.headers.get("Retry-After")))
    if error.code in (401, 403):
        return ActcError(f"The server refuses the key ({error.code}); name the variable that holds it with --key-from.")
    if 300 <= error.code < 400:
        return ActcError(f"{server.url} sends requests elsewhere ({error.code}); give that address with --url.")
    return ActcError(f"The server refuses the question ({error.code}): {told or 'no reason given'}.")


def _retry_after(value: str | None) -> float:
    """Return the seconds that the server wants, given as seconds or as a date."""
    if not value:
        return 0.0
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _read_completion(content: bytes, key: str) -> Reply:
    """Read a model's message; half a message is a request that failed, a whole one of no sense is no answer."""
    try:
        told = json.loads(content)
    except (ValueError, RecursionError):
        raise RequestError("the answer is no JSON, or was cut off") from None
    try:
        text = told["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        return NO_ANSWER
    used = told.get("usage")
    used = used if isinstance(used, dict) else {}
    counts = [used.get(name) for name in ("prompt_tokens", "completion_tokens")]
    tokens = [count if isinstance(count, int) and count >= 0 else 0 for count in counts]
    reply = read_reply(text)
    return replace(reply, reason=_without_key(reply.reason, key), tokens_in=tokens[0], tokens_out=tokens[1])


def _without_key(text: str, key: str) -> str:
    return text.replace(key, "(key)") if key else text


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follow nobody elsewhere: the key would go along."""

    def redirect_request(self, *arguments: Any) -> None:
        """Refuse."""
        return
