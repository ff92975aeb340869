"""The Spark engine: real Spark, and decisions equal to DuckDB's."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import numpy as np
import pyspark
import pytest

from actc.data.answers import Annotations
from actc.data.calibration import KNOTS, Calibration, Counts, Curves
from actc.data.triples import ScoredTriples, Thresholds
from actc.decide.decide_candidates import decide_candidates
from actc.errors import ActcError, FileError, OptionError
from tests.synthetic import answers_by

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore::ResourceWarning")]

THRESHOLDS = Thresholds(("knows", "likes"), np.array([0.5, -0.25]), 0.75, np.array([True, True]))
# Ties at the cut, both zeros, names in three scripts, two heads per best tail, an unseen relation.
QUERY = """
SELECT 'h' || (i % 300) AS head, ['knows', 'likes', 'sees', 'ü-rel'][1 + i % 4] AS relation,
       ['a', 'é', '漢', 'z'][1 + (i // 7) % 4] || i AS tail,
       CASE WHEN i % 11 = 0 THEN 0.5 WHEN i % 13 = 0 THEN -0.0 ELSE (hash(i) % 2001) / 1000.0 - 1 END AS score
FROM range({}) t(i)
"""


@pytest.fixture
def parts(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    for i, suffix in enumerate(["0.parquet", "1.parquet"]):
        duckdb.sql(
            f"COPY (SELECT * FROM ({QUERY.format(4000)}) WHERE hash(tail) % 2 = {i}) TO '{folder}/part-{suffix}'"
        )
    return folder


def check_alike(ours: Path, theirs: Path) -> None:
    """Compare the rows of two folders of parts in one order: names and decisions exactly, numbers to 1e-9."""
    order = "ORDER BY relation, head, tail"
    first, second = (duckdb.sql(f"SELECT * FROM '{one}/*.parquet' {order}").fetchnumpy() for one in (ours, theirs))
    assert list(first) == list(second)
    for name, column in first.items():
        if column.dtype == np.float64:
            np.testing.assert_allclose(second[name], column, rtol=0, atol=1e-9, err_msg=name)
        else:
            assert second[name].tolist() == column.tolist(), name


CURVES = Curves(("knows", "likes"), -0.9, 0.9, np.random.default_rng(0).random((3, KNOTS)))


# A word on every sixteenth triple, whatever it scores: yes and no, of people and of judges.
SPOKEN = duckdb.sql(f"SELECT * FROM ({QUERY.format(4000)}) WHERE hash(tail) % 16 = 3 ORDER BY tail").fetchall()
WORDS = answers_by(
    *([str(row[at]) for row in SPOKEN] for at in range(3)),
    [at % 3 > 0 for at in range(len(SPOKEN))],
    [("person", "judges", "oracle")[at % 3] for at in range(len(SPOKEN))],
    [(0.0, 0.7, 1.0)[at % 3] for at in range(len(SPOKEN))],
)


def with_words(curves: Curves | None = None) -> Calibration:
    pool = ScoredTriples.from_columns(["a", "a"], ["knows", "likes"], ["b", "c"], [0.0, 1.0])
    counts = Counts.of(pool, Annotations(), np.zeros(2, dtype=bool))
    return Calibration(THRESHOLDS, "pooled", {}, counts, curves=curves, exceptions=WORDS)


ALL_OPTIONS = {"keep_all": True, "best_only": True, "curves": CURVES}


@pytest.mark.long
@pytest.mark.parametrize(("options", "words"), [(ALL_OPTIONS, True), ({}, False)])
def test_spark_writes_the_same_as_duckdb(spark, parts, tmp_path, options, words):
    thresholds = with_words() if words else THRESHOLDS
    ours = decide_candidates(thresholds, parts, tmp_path / "duckdb", **options)
    theirs = decide_candidates(thresholds, parts, tmp_path / "spark", engine="spark", **options)
    told = duckdb.sql(f"SELECT DISTINCT \"by\" FROM '{tmp_path}/spark/*.parquet'").fetchall()
    assert {row[0] for row in told} >= ({"method", "oracle", "judges"} if words else {"method"})
    check_alike(tmp_path / "duckdb", tmp_path / "spark")
    assert theirs.relation_names == ours.relation_names
    for name in ("cuts", "candidates", "accepted"):
        assert getattr(theirs, name).tolist() == getattr(ours, name).tolist()


@pytest.mark.parametrize("ending", [".tsv", ".csv.gz", ".jsonl"])
def test_spark_reads_other_tables_as_duckdb_does(spark, parts, tmp_path, ending):
    path = tmp_path / f"in{ending}"
    query = (
        "SELECT replace(head, '1', '\"') || ', x' AS subj, relation AS verb, tail AS obj, score AS weight, 7 AS seen"
    )
    options = {
        ".tsv": "FORMAT csv, HEADER, DELIMITER '\t', QUOTE '', ESCAPE ''",
        ".csv.gz": "FORMAT csv, HEADER, COMPRESSION gzip",
        ".jsonl": "FORMAT json",
    }
    duckdb.sql(f"COPY ({query} FROM '{parts}/*.parquet') TO '{path}' ({options[ending]})")
    for engine in ("duckdb", "spark"):
        named = {"columns": "head=subj,relation=verb,tail=obj,score=weight", "engine": engine}
        decide_candidates(THRESHOLDS, path, tmp_path / engine, **named)
    check_alike(tmp_path / "duckdb", tmp_path / "spark")
    assert "seen" in duckdb.sql(f"SELECT * FROM '{tmp_path}/spark/*.parquet'").columns


@pytest.mark.long
def test_spark_refuses_text_that_only_java_reads_as_a_number(spark, tmp_path):
    (tmp_path / "in.tsv").write_text("a\tknows\tb\t1\na\tknows\tc\t2d\n")
    with pytest.raises(FileError, match="in.tsv.*'2d'"):
        decide_candidates(THRESHOLDS, tmp_path / "in.tsv", tmp_path / "out", engine="spark")


BAD = {
    "NaN": "'a' AS head, 'r' AS relation, 'b' AS tail, 'nan'::DOUBLE AS score",
    "column head": "NULL::VARCHAR AS head, 'r' AS relation, 'b' AS tail, 9.0::DOUBLE AS score",
    "damaged": "",
}


@pytest.mark.long
@pytest.mark.parametrize("case", BAD)
def test_spark_names_a_bad_part_and_writes_nothing(spark, parts, tmp_path, case):
    if case == "damaged":
        whole = (parts / "part-1.parquet").read_bytes()
        (parts / "part-2.parquet").write_bytes(whole[:50] + b"\xff" * 4950 + whole[5000:])
    else:
        duckdb.sql(f"COPY (SELECT {BAD[case]}) TO '{parts}/part-2.parquet'")
    with pytest.raises(ActcError, match=r"part-2\.parquet" if case == "damaged" else rf"part-2\.parquet: .*{case}"):
        decide_candidates(THRESHOLDS, parts, tmp_path / "out", engine="spark")
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


@pytest.mark.long
def test_addresses_are_left_to_spark_and_replaced_only_on_demand(spark, parts, tmp_path):
    urls = [(parts / f"part-{i}.parquet").as_uri() for i in (0, 1)]
    out = (tmp_path / "out").as_uri()
    decide_candidates(THRESHOLDS, urls, out, engine="spark")
    decide_candidates(THRESHOLDS, parts, tmp_path / "duckdb")
    check_alike(tmp_path / "duckdb", tmp_path / "out")
    with pytest.raises(FileError, match="--overwrite"):
        decide_candidates(THRESHOLDS, urls, out, engine="spark")
    decide_candidates(THRESHOLDS, urls, out, engine="spark", overwrite=True)
    assert not (tmp_path / "out.unfinished").exists()


def test_addresses_need_spark_on_both_sides(parts, tmp_path):
    with pytest.raises(OptionError):
        decide_candidates(THRESHOLDS, parts.as_uri(), tmp_path / "out")
    with pytest.raises(OptionError):
        decide_candidates(THRESHOLDS, parts.as_uri(), tmp_path / "out", engine="spark")


def test_spark_writes_no_single_file(parts, tmp_path):
    with pytest.raises(OptionError, match="folder"):
        decide_candidates(THRESHOLDS, parts, tmp_path / "out.parquet", engine="spark")


ON_CLUSTER = """
import sys, numpy as np
from actc.data.calibration import KNOTS, Curves
from actc.decide.decide_candidates import decide_candidates
from actc.data.triples import Thresholds
thresholds = Thresholds(("knows", "likes"), np.array([0.5, -0.25]), 0.75, np.array([True, True]))
decide_candidates(thresholds, sys.argv[1], sys.argv[2], memory="512MB", engine="spark", master=sys.argv[3])
"""


class Cluster:
    """A standalone master and two workers with one core each, every one a process group of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"spark://127.0.0.1:{free.getsockname()[1]}"
        port = self.address.rpartition(":")[2]
        self.master = self.start("master", "master.Master", "--host", "127.0.0.1", "--port", port)
        self.wait_for("master", "I have been elected leader")
        self.workers = [
            self.start(f"worker{i}", "worker.Worker", "--host", "127.0.0.1", "-c", "1", "-m", "600m", self.address)
            for i in range(2)
        ]
        for i in range(2):
            self.wait_for(f"worker{i}", "Successfully registered")

    def start(self, name: str, kind: str, *words: str) -> subprocess.Popen:
        home = Path(pyspark.__file__).parent
        command = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{kind}", *words, "--webui-port", "0"]
        if "worker" in name:
            command[2:2] = ["--work-dir", self.folder / name]
        env = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_NO_DAEMONIZE": "1"}
        with open(self.folder / f"{name}.log", "w") as log:
            return subprocess.Popen(command, env=env, stdout=log, stderr=log, start_new_session=True)

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def wait_for(self, name: str, words: str, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while words not in self.log(name):
            assert time.monotonic() < end, self.log(name)
            time.sleep(0.1)

    def kill(self, process: subprocess.Popen) -> None:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)  # the executor is a child of its worker
            process.wait()

    def stop(self) -> None:
        for process in (*self.workers, self.master):
            self.kill(process)


@pytest.mark.long
def test_a_cluster_survives_the_death_of_a_worker(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    for i in range(12):
        query = f"SELECT head, relation, tail || '-{i}' AS tail, score FROM ({QUERY.format(50_000)})"
        duckdb.sql(f"COPY ({query}) TO '{folder}/part-{i}.parquet'")
    decide_candidates(THRESHOLDS, folder, tmp_path / "duckdb")
    cluster = Cluster(tmp_path)
    command = [sys.executable, "-c", ON_CLUSTER, str(folder), str(tmp_path / "out"), cluster.address]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "SPARK_LOCAL_IP": "127.0.0.1"}
    run = subprocess.Popen(command, env=env)
    try:
        while not any(path.name.startswith("part-") for path in tmp_path.glob(".out*/**/*")):
            assert run.poll() is None, "it ended before a worker could be killed"
            time.sleep(0.02)
        cluster.kill(cluster.workers[0])
        assert run.poll() is None, "it ended before a worker was killed"
        assert not (tmp_path / "out").exists()
        assert run.wait(timeout=120) == 0
    finally:
        run.kill()
        cluster.stop()
    assert "Removing executor" in cluster.log("master") or "Removing worker" in cluster.log("master")
    check_alike(tmp_path / "duckdb", tmp_path / "out")
