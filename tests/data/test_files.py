"""Tables in and out: what a file holds is what it says; its name is a name, never a pattern."""

from __future__ import annotations

import gzip
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actc.data import database
from actc.data.answers import Answers
from actc.data.constraints import Constraints
from actc.data.files import read_scored, read_triples, write_scored, write_triples
from actc.data.frames import SCORED
from actc.data.layout import find_layout, find_parts
from actc.data.text_files import open_text, read_amount
from actc.data.triples import ScoredTriples, Thresholds
from actc.decide.decide_candidates import decide_candidates
from actc.errors import ActcError, FileError, OptionError
from actc.graph.formats import read_graph
from actc.session import Session
from actc.session.settings import Settings
from actc.session.start import create_session
from tests.conftest import later, make_pool

ROWS = [("a", "r", "x", 0.25, 1), ("b", "s", "y", -3.5, 0), ("c", "r", "z", 1e-17, 1)]
NAMES = ("head", "relation", "tail", "score", "label")


def text(rows=ROWS, header=NAMES, delimiter="\t"):
    lines = [delimiter.join(map(str, row)) for row in ([header] if header else []) + list(rows)]
    return "\n".join(lines) + "\n"


def put(path, content):
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["x.tsv", "x.tsv.gz", "x.txt", "x.csv", "x.csv.gz"])
@pytest.mark.parametrize("header", [NAMES, None])
def test_text_files_are_read_by_name_or_order(tmp_path, name, header):
    triples, labels = read_scored(put(tmp_path / name, text(header=header, delimiter="," if "csv" in name else "\t")))
    assert [triples.triple(row) for row in range(3)] == [row[:3] for row in ROWS]
    assert triples.scores.tolist() == [0.25, -3.5, 1e-17]
    assert labels.tolist() == [True, False, True]


@pytest.mark.parametrize("name", ["probability", "confidence", "Probability"])
@pytest.mark.parametrize("file", ["x.tsv", "x.parquet"])
def test_a_column_called_probability_within_0_and_1_is_read_and_written_as_one(tmp_path, name, file):
    for scores, expected in (([0.25, 1.0, 0.0], True), ([0.25, 1.5, 0.0], False)):
        columns = {"head": list("abc"), "relation": list("rrr"), "tail": list("xyz"), name: np.array(scores)}
        write_triples(tmp_path / file, columns)
        triples = read_scored(tmp_path / file)[0]
        assert triples.probabilities is expected
        write_scored(tmp_path / "again.parquet", triples)
        again = read_scored(tmp_path / "again.parquet")[0]
        assert again.probabilities is expected
        assert again.scores.tolist() == scores


def test_a_column_confidence_is_the_score_unless_there_is_a_score(tmp_path):
    content = "head,relation,tail,source,confidence\na,r,x,web,0.5\n"
    assert read_scored(put(tmp_path / "x.csv", content))[0].scores.tolist() == [0.5]
    assert find_layout(tmp_path / "x.csv").columns["text"] == "source"
    both = "head,relation,tail,confidence,score\na,r,x,0.5,9\n"
    assert read_scored(put(tmp_path / "y.csv", both))[0].scores.tolist() == [9.0]
    write_triples(tmp_path / "z.parquet", {"subject": ["a"], "rel": ["r"], "object": ["x"], "Confidence": [0.25]})
    assert read_scored(tmp_path / "z.parquet")[0].scores.tolist() == [0.25]
    assert read_graph(put(tmp_path / "graph.tsv", "trust\tis a\tconfidence\n")).triple(0) == (
        "trust",
        "is a",
        "confidence",
    )


def test_an_entity_called_like_a_column_makes_no_header(tmp_path):
    triples, _ = read_scored(put(tmp_path / "x.tsv", "head\tpart of\tbody\t0.5\n"))
    assert triples.triple(0) == ("head", "part of", "body")


def test_quotes_are_text_in_tsv_and_quotes_in_csv(tmp_path):
    tsv, _ = read_scored(put(tmp_path / "x.tsv", 'a"b\tr\t"x\t0.5\n'))
    assert tsv.triple(0) == ('a"b', "r", '"x')
    quoted, _ = read_scored(put(tmp_path / "x.csv", '"a,b",r,"x ""y""",0.5\n'))
    assert quoted.triple(0) == ("a,b", "r", 'x "y"')


# Names as they are met: no tabs, line breaks or nothing at all, which no TSV can hold.
name = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8)


@pytest.mark.parametrize("suffix", [later(".csv"), ".parquet", later(".csv.gz"), ".jsonl"])
@given(
    rows=st.lists(st.tuples(name, name, name, st.floats(-1e6, 1e6)), min_size=1, max_size=6, unique_by=lambda r: r[:3])
)
def test_what_is_written_is_read_back(tmp_path_factory, suffix, rows):
    path = tmp_path_factory.mktemp("files") / f"x{suffix}"
    write_triples(path, dict(zip(NAMES, zip(*rows, strict=True), strict=False)))
    triples, _ = read_scored(path)
    assert [(*triples.triple(i), triples.scores[i]) for i in range(len(rows))] == rows


BAD = {
    "no such file": ("missing.tsv", None, "missing.tsv"),
    "unknown suffix": ("x.json", "{}", r"\.tsv, \.csv, \.jsonl or \.parquet"),
    "empty": ("x.tsv", "", "x.tsv"),
    "header only": ("x.tsv", text(rows=[]), "x.tsv"),
    "missing column": ("x.tsv", "head\trelation\ttail\na\tr\tx\n", "line 1.*'score'"),
    "names of their own": ("x.csv", "head,relation,tail,points\na,r,x,0.5\n", "line 1.*'score'"),
    "a misspelt header": ("x.tsv", "head\tkind\ttial\tpoints\na\tr\tx\t0.5\n", "line 1.*'relation'"),
    "line ends": ("x.tsv", b"a\tr\tb\t0.5\r\nc\tr\td\t0.25\ne\tr\tf\t0.5\r\n", "x.tsv: the lines end differently"),
    "blank lines": ("x.tsv", "a\tr\tx\t0.5\n\n\nb\tr\tx\tbad\n", "line 4.*'bad'"),
    "too few columns": ("x.tsv", "a\tr\tx\n", "line 1.*3.*4"),
    "ragged": ("x.tsv", text() + "d\tr\n", "line 5.*2.*5"),
    "not a number": ("x.tsv", text([*ROWS, ("d", "r", "x", "n/a", 1)]), "line 5.*'n/a'"),
    "NaN": ("x.tsv", text([*ROWS, ("d", "r", "x", "nan", 1)]), "line 5.*nan"),
    "infinite": ("x.csv", text([("d", "r", "x", "-inf", 1)], delimiter=","), "line 2.*-inf"),
    "no score": ("x.tsv", text([*ROWS, ("d", "r", "x", "", 1)]), "line 5.*score"),
    "no head": ("x.tsv", text([("", "r", "x", 1, 1)]), "line 2.*head"),
    "label": ("x.tsv", text([*ROWS, ("d", "r", "x", 1, 2)]), "line 5.*'2'"),
    "other score": ("x.tsv", text([ROWS[0], ROWS[0], ("a", "r", "x", 0.5, 1)]), "line 4.*line 2"),
    "other label": ("x.tsv", text([*ROWS, ("a", "r", "x", 0.25, 0)]), "line 5.*line 2"),
    "encoding": ("x.tsv", b"a\tr\tx\t0.5\nb\tr\t\xff\t0.5\n", "x.tsv"),
    "no gzip": ("y.tsv.gz", None, "y.tsv.gz"),
    "no JSON": ("x.jsonl", '{"head": "a"}\n\n{"head": \n', "line 3: this is no JSON object"),
    "no JSON object": ("x.jsonl", '{"head": "a"}\n[1, 2]\n', "line 2: this is no JSON object"),
    "no parquet": ("x.parquet", b"PAR1 not really", "x.parquet"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_gets_one_sentence(tmp_path, case):
    file_name, content, sentence = BAD[case]
    path = tmp_path / file_name
    if case == "no gzip":
        path.write_bytes(text().encode())
    elif content is not None:
        put(path, content)
    with pytest.raises(ActcError, match=sentence) as error:
        read_scored(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_row_that_is_there_again_to_the_last_digit_counts_once_and_is_said(tmp_path, caplog):
    path = put(tmp_path / "x.tsv", text([ROWS[0], ROWS[1], ROWS[0], ROWS[2], ROWS[1], ROWS[0]]))
    triples, labels = read_scored(path)
    assert [triples.triple(row) for row in range(len(triples))] == [row[:3] for row in ROWS]
    assert labels.tolist() == [True, False, True]
    assert caplog.messages == [f"{path}: 3 rows are there again, score and all; each counts once."]
    assert caplog.records[0].name == "actc"


@pytest.mark.parametrize("cut", [1, 8, 900, -40])
def test_a_truncated_gzip_is_refused_whatever_duckdb_makes_of_it(tmp_path, cut):
    data = gzip.compress(text([(f"e{i}", "r", "x", i, 0) for i in range(5000)]).encode(), mtime=0)
    path = tmp_path / "x.tsv.gz"
    path.write_bytes(data[:-cut])
    with pytest.raises(FileError, match=r"x\.tsv\.gz"):
        read_scored(path)
    with pytest.raises(FileError):
        decide_candidates(Thresholds(("r",), np.zeros(1), 0.0, np.array([True])), path, tmp_path / "out.tsv")
    path.write_bytes(data)
    assert len(read_scored(path)[0]) == 5000


def test_answers_that_clash_are_refused_with_their_line(tmp_path):
    clash = put(tmp_path / "clash.tsv", "h\tr\tt\t1\nh\tr\tt\t0\n")
    with pytest.raises(FileError, match="line 2.*line 1"):
        Answers.read(clash)


def test_a_gzip_file_with_far_too_much_in_it_is_refused_until_more_is_allowed(tmp_path, monkeypatch):
    path, rows = tmp_path / "bomb.tsv.gz", b"a\tr\tb\t1\n" * 2**16
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(4):
            file.write(rows)
    assert len(read_scored(path)[0]) == 1
    monkeypatch.setattr("actc.data.text_files.PIECE", 2**16)
    monkeypatch.setenv("ACTC_MOST_UNPACKED", "much")
    with pytest.raises(OptionError, match="ACTC_MOST_UNPACKED.*'much'"):
        read_scored(path)
    monkeypatch.setenv("ACTC_MOST_UNPACKED", "1MB")
    with pytest.raises(FileError, match=r"bomb\.tsv\.gz.*ACTC_MOST_UNPACKED"):
        read_scored(path)
    monkeypatch.setenv("ACTC_MOST_UNPACKED", "3MB")
    assert len(read_scored(path)[0]) == 1


@pytest.mark.long
def test_many_rows_are_read_in_seconds_and_in_their_order(tmp_path):
    from time import perf_counter

    pool = make_pool(200_000, 50)[0]
    write_scored(tmp_path / "x.tsv", pool)
    start = perf_counter()
    triples, _ = read_scored(tmp_path / "x.tsv")
    assert perf_counter() - start < 10
    assert (triples.rows_of(pool) == np.arange(len(pool))).all()
    assert (triples.scores == pool.scores).all()


def test_a_text_in_a_gzip_file_is_bounded_however_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "names.json.GZ"
    path.write_bytes(gzip.compress(b" " * 2_000_000 + b"{}"))
    monkeypatch.setenv("ACTC_MOST_UNPACKED", "1MB")
    for read in (lambda lines: lines.read(), lambda lines: lines.readline(), list):
        with pytest.raises(FileError), open_text(path) as lines:
            read(lines)


def test_a_cell_without_an_end_is_no_table(tmp_path):
    path = tmp_path / "constraints.tsv"
    path.write_text("kind\trelation\tuse\n" + "x" * 200_000)
    with pytest.raises(FileError, match=r"constraints\.tsv"):
        Constraints.read(path)


@pytest.mark.parametrize(("given", "amount"), [("8GB", 8 * 10**9), ("4096", 4096)])
def test_an_amount_in_the_environment_has_a_unit_or_is_in_bytes(monkeypatch, given, amount):
    monkeypatch.setenv("ACTC_STUDIO_UPLOAD", given)
    assert read_amount("ACTC_STUDIO_UPLOAD", "8GB") == amount
    for wrong in ("x", "", "0", "-1", "nan"):
        monkeypatch.setenv("ACTC_STUDIO_UPLOAD", wrong)
        with pytest.raises(OptionError, match="ACTC_STUDIO_UPLOAD.*8"):
            read_amount("ACTC_STUDIO_UPLOAD", "8GB")


def test_a_database_has_a_bounded_memory_a_folder_of_its_own_to_spill_into_and_installs_nothing():
    names = ("memory_limit", "max_temp_directory_size", "autoinstall_known_extensions", "autoload_known_extensions")
    with database.open_database() as connection:
        *settings, folder = (
            connection.execute(f"SELECT current_setting('{name}')").fetchone()[0] for name in (*names, "temp_directory")
        )
        assert settings == ["3.7 GiB", "18.6 GiB", False, False]
        assert Path(folder).parent == Path(tempfile.gettempdir())
    assert not Path(folder).exists()


def test_a_table_that_needs_more_memory_than_there_may_be_is_refused(tmp_path, monkeypatch):
    numbers = np.arange(300_000)
    columns = {"head": numbers, "relation": numbers, "tail": numbers, "score": numbers / 7}
    write_triples(tmp_path / "scores.parquet", columns)
    monkeypatch.setitem(database.LIMITS, "memory_limit", "1MB")
    with pytest.raises(FileError):
        read_scored(tmp_path / "scores.parquet")


ODD = ["q[1]", "q*", "q?", "[q", "q]", "~q", "it's", "q{1,2}"]


def table(count: int, score: float) -> dict[str, object]:
    names = [f"e{number}" for number in range(count)]
    return {"head": names, "relation": ["r"] * count, "tail": names[::-1], "score": np.full(count, score)}


@pytest.mark.parametrize("ending", [".parquet", ".tsv", ".csv", ".tsv.gz"])
@pytest.mark.parametrize("name", ODD)
def test_one_file_is_read_whatever_its_name(tmp_path, monkeypatch, name, ending):
    monkeypatch.chdir(tmp_path)
    for number, other in enumerate([name, "q1", "qq", "q2"], start=1):
        write_triples(tmp_path / f"{other}{ending}", table(number, number))
    for path in (f"{name}{ending}", tmp_path / f"{name}{ending}"):
        assert read_scored(path)[0].scores.tolist() == [1.0]
        assert len(list(read_triples(path))) == 1
        assert len(find_parts([path], SCORED).paths) == 1


def test_candidates_in_a_folder_of_any_name_are_decided(tmp_path):
    for number, name in enumerate(["in[1]", "in1"], start=1):
        (tmp_path / name).mkdir()
        for part in ("a*.parquet", "ab.parquet"):
            write_triples(tmp_path / name / part, table(number, number))
    cuts = Thresholds(("r",), np.array([0.5]), 0.5, np.array([True]))
    decided = decide_candidates(cuts, [tmp_path / "in[1]"], tmp_path / "out[1].tsv")
    assert decided.candidates.tolist() == [2]
    assert len((tmp_path / "out[1].tsv").read_text().splitlines()) == 3


def test_a_session_uses_its_own_pool_whatever_it_is_called(tmp_path):
    for number, name in enumerate(["q1", "q[1]"], start=1):
        write_triples(tmp_path / f"{name}.tsv", table(10 * number, 1.0))
        create_session(tmp_path / name, tmp_path / f"{name}.tsv", Settings(method="pooled", budget=5)).close()
    assert [len(Session(tmp_path / name).read_pool()) for name in ("q1", "q[1]")] == [10, 20]


@pytest.mark.parametrize("name", ["g[1].nt", "g?.nt"])
def test_a_graph_is_read_whatever_its_name(tmp_path, name):
    for number, other in enumerate([name, "g1.nt"], start=1):
        (tmp_path / other).write_text("".join(f"<http://e/{i}> <http://e/r> <http://e/t> .\n" for i in range(number)))
    assert len(read_graph(tmp_path / name)) == 1


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_a_folder_s_name_is_no_column(tmp_path, ending):
    folder = tmp_path / "score=9"
    folder.mkdir()
    write_triples(folder / f"a{ending}", table(3, 0.25))
    write_triples(folder / f"b{ending}", table(2, 0.25) | {"relation": ["s", "s"]})
    assert set(read_scored(folder)[0].scores.tolist()) == {0.25}
    assert set(read_scored(folder / f"a{ending}")[0].scores.tolist()) == {0.25}


def test_a_column_that_only_a_folder_s_name_has_is_asked_for(tmp_path):
    (tmp_path / "relation=P27").mkdir()
    path = tmp_path / "relation=P27" / "part-0.parquet"
    columns = table(3, 0.5)
    del columns["relation"]
    write_triples(path, columns)
    with pytest.raises(FileError, match="'relation'"):
        find_parts([tmp_path], SCORED)


def test_labels_as_wn11_writes_them_are_read(tmp_path):
    pool = ScoredTriples.from_columns("ab", "rr", "xy", [0.1, 0.9])
    (tmp_path / "dev.txt").write_text("a\tr\tx\t-1\nb\tr\ty\t1\n")
    assert Answers.read(tmp_path / "dev.txt").on(pool).labels.tolist() == [False, True]


@pytest.mark.parametrize("header", ["", "head\trelation\ttail\tscore\n"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_mark_at_the_beginning_and_windows_line_ends_are_read(tmp_path, header, ends):
    text = ("\ufeff" + header + "a\tr\tb\t0.5\nc\tr\td\t0.25\n").replace("\n", ends)
    (tmp_path / "s.tsv").write_bytes(text.encode())
    triples = read_scored(tmp_path / "s.tsv")[0]
    assert triples.triple(0) == ("a", "r", "b")
    assert triples.scores.tolist() == [0.5, 0.25]


def test_a_name_that_looks_like_a_home_is_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkdir("~")
    write_triples("~/s.parquet", table(2, 0.5))
    assert len(read_scored("~/s.parquet")[0]) == 2


def test_a_name_that_is_not_utf8_is_refused_in_a_sentence(tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.tsv"))
    path.write_text("a\tr\tb\t1\n")
    with pytest.raises(FileError):
        read_scored(path)
