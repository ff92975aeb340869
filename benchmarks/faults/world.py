"""What the commands under test read, how each is called, and a child process that runs one without loading anything."""

from __future__ import annotations

import importlib
import itertools
import math
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from actc.cli.main import main
from actc.data.files import write_triples

ENDLESS, HUNGRY = -9, -1000  # codes that no process ends with by itself
# Loaded once, before any child is made: so a moment drawn over a command's time is a moment of its work.
LOADED = (
    *("duckdb", "joblib", "rich", "scipy.linalg", "scipy.optimize", "scipy.special", "torch._dynamo"),
    *("sklearn.ensemble", "sklearn.linear_model"),
    *("actc.cli.show", "actc.complete.run"),
    *("actc.decide.decide_candidates", "actc.decide.duckdb_engine", "actc.evidence.from_files"),
    *("actc.bench.runs", "actc.session.export"),
    *("actc.session.start", "actc.decide.report"),
)


@dataclass(frozen=True)
class Command:
    """A command as it is called here.

    Parameters
    ----------
    words : tuple of str
        Its line; ``{out}`` stands for the folder of the outputs, ``{home}`` for that of the inputs.
    outputs : tuple of str
        What it leaves in the folder of the outputs.
    replaces : bool
        Whether ``--overwrite`` lets it replace an earlier output.
    goes_on : bool
        Whether a second start goes on with what a first one left under the output's own name.
    """

    words: tuple[str, ...]
    outputs: tuple[str, ...]
    replaces: bool = True
    goes_on: bool = False

    def line(self, home: Path, out: Path) -> list[str]:
        """Return the words with the folders filled in."""
        return [*(word.format(home=home, out=out) for word in self.words), "--quiet"]


def _command(line: str, *outputs: str, **choices: bool) -> Command:
    return Command(tuple(line.split()), outputs, **choices)


COMMANDS = {
    "start": _command("start {out}/session {home}/scores.tsv --graph {home}/graph.tsv", "session", replaces=False),
    "decide": _command("decide {home}/thresholds.json {home}/many.parquet --out {out}/accepted.tsv", "accepted.tsv"),
    "candidates": _command("candidates {home}/graph.tsv --out {out}/new.parquet", "new.parquet"),
    "complete": _command(
        "complete {home}/graph.tsv --oracle {home}/truth.tsv --budget 20 --out {out}/better",
        "better",
        replaces=False,
        goes_on=True,
    ),
    "export": _command(
        "export {home}/session --labels {out}/labels.tsv --history {out}/history.jsonl "
        "--thresholds {out}/thresholds.json --accepted {out}/accepted.parquet",
        "labels.tsv", "history.jsonl", "thresholds.json", "accepted.parquet",
    ),
    "bench": _command(
        "bench {home}/set/model --method localopt-acc --method actc-lr-rndm --method pooled --budget 1,5,20 "
        "--repeats 6 --jobs 1 --out {out}/rows.csv",
        "rows.csv", "rows.csv.json",
        replaces=False, goes_on=True,
    ),
}  # fmt: skip
# Of these only what two runs at once leave is of interest beside the others.
OTHERS = {
    "check": _command(
        "check {home}/graph.tsv --oracle {home}/truth.tsv --budget 20 --out {out}/better",
        "better", replaces=False, goes_on=True,
    ),
    "evidence": _command("evidence {home}/graph.tsv {home}/new.tsv --out {out}/new.parquet", "new.parquet"),
    "convert": _command("convert {home}/graph.tsv --base http://e/ --out {out}/graph.nt", "graph.nt"),
    "calibrate": _command(
        "calibrate {home}/scores.tsv --labels {home}/labels.tsv --out {out}/thresholds.json", "thresholds.json"
    ),
    "report": _command("report {home}/thresholds.json --out {out}/report.html", "report.html"),
    "paper": _command("paper --from {home}/rows.csv --only table-avg --out {out}/paper", "paper"),
}  # fmt: skip


def load() -> None:
    """Import what any of the commands needs."""
    for name in LOADED:
        importlib.import_module(name)


def start(line: list[str], said: Path, prepare: Callable[[], None] = lambda: None, folder: Path | None = None) -> int:
    """Run a command in a process of its own, which is a copy of this one, in a folder; return its number."""
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        os.setsid()
        os.chdir(folder or ".")
        for stream in (1, 2):
            os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), stream)
        prepare()
        sys.argv = ["actc", *line]
        main()
    except SystemExit as ended:
        code = int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def jump() -> None:
    """Let the time of day jump to and fro, for the process that calls this."""
    now, days = time.time, itertools.cycle((0, 400, -400, 1e5, 0))
    time.time = lambda: now() + 86_400 * next(days)


def wait(child: int, seconds: float = 120.0, memory: float = math.inf, served: float = math.inf) -> int:
    """Return a process's exit code, once it has ended; one that does not end is killed, and ``ENDLESS``.

    One that takes so many bytes of memory more than at its start is killed, and ``HUNGRY``; a server is interrupted
    after ``served`` seconds.
    """
    started, most, polls = time.monotonic(), resident(child) + memory, 0
    while time.monotonic() < started + seconds:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > started + served:
            os.kill(child, signal.SIGINT)
            served = math.inf
        if polls % 10 == 0 and resident(child) > most:
            break
        polls += 1
        time.sleep(0.005)
    code = HUNGRY if resident(child) > most else ENDLESS
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return code


def resident(child: int) -> int:
    """Return how many bytes of memory a process has; 0 once it has ended."""
    return int(Path(f"/proc/{child}/statm").read_text().split()[1]) * resource.getpagesize()


def run(
    line: list[str],
    said: Path,
    prepare: Callable[[], None] = lambda: None,
    folder: Path | None = None,
    **limits: float,
) -> int:
    """Run a command to its end, in a folder; return its exit code, or what ``wait`` says of it."""
    return wait(start(line, said, prepare, folder), **limits)


def prepare_home(home: Path, seed: int = 0) -> None:
    """Make what the commands read: a graph and all that is true, scores, answers, thresholds, a session."""
    random = np.random.default_rng(seed)
    truth = _make_truth(random)
    known = random.random(len(truth["head"])) < 0.8
    write_triples(home / "truth.tsv", truth)
    write_triples(home / "graph.tsv", {name: column[known] for name, column in truth.items()})
    for name, size in (("scores.tsv", 600), ("many.parquet", 40_000)):
        write_triples(home / name, _make_scored(random, size))
    cell = home / "set" / "model"
    cell.mkdir(parents=True)
    for name in ("valid.tsv", "test.tsv"):
        write_triples(cell / name, _with_labels(random, _make_scored(random, 400)))
    scored = _with_labels(random, _read(home / "scores.tsv"))
    write_triples(home / "labels.tsv", {name: scored[name][:120] for name in ("head", "relation", "tail", "label")})
    for line in (
        f"calibrate {home}/scores.tsv --labels {home}/labels.tsv --out {home}/thresholds.json",
        f"candidates {home}/graph.tsv --out {home}/new.tsv",
        f"bench {home}/set/model --method localopt-acc --budget 1,5 --repeats 2 --jobs 1 --out {home}/rows.csv",
        f"start {home}/session {home}/scores.tsv",
        f"import {home}/session {home}/labels.tsv --annotator Ada",
    ):
        said = home.with_name("prepared.txt")
        if run([*line.split(), "--quiet"], said):
            raise RuntimeError(f"actc {line}: {said.read_text()}")


def _make_truth(random: np.random.Generator) -> dict[str, np.ndarray]:
    """Facts that follow from a place on a circle, so that there is something to learn."""
    place = random.permutation(40)
    heads, tails = np.repeat(np.arange(40), 40), np.tile(np.arange(40), 40)
    steps = (place[tails] - place[heads]) % 40
    found = [np.flatnonzero((steps > 5 * number) & (steps <= 5 * number + 3)) for number in range(4)]
    rows, kinds = np.concatenate(found), np.repeat(np.arange(4), [len(one) for one in found])
    columns = {"head": heads[rows], "relation": kinds, "tail": tails[rows]}
    return {
        name: np.array([f"{'r' if name == 'relation' else 'e'}{code}" for code in column], dtype=object)
        for name, column in columns.items()
    }


def _make_scored(random: np.random.Generator, size: int) -> dict[str, np.ndarray]:
    return {
        "head": np.array([f"e{i}" for i in range(size)], dtype=object),
        "relation": np.array([f"r{i}" for i in random.integers(5, size=size)], dtype=object),
        "tail": np.array([f"e{i}" for i in random.integers(40, size=size)], dtype=object),
        "score": random.normal(size=size),
    }


def _with_labels(random: np.random.Generator, columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    truth = random.random(len(columns["score"])) < 1 / (1 + np.exp(-2 * columns["score"]))
    return {**columns, "label": truth.astype(int)}


def _read(path: Path) -> dict[str, np.ndarray]:
    from actc.data.files import read_scored

    pool = read_scored(path)[0]
    return {**pool.columns(), "score": pool.scores}
