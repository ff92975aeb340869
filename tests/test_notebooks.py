"""The notebooks run from the first cell to the last, in a kernel of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def run_notebook(path, folder, python=sys.executable, **environment):
    """Run a copy of a notebook in a folder and return it with its outputs; an error in a cell is an error here."""
    code = (
        "import sys, nbformat, nbclient; notebook = nbformat.read(sys.argv[1], 4);"
        "nbclient.NotebookClient(notebook, timeout=600).execute(); nbformat.write(notebook, sys.argv[2])"
    )
    command = [python, "-c", code, str(path), str(folder / "run.ipynb")]
    result = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return nbformat.read(folder / "run.ipynb", 4)


def outputs_of(notebook):
    """Return what the cells show, less what libraries say of this machine on the standard error."""
    every = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return [output for output in every if output.get("name") != "stderr"]


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_the_one_in_the_repository_shows(path, tmp_path):
    shown = outputs_of(run_notebook(path, tmp_path))
    committed = outputs_of(nbformat.read(path, 4))
    assert [sorted(output.get("data", {})) for output in shown] == [sorted(o.get("data", {})) for o in committed]
    assert any("text/html" in output.get("data", {}) for output in committed)
    assert not [output for output in committed if output.output_type == "error"]


def test_there_are_notebooks_for_both_readers():
    assert {path.stem for path in NOTEBOOKS} == {"accept-predictions", "compare-methods"}
