"""Questions to machines, and their replies: written into a prompt, read, stored.

A prompt is a file of the user's: plain text with fields in braces. A reply is true, false or unsure, with a probability
and a reason if the machine gives them. Whatever cannot be read as one of these is no answer. A reply is stored before
the next one is taken, and for each judge and key only once.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import numpy as np

from actc.data.answers import Answers
from actc.data.deliver import try_to_lock
from actc.data.text_files import read_text
from actc.data.triples import ScoredTriples
from actc.errors import FileError, OptionError, check_choice
from actc.session.session import tidy_name
from actc.session.store import Store

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
    fits = isinstance(p, int | float) and not isinstance(p, bool) and 0 <= p <= 1
    probability = float(p) if fits and p is not None else None  # anything else is left out; the answer stays
    if value is None and probability is not None:
        answer: str | None = _likelier(probability)
    else:
        answer = WORDS.get(str(value).strip(" .\"'").lower())
    reason = clean_text(str(content.get("reason") or "")).lstrip(".,:;-– ")[:MOST_REASON]
    return Reply(answer, probability, reason) if answer else NO_ANSWER


def _likelier(p: float) -> str:
    return "unsure" if p == 0.5 else "true" if p > 0.5 else "false"


def clean_text(text: str) -> str:
    """Return a stranger's text on one line, without what would steer a terminal or cannot be stored."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in " ".join(text.split()))


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
    """Store replies as they come, each committed before it is passed on."""
    for question, reply in replies:
        with store.transaction() as connection:
            _put_reply(connection, judge, question.key, question.triple, reply)
        yield reply


def _put_reply(connection: Connection, judge: str, key: str, triple: int, reply: Reply) -> int:
    """Add a reply, and its judge, unless they are there; return how many were new: 1 or 0."""
    now = time.time()
    connection.execute("INSERT OR IGNORE INTO judge (name, created) VALUES (?, ?)", (judge, now))
    return connection.execute(
        "INSERT OR IGNORE INTO reply SELECT id, ?, ?, ?, ?, ?, ?, ?, ? FROM judge WHERE name = ?",
        (key, triple, reply.answer, reply.probability, reply.reason, now, reply.tokens_in, reply.tokens_out, judge),
    ).rowcount


def add_judge_answers(store: Store, pool: ScoredTriples, answers: Answers) -> int:
    """Store answers that judges gave elsewhere, once however often; return how many were new."""
    rows, new = pool.rows_of(answers.triples), 0
    names = {who: tidy_name(who, "a judge") for who in set(answers.who)}
    p = np.full(len(rows), np.nan) if answers.probability is None else answers.probability
    with store.transaction() as connection:
        for row, who, label, own in zip(rows.tolist(), answers.who, answers.labels.tolist(), p.tolist(), strict=True):
            if row >= 0:
                reply = Reply("true" if label else "false", None if np.isnan(own) else own)
                new += _put_reply(connection, names[who], hash_question("import", row, label, own), row, reply)
    return new


def count_replies(store: Store) -> dict[str, int]:
    """Return how many replies each judge gave, by its name."""
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
