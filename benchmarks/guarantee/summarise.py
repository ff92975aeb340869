"""Print the tables of the committed rows: recall, lists made, lists broken.

python benchmarks/guarantee/summarise.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

HERE = Path(__file__).parent


def read_rows(names: list[str]) -> pd.DataFrame:
    """Read rows and say of each what it is worth."""
    rows = pd.concat([pd.read_csv(name) for name in names])
    rows["recall"] = rows.true / rows.possible.clip(lower=1)
    rows["made"] = rows.accepted > 0
    rows["broken"] = rows.made & (rows.true < rows.target * rows.accepted - 1e-9)
    return rows


if __name__ == "__main__":
    rows = read_rows(sys.argv[1:] or [str(HERE / "rows.csv"), str(HERE / "before.csv")])
    cases = ["target", "budget"]
    for measure in ("recall", "made", "broken"):
        print(f"\n{measure}\n", rows.pivot_table(measure, cases, "way").round(3).to_string())
    by_pool = rows[rows.way == "list-test"].groupby([*cases, "pool"]).broken.sum()
    print("\nmost broken\n", by_pool.sort_values(ascending=False).head(6).to_string())
    some = rows[(rows.target == 0.9) & (rows.budget == 100)]
    print("\nrecall at .9 from 100 answers\n", some.pivot_table("recall", "pool", "way").round(2).to_string())
