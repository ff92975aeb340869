"""Rules propose: what they are, what they propose, and how many of the proposals are expected to be true."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actc.data.files import write_triples
from actc.data.numeric import sigmoid
from actc.errors import TableError
from actc.evidence.holdouts import MOST_HOLDOUTS, fit_ceilings, score_rules, split_holdouts
from actc.evidence.rules import RuleLimits, propose_by_rules
from actc.graph.graph import Graph

LIMITS = RuleLimits(support=2, confidence=0.2, sparse_confidence=0.2, doubt=1.0)


def make_families(count, random, share=1.0):
    """Return a share of the facts of families of two parents and two children, and the rest of the facts.

    Who is married to whom, and whose parent or sibling, follows from other facts; which parent a child likes does not.
    """
    facts = []
    for k in range(count):
        mother, father, *children = (f"{name}{k:03d}" for name in ("m", "f", "a", "b"))
        for pair, relation in (((mother, father), "married"), (tuple(children), "sibling")):
            facts += [(one, relation, other) for one, other in (pair, pair[::-1])]
        for parent, child in itertools.product((mother, father), children):
            facts.append((parent, "parent", child))
            if random.random() < 0.5:
                facts.append((child, "likes", parent))
    known = random.random(len(facts)) < share
    graph = Graph.from_columns(*zip(*facts, strict=True))
    return graph.take(known), graph.take(~known)


def by_brute_force(graph, limits):
    """Return every candidate with the confidence of its surest rule, from sets of pairs."""
    edges = {}
    for head, relation, tail in zip(graph.heads.tolist(), graph.relations.tolist(), graph.tails.tolist(), strict=True):
        if head != tail:
            edges.setdefault(2 * relation, set()).add((head, tail))
            edges.setdefault(2 * relation + 1, set()).add((tail, head))
    degree = np.bincount([pair[0] for pairs in edges.values() for pair in pairs], minlength=len(graph.entity_names))
    bodies = {(a,): pairs for a, pairs in edges.items()}
    for a, b in itertools.product(edges, edges):
        bodies[a, b] = {
            (x, y) for x, z in edges[a] for w, y in edges[b] if z == w and x != y and degree[z] <= limits.hub
        }
    found = {}
    for body, pairs in bodies.items():
        for slot in (slot for slot in edges if slot % 2 == 0 and body != (slot,)):
            holds = len(pairs & edges[slot])
            confidence = holds / (len(pairs) + limits.doubt)
            if holds >= limits.support and confidence >= limits.confidence:
                for x, y in pairs - edges[slot]:
                    key = (x, slot // 2, y)
                    found[key] = max(found.get(key, 0), confidence)
    return found


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([3, 200]), st.sampled_from([40, 10_000_000]))
def test_the_plan_proposes_what_sets_of_pairs_propose(seed, hub, part):
    random = np.random.default_rng(seed)
    codes = (random.integers(0, high, 60) for high in (12, 3, 12))
    graph = Graph(*codes, tuple(f"e{k:02d}" for k in range(12)), ("p", "q", "r")).unique()
    limits = RuleLimits(support=2, confidence=0.2, sparse_confidence=0.2, doubt=1.0, hub=hub, part=part)
    triples, _ = propose_by_rules(graph, limits)
    keys = zip(triples.heads.tolist(), triples.relations.tolist(), triples.tails.tolist(), strict=True)
    # HUBS has 200 and 2 but not 3: the next bound below counts.
    expected = by_brute_force(graph, RuleLimits(support=2, confidence=0.2, doubt=1.0, hub=200 if hub == 200 else 2))
    assert dict(zip(keys, np.round(triples.scores, 9), strict=True)) == {
        key: round(value, 9) for key, value in expected.items()
    }


def test_a_rule_reads_as_people_write_it():
    graph, hidden = make_families(30, np.random.default_rng(0), 0.7)
    proposed, rules = propose_by_rules(graph)
    assert proposed.contains(hidden).mean() > 0.8
    texts = [*map(rules.text, range(len(rules)))]
    assert {"parent(X,Y) <= married(X,A), parent(A,Y)", "married(X,Y) <= married(Y,X)"} <= set(texts)
    row = int(proposed.rows_of(hidden.take([0]))[0])
    rule, columns = texts.index(proposed.further["rule"][row]), rules.columns
    assert set(proposed.further["proposed_by"]) == {"rules"}
    assert proposed.further["rule_confidence"][row] == columns["k"][rule] / (columns["n"][rule] + 5)


def make_towns(people, known):
    """Return who lives where and which language they speak, by the town; only some of the speaking is known."""
    facts = [(f"p{k:03d}", "lives", f"town{k % 5}") for k in range(people)]
    facts += [(f"p{k:03d}", "speaks", f"language{k % 5 // 2}") for k in range(known)]
    return Graph.from_columns(*zip(*facts, strict=True))


@pytest.mark.parametrize("part", [20, 10_000_000])
def test_a_sparse_graph_has_rules_with_constants(part):
    graph = make_towns(60, known=40)
    limits = RuleLimits(part=part)
    proposed, rules = propose_by_rules(graph, limits, confidence=0.05)
    row = int(proposed.rows_of(Graph.from_columns(["p042"], ["speaks"], ["language1"]))[0])
    assert proposed.further["rule"][row] == "speaks(X,language1) <= lives(X,town2)"
    assert proposed.scores[row] == pytest.approx(8 / (12 + 5))
    assert len(np.unique(proposed.keys)) == len(proposed)
    backwards = [text for text in map(rules.text, range(len(rules))) if text.startswith("lives(X,town2)")]
    assert "lives(X,town2) <= speaks(X,language1)" in backwards
    assert not len(propose_by_rules(graph, limits, confidence=limits.confidence)[0])


def test_a_graph_that_says_little_is_asked_for_weaker_rules():
    graph, _ = make_families(40, np.random.default_rng(0), 0.97)
    strict, (weak, rules) = propose_by_rules(graph, confidence=0.9)[0], propose_by_rules(graph)
    assert rules.least == RuleLimits().sparse_confidence
    assert len(strict) < len(weak)


def test_no_more_candidates_are_kept_than_wanted_and_they_are_the_surest():
    graph, _ = make_families(40, np.random.default_rng(0), 0.6)
    every, few = propose_by_rules(graph)[0], propose_by_rules(graph, RuleLimits(most=20))[0]
    assert len(few) == 20
    assert few.scores.min() >= np.sort(every.scores)[-20:].min()


def test_paths_are_bounded_by_their_number():
    graph, _ = make_families(40, np.random.default_rng(0), 0.6)
    assert propose_by_rules(graph, RuleLimits(walks=10))[1].hub == 2


def test_a_graph_without_rules_proposes_nothing_and_says_so():
    graph = Graph.from_columns([f"a{k}" for k in range(40)], ["r"] * 40, [f"b{k}" for k in range(40)])
    proposed, rules = propose_by_rules(graph)
    assert len(proposed) == 0
    assert proposed.further["rule"].shape == (0,)
    with pytest.raises(TableError, match="No rule of this graph of 40 facts"):
        score_rules(graph, proposed, rules)


def test_holdouts_are_a_tenth_each_and_share_no_fact():
    graph, _ = make_families(60, np.random.default_rng(0), 0.7)
    masks = split_holdouts(graph, seed=3)
    assert len(masks) == MOST_HOLDOUTS
    assert np.sum(masks, axis=0).max() == 1
    assert all(mask.sum() == int(0.1 * len(graph)) for mask in masks)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
def test_the_ceiling_tells_how_many_unlabelled_ones_are_true(share):
    random = np.random.default_rng(0)
    truth = random.random(20_000) < share
    labelled = truth & (random.random(20_000) < 0.4)
    log_odds = random.normal(0, 1, 20_000) + 3 * truth
    curve = fit_ceilings(log_odds, labelled, np.ones(20_000), np.zeros(20_000, dtype=np.int64), 1)
    assert curve.unlabelled.sum() == pytest.approx((truth & ~labelled).sum(), rel=0.25)
    assert -np.expm1(curve.offset) == pytest.approx(0.4, abs=0.08)


def draw_relations(labelled_shares, random, each=2000):
    """Return log-odds, labels and relations: each relation has its own share of its true ones labelled."""
    relations = np.repeat(np.arange(len(labelled_shares)), each)
    truth = random.random(len(relations)) < 0.2
    labelled = truth & (random.random(len(relations)) < np.array(labelled_shares)[relations])
    return random.normal(0, 1, len(relations)) + 4 * truth, labelled, relations, truth


def test_a_relation_that_lacks_half_of_its_facts_has_a_ceiling_of_its_own():
    log_odds, labelled, relations, truth = draw_relations([0.9, 0.1] * 5, np.random.default_rng(0))
    curve = fit_ceilings(log_odds, labelled, np.ones(len(truth)), relations, 10)
    np.testing.assert_allclose(-np.expm1(curve.offset), [0.9, 0.1] * 5, atol=0.06)
    missing = np.bincount(relations, truth & ~labelled)
    np.testing.assert_allclose(curve.unlabelled, missing, rtol=0.3, atol=15)
    assert curve.offset[1::2].min() > curve.offset[::2].max() + 1


def test_relations_that_are_alike_share_a_ceiling():
    log_odds, labelled, relations, _ = draw_relations([0.4] * 10, np.random.default_rng(1), each=400)
    curve = fit_ceilings(log_odds, labelled, np.ones(len(labelled)), relations, 11)
    assert np.ptp(-np.expm1(curve.offset)) < 0.1
    assert curve.unlabelled[10] == 0  # nobody proposed anything of it
    again = fit_ceilings(log_odds, labelled, np.ones(len(labelled)), relations, 11, curve)
    np.testing.assert_allclose(again.offset, curve.offset, atol=1e-3)


@pytest.mark.long
def test_what_holdouts_say_before_anybody_is_asked_is_true():
    graph, hidden = make_families(150, np.random.default_rng(2), 0.75)
    proposed, rules = propose_by_rules(graph)
    found = score_rules(graph, proposed, rules)
    true = hidden.contains(proposed)
    accepted = found.scored.scores > 0
    assert found.recall == pytest.approx(proposed.contains(hidden).mean(), abs=0.1)
    assert found.share == pytest.approx(true.mean(), rel=0.3)
    assert sigmoid(found.scored.scores).mean() == pytest.approx(found.share, rel=0.01)
    low, _, high = found.precision
    assert low - 0.02 <= true[accepted].mean() <= high + 0.02
    assert true[accepted].mean() > 1.5 * true.mean()
    assert found.holdout == MOST_HOLDOUTS * int(0.1 * len(graph))
    assert f"hold about {found.recall:.0%} of the missing facts" in found.summary()


def test_what_is_learned_does_not_depend_on_the_facts_order():
    graph, _ = make_families(60, np.random.default_rng(1), 0.75)
    shuffled = graph.take(np.random.default_rng(5).permutation(len(graph)))
    ours, theirs = propose_by_rules(graph)[0], propose_by_rules(shuffled)[0]
    np.testing.assert_array_equal(ours.keys, theirs.keys)
    np.testing.assert_array_equal(ours.further["rule"], theirs.further["rule"])


def test_a_relation_whose_facts_follow_from_nothing_is_not_taken_for_one_that_lacks_most():
    random, facts = np.random.default_rng(0), []
    for k in range(40):
        couple, children = (f"mother {k}", f"father {k}"), (f"ann {k}", f"bob {k}", f"cleo {k}")
        facts += [(one, "married", other) for one, other in (couple, couple[::-1])]
        facts += [(one, "sibling", other) for one in children for other in children if one != other]
        for parent in couple:
            for child in children:
                facts += [(parent, "parent", child), (child, "child", parent)]
                facts += [(child, "likes", parent)] if random.random() < 0.5 else []
    world = Graph.from_columns(*zip(*facts, strict=True))
    hidden = random.random(len(world)) < 0.2
    graph, missing = world.take(~hidden), world.take(hidden)
    scored = score_rules(graph, *propose_by_rules(graph)).scored
    accepted = scored.take(scored.scores > 0)
    assert missing.contains(accepted).mean() > 0.9
    assert accepted.contains(missing).mean() > 0.7


THREADS = """
import sys
from dataclasses import replace
from threadpoolctl import threadpool_info
from actc.evidence import holdouts as room
from actc.evidence.rules import propose_by_rules
from actc.graph.formats import read_graph

fit = room.fit_ceilings
def told(*given):
    print(*(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"))
    return fit(*given)
room.fit_ceilings = told
graph = read_graph(sys.argv[1])
room.score_rules(graph, *propose_by_rules(graph))
"""


def test_every_library_of_small_products_has_one_thread_while_ceilings_are_fitted(tmp_path):
    write_triples(tmp_path / "graph.tsv", make_families(30, np.random.default_rng(0), 0.8)[0].columns())
    line = [sys.executable, "-c", THREADS, tmp_path / "graph.tsv"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    told = subprocess.run(line, capture_output=True, text=True, timeout=120, check=True, env=environment)
    assert {*told.stdout.split()} == {"1"}
