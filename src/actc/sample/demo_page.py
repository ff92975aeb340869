"""The demo as one self-contained HTML page: what was asked, what it bought, where the cuts are, what is accepted."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import numpy as np

from actc.sample.demo import ANSWERS, COMPARED, METHOD, Demo
from actc.tables.deliver import write_beside

MOST_ACCEPTED = 40
STYLE = """
:root { color-scheme: light dark; --ink: #1b2733; --page: #fff; --line: #d5d9de; --soft: #5d6b79; --good: #00704a;
  --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --page: #12171d; --line: #3a414a; --soft: #9aa4b0;
  --good: #5fd3a6; --bad: #ff8a80; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 52rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
p.note { color: var(--soft); }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { padding: .25rem .5rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; }
.scroll { overflow-x: auto; } img { max-width: 100%; background: white; border-radius: 6px; }
.yes { color: var(--good); } .no { color: var(--bad); }
"""


def write_page(demo: Demo, picture: Path) -> Path:
    """Write the page beside the picture, the picture inside it."""
    path = picture.with_name("report.html")
    image = base64.b64encode(picture.read_bytes()).decode()
    body = [
        "<h1>Which predicted facts may enter the graph?</h1>",
        f"<p>A model scored {len(demo.sample.valid):,} candidate facts about everyday things. A person (here: the "
        f"sample's labels) judged {ANSWERS} of them; <code>{METHOD}</code> chose which, and found a threshold for "
        f"each of {len(demo.sample.relations)} relations. Applied to {len(demo.sample.test):,} further candidates, "
        f"it accepts {int(demo.accepted.sum()):,}, of which {demo.precision:.0%} are true.</p>",
        "<h2>What a few answers buy</h2>",
        f'<img alt="Accuracy by number of judged triples, one line per method" src="data:image/png;base64,{image}">',
        _table(["accuracy / F1 in %", *map(str, _budgets(demo))], _quality_rows(demo)),
        "<p class=note>Mean over the repeats, on the test triples. No calibration: everything that scores above the "
        "mean is accepted.</p>",
        "<h2>Where the thresholds are</h2>",
        _table(
            ["relation", "threshold", "judged", "candidates", "accepted", "accuracy"], map(_escaped, demo.by_relation)
        ),
        "<h2>What was asked</h2>",
        _table(["question", "answer"], _question_rows(demo)),
        f"<h2>What is accepted: the first {MOST_ACCEPTED}</h2>",
        _table(["sentence", "probability"], _accepted_rows(demo)),
    ]
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>actc demo</title>'
        f"<style>{STYLE}</style></head><body><main>{''.join(body)}</main></body></html>\n"
    )
    with write_beside(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return path


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are HTML already."""
    line = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    region = f"<div class=scroll tabindex=0 role=region aria-label='{head[0]}, {head[1]}'>"
    return f"{region}<table><thead><tr>{line}</tr></thead><tbody>{body}</tbody></table></div>"


def _escaped(cells: Iterable[str]) -> list[str]:
    return [escape(cell) for cell in cells]


def _budgets(demo: Demo) -> list[int]:
    return sorted({row.budget for row in demo.rows})


def _quality_rows(demo: Demo) -> Iterable[list[str]]:
    for method in COMPARED:
        cells = [method]
        for budget in _budgets(demo):
            mine = [(row.accuracy, row.f1) for row in demo.rows if (row.method, row.budget) == (method, budget)]
            cells.append("{:.1f} / {:.1f}".format(*100 * np.mean(mine, axis=0)) if mine else "–")
        yield cells
    for name, level in demo.levels.items():
        yield [name, "{:.1f} / {:.1f}".format(*(100 * value for value in level)), *[""] * (len(_budgets(demo)) - 1)]


def _question_rows(demo: Demo) -> Iterable[list[str]]:
    annotations = demo.case.annotations
    for row, label in zip(annotations.rows.tolist(), annotations.labels.tolist(), strict=True):
        answer = "<span class=yes>true</span>" if label else "<span class=no>false</span>"
        yield [escape(demo.sample.sentence(*demo.sample.valid.triple(row))), answer]


def _accepted_rows(demo: Demo) -> Iterable[list[str]]:
    for row in demo.best_accepted[:MOST_ACCEPTED].tolist():
        yield [escape(demo.sample.sentence(*demo.sample.test.triple(row))), f"{demo.probabilities[row]:.2f}"]
