"""What one thread saves `actc check` and `actc complete`, which learn from small tables.

    python benchmarks/speed/threads.py GRAPH --burn 4 --out benchmarks/speed/threads.csv

adds rows: graph, command, threads (one, all), burning, seconds, cpu_seconds, facts (in the file of those found). Each
command runs once with one thread and once with as many as there are cores, by turns, beside ``burning`` processes that
do nothing but take the cores.
"""

from __future__ import annotations

import argparse
import csv
import resource
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter

FIELDS = ("graph", "command", "threads", "burning", "seconds", "cpu_seconds", "facts")
FOUND = {"check": "doubtful.tsv", "complete": "accepted.tsv"}
# The command line with nothing that limits threads.
ALL = "import contextlib, threadpoolctl; threadpoolctl.threadpool_limits = contextlib.nullcontext"
RUN = "from actc.cli.main import main; main()"


def measure(command: str, graph: Path, threads: str) -> tuple[float, float, int]:
    """Run a command; return its seconds, its processor seconds and how many facts it found."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        lines = [ALL, RUN] if threads == "all" else [RUN]
        words = [command, str(graph), "--budget", "0", "--out", str(out), "--quiet"]
        subprocess.run([sys.executable, "-c", "\n".join(lines), *words], check=True)
        facts = len((out / FOUND[command]).read_text(encoding="utf-8").splitlines()) - 1
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return round(perf_counter() - start, 1), round(used, 1), facts


def main() -> None:
    """Measure both commands, and add rows to those that are there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=Path)
    parser.add_argument("--burn", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("threads.csv"))
    options = parser.parse_args()
    is_new = not options.out.exists()
    with options.out.open("a", newline="", encoding="utf-8") as file, ExitStack() as burning:
        for _ in range(options.burn):
            process = burning.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            burning.callback(process.kill)
        rows = csv.writer(file, lineterminator="\n")
        rows.writerows([FIELDS] if is_new else [])
        for command in FOUND:
            for threads in ("one", "all"):
                row = options.graph.parent.name, command, threads, options.burn
                row += measure(command, options.graph, threads)
                print(*row, flush=True)
                rows.writerow(row)


if __name__ == "__main__":
    main()
