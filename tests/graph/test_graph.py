from __future__ import annotations

import numpy as np
import pytest

from actc.errors import TableError
from actc.graph.formats import read_graph
from actc.graph.graph import Graph


@pytest.fixture
def graph():
    return Graph.from_columns(["a", "b", "a"], ["r", "r", "s"], ["b", "c", "c"])


def test_a_repeated_triple_is_kept_once_and_noted():
    graph = Graph.from_columns(["a", "b", "a"], ["r"] * 3, ["b", "c", "b"])
    assert [*map(graph.triple, range(len(graph))), *graph.notes] == [
        ("a", "r", "b"),
        ("b", "r", "c"),
        "1 repeated triples are kept once.",
    ]


def test_a_first_line_that_may_name_the_columns_is_noted(tmp_path):
    (tmp_path / "graph.csv").write_text("Book,Property,Value\n" + "".join(f"a{k},r,b{k}\n" for k in range(30)))
    assert ["Book, Property, Value" in note for note in read_graph(tmp_path / "graph.csv").notes] == [True]


def test_columns_of_different_length_are_refused():
    with pytest.raises(TableError):
        Graph.from_columns(["a", "b"], ["r"], ["b", "c"])


def test_codes_into_another_vocabulary_are_minus_one_for_names_it_lacks(graph):
    recoded = graph.recoded(["c", "b"], ["s"])
    assert (recoded.heads.tolist(), recoded.relations.tolist()) == ([-1, 1, -1], [-1, -1, 0])


def test_contains_compares_names_not_codes(graph):
    assert graph.contains(Graph.from_columns([*"bza"], [*"rrs"], [*"ccb"])).tolist() == [True, False, False]


def test_with_scores_keeps_the_rows(graph):
    scored = graph.with_scores(np.array([1.0, 2.0, 3.0]))
    assert [scored.triple(row) for row in range(3)] == [graph.triple(row) for row in range(3)]


def test_graphs_that_differ_have_other_fingerprints_and_the_order_does_not_matter(graph):
    turned, other = graph.take([2, 0, 1]), Graph.from_columns(["a", "b", "a"], ["r", "r", "r"], ["b", "c", "c"])
    assert turned.fingerprint == graph.fingerprint
    assert len({graph.fingerprint, other.fingerprint, graph.take([0, 1]).fingerprint}) == 3


def test_a_graph_shows_itself_in_a_line(graph):
    assert repr(graph) == "Graph(3 triples, 3 entities, 2 relations)"
