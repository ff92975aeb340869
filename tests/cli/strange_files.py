"""Files for the fuzzer: a folder with one of everything that commands read, and ways to damage any of it."""

from __future__ import annotations

import gzip
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np

from actc.session import Judgement, Session, Settings, start_session
from actc.tables.files import write_rows_of, write_triples
from tests.synthetic import make_truth

RECIPE = '{"model": "complex", "dimension": 8, "epochs": 2, "batch": 64, "rate": 0.1}\n'
CELLS = [
    "",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "9" * 400,
    "\x00",
    "\ufeff",
    '"',
    "'",
    "\t",
    "\r",
    "\n",
    "=1+1",
    "true",
    "2",
    "-1",
]
CELLS += [
    "x" * 10_000,
    "é",
    "[]",
    "{}",
    "null",
    "[[",
    "<http://e/a b>",
    '"a"@en',
    "_:b",
    "\\u12",
    "e1",
    "r0",
    "None",
    "1_0",
]


def make_home(home: Path, actc: Callable[..., object]) -> None:
    """Make a folder with what commands read, sound and strange; ``actc`` runs a command in it."""
    pool, labels, _ = make_truth(60, 2)
    truth = labels[:20].astype(int)
    write_rows_of(home / "scores.tsv", pool, np.arange(60))
    (home / "scores.tsv.gz").write_bytes(gzip.compress((home / "scores.tsv").read_bytes(), mtime=0))
    write_triples(home / "labels.csv", {**pool.take(np.arange(20)).columns(), "label": truth})
    write_triples(home / "parts.parquet", {**pool.columns(), "score": pool.scores})
    (home / "folder-of-parts").mkdir()
    shutil.copy(home / "parts.parquet", home / "folder-of-parts" / "one.parquet")
    _make_graph(home)
    _make_cell(home, pool, labels)
    _make_session(home)
    (home / "names.tsv").write_text("id\tname\tdescription\nh1\tAda\tA person\nr0\tknows\t\n")
    (home / "names.json").write_text('{"h1": {"name": "Ada", "description": "x"}, "r0": "knows"}')
    (home / "recipe.json").write_text(RECIPE)
    (home / "constraints.tsv").write_text("kind\trelation\tuse\none-tail\tr0\thard\none-head\tr1\tno\n")
    (home / "notes.md").write_text("# Judge\n\nwith *care*.\n")
    for line in (
        "calibrate scores.tsv --labels labels.csv --out th.json",
        "convert graph.tsv --base http://e/ --out graph.nt",
        "convert graph.tsv --base http://e/ --out graph.ttl",
        "convert graph.tsv --to kgtk --out graph.kgtk.tsv",
        "train graph.tsv --recipe recipe.json --out model",
        "export session --history history.jsonl --label-studio studio.json",
        "bench set/cell --method localopt-acc --budget 1,5 --repeats 2 --jobs 1 --out rows.csv",
    ):
        actc(*line.split())
    _make_strange(home)


def _make_graph(home: Path) -> None:
    heads, tails = np.divmod(np.arange(144), 12)
    near = np.flatnonzero((tails - heads) % 12 < 4)
    names = {"head": heads, "tail": tails}
    columns = {key: np.array([f"e{code}" for code in column[near]], dtype=object) for key, column in names.items()}
    relation = np.array([f"r{(t - h) % 4 // 2}" for h, t in zip(heads[near], tails[near], strict=True)], dtype=object)
    graph = {"head": columns["head"], "relation": relation, "tail": columns["tail"]}
    write_triples(home / "graph.tsv", graph)
    write_triples(home / "held.tsv", {key: column[::7] for key, column in graph.items()})


def _make_cell(home: Path, pool: object, labels: np.ndarray) -> None:
    (home / "set" / "cell").mkdir(parents=True)
    for part in ("valid.tsv", "test.tsv"):
        write_triples(
            home / "set" / "cell" / part, {**pool.columns(), "score": pool.scores, "label": labels.astype(int)}
        )


def _make_session(home: Path) -> None:
    session = start_session(home / "session", home / "scores.tsv", Settings(budget=10))
    ada = session.add_annotator("Ada")
    for number in range(6):
        task = session.ask(ada, 1)[0]
        session.record(ada, [Judgement("true" if task.score > 0 else "false", task.triple, f"k{number}")])
    session.close()
    Session(home / "session").close()


def _make_strange(home: Path) -> None:
    (home / "header.tsv").write_text("head\trelation\ttail\tscore\n")
    (home / "empty.tsv").touch()
    (home / "rubbish.parquet").write_bytes(bytes(range(256)))
    (home / "deep.json").write_text("[" * 5000)
    (home / "nan.tsv").write_text("a\tr\tb\tnan\n")
    (home / "wide.jsonl").write_text('{"head": 1}\n[]\n')
    for name in ("[x].tsv", "with space.tsv", "new\nline.tsv", "'; DROP TABLE x; --.tsv"):
        (home / name).write_text("a\tr\tb\t1\nc\tr\td\t0\n")
    (home / "folder").mkdir()
    (home / "loop").symlink_to(home / "loop")
    (home / "link.tsv").symlink_to(home / "scores.tsv")
    os.mkfifo(home / "pipe.tsv")


def _put_cell(content: bytes, place: int, chance: random.Random) -> bytes:
    """Put something strange in the place of a piece of text between tabs, commas, quotes or line ends."""
    ends = b"\t\n,\"' <>:"
    first = next((i + 1 for i in range(place - 1, -1, -1) if content[i] in ends), 0)
    last = next((i for i in range(place, len(content)) if content[i] in ends), len(content))
    return content[:first] + chance.choice(CELLS).encode() + content[last:]


def _flip(content: bytes, place: int, chance: random.Random) -> bytes:
    changed = bytearray(content)
    if changed:
        changed[min(place, len(changed) - 1)] ^= 1 << chance.randrange(8)
    return bytes(changed)


# Each takes a file's content, a place in it, and a source of chance.
MUTATIONS: dict[str, Callable[[bytes, int, random.Random], bytes]] = {
    "cut off": lambda content, place, chance: content[:place],
    "a bit": _flip,
    "zeros": lambda content, place, chance: content[:place] + bytes(16) + content[place + 16 :],
    "a strange cell": _put_cell,
    "another strange cell": _put_cell,
    "rubbish": lambda content, place, chance: content[:place] + chance.randbytes(20) + content[place:],
    "twice": lambda content, place, chance: content * 2,
    "a mark in front": lambda content, place, chance: b"\xef\xbb\xbf" + content,
    "half characters": lambda content, place, chance: content[:place] + b"\xed\xa0\x80\xff" + content[place:],
    "Windows line ends": lambda content, place, chance: content.replace(b"\n", b"\r\n"),
    "UTF-16": lambda content, place, chance: content.decode("latin-1").encode("utf-16"),
    "not at all": lambda content, place, chance: content,
    "a line is gone": lambda content, place, chance: content[:place] + content[content.find(b"\n", place) + 1 :],
}


def make_odd(home: Path, source: str, damage: str, place: float, seed: int) -> None:
    """Write a damaged copy of a file, or of a folder with one damaged file in it, as ``work/odd``."""
    original, chance = home / source, random.Random(seed)
    odd = home / "work" / ("odd" + "".join(original.suffixes))
    if original.is_dir():
        shutil.copytree(original, odd)
        odd = chance.choice(sorted(path for path in odd.rglob("*") if path.is_file()))
    else:
        shutil.copy(original, odd)
    content = odd.read_bytes()
    odd.write_bytes(MUTATIONS[damage](content, int(place * len(content)), chance))
