"""What each graph would get by the others: for every setting in choice.csv the value with the best mean on the rest.

Run: python benchmarks/evidence/chosen.py --rows benchmarks/evidence/choice.csv --out benchmarks/evidence/chosen.csv
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

Table = dict[str, dict[str, float]]
FIELDS = (
    "setting", "measure", "graph", "by_others", "figure", "over_all", "figure_over_all", "own_best", "figure_best"
)  # fmt: skip


def read_settings(path: Path) -> dict[tuple[str, str], Table]:
    """Read the mean figure over the models of each graph: setting and measure, value, graph."""
    found: dict[tuple[str, str], dict[str, dict[str, list[float]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found[row["setting"], row["measure"]][row["value"]][row["graph"]].append(float(row["figure"]))
    return {
        key: {value: {graph: float(np.mean(all_)) for graph, all_ in by.items()} for value, by in table.items()}
        for key, table in found.items()
    }


def choose(table: Table, graphs: list[str]) -> str:
    """Return the value with the highest mean over some graphs."""
    return max(table, key=lambda value: np.mean([table[value][graph] for graph in graphs]))


def compare(setting: str, measure: str, table: Table) -> Iterator[list[object]]:
    """Yield for each graph with all values the choice of the others, the choice of all, and its own."""
    graphs = sorted(set.intersection(*(set(by) for by in table.values())))
    if len(graphs) < 2:
        return
    over_all = choose(table, graphs)
    for graph in graphs:
        others = [other for other in graphs if other != graph]
        values = [choose(table, others), over_all, choose(table, [graph])]
        pairs = [(value, f"{table[value][graph]:.4f}") for value in values]
        yield [setting, measure, graph, *(part for pair in pairs for part in pair)]


def main() -> None:
    """Write one row per setting and graph."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(FIELDS)
        for (setting, measure), table in read_settings(options.rows).items():
            writer.writerows(compare(setting, measure, table))


if __name__ == "__main__":
    main()
