"""No command writes over what is there, unless it is told to."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from actc.cli.main import commands
from actc.data.deliver import check_output
from actc.data.files import write_scored, write_triples
from actc.errors import FileError
from actc.session import Judgement
from actc.session.settings import Settings
from tests.complete.small_graph import make_graph
from tests.conftest import start_copy
from tests.synthetic import make_truth


def run(*words: object) -> None:
    result = CliRunner().invoke(commands, [str(word) for word in words])
    if result.exception is not None:
        raise result.exception


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Make what the commands below read."""
    home = tmp_path_factory.mktemp("home")
    pool, labels, _ = make_truth(200, 2)
    write_scored(home / "scores.tsv", pool)
    write_triples(home / "labels.tsv", {**pool.take(np.arange(40)).columns(), "label": labels[:40].astype(int)})
    session = start_copy(home / "session", home / "scores.tsv", Settings(budget=20))
    ada = session.add_annotator("ada")
    for task in session.ask(ada, 10):
        session.record(ada, [Judgement("true" if task.score > 0 else "false", task.triple, str(task.triple))])
    session.close()
    run("calibrate", home / "scores.tsv", "--labels", home / "labels.tsv", "--out", home / "th.json", "--quiet")
    write_triples(home / "graph.tsv", make_graph().columns())
    cell = home / "d" / "m"
    cell.mkdir(parents=True)
    for part in ("valid.tsv", "test.tsv"):
        write_triples(cell / part, {**pool.columns(), "score": pool.scores, "label": labels.astype(int)})
    return home


COMMANDS = {
    "calibrate": lambda home, out: ["calibrate", home / "scores.tsv", "--labels", home / "labels.tsv", "--out", out],
    "decide": lambda home, out: ["decide", home / "th.json", home / "scores.tsv", "--out", out.with_suffix(".tsv")],
    "report": lambda home, out: ["report", home / "th.json", "--out", out],
    "report --json": lambda home, out: ["report", home / "th.json", "--out", str(out) + ".html", "--json", out],
    "audit": lambda home, out: ["audit", home / "scores.tsv", "--out", out.with_suffix(".tsv")],
    "export --labels": lambda home, out: ["export", home / "session", "--labels", out.with_suffix(".tsv")],
    "export --history": lambda home, out: ["export", home / "session", "--history", out],
    "export --thresholds": lambda home, out: ["export", home / "session", "--thresholds", out],
    "export --accepted": lambda home, out: ["export", home / "session", "--accepted", out.with_suffix(".tsv")],
    "export --label-studio": lambda home, out: ["export", home / "session", "--label-studio", out],
    "convert": lambda home, out: ["convert", home / "graph.tsv", "--base", "e:", "--out", out.with_suffix(".nt")],
    "bench": lambda home, out: [
        *("bench", home / "d" / "m", "--method", "localopt-acc", "--budget", "5", "--repeats", "1", "--jobs", "1"),
        *("--out", out),
    ],
}  # fmt: skip
PRECIOUS = "a\tr\tb\t0.5\tmine\n"


def place_of(words: list[object]) -> Path:
    return Path(str(words[-1]))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_user_s_file_is_not_written_over_unless_told_to(home, tmp_path, name):
    words = COMMANDS[name](home, tmp_path / "out.x")
    place = place_of(words)
    place.write_text(PRECIOUS)
    with pytest.raises(FileError, match="--overwrite"):
        run(*words, "--quiet")
    assert place.read_text() == PRECIOUS
    run(*words, "--overwrite", "--quiet")
    assert place.read_text() != PRECIOUS
    with pytest.raises(FileError, match="--overwrite"):
        run(*words, "--quiet")  # it is not asked who wrote it


def test_an_input_is_never_written_over(home, tmp_path):
    before = (home / "scores.tsv").read_bytes()
    for words in (
        ["calibrate", home / "scores.tsv", "--labels", home / "labels.tsv", "--out", home / "scores.tsv"],
        ["audit", home / "scores.tsv", "--out", home / "scores.tsv"],
        ["decide", home / "th.json", home / "d" / "m", "--graph", home / "scores.tsv", "--out", home / "scores.tsv"],
        ["export", home / "session", "--labels", home / "session" / "pool.parquet"],
        ["export", home / "session", "--history", home / "session" / "session.sqlite"],
        ["bench", home / "d" / "m", "--out", home / "d" / "m" / "valid.tsv"],
    ):
        with pytest.raises(FileError):
            run(*words, "--overwrite", "--quiet")
    assert (home / "scores.tsv").read_bytes() == before


def test_no_file_of_a_session_and_no_device_is_written_over(home):
    written_anew = "decisions.parquet"  # by every export
    inside = [path for path in (home / "session").iterdir() if path.is_file() and path.name != written_anew]
    assert {"pool.parquet", "session.sqlite"} <= {path.name for path in inside}
    for path in (*inside, Path("/dev/null")):
        with pytest.raises(FileError):
            check_output(path, overwrite=True)


@pytest.mark.parametrize("command", ["demo", "paper"])
def test_a_user_s_folder_is_not_filled(home, tmp_path, command):
    (tmp_path / "thesis.doc").write_text("precious")
    with pytest.raises(FileError):
        run(command, "--out", tmp_path, "--quiet")
    with pytest.raises(FileError):
        run(command, "--out", home / "session", "--overwrite")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.doc"]


def test_a_replaced_file_keeps_its_rights(home, tmp_path):
    out = tmp_path / "th.json"
    words = ["calibrate", home / "scores.tsv", "--labels", home / "labels.tsv", "--out", out, "--quiet"]
    run(*words)
    out.chmod(0o600)
    run(*words, "--overwrite")
    assert out.stat().st_mode & 0o777 == 0o600
    assert json.loads(out.read_text())["format"] == "actc-thresholds"
