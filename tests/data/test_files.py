from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actc.data import database
from actc.data.answers import Answers
from actc.data.constraints import Constraints
from actc.data.deliver import write_beside
from actc.data.files import read_scored, write_scored, write_triples
from actc.data.layout import find_layout
from actc.data.text_files import check_gzip, open_text, read_amount
from actc.data.triples import Thresholds
from actc.decide.decide_candidates import decide_candidates
from actc.errors import ActcError, FileError, OptionError
from actc.graph.formats import read_graph
from tests.conftest import later

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


def test_parts_of_candidates_keep_that_their_scores_are_probabilities(tmp_path):
    for part in "ab":
        put(tmp_path / f"{part}.tsv", f"head\trelation\ttail\tconfidence\n{part}\tr\tx\t0.5\n")
    assert read_scored(tmp_path)[0].probabilities


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


def test_a_column_that_is_missing_is_named_with_those_that_are_not_known(tmp_path):
    with pytest.raises(FileError, match=r"'score'"):
        read_scored(put(tmp_path / "x.csv", "head,relation,tail,points\na,r,x,0.5\n"))


def test_an_entity_called_like_a_column_makes_no_header(tmp_path):
    triples, _ = read_scored(put(tmp_path / "x.tsv", "head\tpart of\tbody\t0.5\n"))
    assert triples.triple(0) == ("head", "part of", "body")


def test_a_misspelt_header_is_still_a_header(tmp_path):
    with pytest.raises(FileError, match="line 1.*'relation'"):
        read_scored(put(tmp_path / "x.tsv", "head\tkind\ttial\tpoints\na\tr\tx\t0.5\n"))


def test_quotes_are_text_in_tsv_and_quotes_in_csv(tmp_path):
    tsv, _ = read_scored(put(tmp_path / "x.tsv", 'a"b\tr\t"x\t0.5\n'))
    assert tsv.triple(0) == ('a"b', "r", '"x')
    quoted, _ = read_scored(put(tmp_path / "x.csv", '"a,b",r,"x ""y""",0.5\n'))
    assert quoted.triple(0) == ("a,b", "r", 'x "y"')


def test_parquet_goes_out_and_comes_back(tmp_path):
    columns = dict(zip(NAMES, zip(*ROWS, strict=True), strict=True))
    write_triples(tmp_path / "x.parquet", columns)
    triples, labels = read_scored(tmp_path / "x.parquet")
    assert triples.scores.tolist() == [0.25, -3.5, 1e-17]
    assert labels.tolist() == [True, False, True]


# Names as they are met: no tabs, line breaks or nothing at all, which no TSV can hold.
name = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8)


@pytest.mark.parametrize("suffix", [later(".csv"), ".parquet", later(".csv.gz")])
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
    "truncated gzip": ("x.tsv.gz", None, "x.tsv.gz"),
    "no gzip": ("y.tsv.gz", None, "y.tsv.gz"),
    "no JSON": ("x.jsonl", '{"head": "a"}\n\n{"head": \n', "line 3: this is no JSON object"),
    "no JSON object": ("x.jsonl", '{"head": "a"}\n[1, 2]\n', "line 2: this is no JSON object"),
    "no parquet": ("x.parquet", b"PAR1 not really", "x.parquet"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_gets_one_sentence(tmp_path, case):
    file_name, content, sentence = BAD[case]
    path = tmp_path / file_name
    if case == "truncated gzip":
        path.write_bytes(
            gzip.compress(text(ROWS[:1] + [(f"e{i}", "r", "x", i, 0) for i in range(5000)]).encode(), mtime=0)[:-900]
        )
    elif case == "no gzip":
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
    with pytest.raises(FileError):
        check_gzip(path)
    with pytest.raises(FileError):
        decide_candidates(Thresholds(("r",), np.zeros(1), 0.0, np.array([True])), path, tmp_path / "out.tsv")
    path.write_bytes(data)
    check_gzip(path)


def test_lines_are_counted_past_blank_ones(tmp_path):
    path = put(tmp_path / "x.tsv", "a\tr\tx\t0.5\n\n\nb\tr\tx\tbad\n")
    with pytest.raises(FileError, match="line 4: 'bad'"):
        read_scored(path)


def test_annotations_are_found_in_the_pool(tmp_path, pool):
    relation = pool.triple(7)[1]
    path = put(tmp_path / "labels.tsv", f"h7\t{relation}\tt\ttrue\n")
    annotations = Answers.read(path).on(pool)
    assert (annotations.rows.tolist(), annotations.labels.tolist()) == ([7], [True])


def test_annotations_that_clash_are_refused_with_their_line(tmp_path, pool):
    relation = pool.triple(7)[1]
    clash = put(tmp_path / "clash.tsv", f"h7\t{relation}\tt\t1\nh7\t{relation}\tt\t0\n")
    with pytest.raises(FileError, match="line 2.*line 1"):
        Answers.read(clash).on(pool)


def test_a_failed_write_leaves_what_was_there(tmp_path):
    path = put(tmp_path / "x.tsv", "before")
    with pytest.raises(RuntimeError), write_beside(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(FileError), write_beside(tmp_path / "nowhere" / "x.tsv"):
        pass
    with pytest.raises(FileError), write_beside(tmp_path):
        pass


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

    size = 200_000
    columns = {
        "head": np.array([f"e{i}" for i in range(size)], dtype=object),
        "relation": np.array([f"r{i % 50}" for i in range(size)], dtype=object),
        "tail": np.array([f"e{i * 7 % size}" for i in range(size)], dtype=object),
        "score": np.random.default_rng(0).normal(size=size),
    }
    write_triples(tmp_path / "x.tsv", columns)
    start = perf_counter()
    triples, _ = read_scored(tmp_path / "x.tsv")
    assert len(triples) == size
    for row in (0, 1, 77_777, size - 1):
        assert triples.triple(row) == tuple(columns[name][row] for name in ("head", "relation", "tail"))
    assert (triples.scores == columns["score"]).all()
    assert perf_counter() - start < 10


def test_a_text_in_a_gzip_file_is_bounded_however_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "names.json.GZ"
    path.write_bytes(gzip.compress(b" " * 2_000_000 + b"{}"))
    monkeypatch.setenv("ACTC_MOST_UNPACKED", "1MB")
    for read in (lambda lines: lines.read(), lambda lines: lines.readline(), list):
        with pytest.raises(FileError), open_text(path) as lines:
            read(lines)
    monkeypatch.setenv("ACTC_MOST_UNPACKED", "3MB")
    with open_text(path) as lines:
        assert lines.read().strip() == "{}"


def test_a_cell_without_an_end_is_no_table(tmp_path):
    path = tmp_path / "constraints.tsv"
    path.write_text("kind\trelation\tuse\n" + "x" * 200_000)
    with pytest.raises(FileError, match=r"constraints\.tsv"):
        Constraints.read(path)


@pytest.mark.parametrize(("told", "amount"), [("8GB", 8 * 10**9), ("4096", 4096)])
def test_an_amount_in_the_environment_has_a_unit_or_is_in_bytes(monkeypatch, told, amount):
    monkeypatch.setenv("ACTC_STUDIO_UPLOAD", told)
    assert read_amount("ACTC_STUDIO_UPLOAD", "8GB") == amount


@pytest.mark.parametrize("told", ["x", "", "0", "-1", "nan"])
def test_what_is_no_amount_in_the_environment_is_refused(monkeypatch, told):
    monkeypatch.setenv("ACTC_STUDIO_UPLOAD", told)
    with pytest.raises(OptionError, match="ACTC_STUDIO_UPLOAD.*8"):
        read_amount("ACTC_STUDIO_UPLOAD", "8GB")


def test_a_database_has_a_bounded_memory_and_a_folder_of_its_own_to_spill_into():
    with database.open_database() as connection:
        memory, spill, folder = (
            connection.execute(f"SELECT current_setting('{name}')").fetchone()[0]
            for name in ("memory_limit", "max_temp_directory_size", "temp_directory")
        )
        assert (memory, spill) == ("3.7 GiB", "18.6 GiB")
        assert Path(folder).parent == Path(tempfile.gettempdir())
    assert not Path(folder).exists()


def test_a_table_that_needs_more_memory_than_there_may_be_is_refused(tmp_path, monkeypatch):
    numbers = np.arange(300_000)
    columns = {"head": numbers, "relation": numbers, "tail": numbers, "score": numbers / 7}
    write_triples(tmp_path / "scores.parquet", columns)
    monkeypatch.setitem(database.LIMITS, "memory_limit", "1MB")
    with pytest.raises(FileError):
        read_scored(tmp_path / "scores.parquet")


def test_a_database_installs_and_loads_no_extension_by_itself():
    names = ("autoinstall_known_extensions", "autoload_known_extensions")
    with database.open_database() as connection:
        found = [connection.execute(f"SELECT current_setting('{name}')").fetchone()[0] for name in names]
    assert found == [False, False]
