"""The prompt is a file of the user's: plain text with fields in braces."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from actc.data.files import read_text
from actc.errors import FileError, check_choice

MOST_PROMPT = 100_000
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
    "head_facts": "what else the graph says of the head",
    "tail_facts": "what else the graph says of the tail",
    "examples": "other triples of the relation",
    "source": "the text that the triple was taken from",
    "reasons": "what speaks for and against it",
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
"""What is asked without a file."""
IN_ONE_WORD = "Answer with one word, true or false."
IN_JSON = """\
Answer with one line of JSON and nothing else: {"answer": "true", "false" or "unsure", \
"probability": between 0 and 1 that it is true, "reason": "one sentence"}"""
"""What may stand in the place of the field ``answer``."""


def read_prompt(path: str | Path | None) -> str:
    """Read a prompt and check its fields; the one above without a file."""
    if path is None:
        return DEFAULT
    text = read_text(Path(path))
    if not text.strip() or len(text) > MOST_PROMPT:
        raise FileError(f"{path}: a prompt has 1 to {MOST_PROMPT:,} characters, this one {len(text):,}.")
    used = _FIELD.findall(_outside(text))
    for name in used:
        check_choice(f"field of a prompt ({path})", name, FIELDS)
    if not {"sentence", "head", "head_id"} & set(used):
        raise FileError(f"{path}: the prompt does not say which triple is meant; use {{sentence}}, or {{head}}.")
    return text


def fill_prompt(prompt: str, told: dict[str, Any]) -> str:
    """Put a question's fields into a prompt; a line whose fields are all empty is left out."""
    return "\n".join(line for line in (_fill_line(line, told) for line in prompt.splitlines()) if line is not None)


def _fill_line(line: str, told: dict[str, Any]) -> str | None:
    names = _FIELD.findall(_outside(line))
    values = [_say(told.get(name)) for name in names]
    # "About Ada: " with nothing behind it tells nothing, so names alone do not keep a line.
    telling = [value for name, value in zip(names, values, strict=True) if name not in ("head", "relation", "tail")]
    if names and not any(telling or values):
        return None
    text = line.replace("{{", "\0").replace("}}", "\1")
    # Once over the line: what stands in a description is never read as a field.
    return _FIELD.sub(lambda found: _say(told.get(found[1])), text).replace("\0", "{").replace("\1", "}")


def _outside(text: str) -> str:
    """Return a text without doubled braces, which stand for themselves."""
    return text.replace("{{", "").replace("}}", "")


def _say(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "; ".join(str(one) for one in value)
    return "" if value is None else " ".join(str(value).split())
