"""What a stranger meets first: `make test` says what it lacks, and skips nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FEW_TOOLS = ("sh", "sed", "head", "mktemp", "rm", "mv", "env", "true")


def write_script(path: Path, *lines: str) -> None:
    with path.open("x") as file:  # a new file, and never the target of a link
        file.write("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)


@pytest.fixture
def bare(tmp_path) -> Path:
    """A folder to be the whole PATH: a Python and a few tools of a user who is not root."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in FEW_TOOLS:
        (folder / name).symlink_to(shutil.which(name))
    write_script(folder / "python3", f'exec {sys.executable} "$@"')
    write_script(folder / "id", "echo 1000")
    write_script(folder / "apt-cache", "exit 1")
    write_script(
        folder / "apt-get", f'echo "$*" >> {folder}/calls', f"[ $1 = update ] || mv {folder}/new-java {folder}/java"
    )
    return folder


def prepare(bare: Path, *words: str, **environment: str) -> subprocess.CompletedProcess:
    environment = {"PATH": str(bare), "HOME": str(bare), **environment}
    command = ["/bin/sh", ROOT / "tools" / "prepare", *words]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def add_chromium(bare: Path) -> None:
    write_script(bare / "chromium", "echo Chromium 140.0")


def add_java(bare: Path, version: str, name: str = "java") -> None:
    write_script(bare / name, f"echo 'openjdk version \"{version}\" 2026-10-20' >&2")


def test_one_sentence_says_everything_that_is_missing(bare):
    result = prepare(bare)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "lacks a Chromium that runs, Java 17 or newer; " in result.stderr
    assert "sudo apt-get install" in result.stderr
    assert "default-jre-headless" in result.stderr
    assert not (bare / "calls").exists()  # nothing is installed where it is not allowed


@pytest.mark.parametrize(("version", "lacks"), [("1.8.0_402", True), ("11.0.2", True), ("17.0.21", False)])
def test_an_old_java_is_none(bare, version, lacks):
    add_chromium(bare)
    add_java(bare, version)
    assert prepare(bare).returncode == 2 * lacks


def test_a_chromium_can_be_named(bare, tmp_path):
    add_java(bare, "21.0.1")
    write_script(tmp_path / "my browser", "echo Chromium 140.0")
    assert prepare(bare, ACTC_CHROMIUM=str(tmp_path / "my browser")).returncode == 0
    assert "'nowhere', which does not run" in prepare(bare, ACTC_CHROMIUM="nowhere").stderr


def test_what_is_missing_is_installed_where_that_is_allowed(bare):
    add_chromium(bare)
    add_java(bare, "21.0.1", "new-java")
    write_script(bare / "sudo", 'shift; exec "$@"')
    result = prepare(bare)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "make test: installing default-jre-headless\n"
    update, install = (bare / "calls").read_text().splitlines()
    assert (update.split()[0], install.split()[-1]) == ("update", "default-jre-headless")


def test_a_container_works_as_the_owner_of_the_mounted_folder(tmp_path):
    owner = os.getuid() or 1234  # as root, as in a container, somebody else
    os.chown(tmp_path, owner, os.getgid() if os.getuid() else 1234)
    write = [ROOT / "tools" / "as_owner", "sh", "-c", "id -u; echo x > written"]
    done = subprocess.run(write, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == f"{owner}\n"
    assert (tmp_path / "written").stat().st_uid == owner


def test_the_versions_hold_for_what_builds_the_package_too():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pinned = {line.split("==")[0] for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line}
    assert {*project["build-system"]["requires"], "pluggy", "pathspec", "trove-classifiers", "editables"} <= pinned
    for name in ("Makefile", "Containerfile"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "PIP_BUILD_CONSTRAINT" in text
        assert " -c " not in text.split("pip install", 1)[1].splitlines()[0]


@pytest.mark.parametrize(
    "code", ["import pytest; pytest.importorskip('nothing_like_it')", "import pytest\ndef test(): pytest.skip()"]
)
def test_a_skip_is_a_failure(code, tmp_path):
    (tmp_path / "test_one.py").write_text(code)
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", tmp_path]
    result = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False)
    assert result.returncode != 0
    assert "No test may be skipped" in result.stdout
