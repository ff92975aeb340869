"""Candidates are new, the best there are, each once, and a run that was cut off goes on."""

from __future__ import annotations

import numpy as np
import pytest

from actc.complete.search import CandidateSearch, collect_candidates, fitting_entities, score_triples
from actc.errors import TableError
from actc.graph.graph import Graph
from tests.complete.small_graph import make_graph


class TableScorer:
    """A model whose scores are a table: easy to check by hand."""

    def __init__(self, graph: Graph, seed: int = 0) -> None:
        self.entity_names, self.relation_names = graph.entity_names, graph.relation_names
        sizes = (len(self.entity_names), len(self.relation_names), len(self.entity_names))
        self.table = np.random.default_rng(seed).normal(size=sizes)

    def score(self, heads, relations, tails):
        return self.table[heads, relations, tails]

    def answers(self, known, relations, *, heads):
        return self.table[:, relations[0], known].T.copy() if heads else self.table[known, relations[0]].copy()


@pytest.fixture
def graph():
    rng = np.random.default_rng(1)
    heads, tails = (list(map("e{:02}".format, rng.integers(20, size=60))) for _ in range(2))
    return Graph.from_columns(heads, list(map("r{}".format, rng.integers(3, size=60))), tails)


def by_name(found):
    return {found.triple(row): found.scores[row] for row in range(len(found))}


def by_brute_force(scorer, graph, best):
    facts = {graph.triple(row) for row in range(len(graph))}
    names, found = scorer.entity_names, set()
    for relation, name in enumerate(scorer.relation_names):
        for known in range(len(names)):
            tails = [t for t in range(len(names)) if t != known and (names[known], name, names[t]) not in facts]
            heads = [h for h in range(len(names)) if h != known and (names[h], name, names[known]) not in facts]
            for tail in sorted(tails, key=lambda t: -scorer.table[known, relation, t])[:best]:
                found.add((names[known], name, names[tail]))
            for head in sorted(heads, key=lambda h: -scorer.table[h, relation, known])[:best]:
                found.add((names[head], name, names[known]))
    return found


def test_the_best_new_answers_are_found(graph):
    scorer = TableScorer(graph)
    assert fitting_entities(graph).all()
    candidates = collect_candidates(CandidateSearch(scorer, graph, 3))
    found = by_name(candidates)
    assert set(found) == by_brute_force(scorer, graph, 3)
    assert len(candidates) == len(found)
    head, relation, tail = next(iter(found))
    codes = scorer.entity_names.index(head), scorer.relation_names.index(relation), scorer.entity_names.index(tail)
    assert found[head, relation, tail] == pytest.approx(scorer.table[codes])


def test_batches_and_parts_change_nothing(graph, tmp_path, monkeypatch):
    search = CandidateSearch(TableScorer(graph), graph, 2)
    whole = by_name(collect_candidates(search))
    monkeypatch.setattr("actc.complete.search.PART", 3)
    monkeypatch.setattr("actc.complete.search.MEMORY", 16 * 20 * 2)
    assert by_name(collect_candidates(search, tmp_path / "parts")) == whole


@pytest.mark.long
def test_a_run_that_was_cut_off_goes_on_where_it_stopped(graph, tmp_path, monkeypatch):
    monkeypatch.setattr("actc.complete.search.PART", 3)
    search = CandidateSearch(TableScorer(graph), graph, 2)
    whole, parts = collect_candidates(search), tmp_path / "parts"
    seen = []
    answer = CandidateSearch.answer

    def give_up(self, part):
        seen.append(part.name)
        if len(seen) == 4:
            raise KeyboardInterrupt
        return answer(self, part)

    monkeypatch.setattr(CandidateSearch, "answer", give_up)
    with pytest.raises(KeyboardInterrupt):
        collect_candidates(search, parts)
    again = collect_candidates(search, parts)
    assert seen.count(seen[0]) == 1
    assert seen.count(seen[3]) == 2
    assert by_name(again) == by_name(whole)
    assert not parts.exists()


def test_parts_of_another_graph_model_or_number_of_answers_are_not_used(graph):
    scorer = TableScorer(graph)
    searches = (
        (scorer, graph, 2),
        (TableScorer(graph, 1), graph, 2),
        (scorer, graph, 3),
        (scorer, graph.take(range(9)), 2),
    )
    assert len({CandidateSearch(*search).fingerprint for search in searches}) == 4


def test_entities_fit_where_their_kind_stands():
    towns = [f"town{i}" for i in range(10)]
    people = [f"person{i}" for i in range(10)]
    graph = Graph.from_columns(
        [*towns, *people, *people[:8]],
        ["in"] * 10 + ["born in"] * 10 + ["lives in"] * 8,
        ["land"] * 10 + towns + towns[:8],
    )
    fits = fitting_entities(graph)
    allowed = {
        relation: {graph.entity_names[code] for code in np.flatnonzero(fits[:, column])}
        for column, relation in enumerate([*graph.relation_names, *(f"{name} of" for name in graph.relation_names)])
    }
    assert allowed["lives in"] == set(people)
    assert allowed["lives in of"] == set(towns)
    assert allowed["in of"] == {"land"}


def test_what_is_not_ours_among_the_parts_stays(tmp_path, graph):
    parts = tmp_path / "new.tsv.parts"
    parts.mkdir()
    (parts / "thesis.doc").write_text("precious")
    collect_candidates(CandidateSearch(TableScorer(graph), graph, 2), parts)
    assert [path.name for path in parts.iterdir()] == ["thesis.doc"]
    assert (parts / "thesis.doc").read_text() == "precious"


def test_names_that_the_model_does_not_know_are_refused():
    scorer = TableScorer(make_graph())
    stranger = Graph.from_columns(["town0.0", "atlantis"], ["in"] * 2, ["country0"] * 2)
    with pytest.raises(TableError, match="does not know 1 of the 3 entities \\('atlantis'\\)"):
        score_triples(scorer, stranger)
    with pytest.raises(TableError, match="knows none of the 2 entities; it was trained on another graph"):
        score_triples(scorer, Graph.from_columns(["x"], ["in"], ["y"]))
    with pytest.raises(TableError, match="knows none of the 1 relations"):
        score_triples(scorer, Graph.from_columns(["town0.0"], ["near"], ["country0"]))
