"""How long does a session's planner take for one step, before and after one fit answered every question?

    git worktree add OLD aa50749
    ACTC_DATA=... OMP_NUM_THREADS=1 python benchmarks/session_step/run.py OLD

writes rows.csv: pool, candidates, answers, before_ms, after_ms (processor time of the quickest of many steps, the two
versions by turns in one sitting), ratio. The outlook also draws fewer lines than before (200 at 1,000 triples, not 400
at 2,000). Pools: the packaged sample, and CoDEx-M's validation triples (ComplEx).
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

from actc.data.files import read_scored

HERE = Path(__file__).parent
NEW = HERE.parents[1]
TURNS = 2


def time_version(folder: Path, scores: Path, answers: int) -> float:
    """Return the milliseconds of one step, by the version of actc in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    command = [sys.executable, str(HERE / "step.py"), str(scores), str(answers)]
    return float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def main(old: Path) -> None:
    """Time both versions by turns."""
    pools = {
        "sample": NEW / "src" / "actc" / "bench" / "sample" / "valid.tsv.gz",
        "codex-m": Path(os.environ["ACTC_DATA"]) / "scores" / "codex-m" / "complex" / "valid.tsv.gz",
    }
    with open(HERE / "rows.csv", "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("pool", "candidates", "answers", "before_ms", "after_ms", "ratio"))
        for name, path in pools.items():
            for answers in (20, 100):
                turns = [[time_version(folder, path, answers) for folder in (old, NEW)] for _ in range(TURNS)]
                before, after = (min(times) for times in zip(*turns, strict=True))
                count = len(read_scored(path)[0])
                writer.writerow((name, count, answers, f"{before:.1f}", f"{after:.1f}", f"{before / after:.2f}"))
                out.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
