"""A language model behind a server that speaks the OpenAI chat protocol, on this machine or elsewhere.

What leaves this process is the filled prompt and the name of the model; the key goes into one header and nowhere else.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from actc.errors import ActcError, OptionError, needing
from actc.session.prompt import IN_JSON, IN_ONE_WORD, fill_prompt
from actc.session.replies import NO_ANSWER, Question, Reply, printable, read_reply, read_tokens

MOST_BYTES = 1_000_000
MOST_TOKENS = 10**9
FIRST_WAIT, MOST_WAIT = 0.5, 60.0
"""Seconds before the first retry, doubled each time; and the longest."""
MOST_WRITTEN = 300
"""Tokens that a model may write."""
MOST_TOP = 20
"""Words that a server is asked to tell the probabilities of: as many as most allow."""
SCHEMA = {
    "type": "object",
    "properties": {
        "answer": {"type": "string", "enum": ["true", "false", "unsure"]},
        "probability": {"type": "number"},
        "reason": {"type": "string"},
    },
    "required": ["answer", "probability", "reason"],
    "additionalProperties": False,
}
FORM = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}}
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "tokens": (IN_ONE_WORD, {"max_tokens": 1, "logprobs": True, "top_logprobs": MOST_TOP}),
    "schema": (IN_JSON, {"response_format": FORM}),
    "text": (IN_JSON, {}),
}
"""Ways to ask, the best first: by the probabilities of the first word, by an object of a given form, by any text."""
MOST_IN_A_ROW = 20
"""So many questions that failed for good, one after the other: the server is not there."""
Outcome = tuple[Question, Reply | None, str]
"""A question, its reply, and if there is none, why."""


class RefusedError(ActcError):
    """A question that the server does not take as it was put."""


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
        Seconds to wait for a whole reply.
    limit : int
        Requests in all, retries among them.
    way : str
        How to ask, see ``WAYS``; empty to find out by the first question.
    """

    url: str
    model: str
    prompt: str
    key: str = field(default="", repr=False)
    jobs: int = 4
    retries: int = 5
    timeout: float = 120.0
    limit: int = 10_000
    way: str = ""

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            fine = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and self.url.isprintable()
        except ValueError:  # half a bracket, a port that is no number, a letter that is a slash in disguise
            fine = False
        if not fine or " " in self.url:
            raise OptionError(f"--url: {self.url!r} is no address such as http://127.0.0.1:8080/v1.")
        if "@" in parts.netloc:
            raise OptionError("--url has a password in it; name an environment variable with --key-from instead.")
        for name, least in (("jobs", 1), ("retries", 0), ("limit", 1)):
            if getattr(self, name) < least:
                raise OptionError(f"{name} must be at least {least}, not {getattr(self, name)}.")
        if not 0 < self.timeout < float("inf"):
            raise OptionError(f"--timeout: {self.timeout} seconds cannot be; give a positive number.")

    @property
    def address(self) -> str:
        """Where requests go."""
        return f"{self.url.rstrip('/').removesuffix('/chat/completions')}/chat/completions"

    @property
    def headers(self) -> dict[str, str]:
        """What is said of every request."""
        key = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        return {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "actc", **key}

    def body(self, question: Question) -> dict[str, Any]:
        """Return what is sent: nothing else leaves."""
        answer, more = WAYS[self.way]
        text = fill_prompt(self.prompt, {**question.told, "answer": answer})
        messages = [{"role": "user", "content": text}]
        return {"model": self.model, "messages": messages, "temperature": 0, "max_tokens": MOST_WRITTEN} | more


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
    """What was sent so far.

    Parameters
    ----------
    limit : int
        Requests in all; the one after is not made.
    problem : str
        Why the last question that failed for good did.
    resume_at : float
        Till when the server wants to be left alone.
    way : str
        How it is asked, once that is known.
    """

    limit: int
    requests: int = 0
    problem: str = ""
    resume_at: float = 0.0
    way: str = ""


def ask_server(
    server: Server, questions: Iterable[Question], traffic: Traffic | None = None
) -> Iterator[tuple[Question, Reply]]:
    """Put questions to a model, several at a time, and return its replies as they come.

    A question whose request failed for good is not among them, and is asked in the next run. The run ends early when
    the limit of requests is reached. A server that does not answer a single question is an error.
    """
    traffic, in_a_row, answered = traffic or Traffic(server.limit), 0, False
    traffic.way = server.way
    with closing(_ask_side_by_side(server, questions, traffic)) as found:
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
    server: Server, questions: Iterable[Question], traffic: Traffic
) -> Generator[Outcome, None, None]:
    """Ask several questions at a time; whoever stops listening ends those that are on their way.

    No more than ``jobs`` are on their way or not yet taken: a process that is killed asks no more than those again.
    """
    with needing("Asking a model server", "httpx", "judge"):
        import httpx
        from anyio.from_thread import start_blocking_portal
    pending, waiting = iter(questions), set[Future[Outcome]]()
    # Time and connections are bounded here, not by httpx.
    client = httpx.AsyncClient(headers=server.headers, timeout=None, limits=httpx.Limits(max_connections=None))
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
        while not traffic.way and traffic.requests < traffic.limit:
            question = next(pending, None)
            if question is None:
                return
            yield portal.call(_find_way, client, server, traffic, question)
        server = replace(server, way=traffic.way)
        while True:
            free = server.jobs - len(waiting) if traffic.requests < traffic.limit else 0
            more = islice(pending, free)
            waiting |= {portal.start_task_soon(_ask, client, server, traffic, one) for one in more}
            if not waiting:
                return
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)


async def _find_way(client: Any, server: Server, traffic: Traffic, question: Question) -> Outcome:
    """Ask a question in one way after the other until the answer makes sense, and note which way it was."""
    outcome: Outcome = question, None, ""
    for way in WAYS:
        try:
            outcome = await _ask(client, replace(server, way=way), traffic, question)
        except RefusedError:
            if way == "text":
                raise
            continue
        reply = outcome[1]
        if reply is None:  # a server that is not there says nothing about ways
            return outcome
        if reply.said is not None:
            break
    traffic.way = way
    return outcome


async def _ask(client: Any, server: Server, traffic: Traffic, question: Question) -> Outcome:
    import anyio

    problem = ""
    for attempt in range(server.retries + 1):
        pause = min(FIRST_WAIT * 2 ** (attempt - 1), MOST_WAIT) if attempt else 0.0
        await anyio.sleep(max(pause, traffic.resume_at - time.monotonic(), 0.0))
        if traffic.requests >= traffic.limit:
            return question, None, ""
        traffic.requests += 1
        try:
            return question, await _ask_once(client, server, question), ""
        except RequestError as failure:
            problem = str(failure)
            traffic.resume_at = max(traffic.resume_at, time.monotonic() + min(failure.after, MOST_WAIT))
    return question, None, problem


async def _ask_once(client: Any, server: Server, question: Question) -> Reply:
    """Put a question once; the whole reply must be there in time, however slowly it comes."""
    import anyio
    import httpx

    content = b""
    try:
        with anyio.fail_after(server.timeout):
            async with client.stream("POST", server.address, json=server.body(question)) as response:
                if response.headers.get("Content-Encoding", "identity") != "identity":  # a little may unpack to a lot
                    raise RequestError("the reply is packed, which was not asked for")
                async for part in response.aiter_raw():
                    content += part
                    if len(content) > MOST_BYTES:
                        raise RequestError(f"a reply of more than {MOST_BYTES:,} bytes")
    except TimeoutError:
        raise RequestError(f"no whole reply in {server.timeout:g} seconds") from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        raise RequestError(_without_key(str(error) or type(error).__name__, server.key)) from None
    if not response.is_success:
        raise _judge_status(response.status_code, response.headers.get("Retry-After"), content, server)
    return _read_completion(content, server)


def _judge_status(code: int, retry_after: str | None, content: bytes, server: Server) -> Exception:
    """Return what an error of the server's means: try again, or stop the run."""
    told = _without_key(content[:2000].decode("utf-8", "replace"), server.key)[:200]
    if code in (408, 409, 425, 429) or code >= 500:
        return RequestError(f"{code} {told}".strip(), _retry_after(retry_after))
    if code in (401, 403):
        return ActcError(f"The server refuses the key ({code}); name the variable that holds it with --key-from.")
    if 300 <= code < 400:  # nobody is followed elsewhere: the key would go along
        return ActcError(f"{server.url} sends requests elsewhere ({code}); give that address with --url.")
    return RefusedError(f"The server refuses the question ({code}): {told or 'no reason given'}.")


def _retry_after(value: str | None) -> float:
    """Return the seconds that the server wants, given as seconds or as a date."""
    for read in (float, lambda text: parsedate_to_datetime(text).timestamp() - time.time()):
        try:
            return max(0.0, read(value or ""))
        except (ValueError, TypeError, OverflowError, OSError):
            pass
    return 0.0


def _read_completion(content: bytes, server: Server) -> Reply:
    """Read a model's message; half a message is a request that failed, a whole one of no sense is no answer."""
    try:
        told = json.loads(content.replace(server.key.encode(), b"(key)") if server.key else content)
    except (ValueError, RecursionError):
        raise RequestError("the answer is no JSON, or was cut off") from None
    try:
        choice = told["choices"][0]
        reply = read_tokens(choice) if server.way == "tokens" else read_reply(choice["message"]["content"])
    except (KeyError, IndexError, TypeError):
        return NO_ANSWER
    used = told.get("usage")
    counts = [used.get(name) if isinstance(used, dict) else 0 for name in ("prompt_tokens", "completion_tokens")]
    tokens = [count if isinstance(count, int) and 0 <= count < MOST_TOKENS else 0 for count in counts]
    return replace(reply, reason=_without_key(reply.reason, server.key), tokens_in=tokens[0], tokens_out=tokens[1])


def _without_key(text: str, key: str) -> str:
    """Return what somebody else says as it may be shown and kept."""
    return printable(text.replace(key, "(key)") if key else text)
