"""Thresholds applied to files of candidates: the same result as in memory, whatever the files look like."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actc.data.answers import Annotations, Answers
from actc.data.calibration import Calibration, Counts, Curves
from actc.data.database import parse_memory
from actc.data.files import read_scored, write_triples
from actc.data.triples import ScoredTriples, Thresholds
from actc.decide.decide_candidates import decide_candidates
from actc.errors import ActcError, ChoiceError, FileError, OptionError
from tests.synthetic import answers_by

THRESHOLDS = Thresholds(("knows", "likes"), np.array([0.5, -1.0]), 2.0, np.array([True, True]))


def write_candidates(path: Path, rows: list[tuple[object, object, object, object]]) -> Path:
    columns = dict(zip(("head", "relation", "tail", "score"), zip(*rows, strict=True), strict=True))
    write_triples(path, {name: np.array(values, dtype=object) for name, values in columns.items()})
    return path


def write_sql(path: Path, query: str) -> Path:
    duckdb.sql(f"COPY ({query}) TO '{path}'")
    return path


def rows_of(path: Path) -> list[tuple[object, ...]]:
    source = f"'{path}/*.parquet'" if path.is_dir() else f"'{path}'"
    return sorted(duckdb.sql(f"SELECT * FROM {source}").fetchall())


ROWS = [
    ("a", "knows", "b", 0.5),
    ("a", "knows", "c", 0.49),
    ("b", "likes", "c", -1.0),
    ("b", "likes", "a", -1.5),
    ("c", "sees", "a", 2.0),
    ("c", "sees", "b", 1.9),
]
ACCEPTED = [
    ("a", "knows", "b", 0.5, 0.5, "method"),
    ("b", "likes", "c", -1.0, -1.0, "method"),
    ("c", "sees", "a", 2.0, 2.0, "method"),
]


@pytest.mark.parametrize("suffix", ["tsv", "csv", "tsv.gz", "csv.gz", "parquet"])
@pytest.mark.parametrize("out", ["out.tsv", "out.csv", "out.csv.gz", "out.parquet", "out"])
def test_a_score_at_the_cut_is_accepted_in_every_format(tmp_path: Path, suffix: str, out: str) -> None:
    candidates = write_candidates(tmp_path / f"in.{suffix}", ROWS)
    decided = decide_candidates(THRESHOLDS, candidates, tmp_path / out)
    assert rows_of(tmp_path / out) == ACCEPTED
    assert (decided.relation_names, decided.cuts.tolist()) == (("knows", "likes", "sees"), [0.5, -1.0, 2.0])


def test_many_files_and_folders_are_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    (folder / "deeper").mkdir(parents=True)
    write_candidates(folder / "b.parquet", ROWS[2:4])
    write_candidates(folder / "deeper" / "c.parquet", ROWS[4:])
    (folder / "_SUCCESS").touch()
    (folder / ".b.parquet.crc").touch()
    first = write_candidates(tmp_path / "a.parquet", ROWS[:2])
    decided = decide_candidates(THRESHOLDS, [first, folder], tmp_path / "out.parquet")
    assert rows_of(tmp_path / "out.parquet") == ACCEPTED
    assert decided.candidates.sum() == len(ROWS)


names = st.sampled_from(["a", "b", "ü", 'q"uote', "a,b", "007", " "])
rows = st.lists(
    st.tuples(names, st.sampled_from(["knows", "likes", "sees", "01"]), names, st.sampled_from([-1.0, 0.5, 0.1, 3e8])),
    min_size=1,
    max_size=30,
    unique_by=lambda row: row[:3],
)


@given(rows=rows, suffix=st.sampled_from(["tsv", "csv", "parquet"]), best=st.booleans())
@settings(max_examples=15, deadline=None)
def test_decisions_are_those_made_in_memory(
    tmp_path_factory: pytest.TempPathFactory, rows: list, suffix: str, best: bool
) -> None:
    folder = tmp_path_factory.mktemp("decide")
    candidates = write_candidates(folder / f"in.{suffix}", rows)
    decided = decide_candidates(THRESHOLDS, candidates, folder / f"out.{suffix}", keep_all=True, best_only=best)
    written = read_scored(folder / f"out.{suffix}")[0]
    accepted = duckdb.sql(f"SELECT accepted FROM '{folder}/out.{suffix}'").fetchnumpy()["accepted"]
    expected = THRESHOLDS.decide(written) & (is_best(written) if best else True)
    assert sorted(written.triple(i) for i in range(len(written))) == sorted(row[:3] for row in rows)
    assert accepted.tolist() == expected.tolist()
    assert decided.accepted.tolist() == np.bincount(written.relations[expected], minlength=len(decided)).tolist()


def is_best(triples: ScoredTriples) -> np.ndarray:
    first: dict[tuple[int, int], int] = {}
    order = sorted(range(len(triples)), key=lambda i: (-triples.scores[i], triples.triple(i)[2].encode()))
    for i in order:
        first.setdefault((int(triples.heads[i]), int(triples.relations[i])), i)
    return np.isin(np.arange(len(triples)), list(first.values()))


def test_infinite_cuts_accept_nothing_and_everything(tmp_path: Path) -> None:
    thresholds = Thresholds(("knows",), np.array([np.inf]), -np.inf, np.array([True]))
    decided = decide_candidates(thresholds, write_candidates(tmp_path / "in.tsv", ROWS), tmp_path / "out.tsv")
    assert decided.accepted.tolist() == [0, 2, 2]


def test_integer_names_and_narrow_scores_work(tmp_path: Path) -> None:
    query = "SELECT 7::INT AS subject, 1::SMALLINT AS predicate, 8::BIGINT AS object, 0.5::FLOAT AS score"
    thresholds = Thresholds(("1",), np.array([0.5]), 9.0, np.array([True]))
    decide_candidates(thresholds, write_sql(tmp_path / "in.parquet", query), tmp_path / "out.parquet")
    assert rows_of(tmp_path / "out.parquet") == [(7, "1", 8, 0.5, 0.5, "method")]


CURVES = Curves(("knows", "likes"), -2.0, 2.0, np.array([[0, 0.25, 1], [0.5, 0.5, 0.5], [0, 0.5, 0.75]]))


@pytest.mark.parametrize("out", ["out.csv", "out.parquet", "out"])
@pytest.mark.parametrize("best", [False, True])
def test_probabilities_are_looked_up(tmp_path: Path, out: str, best: bool) -> None:
    candidates = write_candidates(tmp_path / "in.parquet", [*ROWS, ("a", "knows", "d", 9.0)])
    decided = decide_candidates(THRESHOLDS, candidates, tmp_path / out, keep_all=True, best_only=best, curves=CURVES)
    rows = rows_of(tmp_path / out)
    codes = np.array([{"knows": 0, "likes": 1}.get(row[1], 2) for row in rows])
    expected = CURVES.look_up(np.array([row[3] for row in rows]), codes)
    assert [row[5] for row in rows] == expected.tolist()
    assert decided.accepted.tolist() == [1 if best else 2, 1, 1]


WORDS = answers_by(
    ["a", "a", "c", "x"],
    ["knows", "knows", "sees", "knows"],
    ["b", "c", "b", "y"],
    [False, True, True, True],
    ["person", "person", "judges", "oracle"],
    [0.0, 1.0, 0.625, 1.0],
)
"""A no to what would be accepted, a yes to what would not, a decision that judges turned, one that is no candidate."""


def with_words(curves: Curves | None = None, words: Answers = WORDS) -> Calibration:
    pool = ScoredTriples.from_columns(["a", "a"], ["knows", "likes"], ["b", "c"], [0.0, 1.0])
    counts = Counts.of(pool, Annotations(), np.zeros(2, dtype=bool))
    return Calibration(THRESHOLDS, "pooled", {}, counts, curves=curves, exceptions=words)


@pytest.mark.parametrize("out", ["out.tsv", "out.parquet", "out"])
@pytest.mark.parametrize("keep_all", [False, True])
def test_somebodys_word_stands_whatever_the_score(tmp_path: Path, out: str, keep_all: bool) -> None:
    with_words(CURVES).write(tmp_path / "thresholds.json")
    candidates = write_candidates(tmp_path / "in.parquet", ROWS)
    decided = decide_candidates(tmp_path / "thresholds.json", candidates, tmp_path / out, keep_all=keep_all)
    rows = [row for row in rows_of(tmp_path / out) if not keep_all or row[6]]
    assert [(*row[:3], row[-1]) for row in rows] == [
        ("a", "knows", "c", "person"),
        ("b", "likes", "c", "method"),
        ("c", "sees", "a", "method"),
        ("c", "sees", "b", "judges"),
    ]
    told = {row[:3]: row[5] for row in rows}
    assert (told["a", "knows", "c"], told["c", "sees", "b"]) == (1.0, 0.625)
    assert decided.accepted.tolist() == [1, 1, 2]


@pytest.mark.parametrize("keep_all", [False, True])
def test_the_best_tail_is_the_one_somebody_called_true_and_never_one_called_false(
    tmp_path: Path, keep_all: bool
) -> None:
    rows = [
        ("a", "knows", "b", 3.0),  # called false: the next best takes its place
        ("a", "knows", "d", 2.0),
        ("a", "knows", "e", 1.0),
        ("f", "knows", "g", 3.0),
        ("f", "knows", "h", -9.0),  # called true: before what scores higher
    ]
    words = answers_by(["a", "f"], ["knows"] * 2, ["b", "h"], [False, True], ["person"] * 2, [0.0, 1.0])
    candidates = write_candidates(tmp_path / "in.tsv", rows)
    decide_candidates(with_words(words=words), candidates, tmp_path / "out.tsv", keep_all=keep_all, best_only=True)
    accepted = [row for row in rows_of(tmp_path / "out.tsv") if not keep_all or row[5]]
    assert [(*row[:3], row[-1]) for row in accepted] == [("a", "knows", "d", "method"), ("f", "knows", "h", "person")]


GOOD = "SELECT 'x' AS head, 'r' AS relation, 'y' AS tail, 9.0::DOUBLE AS score"
CELLS = {"head": "'a'", "relation": "'r'", "tail": "'b'", "score": "9.0::DOUBLE"}
BAD = [
    ("score", "'nan'::DOUBLE", "'nan'"),
    ("score", "'inf'::DOUBLE", "'inf'"),
    ("score", "NULL::DOUBLE", "score"),
    ("relation", "NULL", "relation"),
    ("head", "NULL", "head"),
    ("tail", "NULL", "tail"),
]


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """A folder with a part that is fine."""
    folder = tmp_path / "parts"
    folder.mkdir()
    write_sql(folder / "part-0.parquet", GOOD)
    return folder


def refuse(candidates: Path, out: Path, message: str) -> None:
    with pytest.raises(ActcError, match=message) as caught:
        decide_candidates(THRESHOLDS, candidates, out)
    assert "\n" not in str(caught.value)
    assert not out.exists()
    assert not list(out.parent.glob(".out*"))


@pytest.mark.parametrize(("column", "cell", "words"), BAD)
def test_a_bad_row_is_named_with_its_part_and_nothing_is_written(parts: Path, column: str, cell: str, words: str):
    columns = ", ".join(f"{value} AS {name}" for name, value in {**CELLS, column: cell}.items())
    write_sql(parts / "part-1.parquet", f"{GOOD} UNION ALL SELECT {columns}")
    refuse(parts, parts.parent / "out.parquet", f"part-1.parquet.*row 2.*{words}")


def test_text_that_is_no_number_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "in.tsv").write_text("head\trelation\ttail\tscore\na\tr\tb\t1\na\tr\tc\tn/a\n")
    refuse(tmp_path / "in.tsv", tmp_path / "out.tsv", "in.tsv, line 3.*'n/a'")


def test_a_damaged_part_is_named(parts: Path) -> None:
    query = (
        "SELECT 'x' || i AS head, 'r' AS relation, 'y' || i AS tail, i + 9.5::DOUBLE AS score FROM range(100000) t(i)"
    )
    whole = write_sql(parts / "part-1.parquet", query).read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:100] + b"\xff" * 19_900 + whole[20_000:]):
        (parts / "part-1.parquet").write_bytes(damaged)
        refuse(parts, parts.parent / "out.parquet", "part-1.parquet: this is no readable Parquet file")


def test_parts_of_another_layout_are_named(parts: Path) -> None:
    out = parts.parent / "out.parquet"
    write_sql(parts / "part-1.parquet", GOOD.replace("9.0::DOUBLE", "'9'"))
    refuse(parts, out, "part-1.parquet: its columns .*score varchar.* are not those of .*part-0.parquet .*score double")
    write_sql(parts / "part-1.parquet", GOOD.replace("AS tail", "AS object"))
    refuse(parts, out, "part-1.parquet: its columns .*object varchar")
    (parts / "part-1.parquet").unlink()
    (parts / "part-1.csv").write_text("head,relation,tail,score\na,r,b,1\n")
    refuse(parts, out, r"part-1.csv: its columns")
    for path in parts.iterdir():
        path.unlink()
    refuse(parts, out, "there is no .parquet, .tsv or .csv file")
    (parts / "a.tsv").write_text("head\trelation\ttail\tscore\na\tr\tb\t1\n")
    (parts / "b.tsv").write_text("head\trelation\tscore\ttail\na\tr\t1\tb\n")
    refuse(parts, parts.parent / "out.tsv", "b.tsv: its columns .* are not those of .*a.tsv")


def test_candidates_without_a_row_are_refused(tmp_path: Path) -> None:
    write_sql(tmp_path / "in.parquet", f"{GOOD} WHERE false")
    refuse(tmp_path / "in.parquet", tmp_path / "out.parquet", "there is no triple")


def test_a_name_with_a_tab_is_refused_only_where_the_format_cannot_hold_it(tmp_path: Path) -> None:
    rows = [("a\tb", "knows", "c", 1.0)]
    candidates = write_candidates(tmp_path / "in.parquet", rows)
    refuse(candidates, tmp_path / "out.tsv", "a name holds a tab")
    decide_candidates(THRESHOLDS, candidates, tmp_path / "out.csv")
    assert rows_of(tmp_path / "out.csv")[0][0] == "a\tb"


def test_an_output_that_is_there_is_replaced_only_on_demand(tmp_path: Path) -> None:
    candidates = write_candidates(tmp_path / "in.tsv", ROWS)
    for name in ("out.tsv", "out"):
        decide_candidates(THRESHOLDS, candidates, tmp_path / name)
        with pytest.raises(FileError, match="--overwrite"):
            decide_candidates(THRESHOLDS, candidates, tmp_path / name)
        decide_candidates(THRESHOLDS, candidates, tmp_path / name, overwrite=True)
        assert rows_of(tmp_path / name) == ACCEPTED


def test_an_output_among_the_candidates_is_refused(tmp_path: Path) -> None:
    candidates = write_candidates(tmp_path / "in.tsv", ROWS)
    with pytest.raises(FileError):
        decide_candidates(THRESHOLDS, candidates, candidates, overwrite=True)
    with pytest.raises(FileError):
        decide_candidates(THRESHOLDS, tmp_path, tmp_path / "out.tsv")
    assert candidates.exists()


def test_options_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    candidates = write_candidates(tmp_path / "in.tsv", ROWS)
    with pytest.raises(ChoiceError, match=r"'duckbd'.*'duckdb'"):
        decide_candidates(THRESHOLDS, candidates, tmp_path / "out.tsv", engine="duckbd")
    with pytest.raises(OptionError):
        decide_candidates(THRESHOLDS, candidates, tmp_path / "out.tsv", master="local")
    with pytest.raises(OptionError):
        decide_candidates(THRESHOLDS, candidates, tmp_path / "out.json")


def test_memory_is_read_with_its_unit_and_too_little_is_refused() -> None:
    assert [parse_memory(text) for text in ("1GB", "800 mb", "1.5G")] == [10**9, 8 * 10**8, 1_500_000_000]
    for text in ("", "lots", "1", "10MB", "-1GB"):
        with pytest.raises(OptionError, match="memory"):
            parse_memory(text)


def test_progress_adds_up_to_everything(tmp_path: Path) -> None:
    told: list[int] = []
    candidates = write_candidates(tmp_path / "in.tsv", ROWS)
    decide_candidates(THRESHOLDS, candidates, tmp_path / "out.tsv", progress=lambda done, total: told.append(done))
    assert sum(told) == 100


KILLED = """
import sys, numpy as np
from actc.decide.decide_candidates import decide_candidates
from actc.data.triples import Thresholds
decide_candidates(Thresholds(("r",), np.array([0.5]), 0.5, np.array([True])), sys.argv[1], sys.argv[2])
"""


@pytest.mark.long
@pytest.mark.parametrize("out", ["out", "out.parquet"])
def test_a_killed_run_leaves_no_output_and_the_next_one_is_right(tmp_path: Path, out: str) -> None:
    columns = "'h' || hash(i) AS head, 'r' AS relation, 't' || hash(-i) AS tail, i % 2 AS score"
    candidates = write_sql(tmp_path / "in.parquet", f"SELECT {columns} FROM range(3000000) t(i)")
    command = [sys.executable, "-c", KILLED, str(candidates), str(tmp_path / out)]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    while not _is_writing(tmp_path):
        time.sleep(0.01)
        assert process.poll() is None, "it ended before it could be killed"
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (tmp_path / out).exists()
    assert list(tmp_path.glob(".out*"))
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert not list(tmp_path.glob(".out*"))
    source = f"{tmp_path / out}/*.parquet" if out == "out" else tmp_path / out
    assert duckdb.sql(f"SELECT count(*), min(score), count(DISTINCT head) FROM '{source}'").fetchall() == [
        (1500000, 1, 1500000)
    ]


def _is_writing(folder: Path) -> bool:
    files = (one for scratch in folder.glob(".out*") for one in scratch.rglob("*out*") if one.is_file())
    parts = (one for scratch in folder.glob(".out*") for one in scratch.rglob("part-*") if one.is_file())
    return any(one.stat().st_size > 1_000_000 for one in (*files, *parts))


def test_nothing_is_left_of_a_run_that_is_interrupted(tmp_path: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    candidates = write_candidates(tmp_path / "in.tsv", ROWS)
    with pytest.raises(KeyboardInterrupt):
        decide_candidates(THRESHOLDS, candidates, tmp_path / "out.tsv", progress=interrupt)
    assert [path.name for path in tmp_path.iterdir()] == ["in.tsv"]
