"""The commands about trust, as a person types them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from actc.cli.main import commands
from actc.data.calibration import Calibration
from actc.data.files import read_scored, write_scored, write_triples
from tests.synthetic import make_truth


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pool, labels, _ = make_truth(1200, 5)
    rows = np.random.default_rng(0).permutation(len(pool))[:150]
    write_scored("scores.tsv", pool)
    write_labels("labels.tsv", pool, rows, labels)
    return pool, labels


def write_labels(path, triples, rows, labels):
    names = zip(*(triples.triple(row) for row in rows.tolist()), strict=True)
    columns = dict(zip(("head", "relation", "tail"), names, strict=True))
    write_triples(path, {**columns, "label": labels[rows].astype(int)})


def run(*words):
    result = CliRunner().invoke(commands, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


CALIBRATE = ("calibrate", "scores.tsv", "--labels", "labels.tsv")


def test_an_audit_from_the_slice_to_the_certificate(folder):
    _, labels = folder
    run(*CALIBRATE, "--picks", "random", "--precision", 0.8, "--quiet")
    run("decide", "thresholds.json", "scores.tsv", "--out", "accepted.tsv", "--quiet")
    assert "drawn" in run("audit", "accepted.tsv", "--target", 0.6, "--count", 60, "--out", "slice.tsv")
    accepted, part = read_scored("accepted.tsv")[0], read_scored("slice.tsv")[0]
    pool = folder[0]
    rows = pool.find(*zip(*(part.triple(row) for row in range(len(part))), strict=True))
    write_labels("judged.tsv", pool, rows, labels)
    judged = ("audit", "accepted.tsv", "--labels", "judged.tsv")
    output = run(*judged, "--target", 0.6)
    assert f"{len(accepted):,} are accepted in all" in output
    assert "Certified: at least 60%" in output
    output = run(*judged, "--within", 0.02, "--count", 20, "--out", "more.tsv")
    assert "more answers" in output
    more = read_scored("more.tsv")[0]
    assert len(more) == 20
    assert not more.contains(part).any()
    write_labels("judged.tsv", pool, rows, np.zeros_like(labels))
    output = run(*judged, "--target", 0.6)
    assert "out of reach" in output


def test_thresholds_of_a_sample_can_be_reported_on(folder, monkeypatch):
    monkeypatch.setattr("actc.data.files.MOST_READ", 200)
    run(*CALIBRATE, "--quiet")
    counts = Calibration.read("thresholds.json").counts
    run("report", "thresholds.json", "--json", "report.json")
    found = json.loads(Path("report.json").read_text())
    assert 200 < counts.pool == found["pool"] < len(folder[0])
    assert counts.annotated == found["answers"] == 150
    assert counts.accepted.sum() == found["accepted"]
