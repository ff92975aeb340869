"""Machines as judges: a program, or a language model behind a server that speaks the OpenAI chat protocol.

A server gets the filled prompt and the name of the model; the key goes into one header and nowhere else.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from actc.data.text_files import read_text
from actc.errors import ActcError, FileError, OptionError, check_choice, needing
from actc.session.settings import JudgeConfig

MOST_PROMPT, MOST_REASON, MOST_TEXT = 100_000, 2000, 100_000  # characters
FIELDS = {
    "sentence": "the triple as a sentence",
    "head": "the head's name",
    "relation": "the relation's name",
    "tail": "the tail's name",
    "head_id": "the head's id in the graph",
    "relation_id": "the relation's id",
    "tail_id": "the tail's id",
    "head_description": "who or what the head is",
    "relation_description": "what the relation means",
    "tail_description": "who or what the tail is",
    "known": "other tails that the graph has for head and relation",
    "head_facts": "what else the graph has about the head",
    "tail_facts": "what else the graph has about the tail",
    "examples": "other triples of the relation",
    "source": "the text that the triple was taken from",
    "reasons": "evidence for and against it",
    "answer": "how to answer, in the way that the server can",
}
"""What a prompt may use."""
_FIELD = re.compile(r"\{(\w*)\}")
DEFAULT = """\
Is this statement true? Answer as a careful expert who checks facts for a knowledge graph.

Statement: {sentence}
About {head}: {head_description}
About {tail}: {tail_description}
The relation: {relation_description}
The graph also says of {head} and this relation: {known}
Other facts about {head}: {head_facts}
Other facts about {tail}: {tail_facts}
Text it was taken from: {source}
What speaks for and against it: {reasons}

{answer}
"""
"""The prompt without a file. Its words were measured with models; another prompt is another judge."""
IN_ONE_WORD = "Answer with one word, true or false."
IN_JSON = """\
Answer with one line of JSON and nothing else: {"answer": "true", "false" or "unsure", \
"probability": between 0 and 1 that it is true, "reason": "one sentence"}"""
"""Texts for the field ``answer``."""
WORDS = {
    "true": "true", "yes": "true", "correct": "true", "1": "true",
    "false": "false", "no": "false", "incorrect": "false", "wrong": "false", "0": "false",
    "unsure": "unsure", "unknown": "unsure", "uncertain": "unsure", "maybe": "unsure", "not sure": "unsure",
    "skip": "unsure",
}  # fmt: skip
"""Words that answer, and the answer that each is."""
OTHER_LANGUAGES = {
    "true": "wahr richtig ja vrai oui verdadero cierto sí si vero sì verdadeiro sim waar juist prawda tak sant sann "
            "да верно правда істина ano pravda evet doğru 是 对 對 真 はい 正しい 예 네 نعم صحيح כן נכון हाँ सही",
    "false": "falsch nein faux non falso não onwaar onjuist nee fałsz nie usant usann nej нет неверно ложь ні ne hayır "
             "yanlış 否 不 错 錯 假 いいえ 誤り 아니요 거짓 لا خطأ לא שגוי नहीं गलत",
}  # fmt: skip
TOKENS = WORDS | {word: answer for answer, words in OTHER_LANGUAGES.items() for word in words.split()}
LEAST_MASS = 0.01
"""A model that gives all answers together a smaller probability than this was about to write something else."""
ANSWER_FIELDS = ("answer", "said", "verdict", "label")
"""Where an object may have its answer."""
AROUND = " \t\r\n\"'`.,:;!*_()[]{}\u2581\u0120\u010a"
"""What stands around a word in a token: spaces, as tokenisers write them, and marks."""


@dataclass(frozen=True, eq=False)
class Question:
    """One triple, as it is put to a machine."""

    triple: int  # its row in the pool
    key: str  # changes with everything that the machine reads: no question is put twice
    fields: dict[str, Any]  # the fields of a prompt; a program reads them as one line of JSON


@dataclass(frozen=True)
class Reply:
    """The answer of a machine."""

    answer: str | None  # true, false or unsure; None where the reply could not be read
    probability: float | None = None  # that the triple is true, as the machine estimates it
    reason: str = ""  # in the machine's words
    tokens_in: int = 0  # what it read, where it is a language model that counts
    tokens_out: int = 0  # what it wrote


NO_ANSWER = Reply(None)


def read_prompt(path: str | Path | None) -> str:
    """Read a prompt and check its fields; without a file it is ``DEFAULT``."""
    if path is None:
        return DEFAULT
    text = read_text(Path(path))
    if not text.strip() or len(text) > MOST_PROMPT:
        raise FileError(f"{path}: a prompt has 1 to {MOST_PROMPT:,} characters, this one {len(text):,}.")
    used = _used_fields(text)
    for name in used:
        check_choice(f"field of a prompt ({path})", name, FIELDS)
    if not {"sentence", "head", "head_id"} & set(used):
        raise FileError(f"{path}: the prompt does not name the triple; use {{sentence}}, or {{head}}.")
    return text


def fill_prompt(prompt: str, fields: dict[str, Any]) -> str:
    """Put a question's fields into a prompt; a line whose fields are all empty is left out."""
    lines = []
    for line in prompt.splitlines():
        names = _used_fields(line)
        # Names alone do not keep a line: "About Ada: " with nothing behind it informs no one.
        informing = [name for name in names if name not in ("head", "relation", "tail")] or names
        if names and not any(_as_text(fields.get(name)) for name in informing):
            continue
        text = line.replace("{{", "\0").replace("}}", "\1")
        # Once over the line: braces in a description are never read as a field.
        text = _FIELD.sub(lambda match: _as_text(fields.get(match[1])), text)
        lines.append(text.replace("\0", "{").replace("\1", "}"))
    return "\n".join(lines)


def _used_fields(text: str) -> list[str]:
    """Return the fields of a text; doubled braces stand for themselves."""
    return _FIELD.findall(text.replace("{{", "").replace("}}", ""))


def _as_text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value))
    return "" if value is None else " ".join(str(value).split())


def hash_question(*parts: Any) -> str:
    """Return a short key for everything that a machine reads."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def read_reply(content: Any) -> Reply:
    """Read a reply: an object, the text of one, or a text that begins with the answer."""
    try:
        if isinstance(content, str):
            text = content[:MOST_TEXT]
            start, end = text.find("{"), text.rfind("}")
            if not 0 <= start < end:
                [(word, rest)] = re.findall(r"\A\W*(\w*)(.*)\Z", text, re.DOTALL)
                content = {"answer": word, "reason": rest}
            else:
                content = json.loads(text[start : end + 1])
        return _read_object(content if isinstance(content, dict) else {"answer": content})
    except (ValueError, RecursionError):  # no JSON, or a value that cannot be written as text
        return NO_ANSWER


def read_tokens(choice: Any) -> Reply:
    """Read the probabilities that a model gave its first word: true and false, in whichever spelling and language."""
    try:
        first = choice["logprobs"]["content"][0]
        top = [(one["token"], math.exp(min(one["logprob"], 0.0))) for one in first["top_logprobs"]]
        read = [(TOKENS.get(token.strip(AROUND).lower()), p) for token, p in top]
        mass = {word: sum(p for answer, p in read if answer == word) for word in ("true", "false")}
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError):
        return NO_ANSWER
    if not sum(mass.values()) >= LEAST_MASS:
        return NO_ANSWER
    least = min(p for _, p in read)  # any other word is at most as probable as the last of these
    true, false = (max(mass[word], least / 2, sys.float_info.min) for word in ("true", "false"))
    p = true / (true + false)
    return Reply(_likelier(p), p)


def _read_object(content: dict[str, Any]) -> Reply:
    content = {str(name).strip().lower(): value for name, value in content.items()}
    p = content.get("probability")
    value = next((content[name] for name in ANSWER_FIELDS if content.get(name) is not None), None)
    if not isinstance(p, int | float) or isinstance(p, bool) or not 0 <= p <= 1:
        p = None  # it is left out; the answer stays
    answer = WORDS.get(str(value).strip(" .\"'").lower()) if value is not None or p is None else _likelier(p)
    reason = clean_text(str(content.get("reason") or "")).lstrip(".,:;-– ")[:MOST_REASON]
    return Reply(answer, None if p is None else float(p), reason) if answer else NO_ANSWER


def _likelier(p: float) -> str:
    return "unsure" if p == 0.5 else "true" if p > 0.5 else "false"


def clean_text(text: str) -> str:
    """Return a stranger's text on one line, without what would steer a terminal or cannot be stored."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in " ".join(text.split()))


MOST_UNREADABLE, MOST_LINE = 1000, 1_000_000
"""Lines in a row that answer nothing, after which a program is ended; the longest line."""
GOODBYE_SECONDS = 10.0
"""How long a program that closed its output may still take to read its input."""

MOST_BYTES = 1_000_000
MOST_TOKENS = 10**9
FIRST_WAIT, MOST_WAIT = 0.5, 60.0
"""Seconds before the first retry, doubled each time; and the longest."""
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
    "tokens": (IN_ONE_WORD, {"max_tokens": 1, "logprobs": True, "top_logprobs": 20}),  # as many as most servers allow
    "schema": (IN_JSON, {"response_format": FORM}),
    "text": (IN_JSON, {}),
}
"""Ways to ask, the best first: by the probabilities of the first word, by an object of a given form, by any text."""
MOST_IN_A_ROW = 20
"""So many questions that failed for good, one after the other: the server is not there."""
Outcome = tuple[Question, Reply | str]
"""A question, and its reply or why there is none; empty where the limit of requests was reached."""


def split_command(command: str) -> list[str]:
    """Return a command's words."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise OptionError(f"--program: {command!r} is no command ({str(error).lower()}).") from None
    if not words:
        raise OptionError("--program needs a command, such as 'python judge.py'.")
    if shutil.which(words[0]) is None:
        raise OptionError(f"--program: there is no program {words[0]!r}.")
    return words


def ask_program(command: str, questions: Iterable[Question]) -> Iterator[tuple[Question, Reply]]:
    """Put questions to a program, one JSON object a line, and read its replies, in whichever order they come.

    A reply is an object with ``triple`` and ``answer``, and optionally ``probability`` and ``reason``. A line that
    cannot be read, or is about a triple that is not open, does not count; a program that writes only such lines is
    ended. No shell interprets the command.
    """
    words, waiting = split_command(command), dict[int, Question]()
    try:
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise ActcError(f"The program {words[0]!r} cannot be started: {why}.") from None
    assert process.stdin is not None
    assert process.stdout is not None
    stdin = process.stdin

    def feed() -> None:
        try:
            for question in questions:
                waiting[question.triple] = question
                try:
                    stdin.write(json.dumps(question.fields, ensure_ascii=False).encode() + b"\n")
                    stdin.flush()
                except (OSError, ValueError):  # the program closed its input; its answers count
                    break
        finally:
            with suppress(OSError, ValueError):  # what it did not read cannot be written any more
                stdin.close()

    with process, ThreadPoolExecutor(1) as thread:
        feeding = thread.submit(feed)
        try:
            unreadable = 0
            while unreadable < MOST_UNREADABLE and (line := process.stdout.readline(MOST_LINE)):
                unreadable += 1
                try:
                    content = json.loads(line)
                    triple, reply = int(content["triple"]), read_reply(content)
                except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
                    continue
                if triple in waiting:
                    unreadable = 0
                    yield waiting.pop(triple), reply
            if unreadable >= MOST_UNREADABLE:
                raise ActcError(
                    f"The program {words[0]!r} wrote {unreadable:,} lines that answer no question, and was ended; its "
                    "answers before that are stored."
                )
        except BaseException:  # the replies are not read any more
            process.kill()
            raise
        finally:
            if wait([feeding], GOODBYE_SECONDS).not_done:  # it writes nothing any more, and does not read
                process.kill()
    feeding.result()  # where a question could not be made, its error: raised once all replies are stored
    if process.returncode:
        raise ActcError(f"The program ended with code {process.returncode}; its answers before that are stored.")


@dataclass
class Server:
    """A model server, and what was sent to it so far."""

    config: JudgeConfig
    prompt: str
    key: str = field(default="", repr=False)  # a bearer token, empty for none; in no output, and part of no error
    way: str = ""  # how to ask, see WAYS; empty to find out by the first question
    requests: int = 0  # how many were made
    problem: str = ""  # why the last question that failed for good did
    resume_at: float = 0.0  # the server wants no request before this time

    def __post_init__(self) -> None:
        self.url = self.config.url or ""
        try:
            parts = urlsplit(self.url)
            fine = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and self.url.isprintable()
        except ValueError:  # half a bracket, a port that is no number, a letter that is a slash in disguise
            fine = False
        if not fine or " " in self.url:
            raise OptionError(f"--url: {self.url!r} is no address such as http://127.0.0.1:8080/v1.")
        if "@" in parts.netloc:
            raise OptionError("--url has a password in it; name an environment variable with --key-from instead.")
        if self.way:
            check_choice("way to ask", self.way, WAYS)

    def ask(self, questions: Iterable[Question]) -> Iterator[tuple[Question, Reply]]:
        """Put questions to a model, several at a time, and return its replies as they come.

        A question whose request failed for good is left for the next run. The run ends early
        when the limit of requests is reached. A server that does not answer a single question is an error.
        """
        in_a_row, answered = 0, False
        with closing(self._ask_concurrently(questions)) as outcomes:
            for question, reply in outcomes:
                if isinstance(reply, Reply):
                    in_a_row, answered = 0, True
                    yield question, reply
                elif reply:
                    in_a_row, self.problem = in_a_row + 1, reply
                    if in_a_row >= MOST_IN_A_ROW:
                        raise ActcError(f"The server fails again and again ({reply}); the answers so far are stored.")
        if in_a_row and not answered:
            raise ActcError(f"The server answered nothing ({self.problem}).")

    def _ask_concurrently(self, questions: Iterable[Question]) -> Generator[Outcome, None, None]:
        """Ask several questions at a time; closing it ends the requests that are under way.

        No more than ``jobs`` are under way or not yet taken: a process that is killed asks no more than those again.
        """
        with needing("Asking a model server", "httpx", "judge"):
            import httpx
            from anyio.from_thread import start_blocking_portal
        key = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "actc", **key}
        # Time and connections are bounded here, not by httpx.
        client = httpx.AsyncClient(headers=headers, timeout=None, limits=httpx.Limits(max_connections=None))
        pending, running = iter(questions), set[Future[Outcome]]()
        with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
            while not self.way and self.requests < self.config.limit:
                question = next(pending, None)
                if question is None:
                    return
                yield portal.call(self._find_way, client, question)
            while True:
                free = self.config.jobs - len(running) if self.requests < self.config.limit else 0
                more = islice(pending, free)
                running |= {portal.start_task_soon(self._ask_one, client, one, self.way) for one in more}
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)

    async def _find_way(self, client: Any, question: Question) -> Outcome:
        """Ask a question in one way after the other until the reply can be read, and keep to that way."""
        reply: Reply | str = ""
        for way in WAYS:
            try:
                _, reply = await self._ask_one(client, question, way)
            except ActcError:
                if way == "text":
                    raise
                continue
            if isinstance(reply, str):  # a server that is not there shows nothing about ways
                return question, reply
            if reply.answer is not None:
                break
        self.way = way
        return question, reply

    async def _ask_one(self, client: Any, question: Question, way: str) -> Outcome:
        import anyio

        reply: Reply | str = ""
        for attempt in range(self.config.retries + 1):
            pause = min(FIRST_WAIT * 2 ** (attempt - 1), MOST_WAIT) if attempt else 0.0
            await anyio.sleep(max(pause, self.resume_at - time.monotonic(), 0.0))
            if self.requests >= self.config.limit:
                return question, ""
            self.requests += 1
            reply = await self._request(client, question, way)
            if isinstance(reply, Reply):
                break
        return question, reply

    async def _request(self, client: Any, question: Question, way: str) -> Reply | str:
        """Put a question once; the whole reply must be there in time, however slowly it comes.

        Returns the reply, or why the request may be made again.
        """
        import anyio
        import httpx

        instruction, more = WAYS[way]
        text = fill_prompt(self.prompt, {**question.fields, "answer": instruction})
        messages = [{"role": "user", "content": text}]
        body = {"model": self.config.model, "messages": messages, "temperature": 0, "max_tokens": 300} | more
        address = f"{self.url.rstrip('/').removesuffix('/chat/completions')}/chat/completions"
        content = b""
        try:
            with anyio.fail_after(self.config.timeout):
                async with client.stream("POST", address, json=body) as response:
                    if response.headers.get("Content-Encoding", "identity") != "identity":  # little may unpack to much
                        return "the reply is packed, which was not requested"
                    async for part in response.aiter_raw():
                        content += part
                        if len(content) > MOST_BYTES:
                            return f"a reply of more than {MOST_BYTES:,} bytes"
        except TimeoutError:
            return f"no whole reply in {self.config.timeout:g} seconds"
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            return self._clean(str(error) or type(error).__name__)
        if response.is_success:
            return self._read_completion(content, way)
        code, message = response.status_code, self._clean(content[:2000].decode("utf-8", "replace"))[:200]
        if code in (408, 409, 425, 429) or code >= 500:
            with suppress(ValueError):  # a date: the pause before the next attempt must do
                wait_for = min(max(0.0, float(response.headers.get("Retry-After", 0))), MOST_WAIT)
                self.resume_at = max(self.resume_at, time.monotonic() + wait_for)
            return f"{code} {message}".strip()
        if code in (401, 403):
            raise ActcError(f"The server refuses the key ({code}); name the variable that holds it with --key-from.")
        if 300 <= code < 400:  # a redirect is not followed: the key would go along
            raise ActcError(f"{self.url} sends requests elsewhere ({code}); give that address with --url.")
        raise ActcError(f"The server refuses the question ({code}): {message or 'no reason given'}.")

    def _read_completion(self, content: bytes, way: str) -> Reply | str:
        """Read a model's message; half a message is a request that failed, an unreadable one is no answer."""
        try:
            completion = json.loads(content.replace(self.key.encode(), b"(key)") if self.key else content)
        except (ValueError, RecursionError):
            return "the answer is no JSON, or was cut off"
        try:
            choice = completion["choices"][0]
            reply = read_tokens(choice) if way == "tokens" else read_reply(choice["message"]["content"])
        except (KeyError, IndexError, TypeError):
            return NO_ANSWER
        used = completion.get("usage")
        counts = [used.get(name) if isinstance(used, dict) else 0 for name in ("prompt_tokens", "completion_tokens")]
        tokens = [count if isinstance(count, int) and 0 <= count < MOST_TOKENS else 0 for count in counts]
        return replace(reply, reason=self._clean(reply.reason), tokens_in=tokens[0], tokens_out=tokens[1])

    def _clean(self, text: str) -> str:
        """Return a text of the server's as it may be shown and stored."""
        return clean_text(text.replace(self.key, "(key)") if self.key else text)
