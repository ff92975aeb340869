from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from actc.bench.paper.tables import load_published

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


@pytest.mark.parametrize(
    ("label", "table", "printed", "method"),
    [
        ("table:avg_res", "avg", r"{$ACTC-LR_{rndm}$}", "actc-lr-rndm"),
        ("table:avg_res_f1", "avg-f1", r"{$ACTC-GP_{dens} (F1)$}", "actc-gp-dens-f1"),
        ("tab:res_1", "l1", r"GlobalOpt (F1)$^{1}$", "globalopt-f1"),
        ("tab:res_50", "l50", r"{$ACTC-GP_{rndm}^{10}$}", "actc-gp-rndm"),
    ],
)
def test_a_row_of_the_paper_agrees_without_the_script(label, table, printed, method):
    source = TABLES.read_text()
    before = source[: source.index(f"\\label{{{label}}}")]
    row = before[before.rindex(printed) + len(printed) :].splitlines()[0]
    numbers = [int(number) for number in re.findall(r"\d+", row.split(r"\\")[0])]
    ours = [value for key, (value, _) in load_published().items() if (key[0], key[3]) == (table, method)]
    assert numbers == ours
