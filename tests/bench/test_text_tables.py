from __future__ import annotations

import re

import pytest

from actc.bench.paper.tables import WRITERS, TextTable, write_latex, write_markdown
from actc.data.pages import render

TABLE = TextTable(
    name="table-x",
    title="Averages & more",
    note="100 % of them",
    header=("method", "", "CoDEx-S"),
    rows=(("one_two", "ours", "73.4"), ("", "difference", "−0.6"), ("three", "ours", "<70")),
)


def test_markdown_has_one_line_per_row_and_one_cell_per_column():
    lines = [line for line in write_markdown(TABLE).splitlines() if line.startswith("|")]
    assert len(lines) == 2 + len(TABLE.rows)
    assert {line.count("|") for line in lines} == {4}


def test_latex_escapes_what_it_would_stumble_over():
    text = write_latex(TABLE)
    assert r"one\_two" in text
    assert r"Averages \& more. 100 \% of them" in text
    assert "$-$0.6" in text


def test_latex_sets_groups_of_rows_apart():
    assert re.search(r"difference.*\n\\addlinespace\nthree", write_latex(TABLE))


def test_html_escapes_and_marks_the_beginning_of_a_group():
    text = render("paper.html", title="t", facts=[], tables=[TABLE], pictures=[])
    assert "&lt;70" in text
    assert text.count("<tr class=first>") == 2


@pytest.mark.parametrize("ending", WRITERS)
def test_every_format_holds_every_number(ending):
    text = WRITERS[ending](TABLE)
    assert "73.4" in text
    assert "0.6" in text
