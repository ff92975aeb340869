"""Graphs and scores of other tools, in small files as those tools write them."""

from __future__ import annotations

import pytest

from actc.errors import FileError, OptionError
from actc.graphs.formats import read_graph, write_graph
from actc.graphs.id_files import read_names, read_scored_ids
from actc.tables.files import read_scored

TRIPLES = {("paris", "capital of", "france"), ("lyon", "in", "france")}


@pytest.fixture
def openke(tmp_path):
    folder = tmp_path / "openke"
    folder.mkdir()
    (folder / "entity2id.txt").write_text("3\nparis\t0\nfrance\t1\nlyon\t2\n")
    (folder / "relation2id.txt").write_text("2\ncapital of\t0\nin\t1\n")
    (folder / "train2id.txt").write_text("2\n0 1 0\n2 1 1\n")  # head, tail, relation
    return folder


@pytest.fixture
def libkge(tmp_path):
    folder = tmp_path / "libkge"
    folder.mkdir()
    (folder / "entity_ids.del").write_text("0\tparis\n1\tfrance\n2\tlyon\n")
    (folder / "relation_ids.del").write_text("0\tcapital of\n1\tin\n")
    (folder / "train.del").write_text("0\t0\t1\n2\t1\t1\n")
    return folder


def triples_of(graph):
    return {graph.triple(row) for row in range(len(graph))}


def test_openke_folders_are_read_by_name(openke):
    assert triples_of(read_graph(openke)) == TRIPLES


def test_libkge_folders_are_read_by_name(libkge):
    assert triples_of(read_graph(libkge)) == TRIPLES


def test_dglke_results_with_names_are_read_as_they_are(tmp_path):
    (tmp_path / "result.tsv").write_text("head\trel\ttail\tscore\nparis\tcapital of\tfrance\t-1.25\n")
    scored = read_scored(tmp_path / "result.tsv")[0]
    assert scored.triple(0) == ("paris", "capital of", "france")
    assert scored.scores.tolist() == [-1.25]


def test_scores_of_numbers_get_their_names(tmp_path, libkge):
    (tmp_path / "result.tsv").write_text("head\trel\ttail\tscore\n0\t0\t1\t-1.25\n2\t1\t1\t0.5\n")
    names = read_names(libkge / "entity_ids.del"), read_names(libkge / "relation_ids.del")
    scored = read_scored_ids(tmp_path / "result.tsv", *names)
    assert {scored.triple(row): scored.scores[row] for row in range(2)} == {
        ("paris", "capital of", "france"): -1.25,
        ("lyon", "in", "france"): 0.5,
    }
    (tmp_path / "result.tsv").write_text("9\t0\t1\t-1.25\n")
    with pytest.raises(FileError, match="'9' is the number of no entity"):
        read_scored_ids(tmp_path / "result.tsv", *names)


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("train2id.txt", "3\n0 1 0\n2 1 1\n", "line 1: it says '3', but 2 lines follow"),
        ("train2id.txt", "2\n0 1 0\n2 1 7\n", "line 3: 7 is the number of no relation"),
        ("train2id.txt", "2\n0 1 0\n2 1\n", "line 3: 3 columns were expected, 2 were found"),
        ("train2id.txt", "2\n0 1 0\n2 x 1\n", "line 3: 'x' is not a number"),
        ("entity2id.txt", "3\nparis\t0\nfrance\t1\nlyon\t1\n", "a number has two names"),
    ],
)
def test_damaged_folders_are_named_with_their_line(file, text, sentence, openke):
    (openke / file).write_text(text)
    with pytest.raises(FileError, match=sentence):
        read_graph(openke)


def test_a_missing_file_is_named_and_nothing_is_written_as_numbers(openke, tmp_path):
    graph = read_graph(openke)
    with pytest.raises(OptionError, match="are read, not written"):
        write_graph(tmp_path / "out", graph, "openke")
    (openke / "relation2id.txt").unlink()
    with pytest.raises(FileError, match="relation2id.txt: there is no such file"):
        read_graph(openke)
