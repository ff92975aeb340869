"""A file's name is a name, never a pattern; a folder's name is no column; what a table holds is what it says."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from actc.data.answers import Answers
from actc.data.files import read_scored, read_triples, write_triples
from actc.data.frames import SCORED
from actc.data.layout import find_parts
from actc.data.triples import ScoredTriples, Thresholds
from actc.decide.decide_candidates import decide_candidates
from actc.errors import FileError
from actc.graph.formats import read_graph
from actc.session.settings import Settings
from actc.session.start import create_session

ODD = ["q[1]", "q*", "q?", "[q", "q]", "~q", "it's", "q{1,2}"]


def table(count: int, score: float) -> dict[str, object]:
    names = [f"e{number}" for number in range(count)]
    return {"head": names, "relation": ["r"] * count, "tail": names[::-1], "score": np.full(count, score)}


@pytest.mark.parametrize("ending", [".parquet", ".tsv", ".csv", ".tsv.gz"])
@pytest.mark.parametrize("name", ODD)
def test_one_file_is_read_whatever_its_name(tmp_path: Path, monkeypatch, name: str, ending: str) -> None:
    monkeypatch.chdir(tmp_path)
    for number, other in enumerate([name, "q1", "qq", "q2"], start=1):
        write_triples(tmp_path / f"{other}{ending}", table(number, number))
    for path in (f"{name}{ending}", tmp_path / f"{name}{ending}"):
        assert read_scored(path)[0].scores.tolist() == [1.0]
        assert len(list(read_triples(path))) == 1
        assert len(find_parts([path], SCORED).paths) == 1


def test_candidates_in_a_folder_of_any_name_are_decided(tmp_path: Path) -> None:
    for number, name in enumerate(["in[1]", "in1"], start=1):
        (tmp_path / name).mkdir()
        for part in ("a*.parquet", "ab.parquet"):
            write_triples(tmp_path / name / part, table(number, number))
    cuts = Thresholds(("r",), np.array([0.5]), 0.5, np.array([True]))
    decided = decide_candidates(cuts, [tmp_path / "in[1]"], tmp_path / "out[1].tsv")
    assert decided.candidates.tolist() == [2]
    assert len((tmp_path / "out[1].tsv").read_text().splitlines()) == 3


def test_a_session_uses_its_own_pool_whatever_it_is_called(tmp_path: Path) -> None:
    for number, name in enumerate(["q1", "q[1]"], start=1):
        write_triples(tmp_path / f"{name}.tsv", table(10 * number, 1.0))
        create_session(tmp_path / name, tmp_path / f"{name}.tsv", Settings(method="pooled", budget=5)).close()
    from actc.session import Session

    assert [len(Session(tmp_path / name).read_pool()) for name in ("q1", "q[1]")] == [10, 20]


@pytest.mark.parametrize("name", ["g[1].nt", "g?.nt"])
def test_a_graph_is_read_whatever_its_name(tmp_path: Path, name: str) -> None:
    for number, other in enumerate([name, "g1.nt"], start=1):
        (tmp_path / other).write_text("".join(f"<http://e/{i}> <http://e/r> <http://e/t> .\n" for i in range(number)))
    assert len(read_graph(tmp_path / name)) == 1


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_a_folder_s_name_is_no_column(tmp_path: Path, ending: str) -> None:
    folder = tmp_path / "score=9"
    folder.mkdir()
    write_triples(folder / f"a{ending}", table(3, 0.25))
    write_triples(folder / f"b{ending}", table(2, 0.25) | {"relation": ["s", "s"]})
    assert set(read_scored(folder)[0].scores.tolist()) == {0.25}
    assert set(read_scored(folder / f"a{ending}")[0].scores.tolist()) == {0.25}


def test_a_column_that_only_a_folder_s_name_has_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "relation=P27").mkdir()
    path = tmp_path / "relation=P27" / "part-0.parquet"
    columns = table(3, 0.5)
    del columns["relation"]
    write_triples(path, columns)
    with pytest.raises(FileError, match="'relation'"):
        find_parts([tmp_path], SCORED)


def test_labels_as_wn11_writes_them_are_read(tmp_path: Path) -> None:
    pool = ScoredTriples.from_columns("ab", "rr", "xy", [0.1, 0.9])
    (tmp_path / "dev.txt").write_text("a\tr\tx\t-1\nb\tr\ty\t1\n")
    assert Answers.read(tmp_path / "dev.txt").on(pool).labels.tolist() == [False, True]


@pytest.mark.parametrize("header", ["", "head\trelation\ttail\tscore\n"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_mark_at_the_beginning_and_windows_line_ends_are_read(tmp_path: Path, header: str, ends: str) -> None:
    text = ("\ufeff" + header + "a\tr\tb\t0.5\nc\tr\td\t0.25\n").replace("\n", ends)
    (tmp_path / "s.tsv").write_bytes(text.encode())
    triples = read_scored(tmp_path / "s.tsv")[0]
    assert triples.triple(0) == ("a", "r", "b")
    assert triples.scores.tolist() == [0.5, 0.25]


def test_mixed_line_ends_are_refused_by_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "s.tsv").write_bytes(b"a\tr\tb\t0.5\r\nc\tr\td\t0.25\ne\tr\tf\t0.5\r\n")
    with pytest.raises(FileError):
        read_scored(tmp_path / "s.tsv")


def test_a_name_that_looks_like_a_home_is_a_name(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkdir("~")
    write_triples("~/s.parquet", table(2, 0.5))
    assert len(read_scored("~/s.parquet")[0]) == 2


def test_a_name_that_is_not_utf8_is_refused_in_a_sentence(tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.tsv"))
    path.write_text("a\tr\tb\t1\n")
    with pytest.raises(FileError):
        read_scored(path)
