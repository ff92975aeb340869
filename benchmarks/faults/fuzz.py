"""Call every command with any options and damaged files, in processes of their own, and count what came of it.

    python -m benchmarks.faults.fuzz --calls 5000 --out benchmarks/faults/fuzz.csv

The calls are those of ``tests/cli/test_fuzzed.py``, others every time (``--seed``); what goes wrong is printed.
"""

from __future__ import annotations

import argparse
import csv
import random
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.faults.world import ENDLESS, HUNGRY, jump, load, run
from tests.cli.strange_files import STORE, make_home
from tests.cli.test_fuzzed import CASES, ENDS, SERVES, changed_by, clear, draw_call, fingerprint, left_by, make_work
from tests.stores.servers import oxigraph

FAULTS = ("tracebacks", "hangs", "memory", "more_than_a_sentence", "changed", "left_behind")
COLUMNS = ("seed", "command", "calls", "done", "refused", *FAULTS)
SECONDS, SERVED_SECONDS, MEMORY = 60.0, 3.0, 4 * 2**30
LEAST = 10  # calls of a command that computes


def judge(home: Path, url: str, name: str, words: list[str], damage: tuple[str, str, float, int]) -> Counter[str]:
    """Make one call, put everything back, and count what it did."""
    make_work(home, url, damage)
    before, said = fingerprint(home), home.with_name("said.txt")
    said.write_text("")
    line, clock = [word.replace(STORE, url) for word in words], jump if damage[3] % 4 == 0 else lambda: None
    served = {"served": SERVED_SECONDS} if name in SERVES else {}
    code = run(line, said, clock, home, seconds=SECONDS, memory=MEMORY, **served)
    after = fingerprint(home)
    left, changed = left_by(home, before, after), changed_by(name, words, before, after)
    clear(home, home.with_name("kept"), before, after)
    told = said.read_text(errors="replace")
    found = Counter(
        calls=1,
        done=code in (0, 130),
        refused=code == 2,
        tracebacks="Traceback" in told or code not in (*ENDS, ENDLESS, HUNGRY),
        hangs=code == ENDLESS,
        memory=code == HUNGRY,
        more_than_a_sentence=code == 2 and len(told.partition("actc: ")[2].splitlines()) != 1,
        changed=bool(changed),
        left_behind=code not in (0, 130) and bool(left),
    )
    faults = [key for key in FAULTS if found[key]]
    if faults:
        print(name, faults, words, damage, told[-1500:], changed, left, flush=True)
    return found


def measure(home: Path, url: str, name: str, count: int, start: int) -> dict[str, object]:
    """Make so many calls of one command."""
    began, counts = time.monotonic(), Counter[str]()
    for number in range(count):
        counts.update(judge(home, url, name, *draw_call(name, random.Random(f"{start} {name} {number}"))))
    print(f"{name}: {dict(+counts)} in {time.monotonic() - began:.0f} s", flush=True)
    return {"seed": start, "command": name, **{key: int(counts[key]) for key in COLUMNS[2:]}}


def main() -> None:
    """Run everything and write the rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--command", action="append", choices=CASES, help="Only this one; repeatable.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    load()
    with (
        oxigraph() as url,
        tempfile.TemporaryDirectory() as folder,
        options.out.open("w", newline="", encoding="utf-8") as file,
    ):
        home, said = Path(folder) / "home", Path(folder) / "said.txt"
        home.mkdir()
        make_home(home, url, lambda *words: run([*words, "--quiet"], said, folder=home))
        shutil.copytree(home, home.with_name("kept"), symlinks=True, ignore=shutil.ignore_patterns("pipe.tsv"))
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for name in options.command or CASES:
            file.flush()  # a child is a copy of this process, with what is not yet written
            count = max(LEAST, -(-options.calls * CASES[name] // sum(CASES.values())))
            writer.writerow(measure(home, url, name, count, options.seed))
            file.flush()


if __name__ == "__main__":
    main()
