"""Candidates that somebody gives, such as triples from text: with or without a graph, in one command."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from actc import complete_graph
from actc.cli.main import commands
from actc.complete.given import read_given, score_given
from actc.data.numeric import logit
from actc.data.triples import encode_columns
from actc.errors import FileError, OptionError
from actc.graph.graph import Graph
from actc.session import Session
from tests.conftest import judge_all, triples_of
from tests.synthetic import make_towns

NOTHING = Graph.of(encode_columns([], [], []))


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Write triples as a language model extracts them: JSON lines with confidences and sentences, and the labels."""
    folder, random = tmp_path_factory.mktemp("text"), np.random.default_rng(0)
    graph, wrong = make_towns(towns=8, people=8, wrong=60)
    confidence = np.round((0.75 - 0.3 * wrong + random.normal(0, 0.15, len(wrong))).clip(0.05, 1) / 0.05) * 0.05
    rows = [dict(zip(("subject", "predicate", "object"), graph.triple(row), strict=True)) for row in range(len(graph))]
    for row, one in enumerate(rows):
        one |= {"confidence": round(float(confidence[row]), 2), "sentence": f"Text {row}.\nMore.", "page": row}
    rows.append({**rows[0], "confidence": 0.9, "sentence": "Another text."})
    (folder / "extracted.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    labels = pd.DataFrame(graph.columns()).assign(label=(~wrong).astype(int))
    labels.to_csv(folder / "labels.tsv", sep="\t", index=False)
    return folder


def read_tsv(path):
    return pd.read_csv(path, sep="\t", keep_default_na=False)


def test_without_a_graph_triples_from_text_become_one(home, tmp_path):
    out = tmp_path / "out"
    words = ["complete", "--candidates", str(home / "extracted.jsonl"), "--oracle", str(home / "labels.tsv")]
    result = CliRunner().invoke(commands, [*words, "--budget", "20", "--out", str(out)], catch_exceptions=False)
    assert result.exit_code == 0
    accepted, rejected, labels = (
        read_tsv(path) for path in (out / "accepted.tsv", out / "rejected.tsv", home / "labels.tsv")
    )
    assert len(accepted) + len(rejected) == len(labels)
    assert {"text", "support", "confidence", "page", "probability", "by"} <= set(accepted) & set(rejected)
    assert {"text", "confidence", "page"} <= set(read_tsv(out / "undecided.tsv"))
    key = ["head", "relation", "tail"]
    assert len(read_tsv(out / "graph.tsv")) == len(accepted)
    right = accepted.merge(labels, on=key).label.mean(), 1 - rejected.merge(labels, on=key).label.mean()
    assert min(right) > labels.label.mean() - 0.1
    decided = pd.read_parquet(out / "decisions.parquet")
    assert decided.text.str.contains("\n").any()  # as they came
    assert (decided.support == 2).sum() == 1
    assert json.loads((out / "report.json").read_text())["triples_before"] == 0


def test_cards_show_the_sentences_and_answers_decide_with_reasons(home, tmp_path):
    out = tmp_path / "out"
    complete_graph(None, out, candidates=home / "extracted.jsonl", budget=5)
    session = Session(out / "session")
    texts = [session.names.text("source", row) for row in range(len(session.read_pool()))]
    assert all(texts)
    assert any("Another text." in text for text in texts)
    judge_all(session, triples_of(home / "labels.tsv"))
    session.close()
    complete_graph(None, out, candidates=home / "extracted.jsonl", budget=5)
    accepted = read_tsv(out / "accepted.tsv")
    assert (accepted.by == "person").sum() == 5
    assert accepted.reasons.str.contains("town|person|lives", case=False).any()


def test_texts_of_one_triple_are_put_together_and_counted(tmp_path):
    (tmp_path / "c.csv").write_text(
        "Subject,Relation,Object,Evidence,Probability,note,when\n"
        'a,r,b,"One, and\nmore.",.3,x,1843\na,r,c,Two.,0.5,y,\na,r,b,Three.,0.8,z,\n'
    )
    table = read_given(tmp_path / "c.csv", "", NOTHING)
    assert [table.triples.triple(row) for row in range(2)] == [("a", "r", "b"), ("a", "r", "c")]
    assert table.triples.further["support"].tolist() == [2, 1]
    assert table.triples.further["text"].tolist() == ["One, and\nmore.\nThree.", "Two."]
    assert [table.triples.further[name][0] for name in ("note", "given_when")] == ["x", "1843"]
    np.testing.assert_allclose(table.triples.scores, logit(np.array([0.8, 0.5])))


def test_a_weight_is_no_confidence_and_other_columns_come_back(tmp_path):
    table = {
        "source": ["A", "A"],
        "target": ["B", "C"],
        "description": ["d", "e"],
        "weight": [9.0, 1.0],
        "score_of": [1, 2],
    }
    pd.DataFrame(table).to_parquet(tmp_path / "relationships.parquet")
    found = read_given(tmp_path / "relationships.parquet", "", NOTHING)
    assert found.triples.further["text"].tolist() == ["d", "e"]
    assert found.triples.further["given_score"].tolist() == [9.0, 1.0]
    assert found.triples.scores[0] == -found.triples.scores[1] > 0
    assert found.triples.further["score_of"].tolist() == ["1", "2"]


@pytest.mark.parametrize("cells", ["a\tr\t\t.5", "a\tr\tb\thigh", "a\tr\tb\tnan"])
def test_a_bad_cell_is_named_with_its_line(tmp_path, cells):
    (tmp_path / "c.tsv").write_text(f"head\trelation\ttail\tconfidence\nx\tr\ty\t.5\n{cells}\n")
    with pytest.raises(FileError, match=r"c\.tsv, line 3: .*column (tail|confidence)"):
        read_given(tmp_path / "c.tsv", "", NOTHING)


def test_few_candidates_are_ranked_by_their_confidence_alone_or_by_nothing(tmp_path):
    for column, expected in (("\tconfidence", [np.log(4), 0.0]), ("", [0.0, 0.0])):
        cells = ("\t.8", "\t.5") if column else ("", "")
        (tmp_path / "c.tsv").write_text(f"head\trelation\ttail{column}\nx\tr\ty{cells[0]}\nx\tr\tz{cells[1]}\n")
        scored = score_given(NOTHING, read_given(tmp_path / "c.tsv", "", NOTHING))
        np.testing.assert_allclose(scored.triples.scores, expected)
        assert scored.reasons is None


def test_a_graph_of_one_relation_can_be_checked_too(tmp_path):
    names = [f"e{k}" for k in range(60)]
    rows = [(a, b) for k, a in enumerate(names) for b in (names[(k + 1) % 60], names[(k + 7) % 60])]
    (tmp_path / "c.tsv").write_text("source\ttarget\n" + "".join(f"{a}\t{b}\n" for a, b in rows))
    scored = score_given(NOTHING, read_given(tmp_path / "c.tsv", "", NOTHING))
    assert np.isfinite(scored.triples.scores).all()


def test_confidence_adds_to_what_a_known_graph_says(home, tmp_path):
    graph, _ = make_towns(towns=8, people=8, wrong=0)
    given = read_given(home / "extracted.jsonl", "", graph.take(np.arange(100)))
    bare = replace(given, triples=Graph.of(given.triples).with_scores(np.zeros(len(given.triples))))
    with_it, without = (score_given(graph.take(np.arange(100)), one) for one in (given, bare))
    more = with_it.triples.scores - without.triples.scores
    np.testing.assert_allclose(more - more.mean(), given.triples.scores - given.triples.scores.mean())


def test_a_refused_run_leaves_nothing(home, tmp_path):
    (tmp_path / "other.tsv").write_text("head\trelation\ttail\tlabel\nx\tr\ty\t1\n")
    for options, sentence in (
        ({}, "Give a GRAPH, or a table of triples"),
        ({"candidates": home / "extracted.jsonl", "check": True}, "give one"),
        ({"candidates": home / "extracted.jsonl", "oracle": tmp_path / "other.tsv"}, "none of the"),
        ({"candidates": home / "extracted.jsonl", "constraints": tmp_path / "none.tsv"}, "no such file"),
    ):
        with pytest.raises((OptionError, FileError), match=sentence):
            complete_graph(None, tmp_path / "out", **options)
        assert not (tmp_path / "out").exists()
