"""What a machine is asked, and how what it says is read.

A reply is true, false or unsure, with a probability and a reason if the machine gives them. Whatever cannot be read as
one of these is no answer: it is counted, and nothing is made of it.
"""

from __future__ import annotations

import hashlib
import json
import re
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
        said = "unsure" if probability == 0.5 else "true" if probability > 0.5 else "false"
    reason = found.get("reason") or found.get("note") or ""
    return Reply(said, probability, _clean(reason)) if said else NO_ANSWER


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
    text = " ".join(str(reason).split()).lstrip(".,:;-– ")[:MOST_REASON]
    return text.encode("utf-8", "replace").decode()  # half a character cannot be stored
