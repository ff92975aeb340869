"""Every format: what is written comes back, and what cannot be read is named with its line."""

from __future__ import annotations

import gzip
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actc.errors import ActcError, ChoiceError, FileError, OptionError, TableError
from actc.files import read_scored, write_triples
from actc.graph import Graph
from actc.graph_formats import FORMATS, read_graph, write_graph
from actc.graph_formats.terms import without_literals

FILES = ["g.tsv", "g.tsv.gz", "g.csv", "g.parquet", "g.kgtk.tsv", "g.nt", "g.nt.gz", "g.ttl", "folder"]
BASE = "http://example.org/"
PROVENANCE = {
    "score": np.array([0.25, -3.0]),
    "probability": np.array([0.9, 0.5]),
    "method": np.array(["pooled", 'a "b"'], dtype=object),
    "date": np.array(["2026-11-15", "2026-11-15"], dtype=object),
    "decided_by": np.array(["person", "method"], dtype=object),
}
names = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8).filter(
    lambda name: name[0] != "_"
)


def triples_of(graph):
    return {graph.triple(row) for row in range(len(graph))}


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def format_of(file):
    return "neo4j" if file == "folder" else None


@pytest.mark.parametrize("file", FILES)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(triples=st.lists(st.tuples(names, names, names), min_size=1, max_size=6))
def test_what_is_written_comes_back(file, triples, tmp_path):
    graph = Graph.from_columns(*zip(*triples, strict=True))
    write_graph(tmp_path / file, graph, format_of(file), BASE)
    again = read_graph(tmp_path / file, base=BASE)
    assert triples_of(again) == set(triples)
    assert list(again.entity_names) == sorted(again.entity_names)


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
        assert kept.notes[-1] == "1 triples that end in a literal are left out."


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
        ("g.tsv", "a\tr\tb\na\tr\n", "line 2: 2 columns were found"),
        ("g.tsv", "a\tr\n", "line 1: 2 columns were found, but 3 are needed"),
        ("g.kgtk.tsv", "node1\tnode2\na\tb\n", "line 1: the column 'label' is missing"),
        ("g.kgtk.tsv", "node1\tlabel\tnode2\na\tr\tb\na\tr\n", "line 3: 2 columns were found"),
        ("g.qs", 'Q1\tP31\tQ5\nQ1\tP31\t"text"\n', "line 2: a statement between two items was expected"),
    ],
)
def test_bad_input_is_named_with_its_line(file, text, sentence, tmp_path):
    with pytest.raises(FileError) as caught:
        read_graph(write(tmp_path / file, text))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("file", ["g.tsv", "g.nt", "g.ttl", "g.kgtk.tsv", "g.qs"])
def test_text_that_is_not_utf8_is_refused(file, tmp_path):
    header = b"node1\tlabel\tnode2\n" if "kgtk" in file else b""
    (tmp_path / file).write_bytes(
        header + b'<http://a> <http://b> "\xff" .\n' if file[2] in "nt" else header + b"a\tr\t\xff\n"
    )
    with pytest.raises(FileError, match="UTF-8|utf-8"):
        read_graph(tmp_path / file)


def test_a_truncated_gzip_file_is_refused(tmp_path):
    data = gzip.compress(b"<http://a> <http://b> <http://c> .\n" * 1000)
    (tmp_path / "g.nt.gz").write_bytes(data[:-20])
    with pytest.raises(FileError):
        read_graph(tmp_path / "g.nt.gz")


def test_provenance_travels_beside_the_triples(tmp_path):
    graph = Graph.from_columns(["Q1", "Q2"], ["P31", "P31"], ["Q5", "Q5"])
    write_graph(tmp_path / "g.tsv", graph, extras=PROVENANCE)
    header, first, _ = (tmp_path / "g.tsv").read_text().splitlines()
    assert header.split("\t") == ["head", "relation", "tail", *PROVENANCE]
    assert first.split("\t") == ["Q1", "P31", "Q5", "0.25", "0.9", "pooled", "2026-11-15", "person"]
    assert read_scored(tmp_path / "g.tsv")[0].scores.tolist() == [0.25, -3.0]


def test_provenance_is_an_annotation_of_the_triple_in_turtle(tmp_path):
    oxigraph = pytest.importorskip("pyoxigraph")
    graph = Graph.from_columns(["a", "b"], ["r", "r"], ["c", "c"])
    write_graph(tmp_path / "g.ttl", graph, base=BASE, extras=PROVENANCE)
    quads = list(oxigraph.parse(path=tmp_path / "g.ttl"))
    scores = [float(quad.object.value) for quad in quads if quad.predicate.value == "urn:actc:score"]
    methods = [quad.object.value for quad in quads if quad.predicate.value == "urn:actc:method"]
    assert scores == [0.25, -3.0]
    assert methods == ["pooled", 'a "b"']
    again = read_graph(tmp_path / "g.ttl", base=BASE)
    assert triples_of(again) == triples_of(graph)
    assert again.notes == ("2 annotations of triples are left out.",)


def test_a_format_without_room_for_provenance_says_so(tmp_path):
    graph = Graph.from_columns(["a", "b"], ["r", "r"], ["c", "c"])
    with pytest.raises(OptionError, match="N-Triples has no place for score"):
        write_graph(tmp_path / "g.nt", graph, base=BASE, extras=PROVENANCE)
    assert not list(tmp_path.iterdir())


def test_quickstatements_carry_the_reference_that_machine_facts_need(tmp_path):
    graph = Graph.from_columns(["Q1", "Q2"], ["P31", "P31"], ["Q5", "Q5"])
    write_graph(tmp_path / "g.qs", graph, extras={"date": PROVENANCE["date"]})
    first = (tmp_path / "g.qs").read_text().splitlines()[0]
    assert first == "Q1\tP31\tQ5\tS887\tQ2539\tS813\t+2026-11-15T00:00:00Z/11"
    assert triples_of(read_graph(tmp_path / "g.qs")) == triples_of(graph)


def test_quickstatements_refuse_names_that_wikidata_does_not_know(tmp_path):
    with pytest.raises(TableError, match="'paris' is not the id of an item"):
        write_graph(tmp_path / "g.qs", Graph.from_columns(["paris"], ["P31"], ["Q5"]))
    assert not list(tmp_path.iterdir())


def test_neo4j_gets_nodes_and_typed_properties(tmp_path):
    graph = Graph.from_columns(["a", "b"], ["r", "r"], ["c", "c"])
    write_graph(tmp_path / "neo", graph, "neo4j", extras=PROVENANCE)
    assert (tmp_path / "neo" / "nodes.csv").read_text().splitlines()[:2] == [":ID,name,:LABEL", "a,a,Entity"]
    header = (tmp_path / "neo" / "relationships.csv").read_text().splitlines()[0]
    assert header.startswith(":START_ID,:END_ID,:TYPE,score:double,probability:double,method:string")


def test_names_that_are_no_iris_need_a_base(tmp_path):
    with pytest.raises(TableError, match="'a' is no IRI; give a base"):
        write_graph(tmp_path / "g.nt", Graph.from_columns(["a"], ["r"], ["b"]))


def test_unknown_names_and_formats_are_refused(tmp_path):
    graph = Graph.from_columns(["a"], ["r"], ["b"])
    with pytest.raises(OptionError, match="no graph format goes by that name"):
        write_graph(tmp_path / "g.rdf", graph)
    with pytest.raises(ChoiceError, match="Did you mean 'turtle'"):
        write_graph(tmp_path / "g.ttl", graph, "turtel")
    with pytest.raises(FileError, match="there is no such file"):
        read_graph(tmp_path / "g.ttl")
    with pytest.raises(ActcError, match="is a folder"):
        read_graph(tmp_path, "tsv")


def test_a_tab_in_a_name_does_not_break_a_tsv_file(tmp_path):
    with pytest.raises(OptionError, match="has a tab or a line break"):
        write_triples(tmp_path / "g.tsv", {"head": ["a\tb"], "relation": ["r"], "tail": ["c"]})


def test_without_pyoxigraph_turtle_says_what_to_install(tmp_path):
    write(tmp_path / "g.ttl", "<http://a/x> <http://a/r> <http://a/y> .\n")
    code = (
        "import sys; sys.modules['pyoxigraph'] = None\n"
        "from actc.graph_formats import read_graph\n"
        "try: read_graph('g.ttl')\n"
        "except ValueError as error: print(error)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "pip install 'actc[rdf]'" in result.stdout


def test_every_format_is_tested_here_or_in_test_id_files():
    assert set(FORMATS) == {
        "kgtk",
        "quickstatements",
        "tsv",
        "csv",
        "parquet",
        "ntriples",
        "turtle",
        "neo4j",
        "openke",
        "libkge",
    }
