"""What comes out of a SPARQL store is what is in it, or nothing."""

from __future__ import annotations

import json
import re
from base64 import b64encode

import numpy as np
import pyoxigraph
import pytest
from click.testing import CliRunner

from actc.cli.main import commands
from actc.errors import OptionError, StoreError
from actc.graph import client
from actc.graph.formats import write_graph
from actc.graph.read_sparql import fetch_graph
from actc.session import Session
from tests.conftest import judge_all, triples_of
from tests.evidence.test_rules import make_families
from tests.graph.servers import GRAPH, Faulty, cut, dripping, dump, is_triples, load, no_fault, oxigraph
from tests.graph.worlds import LABEL, PLACE, make_lines

GENID = re.compile(r"<http://[^>]*/\.well-known/genid/([^>]*)>")


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(client.SparqlClient, "pause", lambda self, attempt: None)


def canonical(lines):
    """Return triples as a set that does not depend on the labels of blank nodes."""
    text = "\n".join(GENID.sub(r"_:\1", line) for line in lines).encode()
    found = pyoxigraph.Dataset(pyoxigraph.parse(text, format=pyoxigraph.RdfFormat.N_TRIPLES))
    found.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    return set(map(str, found))


def lines_of(path):
    """Return the lines of a file without comments."""
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line[0] != "#"]


def test_triples_come_out_of_oxigraph_as_they_went_in_in_one_reply(tmp_path, monkeypatch):
    monkeypatch.setattr("actc.graph.read_sparql._GraphReader._read_relation", lambda *_: pytest.fail("by relation"))
    lines = make_lines(20_000)
    assert len({line.split(" ")[1] for line in lines}) >= 25
    with oxigraph(tmp_path / "data") as url:
        load(url, lines)
        notes = fetch_graph(f"sparql:{url}/query", tmp_path / "g.nt", [GRAPH])
    got = lines_of(tmp_path / "g.nt")
    assert len(got) == 20_000
    assert got == sorted(got)
    assert canonical(got) == canonical(lines)
    assert len(notes) == 1
    assert "triples have a blank node, which is named http://127.0.0.1:" in notes[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "g.nt"]


def test_several_graphs_come_out_of_oxigraph_each_triple_once(tmp_path):
    lines = make_lines(3000, blank_nodes=False)
    with oxigraph() as url:
        load(url, lines[:2000], None)
        load(url, lines[1000:])
        fetch_graph(f"sparql:{url}/query", tmp_path / "default.nt")
        notes = fetch_graph(f"sparql:{url}/query", tmp_path / "both.nt", [GRAPH, "http://example.org/empty"])
    assert lines_of(tmp_path / "default.nt") == lines[:2000]
    assert lines_of(tmp_path / "both.nt") == lines[1000:]
    assert notes == ()


@pytest.fixture(scope="module")
def small():
    return make_lines(6000)


@pytest.mark.parametrize("graph_store", [True, False])
def test_a_server_that_cuts_its_replies_in_silence_is_refused_with_what_to_do(small, tmp_path, graph_store):
    server = Faulty(small, cut(700), graph_store)
    with server.serving() as store, pytest.raises(StoreError, match="700"):
        fetch_graph(store, tmp_path / "g.nt")
    assert list(tmp_path.iterdir()) == []
    assert sum(query.startswith("GET") for query in server.asked) == graph_store


GRAPH_FAULTS = {
    "a triple too few": lambda reply: reply.partition(b"\n")[2],
    "a triple twice": lambda reply: reply + reply.partition(b"\n")[0] + b"\n",
    "broken off": lambda reply: reply[:-9],
    "an error": lambda reply: (500, b"", {}),
    "elsewhere": lambda reply: (302, b"", {"Location": "http://example.org/"}),
    "nothing": lambda reply: None,
}


@pytest.mark.parametrize("fault", GRAPH_FAULTS)
def test_a_graph_that_is_not_whole_is_read_by_relation_instead(small, tmp_path, fault):
    change = GRAPH_FAULTS[fault]
    server = Faulty(small, lambda server, query, reply: change(reply) if query.startswith("GET") else reply, True)
    with server.serving() as store:
        fetch_graph(store, tmp_path / "g.nt")
    assert canonical(lines_of(tmp_path / "g.nt")) == canonical(small)
    assert sum(query.startswith("CONSTRUCT") for query in server.asked) == 26


@pytest.mark.parametrize("lie", [lambda n: n // 2, lambda n: 2 * n, lambda n: n - 1])
@pytest.mark.parametrize("lies_about", ["COUNT(*) AS ?n) WHERE { ?s ?p ?o } GROUP", "SELECT (COUNT", "COUNT"])
def test_a_server_that_lies_about_a_count_or_about_all_is_refused(small, tmp_path, lies_about, lie):
    def fault(server, query, reply):
        if lies_about not in query:
            return reply
        return re.sub(rb'"value":"(\d+)"', lambda found: b'"value":"%d"' % lie(int(found[1])), reply)

    lines = [line for line in small if "/r9>" in line]  # one relation: the counts agree
    with Faulty(lines, fault).serving() as store, pytest.raises(StoreError):
        fetch_graph(store, tmp_path / "g.nt")
    assert not (tmp_path / "g.nt").exists()


def test_a_store_that_changes_while_it_is_read_is_refused(small, tmp_path):
    def fault(server, query, reply):
        if is_triples(query) and "/r9>" in query:
            server.data.update("INSERT DATA { <urn:a> <urn:b> <urn:c> }")
        return reply

    with Faulty(small, fault).serving() as store, pytest.raises(StoreError):
        fetch_graph(store, tmp_path / "g.nt")
    assert not (tmp_path / "g.nt").exists()


def test_a_server_that_stumbles_is_asked_again(small, tmp_path):
    stumbles = iter([None, (500, b"", {}), (503, b"", {})])

    def fault(server, query, reply):
        return next(stumbles, reply) if is_triples(query) else reply

    with Faulty(small, fault).serving() as store:
        fetch_graph(store, tmp_path / "g.nt")
    assert canonical(lines_of(tmp_path / "g.nt")) == canonical(small)


def test_blank_nodes_whose_labels_change_are_left_out_and_said(small, tmp_path):
    def fault(server, query, reply):
        fresh = f"x{len(server.asked)}"
        return re.sub(rb'(?<=_:)\w+|(?<="value":")[0-9a-f]{8,}', fresh.encode(), reply)

    with Faulty(small, fault).serving() as store:
        notes = fetch_graph(store, tmp_path / "g.nt")
    named = [line for line in small if "_:" not in line]
    assert lines_of(tmp_path / "g.nt") == named
    assert f"{len(small) - len(named):,} triples with a blank node are left out" in notes[0]


def test_a_password_is_sent_when_it_is_asked_for_and_shown_nowhere(small, tmp_path, monkeypatch):
    monkeypatch.setenv("STORE_USER", "ada:sesame")

    def fault(server, query, reply):
        if "Authorization" not in server.headers[-1]:
            return 401, b"", {"WWW-Authenticate": 'Digest realm="x", nonce="n", qop="auth"'}
        return (500, b"bad password sesame", {}) if len(server.asked) > 3 else reply

    server = Faulty(small, fault)
    with server.serving() as store, pytest.raises(StoreError, match="cannot be used: 500") as error:
        fetch_graph(store, tmp_path / "g.nt", key_from="STORE_USER")
    sent = {headers.get("Authorization", "")[:21] for headers in server.headers}
    assert sent == {"", 'Digest username="ada"'}
    assert "sesame" not in str(error.value) + str(server.headers)
    assert "bad password" not in str(error.value)
    assert not any(b"sesame" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("place", ["body", "type", "count"])
def test_a_store_that_repeats_the_secret_does_not_get_it_into_an_error(small, tmp_path, monkeypatch, status, place):
    monkeypatch.setenv("STORE_USER", "ada:sesame")
    secret = b64encode(b"ada:sesame").decode()

    def fault(server, query, reply):
        sent = server.headers[-1].get("Authorization", "")
        if not sent:
            return 401, b"", {"WWW-Authenticate": "Basic"}
        if place == "type":
            return status, reply, {"Content-Type": f"text/{sent.split()[1]}"}
        table = {"head": {}, "results": {"bindings": [{"p": {"value": sent}, "n": {"value": sent}}]}}
        return status, json.dumps(table).encode() if place == "count" else f"{'x' * 180}{sent}".encode(), {}

    with Faulty(small, fault).serving() as store, pytest.raises(StoreError) as error:
        fetch_graph(store, tmp_path / "g.nt", key_from="STORE_USER")
    assert not any(part in str(error.value) for part in (secret[:8], "sesame"))


@pytest.mark.parametrize(("secret", "said"), [("ada:wrong", "the user and the password"), ("wrong", "the key")])
def test_a_wrong_password_is_told_from_one_that_was_not_given(tmp_path, monkeypatch, secret, said):
    monkeypatch.setenv("STORE_SECRET", secret)
    server = Faulty([], lambda server, query, reply: (401, b"", {"WWW-Authenticate": "Basic"}))
    with server.serving() as store, pytest.raises(StoreError, match=f"does not accept {said}"):
        fetch_graph(store, tmp_path / "g.nt", key_from="STORE_SECRET")


def test_a_key_is_sent_as_a_bearer_token(small, tmp_path, monkeypatch):
    monkeypatch.setenv("STORE_KEY", "k-1")
    server = Faulty(small, no_fault)
    with server.serving() as store:
        fetch_graph(store, tmp_path / "g.nt", key_from="STORE_KEY")
    assert {headers["Authorization"] for headers in server.headers} == {"Bearer k-1"}


@pytest.mark.parametrize(
    ("store", "options"),
    [
        ("sparql:ftp://host/query", {}),
        ("sparql:http://ada:secret@host/query", {}),
        ("sparql:http://host/query", {"key_from": "NO_SUCH_VARIABLE"}),
        ("graph.nt", {}),
        ("sparql:http://host/query", {"graphs": ["no IRI"]}),
    ],
)
def test_an_address_or_option_of_no_sense_is_refused_before_anything_is_asked(tmp_path, store, options):
    with pytest.raises((OptionError, StoreError)) as error:
        fetch_graph(store, tmp_path / "g.nt", **options)
    assert "secret" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_the_commands_that_read_and_complete_a_graph_take_a_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with oxigraph() as url:
        load(url, [line for line in make_lines(3000, blank_nodes=False) if "/r2" in line or "/r1" in line], None)
        store = f"sparql:{url}/query"
        result = CliRunner().invoke(commands, ["convert", store, "--out", "g.csv"])
        assert result.exit_code == 0, result.output + str(result.exception)
        refused = CliRunner().invoke(commands, ["candidates", store, "--out", "c.tsv"])
        assert "actc convert" in str(refused.exception)
        refused = CliRunner().invoke(commands, ["convert", store, "--out", "g.nothing"])
        assert "no graph format has this ending" in str(refused.exception)
        refused = CliRunner().invoke(commands, ["check", store, "--out", "."])
        assert "has files in it that no such run began" in str(refused.exception)
        assert dump(url)
        (tmp_path / "g.tsv.graph.nt").write_text("<urn:my> <urn:own> <urn:graph> .")
        refused = CliRunner().invoke(commands, ["convert", store, "--out", "g.tsv"])
        assert "g.tsv.graph.nt is there already" in str(refused.exception)
    refused = CliRunner().invoke(commands, ["convert", "g.csv", "--graph", "urn:g", "--out", "x.nt"])
    assert "--graph is for stores" in str(refused.exception)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.csv", "g.tsv.graph.nt"]
    taking = {name for name, command in commands.commands.items() if any(p.name == "graphs" for p in command.params)}
    assert taking >= {"convert", "complete", "check"}


BEGUN = b"HTTP/1.1 200 OK\r\nContent-Type: application/sparql-results+json\r\n"


@pytest.mark.parametrize(
    "first", [b"X-Name: ", b"Content-Length: 9999\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n5;name="]
)
def test_a_server_that_sends_a_byte_now_and_then_is_not_waited_for(tmp_path, monkeypatch, first):
    monkeypatch.setattr(client, "PATIENCE", 0.3)
    with dripping(BEGUN + first) as store, pytest.raises(StoreError):
        fetch_graph(store, tmp_path / "g.nt")


def test_people_see_the_store_s_names_and_the_same_command_goes_on_when_they_have_judged(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    graph, _ = make_families(60, np.random.default_rng(1), 0.75)
    write_graph("graph.nt", graph, base=PLACE)
    lines = (tmp_path / "graph.nt").read_text().splitlines()
    someone = graph.entity_names[0]
    label = f'<{PLACE}{someone}> {LABEL} "Somebody"@en .'
    with oxigraph() as url:
        load(url, [*lines, label])
        words = f"complete sparql:{url}/query --graph {GRAPH} --base {PLACE} --budget 5 --out better".split()
        first = CliRunner().invoke(commands, words)
        assert first.exit_code == 0, first.output + str(first.exception)
        assert "actc annotate better/session" in first.output
        session = Session(tmp_path / "better" / "session")
        assert session.names.of(someone).name == "Somebody"
        judge_all(session, triples_of(session.read_pool()))
        session.close()
        second = CliRunner().invoke(commands, [*words[:-4], "--budget", "0", "--out", "alone"])
        assert f"Next: actc complete {words[1]} --graph {GRAPH} " in second.output
        second = CliRunner().invoke(commands, words)
    assert second.exit_code == 0, second.output + str(second.exception)
    assert (tmp_path / "better" / "accepted.tsv").exists()
    made = ["alone", "alone.graph.nt", "better", "better.graph.nt", "graph.nt"]
    assert sorted(path.name for path in tmp_path.iterdir()) == made
