"""What the tests of commands read."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from actc.data.files import write_scored, write_triples
from tests.cli.test_cli import actc
from tests.synthetic import make_truth


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a file of every kind that commands read, and a session with answers."""
    home = tmp_path_factory.mktemp("hostile")
    pool, labels, _ = make_truth(120, 2)
    answers = {**pool.take(np.arange(30)).columns(), "label": labels[:30].astype(int)}
    write_scored(home / "scores.tsv", pool)
    write_scored(home / "parts.parquet", pool)
    write_triples(home / "labels.tsv", answers)
    write_triples(home / "graph.tsv", pool.columns())
    (home / "d" / "m").mkdir(parents=True)
    for part in ("valid.tsv", "test.tsv"):
        write_triples(home / "d" / "m" / part, {**pool.columns(), "score": pool.scores, "label": labels.astype(int)})
    (home / "names.json").write_text('{"e1": {"name": "Ada", "description": "x"}, "r0": "knows"}')
    (home / "notes.md").write_text("# Judge\n\nwith *care*.\n")
    for line in (
        "constraints graph.tsv --out constraints.tsv",
        "calibrate scores.tsv --labels labels.tsv --constraints constraints.tsv --graph graph.tsv --out th.json",
        "start s scores.tsv --budget 20",
        "import s labels.tsv --annotator Ada",
        "export s --history history.jsonl --label-studio studio.json",
        "convert graph.tsv --base http://e/ --out graph.nt",
        "convert graph.tsv --base http://e/ --out graph.ttl",
    ):
        assert actc(*line.split(), cwd=home).returncode == 0, line
    shutil.copy(home / "th.json", home / "report.json")
    return home
