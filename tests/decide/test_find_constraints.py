"""Constraints are read from RDFS, OWL and shapes, and learned from a graph; notes name the rest."""

from __future__ import annotations

import numpy as np
import pytest

from actc.data.constraints import Constraint, Constraints, lower_share
from actc.decide.find_constraints import find_constraints, learn_constraints
from actc.errors import FileError
from actc.graph.graph import Graph

OWL = """
@prefix : <http://ex.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:father a owl:FunctionalProperty ; rdfs:domain :Person ; rdfs:range :Man .
:passport a owl:InverseFunctionalProperty .
:spouse a owl:SymmetricProperty , owl:IrreflexiveProperty .
:parent a owl:AsymmetricProperty , owl:TransitiveProperty ; owl:inverseOf :child .
:Man owl:disjointWith :Woman .
[] a owl:AllDisjointClasses ; owl:members ( :Person :Place :Thing ) .
:likes owl:propertyDisjointWith :hates .
:eve :father :adam .
"""
SHAPES = """
@prefix : <http://ex.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
:Shape a sh:NodeShape ; sh:targetClass :Person ;
  sh:property [ sh:path :father ; sh:maxCount 1 ; sh:minCount 1 ; sh:class :Man ] ;
  sh:property [ sh:path [ sh:inversePath :passport ] ; sh:maxCount 1 ] ;
  sh:property [ sh:path :likes ; sh:disjoint :hates ] ;
  sh:property [ sh:path :nick ; sh:maxCount 1 ; sh:severity sh:Warning ] ;
  sh:property [ sh:path :age ; sh:pattern "[0-9]+" ; sh:maxCount 3 ] .
:Subjects sh:targetSubjectsOf :father ; sh:class :Person .
"""


def declared(tmp_path, text: str, facts: Graph | None = None) -> Constraints:
    (tmp_path / "rules.ttl").write_text(text)
    graph = facts or Graph.from_columns(["a"], ["r"], ["b"])
    return find_constraints(graph, tmp_path / "rules.ttl", learn=False)


def told(found: Constraints) -> set:
    return {(*(name.rpartition("/")[2] for name in one.key), one.use) for one in found.each}


def test_owl_and_rdfs_are_read_and_what_only_follows_is_soft(tmp_path):
    found = declared(tmp_path, OWL)
    assert told(found) == {
        ("functional", "father", "", "hard"), ("domain", "father", "Person", "soft"),
        ("range", "father", "Man", "soft"),
        ("inverse-functional", "passport", "", "hard"),
        ("irreflexive", "spouse", "", "hard"), ("asymmetric", "parent", "", "hard"),
        ("disjoint", "Man", "Woman", "hard"), ("disjoint", "Person", "Place", "hard"),
        ("disjoint", "Person", "Thing", "hard"),
        ("disjoint", "Place", "Thing", "hard"), ("not-both", "likes", "hates", "hard"),
    }  # fmt: skip
    assert "owl:TransitiveProperty (1 times)" in found.notes[0]


def test_shapes_are_read_and_what_is_not_understood_is_said(tmp_path):
    found = declared(tmp_path, SHAPES)
    assert told(found) == {
        ("functional", "father", "", "hard"), ("range", "father", "Man", "hard"),
        ("inverse-functional", "passport", "", "hard"),
        ("not-both", "likes", "hates", "hard"), ("functional", "nick", "", "soft"),
        ("domain", "father", "Person", "hard"),
    }  # fmt: skip
    assert "sh:maxCount (1 times), sh:pattern (1 times)" in found.notes[0]


def families(children: int = 200, twice: int = 1) -> Graph:
    """Children with one father each, but for some who have two; fathers with two children."""
    rows = [(f"c{i}", "father", f"m{i // 2}") for i in range(children)]
    rows += [(f"c{i}", "father", f"m{i // 2 + 1}") for i in range(0, 2 * twice, 2)]
    rows += [(f"c{i}", "sibling", f"c{i ^ 1}") for i in range(children)]
    return Graph.from_columns(*zip(*rows, strict=True))


def test_what_nearly_all_keep_is_learned_with_its_cases_and_is_soft():
    found = {one.key: one for one in learn_constraints(families()).each}
    father = found["functional", "father", ""]
    assert (father.use, father.cases, father.source) == ("soft", 200, "learned")
    assert father.share == pytest.approx(199 / 200)
    assert ("inverse-functional", "father", "") not in found
    assert 0 < father.rho < 0.05


def test_few_cases_prove_nothing():
    assert not learn_constraints(families(20, 0)).of("functional")
    assert lower_share(0, np.nan) == pytest.approx(0.05)
    assert Constraint("functional", "r").rho == 1
    assert not len(Constraints((Constraint("functional", "r"),)).used)


def test_classes_are_learned_too():
    rows = [(f"p{i}", "born", f"c{i % 150}") for i in range(300)]
    rows += [(f"p{i}", "rdf:type", "person") for i in range(300)] + [(f"c{i}", "rdf:type", "city") for i in range(150)]
    found = {one.key for one in learn_constraints(Graph.from_columns(*zip(*rows, strict=True))).each}
    assert {("domain", "born", "person"), ("range", "born", "city"), ("type", "rdf:type", "")} <= found
    assert ("disjoint", "person", "city") in found or ("disjoint", "city", "person") in found


def test_the_table_is_edited_and_read_back(tmp_path):
    path = tmp_path / "constraints.tsv"
    found = find_constraints(families(), out=path)
    path.write_text(path.read_text().replace("learned\tsoft", "learned\thard", 1))
    again = find_constraints(families(), path)
    assert [one.key for one in again.each] == [one.key for one in found.each]
    assert again.each[0].use == "hard"
    path.write_text(path.read_text().replace("hard", "harsh", 1))
    with pytest.raises(FileError, match="line 2.*'harsh'"):
        Constraints.read(path)


def test_declared_constraints_come_with_the_cases_of_the_graph(tmp_path):
    found = {one.key: one for one in declared(tmp_path, OWL, families(200, 5)).each}
    father = found["functional", "father", ""]
    assert (father.cases, father.share, father.use) == (200, pytest.approx(195 / 200), "hard")
