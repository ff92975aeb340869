"""What was decided goes into a store, with where it comes from, and comes out of it again without a trace."""

from __future__ import annotations

import json

import httpx
import numpy as np
import pytest
import rdflib

from actc.data.files import write_triples
from actc.errors import FileError, OptionError, StoreError, TableError
from actc.graph import client, publish
from actc.graph.client import StoreAddress
from actc.graph.publish import publish_facts, withdraw_facts
from tests.graph.servers import dump, load, oxigraph
from tests.graph.worlds import PLACE, make_lines

INTO = "http://example.org/kg"
RDF = rdflib.RDF
ACTC = rdflib.Namespace("urn:actc:")


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(client.SparqlClient, "pause", lambda self, attempt: None)


@pytest.fixture(scope="module")
def url():
    with oxigraph() as url:
        load(url, make_lines(1000))
        load(url, [f"<{PLACE}old{k}> <{PLACE}r1> <{PLACE}e{k}> ." for k in range(5)], None)
        yield url


@pytest.fixture
def folder(tmp_path):
    """Make a folder as complete and check leave it: three facts accepted, three found wrong."""
    folder = tmp_path / "better"
    folder.mkdir()
    (folder / "begun.json").write_text(json.dumps({"inputs": {"--base": PLACE}, "done": {}}))
    write_triples(
        folder / "accepted.tsv",
        {
            **facts(("new1", "r1", "e1"), ("new2", "r1", "e2"), ("new3", "r3", '"say \\"hm\\""@en')),
            "probability": np.ma.masked_invalid([0.97, 0.5, np.nan]),
            "method": np.array(["pooled"] * 3, dtype=object),
            "date": np.array(["2026-11-16"] * 3, dtype=object),
            "by": np.array(["method", "person", "judges"], dtype=object),
            "reasons": np.array(['a "rule" \\ of thumb', "two", "three"], dtype=object),
        },
    )
    write_triples(
        folder / "removed.tsv",
        {
            **facts(("old1", "r1", "e1"), ("old2", "r1", "e2"), ("nowhere", "r1", "e2")),
            "probability": np.array([0.9, 0.8, 0.7]),
            "reasons": np.array(["x", "y", "z"], dtype=object),
            "by": np.array(["person"] * 3, dtype=object),
        },
    )
    return folder


def facts(*triples):
    columns = zip(("head", "relation", "tail"), zip(*triples, strict=True), strict=True)
    return {name: np.array(column, dtype=object) for name, column in columns}


def test_without_write_the_store_is_not_touched(url, folder):
    before = dump(url)
    said = publish_facts(folder, f"sparql:{url}/update", INTO, remove=True).lines
    assert dump(url) == before
    assert said[0].startswith("3 facts into sparql:")
    assert said[1] == "2 of 3 facts out of the default graph."
    assert said[-1] == "Nothing was written; --write does it."


def test_to_publish_twice_is_to_publish_once_and_to_withdraw_leaves_the_store_as_it_was(url, folder):
    before, to = dump(url), f"sparql:{url}/update"
    run = publish_facts(folder, to, INTO, write=True, remove=True).run
    once = dump(url)
    assert publish_facts(folder, to, INTO, write=True, remove=True).run == run
    assert dump(url) == once
    gone = {f"<{PLACE}old{k}> <{PLACE}r1> <{PLACE}e{k}> ." for k in (1, 2)}
    assert set(before) - set(once) == gone
    assert {line for line in once if line.endswith(f"<{run}> .")} == {
        f"<{PLACE}new1> <{PLACE}r1> <{PLACE}e1> <{run}> .",
        f"<{PLACE}new2> <{PLACE}r1> <{PLACE}e2> <{run}> .",
        f'<{PLACE}new3> <{PLACE}r3> "say \\"hm\\""@en <{run}> .',
    }
    write_triples(folder / "accepted.tsv", facts(("new9", "r1", "e1")))  # the folder is decided anew
    with pytest.raises(OptionError, match=f"--run names one of those under {INTO}: {run}"):
        withdraw_facts(folder, to, INTO)
    said = withdraw_facts(folder, to, INTO, run=run).lines
    assert said == (f"3 facts of {run} out of {to}.", "2 facts back into the default graph.", "Done.")
    assert dump(url) == before


def test_a_second_run_says_that_an_earlier_one_is_there_and_replaces_it(url, folder):
    before, to = dump(url), f"sparql:{url}/update"
    first = publish_facts(folder, to, INTO, write=True, remove=True).run
    write_triples(folder / "accepted.tsv", facts((f"{PLACE}week2", f"{PLACE}r1", f"{PLACE}e1")))
    seen = publish_facts(folder, to, INTO, remove=True)
    assert f"An earlier run stays; --replace takes it out: {first}, 3 facts." in seen.lines
    second = publish_facts(folder, to, INTO, write=True, remove=True, replace=True)
    assert f"An earlier run is taken out: {first}, 3 facts." in second.lines
    assert "2 of 3 facts out of the default graph." in second.lines
    after = dump(url)
    assert not any(first in line for line in after)
    assert [line for line in after if line.endswith(f"<{second.run}> .")] == [
        f"<{PLACE}week2> <{PLACE}r1> <{PLACE}e1> <{second.run}> ."
    ]
    withdraw_facts(folder, to, INTO)
    assert dump(url) == before


def test_facts_are_removed_from_the_graph_that_is_named(url, folder):
    load(url, [f"<{PLACE}old1> <{PLACE}r1> <{PLACE}e1> ."], "urn:g")
    before, to = dump(url), f"sparql:{url}/update"
    publish_facts(folder, to, INTO, write=True, remove=True, graphs=["urn:g"])
    assert set(before) - set(dump(url)) == {f"<{PLACE}old1> <{PLACE}r1> <{PLACE}e1> <urn:g> ."}
    withdraw_facts(folder, to, INTO)
    assert dump(url) == before


def test_where_a_fact_comes_from_is_read_back_by_sparql_and_by_rdflib(url, folder):
    to = f"sparql:{url}/update"
    published = publish_facts(folder, to, INTO, write=True)
    run = published.run
    assert "3 facts that were taken out stay in the store; --remove takes them out." in published.lines
    query = f"""PREFIX rdf: <{RDF}> PREFIX actc: <urn:actc:>
        SELECT ?by ?reasons WHERE {{
          GRAPH <{run}> {{ <{PLACE}new1> ?p ?o }}
          GRAPH <{run}/provenance> {{
            ?about rdf:subject <{PLACE}new1> ; rdf:predicate ?p ; rdf:object ?o ;
                   actc:by ?by ; actc:reasons ?reasons }} }}"""
    found = httpx.post(f"{url}/query", data={"query": query}, headers={"Accept": "application/sparql-results+json"})
    [row] = found.json()["results"]["bindings"]
    assert (row["by"]["value"], row["reasons"]["value"]) == ("method", 'a "rule" \\ of thumb')
    facts, about = (
        rdflib.Graph().parse(
            data=httpx.get(f"{url}/store?graph={graph}", headers={"Accept": "application/n-triples"}).text, format="nt"
        )
        for graph in (run, f"{run}/provenance")
    )
    assert len(facts) == 3
    node = about.value(predicate=RDF.subject, object=rdflib.URIRef(f"{PLACE}new1"))
    assert about.value(node, ACTC.probability).toPython() == 0.97
    assert str(about.value(node, ACTC.date).toPython()) == "2026-11-16"
    activity = about.value(rdflib.URIRef(run), rdflib.PROV.wasGeneratedBy)
    assert about.value(activity, RDF.type) == rdflib.PROV.Activity
    withdraw_facts(folder, to, INTO)


def test_a_run_that_is_cut_off_is_finished_by_the_same_command(url, folder, monkeypatch):
    monkeypatch.setattr(publish, "CHUNK", 2)
    before, to = dump(url), f"sparql:{url}/update"
    done = []

    def fail(self, text, update=client.SparqlClient.update):
        done.append(text)
        if len(done) == 9:
            raise StoreError("the lights went out")
        update(self, text)

    with monkeypatch.context() as patch:
        patch.setattr(client.SparqlClient, "update", fail)
        with pytest.raises(StoreError, match="lights"):
            publish_facts(folder, to, INTO, write=True, remove=True)
    publish_facts(folder, to, INTO, write=True, remove=True)
    after = dump(url)
    assert len([line for line in after if "new" in line and "/provenance" not in line]) == 3
    with monkeypatch.context() as patch:
        done[:] = ["x"] * 7
        patch.setattr(client.SparqlClient, "update", fail)
        with pytest.raises(StoreError, match="lights"):
            withdraw_facts(folder, to, INTO)
    withdraw_facts(folder, to, INTO)
    assert dump(url) == before


def test_facts_that_no_update_can_name_are_left_out_and_said(url, tmp_path):
    table, others = tmp_path / "accepted.tsv", [(f"{PLACE}a", f"{PLACE}r", f"{PLACE}b")]
    others.append((f"{url}/.well-known/genid/b1", f"{PLACE}r", f"{PLACE}x"))
    # What SPARQL lets a server make of \\u0022 before it parses is a quotation mark.
    others.append((f"{PLACE}a", f"{PLACE}r", '"\\\\u0022 } } ; DROP ALL #"'))
    columns = facts(*others)
    write_triples(table, columns | {"reasons": np.array(["\\u0022 } } ; DROP ALL #"] * 3, dtype=object)})
    before = dump(url)
    done = publish_facts(table, f"sparql:{url}/update", INTO, write=True)
    assert done.lines[0].startswith("1 facts into")
    assert "2 facts have an end that no update can name" in done.lines[1]
    assert not any("\\u" in line for line in set(dump(url)) - set(before))
    withdraw_facts(table, f"sparql:{url}/update", INTO)
    assert dump(url) == before


def test_a_silent_store_and_a_folder_without_decisions_are_refused_and_names_need_a_base(url, folder, tmp_path):
    for place, to, error in ((folder, "http://127.0.0.1:1", StoreError), (tmp_path, url, FileError)):
        with pytest.raises(error):
            publish_facts(place, f"sparql:{to}/update", INTO)
    (folder / "begun.json").unlink()
    with pytest.raises(TableError):
        publish_facts(folder, f"sparql:{url}/update", INTO)
    assert publish_facts(folder, f"sparql:{url}/update", INTO, base=PLACE).run


@pytest.mark.parametrize("into", ["kg", "http://example.org/> } DROP ALL", ""])
def test_an_into_that_is_no_iri_is_refused(url, folder, into):
    with pytest.raises(OptionError, match="--into"):
        publish_facts(folder, f"sparql:{url}/update", into, write=True)


@pytest.mark.parametrize(
    ("update", "query"),
    [
        ("http://h/update", "http://h/query"),
        ("http://h/repositories/x/statements", "http://h/repositories/x"),
        ("http://h/sparql-auth", "http://h/sparql"),
        ("http://h/ds", "http://h/ds"),
    ],
)
def test_where_queries_go_is_told_by_where_updates_go(update, query):
    with publish.SparqlTarget(StoreAddress.of(f"sparql:{update}")) as opened:
        assert opened.query_url == query


def test_a_store_that_refuses_a_large_update_gets_small_ones(url, folder, monkeypatch):
    monkeypatch.setattr(publish, "SMALL", 2)
    before, sizes = dump(url), []

    def refuse(self, text, update=client.SparqlClient.update):
        sizes.append(text.count("\n"))
        if sizes[-1] > 5:
            raise StoreError("too many lines")
        update(self, text)

    monkeypatch.setattr(client.SparqlClient, "update", refuse)
    publish_facts(folder, f"sparql:{url}/update", INTO, write=True)
    assert max(sizes) > 5 > sizes[-1]
    withdraw_facts(folder, f"sparql:{url}/update", INTO)
    assert dump(url) == before
