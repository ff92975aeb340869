"""Files of strangers: each is read, or refused in one sentence; nothing runs, nothing is fetched or left behind."""

from __future__ import annotations

import gzip
import json
import pickle
import shutil
import socket
import sqlite3
import zipfile

import duckdb
import pytest

from actc.data.files import write_scored, write_triples
from tests.cli.test_cli import actc
from tests.synthetic import make_truth

BOMB = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "x" * 99}">' for n in range(9))
RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">{}</rdf:RDF>'
FACT = '<rdf:Description rdf:about="http://e/a"><e:r rdf:resource="http://e/b"/></rdf:Description>'
XML = '<?xml version="1.0"{encoding}?><!DOCTYPE x [' + BOMB + "]>" + RDF.format("<e:r>&e8;</e:r>")
EXTERNAL = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>' + RDF.format("<e:r>&e;</e:r>")
COLUMNS = "head\trelation\ttail\tscore\n"
ESCAPES = "\x1b]52;c;cm0gLXJm\x07\x1b[2J"


class Evil:
    def __reduce__(self):
        return (open, ("sprung", "w"))


def parquet(path, query):
    duckdb.sql(f"COPY ({query}) TO '{path}' (FORMAT parquet)")


def sqlite(path, *lines):
    with sqlite3.connect(path) as connection:
        for line in lines:
            connection.execute(line)


def zipped(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../escape.tsv", COLUMNS)


GRAPH, POOL = "convert {} --base http://e/ --out new.tsv", "calibrate {} --labels labels.tsv --out new.json"
DECIDE, NAMES = "decide {} scores.tsv --out new.tsv", "start new scores.tsv --names {}"
# What somebody sends: name, content (text, bytes, or a function that writes the file), the command that reads it.
FILES = {
    "entities of RDF/XML": ("g.rdf", XML.format(encoding=""), GRAPH),
    "entities in UTF-16": ("g.owl", XML.format(encoding=' encoding="utf-16"').encode("utf-16"), GRAPH),
    "entities as names": ("g.rdf", XML.format(encoding=""), NAMES),
    "an entity of this machine's files": ("g.rdf", EXTERNAL, GRAPH),
    "an entity in UTF-7": ("g.rdf", XML.format(encoding=' encoding="utf-7"').encode("utf-7"), GRAPH),
    "a context of JSON-LD elsewhere": (
        "g.jsonld",
        '{"@context": "http://127.0.0.1:PORT/c", "@id": "x", "r": "y"}',
        GRAPH,
    ),
    "JSON-LD that nests": ("g.jsonld", '{"@graph": ' * 50_000, GRAPH),
    "Turtle with a prefix of prefixes": (
        "g.ttl",
        "@prefix a: <http://e/> .\n" * 50_000 + "a:a a:r " + "(" * 5000,
        GRAPH,
    ),
    "a literal of ten megabytes": ("g.nt", '<http://e/a> <http://e/r> "' + "x" * 10**7 + '" .\n', GRAPH),
    "a triple about triples about triples": ("g.ttl", "<< " * 3000 + "<a:a> <a:b> <a:c>" + " >>" * 3000, GRAPH),
    "a gzip bomb": ("g.tsv.gz", gzip.compress(bytes(10**8), 9), GRAPH),
    "a gzip in a gzip": ("g.tsv.gz", gzip.compress(gzip.compress(b"a\tr\tb\n")), GRAPH),
    "an archive that climbs": ("p.parquet", zipped, POOL),
    "a table of Parquet that unpacks": (
        "p.parquet",
        lambda path: parquet(
            path, "SELECT repeat('x', 10_000_000) AS head, 'r' relation, 't' tail, 1.0 score FROM range(999)"
        ),
        POOL,
    ),
    "Parquet with tables in its cells": (
        "p.parquet",
        lambda path: parquet(path, "SELECT [[1]] AS head, {'a': 1} AS relation, MAP {'k': 'v'} AS tail, 1.0 AS score"),
        POOL,
    ),
    "a table of ten thousand columns": (
        "p.tsv",
        "\t".join(map(str, range(10_000))) + "\n" + "x\t" * 10_000 + "\n",
        POOL,
    ),
    "a line of five megabytes": ("p.tsv", COLUMNS + "a\tr\t" + "b" * 5_000_000 + "\t0.5\n", POOL),
    "names that steer a terminal": (
        "p.tsv",
        COLUMNS + f"a\t{ESCAPES}r\tb\t0.5\nc\t[link=file:///etc]r\td\t0.1\n",
        POOL,
    ),
    "a name that is a pattern": (
        "*.tsv",
        COLUMNS + "a\tr\tb\t0.5\n",
        "calibrate {} --labels labels.tsv --out new.json",
    ),
    "a table that names other files": (
        "p.csv",
        "head,relation,tail,score\n=cmd|'/c calc',r,read_csv('/etc/passwd'),1\n",
        POOL,
    ),
    "JSON lines of endless numbers": (
        "p.jsonl",
        '{"head": "a", "relation": "r", "tail": "b", "score": ' + "9" * 10**5 + "}\n",
        POOL,
    ),
    "thresholds with a method of code": ("t.json", {"method": "evil:method"}, "report {} --out new.html"),
    "thresholds that lead elsewhere": (
        "t.json",
        {"sources": {"scores": "/etc/passwd", "labels": "/dev/zero"}},
        "report {} --out new.html",
    ),
    "thresholds beyond numbers": ("t.json", {"default": {"cut": 1e999}}, DECIDE),
    "thresholds that nest": ("t.json", "[" * 10**6, DECIDE),
    "names that are programs": (
        "n.json",
        '{"e1": {"name": "<img src=x onerror=alert(1)>", "link": "javascript:alert(1)"}}',
        NAMES,
    ),
    "names without an end": ("n.json", '{"e1": "' + "n" * 3_000_000, NAMES),
    "guidelines of a script": (
        "g.md",
        "<script>fetch('http://127.0.0.1:PORT')</script>" * 200,
        "start new scores.tsv --guidelines {}",
    ),
    "a session whose database is a program's": (
        "s/session.sqlite",
        lambda path: sqlite(
            path, "CREATE TABLE t (x)", "CREATE VIEW setting AS SELECT load_extension('evil') AS content"
        ),
        "report s --out new.html",
    ),
    "answers of an owner": (
        "a.jsonl",
        '{"head": "h1", "relation": "r0", "tail": "t1", "label": 1, "who": "owner"}\n',
        "import s {}",
    ),
    "answers that are a pickle": ("a.parquet", pickle.dumps(Evil()), "import s {}"),
    "a model that is a pickle": (
        "model/trained_model.pkl",
        pickle.dumps(Evil()),
        "candidates graph.tsv --model model --out new.tsv",
    ),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    home = tmp_path_factory.mktemp("files")
    pool, labels, _ = make_truth(120, 2)
    write_scored(home / "scores.tsv", pool)
    write_triples(home / "labels.tsv", {**pool.take(range(30)).columns(), "label": labels[:30].astype(int)})
    write_triples(home / "graph.tsv", pool.columns())
    for line in ("calibrate scores.tsv --labels labels.tsv --out th.json", "start s scores.tsv --budget 20"):
        assert actc(*line.split(), "--quiet", cwd=home).returncode == 0
    return home


def put(path, content, home, port):
    path.parent.mkdir(parents=True, exist_ok=True)
    if callable(content):
        path.unlink(missing_ok=True)
        content(path)
    elif isinstance(content, dict):
        path.write_text(json.dumps(json.loads((home / "th.json").read_text()) | content))
    elif isinstance(content, str):
        path.write_text(content.replace("PORT", str(port)))
    else:
        path.write_bytes(content)


@pytest.mark.parametrize("case", FILES)
def test_a_file_of_a_stranger_is_read_or_refused_in_a_sentence(case, made, tmp_path, monkeypatch):
    home = tmp_path / "home"
    shutil.copytree(made, home)
    monkeypatch.setenv("ACTC_MOST_UNPACKED", "20MB")
    (home / "evil.py").write_text("open('sprung', 'w')\n")
    name, content, line = FILES[case]
    with socket.create_server(("127.0.0.1", 0)) as outside:
        outside.setblocking(False)
        put(home / name, content, home, outside.getsockname()[1])
        before = {path for path in home.rglob("*") if "new" not in path.name}
        ended = actc(*(word.format(name) for word in line.split()), cwd=home)
        with pytest.raises(BlockingIOError):  # nobody came
            outside.accept()
    assert ended.returncode in (0, 2), ended.stderr
    assert ended.returncode == 0 or ended.stderr.startswith("actc: ")
    assert ended.returncode == 0 or len(ended.stderr.splitlines()) == 1
    assert not {"\x1b", "\x07"} & {*ended.stdout, *ended.stderr}
    assert "root:" not in ended.stdout + ended.stderr
    assert not list(tmp_path.rglob("sprung"))
    assert not list(tmp_path.rglob("escape.tsv"))
    after = {path for path in home.rglob("*") if "new" not in path.name and "__pycache__" not in str(path)}
    if ended.returncode == 2:
        assert {path for path in after - before if not path.name.endswith(("-wal", "-shm"))} == set()
        assert not list(home.glob("new*"))
