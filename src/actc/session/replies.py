"""What a machine is asked, and how what it says is read.

A reply is true, false or unsure, with a probability and a reason if the machine gives them. Whatever cannot be read as
one of these is no answer: it is counted, and nothing is made of it.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
from dataclasses import dataclass
from typing import Any

MOST_REASON = 2000
MOST_TEXT = 100_000
WORDS = {
    "true": "true", "yes": "true", "correct": "true", "1": "true",
    "false": "false", "no": "false", "incorrect": "false", "wrong": "false", "0": "false",
    "unsure": "unsure", "unknown": "unsure", "uncertain": "unsure", "maybe": "unsure",
}  # fmt: skip
"""Words that answer, and what they say."""
ELSEWHERE = {
    "true": "wahr richtig ja vrai oui verdadero cierto sí si vero sì verdadeiro sim waar juist prawda tak sant sann "
            "да верно правда істина ano pravda evet doğru 是 对 對 真 はい 正しい 예 네 نعم صحيح כן נכון हाँ सही",
    "false": "falsch nein faux non falso não onwaar onjuist nee fałsz nie usant usann nej нет неверно ложь ні ne hayır "
             "yanlış 否 不 错 錯 假 いいえ 誤り 아니요 거짓 لا خطأ לא שגוי नहीं गलत",
}  # fmt: skip
"""The same in other languages, for models that are asked in these."""
TOKENS = WORDS | {word: said for said, words in ELSEWHERE.items() for word in words.split()}
LEAST_MASS = 0.01
"""A model that gives answers less of its belief than this was about to say something else."""
SAID = ("said", "answer", "verdict", "label")
"""Where an object may have its answer."""


@dataclass(frozen=True, eq=False)
class Question:
    """One triple, as it is put to a machine.

    Parameters
    ----------
    triple : int
        Its row in the pool.
    key : str
        Changes with anything that the machine is told: the same question is not asked twice.
    told : dict
        The fields of a prompt, and what a program reads as one line.
    """

    triple: int
    key: str
    told: dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """What a machine said.

    Parameters
    ----------
    said : {"true", "false", "unsure"} or None
        None where it made no sense.
    probability : float, optional
        That the triple is true, by the machine's own reckoning.
    reason : str
        In its own words.
    tokens_in, tokens_out : int
        What it read and wrote, where it is a language model that counts.
    """

    said: str | None
    probability: float | None = None
    reason: str = ""
    tokens_in: int = 0
    tokens_out: int = 0


NO_ANSWER = Reply(None)


AROUND = " \t\r\n\"'`.,:;!*_()[]{}\u2581\u0120\u010a"
"""What stands around a word in a token: spaces, as tokenisers write them, and marks."""


def key_of(*parts: Any) -> str:
    """Return a short name for whatever a machine is told."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def read_reply(said: Any) -> Reply:
    """Read what a machine said: an object, the text of one, or a text that begins with the answer."""
    try:
        if isinstance(said, str):
            return _read_text(said[:MOST_TEXT])
        return _read_object(said if isinstance(said, dict) else {"said": said})
    except (ValueError, RecursionError):  # no JSON, or a value that cannot be written down
        return NO_ANSWER


def read_tokens(choice: Any) -> Reply:
    """Read the probabilities that a model gave its first word: true and false, in whichever spelling and language."""
    try:
        first = choice["logprobs"]["content"][0]
        listed = [(one["token"], math.exp(min(one["logprob"], 0.0))) for one in first["top_logprobs"]]
        said = [(TOKENS.get(token.strip(AROUND).lower()), p) for token, p in listed]
        mass = {word: sum(p for found, p in said if found == word) for word in ("true", "false")}
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError):
        return NO_ANSWER
    if not sum(mass.values()) >= LEAST_MASS:
        return NO_ANSWER
    least = min(p for _, p in said)  # whoever is not listed is at most as probable as the last that is
    true, false = (max(mass[word], least / 2, sys.float_info.min) for word in ("true", "false"))
    p = true / (true + false)
    return Reply(_likelier(p), p)


def _read_text(text: str) -> Reply:
    """Read the object in a text, whatever stands around it; else its first word."""
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        return _read_object(json.loads(text[start : end + 1]))
    first = re.match(r"\W*(\w+)", text)
    said = WORDS.get(first[1].lower()) if first else None
    return Reply(said, reason=_clean(text[first.end() :])) if said and first else NO_ANSWER


def _read_object(found: dict[str, Any]) -> Reply:
    found = {str(name).strip().lower(): value for name, value in found.items()}
    probability = _probability(found.get("probability", found.get("confidence_true")))
    value = next((found[name] for name in SAID if found.get(name) is not None), None)
    said = _word(value)
    if value is None and probability is not None:
        said = _likelier(probability)
    reason = found.get("reason") or found.get("note") or ""
    return Reply(said, probability, _clean(reason)) if said else NO_ANSWER


def _likelier(p: float) -> str:
    return "unsure" if p == 0.5 else "true" if p > 0.5 else "false"


def _word(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return WORDS.get(str(value).strip().strip(".\"'").lower()) if isinstance(value, str | int) else None


def _probability(value: Any) -> float | None:
    """Return a share between 0 and 1; None of anything else: it is left out, and the answer stands."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None


def _clean(reason: Any) -> str:
    return printable(str(reason)).lstrip(".,:;-– ")[:MOST_REASON]


def printable(text: str) -> str:
    """Return a stranger's text on one line, without what would steer a terminal or cannot be stored."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in " ".join(text.split()))
