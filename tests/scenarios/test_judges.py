"""Scenario 8: a program judges candidates beside people; people's answers stay the only labels."""

from __future__ import annotations

import json
import sys

import numpy as np

from tests.scenarios.ways import actc, facts_of, precision, read_rows, recall, write_rows

PROGRAM = """
import json, sys
known = set(map(tuple, json.load(open(sys.argv[1]))))
for line in sys.stdin:
    asked = json.loads(line)
    said = "true" if (asked["head_id"], asked["relation_id"], asked["tail_id"]) in known else "false"
    print(json.dumps({"triple": asked["triple"], "said": said}), flush=True)
"""


def test_a_program_judges_beside_people(tmp_path):
    random = np.random.default_rng(4)
    triples = [(f"h{place}", f"r{place % 4}", f"t{place % 9}") for place in range(800)]
    labels = random.random(len(triples)) < 0.5
    scores = labels + random.normal(size=len(triples))  # a poor model
    said = np.where(random.random(len(triples)) < 0.93, labels, ~labels)  # a good judge
    true = {triple for triple, label in zip(triples, labels, strict=True) if label}
    rows = [(*triple, f"{score:.6f}") for triple, score in zip(triples, scores, strict=True)]
    write_rows(tmp_path / "scores.tsv", "head relation tail score", rows)
    (tmp_path / "judge.py").write_text(PROGRAM)
    known = [triple for triple, word in zip(triples, said, strict=True) if word]
    (tmp_path / "known.json").write_text(json.dumps(known))
    answers = [(*triples[place], int(labels[place])) for place in random.choice(len(triples), 60, replace=False)]
    people = write_rows(tmp_path / "people.tsv", "head relation tail label", answers)

    reached = {}
    for name in ("alone", "helped"):
        session, accepted, exported = (tmp_path / f"{name}{end}" for end in ("", ".tsv", "-labels.tsv"))
        actc("start", session, tmp_path / "scores.tsv", "--budget", 60)
        actc("import", session, people, "--annotator", "Ada")
        if name == "helped":
            program = f"{sys.executable} {tmp_path / 'judge.py'} {tmp_path / 'known.json'}"
            actc("judge", session, "--program", program, "--which", "all")
        actc("export", session, "--accepted", accepted, "--labels", exported)
        assert {(row["head"], row["label"]) for row in read_rows(exported)} == {
            (one[0], str(one[3])) for one in answers
        }
        found = facts_of(accepted)
        reached[name] = 2 / (1 / precision(found, true) + 1 / recall(found, true))
    assert {row["by"] for row in read_rows(tmp_path / "alone.tsv")} == {"method", "person"}
    assert "judges" in {row["by"] for row in read_rows(tmp_path / "helped.tsv")}
    assert reached["alone"] <= 0.8
    assert reached["helped"] >= 0.9
