"""What the tools of others make of what is written here, and what is made here of theirs."""

from __future__ import annotations

import numpy as np
import pytest
import rdflib

from actc.errors import OptionError
from actc.graph.formats import convert_graph, read_graph, write_graph
from actc.graph.graph import Graph
from tests.conftest import triples_of

BASE = "http://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"
ENTITY, DIRECT = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
SCORES = [0.1234567890123456, -np.inf, np.inf]
EXTRAS = {"threshold": np.array(SCORES), "method": np.array(["a|b", 'say "x"', "pooled"], dtype=object)}


@pytest.fixture
def graph() -> Graph:
    return Graph.from_columns(["a", "b", "c"], ["r"] * 3, ["é", '"Paris"@fr', '"1.5"^^<' + XSD + "decimal>"])


def test_rdflib_reads_statements_about_triples_with_every_digit(graph, tmp_path):
    write_graph(tmp_path / "g.statements.ttl", graph, BASE, EXTRAS)
    found = rdflib.Graph().parse(tmp_path / "g.statements.ttl")
    for row, number in enumerate(SCORES):
        head = rdflib.URIRef(BASE + "abc"[row])
        about = found.value(predicate=rdflib.RDF.subject, object=head)
        assert found.value(about, rdflib.URIRef("urn:actc:threshold")).toPython() == number
        assert str(found.value(about, rdflib.URIRef("urn:actc:method"))) == EXTRAS["method"][row]
        assert (head, found.value(about, rdflib.RDF.predicate), found.value(about, rdflib.RDF.object)) in found
    again = read_graph(tmp_path / "g.statements.ttl", base=BASE)
    assert triples_of(again) == triples_of(graph)
    assert "3 annotations of triples are left out." in again.notes


@pytest.mark.parametrize("file", ["g.nt", "g.ttl"])
def test_rdflib_and_we_read_each_other(graph, file, tmp_path):
    write_graph(tmp_path / file, graph, base=BASE)
    theirs = rdflib.Graph().parse(tmp_path / file)
    assert len(theirs) == 3
    theirs.serialize(tmp_path / f"their-{file}", format={"g.nt": "nt11", "g.ttl": "turtle"}[file], encoding="utf-8")
    assert triples_of(read_graph(tmp_path / f"their-{file}", base=BASE)) == triples_of(graph)


def test_wikidata_s_own_iris_become_quickstatements(tmp_path):
    (tmp_path / "g.nt").write_text(f"<{ENTITY}Q90> <{DIRECT}P1376> <{ENTITY}Q142> .\n", encoding="utf-8")
    convert_graph(tmp_path / "g.nt", tmp_path / "g.qs", base=(ENTITY, DIRECT))
    assert (tmp_path / "g.qs").read_text() == "Q90\tP1376\tQ142\n"


def test_more_than_two_bases_are_refused(graph, tmp_path):
    with pytest.raises(OptionError):
        write_graph(tmp_path / "g.nt", graph, base=(BASE, ENTITY, DIRECT))
