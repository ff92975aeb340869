"""Every table and figure on one page that needs nothing but itself: no script, no outside request."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from actc.paper.text_tables import TextTable, write_html

STYLE = """
:root { color-scheme: light dark; --ink: #222; --soft: #555; --line: #ddd; --page: #fff; --link: #00639c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --soft: #a8b2bc; --line: #39424c; --page: #12171d;
  --link: #6cb6f5; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 90rem;
  margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.1rem; margin: 2.5rem 0 .5rem; }
a { color: var(--link); }
nav ul { list-style: none; padding: 0; columns: 20rem; }
nav li { break-inside: avoid; padding: .1rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .8rem; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .5rem; text-align: right; white-space: nowrap; }
th { border-bottom: 1px solid var(--ink); vertical-align: bottom; white-space: normal; overflow-wrap: normal; }
th:first-child, td:first-child { text-align: left; font-weight: 600; position: sticky; left: 0;
  background: var(--page); }
tr.first td { border-top: 1px solid var(--line); }
section p { font-size: .85rem; color: var(--soft); max-width: 60rem; }
img { max-width: 100%; height: auto; background: #fff; border-radius: 6px; }
@media (max-width: 600px) { th:first-child, td:first-child { max-width: 9rem; white-space: normal; } }
"""


@dataclass(frozen=True)
class Picture:
    """A figure on disk and what is said of it."""

    name: str
    title: str
    path: Path


def build_page(title: str, facts: Sequence[str], tables: Sequence[TextTable], pictures: Sequence[Picture]) -> str:
    """Return the page as HTML: what was measured, the figures, then the tables."""
    parts = [(part.name, part.title) for part in pictures] + [(part.name, part.title) for part in tables]
    links = "".join(f'<li><a href="#{name}">{escape(heading)}</a></li>' for name, heading in parts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><main>\n<h1>{escape(title)}</h1>\n"
        + "".join(f"<p>{escape(fact)}</p>\n" for fact in facts)
        + f"<nav><ul>{links}</ul></nav>\n"
        + "".join(map(_write_picture, pictures))
        + "".join(write_html(table) for table in tables)
        + "</main></body></html>\n"
    )


def _write_picture(picture: Picture) -> str:
    data = b64encode(picture.path.with_suffix(".svg").read_bytes()).decode("ascii")
    name = escape(picture.title)
    return (
        f'<section id="{picture.name}"><h2>{name}</h2>'
        f'<img alt="{name}" src="data:image/svg+xml;base64,{data}"></section>\n'
    )
