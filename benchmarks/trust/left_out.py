"""What if the numbers of ``actc.trust.tuned`` had been chosen without a graph? One graph after the other is left out.

    python benchmarks/trust/left_out.py RUNS...

takes runs that ``run.py --others`` wrote. On all other graphs (CoDEx-S and CoDEx-M with their proposals are one), it
chooses the narrowest intervals that hold in 85% of the runs of every graph, picks, budget and quantity (if none do,
those whose worst is best), and the promises that accept most of those broken in at most 12% (ten, and the luck of two
hundred runs), alike. Writes left-out-intervals.csv and left-out-promises.csv: what the choice and the shipped numbers
then do on the left-out graph.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from summarise import HERE, SHIPPED, read, table_of, write

LEAST_HELD, MOST_BROKEN = 0.85, 0.12
INTERVALS = "left_out,chosen,runs,held,worst_held,half_width,shipped_held,shipped_worst_held,shipped_half_width"
PROMISES = "left_out,chosen,runs,broken,worst_broken,accepted,shipped_broken,shipped_worst_broken,shipped_accepted"

Table = dict[tuple[str, str], np.ndarray]
"""Of each setting and graph: runs, how often something went wrong and how much it costs, a row for each combination."""


def world(graph: str) -> str:
    """Return which graphs stand or fall together: CoDEx's are parts of one."""
    return "codex" if graph.startswith("codex") else graph.removesuffix("-top")


def wrong_interval(row: dict[str, str]) -> tuple[bool, float]:
    """Say whether an interval missed the truth, and its half width."""
    truth, low, high = (float(row[name]) for name in ("truth", "low", "high"))
    return not low <= truth <= high, (high - low) / 2


def wrong_promise(row: dict[str, str]) -> tuple[bool, float]:
    """Say whether a promise was broken, and the share of triples that was not accepted."""
    return float(row["precision"]) < float(row["asked"]), 1 - float(row["accepted"])


def tabulate(names: list[str], part: str) -> Table:
    """Count what became of every run."""
    judge, last = (wrong_interval, "quantity") if part == "coverage" else (wrong_promise, "asked")
    found: dict[tuple[str, ...], list[tuple[bool, float]]] = defaultdict(list)
    for row in read(names, part):
        undefined = part == "coverage" and row["truth"] == "nan"
        ours = part == "coverage" or (row["who"] == "actc" and row["picks"] != "active")
        if row["kind"] == "plain" and ours and not undefined:
            key = (row["setting"], row["cell"].partition("/")[0], row["picks"], row["budget"], row[last])
            found[key].append(judge(row))
    rows = defaultdict(list)
    for (setting, graph, *_), values in sorted(found.items()):
        rows[setting, graph].append([len(values), *np.mean(values, axis=0)])
    return {key: np.array(values) for key, values in rows.items()}


def choose(table: Table, graphs: list[str], most_wrong: float) -> str:
    """Return the setting that costs least of those that go wrong rarely enough on every one of some graphs."""
    worst, cost = {}, {}
    for setting in sorted({setting for setting, _ in table}, key=lambda name: name != SHIPPED):
        parts = [table[setting, graph] for graph in graphs]
        worst[setting] = max(part[:, 1].max() for part in parts)
        cost[setting] = float(np.mean([part[:, 2].mean() for part in parts]))
    good = [setting for setting in worst if worst[setting] <= most_wrong]
    return min(good, key=cost.__getitem__) if good else min(worst, key=worst.__getitem__)


def leave_out(table: Table, most_wrong: float, held: bool) -> Iterator[list[Any]]:
    """Yield a line for each world: what would have been chosen without it, and what that does there."""
    graphs = sorted({graph for _, graph in table})
    for left in sorted({world(graph) for graph in graphs}):
        chosen = choose(table, [graph for graph in graphs if world(graph) != left], most_wrong)
        line: list[Any] = [left, chosen]
        for setting in (chosen, SHIPPED):
            rows = np.concatenate([table[setting, graph] for graph in graphs if world(graph) == left])
            wrong, worst, cost = float(rows[:, 1].mean()), float(rows[:, 1].max()), float(rows[:, 2].mean())
            numbers = [1 - wrong, 1 - worst, cost] if held else [wrong, worst, 1 - cost]
            line += numbers if setting == SHIPPED and len(line) > 2 else [int(rows[:, 0].min()), *numbers]
        yield line


def print_table(name: str) -> None:
    """Print a file that is here as a table."""
    rows = table_of(name)
    print("\n| " + " | ".join(rows[0]) + " |\n" + "| --- " * len(rows[0]) + "|")
    for row in rows:
        cells = [f"{100 * float(v):.1f}" if "." in v and k != "chosen" else v for k, v in row.items()]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for part, head, limit in (
            ("coverage", INTERVALS, 1 - LEAST_HELD),
            ("promise", PROMISES, MOST_BROKEN),
        ):
            path = HERE / ("left-out-intervals.csv" if part == "coverage" else "left-out-promises.csv")
            write(path, head, leave_out(tabulate(sys.argv[1:], part), limit, part == "coverage"))
    print_table("left-out-intervals.csv")
    print_table("left-out-promises.csv")
