"""Names of any length: what is read from them takes time in proportion to it."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from actc.session.names import name_marked, shorten_id

NAMES = SimpleNamespace(of=lambda identifier: SimpleNamespace(name=identifier.upper()))


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (shorten_id, '"' + '"^^<' * 50_000),
        (shorten_id, '"' + '"@a' * 70_000 + "!"),
        (lambda text: name_marked(text, NAMES), "[[" * 100_000),
    ],
)
def test_a_name_of_200_kilobytes_is_read_at_once(read, text):
    before = time.process_time()
    assert read(text) == text
    assert time.process_time() - before < 0.5  # a thousandth of it is enough; what grows with the square takes many


@pytest.mark.parametrize(
    ("identifier", "name"),
    [
        ('"a "word" here"@en', 'a "word" here'),
        ('"1"^^<http://www.w3.org/2001/XMLSchema#int>', "1"),
        ('"two\nlines"', "two\nlines"),
        ('""', '""'),
        ('"a"b', '"a"b'),
        ('a"', 'a"'),
        ("http://example.org/a_b/", "a b"),
    ],
)
def test_an_id_without_a_name_is_called_by_its_text(identifier, name):
    assert shorten_id(identifier) == name


@pytest.mark.parametrize(
    ("text", "read"),
    [("[[a]] has [[b]]", "A has B"), ("[[a]]] and ]] [[", "A] and ]] [["), ("[[]]", ""), ("no mark", "no mark")],
)
def test_marked_ids_are_replaced_by_names(text, read):
    assert name_marked(text, NAMES) == read
