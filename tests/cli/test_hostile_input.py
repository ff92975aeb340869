"""Whatever a command is given, it ends with a result or with one sentence and exit code 2, and harms nothing."""

from __future__ import annotations

import copy
import errno
import gc
import gzip
import hashlib
import json
import os
import pickle
import random
import resource
import shutil
import signal
import socket
import sqlite3
import sys
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest

from actc import decide_candidates
from actc.errors import ActcError, describe_failure
from tests.cli.test_cli import actc
from tests.conftest import later

# A file that is read, and a command that reads it.
READS = {
    "scores.tsv": "calibrate scores.tsv --labels labels.tsv --out new.json",
    "labels.tsv": "calibrate scores.tsv --labels labels.tsv --method localopt-acc --out new.json",
    "constraints.tsv": "calibrate scores.tsv --labels labels.tsv --constraints constraints.tsv --out new.json",
    "th.json": "decide th.json scores.tsv --out new.tsv",
    "parts.parquet": "decide th.json parts.parquet --out new.parquet",
    "report.json": "report report.json --out new.html",
    "names.json": "start new scores.tsv --names names.json",
    "notes.md": "start new scores.tsv --guidelines notes.md",
    "history.jsonl": "import s history.jsonl",
    "studio.json": "import s studio.json --annotator Ada",
    "graph.tsv": "convert graph.tsv --base http://e/ --out new.nt",
    "graph.nt": "convert graph.nt --out new.tsv",
    "graph.ttl": "convert graph.ttl --out new.tsv",
    "d/m/valid.tsv": "bench d/m --method localopt-acc --budget 1 --repeats 1 --jobs 1 --out new.csv",
    ".new.tsv.lock": "convert graph.tsv --out new.tsv",
    "s/*": "export s --accepted new.tsv --history new.jsonl",
}
QUICK = ("scores.tsv", "th.json", "graph.nt")  # the others are left to `make test-long`
CELLS = (
    "",
    "nan",
    "inf",
    "1e999",
    "9" * 5000,
    "\x00",
    "\ufeff",
    '"',
    "\r",
    "x" * 100_000,
    "[]",
    "null",
    "<http://a b>",
)
DAMAGES = {
    "empty": lambda content: b"",
    "cut off": lambda content: content[: len(content) // 2],
    "no rows": lambda content: content.split(b"\n", 1)[0] + b"\n",
    "rubbish": lambda content: bytes(range(256)),
    "twice": lambda content: content * 2,
    "zeros": lambda content: content[: len(content) // 3] + bytes(16) + content[len(content) // 3 + 16 :],
    "half characters": lambda content: (
        content[: len(content) // 2] + b"\xed\xa0\x80\xff" + content[len(content) // 2 :]
    ),
    "UTF-16": lambda content: content.decode("latin-1").encode("utf-16"),
    "deep": lambda content: b"[" * 200_000,
    "deep lines": lambda content: b'{"a":' * 100_000,
    "list": lambda content: b"[1, [2]]",
    **{f"cell {cell[:9]!r}": lambda content, cell=cell: put_cell(content, cell) for cell in CELLS},
}
# What stands in the place of a file, and has no end.
PLACED = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "loop": lambda path: path.symlink_to(path),
    "folder": os.mkdir,
}
REFUSED = [
    "calibrate scores.tsv --labels labels.tsv --precision 2",
    "calibrate scores.tsv --labels labels.tsv --precision nan",
    "calibrate scores.tsv --labels labels.tsv --confidence 1.5",
    "complete graph.tsv --out new --confidence 1.5",
    "complete graph.tsv --out new --best 0",
    "calibrate scores.tsv --method os:path",
    "calibrate scores.tsv --method ..x:y",
    "report s --out new.html --json no/new.json",
    "report s --out new.html --json ./new.html",
    "start new scores.tsv --seed -1",
    f"start new scores.tsv --budget {10**30}",
    "audit s --count 0",
    "start s --sample",
    "start new",
    "start new scores.tsv --sample",
    "start new nowhere.tsv",
    "start new scores.tsv --overlap 2",
    "start new scores.tsv --method poold",
    "annotate d",
    "annotate s --port 70000 --no-browser",
    "annotate s --annotator \udcff --no-browser",
    "judge d --program true",
    "judge s",
    "judge s --program 'unclosed",
    "judge s --url http://127.0.0.1:9 --model m --key-from NO_KEY",
    "report nowhere",
    "export s",
    "import s nowhere.tsv",
    f"bench d/m --budget {10**30} --jobs 1",
    f"bench d/m --repeats {10**9} --jobs 1 --method actc-lr-rndm",
    "bench d/m --jobs 0 --method localopt-acc",
    "bench nowhere --jobs 1",
    "convert sparql:http://[::1 --out new.nt",
    "convert graph.tsv --out new.nothing",
    f"complete graph.tsv --budget {10**30} --oracle nowhere.tsv --out new",
]


VALUES = ("x", -1, 10**30, None, [], {}, [1], {"a": 1}, True, "nan", "inf", [[]], "\x1b[31m")


def put_cell(content: bytes, cell: str) -> bytes:
    """Put something strange in the place of a piece of text between tabs, commas, quotes or line ends."""
    ends, place = b"\t\n,\"' <>:", random.Random(len(content)).randrange(len(content) + 1)
    first = next((i + 1 for i in range(place - 1, -1, -1) if content[i] in ends), 0)
    last = next((i for i in range(place, len(content)) if content[i] in ends), len(content))
    return content[:first] + cell.encode() + content[last:]


def _too_long(*_: object) -> None:
    raise AssertionError("it waits for ever")


def run(home: Path, line: str) -> tuple[int, str]:
    """Run a command in a folder; it may not wait for ever."""
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(300)
    try:
        ended = actc(*line.split(" "), "--quiet", cwd=home)
    finally:
        signal.alarm(0)
    assert ended.returncode in (0, 2), (line, ended.stderr)
    assert len(ended.stderr.splitlines()) <= 1, (line, ended.stderr)
    assert ended.stderr or ended.returncode == 0, line
    assert "allocat" not in ended.stderr, (line, ended.stderr)
    return ended.returncode, ended.stderr


def fingerprint(home: Path) -> dict[str, str]:
    """Return the content of every file; what SQLite writes beside a database does not count."""
    paths = [path for path in home.rglob("*") if path.is_file() and not path.is_symlink() and "new" not in path.parts]
    paths = [path for path in paths if not path.name.endswith(("-shm", "-wal", ".count"))]
    return {str(path.relative_to(home)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def damaged_ways():
    """Return (what was done, function of a path) for everything that can happen to a file."""
    for name, change in DAMAGES.items():
        yield name, lambda path, change=change: path.write_bytes(change(path.read_bytes() if path.exists() else b""))
    for name, put in PLACED.items():
        yield name, lambda path, put=put: (path.unlink(missing_ok=True), put(path))


@pytest.mark.parametrize("place", [place if place in QUICK else later(place) for place in READS])
def test_a_damaged_file_is_read_or_refused_in_a_sentence(made, tmp_path, place):
    names = [path.relative_to(made) for path in made.glob(place)] if "*" in place else [Path(place)]
    writes = READS[place].startswith("import")  # into the session
    for number, name in enumerate(names):
        for what, damage in damaged_ways():
            home = tmp_path / f"{number} {what}".replace("/", "")
            shutil.copytree(made, home)
            damage(home / name)
            before = fingerprint(home)
            code, error = run(home, READS[place])
            after = fingerprint(home)
            new = {path for path in after if path not in before}
            assert code == 0 or not new, (name, what, new, error)
            changed = {path for path in before if after.get(path) != before[path]} - {".new.tsv.lock"}
            assert not {path for path in changed if not (writes and path.startswith("s/"))}, (name, what)
            if what in PLACED and name.suffix != ".lock" and "*" not in place:
                assert code == 2, (name, what)
            shutil.rmtree(home)


class Evil:
    def __reduce__(self):
        return (open, ("sprung", "w"))


def parquet(query):
    return lambda path: duckdb.sql(f"COPY ({query}) TO '{path}' (FORMAT parquet)")


def make_other_database(path):
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE VIEW setting AS SELECT load_extension('evil') AS content")


BOMB = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "x" * 99}">' for n in range(9))
RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">{}</rdf:RDF>'
XML = '<?xml version="1.0"{encoding}?><!DOCTYPE x [' + BOMB + "]>" + RDF.format("<e:r>&e8;</e:r>")
EXTERNAL = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>' + RDF.format("<e:r>&e;</e:r>")
ESCAPES = "\x1b]52;c;cm0gLXJm\x07\x1b[2J"
GRAPH, POOL = "convert {} --base http://e/ --out new.tsv", "calibrate {} --labels labels.tsv --out new.json"
NAMES = "start new scores.tsv --names {}"
# What somebody sends: name, content (text, bytes, or a function that writes the file), the command that reads it.
STRANGERS = {
    "entities of RDF/XML": ("g.rdf", XML.format(encoding=""), GRAPH),
    "entities in UTF-16": ("g.owl", XML.format(encoding=' encoding="utf-16"').encode("utf-16"), GRAPH),
    "entities in UTF-7": ("g.rdf", XML.format(encoding=' encoding="utf-7"').encode("utf-7"), GRAPH),
    "entities as names": ("g.rdf", XML.format(encoding=""), NAMES),
    "an entity of this machine's files": ("g.rdf", EXTERNAL, GRAPH),
    "a context elsewhere": ("g.jsonld", '{"@context": "http://127.0.0.1:PORT/c", "@id": "x", "r": "y"}', GRAPH),
    "JSON-LD that nests": ("g.jsonld", '{"@graph": ' * 50_000, GRAPH),
    "prefixes and lists": ("g.ttl", "@prefix a: <http://e/> .\n" * 50_000 + "a:a a:r " + "(" * 5000, GRAPH),
    "triples about triples": ("g.ttl", "<< " * 3000 + "<a:a> <a:b> <a:c>" + " >>" * 3000, GRAPH),
    "a literal of ten megabytes": ("g.nt", '<http://e/a> <http://e/r> "' + "x" * 10**7 + '" .\n', GRAPH),
    "a gzip bomb": ("g.tsv.gz", gzip.compress(bytes(10**8), 9), GRAPH),
    "a table of Parquet that unpacks": (
        "p.parquet",
        parquet("SELECT repeat('x', 10_000_000) AS head, 'r' relation, 't' tail, 1.0 score FROM range(999)"),
        POOL,
    ),
    "Parquet with tables in its cells": (
        "p.parquet",
        parquet("SELECT [[1]] AS head, {'a': 1} AS relation, MAP {'k': 'v'} AS tail, 1.0 AS score"),
        POOL,
    ),
    "names that steer a terminal": ("p.tsv", f"a\t{ESCAPES}r\tb\t0.5\nc\t[link=file:///etc]r\td\t0.1\n", POOL),
    "a table that names other files": ("p.csv", "=cmd|'/c calc',r,read_csv('/etc/passwd'),1\n", POOL),
    "a session with another's database": ("s/session.sqlite", make_other_database, "report s --out new.html"),
    "answers that are a pickle": ("a.parquet", pickle.dumps(Evil()), "import s {}"),
    "a model that is a pickle": (
        "model/trained_model.pkl",
        pickle.dumps(Evil()),
        "candidates graph.tsv --model model --out new.tsv",
    ),
}


@pytest.mark.parametrize("case", STRANGERS)
def test_a_file_of_a_stranger_runs_nothing_fetches_nothing_and_leaves_nothing(made, tmp_path, monkeypatch, case):
    home = tmp_path / "home"
    shutil.copytree(made, home)
    monkeypatch.setenv("ACTC_MOST_UNPACKED", "20MB")
    name, content, line = STRANGERS[case]
    (home / name).parent.mkdir(exist_ok=True)
    with socket.create_server(("127.0.0.1", 0)) as outside:
        outside.setblocking(False)
        if callable(content):
            content(home / name)
        elif isinstance(content, str):
            (home / name).write_text(content.replace("PORT", str(outside.getsockname()[1])))
        else:
            (home / name).write_bytes(content)
        before = fingerprint(home)
        ended = actc(*(word.format(name) for word in line.split()), cwd=home)
        with pytest.raises(BlockingIOError):  # nobody came
            outside.accept()
    assert not {"\x1b", "\x07"} & {*ended.stdout, *ended.stderr}
    assert "root:" not in ended.stdout + ended.stderr
    assert not list(tmp_path.rglob("sprung"))
    assert ended.returncode in (0, 2), ended.stderr
    if ended.returncode == 2:
        assert ended.stderr.startswith("actc: ")
        assert len(ended.stderr.splitlines()) == 1
        assert fingerprint(home) == before
        assert not list(home.glob("new*"))


def ways_to_values(content, way=()):
    """Return the ways to every value of a JSON file; of a list to its first."""
    if way:
        yield way
    inner = content.items() if isinstance(content, dict) else enumerate(content[:1] if type(content) is list else ())
    for key, value in inner:
        yield from ways_to_values(value, (*way, key))


@pytest.mark.long
def test_any_value_of_a_thresholds_file_is_used_or_refused(made, tmp_path):
    content, decided = json.loads((made / "th.json").read_text()), 0
    for place, way in enumerate(ways_to_values(content)):
        changed = inner = copy.deepcopy(content)
        for key in way[:-1]:
            inner = inner[key]
        inner[way[-1]] = VALUES[place % len(VALUES)]
        (tmp_path / "th.json").write_text(json.dumps(changed))
        with suppress(ActcError):
            decide_candidates(tmp_path / "th.json", made / "scores.tsv", tmp_path / "new.tsv", overwrite=True)
            decided += 1
    assert decided > 5


@pytest.mark.parametrize("line", REFUSED, ids=lambda line: line.encode("ascii", "replace").decode()[:60])
def test_options_that_make_no_sense_are_refused_in_a_sentence(made, line):
    before = fingerprint(made)
    code, error = run(made, line)
    assert code == 2
    assert error.startswith("actc: ")
    assert fingerprint(made) == before


def test_commands_close_the_session_and_refused_ones_change_none_of_its_files(made, tmp_path):
    """SQLite moves what its log holds into the database when the last connection closes: a late one changes bytes."""
    shutil.copytree(made, tmp_path / "made")
    home = tmp_path / "made"
    (home / "some.tsv").write_text("id\tname\ne1\tAda\n")
    busy = socket.create_server(("127.0.0.1", 0))
    port = busy.getsockname()[1]
    gc.disable()
    try:
        for line in (
            "import s labels.tsv --annotator Bob",
            "export s --labels new.tsv --thresholds new.json",
            "report s --out new.html",
            "judge s --program true --count 2",
        ):
            assert run(home, line)[0] == 0, line
            assert not list((home / "s").glob("*-wal")), line
        before = fingerprint(home)
        for line in (
            "annotate s --annotator \udcff --no-browser",
            "annotate s --names nowhere.tsv --no-browser",
            f"annotate s --names some.tsv --annotator Eve --port {port} --no-browser",
            "annotate s --annotator owner --no-browser",
            "audit s --count 0",
            "export s --labels new/labels.tsv",
            "import s nowhere.tsv",
            "judge s --program true --which nonsense",
            "judge s --program no-such-program",
        ):
            assert run(home, line)[0] == 2, line
            assert fingerprint(home) == before, line
            assert not list((home / "s").glob("*-wal")), line
    finally:
        gc.enable()
        busy.close()


def test_a_program_that_reads_nothing_and_ends_is_no_error(made):
    for _ in range(3):  # whether it ends before it is given anything is a matter of chance
        assert run(made, f"judge s --program true --count 40 --limit {10**30}") == (0, "")


def test_a_call_that_takes_too_much_memory_is_refused(tmp_path):
    (tmp_path / "hungry.py").write_text("import numpy\nmethod = numpy.ones(10**12)\n")
    code = actc("calibrate", "scores.tsv", "--method", "hungry:method", cwd=tmp_path).returncode
    sys.modules.pop("hungry", None)
    assert code == 2


def test_rows_that_lack_a_table_s_budget_leave_that_table_out(made, tmp_path):
    run(made, f"bench d/m --method localopt-acc --budget 1,5 --repeats 2 --jobs 1 --out {tmp_path}/rows.csv")
    only = f"--only table-avg --only table-l10 --out {tmp_path}/paper"
    assert run(made, f"paper --from {tmp_path}/rows.csv {only}")[1] == ""
    assert [path.name for path in (tmp_path / "paper").glob("table*.csv")] == ["table-avg.csv"]


ERRORS = [
    OSError(errno.ENOSPC, "No space left on device", "out.tsv"),
    sqlite3.OperationalError("database or disk is full"),
    duckdb.IOException("IO Error: Could not write file: No space left on device\nmore"),
    RecursionError("maximum recursion depth exceeded"),
    MemoryError(),
    OverflowError("Python int too large to convert to C long"),
    UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_of_the_world_become_a_sentence_that_names_the_file(error):
    error.add_note("out.tsv")
    sentence = describe_failure(error)
    assert sentence.startswith("out.tsv: ")
    assert "\n" not in sentence
    with pytest.raises(ZeroDivisionError):  # a fault of ours is not hidden
        describe_failure(ZeroDivisionError())


@pytest.mark.parametrize("name", ["new.json", "new.tsv", "new.parquet"])
def test_a_full_disk_is_named_by_the_output_and_leaves_nothing(made, tmp_path, monkeypatch, name):
    """A limit on the size of files stands for a disk that is full."""
    words = "calibrate scores.tsv --labels labels.tsv" if name == "new.json" else "decide th.json scores.tsv"
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # a module first imported here would be cut off as well
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, before[1]))
    try:
        code, error = run(made, f"{words} --out {tmp_path / name}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (code, list(tmp_path.iterdir())) == (2, [])
    assert str(tmp_path / name) in error
