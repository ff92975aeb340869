"""Other programs judge that nothing hard is violated: pyshacl validates the result, rdflib counts contradictions."""

from __future__ import annotations

import numpy as np
import pyshacl
import pytest
import rdflib

from actc.data.constraints import Constraints
from actc.data.triples import ScoredTriples
from actc.decide.case import Case
from actc.decide.find_constraints import find_constraints
from actc.graph.formats import read_graph, write_graph
from actc.graph.graph import Graph

NOTHING = Constraints()
EX, TYPE = "http://ex.org/", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
SHAPES = """
@prefix : <http://ex.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
[] a sh:NodeShape ; sh:targetSubjectsOf :father ; sh:class :Person ;
   sh:property [ sh:path :father ; sh:maxCount 1 ; sh:class :Person ] .
[] a sh:NodeShape ; sh:targetObjectsOf :owns ; sh:property [ sh:path [ sh:inversePath :owns ] ; sh:maxCount 1 ] .
[] a sh:NodeShape ; sh:targetSubjectsOf :likes ; sh:property [ sh:path :likes ; sh:disjoint :hates ] .
"""
OWL = """
@prefix : <http://ex.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:father a owl:FunctionalProperty , owl:AsymmetricProperty . :owns a owl:InverseFunctionalProperty .
:knows a owl:IrreflexiveProperty . :Person owl:disjointWith :Thing . :likes owl:propertyDisjointWith :hates .
"""
CONTRADICTIONS = {
    "two fathers": "?x :father ?a , ?b . FILTER(?a != ?b)",
    "two owners": "?a :owns ?x . ?b :owns ?x . FILTER(?a != ?b)",
    "father of one's father": "?a :father ?b . ?b :father ?a",
    "knows oneself": "?a :knows ?a",
    "person and thing": "?a a :Person , :Thing",
    "likes and hates": "?a :likes ?b ; :hates ?b",
}


def make_case(seed: int, rules: Constraints = NOTHING) -> tuple[Case, Graph]:
    """Draw a world full of contradictions, with some facts that have none."""
    random = np.random.default_rng(seed)
    names = [f"{EX}e{i}" for i in range(40)]
    facts = [(name, TYPE, f"{EX}{'Person' if i < 30 else 'Thing'}") for i, name in enumerate(names) if i % 10]
    facts += [(names[1], f"{EX}father", names[2]), (names[3], f"{EX}owns", names[4])]
    graph = Graph.from_columns(*zip(*facts, strict=True))
    relations = [f"{EX}{name}" for name in ("father", "owns", "likes", "hates", "knows")]
    drawn = {(*random.choice(names, 1), *random.choice(relations, 1), *random.choice(names, 1)) for _ in range(1500)}
    drawn |= {(name, TYPE, f"{EX}{kind}") for name in names for kind in ("Person", "Thing")}
    rows = sorted({tuple(map(str, row)) for row in drawn} - set(facts))
    pool = ScoredTriples.from_columns(*zip(*rows, strict=True), random.normal(1, 2, len(rows)))
    return Case(pool, method="pooled-evidence", constraints=rules, facts=graph), graph


def write_result(case: Case, graph: Graph, path) -> rdflib.Graph:
    accepted = case.pool.take(np.flatnonzero(case.decisions.accepted))
    write_graph(path, Graph.of(graph.union(accepted)))
    return rdflib.Graph().parse(path, format="nt")


@pytest.mark.parametrize("seed", range(3))
def test_pyshacl_finds_nothing_in_what_is_accepted_and_much_in_what_would_be(tmp_path, seed):
    (tmp_path / "shapes.ttl").write_text(SHAPES)
    alone, graph = make_case(seed)
    case, _ = make_case(seed, find_constraints(graph, tmp_path / "shapes.ttl", learn=False))
    shapes = rdflib.Graph().parse(tmp_path / "shapes.ttl")
    assert len(case.decisions.excluded) > 100
    assert case.decisions.accepted.sum() > 100
    conforms, _, text = pyshacl.validate(write_result(case, graph, tmp_path / "result.nt"), shacl_graph=shapes)
    assert conforms, text
    assert not pyshacl.validate(write_result(alone, graph, tmp_path / "alone.nt"), shacl_graph=shapes)[0]


@pytest.mark.parametrize("seed", range(3))
def test_rdflib_counts_no_contradiction_by_owl(tmp_path, seed):
    (tmp_path / "rules.ttl").write_text(OWL)
    _, graph = make_case(seed)
    case, _ = make_case(seed, find_constraints(graph, tmp_path / "rules.ttl", learn=False))
    result = write_result(case, graph, tmp_path / "result.nt")
    assert len(read_graph(tmp_path / "result.nt")) == len(graph) + case.decisions.accepted.sum()
    for name, pattern in CONTRADICTIONS.items():
        found = result.query(f"PREFIX : <{EX}> SELECT * WHERE {{ {pattern} }}")
        assert not len(found), name
