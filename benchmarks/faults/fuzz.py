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
from collections import Counter
from pathlib import Path

from benchmarks.faults.world import jump, load, run
from hypothesis import HealthCheck, Phase, given, seed, settings
from tests.cli.strange_files import make_home
from tests.cli.test_fuzzed import CASES, CHANGES, calls, clear, fingerprint, make_work, may_change

COLUMNS = (
    "seed",
    "command",
    "calls",
    "done",
    "refused",
    "tracebacks",
    "hangs",
    "more_than_a_sentence",
    "changed",
    "left_behind",
)
SECONDS = 60


def judge(home: Path, name: str, words: list[str], damage: tuple[str, str, float, int], kept: Path) -> Counter[str]:
    """Make one call, put everything back, and count what it did."""
    make_work(home, damage)
    before, said = fingerprint(home), home.with_name("said.txt")
    said.write_text("")
    code = run(words, said, jump if damage[3] % 4 == 0 else lambda: None, SECONDS, home)
    after = fingerprint(home)
    clear(home, kept, before, after)
    told = said.read_text(errors="replace")
    changed = {path for path, content in before.items() if after.get(path) != content} - may_change(name, words)
    changed = {path for path in changed if name not in CHANGES or not path.startswith("work/")}
    left = {path for path in after.keys() - before.keys() if not path.startswith("work/")}
    found = Counter(
        calls=1,
        done=code == 0,
        refused=code == 2,
        hangs=code == -9,
        tracebacks="Traceback" in told or code not in (0, 2, -9),
        more_than_a_sentence=code == 2 and len(told.partition("actc: ")[2].splitlines()) != 1,
        changed=bool(changed),
        left_behind=code != 0 and bool(left),
    )
    if sum(found[key] for key in COLUMNS[5:]):
        print(
            name,
            {key: found[key] for key in COLUMNS[5:] if found[key]},
            words,
            damage,
            told[-1500:],
            changed,
            left,
            flush=True,
        )
    return found


def measure(home: Path, kept: Path, name: str, count: int, start: int) -> dict[str, object]:
    """Make so many calls of one command."""
    counts: Counter[str] = Counter()
    chance = random.Random(f"{name} {start}")

    @seed(start)
    @settings(
        max_examples=count,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(drawn=calls(name))
    def one(drawn: tuple[list[str], tuple[str, str, float, int]]) -> None:
        words, (source, damage, *_) = (
            drawn  # hypothesis likes 0 and 1, and to draw a call again: never one damage twice
        )
        counts.update(judge(home, name, words, (source, damage, chance.random(), chance.getrandbits(32)), kept))

    one()
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
    with tempfile.TemporaryDirectory() as folder, options.out.open("w", newline="", encoding="utf-8") as file:
        home, kept, said = Path(folder) / "home", Path(folder) / "kept", Path(folder) / "said.txt"
        home.mkdir()
        make_home(home, lambda *words: run([*words, "--quiet"], said, folder=home))
        shutil.copytree(home, kept, symlinks=True, ignore=shutil.ignore_patterns("pipe.tsv"))
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for name in options.command or CASES:
            file.flush()  # a child is a copy of this process, with what is not yet written
            count = -(-options.calls * CASES[name] // sum(CASES.values()))
            writer.writerow(measure(home, kept, name, count, options.seed))
            file.flush()


if __name__ == "__main__":
    main()
