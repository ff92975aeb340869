"""Every command as a person would call it: an exit code, what it prints."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import tomllib
from contextlib import chdir, redirect_stderr, redirect_stdout
from importlib.metadata import version
from pathlib import Path
from unittest import mock

import pytest
from click.testing import CliRunner

from actc import __version__
from actc.cli.main import JOBS, commands, main
from actc.data.files import write_triples
from tests.conftest import make_pool

ROOT = Path(__file__).parent.parent.parent


def actc(*words, cwd=None):
    """Run a command in this process, which has loaded everything already."""
    command = ["actc", *map(str, words)]
    said, told = io.StringIO(), io.StringIO()
    with (
        chdir(cwd or "."),
        mock.patch.object(sys, "argv", command),
        redirect_stdout(said),
        redirect_stderr(told),
        pytest.raises(SystemExit) as end,
    ):
        main()
    return subprocess.CompletedProcess(command, end.value.code, said.getvalue(), told.getvalue())


def actc_process(*words):
    """Run a command as a person would: in a process of its own."""
    command = [sys.executable, "-m", "actc.cli.main", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def columns(pool, labels=None):
    heads, relations, tails = zip(*map(pool.triple, range(len(pool))), strict=True)
    table = {"head": heads, "relation": relations, "tail": tails, "score": pool.scores}
    return table if labels is None else {**table, "label": labels.astype(int)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "tiny" / "toy"
    folder.mkdir(parents=True)
    for split, seed in (("valid", 0), ("test", 1)):
        write_triples(folder / f"{split}.tsv", columns(*make_pool(seed=seed)))
    pool, labels = make_pool()
    table = columns(pool, labels)
    write_triples(folder / "scores.tsv", {name: table[name] for name in ("head", "relation", "tail", "score")})
    write_triples(folder / "labels.tsv", {name: table[name][:30] for name in ("head", "relation", "tail", "label")})
    return folder


def refused(result, sentence):
    assert result.returncode == 2, result.stderr
    assert result.stderr.startswith("actc: ")
    assert result.stderr.count("\n") == 1
    assert sentence in result.stderr
    return True


def test_without_a_command_the_help_is_printed():
    result = actc_process()
    assert result.returncode == 0
    assert result.stderr == ""
    assert result.stdout.splitlines()[0].startswith("Usage: ")
    assert "  demo " in result.stdout


def test_the_options_of_a_method_are_described():
    shown = " ".join(actc("methods", "actc-lr-dens:n=50").stdout.split())
    assert "n 50 The smallest decision set" in shown
    assert "selector nearest-mean" in shown


def test_bench_writes_tidy_rows_and_prints_means(folder, tmp_path):
    out = tmp_path / "rows.csv"
    words = "--method actc-lr-rndm:n=20,soft=true --method localopt-acc --budget 1,5 --repeats 3 --jobs 1"
    result = actc("bench", folder, *words.split(), "--out", out)
    assert result.returncode == 0, result.stderr
    assert "tiny / toy" in result.stdout
    assert "actc-lr-rndm:n=20,soft=true" in result.stdout
    assert "± standard error" in result.stdout
    with open(out, newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert list(rows[0]) == ["dataset", "model", "method", "budget", "repeat", "accuracy", "f1", "seconds"]
    assert {row["method"] for row in rows} == {"actc-lr-rndm:n=20,soft=true", "localopt-acc"}
    assert len(rows) == 2 * 2 * 3
    assert all(0 <= float(row["accuracy"]) <= 1 for row in rows)


def test_bad_input_gets_one_sentence_and_nothing_is_written(folder, tmp_path):
    out = tmp_path / "out.csv"
    labels = ("--labels", folder / "labels.tsv")
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "one" / "class").mkdir(parents=True)
    for split in ("valid", "test"):
        (tmp_path / "one" / "class" / f"{split}.tsv").write_text("a\tr\tx\t0.5\t1\n")
    cases = [
        (("bench", tmp_path / "nowhere"), "nowhere"),
        (("bench", tmp_path), "valid.tsv"),
        (("bench", tmp_path / "one" / "class"), "class"),
        (("bench", folder, "--method", "actc-lr-rdm"), "'actc-lr-rndm'"),
        (("bench", folder, "--budget", "1,x"), "'x'"),
        (("bench", folder, "--budget", "61"), "61"),
        (("bench", folder, "--repeats", "0"), "0"),
        (("bench", folder, "--draws", "dice", "--budget", "1"), "'dice'"),
        (("bench",), "FOLDERS"),
        (("bench", folder, "--repeat", "3"), "--repeat"),
        (("bench", folder, "--budget", "1", "--repeats", "1", "--out", tmp_path / "no" / "x.csv"), "x.csv"),
        (("calibrate", folder / "scores.tsv", "--out", out), "actc-lr-rndm"),
        (("calibrate", tmp_path / "x.tsv", *labels, "--out", out), "x.tsv"),
        (("calibrate", folder / "labels.tsv", *labels, "--out", out), "'score'"),
        (("calibrate", folder / "scores.tsv", "--labels", folder / "scores.tsv", "--out", out), "'label'"),
        (("decide", tmp_path / "broken.json", folder / "test.tsv", "--out", out), "broken.json"),
        (("nonsense",), "nonsense"),
    ]
    for words, sentence in cases:
        words = (*words, "--method", "actc-lr-rndm") if words[0] == "calibrate" else words
        assert refused(actc(*words), sentence), words
        assert not out.exists()


def test_every_command_is_listed_once_under_a_job_and_none_is_cut_off():
    listed = [name for names in JOBS.values() for name in names]
    assert sorted(listed) == sorted(commands.commands)
    shown = CliRunner().invoke(commands, ["--help"], terminal_width=100).output
    assert shown.count("...") == 1  # of the usage


@pytest.mark.parametrize("name", sorted(commands.commands))
def test_every_command_has_help_with_an_example_and_can_be_quiet(name):
    command = commands.commands[name]
    assert command.help
    assert f"actc {name}" in command.epilog
    assert actc(name, "--help").stdout.count("--quiet") == 1


def test_names_reach_the_terminal_without_markup_and_control_characters(tmp_path):
    names = {"head": ["a", "b"], "relation": ["[/foo]", "[bold]\x1b]52;c;aGk=\x07r"], "tail": ["x", "y"]}
    write_triples(tmp_path / "scores.tsv", {**names, "score": [0.9, 0.2]})
    write_triples(tmp_path / "labels.tsv", {**names, "label": [1, 0]})
    result = actc_process(
        "calibrate", tmp_path / "scores.tsv", "--labels", tmp_path / "labels.tsv", "--out", tmp_path / "t.json"
    )
    assert result.returncode == 0, result.stderr
    assert "[/foo]" in result.stdout
    assert "[bold]" in result.stdout
    refused = actc_process("calibrate", tmp_path / "no\x1b]52;c;aGk=\x07.tsv")
    assert refused.returncode == 2
    assert not {"\x1b", "\x07"} & {*result.stdout, *refused.stderr}


def test_the_version_comes_with_every_extra_and_what_is_installed_of_it():
    lines = actc("--version").stdout.splitlines()
    assert lines[0].startswith(f"actc, version {__version__} (Python 3.")
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {line.split(":")[0].strip() for line in lines[1:]} == set(wanted) - {"dev"}
    assert f"  plots: matplotlib {version('matplotlib')}" in lines


def test_labels_with_head_and_tail_swapped_are_told_so(folder, tmp_path):
    pool, labels = make_pool()
    table = columns(pool, labels)
    names = {"head": table["tail"], "relation": table["relation"], "tail": table["head"], "label": table["label"]}
    write_triples(tmp_path / "swapped.tsv", {name: column[:20] for name, column in names.items()})
    result = actc(
        "calibrate", folder / "scores.tsv", "--labels", tmp_path / "swapped.tsv", "--out", tmp_path / "t.json"
    )
    assert refused(result, "head and tail are the other way round")


def test_a_hard_constraint_on_a_misspelt_relation_does_not_pass_in_silence(folder, tmp_path):
    relation = make_pool()[0].relation_names[0]
    row = f"functional\t{relation}x\t\t3\t1.0\tme\thard\n"
    (tmp_path / "constraints.tsv").write_text("kind\trelation\tother\tcases\tshare\tsource\tuse\n" + row)
    rules = ("--constraints", tmp_path / "constraints.tsv")
    made = ("--labels", folder / "labels.tsv", "--out", tmp_path / "t.json")
    for words in (
        ("calibrate", folder / "scores.tsv", *made, *rules),
        ("decide", tmp_path / "t.json", folder / "scores.tsv", *rules, "--out", tmp_path / "a.tsv"),
        ("start", tmp_path / "s", folder / "scores.tsv", "--graph", folder / "labels.tsv", *rules),
    ):
        result = actc(*words)
        assert result.returncode == 0, result.stderr
        assert f"Did you mean '{relation}'?" in result.stderr, words


@pytest.mark.parametrize(
    "words", ["start new scores.tsv", "complete scores.tsv --out new", "check scores.tsv --out new"]
)
def test_a_budget_below_nothing_says_what_a_budget_is(words, folder):
    assert refused(actc(*words.split(), "--budget", "-3", cwd=folder), "how many")


def test_an_error_in_a_folder_of_parts_names_the_file_and_the_line(folder, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "0.tsv").write_text("a\tr\tb\t0.5\n")
    (tmp_path / "parts" / "1.tsv").write_text("c\tr\td\t0.5\ne\tr\tf\toops\n")
    actc("calibrate", folder / "scores.tsv", "--labels", folder / "labels.tsv", "--out", tmp_path / "t.json")
    for words in (
        ("calibrate", tmp_path / "parts", "--out", tmp_path / "u.json"),
        ("decide", tmp_path / "t.json", tmp_path / "parts", "--out", tmp_path / "a.tsv"),
        ("start", tmp_path / "s", tmp_path / "parts"),
        ("audit", tmp_path / "parts", "--out", tmp_path / "d.tsv"),
    ):
        assert refused(actc(*words), f"{tmp_path}/parts/1.tsv, line 2: "), words
