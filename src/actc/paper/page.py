"""Every table and figure on one page that needs nothing but itself: no script, no outside request."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from actc.paper.text_tables import TextTable, write_html

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 90rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.1rem; margin: 2.5rem 0 .5rem; }
a { color: #0072b2; }
nav a { margin-right: 1em; white-space: nowrap; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .8rem; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .5rem; text-align: right; white-space: nowrap; }
th { border-bottom: 1px solid #222; vertical-align: bottom; white-space: normal; }
th:first-child, td:first-child { text-align: left; font-weight: 600; position: sticky; left: 0; background: #fff; }
tr.first td { border-top: 1px solid #ddd; }
section p { font-size: .85rem; color: #555; max-width: 60rem; }
img { max-width: 100%; height: auto; }
"""


@dataclass(frozen=True)
class Picture:
    """A figure on disk and what is said of it."""

    name: str
    title: str
    path: Path


def build_page(title: str, facts: Sequence[str], tables: Sequence[TextTable], pictures: Sequence[Picture]) -> str:
    """Return the page as HTML."""
    parts = [(part.name, part.title) for part in tables] + [(part.name, part.title) for part in pictures]
    links = " ".join(f'<a href="#{name}">{escape(heading)}</a>' for name, heading in parts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>\n<h1>{escape(title)}</h1>\n"
        + "".join(f"<p>{escape(fact)}</p>\n" for fact in facts)
        + f"<nav>{links}</nav>\n"
        + "".join(write_html(table) for table in tables)
        + "".join(map(_write_picture, pictures))
        + "</body></html>\n"
    )


def _write_picture(picture: Picture) -> str:
    data = b64encode(picture.path.with_suffix(".svg").read_bytes()).decode("ascii")
    name = escape(picture.title)
    return (
        f'<section id="{picture.name}"><h2>{name}</h2>'
        f'<img alt="{name}" src="data:image/svg+xml;base64,{data}"></section>\n'
    )
