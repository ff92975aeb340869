"""Nothing that a file names, and nothing that lies in the working folder, is run; only the options of a method do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from actc.methods.named import named_method
from actc.session import Session
from tests.conftest import change_settings, later

EVIL = "from pathlib import Path\nPath(__file__).with_name('sprung').touch()\nraise SystemExit('taken over')\n"
OWN = (
    "from dataclasses import replace\nfrom actc.methods.named import METHODS\n"
    "mine = replace(METHODS['pooled'], summary='')\n"
)


@pytest.fixture
def home(made, tmp_path, monkeypatch):
    """A working folder with files of every kind, and a trap for whoever imports from it."""
    home = shutil.copytree(made, tmp_path / "home")
    (home / "evil.py").write_text(EVIL)
    monkeypatch.chdir(home)
    return home


def actc(*words: str, code: int = 0) -> str:
    """Run the command as its users do, in a process of its own."""
    run = [sys.executable, "-P", "-c", "from actc.cli.main import main; main()", *words]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_thresholds_file_imports_nothing(home):
    content = json.loads((home / "th.json").read_text())
    (home / "th.json").write_text(json.dumps(content | {"method": "evil:method"}))
    assert "evil:method" in actc("report", "th.json", "--quiet", code=2)
    assert not (home / "sprung").exists()


@pytest.mark.parametrize("command", [later("export"), "report"])
def test_a_session_s_settings_import_nothing(home, command):
    change_settings(home / "s", method="evil:method")
    words = {"export": ["--thresholds", "t.json"]}.get(command, [])
    actc(command, "s", *words, "--quiet", code=2)
    assert not (home / "sprung").exists()


def test_the_planner_imports_nothing_from_the_working_folder(home):
    for name in ("json.py", "numpy.py", "fastapi.py", "sqlite3.py"):
        (home / name).write_text(EVIL)
    from actc.session.processes import command_of

    process = subprocess.Popen(command_of(Session(home / "s")), stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=home)
    with pytest.raises(subprocess.TimeoutExpired):  # it runs until its input closes
        process.wait(2)
    assert process.communicate(timeout=120)[1] == b""
    assert not (home / "sprung").exists()


@pytest.mark.long
def test_processes_of_a_comparison_import_nothing_from_the_working_folder(home):
    (home / "json.py").write_text(EVIL)
    actc("bench", "d/m", "--method", "localopt-acc", "--budget", "5", "--repeats", "2", "--jobs", "2", "--quiet")
    assert not (home / "sprung").exists()


def test_a_method_of_one_s_own_is_found_by_the_option(home):
    (home / "own.py").write_text(OWN)
    actc("calibrate", "scores.tsv", "--labels", "labels.tsv", "--method", "own:mine", "--quiet")
    assert json.loads((home / "thresholds.json").read_text())["method"] == "own:mine"
    assert "--allow-method own:mine" in actc("report", "thresholds.json", "--quiet", code=2)
    actc("--allow-method", "own:mine", "report", "thresholds.json", "--quiet")


def test_a_name_never_imports():
    from actc.errors import ActcError

    with pytest.raises(ActcError, match="os:path"):
        named_method("os:path")
    assert named_method("actc-lr-rndm:n=50").n == 50  # type: ignore[attr-defined]


@pytest.mark.long
def test_a_program_that_judges_keeps_its_own_path(home):
    """The command keeps its helpers from the working folder; a user's program is no helper of it."""
    (home / "beside.py").write_text("word = 'true'\n")
    (home / "judge.py").write_text(
        "import json, sys, beside\nfor line in sys.stdin:\n"
        "    print(json.dumps({'triple': json.loads(line)['triple'], 'answer': beside.word}), flush=True)\n"
    )
    assert "PYTHONSAFEPATH" not in os.environ
    actc("judge", "s", "--program", f"{sys.executable} judge.py", "--count", "3", "--quiet")
