"""What stands in a folder of a stranger's in the place of a file: a pipe, a device, JSON without an end."""

from __future__ import annotations

import os
import shutil
import signal
import sys

import pytest

from actc.cli.main import main
from actc.session import Settings
from tests.conftest import start_copy


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    home = tmp_path_factory.mktemp("ordinary")
    rows = [f"e{n}\tr\tt{n % 3}" for n in range(30)]
    (home / "graph.tsv").write_text("\n".join(rows) + "\n")
    (home / "scores.tsv").write_text("".join(f"{row}\t0.{n}\n" for n, row in enumerate(rows)))
    start_copy(home / "s", home / "scores.tsv", Settings(budget=5)).close()
    (home / "model").mkdir()
    (home / "better").mkdir()
    return home


PLACES = {
    "s/settings.json": "report s",
    "s/pool.parquet": "export s --accepted new.tsv",
    "model/model.json": "score model graph.tsv --out new.tsv",
    "better/begun.json": "complete graph.tsv --candidates scores.tsv --budget 0 --out better",
    "better/published.json": "withdraw better --to sparql:http://127.0.0.1:9/update --into http://e/",
    ".new.tsv.lock": "convert graph.tsv --out new.tsv",
}


ODD = [(place, kind) for place in PLACES for kind in ("pipe", "device", "deep") if kind != "deep" or ".json" in place]


@pytest.mark.parametrize(("place", "kind"), ODD)
def test_what_has_no_end_is_refused_wherever_it_stands(made, tmp_path, capsys, monkeypatch, place, kind):
    home = tmp_path / "home"
    shutil.copytree(made, home)
    path = home / place
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.write_text("[" * 200_000)
    monkeypatch.chdir(home)
    monkeypatch.setattr(sys, "argv", ["actc", *PLACES[place].split(), "--quiet"])
    signal.alarm(60)  # ends the worker, should it wait for ever
    with pytest.raises(SystemExit) as ended:
        main()
    signal.alarm(0)
    error = capsys.readouterr().err
    assert (ended.value.code, len(error.splitlines())) == (2, 1), error
    assert "memory" not in error
