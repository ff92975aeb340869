from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

from actc.bench.paper.tables import TextTable, load_published, write_latex, write_markdown

ROOT = Path(__file__).parents[2]
TABLES = Path(__file__).parent / "tables.tex"  # the paper's own rows, without its text


def test_every_table_has_every_cell_once():
    tables = [key[0] for key in load_published()]
    counts = {table: tables.count(table) for table in sorted(set(tables))}
    per_method = 2 * (8 + 1)
    assert counts == {
        "avg": 7 * per_method,
        "avg-f1": 11 * per_method,
        "l1": 7 * per_method,
        "l10": 7 * per_method,
        "l50": 7 * per_method,
    }


def test_well_known_numbers_are_as_printed():
    published = load_published()
    assert published["avg", "codex-s", "complex", "localopt-acc", "accuracy"][0] == 70
    assert published["avg", "codex-m", "rescal", "actc-gp-dens", "f1"][0] == 71
    assert published["avg-f1", "codex-s", "transe", "actc-lr-rndm-f1", "f1"][0] == 74
    assert published["l50", "codex-s", "complex", "actc-lr-rndm", "f1"][0] == 78
    assert published["l1", "codex-m", "transe", "actc-gp-rndm", "f1"][1] == 0.02


def test_printed_averages_are_the_means_of_their_cells_but_for_the_slips():
    numbers, slips = load_published(), []
    for (table, dataset, _, method, metric), (average, _) in numbers.items():
        if dataset == "all":
            cells = [
                value
                for (*where, m, what), (value, _) in numbers.items()
                if (where[0], m, what) == (table, method, metric) and where[1] != "all"
            ]
            if abs(np.mean(cells) - average) > 0.75:
                slips.append((table, method, metric))
    assert slips == [("l1", "actc-lr-rndm", "accuracy"), ("l10", "actc-lr-rndm", "f1")]


def test_the_file_is_what_the_script_reads_out_of_the_paper():
    script = ROOT / "benchmarks" / "paper" / "transcribe_paper.py"
    result = subprocess.run([sys.executable, script, TABLES], capture_output=True, text=True, check=True)
    assert result.stdout == (ROOT / "src" / "actc" / "bench" / "paper" / "published.csv").read_text()


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
