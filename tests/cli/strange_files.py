"""Files for the fuzzer: a folder with one of everything that commands read, and ways to damage any of it."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import duckdb
import httpx
import numpy as np

from actc import ScoredTriples
from actc.app.studio.serve import prepare
from actc.session import Judgement, Session, Settings, start_session
from actc.tables.files import write_scored, write_triples
from tests.stores.servers import dump, load

STORE = "http://store"
"""Stands in a call for the address of the store."""
RECIPE = '{"model": "complex", "dimension": 8, "epochs": 2, "batch": 64, "rate": 0.1}\n'
CELLS = [
    "", "nan", "inf", "-inf", "1e999", "9" * 400, "\x00", "\ufeff", '"', "'", "\t", "\r", "\n", "=1+1", "true", "2",
    "-1", str(10**9), "x" * 10_000, "é", "[]", "{}", "null", "[[", "<http://e/a b>", '"a"@en', "_:b", "\\u12",
    "e1", "r0", "None", "1_0",
]  # fmt: skip
# Keys of JSON files whose values are used at once.
TOLD = ("seed", "combine", "method", "budget", "counts", "curves", "default", "relations", "sources")
# In the place of any value of a JSON file.
VALUES: list[Any] = [
    "x", -1, 10**9, 10**30, 1e308, None, [], {}, [1], {"a": 1}, True, "nan", "inf", [[]], "\x1b[31m", "os:path",
    "localopt-acc", "../..", "\ud800", 0, 0.5, "majority",
]  # fmt: skip
# What somebody who can write a session's database may put there.
FORGED = [
    "INSERT INTO choice (at, name, value) VALUES (1, 'combine', 'forged')",
    "INSERT INTO choice (at, name, value) VALUES (1, 'overlap', 'many')",
    "INSERT INTO choice (at, name, value) VALUES ('x', 'reasons', '')",
    "INSERT INTO budget (at, triples) VALUES (1, -5)",
    "INSERT INTO budget (at, triples) VALUES (1, 'x')",
    "INSERT INTO budget (at, triples) VALUES (1, 1000000000)",
    "INSERT INTO pause (at, paused) VALUES ('', 1)",
    "INSERT INTO outlook (at, judgement, content) VALUES (1, 9, '[]')",
    "INSERT OR REPLACE INTO latest VALUES (1, '{')",
    "UPDATE plan SET triple = 100000 + triple, reason = ''",
    "UPDATE plan SET rivals = '[[1, 2]]'",
    "UPDATE task SET chance = 0, asked = 'random'",
    "UPDATE task SET chance = 'x', within = 'nowhere'",
    "UPDATE task SET triple = triple + 100000",
    "UPDATE task SET triple = triple + 1000000000",
    "UPDATE annotator SET kind = 'program'",
    "UPDATE annotator SET name = ''",
    "DELETE FROM total",
    "DROP TABLE plan",
    "PRAGMA user_version = 1",
    "PRAGMA user_version = 99",
]
SCRIPTS = {
    "raises.py": "raise RuntimeError('on import\\nin two lines')\n",
    "answers.py": "import json, sys\nfor line in sys.stdin:\n"
    "    print(json.dumps({'triple': json.loads(line)['triple'], 'said': True}), flush=True)\n",
    "leaves.py": "import sys\nsys.exit(3)\n",
    "strange.py": "nothing = None\nnumber = 3\n\n\nclass Raises:\n    summary = ''\n\n    def fit(self, *told):\n"
    "        raise ValueError('in fit')\n\n\nraises = Raises()\n",
}


def make_home(home: Path, url: str, actc: Callable[..., int]) -> None:
    """Make a folder with what commands read, sound and strange; ``url`` is a store, ``actc`` runs a command there."""
    pool, labels = _make_world(home)
    truth, some = labels.astype(int), np.arange(0, len(pool), 3)
    write_scored(home / "scores.tsv", pool)
    (home / "scores.tsv.gz").write_bytes(gzip.compress((home / "scores.tsv").read_bytes(), mtime=0))
    write_triples(home / "labels.csv", {**pool.take(some).columns(), "label": truth[some]})
    write_triples(home / "texts.tsv", {**pool.columns(), "source": np.full(len(pool), "It is said.", dtype=object)})
    write_triples(home / "parts.parquet", {**pool.columns(), "score": pool.scores})
    (home / "folder-of-parts").mkdir()
    shutil.copy(home / "parts.parquet", home / "folder-of-parts" / "one.parquet")
    (home / "set" / "cell").mkdir(parents=True)
    for part in ("valid.tsv", "test.tsv"):
        write_triples(home / "set" / "cell" / part, {**pool.columns(), "score": pool.scores, "label": truth})
    _make_session(home)
    (home / "names.tsv").write_text("id\tname\tdescription\ne1\tAda\tA person\nr0\tknows\t\n")
    (home / "names.json").write_text('{"e1": {"name": "Ada", "description": "x"}, "r0": "knows"}')
    (home / "recipe.json").write_text(RECIPE)
    (home / "constraints.tsv").write_text("kind\trelation\tuse\none-tail\tr0\thard\none-head\tr1\tno\n")
    (home / "notes.md").write_text("# Judge\n\nwith *care*.\n")
    (home / "prompt.txt").write_text("Is it true that {sentence}? {answer}\n")
    for line in (
        "calibrate scores.tsv --labels labels.csv --out th.json",
        "convert graph.tsv --base http://e/ --out graph.nt",
        "convert graph.tsv --base http://e/ --out graph.ttl",
        "train graph.tsv --recipe recipe.json --out model",
        "export session --history history.jsonl --label-studio studio.json",
        "bench set/cell --method localopt-acc --budget 1,5 --repeats 2 --jobs 1 --out rows.csv",
        "complete graph.tsv --candidates scores.tsv --oracle labels.csv --budget 5 --base http://e/ --out better",
        f"publish better --to sparql:{url}/update --into http://e/run --base http://e/ --write",
    ):
        assert actc(*line.split()) == 0, line
    load(url, (home / "graph.nt").read_text().splitlines(), None)
    (home / "store.nq").write_text("\n".join(dump(url)))
    prepare(home / "projects")
    _make_strange(home)
    for name, text in SCRIPTS.items():
        (home / name).write_text(text)


def _make_world(home: Path) -> tuple[ScoredTriples, np.ndarray]:
    """Write a graph, and facts that it does not hold; return candidates, those facts among them, and what is true."""
    heads, tails = np.divmod(np.arange(18 * 18), 18)
    steps = (tails - heads) % 18
    ends = [np.array([f"e{code}" for code in codes], dtype=object) for codes in (heads, tails)]
    every = {"head": ends[0], "relation": np.array([f"r{step % 4 // 2}" for step in steps], dtype=object)}
    every["tail"] = ends[1]
    true = (steps > 0) & (steps < 9)
    held, false = np.flatnonzero(true)[::7], np.flatnonzero(steps > 9)[::3]
    for name, rows in (("graph.tsv", np.setdiff1d(np.flatnonzero(true), held)), ("held.tsv", held)):
        write_triples(home / name, {key: column[rows] for key, column in every.items()})
    rows = np.random.default_rng(0).permutation(np.append(held, false))
    scores = np.random.default_rng(1).normal(size=len(rows)) + 2 * true[rows]
    return ScoredTriples.from_columns(*(column[rows] for column in every.values()), scores), true[rows]


def fill_store(home: Path, url: str) -> None:
    """Put back what was in the store."""
    kind = {"Content-Type": "application/n-quads"}
    httpx.post(f"{url}/store", content=(home / "store.nq").read_bytes(), headers=kind, timeout=60).raise_for_status()


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


def _without_rows(content: bytes, place: int, chance: random.Random) -> bytes:
    """Keep the names of a table's columns, and none of its rows."""
    if content[:4] != b"PAR1":
        return content.split(b"\n", 1)[0] + b"\n"
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        path = Path(folder) / "table.parquet"
        path.write_bytes(content)
        connection.execute(f"CREATE TABLE empty AS SELECT * FROM read_parquet('{path}') LIMIT 0")
        connection.execute(f"COPY empty TO '{path}' (FORMAT parquet)")
        return path.read_bytes()


def _put_value(content: bytes, place: int, chance: random.Random) -> bytes:
    """Put a value of another kind in the place of any value of a JSON file; of a line, where each is JSON."""
    try:
        whole = json.loads(content)
    except ValueError:
        first, end, rest = content.partition(b"\n")
        return _put_value(first, 0, chance) + end + rest if first[:1] in b"{[" and end else content
    inner = whole
    while isinstance(inner, dict | list) and inner:
        keys = list(inner) if isinstance(inner, dict) else range(min(len(inner), 3))
        told = [key for key in keys if key in TOLD]
        key = chance.choice(told if told and chance.random() < 0.5 else keys)
        if not isinstance(inner[key], dict | list) or not inner[key] or chance.random() < 0.5:
            inner[key] = chance.choice(VALUES)
            break
        inner = inner[key]
    return json.dumps(whole).encode()


def _forge(content: bytes, place: int, chance: random.Random) -> bytes:
    """Change a database as somebody may who can write it."""
    if not content.startswith(b"SQLite format 3"):
        return _put_value(content, place, chance)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forged.sqlite"
        path.write_bytes(content)
        with closing(sqlite3.connect(path)) as connection, suppress(sqlite3.Error):
            connection.create_function("checksum", -1, lambda *values: 0)
            connection.execute(chance.choice(FORGED))
            connection.commit()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return path.read_bytes()


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
    "no rows": _without_rows,
    "another type": _put_value,
    "another value": _put_value,
    "forged": _forge,
    "a line is gone": lambda content, place, chance: content[:place] + content[content.find(b"\n", place) + 1 :],
}


ENDINGS = {"another type": (".json",), "another value": (".json",), "forged": (".json", ".sqlite")}
"""Which files of a folder are worth such a change."""


def worth_doing(source: str) -> list[str]:
    """Return the damages that go deepest, given what a file is."""
    if source in ("session", "model"):
        return ["forged", "another type"]
    return ["another type"] if source.endswith((".json", ".jsonl")) else ["no rows", "a strange cell"]


def make_odd(home: Path, source: str, damage: str, place: float, seed: int) -> None:
    """Write a damaged copy of a file, or of a folder with one damaged file in it, as ``work/odd``."""
    original, chance = home / source, random.Random(seed)
    odd = home / "work" / ("odd" + "".join(original.suffixes))
    if original.is_dir():
        shutil.copytree(original, odd)
        files = sorted(path for path in odd.rglob("*") if path.is_file() and not path.name.endswith(("-wal", "-shm")))
        told = [path for path in files if path.suffix in ENDINGS.get(damage, ())]
        odd = chance.choice(told or files)
    else:
        shutil.copy(original, odd)
    content = odd.read_bytes()
    odd.write_bytes(MUTATIONS[damage](content, int(place * len(content)), chance))
