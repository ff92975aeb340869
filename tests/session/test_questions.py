"""Replies of machines are read as far as they make sense; a prompt has the fields that are given."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actc.errors import ChoiceError, FileError
from actc.session.machines import (
    DEFAULT,
    FIELDS,
    IN_JSON,
    MOST_REASON,
    NO_ANSWER,
    fill_prompt,
    read_prompt,
    read_reply,
    read_tokens,
)


@pytest.mark.parametrize(
    ("text", "answer", "probability", "reason"),
    [
        ('{"answer": "true", "probability": 0.8, "reason": "so"}', "true", 0.8, "so"),
        ('```json\n{"answer": "False."}\n```', "false", None, ""),
        ('Sure! {"answer": false, "probability": 7}', "false", None, ""),
        ('{"probability": 0.2}', "false", 0.2, ""),
        ("Yes, it is in every atlas.", "true", None, "it is in every atlas."),
        ("**unsure**", "unsure", None, "**"),
        ("It is true", None, None, ""),
        ('{"answer": "true"', None, None, ""),
        ("{]}", None, None, ""),
        ("", None, None, ""),
        ("notable", None, None, ""),
    ],
)
def test_a_text_is_read_by_its_object_or_its_first_word(text, answer, probability, reason):
    reply = read_reply(text)
    assert (reply.answer, reply.probability, reply.reason) == (answer, probability, reason)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(), lambda c: st.dictionaries(st.text(), c) | st.lists(c)
)


@given(JSON | st.dictionaries(st.sampled_from(["answer", "probability", "reason"]), JSON))
def test_whatever_comes_is_an_answer_or_none(value):
    for given_value in (value, json.dumps(value), str(value)):
        reply = read_reply(given_value)
        assert reply.answer in ("true", "false", "unsure", None)
        assert reply.probability is None or 0 <= reply.probability <= 1
        assert len(reply.reason.encode()) <= 4 * MOST_REASON


VALUES = {name: f"<{name}>" for name in FIELDS}


def test_every_field_can_be_used_and_braces_stand_for_themselves(tmp_path):
    (tmp_path / "p.txt").write_text("\n".join(f"{{{name}}}" for name in FIELDS) + '\n{{"answer": ...}}')
    filled = fill_prompt(read_prompt(tmp_path / "p.txt"), VALUES)
    assert filled.splitlines() == [*VALUES.values(), '{"answer": ...}']


def test_a_line_about_nothing_is_left_out():
    filled = fill_prompt(DEFAULT, {"sentence": "Ada was born in London.", "head": "Ada", "tail": "London"})
    assert "Statement: Ada was born in London." in filled
    assert "About" not in filled
    assert "Text it was taken from" not in filled
    assert '{"answer": "true"' in fill_prompt(DEFAULT, {"sentence": "It is.", "answer": IN_JSON})


def test_a_text_is_never_read_as_a_field():
    assert fill_prompt("{sentence} {source}", {"sentence": "{source}", "source": "{head}"}) == "{source} {head}"


@pytest.mark.parametrize(("text", "error"), [("{sentense}", ChoiceError), ("Is it true?", FileError), ("", FileError)])
def test_a_prompt_that_cannot_work_is_refused(tmp_path, text, error):
    (tmp_path / "p.txt").write_text(text)
    with pytest.raises(error):
        read_prompt(tmp_path / "p.txt")


@pytest.mark.parametrize(
    ("shares", "answer", "p"),
    [
        ({"True": 0.9, "False": 0.1}, "true", 0.9),
        ({" wahr": 0.2, "falsch": 0.6, "▁Falsch": 0.2}, "false", 0.2),
        ({"Да": 0.7, "Нет": 0.1, "x": 0.1}, "true", 0.875),
        ({"no": 0.96, "the": 0.04}, "false", 0.02 / 0.98),
        ({"the": 0.9, "true": 0.001}, None, None),
    ],
)
def test_probabilities_of_words_are_read_in_any_spelling_and_language(shares, answer, p):
    top = [{"token": token, "logprob": math.log(share)} for token, share in shares.items()]
    reply = read_tokens({"logprobs": {"content": [{"top_logprobs": top}]}})
    assert reply.answer == answer
    assert reply.probability == (None if p is None else pytest.approx(p))


NONSENSE = [{"token": 1, "logprob": 0}, *({"token": "true", "logprob": p} for p in ("x", float("nan"), -(10**400)))]


CONTENTS = [[], [{"top_logprobs": []}], *([{"top_logprobs": [one]}] for one in NONSENSE)]
CHOICES = [None, {}, {"logprobs": None}, *({"logprobs": {"content": content}} for content in CONTENTS)]


@pytest.mark.parametrize("choice", CHOICES)
def test_a_choice_without_probabilities_that_make_sense_is_no_answer(choice):
    assert read_tokens(choice) == NO_ANSWER
