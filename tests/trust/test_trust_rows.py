"""What docs/trust.md claims is what the committed rows say."""

from __future__ import annotations

import csv
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "benchmarks" / "trust"


def read(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_page() -> str:
    return " ".join((FOLDER.parents[1] / "docs" / "trust.md").read_text(encoding="utf-8").split())


def of_all_cells(name: str) -> list[dict[str, str]]:
    return [row for row in read(name) if (row["kind"], row["cell"]) == ("plain", "all")]


def test_intervals_hold_in_nine_of_ten_runs_at_every_budget():
    rows = of_all_cells("coverage.csv")
    assert len(rows) == 2 * 2 * 6  # picks, quantities, budgets
    assert len({row["cell"] for row in read("coverage.csv") if row["cell"].endswith("/*")}) == 12
    assert min(float(row["held"]) for row in rows) >= 0.9
    many = [row for row in rows if int(row["budget"]) >= 200]
    assert max(float(row["half_width"]) for row in many) <= 0.16


def test_intervals_hold_in_every_cell_wherever_enough_runs_say_so():
    cells = [row for row in read("coverage.csv") if "/*" not in row["cell"] and row["cell"] != "all"]
    counted = [row for row in cells if int(row["runs"]) >= 20]
    assert len(counted) == len(cells) - 1 == 597
    assert sum(int(row["runs"]) == 208 for row in counted) > 580
    assert min(float(row["held"]) for row in counted) >= 0.89


def test_intervals_hold_on_pools_that_break_an_assumption_too():
    rows = [float(row["held"]) for row in read("coverage-bent.csv") if row["cell"] == "all"]
    assert len(rows) == 5 * 2 * 6 * 2  # kinds, picks, budgets, quantities
    assert min(rows) >= 0.875
    assert sum(held < 0.9 for held in rows) == 2


def test_the_page_says_what_would_have_been_chosen_without_each_graph():
    intervals = {row["left_out"]: row for row in read("left-out-intervals.csv")}
    assert {left for left, row in intervals.items() if row["chosen"] != "first_doubt=7"} == {"wn18rr"}
    assert float(intervals["wn18rr"]["worst_held"]) < 0.73 < 0.93 < float(intervals["wn18rr"]["shipped_worst_held"])
    promises = {row["left_out"]: row["chosen"] for row in read("left-out-promises.csv") if row["chosen"] != "shipped"}
    assert promises == {"codex": "least_due=0", "umls": "model_counts=20"}
    for name in (*promises.values(), "first_doubt=7", "believed=0.15"):
        assert f"`{name}`" in read_page()


def test_promises_are_kept_in_nine_of_ten_runs_and_the_page_says_how_often_they_broke():
    rows = [row for row in of_all_cells("promise.csv") if row["who"] == "actc"]
    rows = [row for row in rows if row["picks"] != "active"]
    assert len(rows) == 2 * 4 * 3  # random and checked
    worst = {
        picks: max(float(row["broken"]) for row in rows if row["picks"] == picks) for picks in ("random", "checked")
    }
    assert max(worst.values()) <= 0.1
    assert f"Broken in at most {worst['random']:.1%} (random" in read_page()
    assert f"and {worst['checked']:.1%} (checked" in read_page()
    graphs = [row for row in read("promise.csv") if row["cell"].endswith("/*") and row["who"] == "actc"]
    most = sorted((float(row["broken"]) for row in graphs), reverse=True)[:3]
    assert [f"{share:.1%}" for share in most[:2]] == ["10.6%", "10.4%"]
    assert most[2] <= 0.1


def test_more_is_accepted_than_by_the_scan_but_where_the_page_says_so():
    rows = {(row["picks"], row["budget"], row["precision"], row["who"]): row for row in of_all_cells("promise.csv")}
    named = 0
    for (picks, budget, precision, who), row in rows.items():
        if who == "actc" and picks != "active":
            ours, scan = float(row["accepted"]), float(rows["random", budget, precision, "scan"]["accepted"])
            if ours < scan:
                named += 1
                assert f"{precision} from {budget} answers, {picks} ({ours:.2%} beside {scan:.2%})" in read_page()
    assert named <= 3


def test_the_audits_exact_bounds_hold_and_anytime_bounds_hold_at_the_worst_moment():
    for row in read("audit.csv"):
        assert row["draws"] == "10000"
        exact = row["interval"] in ("clopper-pearson", "relation") and row["stopping"] == "none"
        if exact or row["interval"] == "anytime":
            assert float(row["coverage"]) >= 0.9, row
        elif row["stopping"] == "none":
            assert float(row["coverage"]) >= (0.89 if row["design"] == "head" else 0.85), row
