"""Scenario 7: constraints, declared and learnt, decide between candidates that cannot be true together."""

from __future__ import annotations

import numpy as np

from tests.scenarios.ways import actc, facts_of, precision, read_rows, recall, write_graph, write_rows

DECLARED = """
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix : <http://example.org/> .
:born_in a owl:FunctionalProperty .
"""


def make_people(count, places=12):
    """Return a graph, candidates with scores (three places of birth and three friends each), and the true ones."""
    random = np.random.default_rng(11)
    graph, candidates, true = [], [], set()
    for number in range(count):
        person, places_of, friends = f"p{number}", random.permutation(places)[:3], random.permutation(count)[:3]
        home = int(places_of[0])
        if number % 3 == 0:  # the graph knows where every third person was born
            graph.append((person, "born_in", f"place{places_of[1]}"))
        true |= {(person, "born_in", f"place{home}")} if number % 3 else set()
        for place in places_of:
            score = (0.75 if place == home else 0.55) + 0.12 * random.normal()
            if (person, "born_in", f"place{place}") not in graph:
                candidates.append((person, "born_in", f"place{place}", f"{score:.6f}"))
        for friend in friends:
            right = bool(random.random() < 0.6)
            candidates.append((person, "knows", f"p{friend}", f"{(0.7 if right else 0.3) + 0.1 * random.normal():.6f}"))
            true |= {(person, "knows", f"p{friend}")} if right else set()
            graph.append((person, "lives_near", f"p{friend}"))
    return graph, candidates, true


def homes(accepted):
    """Return the heads of accepted places of birth, one for each."""
    return [head for head, relation, _ in accepted if relation == "born_in"]


def test_declared_and_learnt_constraints_decide_between_rivals(tmp_path):
    facts, candidates, true = make_people(240)
    graph = write_graph(tmp_path / "graph.tsv", facts)
    scores = write_rows(tmp_path / "scores.tsv", "head relation tail score", candidates)
    drawn = np.random.default_rng(2).choice(len(candidates), 80, replace=False)
    answers = [(*candidates[place][:3], int(candidates[place][:3] in true)) for place in drawn]
    labels = write_rows(tmp_path / "labels.tsv", "head relation tail label", answers)
    (tmp_path / "owl.ttl").write_text(DECLARED)

    declared, learnt = tmp_path / "declared.tsv", tmp_path / "learnt.tsv"
    base = ("--base", "http://example.org/")
    actc("constraints", graph, "--from", tmp_path / "owl.ttl", "--no-learn", *base, "--out", declared)
    actc("constraints", graph, "--out", learnt)
    (row,) = read_rows(declared)
    assert (row["relation"], row["use"]) == ("born_in", "hard")
    found = read_rows(learnt)
    ours = [row for row in found if row["relation"] == "born_in" and row["kind"] == read_rows(declared)[0]["kind"]]
    assert len(ours) == 1
    assert (ours[0]["use"], float(ours[0]["share"])) == ("soft", 1.0)
    # A user makes it hard, by editing the table.
    ours[0]["use"] = "hard"
    write_rows(learnt, " ".join(found[0]), [tuple(row.values()) for row in ours])

    accepted = {}
    for name, words in {
        "free": [],
        "declared": ["--constraints", declared, "--graph", graph],
        "learnt": ["--constraints", learnt, "--graph", graph],
    }.items():
        thresholds, out = tmp_path / f"{name}.json", tmp_path / f"{name}.csv"
        actc("calibrate", scores, "--labels", labels, "--method", "pooled", *words, "--out", thresholds)
        actc("decide", thresholds, scores, *words, "--out", out)
        accepted[name] = facts_of(out)
    assert accepted["declared"] == accepted["learnt"]
    kept, free = accepted["declared"], accepted["free"]
    assert len(set(homes(free))) < len(homes(free))
    assert len(set(homes(kept))) == len(homes(kept))
    by_people = {tuple(answer[:3]) for answer in answers if answer[3]}
    taken = {head for head, relation, _ in facts if relation == "born_in"}
    assert not taken & set(homes(kept - by_people))
    assert {fact for fact in kept if fact[1] == "knows"} == {fact for fact in free if fact[1] == "knows"}
    assert precision(kept, true) >= precision(free, true) + 0.05
    assert recall(kept, true) >= 0.75
