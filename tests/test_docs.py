"""The docs run: every Python and bash block is executed, and nothing public goes undocumented."""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import actc
from actc.cli.main import commands

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(python|bash)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def runnable(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


PAGES_THAT_RUN = [
    pytest.param(page, id=page.stem, marks=[pytest.mark.xdist_group(f"page {page.stem}"), pytest.mark.long])
    for page in PAGES
    if runnable(page)
]


@pytest.mark.parametrize("page", PAGES_THAT_RUN)
def test_every_block_of_a_page_runs_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.syspath_prepend(str(tmp_path))
    names: dict[str, object] = {"__name__": "__main__"}
    for language, code in runnable(page):
        if language == "python":
            exec(compile(code, str(page), "exec"), names)
        else:
            result = subprocess.run(["bash", "-euc", code], capture_output=True, text=True, check=False)
            assert result.returncode == 0, f"{code}\n{result.stdout}{result.stderr}"


def test_the_reference_has_every_command():
    written = runpy.run_path(str(ROOT / "docs" / "make_reference.py"))["reference"]()
    assert [name for name in commands.commands if f"### `actc {name}`" not in written] == []


@pytest.mark.parametrize("name", [name for name in actc.__all__ if inspect.isfunction(getattr(actc, name))])
def test_a_public_function_says_what_each_of_its_parameters_is(name):
    function = getattr(actc, name)
    said = inspect.getdoc(function).partition("Parameters\n")[2]
    parameters = inspect.signature(function).parameters.values()
    named = [one.name for one in parameters if one.kind is not inspect.Parameter.VAR_KEYWORD]
    missing = [word for word in named if not re.search(rf"\b{word}\b", said)]
    assert not missing, f"{name} says nothing of {missing}"


def count_words(*pages):
    return sum(len(page.read_text(encoding="utf-8").split()) for page in pages)


def test_the_docs_keep_to_their_budget_of_words():
    guides = sorted((ROOT / "docs" / "how-to").glob("*.md"))
    assert len(guides) <= 12
    assert {page.stem: count_words(page) for page in guides if count_words(page) >= 500} == {}
    assert count_words(*PAGES) <= 20_000
    assert count_words(ROOT / "CHANGELOG.md") <= 1_500
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_every_link_between_pages_leads_somewhere():
    for page in [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.long
def test_the_site_is_built_without_a_warning_and_has_every_public_name(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "WARNING" not in result.stderr
    described = (tmp_path / "docs" / "python.html").read_text(encoding="utf-8")
    assert [name for name in actc.__all__ if f'id="actc.{name}"' not in described] == []
    assert (tmp_path / "search" / "search_index.json").stat().st_size > 100_000
    assert 'src="http' not in (tmp_path / "index.html").read_text(encoding="utf-8")  # it fetches nothing from elsewhere
    assert (tmp_path / "benchmarks" / "pooled" / "cells.csv.gz").is_file()  # what pages link to comes along


def check_figures(folder):
    spec = importlib.util.spec_from_file_location("check_figures", ROOT / "docs" / "check_figures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.wrong_claims(folder))


def test_a_figure_that_its_rows_do_not_bear_out_is_told(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "page.md").write_text("On the mean 2.5,\nat most 3; it never falls.")
    (tmp_path / "rows.csv").write_text("kind,value\na,2\na,3\nb,\n")
    claims = (
        ("On the mean {:.1f}, at most {}", "SELECT avg(value), max(value)"),
        ("it never falls", "SELECT min(value) > 0"),
    )
    rows = " FROM 'rows.csv' WHERE kind = '{}';\n"

    def say(kind):
        text = "".join(f"-- page.md: {words}\n{query}{rows.format(kind)}" for words, query in claims)
        (tmp_path / "docs" / "figures.sql").write_text(text)
        return check_figures(tmp_path)

    assert say("a") == []
    assert len(say("b")) == 2
    (tmp_path / "rows.csv").rename(tmp_path / "old.csv")
    assert ["No files found" in fault for fault in say("a")] == [True, True]
    (tmp_path / "old.csv").rename(tmp_path / "rows.csv")
    (tmp_path / "page.md").write_text("On the mean 2.4, at most 3.")
    assert say("a") == [
        "page.md: the page does not say: On the mean 2.5, at most 3",
        "page.md: the page does not say: it never falls",
    ]


def test_no_page_names_a_machine_of_the_makers():
    for page in [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        text = re.sub(r"\b(?!file)\w+://\S+", "", page.read_text(encoding="utf-8"))
        assert not re.search(r"(?<![\w.~<>})-])/(?!tmp/|usr/|dev/|etc/|shared/)[a-z]+/", text), page
