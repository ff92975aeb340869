"""The demo as one self-contained HTML page: what was asked, what it bought, where the cuts are, what is accepted."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np

from actc.sample.demo import ANSWERS, COMPARED, METHOD, Demo
from actc.tables.files import write_text
from actc.tables.pages import render

MOST_ACCEPTED = 40


def write_page(demo: Demo, picture: Path) -> Path:
    """Write the page beside the picture, the picture inside it."""
    path, sample, annotations = picture.with_name("report.html"), demo.sample, demo.case.annotations
    asked = zip(annotations.rows.tolist(), annotations.labels.tolist(), strict=True)
    taken = demo.best_accepted[:MOST_ACCEPTED].tolist()
    budgets = sorted({row.budget for row in demo.rows})
    page = render(
        "demo.html",
        demo=demo,
        answers=ANSWERS,
        method=METHOD,
        image=base64.b64encode(picture.read_bytes()).decode(),
        budgets=[str(budget) for budget in budgets],
        quality=_quality_rows(demo, budgets),
        asked=[(sample.sentence(*sample.valid.triple(row)), label) for row, label in asked],
        taken=[(sample.sentence(*sample.test.triple(row)), demo.probabilities[row]) for row in taken],
    )
    write_text(path, page)
    return path


def _quality_rows(demo: Demo, budgets: list[int]) -> list[list[str]]:
    rows = []
    for method in COMPARED:
        cells = [method]
        for budget in budgets:
            mine = [(row.accuracy, row.f1) for row in demo.rows if (row.method, row.budget) == (method, budget)]
            cells.append("{:.1f} / {:.1f}".format(*100 * np.mean(mine, axis=0)) if mine else "–")
        rows.append(cells)
    levels = [(name, f"{100 * accuracy:.1f} / {100 * f1:.1f}") for name, (accuracy, f1) in demo.levels.items()]
    return rows + [[name, level, *[""] * (len(budgets) - 1)] for name, level in levels]
