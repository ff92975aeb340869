"""Columns that the user names, at every door that reads a table; and columns that come back in every output."""

from __future__ import annotations

import json

import duckdb
import numpy as np
import pandas as pd
import pytest

import actc
from actc.data.files import read_scored, read_triples
from actc.errors import ActcError
from tests.cli.test_trust_commands import run

ODD = {"head": "who", "relation": "does what", "tail": "whom", "score": "sureness", "text": "quote"}
COLUMNS = ",".join(f"{name}={own}" for name, own in ODD.items())
TRIPLE = ",".join(f"{name}={own}" for name, own in list(ODD.items())[:3])
PARENTS = [(f"p{k}", f"c{k}") for k in range(60)]


def rows_of(path):
    return duckdb.sql(f"SELECT * FROM '{path}'").df()


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Make tables with odd columns: a graph, candidates with a page and a quote, labels."""
    home = tmp_path_factory.mktemp("odd")
    facts = [*((a, "parent", b) for a, b in PARENTS), *((b, "child", a) for a, b in PARENTS[:40])]
    pd.DataFrame(facts, columns=["who", "does what", "whom"]).assign(n=1).to_csv(home / "graph.csv", index=False)
    candidates = {
        "who": [child for _, child in PARENTS[40:]] * 2,
        "does what": "child",
        "whom": [parent for parent, _ in [*PARENTS[40:], *PARENTS[:20]]],
        "sureness": np.linspace(0.9, 0.1, 40).round(2),
        "page": np.arange(40),
        "quote": [f"Line {k}\nand\tmore." for k in range(40)],
    }
    pd.DataFrame(candidates).to_csv(home / "candidates.csv", index=False)
    labels = {"head": candidates["who"], "relation": "child", "tail": candidates["whom"], "label": [1] * 20 + [0] * 20}
    pd.DataFrame(labels).iloc[::2].to_csv(home / "labels.csv", index=False)
    return home


def calibrate(home, out):
    run("calibrate", home / "candidates.csv", "--labels", home / "labels.csv", "--columns", COLUMNS, "--out", out)


DOORS = [
    "complete HOME/graph.csv --budget 0 --out OUT",
    "complete --candidates HOME/candidates.csv --budget 0 --out OUT",
    "check HOME/graph.csv --budget 0 --out OUT",
    "candidates HOME/graph.csv --out OUT.tsv",
    "constraints HOME/graph.csv --out OUT.tsv",
    "convert HOME/graph.csv --out OUT.tsv",
    "calibrate HOME/candidates.csv --out OUT.json",
    "start OUT HOME/candidates.csv",
]


@pytest.mark.parametrize("door", DOORS)
def test_a_door_reads_the_columns_that_the_user_names_and_names_those_there_are(door, home, tmp_path):
    words = door.replace("HOME", str(home)).replace("OUT", str(tmp_path / "out")).split()
    with pytest.raises(ActcError, match="--columns 'head=who,relation=does what,tail=whom"):
        run(*words)
    with pytest.raises(ActcError, match="there is no column 'subj'; there are: who, does what, whom"):
        run(*words, "--columns", "head=subj,relation=does what,tail=whom")
    assert not list(tmp_path.iterdir())
    run(*words, "--columns", TRIPLE if "graph.csv" in door else COLUMNS)
    assert list(tmp_path.iterdir())


def test_candidates_whose_names_the_graph_cannot_hold_are_refused_before_work(home, tmp_path):
    (tmp_path / "g.nt").write_text("<urn:a:b> <urn:a:r> <urn:a:c> .\n")
    words = ["complete", tmp_path / "g.nt", "--candidates", home / "candidates.csv", "--columns", COLUMNS]
    with pytest.raises(ActcError, match="--base"):
        run(*words, "--budget", 0, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_a_graph_does_not_use_is_said(home, tmp_path):
    assert "not used: n." in run(
        "check", home / "graph.csv", "--columns", TRIPLE, "--budget", 0, "--out", tmp_path / "c"
    )


def test_a_name_may_be_a_place(home, tmp_path):
    run("convert", home / "graph.csv", "--columns", "head=3,relation=2,tail=1", "--out", tmp_path / "g.tsv")
    assert ("c0", "parent", "p0") in set(read_triples(tmp_path / "g.tsv"))


def test_a_report_reads_the_table_as_it_was_calibrated(home, tmp_path):
    calibrate(home, tmp_path / "t.json")
    run("report", tmp_path / "t.json", "--out", tmp_path / "r.html", "--json", tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["answers"] == 20


@pytest.mark.parametrize("name", ["out.tsv", "out.csv", "out.parquet", "out.jsonl"])
def test_decide_gives_further_columns_back(name, home, tmp_path):
    calibrate(home, tmp_path / "t.json")
    run("decide", tmp_path / "t.json", home / "candidates.csv", "--all", "--columns", COLUMNS, "--out", tmp_path / name)
    rows = rows_of(tmp_path / name).sort_values("page", key=lambda column: column.astype(int))
    assert rows.page.astype(int).tolist() == list(range(40))
    between = " " if name.endswith(".tsv") else ("\n", "\t")
    assert rows.text.iloc[7] == f"Line 7{between[0]}and{between[-1]}more."


def test_evidence_reads_candidates_by_their_names(home, tmp_path):
    graph, words = tmp_path / "g.tsv", ("--columns", COLUMNS)
    run("convert", home / "graph.csv", "--columns", TRIPLE, "--out", graph)
    run("evidence", graph, home / "candidates.csv", *words, "--out", tmp_path / "e.tsv")
    assert len(read_scored(tmp_path / "e.tsv")[0]) == 40


def test_the_accepted_of_a_session_have_their_texts_and_pages(home, tmp_path):
    session = tmp_path / "s"
    run("start", session, home / "candidates.csv", "--columns", COLUMNS)
    actc.import_judgements(session, home / "labels.csv")
    run("export", session, "--accepted", tmp_path / "accepted.tsv")
    rows = rows_of(tmp_path / "accepted.tsv")
    assert {"page", "text", "support", "by"} <= set(rows)
    assert (rows.text == [f"Line {page} and more." for page in rows.page]).all()


def test_what_complete_decides_has_all_columns(home, tmp_path):
    words = ["--candidates", home / "candidates.csv", "--columns", COLUMNS, "--oracle", home / "labels.csv"]
    run("complete", *words, "--budget", 10, "--out", tmp_path / "out")
    lists = [rows_of(tmp_path / "out" / f"{name}.tsv") for name in ("accepted", "rejected", "undecided")]
    assert all({"page", "text", "support"} <= set(rows) for rows in lists)
    pages = pd.concat([one[["page", "text"]] for one in lists]).drop_duplicates()
    assert (pages.text == [f"Line {page} and more." for page in pages.page]).all()


def test_columns_have_names_in_python_too(home):
    frame = pd.read_csv(home / "candidates.csv").rename(columns={"sureness": "likely"}).set_index("page", drop=False)
    names = {"head": "who", "relation": "does what", "tail": "whom", "probability": "likely"}
    pool = actc.ScoredTriples.from_frame(frame, columns=names)
    assert (pool.probabilities, list(pool.further)) == (True, ["page", "quote"])
    with pytest.raises(ActcError, match="no column 'subj'; there are: who"):
        actc.ScoredTriples.from_frame(frame, columns="head=subj")
    plain = frame.rename(columns={"who": "head", "does what": "relation", "whom": "tail", "likely": "score"})
    accepted = actc.accept_triples(plain, pd.read_csv(home / "labels.csv"))
    assert (accepted.index == accepted.page).all()
    assert accepted.page.is_monotonic_increasing
