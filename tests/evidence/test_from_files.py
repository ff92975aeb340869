"""The evidence of candidates in files, read back with other tools."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from actc import add_evidence
from actc.data.files import read_scored, write_scored, write_triples
from actc.data.triples import ScoredTriples
from actc.errors import ActcError
from actc.evidence.plan import GRAPH_COLUMNS
from actc.evidence.score import create_training_set, learn
from actc.evidence.table import place_scores
from actc.graph.formats import read_graph
from actc.graph.graph import Graph


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write marriages and birthplaces, a holdout, and candidates: half follow from a marriage, half do not."""
    folder = tmp_path_factory.mktemp("evidence")
    random = np.random.default_rng(0)
    both = [(f"p{k}", "spouse", f"p{k + 1}") for k in range(0, 80, 2)]
    back = [(t, "spouse", h) for h, _, t in both]
    born = [(f"p{k}", "born", f"town{random.integers(5)}") for k in range(80)]
    wrong = [(f"p{k}", "spouse", f"p{(k + 7) % 80}") for k in range(0, 80, 2)]
    write_triples(folder / "graph.tsv", Graph.from_columns(*zip(*both, *born, *back[:10], strict=True)).columns())
    for name, triples in {"held": back[10:20], "candidates": back[20:] + wrong}.items():
        scored = Graph.from_columns(*zip(*triples, strict=True)).with_scores(random.normal(size=len(triples)))
        write_scored(folder / f"{name}.tsv", scored)
    write_triples(folder / "facts.tsv", Graph.from_columns(*zip(*back[10:20], strict=True)).columns())
    return folder


def run(folder, out, **options):
    options = {"holdout": folder / "held.tsv", **options}
    return add_evidence(folder / "graph.tsv", folder / "candidates.tsv", out, **options)


@pytest.mark.parametrize("ending", ["tsv", "parquet"])
def test_the_table_is_read_by_other_tools(folder, tmp_path, ending):
    out = tmp_path / f"evidence.{ending}"
    run(folder, out)
    columns = [row[0] for row in duckdb.sql(f"DESCRIBE SELECT * FROM '{out}'").fetchall()]
    assert columns[:5] == ["head", "relation", "tail", "score", "model_score"]
    assert set(GRAPH_COLUMNS) <= set(columns)
    assert duckdb.sql(f"SELECT count(*) FROM '{out}'").fetchall() == [(60,)]


def test_without_holdout_facts_the_model_score_is_left_out_and_that_is_said(folder, tmp_path):
    lines = run(folder, tmp_path / "e.tsv", holdout=None)
    assert any("No holdout facts" in line for line in lines)


def test_scores_count_only_where_the_model_proposed_the_holdout(folder, tmp_path):
    assert any("not among the candidates" in line for line in run(folder, tmp_path / "apart.tsv"))
    both = [read_scored(folder / f"{name}.tsv")[0] for name in ("held", "candidates")]
    columns = (np.concatenate(pair).tolist() for pair in zip(*(one.columns().values() for one in both), strict=True))
    everything = ScoredTriples.from_columns(*columns, np.concatenate([one.scores for one in both]))
    write_scored(tmp_path / "both.tsv", everything)
    lines = add_evidence(folder / "graph.tsv", tmp_path / "both.tsv", tmp_path / "e.tsv", holdout=folder / "held.tsv")
    assert len(lines) == 1


def test_what_cannot_be_weighed_is_refused_in_a_sentence(folder, tmp_path):
    (tmp_path / "other.tsv").write_text("head\trelation\ttail\tscore\nx\tr\ty\t1\n")
    (tmp_path / "bare.tsv").write_text("head\trelation\ttail\np0\tspouse\tp3\n")
    out = tmp_path / "e.tsv"
    for graph, candidates, options, sentence in (
        ("graph.tsv", tmp_path / "other.tsv", {}, "no entity in common"),
        ("graph.tsv", tmp_path / "bare.tsv", {}, "the column 'score' is missing"),
        (
            "graph.tsv",
            folder / "candidates.tsv",
            {"holdout": folder / "facts.tsv"},
            "10 of the 10 holdout facts have no",
        ),
        ("graph.tsv", folder / "held.tsv", {"holdout": folder / "held.tsv"}, "all candidates are holdout facts"),
    ):
        with pytest.raises(ActcError, match=sentence):
            add_evidence(folder / graph, candidates, out, **options)
    assert not out.exists()


@pytest.mark.parametrize("name", ["e.parquet", "e.tsv", "e.csv.gz", "parts"])
def test_many_candidates_are_written_chunk_by_chunk_with_the_same_log_odds(folder, tmp_path, name, monkeypatch):
    run(folder, tmp_path / "whole.parquet")
    monkeypatch.setattr("actc.evidence.table.CHUNK", 11)
    monkeypatch.setattr("actc.evidence.table.BATCH", 4)
    run(folder, tmp_path / name)
    chunks = tmp_path / name / "*.parquet" if name == "parts" else tmp_path / name
    whole, parts = (
        duckdb.sql(f"SELECT * FROM '{path}' ORDER BY head, tail").fetchnumpy()
        for path in (tmp_path / "whole.parquet", chunks)
    )
    assert list(whole) == list(parts)
    np.testing.assert_array_equal(parts["score"].astype(np.float32), whole["score"].astype(np.float32))
    for column in (*GRAPH_COLUMNS, "model_score"):
        np.testing.assert_allclose(parts[column], whole[column], atol=1e-9)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "whole.parquet"])


def test_of_many_proposals_some_are_drawn_to_learn_from_and_keep_their_places(folder, monkeypatch):
    held, candidates = (read_scored(folder / f"{name}.tsv")[0] for name in ("held", "candidates"))
    both = held.followed_by(candidates).with_scores(np.append(held.scores, candidates.scores))
    both, graph = both.with_pieces(score=both.scores), read_graph(folder / "graph.tsv")
    whole = learn(graph, create_training_set(graph, both, held))[0]
    monkeypatch.setattr("actc.evidence.score.MOST_DRAWN", 50)
    training = create_training_set(graph, both, held)
    assert (len(training.proposals), training.true.sum()) == (60, 10)
    places = place_scores(both).pieces["place_among_heads"][both.rows_of(training.proposals)]
    np.testing.assert_array_equal(training.proposals.pieces["place_among_heads"], places)
    some = learn(graph, training)[0]
    assert some.with_scores
    assert some.share == pytest.approx(whole.share, abs=0.2)


def test_an_engine_that_is_none_and_a_file_that_spark_cannot_write_are_refused(folder, tmp_path):
    for name, options, sentence in (
        ("e.parquet", {"engine": "duck"}, "No engine is called 'duck'"),
        ("e.parquet", {"engine": "spark"}, "Spark writes a folder of parts"),
        ("e", {"master": "spark://host:7077"}, "give --engine spark too"),
        ("e.xlsx", {}, "must end in"),
    ):
        with pytest.raises(ActcError, match=sentence):
            run(folder, tmp_path / name, **options)
    assert not list(tmp_path.iterdir())
