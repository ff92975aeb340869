"""Replies of a store at fault: the whole graph all the same, or one sentence; nothing is written or shown."""

from __future__ import annotations

import gzip
import json

import pytest

from actc.errors import ActcError
from actc.graph import client
from actc.graph.read_sparql import fetch_graph
from tests.graph.servers import Faulty, is_triples

LINES = [f"<http://e/a{n}> <http://e/r{n % 2}> <http://e/b{n % 7}> ." for n in range(40)]
ESCAPES = b"\x1b]52;c;cm0gLXJm\x07\x1b[2J"


def status(code, body=b"", **headers):
    return lambda reply: (code, body, {name.replace("_", "-"): value for name, value in headers.items()})


def table(*rows):
    return lambda reply: json.dumps({"head": {}, "results": {"bindings": list(rows)}}).encode()


def row(relation, count):
    return {"p": {"type": "uri", "value": relation}, "n": {"type": "literal", "value": count}}


def with_line(line):
    return lambda reply: reply + line + b"\n"


# What a server sends in the place of a table of counts.
COUNTS = {
    "a page to sign in": lambda reply: b"<html>Sign in</html>",
    "nothing": lambda reply: b"",
    "a list": lambda reply: b"[]",
    "null": lambda reply: b"null",
    "a number without an end": lambda reply: b'{"results": {"bindings": ' + b"9" * 10**6 + b"}}",
    "JSON that nests": lambda reply: b"[" * 10**6,
    "rows that are no rows": lambda reply: b'{"results": {"bindings": [1, null, "x"]}}',
    "bindings that are none": lambda reply: b'{"results": {"bindings": {"p": 1}}}',
    "a count below nothing": table(row("http://e/r0", "-20"), row("http://e/r1", "60")),
    "a count of letters": table(row("http://e/r0", "twenty")),
    "a count of other digits": table(row("http://e/r0", "٢٠"), row("http://e/r1", "٢٠")),
    "a count beyond numbers": table(row("http://e/r0", "9" * 400)),
    "a relation that is a query": table(row("http://e/r0> ?o } } ; DROP ALL #", "40")),
    "a relation that steers a terminal": table(row(ESCAPES.decode(), "40")),
    "a relation twice": table(row("http://e/r0", "20"), row("http://e/r0", "20")),
    "half of a table": lambda reply: reply[: len(reply) // 2],
    "half a character": lambda reply: reply.replace(b"http://e/r0", b"http://e/\xed\xa0\x80"),
    "a table that unpacks": lambda reply: (200, gzip.compress(b" " * 10**8), {"Content-Encoding": "gzip"}),
    "what is not packed as its head claims": status(200, b"no gzip", Content_Encoding="gzip"),
    "an error that steers a terminal": status(400, ESCAPES),
    "an error of a megabyte": status(500, b"x" * 10**6),
    "an error in silence": status(503),
    "a teapot": status(418, b"<script>"),
    "elsewhere": status(302, Location="http://127.0.0.1:1/"),
    "elsewhere for ever": status(308, Location="/query"),
    "a password, please": status(401, b"", WWW_Authenticate="Basic"),
    "a riddle, please": status(401, b"", WWW_Authenticate="Digest nonsense"),
    "nobody may": status(403, b"go away"),
    "a reply that ends at once": lambda reply: None,
}
# What it sends in the place of triples.
TRIPLES = {
    "no triples": lambda reply: b"",
    "a page": lambda reply: b"<html>" * 40,
    "a line cut off": lambda reply: reply[:-20],
    "a triple too many": with_line(b"<http://e/x> <http://e/r0> <http://e/y> ."),
    "a triple of another relation": with_line(b"<http://e/x> <http://e/r9> <http://e/y> ."),
    "an IRI with a space": lambda reply: reply.replace(b"<http://e/a1>", b"<http://e/a 1>"),
    "an IRI that ends a query": lambda reply: reply.replace(b"<http://e/a1>", b'<http://e/a1> } ; DROP ALL #">'),
    "an IRI that steers a terminal": lambda reply: reply.replace(b"<http://e/a1>", b"<http://e/" + ESCAPES + b">"),
    "zeros": lambda reply: reply.replace(b"http", bytes(4)),
    "half a character": lambda reply: reply.replace(b"http://e/a1>", b"http://e/\xed\xa0\x80>"),
    "a literal without an end": with_line(b'<http://e/x> <http://e/r0> "' + b"x" * 5_000_000),
    "a line of comments": with_line(b"# " + b"x" * 3_000_000),
    "quads": lambda reply: reply.replace(b" .\n", b" <http://e/g> .\n"),
    "triples about triples": with_line(b"<http://e/x> <http://e/r0> <<( <a:a> <a:b> <a:c> )>> ."),
    "the same triple": lambda reply: reply.splitlines(keepends=True)[0] * 20,
    "packed in vain": lambda reply: (200, gzip.compress(b"\n" * 10**8), {"Content-Encoding": "gzip"}),
    "an error": status(500, ESCAPES),
}


def fetch(fault, kind, tmp_path, monkeypatch):
    monkeypatch.setattr(client, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(client.SparqlClient, "pause", lambda self, attempt: None)
    server = Faulty(LINES, lambda _, query, reply: fault(reply) if is_triples(query) == (kind == "triples") else reply)
    with server.serving() as store:
        try:
            fetch_graph(store, tmp_path / "g.nt")
        except ActcError as error:
            return str(error)
    return ""


@pytest.mark.parametrize(
    ("kind", "case"), [*(("counts", case) for case in COUNTS), *(("triples", case) for case in TRIPLES)]
)
def test_a_reply_at_fault_gives_the_whole_graph_or_a_sentence(kind, case, tmp_path, monkeypatch):
    problem = fetch((COUNTS if kind == "counts" else TRIPLES)[case], kind, tmp_path, monkeypatch)
    if problem:
        assert list(tmp_path.iterdir()) == []
        assert problem.startswith("sparql:http://127.0.0.1:")
        assert len(problem) < 1000
        assert "\n" not in problem
    else:
        assert case in ("a line of comments", "a riddle, please")
        assert (tmp_path / "g.nt").read_text().splitlines() == sorted(LINES)
