"""Kill commands, fill their disk, take away their right to write, change bits: is anything lost, or half written?

    python -m benchmarks.faults.run --rounds 20 --out benchmarks/faults/rows.csv

Needs Linux and root: a full disk and one that cannot be written are small file systems of their own.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.faults.flips import FLIPPED, flip
from benchmarks.faults.whole import leftovers, state_of
from benchmarks.faults.world import COMMANDS, OTHERS, jump, load, prepare_home, run, start, wait

ALL = {**COMMANDS, **OTHERS}
PAIRS = "two processes with one output"
STATES = ("complete", "begun", "absent", "half_written")
COLUMNS = ("command", "fault", "rounds", *STATES, "lost", "inputs_changed", "tracebacks", "more_than_a_sentence")
COLUMNS += ("rerun_failed", "left_over", "silently_wrong", "refused")
SMALL = 48  # MB


class Trial:
    """A command, its folders and what a run without any fault makes."""

    def __init__(self, name: str, home: Path, place: Path, chance: random.Random) -> None:
        self.command, self.home, self.place, self.chance = ALL[name], home, place, chance
        self.reference, self.said = place / "reference", place / "said.txt"
        self.reference.mkdir()
        started = time.monotonic()
        if code := run(self.command.line(home, self.reference), self.said):
            raise RuntimeError(f"{name} ended with {code}: {self.said.read_text()}")
        self.seconds = time.monotonic() - started

    def fresh(self, out: Path, replacing: bool) -> list[str]:
        """Make the folder of the outputs anew, with earlier ones in it or not; return the command's line."""
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        self.said.write_text("")
        if replacing:
            shutil.copytree(self.reference, out, dirs_exist_ok=True)
        return [*self.command.line(self.home, out), *(["--overwrite"] if replacing else [])]

    def look(self, out: Path, replacing: bool) -> Counter[str]:
        """Count what became of the outputs, and what was said."""
        state = state_of(out, self.reference, self.command.outputs, self.command.goes_on)
        said = self.said.read_text(errors="replace")
        return Counter(
            {
                state: 1,
                "lost": replacing and state != "complete",
                "tracebacks": "Traceback" in said,
                "more_than_a_sentence": len(said.splitlines()) > 1,
            }
        )

    def again(self, out: Path) -> Counter[str]:
        """Run the command once more, with nothing in its way."""
        self.said.write_text("")
        line = [*self.command.line(self.home, out), *(["--overwrite"] if self.command.replaces else [])]
        before = state_of(out, self.reference, self.command.outputs, self.command.goes_on)
        if before == "complete" and not self.command.replaces and not self.command.goes_on:
            return Counter()  # it was done before the fault: `start` says that the session is there
        started = time.monotonic()
        code = run(line, self.said)
        if before == "absent":  # the whole way, as fast as the machine is now
            self.seconds = time.monotonic() - started
        state = state_of(out, self.reference, self.command.outputs, self.command.goes_on)
        if code or state != "complete":
            print("rerun:", line, code, state, self.said.read_text(errors="replace"), flush=True)
        return Counter({"rerun_failed": bool(code) or state != "complete", "left_over": len(leftovers(out))})


def kill(trial: Trial, rounds: int) -> Iterator[Counter[str]]:
    """Kill the command at a random moment of its work."""
    out = trial.place / "out"
    for number in range(rounds):
        replacing = trial.command.replaces and number % 2 == 1
        child = start(trial.fresh(out, replacing), trial.said)
        time.sleep(trial.chance.uniform(0, trial.seconds))
        os.kill(child, signal.SIGKILL)
        wait(child)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # whatever it had started ends with the machine
        found = trial.look(out, replacing)
        yield found + trial.again(out)


def fill_disk(trial: Trial, rounds: int) -> Iterator[Counter[str]]:
    """Let somebody else fill the disk at a random moment of the command's work; temporary files are on it too."""
    for number in range(rounds):
        replacing = trial.command.replaces and number % 2 == 1
        with small_disk(trial.place / "disk") as disk:
            line = trial.fresh(disk / "out", replacing)

            def use(disk: Path = disk) -> None:
                tempfile.tempdir = str(disk)

            child = start(line, trial.said, use)
            time.sleep(trial.chance.uniform(0, trial.seconds))
            with suppress(OSError), open(disk / "others", "wb", buffering=0) as others:
                while others.write(bytes(1 << 16)):
                    pass
            code = wait(child)
            found = trial.look(disk / "out", replacing)
            found["refused"] += code == 2
            found["tracebacks"] += code not in (0, 2)
            (disk / "others").unlink()
            yield found + trial.again(disk / "out")


def write_nowhere(trial: Trial, rounds: int) -> Iterator[Counter[str]]:
    """Let the command write to a disk that can only be read, with and without earlier outputs on it."""
    for number in range(min(rounds, 2)):
        replacing = trial.command.replaces and number % 2 == 1
        with small_disk(trial.place / "disk") as disk:
            line = trial.fresh(disk / "out", replacing)
            _mount("-o", "remount,ro", str(disk))
            code = run(line, trial.said)
            found = trial.look(disk / "out", replacing)
            found["refused"] += code == 2
            found["tracebacks"] += code not in (0, 2)
            yield found


def read_only_inputs(trial: Trial, rounds: int) -> Iterator[Counter[str]]:
    """Let the command read from a disk that can only be read."""
    with small_disk(trial.place / "disk") as disk:
        shutil.copytree(trial.home, disk / "home")
        _mount("-o", "remount,ro", str(disk))
        home, trial.home = trial.home, disk / "home"
        try:
            code = run(trial.fresh(trial.place / "out", False), trial.said)
            found = trial.look(trial.place / "out", False)
            found["refused"] += code == 2
            found["tracebacks"] += code not in (0, 2)
            if code:
                print("read-only:", trial.said.read_text(), flush=True)
            yield found
        finally:
            trial.home = home


def full_inputs(trial: Trial, rounds: int) -> Iterator[Counter[str]]:
    """Let the command read from a disk that is full, and write to another one."""
    with small_disk(trial.place / "disk") as disk:
        shutil.copytree(trial.home, disk / "home")
        with suppress(OSError), open(disk / "others", "wb", buffering=0) as others:
            while others.write(bytes(1 << 12)):
                pass
        home, trial.home = trial.home, disk / "home"
        try:
            code = run(trial.fresh(trial.place / "out", False), trial.said)
            found = trial.look(trial.place / "out", False)
            yield found + Counter({"refused": code == 2, "tracebacks": code not in (0, 2)})
        finally:
            trial.home = home


def flip_bits(trial: Trial, rounds: int) -> Iterator[Counter[str]]:
    """Change a bit of one of the inputs. Of a session, no changed bit may change what is exported."""
    name = next(name for name, command in COMMANDS.items() if command is trial.command)
    for number in range(rounds * len(FLIPPED[name])):
        home = trial.place / "flipped"
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(trial.home, home)
        flip(home / FLIPPED[name][number % len(FLIPPED[name])], trial.chance)
        kept, trial.home = trial.home, home
        out = trial.place / "out"
        line = trial.fresh(out, False)
        trial.home = kept
        code = run(line, trial.said)
        # A text with another letter is another text: other outputs are right then, but no session's.
        other = state_of(out, trial.reference, trial.command.outputs, trial.command.goes_on) == "half_written"
        said = trial.said.read_text(errors="replace")
        yield Counter(
            {
                "complete": code == 0,
                "absent": code != 0,
                "refused": code == 2,
                "tracebacks": "Traceback" in said or code not in (0, 2),
                "more_than_a_sentence": len(said.splitlines()) > 1,
                "silently_wrong": other and code == 0 and name == "export",
            }
        )
        if "Traceback" in said or (other and code == 0 and name == "export"):
            print("flip:", FLIPPED[name][number % len(FLIPPED[name])], said, flush=True)


def two_at_once(trial: Trial, rounds: int) -> Iterator[Counter[str]]:
    """Start the command twice with one output: one run makes it, the other is refused while the first one works."""
    out, other = trial.place / "out", trial.place / "other.txt"
    for number in range(rounds):
        replacing = trial.command.replaces and number % 2 == 1
        line = trial.fresh(out, replacing)
        other.write_text("")
        first = start(line, trial.said)
        time.sleep(trial.chance.uniform(0, trial.seconds / 2) if number % 4 else 0.0)
        second = start(line, other)
        codes = [wait(second), wait(first)]
        found = trial.look(out, replacing)
        said = other.read_text(errors="replace")
        found += Counter(
            {
                "refused": codes.count(2),
                "tracebacks": ("Traceback" in said) + sum(code not in (0, 2) for code in codes),
                "more_than_a_sentence": len(said.splitlines()) > 1,
                "lost": codes == [0, 0] or (0 in codes and not found["complete"]),
                "left_over": len(leftovers(out)),
            }
        )
        yield found + trial.again(out)


def set_the_clock(trial: Trial, rounds: int) -> Iterator[Counter[str]]:
    """Let the time of day jump by years, to and fro, while the command works."""
    out = trial.place / "out"
    for number in range(min(rounds, 4)):
        replacing = trial.command.replaces and number % 2 == 1
        code = run(trial.fresh(out, replacing), trial.said, jump)
        found = trial.look(out, replacing)
        yield found + Counter(
            {"refused": code == 2, "tracebacks": code not in (0, 2), "left_over": len(leftovers(out))}
        )


FAULTS = {
    "killed": kill,
    "disk filled up": fill_disk,
    "output on a read-only disk": write_nowhere,
    "inputs on a read-only disk": read_only_inputs,
    "a bit of the input changed": flip_bits,
    PAIRS: two_at_once,
    "the clock is set": set_the_clock,
    "inputs on a full disk": full_inputs,
}


@contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """Give a file system of a few megabytes."""
    place.mkdir(exist_ok=True)
    _mount("-t", "tmpfs", "-o", f"size={SMALL}m", "none", str(place))
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def _mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


def fingerprint(folder: Path) -> dict[str, str]:
    """Return the content of every file; not of SQLite's notes beside its databases."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.endswith(("-wal", "-shm"))]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def measure(name: str, fault: str, rounds: int, home: Path, chance: random.Random) -> dict[str, object]:
    """Do one fault to one command, again and again, and count what came of it."""
    counts: Counter[str] = Counter(dict.fromkeys(COLUMNS[3:], 0))
    with tempfile.TemporaryDirectory() as folder:
        trial, done, before = Trial(name, home, Path(folder), chance), 0, fingerprint(home)
        for found in FAULTS[fault](trial, rounds):
            done += 1
            counts.update(found)
            counts["inputs_changed"] += before != fingerprint(home)
    return {"command": name, "fault": fault, "rounds": done, **{key: int(counts[key]) for key in COLUMNS[3:]}}


def main() -> None:
    """Run everything and write the rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--command", action="append", choices=ALL, help="Only this one; repeatable.")
    parser.add_argument("--fault", action="append", choices=FAULTS, help="Only this one; repeatable.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    load()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder, options.out.open("w", newline="", encoding="utf-8") as file:
        home = Path(folder) / "home"
        home.mkdir()
        prepare_home(home)
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for name in options.command or ALL:
            for fault in (options.fault or FAULTS) if name in COMMANDS else [PAIRS]:
                file.flush()  # a child is a copy of this process, with what is not yet written
                writer.writerow(measure(name, fault, options.rounds, home, chance))
                file.flush()


if __name__ == "__main__":
    main()
