"""Neo4j over Bolt. A server is not part of the tests: name one to have it read, written to and cleared of that again.

ACTC_NEO4J=neo4j:bolt://localhost ACTC_NEO4J_USER=neo4j:password python -m pytest tools/stores/test_neo4j.py
"""

from __future__ import annotations

import os

import numpy as np
import pytest

from actc.errors import StoreError
from actc.stores.address import Store
from actc.stores.fetch import fetch_graph
from actc.stores.neo4j import Neo4jGraph
from actc.stores.publish import publish_facts, withdraw_facts
from actc.tables.files import write_triples

SERVER = os.environ.get("ACTC_NEO4J", "")


def test_a_server_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(StoreError, match=r"neo4j:bolt://127\.0\.0\.1:9: ") as error:
        fetch_graph("neo4j:bolt://127.0.0.1:9", tmp_path / "g.nt")
    assert "\n" not in str(error.value)


@pytest.mark.skipif(not SERVER, reason="ACTC_NEO4J names no server")
def test_facts_go_in_once_and_come_out_without_a_trace(tmp_path):
    graph = Neo4jGraph(Store.of(SERVER, user_from="ACTC_NEO4J_USER"))
    ends = [
        graph._one("CREATE (n:ActcTest {name: $name, born: date('1815-12-10')}) RETURN elementId(n)", name=name)
        for name in ("Ada", "Bob")
    ]
    try:
        fetch_graph(SERVER, tmp_path / "before.nt", user_from="ACTC_NEO4J_USER")
        before = (tmp_path / "before.nt").read_text(encoding="utf-8")
        assert f'<urn:neo4j:{ends[0]}> <http://www.w3.org/2000/01/rdf-schema#label> "Ada" .' in before
        triple = {"head": ends[0], "relation": "KNOWS", "tail": ends[1]}
        beside = {"probability": np.array([0.9]), "date": np.array(["2026-11-16"], dtype=object)}
        columns = {name: np.array([cell], dtype=object) for name, cell in triple.items()}
        write_triples(tmp_path / "accepted.tsv", columns | beside)
        options = {"base": "urn:neo4j:", "user_from": "ACTC_NEO4J_USER"}
        for _ in range(2):
            publish_facts(tmp_path, SERVER, "urn:run", write=True, **options)
        fetch_graph(SERVER, tmp_path / "after.nt", user_from="ACTC_NEO4J_USER")
        new = set((tmp_path / "after.nt").read_text(encoding="utf-8").splitlines()) - set(before.splitlines())
        assert new == {f"<urn:neo4j:{ends[0]}> <urn:neo4j:KNOWS> <urn:neo4j:{ends[1]}> ."}
        withdraw_facts(tmp_path, SERVER, "urn:run", user_from="ACTC_NEO4J_USER")
        fetch_graph(SERVER, tmp_path / "again.nt", user_from="ACTC_NEO4J_USER")
        assert (tmp_path / "again.nt").read_text(encoding="utf-8") == before
    finally:
        list(graph._rows("MATCH (n:ActcTest) DETACH DELETE n"))
        graph.close()
