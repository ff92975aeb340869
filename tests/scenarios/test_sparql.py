"""Scenario 9: a graph in a SPARQL store is completed, the accepted facts go into the store, and out of it again."""

from __future__ import annotations

import httpx
import pytest

from tests.graph.servers import GRAPH, dump, load, oxigraph
from tests.scenarios.ways import actc, facts_of, hide_facts, make_families, precision, recall

PLACE = "http://example.org/"
pytestmark = pytest.mark.xdist_group("oxigraph")


def count_facts(url, graph):
    """Ask the store how many facts a named graph has."""
    query = f"SELECT (COUNT(*) AS ?n) WHERE {{ GRAPH <{graph}> {{ ?s ?p ?o }} }}"
    answer = httpx.post(f"{url}/query", data={"query": query}, headers={"Accept": "text/csv"}).raise_for_status()
    return int(answer.text.split()[1])


def graph_lines(text, graph):
    """Return the facts of a named graph, without what they begin with."""
    end = f" <{graph}> ."
    lines = (line.removesuffix(end).split() for line in text if line.endswith(end))
    return {tuple(name.removeprefix(f"<{PLACE}").removesuffix(">") for name in line) for line in lines}


def test_a_store_is_completed_published_to_and_withdrawn_from(tmp_path):
    facts = make_families(seed=2, couples=12)
    given, hidden = hide_facts(facts, share=0.2, seed=2)
    with oxigraph() as url:
        load(url, [f"<{PLACE}{head}> <{PLACE}{relation}> <{PLACE}{tail}> ." for head, relation, tail in given])
        before, store = dump(url), f"sparql:{url}/query"
        words = ["--graph", GRAPH, "--base", PLACE]
        actc("convert", store, *words, "--out", tmp_path / "fetched.tsv")
        assert facts_of(tmp_path / "fetched.tsv") == set(given)

        better = tmp_path / "better"
        actc("complete", store, *words, "--budget", 0, "--out", better)
        accepted = facts_of(better / "accepted.tsv")
        assert precision(accepted, set(facts)) >= 0.9
        assert recall(accepted, hidden) >= 0.7

        to = ["--to", f"sparql:{url}/update", "--into", "http://example.org/runs"]
        actc("publish", better, *to)
        assert dump(url) == before
        actc("publish", better, *to, "--write")
        published = dump(url)
        new = {line.rsplit(" ", 2)[1].strip("<>") for line in set(published) - set(before) if line.endswith("> .")}
        runs = [graph for graph in new if graph_lines(published, graph) == accepted]
        assert len(runs) == 1
        assert count_facts(url, runs[0]) == len(accepted)
        assert count_facts(url, GRAPH) == len(given)
        actc("publish", better, *to, "--write")
        assert dump(url) == published

        actc("withdraw", better, *to)
        assert dump(url) == before
