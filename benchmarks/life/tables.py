"""Tables of the rows: python benchmarks/life/tables.py benchmarks/life/families.csv benchmarks/life/umls.csv."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np


def table(path: Path) -> str:
    """Return, week by week, what the two ways reached, and how often their intervals hold."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    weeks, seeds = (sorted({int(row[name]) for row in rows}) for name in ("week", "seed"))
    by = {(int(row["seed"]), int(row["week"]), row["arm"]): row for row in rows}
    lines_ = [
        f"{rows[0]['world']}: {len(seeds)} worlds, {len(weeks)} weeks",
        "",
        "| week | F1 with earlier answers | F1 from nothing | ahead | answers used again | intervals that hold |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for week in weeks:
        life, nothing = ([by[seed, week, arm] for seed in seeds] for arm in ("life", "nothing"))
        f1 = np.array([[float(row["f1"]) for row in arm] for arm in (life, nothing)])
        apart = f1[0] - f1[1]
        error = apart.std(ddof=1) / np.sqrt(len(seeds))
        again = np.mean([int(row["again"]) for row in life])
        held = " / ".join(f"{np.mean([_holds(row) for row in arm]):.0%}" for arm in (life, nothing))
        lines_.append(
            f"| {week} | {f1[0].mean():.3f} | {f1[1].mean():.3f} | {apart.mean():+.3f} ± {error:.3f} | {again:.0f} "
            f"of {20 * (week - 1)} | {held} |"
        )
    for arm in ("life", "nothing"):
        mine = [row for row in rows if row["arm"] == arm]
        width = np.mean([float(row["high"]) - float(row["low"]) for row in mine])
        held = np.mean([_holds(row) for row in mine])
        lines_.append(f"\n{arm}: {held:.1%} of {len(mine)} intervals hold; they are {width:.3f} wide")
    return "\n".join(lines_)


def _holds(row: dict[str, str]) -> bool:
    return float(row["low"]) <= float(row["precision"]) <= float(row["high"])


def main() -> None:
    """Print the tables of some files of rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path, nargs="+")
    for path in parser.parse_args().rows:
        print(table(path), end="\n\n")


if __name__ == "__main__":
    main()
