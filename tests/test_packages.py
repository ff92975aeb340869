"""What a stranger installs: the wheel and the source archive, in an environment that never saw this checkout."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import nbformat
import pytest
from twine.commands.check import check

import actc
from tests.test_notebooks import outputs_of, run_notebook

ROOT = Path(__file__).parent.parent
pytestmark = [pytest.mark.long, pytest.mark.xdist_group("packages")]
TEN_LINES = """\
from pykeen.datasets import UMLS
from pykeen.pipeline import pipeline
from actc import accept_triples, pick_triples
from actc.complete.pykeen import from_pykeen
result = pipeline(dataset=UMLS(), model="RotatE", loss="nssa", epochs=20, optimizer_kwargs={"lr": 0.05}, training_kwargs={"batch_size": 512})
pool = from_pykeen(result, best=1)
asked = pick_triples(pool, 50)
facts = {tuple(row) for row in UMLS().testing.label_triples(UMLS().testing.mapped_triples)}
asked["label"] = [tuple(row) in facts for row in asked[["head", "relation", "tail"]].to_numpy()]
accept_triples(pool, asked)
"""  # noqa: E501


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return folder


@pytest.fixture(scope="module")
def stranger(dist, tmp_path_factory):
    """Return a Python with the wheel installed and the packages that it needs beside it, but not this checkout."""
    place = tmp_path_factory.mktemp("stranger")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    python = place / "bin" / "python"
    site = place / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
    # A folder that a .pth file names is searched, but .pth files in it are not read, such as this checkout's
    (site / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    wheel = next(dist.glob("*.whl"))
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel]
    subprocess.run(install, check=True)
    return python


def test_both_are_fit_for_an_index_and_of_the_version_that_the_package_tells(dist):
    wheel, source = sorted(dist.iterdir(), key=lambda path: path.suffix, reverse=True)
    assert check([str(wheel), str(source)], strict=True) is False  # it says whether anything failed
    assert wheel.name == f"actc-{actc.__version__}-py3-none-any.whl"
    assert source.name == f"actc-{actc.__version__}.tar.gz"


def test_the_wheel_is_found_where_it_was_installed(stranger, tmp_path):
    code = "import actc, json, sys; print(json.dumps([actc.__file__, sys.prefix]))"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    said = subprocess.run([stranger, "-c", code], cwd=tmp_path, env=environment, capture_output=True, check=True).stdout
    file, prefix = json.loads(said)
    assert Path(file).is_relative_to(prefix)


def test_from_pykeen_s_model_to_accepted_triples_in_ten_lines_and_two_minutes(stranger, tmp_path):
    cell = nbformat.v4.new_code_cell(TEN_LINES)
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "ten-lines.ipynb")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    clean = {"HOME": str(tmp_path), "PYTHONPATH": "", "OMP_NUM_THREADS": "1"}
    notebook = run_notebook(tmp_path / "ten-lines.ipynb", tmp_path, stranger, **clean)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    shown = [output["data"]["text/html"] for output in outputs_of(notebook) if "text/html" in output.get("data", {})]
    assert "<th>by</th>" in shown[-1]
    assert len(TEN_LINES.splitlines()) == 10
    # Of the processor: what other tests do meanwhile does not count.
    assert after.ru_utime - before.ru_utime < 120


def test_the_source_archive_tests_itself(dist, tmp_path):
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path)  # our own; Python 3.11.2 knows no filter yet
    (source,) = tmp_path.iterdir()
    for name in ("README.md", "Makefile", "mkdocs.yml", "notebooks", "docs/site_pages.py", "tools/prepare", ".ci/run"):
        assert (source / name).exists(), name
    quick = ["tests/data/test_triples.py", "tests/methods/test_methods.py", "tests/scenarios/test_pooled.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *quick]
    environment = os.environ | {"PYTHONPATH": str(source / "src")}
    result = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout[-3000:]
