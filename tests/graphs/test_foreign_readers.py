"""What the tools of others make of what is written here, and what is made here of theirs."""

from __future__ import annotations

import csv

import numpy as np
import pyoxigraph
import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st

from actc.errors import OptionError
from actc.graphs.convert_graph import convert_graph
from actc.graphs.formats import read_extras, read_graph, write_graph
from actc.graphs.graph import Graph
from actc.graphs.kgtk_values import kind_of, to_literal, to_name, to_symbol, to_value

BASE = "http://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"
ENTITY, DIRECT = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
SCORES = [0.1234567890123456, -np.inf, np.inf]
EXTRAS = {"threshold": np.array(SCORES), "method": np.array(["a|b", 'say "x"', "pooled"], dtype=object)}


@pytest.fixture
def graph() -> Graph:
    return Graph.from_columns(["a", "b", "c"], ["r"] * 3, ["é", '"Paris"@fr', '"1.5"^^<' + XSD + "decimal>"])


def triples_of(graph):
    return {graph.triple(row) for row in range(len(graph))}


def test_rdflib_reads_statements_about_triples_with_every_digit(graph, tmp_path):
    write_graph(tmp_path / "g.ttl", graph, "turtle-statements", BASE, EXTRAS)
    found = rdflib.Graph().parse(tmp_path / "g.ttl")
    for row, number in enumerate(SCORES):
        head = rdflib.URIRef(BASE + "abc"[row])
        about = found.value(predicate=rdflib.RDF.subject, object=head)
        assert found.value(about, rdflib.URIRef("urn:actc:threshold")).toPython() == number
        assert str(found.value(about, rdflib.URIRef("urn:actc:method"))) == EXTRAS["method"][row]
        assert (head, found.value(about, rdflib.RDF.predicate), found.value(about, rdflib.RDF.object)) in found
    again = read_graph(tmp_path / "g.ttl", base=BASE)
    assert triples_of(again) == triples_of(graph)
    assert "3 annotations of triples are left out." in again.notes


def test_pyoxigraph_reads_annotations_with_every_digit(graph, tmp_path):
    write_graph(tmp_path / "g.ttl", graph, base=BASE, extras=EXTRAS)
    quads = pyoxigraph.parse(path=tmp_path / "g.ttl")
    literals = [quad.object for quad in quads if quad.predicate.value == "urn:actc:threshold"]
    assert sorted(float(literal.value) for literal in literals) == sorted(SCORES)
    assert {literal.value for literal in literals} >= {"INF", "-INF"}


@pytest.mark.parametrize("file", ["g.nt", "g.ttl"])
def test_rdflib_and_we_read_each_other(graph, file, tmp_path):
    write_graph(tmp_path / file, graph, base=BASE)
    theirs = rdflib.Graph().parse(tmp_path / file)
    assert len(theirs) == 3
    theirs.serialize(tmp_path / f"their-{file}", format={"g.nt": "nt11", "g.ttl": "turtle"}[file], encoding="utf-8")
    assert triples_of(read_graph(tmp_path / f"their-{file}", base=BASE)) == triples_of(graph)


def test_java_reads_infinite_numbers_of_neo4j(graph, tmp_path):
    write_graph(tmp_path / "neo", graph, "neo4j", extras=EXTRAS)
    with (tmp_path / "neo" / "relationships.csv").open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    # What Java's Double.parseDouble takes, which neo4j-admin uses: "Infinity", and not "inf".
    assert [row["threshold:double"] for row in rows] == ["0.1234567890123456", "-Infinity", "Infinity"]


def test_wikidata_s_own_iris_become_quickstatements(tmp_path):
    (tmp_path / "g.nt").write_text(f"<{ENTITY}Q90> <{DIRECT}P1376> <{ENTITY}Q142> .\n", encoding="utf-8")
    convert_graph(tmp_path / "g.nt", tmp_path / "g.qs", base=(ENTITY, DIRECT))
    assert (tmp_path / "g.qs").read_text() == "Q90\tP1376\tQ142\n"
    convert_graph(tmp_path / "g.qs", tmp_path / "again.nt", base=(ENTITY, DIRECT))
    assert (tmp_path / "again.nt").read_text() == (tmp_path / "g.nt").read_text()


def test_more_than_two_bases_are_refused(graph, tmp_path):
    with pytest.raises(OptionError, match="3 bases were given"):
        write_graph(tmp_path / "g.nt", graph, base=(BASE, ENTITY, DIRECT))


# Each value with the literal that it is here. KGTK's own validator reads such values in `make test-tools`, in an
# environment of its own: KGTK pins rdflib 6.1.1 and more of 2021.
VALUES = {
    '"plain"': '"plain"',
    '"a \\"b\\" \\\\ \\| c\\td"': '"a \\"b\\" \\\\ | c\\td"',
    "'Paris'@fr": '"Paris"@fr',
    "'l\\'eau'@fr": '"l\'eau"@fr',
    "'x'@en-GB": '"x"@en-GB',
    "42": f'"42"^^<{XSD}integer>',
    "-1.50": f'"-1.50"^^<{XSD}decimal>',
    "1.5e-7": f'"1.5e-7"^^<{XSD}double>',
    "10Q11573": '"10Q11573"^^<urn:actc:kgtk-quantity>',
    "10[9,11]m": '"10[9,11]m"^^<urn:actc:kgtk-quantity>',
    "^2013-01-05T00:00:00Z/11": '"^2013-01-05T00:00:00Z/11"^^<urn:actc:kgtk-date>',
    "^2013-01-05T00:00:00Z": f'"2013-01-05T00:00:00Z"^^<{XSD}dateTime>',
    "^2013-01-05": f'"2013-01-05"^^<{XSD}date>',
    "@48.85/2.35": '"Point(2.35 48.85)"^^<http://www.opengis.net/ont/geosparql#wktLiteral>',
    "True": f'"true"^^<{XSD}boolean>',
}
# Literals that KGTK has no value for, and the string that it keeps them in, which its validator calls valid too.
KEPT_WHOLE = {
    f'"INF"^^<{XSD}double>': f'"\\"INF\\"^^<{XSD}double>"',
    '"Point(1 2 3)"^^<http://www.opengis.net/ont/geosparql#wktLiteral>': (
        '"\\"Point(1 2 3)\\"^^<http://www.opengis.net/ont/geosparql#wktLiteral>"'
    ),
    f'"1"^^<{XSD}boolean>': f'"\\"1\\"^^<{XSD}boolean>"',
    '"x"^^<http://a/b>': '"\\"x\\"^^<http://a/b>"',
    f'"5"^^<{XSD}decimal>': f'"\\"5\\"^^<{XSD}decimal>"',
}


@pytest.mark.parametrize(("value", "literal"), VALUES.items())
def test_a_kgtk_value_is_a_literal_and_comes_back(value, literal):
    assert to_literal(value) == literal
    assert to_value(literal) == value


@pytest.mark.parametrize(("literal", "value"), KEPT_WHOLE.items())
def test_a_literal_that_kgtk_has_no_value_for_is_kept_whole(literal, value):
    assert to_value(literal) == value
    assert to_literal(value) == literal


PIECES = ['"', "'", "\\", "|", "\t", "^^<http://a>", "@en", "é", "x", "\n", "%31"]
pieces = st.lists(st.sampled_from(PIECES), max_size=6)


@given(text=pieces.map("".join), end=st.sampled_from(["", "@en", "@en-GB", f"^^<{XSD}integer>", "^^<http://a/b>"]))
def test_every_literal_comes_back_from_its_kgtk_value(text, end):
    escaped = text.translate({9: "\\t", 10: "\\n", 34: '\\"', 92: "\\\\"})
    value = to_value(f'"{escaped}"{end}')
    assert kind_of(value) is not None
    assert "\t" not in value
    assert to_literal(value) == f'"{escaped}"{end}'


@given(name=st.lists(st.sampled_from([*PIECES, "%", "25", "3", "True", "^", "-"]), min_size=1).map("".join))
def test_every_name_comes_back_from_its_kgtk_symbol_and_none_is_taken_for_a_value(name):
    symbol = to_symbol(name, ())
    assert to_name(symbol) == name
    assert kind_of(symbol) is None


def test_values_of_kgtk_become_literals_of_rdf(tmp_path):
    lines = "\n".join(["node1\tlabel\tnode2", *(f"Q90\tP{row}\t{value}" for row, value in enumerate(VALUES, 1))])
    (tmp_path / "g.kgtk.tsv").write_text(lines + "\n", encoding="utf-8")
    converted = convert_graph(tmp_path / "g.kgtk.tsv", tmp_path / "g.nt", base=BASE)
    assert f"{len(VALUES)} triples end in a literal" in converted.notes[-1]
    found = rdflib.Graph().parse(tmp_path / "g.nt")
    assert all(isinstance(term, rdflib.Literal) for term in found.objects())
    convert_graph(tmp_path / "g.nt", tmp_path / "again.kgtk.tsv", base=BASE)
    with (tmp_path / "again.kgtk.tsv").open(newline="", encoding="utf-8") as rows:
        reader = csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE)
        assert {row["node2"] for row in reader} == set(VALUES)


def test_a_kgtk_file_that_uses_numbers_for_ids_keeps_them_as_names(tmp_path):
    graph = Graph.from_columns(["00260881", "00260881"], ["_hypernym", "_also"], ["00260622", "01332730"])
    write_graph(tmp_path / "g.kgtk.tsv", graph)
    assert "\t00260881\t_also\t01332730" in (tmp_path / "g.kgtk.tsv").read_text()
    again = read_graph(tmp_path / "g.kgtk.tsv")
    assert triples_of(again) == triples_of(graph)
    assert again.notes == ()
    both = Graph.from_columns(["5", "6"], ["r", "r"], ["7", f'"5"^^<{XSD}integer>'])
    write_graph(tmp_path / "g.kgtk.tsv", both)
    assert triples_of(read_graph(tmp_path / "g.kgtk.tsv")) == triples_of(both)


def test_kgtk_columns_beside_an_edge_come_back(graph, tmp_path):
    extras = {**EXTRAS, "date": np.array(["2026-11-15", None, "2026-11-15"], dtype=object)}
    write_graph(tmp_path / "g.kgtk.tsv", graph, extras=extras)
    assert "\t^2026-11-15" in (tmp_path / "g.kgtk.tsv").read_text()
    again = read_graph(tmp_path / "g.kgtk.tsv")
    found = read_extras(tmp_path / "g.kgtk.tsv", again)
    assert triples_of(again) == triples_of(graph)
    assert found["threshold"].tolist() == SCORES
    assert {name: found[name].tolist() for name in ("method", "date")} == {
        name: extras[name].tolist() for name in ("method", "date")
    }
