"""A graph for stores: 25 relations, one of them with most triples, literals of many kinds, blank nodes."""

from __future__ import annotations

import random

XSD = "http://www.w3.org/2001/XMLSchema#"
PLACE = "http://example.org/"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
ODD = ('a "quoted" word', "back\\slash", "two\nlines", "tab\there", "naïve — 日本語 😀", "<b>&amp;</b>", "", "x" * 300)


def make_lines(count: int, seed: int = 0, blank_nodes: bool = True) -> list[str]:
    """Return ``count`` different triples as lines of N-Triples, sorted."""
    draw = random.Random(seed)
    lines: set[str] = set()
    while len(lines) < count:
        relation = min(int(draw.paretovariate(0.5)), 25) - 1  # the first has a third of all triples
        head = f"<{PLACE}e{draw.randrange(count // 5)}>"
        if blank_nodes and draw.random() < 0.02:
            head = f"_:b{draw.randrange(200)}"
        lines.add(f"{head} <{PLACE}r{relation}> {_tail(draw, relation, count, blank_nodes)} .")
        if draw.random() < 0.05:
            lines.add(f'<{PLACE}e{draw.randrange(count // 5)}> {LABEL} "name {len(lines)}"@en .')
    return sorted(sorted(lines)[:count])


def _tail(draw: random.Random, relation: int, count: int, blank_nodes: bool) -> str:
    number = draw.randrange(count)
    if relation == 3:
        return f'"{_escaped(draw.choice(ODD))} {number}"'
    if relation == 4:
        return f'"Wort {number}"@{draw.choice(["de", "en-gb", "fr"])}'
    if relation == 5:
        year, month = 1900 + number % 120, 1 + number % 12
        return draw.choice([f'"{number}"^^<{XSD}integer>', f'"{year}-{month:02d}-17"^^<{XSD}date>'])
    if relation == 6:
        return f'"POINT({number} 3)"^^<http://example.org/types#point>'
    if relation == 7 and blank_nodes:
        return f"_:b{draw.randrange(200)}"
    return f"<{PLACE}e{number % (count // 5)}>"


def _escaped(text: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        text = text.replace(plain, escaped)
    return text
