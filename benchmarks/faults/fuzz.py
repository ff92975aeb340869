"""Call every command with any options and any files, in processes of their own, and count what came of it.

    python -m benchmarks.faults.fuzz --calls 3000 --minutes 15 --out benchmarks/faults/fuzz.csv

Whatever goes wrong is printed with its call. Calls differ with ``--seed``.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import shutil
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path

import click
from benchmarks.faults.world import load, prepare_home, resident, start

from actc.cli.main import commands
from actc.cli.parts import OVERWRITE

FAULTS = ("tracebacks", "hangs", "more_than_a_sentence", "changed_though_refused")
COLUMNS = ("seed", "command", "calls", "done", "refused", *FAULTS, "peak_mb", "mean_mb")
SECONDS, SERVED, MEMORY = 120.0, 3.0, 5 * 2**30  # of a call; of a server; of a process, libraries and all
SERVERS = ("annotate", "studio")
WEIGHTS = {"demo": 0.1, "paper": 0.2, "complete": 0.5, "check": 0.5, "bench": 0.5, "studio": 0.2, "annotate": 0.4}
FILES = ("scores.tsv", "labels.tsv", "graph.tsv", "truth.tsv", "new.tsv", "many.parquet", "thresholds.json")
FILES += ("session", "set/model", "rows.csv", "better", "nowhere.tsv", "empty.tsv", "rubbish", "half.tsv", "a.nt")
FITTING = {
    "scores": "scores.tsv", "labels": "labels.tsv", "graph": "graph.tsv", "known": "graph.tsv", "candidates": "new.tsv",
    "thresholds": "thresholds.json", "session": "session", "accepted": "scores.tsv", "source": "thresholds.json",
    "folder": "better", "folders": "set/model", "judgements": "labels.tsv", "oracle": "truth.tsv", "to": "run.nq",
    "into": "http://e/kg", "rows": "rows.csv", "items": "table-avg", "method": "pooled", "methods": "localopt-acc",
    "budget": "5", "budgets": "1,5", "repeats": "2", "jobs": "1", "precision": "0.9", "confidence": "0.8",
    "program": "true", "which": "all", "count": "3", "annotator": "Ada", "annotators": "Ada", "base": "http://e/",
    "engine": "duckdb", "memory": "1GB", "port": "0", "target": "0.5", "within": "0.2", "reasons": "beside",
    "best": "2",
}  # fmt: skip
TEXTS = (
    "",
    "x",
    "-",
    "nan",
    "\x1b[2J",
    "[/foo]",
    "é" * 300,
    "../../etc",
    "pooled",
    "actc-lr-rndm:n=-1",
    "os:path",
    "en",
)
TEXTS += (
    "sparql:http://127.0.0.1:9/query",
    "http://127.0.0.1:9/v1",
    "http://e/",
    "urn:x",
    "<>",
    "all",
    "random",
    "1,2,x",
)
NUMBERS = ("-3", "0", "1", "2", "5", "0.5", "0.9", "1.5", "nan", "inf", "1e999", str(10**30), "x", "")


def draw_call(name: str, chance: random.Random) -> list[str]:
    """Draw the words of a call: fitting values more often than others."""
    words = [name]
    options = [one for one in commands.commands[name].params if isinstance(one, click.Option)]
    arguments = [one for one in commands.commands[name].params if isinstance(one, click.Argument)]
    for argument in arguments:
        for _ in range(chance.choice((1, 1, 1, 2)) if argument.nargs == -1 else chance.random() < 0.97):
            words += [_value(argument, chance)]
    if name == "start" and chance.random() < 0.9:
        words[1:2] = ["fresh"]
    usual = {"judge": ("program",), "audit": ("out",), "export": ("labels", "accepted"), "calibrate": ("out",)}.get(
        name, ()
    )
    usual = [one for one in options if one.name in usual and chance.random() < 0.9]
    wanted = (
        usual
        + [one for one in options if one.required]
        + chance.sample(options, min(len(options), chance.randrange(4)))
    )
    for option in dict.fromkeys(wanted):
        words.append(chance.choice([*option.opts, *option.secondary_opts]))
        if not option.is_flag:
            words.append(_value(option, chance))
    if name == "annotate" and "--terminal" not in words and chance.random() < 0.7:
        words.append("--terminal")
    if name == "paper":  # else it runs for half an hour
        words += ["--from", "rows.csv"]
    if OVERWRITE in commands.commands[name].shared and chance.random() < 0.6:
        words.append("--overwrite")
    return [*words, "--quiet"]


def _value(parameter: click.Parameter, chance: random.Random) -> str:
    if parameter.name in ("out", "json_out"):
        return chance.choice(
            ("out.tsv", "out.json", "out.parquet", "out", "out/", "out.nt", "nowhere/out.tsv", "graph.tsv")
        )
    if parameter.name in FITTING and chance.random() < 0.85:
        return FITTING[parameter.name]
    if chance.random() < 0.15:
        return chance.choice((*TEXTS, *NUMBERS, *FILES))
    if isinstance(parameter.type, click.Path) or isinstance(parameter, click.Argument):
        return chance.choice(FILES)
    return chance.choice(TEXTS if isinstance(parameter.type, click.types.StringParamType) else NUMBERS)


def look_at(home: Path) -> dict[str, tuple[int, int]]:
    """Return the size of every file and when it was written; not of SQLite's notes beside its databases."""
    files = [path for path in home.rglob("*") if path.is_file() and not path.name.endswith(("-wal", "-shm"))]
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


def call(words: list[str], home: Path, said: Path) -> tuple[int, float]:
    """Make a call; return its exit code (-9: killed, it took too long or too much) and its peak of memory in MB."""
    said.write_text("")
    child = start(words, said, _limit, home)
    began, interrupts = time.monotonic(), 0
    while True:
        done, status, usage = os.wait4(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), usage.ru_maxrss / 1024
        seconds = time.monotonic() - began
        if words[0] in SERVERS and seconds > SERVED * (1 + 4 * interrupts):
            os.kill(child, signal.SIGINT)
            interrupts += 1
        if seconds > SECONDS or resident(child) > MEMORY:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.005)


def _limit() -> None:
    os.nice(5)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


def judge(name: str, words: list[str], home: Path, kept: Path, said: Path) -> tuple[Counter[str], float]:
    """Make one call, put everything back, and count what it did."""
    before = look_at(home)
    code, peak = call(words, home, said)
    text = said.read_text(errors="replace")
    after = look_at(home)
    # Fitting files make other outputs; an input that differs is restored in any case.
    changed = {path for path in before if after.get(path) != before[path]}
    counts = Counter(
        calls=1,
        done=code in (0, 130),
        refused=code == 2,
        tracebacks="Traceback" in text or code not in (0, 2, 130, -9),
        hangs=code == -9,
        more_than_a_sentence=code == 2 and sum(line.startswith("actc: ") for line in text.splitlines()) != 1,
        changed_though_refused=code == 2 and bool(changed),
    )
    if any(counts[fault] for fault in FAULTS):
        print(code, words, text[-1500:], sorted(changed), flush=True)
    if before != after:
        shutil.rmtree(home)
        shutil.copytree(kept, home)
    return counts, peak


def main() -> None:
    """Run everything and write the rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("--minutes", type=float, default=15.0, help="No further call begins after so long.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    load()
    began, chance = time.monotonic(), random.Random(options.seed)
    counts: dict[str, Counter[str]] = {name: Counter() for name in commands.commands}
    peaks: dict[str, list[float]] = {name: [] for name in commands.commands}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:  # in memory: there are thousands of calls
        kept, home, said = (Path(folder) / name for name in ("kept", "home", "said.txt"))
        kept.mkdir()
        prepare_home(kept)
        (kept / "better").mkdir()
        (kept / "better" / "accepted.tsv").write_text("head\trelation\ttail\na\tr\tb\n")
        (kept / "empty.tsv").write_text("")
        (kept / "rubbish").write_bytes(bytes(range(256)))
        (kept / "half.tsv").write_bytes((kept / "scores.tsv").read_bytes()[:999])
        (kept / "a.nt").write_text("<http://e/a> <http://e/r> <http://e/b> .\n<http://e/a> <http://e/r> oops\n")
        shutil.copytree(kept, home)
        libraries = min(call(["methods", "--quiet"], home, said)[1] for _ in range(3))
        names = list(counts)
        drawn = chance.choices(names, [WEIGHTS.get(name, 1.0) for name in names], k=options.calls)
        for name in drawn:
            if time.monotonic() - began > 60 * options.minutes:
                break
            count, peak = judge(name, draw_call(name, chance), home, kept, said)
            counts[name] += count
            peaks[name].append(max(0.0, peak - libraries))
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for name, count in counts.items():
            numbers = {key: int(count[key]) for key in COLUMNS[2:-2]}
            memory = {
                "peak_mb": round(max(peaks[name], default=0)),
                "mean_mb": round(sum(peaks[name]) / max(1, count["calls"])),
            }
            writer.writerow({"seed": options.seed, "command": name, **numbers, **memory})


if __name__ == "__main__":
    main()
