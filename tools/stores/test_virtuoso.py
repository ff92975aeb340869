"""Virtuoso gives ten thousand rows of a query at most and status 200; its graph store gives all. `make test-tools`."""

from __future__ import annotations

import shutil
import subprocess

import httpx
import pytest
from tests.graph.servers import GRAPH, answers, free_port, process
from tests.graph.test_publish import INTO, folder  # noqa: F401 - a fixture
from tests.graph.test_read_sparql import canonical, lines_of
from tests.graph.worlds import PLACE, make_lines

from actc.graph.publish import publish_facts, withdraw_facts
from actc.graph.read_sparql import fetch_graph

SERVER, CLIENT = shutil.which("virtuoso-t"), shutil.which("isql-vt")
SETTINGS = """
[Database]
DatabaseFile = virtuoso.db
ErrorLogFile = virtuoso.log
LockFile = virtuoso.lck
TransactionFile = virtuoso.trx
xa_persistent_file = virtuoso.pxa
TempStorage = TempDatabase
[TempDatabase]
DatabaseFile = virtuoso-temp.db
TransactionFile = virtuoso-temp.trx
[Parameters]
ServerPort = 127.0.0.1:{sql}
DirsAllowed = .
NumberOfBuffers = 20000
MaxDirtyBuffers = 12000
[HTTPServer]
ServerPort = 127.0.0.1:{http}
[SPARQL]
ResultSetMaxRows = 10000
"""


@pytest.fixture(scope="module")
def lines():
    return make_lines(100_000)


@pytest.fixture(scope="module")
def url(tmp_path_factory, lines):
    """Start a server that holds a hundred thousand triples."""
    assert SERVER, "Virtuoso is missing: sudo apt-get install virtuoso-opensource"
    assert CLIENT
    home = tmp_path_factory.mktemp("virtuoso")
    sql, http = free_port(), free_port()
    (home / "virtuoso.ini").write_text(SETTINGS.format(sql=sql, http=http))
    (home / "graph.nt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    url = f"http://127.0.0.1:{http}"
    with process([SERVER, "-f", "+configfile", "virtuoso.ini"], lambda: answers(f"{url}/sparql"), cwd=home):
        load = f"DB.DBA.TTLP_MT(file_to_string_output('graph.nt'), '', '{GRAPH}', 0); checkpoint;"
        subprocess.run([CLIENT, f"127.0.0.1:{sql}", "dba", "dba", f"exec={load}"], check=True, capture_output=True)
        yield url


def test_virtuoso_itself_cuts_a_reply_and_says_nothing(url):
    query = f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ GRAPH <{GRAPH}> {{ ?s ?p ?o }} }}"
    found = httpx.post(f"{url}/sparql", data={"query": query}, headers={"Accept": "application/n-triples"}, timeout=60)
    assert found.status_code == 200
    assert 10_000 <= len(found.text.splitlines()) < 10_010


def test_a_hundred_thousand_triples_come_out_of_virtuoso_as_they_went_in(url, lines, tmp_path):
    fetch_graph(f"sparql:{url}/sparql", tmp_path / "g.nt", [GRAPH])
    got = lines_of(tmp_path / "g.nt")
    assert len(got) == 100_000
    assert canonical(got) == canonical(lines)


def everything(url):
    query = "SELECT ?g (COUNT(*) AS ?n) WHERE { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY ?g"
    return httpx.post(f"{url}/sparql", data={"query": query}, headers={"Accept": "text/csv"}, timeout=60).text


def test_a_run_goes_into_virtuoso_and_out_of_it(url, lines, folder, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setenv("VIRTUOSO", "dba:dba")
    old = f"<{PLACE}old1> <{PLACE}r1> <{PLACE}e1>"
    to, options = f"sparql:{url}/sparql-auth", {"key_from": "VIRTUOSO"}
    httpx.post(
        to.removeprefix("sparql:"),
        data={"update": f"INSERT DATA {{ GRAPH <urn:g> {{ {old} }} }}"},
        auth=httpx.DigestAuth("dba", "dba"),
        timeout=60,
    ).raise_for_status()
    before = everything(url)
    for _ in range(2):
        done = publish_facts(folder, to, INTO, write=True, remove=True, graphs=["urn:g"], **options)
    assert "1 of 3 facts out of urn:g." not in done.lines  # the second time there is nothing left to remove
    assert any("statements (reification)" in line for line in done.lines)
    fetch_graph(f"sparql:{url}/sparql", tmp_path / "run.nt", [done.run])
    assert len(lines_of(tmp_path / "run.nt")) == 3
    assert 'urn:g"' not in everything(url)
    withdraw_facts(folder, to, INTO, **options)
    assert everything(url) == before
