"""`actc evidence` as a person would call it."""

from __future__ import annotations

from actc.data.files import read_scored, write_scored
from tests.cli.test_cli import actc, refused
from tests.evidence.test_from_files import folder  # noqa: F401


def test_evidence_writes_a_table_and_says_what_to_expect(folder, tmp_path):  # noqa: F811
    call = ("evidence", "graph.tsv", "candidates.tsv", "--holdout", "held.tsv", "--out", tmp_path / "e.tsv")
    result = actc(*call, cwd=folder)
    assert "60 candidates" in result.stdout
    assert "learnt from 10 holdout facts" in result.stdout
    assert len(read_scored(tmp_path / "e.tsv")[0]) == 60


def test_candidates_of_another_graph_are_refused(folder, tmp_path):  # noqa: F811
    other = read_scored(folder / "candidates.tsv")[0]
    write_scored(tmp_path / "other.tsv", other.take([0]))
    (tmp_path / "graph.tsv").write_text("a\tr\tb\nb\tr\tc\n")
    call = ("evidence", tmp_path / "graph.tsv", tmp_path / "other.tsv", "--out", tmp_path / "e.tsv")
    refused(actc(*call), "it has no entity in common")
