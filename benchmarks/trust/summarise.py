"""Count what run.py wrote: python benchmarks/trust/summarise.py RUNS... writes coverage.csv and promise.csv here.

Runs on pools that break an assumption (``run.py --kinds``) are counted in coverage-bent.csv. Prints the tables of
docs/trust.md as well; with no runs, from the files that are here.
"""

from __future__ import annotations

import csv
import gzip
import sys
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
SHIPPED = "shipped"
COVERAGE = "kind,cell,picks,budget,quantity,runs,held,half_width,bias,on_answers_alone,model_held,model_half_width"
PROMISE = "kind,cell,picks,budget,precision,who,runs,broken,nothing_accepted,accepted"


def read(names: Iterable[str], part: str) -> Iterable[dict[str, str]]:
    """Read the rows of several runs; a run that was stopped early counts as far as it got."""
    for name in names:
        with gzip.open(f"{name}-{part}.csv.gz", "rt", newline="") as file, suppress(EOFError):
            yield from (row for row in csv.DictReader(file) if None not in row.values())


def read_shipped(names: Iterable[str], part: str) -> Iterable[dict[str, str]]:
    """Read those of them that rest on the shipped numbers."""
    return (row for row in read(names, part) if row["setting"] == SHIPPED)


def write(path: Path, head: str, rows: Iterable[list[Any]]) -> None:
    """Write a table."""
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(head.split(","))
        writer.writerows([f"{v:.4f}" if isinstance(v, float) else v for v in row] for row in rows)


def groups(cell: str) -> tuple[str, str, str]:
    """Return what a cell counts for: itself, its graph, all cells together."""
    return cell, f"{cell.partition('/')[0]}/*", "all"


def count_coverage(names: list[str]) -> Iterable[list[Any]]:
    """Yield one line per cell, kind, picks, budget and quantity; and one for each graph, and for all together."""
    table = defaultdict(list)
    for row in read_shipped(names, "coverage"):
        numbers = [float(row[key]) for key in ("truth", "middle", "low", "high", "model_low", "model_high")]
        for cell in groups(row["cell"]):
            key = (row["kind"], cell, row["picks"], int(row["budget"]), row["quantity"])
            table[key].append([*numbers, row["source"] == "answers"])
    for key, values in sorted(table.items()):
        truth, middle, low, high, model_low, model_high, alone = np.array(values).T
        known = np.isfinite(truth)
        if not known.any():
            continue  # nothing was ever accepted there
        yield [
            *key,
            int(known.sum()),
            float(((low <= truth) & (truth <= high))[known].mean()),
            float((high - low)[known].mean() / 2),
            float(np.nan_to_num(middle - truth)[known].mean()),
            float(alone.mean()),
            float(((model_low <= truth) & (truth <= model_high))[known].mean()),
            float(np.nan_to_num(model_high - model_low)[known].mean() / 2),
        ]


def count_promises(names: list[str]) -> Iterable[list[Any]]:
    """Yield how often a promise was broken, how often none was made, and the share of triples accepted."""
    table = defaultdict(list)
    for row in read_shipped(names, "promise"):
        for cell in groups(row["cell"]):
            key = (row["kind"], cell, row["picks"], int(row["budget"]), row["asked"], row["who"])
            table[key].append([float(row["precision"]) < float(row["asked"]), float(row["accepted"])])
    for key, values in sorted(table.items()):
        broken, accepted = np.array(values, dtype=float).T
        yield [*key, len(values), float(broken.mean()), float((accepted == 0).mean()), float(accepted.mean())]


def table_of(name: str) -> list[dict[str, str]]:
    """Read a table that is here."""
    with (HERE / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def worst(rows: list[dict[str, str]], best: Any, column: str) -> str:
    """Return the worst graph's share in %, with its name."""
    found = best((row for row in rows if row["cell"].endswith("/*")), key=lambda row: float(row[column]))
    return f"{100 * float(found[column]):.0f} {found['cell'][:-2]}"


def print_coverage() -> None:
    """Print how often intervals held: in all cells, and in the worst graph."""
    rows = table_of("coverage.csv")
    budgets = sorted({int(row["budget"]) for row in rows})
    print("| picks | quantity | |", " | ".join(map(str, budgets)), "|\n" + "| --- " * (len(budgets) + 3) + "|")
    for picks in sorted({row["picks"] for row in rows}):
        for quantity in ("accuracy", "precision"):
            mine = [row for row in rows if (row["kind"], row["picks"], row["quantity"]) == ("plain", picks, quantity)]
            by_budget = [part for budget in budgets if (part := [row for row in mine if int(row["budget"]) == budget])]
            whole = [next(row for row in part if row["cell"] == "all") for part in by_budget]
            held = [
                f"{100 * float(a['held']):.0f} ({worst(p, min, 'held')})" for a, p in zip(whole, by_budget, strict=True)
            ]
            width = [f"{100 * float(row['half_width']):.1f}" for row in whole]
            print(f"| {picks} | {quantity} | held |", " | ".join(held), "|")
            print("| | | half width |", " | ".join(width), "|")
    low = [row for row in rows if "/*" not in row["cell"] and row["cell"] != "all" and float(row["held"]) < 0.85]
    cells = sum("/*" not in row["cell"] and row["cell"] != "all" for row in rows)
    print(
        f"\n{cells - len(low)} of {cells} combinations of cell, picks, budget and quantity hold in 85% of their runs."
    )


def print_promises() -> None:
    """Print how often promises were broken, in all cells and in the worst graph, and how much was accepted."""
    rows = [row for row in table_of("promise.csv") if row["kind"] == "plain"]
    budgets = sorted({int(row["budget"]) for row in rows})
    heads = [f"{budget}: broken" for budget in budgets] + [f"{budget}: accepted" for budget in budgets]
    print("\n| precision | who | picks |", " | ".join(heads), "|\n" + "| --- " * (len(heads) + 3) + "|")
    for precision in ("0.8", "0.9", "0.95"):
        for who, picks in (("actc", "session"), ("actc", "random"), ("scan", "random")):
            mine = [row for row in rows if (row["precision"], row["who"], row["picks"]) == (precision, who, picks)]
            by_budget = [part for budget in budgets if (part := [row for row in mine if int(row["budget"]) == budget])]
            whole = [next(row for row in part if row["cell"] == "all") for part in by_budget]
            broken = [
                f"{100 * float(a['broken']):.1f} ({worst(p, max, 'broken')})"
                for a, p in zip(whole, by_budget, strict=True)
            ]
            accepted = [f"{100 * float(row['accepted']):.1f}" for row in whole]
            print(f"| {precision} | {who} | {picks} |", " | ".join(broken + accepted), "|")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        counted = list(count_coverage(sys.argv[1:]))
        parts = {
            "coverage.csv": (COVERAGE, [row for row in counted if row[0] == "plain"]),
            "coverage-bent.csv": (COVERAGE, [row for row in counted if row[0] != "plain"]),
            "promise.csv": (PROMISE, list(count_promises(sys.argv[1:]))),
        }
        for name, (head, rows) in parts.items():
            if rows:  # what these runs say nothing of stays as it is
                write(HERE / name, head, rows)
    print_coverage()
    print_promises()
