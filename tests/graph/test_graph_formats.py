"""Every format: what is written comes back, and what cannot be read is named with its line."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from actc.data.files import read_scored, write_triples
from actc.errors import FileError, OptionError, TableError
from actc.graph.formats import read_extras, read_graph, write_graph
from actc.graph.graph import Graph
from actc.graph.rdf import LITERAL, without_literals
from tests.conftest import triples_of

ENDINGS = ("tsv", "tsv.gz", "csv", "parquet", "nt", "nt.gz", "ttl", "statements.ttl", "nq", "nq.gz", "trig", "jsonld")
FILES = [f"g.{ending}" for ending in (*ENDINGS, "jsonl")]
BASE = "http://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"
PROVENANCE = {
    "score": np.array([0.25, -3.0]),
    "probability": np.array([0.9, 0.5]),
    "method": np.array(["pooled", 'a "b"'], dtype=object),
    "date": np.array(["2026-11-15", "2026-11-15"], dtype=object),
    "by": np.array(["person", "method"], dtype=object),
}
names = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8).filter(
    lambda name: name[0] != "_"
)


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("file", FILES)
@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(triples=st.lists(st.tuples(names, names, names), min_size=1, max_size=6))
def test_what_is_written_comes_back(file, triples, tmp_path):
    graph = Graph.from_columns(*zip(*triples, strict=True))
    write_graph(tmp_path / file, graph, base=BASE)
    again = read_graph(tmp_path / file, base=BASE)
    assert triples_of(again) == set(triples)
    assert list(again.entity_names) == sorted(again.entity_names)


# Names and IRIs that are made of what could be confused.
PIECES = ["%", "25", "20", "2", "0", "7F", "7f", "3C", "2F", "C3", '"', "<", ">", " ", "\t", "\n", "\x00", "\x7f", "\\"]
PIECES += ["_:", "a:", "://", "/", "é", "x", "#", "?", "[", "|", "^^", "@en", "urn:x:y", "http://o.org/", BASE, "."]
tricky_names = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
IN_AN_IRI = [
    piece for piece in [*PIECES, "%20", "%25", "%22", "%3Curn:x%3E"] if not set(piece) & set('"<> \t\n\0\x7f\\|^')
]
ends = st.lists(st.sampled_from(IN_AN_IRI), max_size=6).map("".join)
iris = st.tuples(st.sampled_from([BASE, BASE, "http://o.org/", "urn:x:", "a:"]), ends).map("".join)
objects = iris.map(lambda iri: f"<{iri}>") | st.sampled_from(["_:b", '"x"', '"x"@en', '" "'])


@pytest.mark.parametrize("base", [BASE, "urn:x:"])
@pytest.mark.parametrize("file", ["g.nt", "g.ttl"])
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(triples=st.sets(st.tuples(iris.map("<{}>".format), iris.map("<{}>".format), objects), min_size=1, max_size=4))
def test_rdf_comes_back_term_for_term(file, base, triples, tmp_path):
    text = sorted(f"{head} {relation} {tail} ." for head, relation, tail in triples)
    graph = read_graph(write(tmp_path / file, "\n".join(text)), base=base)
    write_graph(tmp_path / f"again-{file}", graph, base=base)
    assert sorted((tmp_path / f"again-{file}").read_text(encoding="utf-8").split("\n"))[1:] == text


@pytest.mark.parametrize("base", [BASE, "urn:x:"])
@pytest.mark.parametrize("file", ["g.nt", "g.ttl"])
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(triples=st.lists(st.tuples(tricky_names, tricky_names, tricky_names), min_size=1, max_size=4))
def test_names_come_back_whatever_they_are_made_of(file, base, triples, tmp_path):
    assume(not any(name.startswith((base, "_:")) for triple in triples for name in triple))
    assume(not any(re.fullmatch(LITERAL, head) for head, _, _ in triples))
    write_graph(tmp_path / file, Graph.from_columns(*zip(*triples, strict=True)), base=base)
    assert triples_of(read_graph(tmp_path / file, base=base)) == set(triples)


@pytest.mark.parametrize(
    ("end", "name"),
    [
        ("AC/DC", "AC/DC"),
        ("Paris,_Texas", "Paris,_Texas"),
        ("Lamar_County_(Texas)", "Lamar_County_(Texas)"),
        ("Zürich", "Zürich"),
        ("a%2Fb", "a%2Fb"),
        ("%FF", "%FF"),
        ("%C3%BC", "%C3%BC"),
        ("100%25", "100%25"),
        ("New%20York", "New York"),
        ("New%2520York", "New%20York"),
        ("New%252520York", "New%2520York"),
        ("%3c", "%3c"),
        ("", BASE),
        ("_:b", f"{BASE}_:b"),
        ("http://o.org/", f"{BASE}http://o.org/"),
    ],
)
@pytest.mark.parametrize("file", ["g.nt", "g.ttl"])
def test_the_name_is_what_stands_behind_the_base(end, name, file, tmp_path):
    line = f"<{BASE}x> <{BASE}r> <{BASE}{end}> ."
    graph = read_graph(write(tmp_path / file, line), base=BASE)
    assert triples_of(graph) == {("x", "r", name)}
    write_graph(tmp_path / file, graph, base=BASE)
    assert (tmp_path / file).read_text(encoding="utf-8") == line + "\n"


@pytest.mark.parametrize("file", ["g.nt", "g.ttl"])
def test_a_name_in_quotation_marks_is_a_literal_only_where_one_can_stand(file, tmp_path):
    graph = Graph.from_columns(['"Heroes"', "a"], ["by", "likes"], ["Bowie", '"Heroes"'])
    write_graph(tmp_path / file, graph, base=BASE)
    again = read_graph(tmp_path / file, base=BASE)
    heroes = f"{BASE}%22Heroes%22"
    assert triples_of(again) == {(heroes, "by", "Bowie"), ("a", "likes", heroes)}
    assert len(without_literals(again)) == 2
    write_graph(tmp_path / f"again-{file}", again, base=BASE)
    assert triples_of(read_graph(tmp_path / f"again-{file}", base=BASE)) == triples_of(again)
    both = f'<{BASE}%22x%22> <{BASE}r> "x" .\n'
    again = read_graph(write(tmp_path / file, both), base=BASE)
    assert triples_of(again) == {(f"{BASE}%22x%22", "r", '"x"')}
    assert again.notes == ("1 triples end in a literal, written as in N-Triples.",)


@pytest.mark.parametrize("file", ["g.nt", "g.ttl", "g.tsv", "g.parquet"])
def test_blank_nodes_and_literals_are_kept_and_said(file, tmp_path):
    literal = '"a \\"quoted\\" dot . "@en'
    graph = Graph.from_columns(["_:b1", "http://a/x"], ["http://a/r"] * 2, ["http://a/x", literal])
    write_graph(tmp_path / file, graph)
    again = read_graph(tmp_path / file)
    assert triples_of(again) == triples_of(graph)
    if file in ("g.nt", "g.ttl"):
        assert "1 triples have a blank node" in again.notes[0]
        assert "1 triples end in a literal" in again.notes[1]
        kept = without_literals(again)
        assert triples_of(kept) == {("_:b1", "http://a/r", "http://a/x")}
        assert kept.notes[-1] == "1 triples that end in a literal take no part; they stay as they are."


def test_lines_out_of_the_ordinary_mean_the_same(tmp_path):
    usual = '<http://a/é> <http://a/r> <http://a/y> .\n<http://a/z> <http://a/r> "é" .\n'
    odd = (
        '# note\n\n<http://a/\\u00e9>\t<http://a/r>   <http://a/y>.  # more\n<http://a/z> <http://a/r> "\\u00E9" .\r\n'
    )
    graphs = [read_graph(write(tmp_path / name, text)) for name, text in (("a.nt", usual), ("b.nt", odd))]
    assert triples_of(graphs[0]) == triples_of(graphs[1])


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("g.nt", "<http://a> <http://b> <http://c> .\n<http://a> <http://b> oops .\n", "line 2: "),
        ("g.nt", "<http://a> <http://b> <http://c> .\n\n<http://a> <http://b> <http://c>\n", "line 3: "),
        ("g.nt", "<http://a> <http://b> <not an iri> .\n", "line 1: "),
        ("g.nt", "<http://a> <http://b> <c> .\n", "line 1: '<c>' is no RDF term"),
        ("g.nt", "# nothing\n", "there is no triple in the file"),
        ("g.ttl", "@prefix a: <http://a/> .\na:x a:r a:y .\na:x b:r a:y .\n", "line 3: "),
        ("g.tsv", "head\trelation\ttail\na\tr\tb\na\t\tb\n", "line 3: there is nothing in column relation"),
        ("g.tsv", "a\tr\tb\na\tr\n", "line 2: 2 columns are there"),
        ("g.tsv", "a\tr\n", "line 1: 2 columns are there, but 3 are needed"),
        ("g.qs", "Q1\tP31\tQ5\n", "QuickStatements are written, not read"),
    ],
)
def test_bad_input_is_named_with_its_line(file, text, sentence, tmp_path):
    with pytest.raises(FileError) as caught:
        read_graph(write(tmp_path / file, text))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_provenance_travels_beside_the_triples(tmp_path):
    graph = Graph.from_columns(["Q1", "Q2"], ["P31", "P31"], ["Q5", "Q5"])
    write_graph(tmp_path / "g.tsv", graph, extras=PROVENANCE)
    header, first, _ = (tmp_path / "g.tsv").read_text().splitlines()
    assert header.split("\t") == ["head", "relation", "tail", *PROVENANCE]
    assert first.split("\t") == ["Q1", "P31", "Q5", "0.25", "0.9", "pooled", "2026-11-15", "person"]
    assert read_scored(tmp_path / "g.tsv")[0].scores.tolist() == [0.25, -3.0]


@pytest.mark.parametrize(
    ("extras", "machine"),
    [
        ({}, []),
        ({"score": [1.0, 2.0, 3.0]}, []),
        ({"method": ["pooled", None, ""]}, [0]),
        ({"method": ["pooled", float("nan"), "pooled"]}, [0, 2]),
        ({"method": ["pooled"] * 3, "by": ["person", "method", None]}, [1, 2]),
        ({"method": ["pooled"] * 3, "by": ["oracle", "judges", "person"]}, [1]),
        ({"by": ["person", "method", None]}, [1]),
        ({"by": ["oracle", "judges", None]}, [1]),
    ],
)
def test_quickstatements_refer_to_a_method_where_it_decided(extras, machine, tmp_path):
    graph = Graph.from_columns(["Q1", "Q2", "Q3"], ["P31"] * 3, ["Q5"] * 3)
    write_graph(tmp_path / "g.qs", graph, extras=extras)
    lines = (tmp_path / "g.qs").read_text().splitlines()
    assert [row for row, line in enumerate(lines) if line.endswith("\tS887\tQ2539")] == machine
    assert [line.split("\t")[:3] for line in lines] == [[f"Q{number}", "P31", "Q5"] for number in (1, 2, 3)]
    assert all(line.endswith("\tP31\tQ5") for row, line in enumerate(lines) if row not in machine)


def test_quickstatements_say_when_a_method_decided(tmp_path):
    graph = Graph.from_columns(["Q1", "Q2", "Q3"], ["P31"] * 3, ["Q5"] * 3)
    extras = {"method": ["pooled", "pooled", None], "date": np.array(["2026-11-15", None, "2026-11-15"], dtype=object)}
    write_graph(tmp_path / "g.qs", graph, extras=extras)
    assert (tmp_path / "g.qs").read_text().splitlines() == [
        "Q1\tP31\tQ5\tS887\tQ2539\tS813\t+2026-11-15T00:00:00Z/11",
        "Q2\tP31\tQ5\tS887\tQ2539",
        "Q3\tP31\tQ5",
    ]
    with pytest.raises(TableError, match="'yesterday'"):
        write_graph(tmp_path / "g.qs", graph, extras={"method": ["pooled"] * 3, "date": ["yesterday"] * 3})


@pytest.mark.parametrize(
    ("file", "names", "how", "error"),
    [
        ("g.nt", ("a", "r", "b"), {"base": "my base"}, "'my base'"),
        ("g.nt", ("a", "r", "b"), {}, "'a'"),
        ("g.nt", ("a", "r", "b"), {"base": BASE, "extras": {"score": [0.5]}}, "has no place for score"),
        ("g.qs", ("paris", "P31", "Q5"), {}, "'paris'"),
        ("g.doc", ("a", "r", "b"), {}, "no graph format has this ending"),
    ],
)
def test_a_graph_that_cannot_be_written_is_refused_and_nothing_is_there(file, names, how, error, tmp_path):
    with pytest.raises((OptionError, TableError), match=error):
        write_graph(tmp_path / file, Graph.from_columns(*([name] for name in names)), **how)
    assert not list(tmp_path.iterdir())


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    with pytest.raises(OptionError) as caught:
        write_graph(tmp_path / "g.tsv", Graph.from_columns(["a\tb"], ["r"], ["c"]))
    assert str(caught.value).startswith(f"{tmp_path / 'g.tsv'}: 'a\\tb' (column ")
    assert ".part" not in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("file", ["g.tsv", "g.csv", "g.parquet"])
def test_provenance_is_read_beside_its_triple(file, tmp_path):
    table = {
        "head": ["z", "a", "z", "b|c"],
        "relation": ["r", "r", "r", "s"],
        "tail": ["y", "b", "y", "z"],
        "score": np.array([1.5, np.nan, 9.0, -2.0]),
        "method": np.array(["pooled", None, "other", "pooled"], dtype=object),
        "colour": ["red"] * 4,
    }
    write_triples(tmp_path / file, table)
    graph = read_graph(tmp_path / file)
    extras = read_extras(tmp_path / file, graph)
    assert list(extras) == ["score", "method"]
    rows = {graph.triple(row): (extras["score"][row], extras["method"][row]) for row in range(len(graph))}
    assert rows["z", "r", "y"] == (1.5, "pooled")
    assert np.isnan(rows["a", "r", "b"][0])
    assert rows["a", "r", "b"][1] is None
    assert rows["b|c", "s", "z"] == (-2.0, "pooled")


def test_a_table_without_a_header_has_no_provenance(tmp_path):
    path = write(tmp_path / "g.tsv", "a\tr\tb\t0.5\n")
    assert read_extras(path, read_graph(path)) == {}
    path = write(tmp_path / "g.tsv", "head\trelation\ttail\tprobability\na\tr\tb\thigh\n")
    with pytest.raises(FileError, match="g.tsv.*line 2.*'high'"):
        read_extras(path, read_graph(path))


def test_turtle_leaves_out_what_is_not_known_of_a_triple(tmp_path):
    graph = Graph.from_columns(["a", "b"], ["r", "r"], ["c", "c"])
    extras = {"score": np.array([0.5, np.nan]), "method": np.array(["a\nb", None], dtype=object)}
    write_graph(tmp_path / "g.statements.ttl", graph, base=BASE, extras=extras)
    _, first, second = (tmp_path / "g.statements.ttl").read_text().splitlines()
    assert first.endswith(f' ; <urn:actc:score> "0.5"^^<{XSD}double> ; <urn:actc:method> "a\\nb" .')
    assert second == f"<{BASE}b> <{BASE}r> <{BASE}c> ."


def test_named_graphs_are_taken_together_and_said(tmp_path):
    quads = '<urn:a> <urn:r> <urn:b> <urn:g> .\n<urn:a> <urn:r> <urn:b> .\n<urn:a> <urn:r> "x"@en <urn:h> .\n'
    for file, text in {
        "g.nq": quads,
        "g.trig": "<urn:g> { <urn:a> <urn:r> <urn:b> } <urn:a> <urn:r> <urn:b> . <urn:h> { <urn:a> <urn:r> 'x'@en }",
    }.items():
        graph = read_graph(write(tmp_path / file, text))
        assert triples_of(graph) == {("urn:a", "urn:r", "urn:b"), ("urn:a", "urn:r", '"x"@en')}
        assert graph.notes[:2] == ("1 repeated triples are kept once.", "2 named graphs are taken together.")


def test_rdf_xml_is_read_and_written(tmp_path):
    graph = Graph.from_columns(["a", "b"], ["r", "s"], ["b", '"naïve <x>"@en'])
    write_graph(tmp_path / "g.rdf", graph, base=BASE)
    assert triples_of(read_graph(tmp_path / "g.rdf", base=BASE)) == triples_of(graph)
    for triple in (("a", "7", "b"), ("a", "r", '"\\u0001"')):
        with pytest.raises(TableError):
            write_graph(tmp_path / "h.rdf", Graph.from_columns(*([term] for term in triple)), base=BASE)
    assert not (tmp_path / "h.rdf").exists()


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("g.jsonld", '{"@context": "http://127.0.0.1:9/context", "name": "x"}'),
        ("g.jsonld", "[" * 50),
        ("g.rdf", "<rdf:RDF>"),
        ("g.nq", "<urn:a> <urn:b> <urn:c> <urn:d> <urn:e> .\n"),
        ("g.trig", "<urn:g> { <urn:a>"),
    ],
)
def test_what_is_no_rdf_is_one_sentence_with_its_line(tmp_path, file, text):
    with pytest.raises(FileError, match=rf"{file}, line \d+: "):
        read_graph(write(tmp_path / file, text))


def test_graphs_that_differ_have_other_fingerprints_and_the_order_does_not_matter():
    graph, other = (Graph.from_columns([*"aba"], relations, [*"bcc"]) for relations in ([*"rrs"], [*"rrr"]))
    assert graph.take([2, 0, 1]).fingerprint == graph.fingerprint
    assert len({graph.fingerprint, other.fingerprint, graph.take([0, 1]).fingerprint}) == 3
