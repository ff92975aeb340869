"""No command writes over what is there, unless it is told to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from actc.cli.main import commands
from actc.data.deliver import check_output
from actc.errors import FileError


def run(*words: object) -> None:
    result = CliRunner().invoke(commands, [str(word) for word in words])
    if result.exception is not None:
        raise result.exception


COMMANDS = {
    "calibrate": lambda home, out: ["calibrate", home / "scores.tsv", "--labels", home / "labels.tsv", "--out", out],
    "decide": lambda home, out: ["decide", home / "th.json", home / "scores.tsv", "--out", out.with_suffix(".tsv")],
    "report": lambda home, out: ["report", home / "th.json", "--out", out],
    "report --json": lambda home, out: ["report", home / "th.json", "--out", str(out) + ".html", "--json", out],
    "audit": lambda home, out: ["audit", home / "scores.tsv", "--out", out.with_suffix(".tsv")],
    "export --labels": lambda home, out: ["export", home / "s", "--labels", out.with_suffix(".tsv")],
    "export --history": lambda home, out: ["export", home / "s", "--history", out],
    "export --thresholds": lambda home, out: ["export", home / "s", "--thresholds", out],
    "export --accepted": lambda home, out: ["export", home / "s", "--accepted", out.with_suffix(".tsv")],
    "export --label-studio": lambda home, out: ["export", home / "s", "--label-studio", out],
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
def test_a_user_s_file_is_not_written_over_unless_told_to(made, tmp_path, name):
    words = COMMANDS[name](made, tmp_path / "out.x")
    place = place_of(words)
    place.write_text(PRECIOUS)
    with pytest.raises(FileError, match="--overwrite"):
        run(*words, "--quiet")
    assert place.read_text() == PRECIOUS
    run(*words, "--overwrite", "--quiet")
    assert place.read_text() != PRECIOUS
    with pytest.raises(FileError, match="--overwrite"):
        run(*words, "--quiet")  # it is not asked who wrote it


def test_an_input_is_never_written_over(made, tmp_path):
    before = (made / "scores.tsv").read_bytes()
    for words in (
        ["calibrate", made / "scores.tsv", "--labels", made / "labels.tsv", "--out", made / "scores.tsv"],
        ["audit", made / "scores.tsv", "--out", made / "scores.tsv"],
        ["decide", made / "th.json", made / "d" / "m", "--graph", made / "scores.tsv", "--out", made / "scores.tsv"],
        ["export", made / "s", "--labels", made / "s" / "pool.parquet"],
        ["export", made / "s", "--history", made / "s" / "session.sqlite"],
        ["bench", made / "d" / "m", "--out", made / "d" / "m" / "valid.tsv"],
    ):
        with pytest.raises(FileError):
            run(*words, "--overwrite", "--quiet")
    assert (made / "scores.tsv").read_bytes() == before


def test_no_file_of_a_session_and_no_device_is_written_over(made):
    written_anew = "decisions.parquet"  # by every export
    inside = [path for path in (made / "s").iterdir() if path.is_file() and path.name != written_anew]
    assert {"pool.parquet", "session.sqlite"} <= {path.name for path in inside}
    for path in (*inside, Path("/dev/null")):
        with pytest.raises(FileError):
            check_output(path, overwrite=True)


@pytest.mark.parametrize("command", ["demo", "paper"])
def test_a_user_s_folder_is_not_filled(made, tmp_path, command):
    (tmp_path / "thesis.doc").write_text("precious")
    with pytest.raises(FileError):
        run(command, "--out", tmp_path, "--quiet")
    with pytest.raises(FileError):
        run(command, "--out", made / "s", "--overwrite")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.doc"]


def test_a_replaced_file_keeps_its_rights(made, tmp_path):
    out = tmp_path / "th.json"
    words = ["calibrate", made / "scores.tsv", "--labels", made / "labels.tsv", "--out", out, "--quiet"]
    run(*words)
    out.chmod(0o600)
    run(*words, "--overwrite")
    assert out.stat().st_mode & 0o777 == 0o600
    assert json.loads(out.read_text())["format"] == "actc-thresholds"
