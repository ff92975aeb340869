"""Kill commands at random moments, and let them write where there is no room: is anything lost, or half written?

    python benchmarks/faults/run.py --rounds 20 --out benchmarks/faults/rows.csv

One row per command and fault: how often it was done, how often the output was complete, absent or half written, inputs
that changed, and tracebacks. A limit on the size of files stands for a disk that is full.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

RUN = [sys.executable, "-P", "-c", "from actc.cli.main import main; main()"]
SAMPLE = "from actc.session.start import sample_files; print(sample_files()[0])"
COLUMNS = ("command", "fault", "rounds", "complete", "absent", "half_written", "inputs_changed", "tracebacks")
LIMIT = 2000  # bytes


def commands(home: Path, out: Path) -> dict[str, tuple[list[str], Path]]:
    """Return what is run, and what each writes."""
    scores, session, thresholds = str(home / "scores.tsv.gz"), str(home / "session"), str(home / "thresholds.json")
    return {
        "calibrate": (["calibrate", scores, "--labels", str(home / "labels.tsv"), "--out"], out / "t.json"),
        "decide": (["decide", thresholds, scores, "--out"], out / "accepted.parquet"),
        "start": (["start"], out / "new"),
        "export": (["export", session, "--labels"], out / "labels.tsv"),
        "report": (["report", thresholds, "--out"], out / "report.html"),
        "convert": (["convert", str(home / "labels.tsv"), "--base", "http://e/", "--out"], out / "graph.nt"),
    }


def words_of(name: str, words: list[str], place: Path, home: Path) -> list[str]:
    """Return a command's whole line."""
    after = [str(home / "scores.tsv.gz")] if name == "start" else []
    return [*RUN, *words, str(place), *after, "--quiet"]


def prepare(home: Path) -> None:
    """Make what the commands read: the packaged sample, answers on a part of it, thresholds, a session with answers."""
    import gzip

    sample = Path(
        subprocess.run([sys.executable, "-c", SAMPLE], capture_output=True, text=True, check=True).stdout.strip()
    )
    shutil.copy(sample, home / "scores.tsv.gz")
    with gzip.open(home / "scores.tsv.gz", "rt", encoding="utf-8") as lines:
        header, *rows = [line.rstrip("\n").split("\t") for line in lines]
    kept = [header.index(name) for name in ("head", "relation", "tail", "label")]
    text = "\n".join("\t".join(row[place] for place in kept) for row in [header, *rows[:100]])
    (home / "labels.tsv").write_text(text + "\n", encoding="utf-8")
    line = ["calibrate", str(home / "scores.tsv.gz"), "--labels", str(home / "labels.tsv")]
    subprocess.run([*RUN, *line, "--out", str(home / "thresholds.json"), "--quiet"], check=True)
    subprocess.run([*RUN, "start", str(home / "session"), str(home / "scores.tsv.gz"), "--quiet"], check=True)
    subprocess.run([*RUN, "import", str(home / "session"), str(home / "labels.tsv"), "--quiet"], check=True)


def fingerprint(folder: Path) -> dict[str, str]:
    """Return the content of every file; not of SQLite's notes beside its databases."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.endswith(("-wal", "-shm"))]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def run_killed(line: list[str], seconds: float) -> str:
    """Run a command, kill it after a while, and return what it said."""
    process = subprocess.Popen(line, stderr=subprocess.PIPE, text=True)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    return process.communicate()[1]


def run_full(line: list[str], seconds: float) -> str:
    """Run a command that can write no large file, and return what it said."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))

    return subprocess.run(line, stderr=subprocess.PIPE, text=True, preexec_fn=limit, check=False).stderr


def measure(name: str, fault: str, rounds: int, home: Path, chance: random.Random) -> dict[str, object]:
    """Do one fault to one command, again and again, and count what came of it."""
    run: Callable[[list[str], float], str] = {"kill": run_killed, "disk full": run_full}[fault]
    counts = dict.fromkeys(COLUMNS[3:], 0)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        words, place = commands(home, out)[name]
        line = words_of(name, words, place, home)
        started = time.monotonic()
        subprocess.run(line, check=True)
        seconds = time.monotonic() - started
        whole = place.stat().st_size if place.is_file() else len(list(place.iterdir()))
        for _ in range(rounds):
            shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
            before = fingerprint(home)
            said = run(line, chance.uniform(0.4, 1.0) * seconds)
            size = place.stat().st_size if place.is_file() else len(list(place.iterdir())) if place.is_dir() else None
            # A moment's time stands in thresholds.json, and in a report its own width: close is whole.
            key = "absent" if size is None else "complete" if abs(size - whole) <= 0.02 * whole else "half_written"
            counts[key] += 1
            counts["inputs_changed"] += before != fingerprint(home)
            counts["tracebacks"] += "Traceback" in said
    return {"command": name, "fault": fault, "rounds": rounds, **counts}


def main() -> None:
    """Run everything and write the rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    chance = random.Random(0)
    with tempfile.TemporaryDirectory() as folder, options.out.open("w", newline="", encoding="utf-8") as file:
        prepare(Path(folder))
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for name in commands(Path(folder), Path(folder)):
            for fault, rounds in (("kill", options.rounds), ("disk full", 1)):
                writer.writerow(measure(name, fault, rounds, Path(folder), chance))
                file.flush()


if __name__ == "__main__":
    main()
