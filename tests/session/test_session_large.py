"""A session over more candidates than it reads: it has a sample, and its thresholds hold for all of them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from actc.data.files import write_scored
from actc.decide.decide_candidates import decide_candidates
from actc.errors import FileError
from actc.session.export import export_session
from actc.session.settings import Settings
from actc.session.start import create_session
from actc.session.status import progress
from tests.conftest import make_pool
from tests.session.answering import answer_truly

SIZE = 12_000
RELATIONS = 100_000
START = """
import sys
from pathlib import Path
from actc import calibrate
from actc.session.start import create_session
create_session(sys.argv[1] + "/session", sys.argv[1] + "/many.tsv")
calibrate(sys.argv[1] + "/many.tsv", out=sys.argv[1] + "/thresholds.json")
lines = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
print(lines["VmHWM"].split()[0])  # ru_maxrss would count the process that started this one
"""


@pytest.mark.long
def test_as_many_relations_as_candidates_fit_into_a_gigabyte(tmp_path):
    numbers = np.random.default_rng(0).normal(size=RELATIONS).tolist()
    lines = [f"h{at}\tr{at}\tt{at}\t{score}" for at, score in enumerate(numbers)]
    (tmp_path / "many.tsv").write_text("\n".join(lines) + "\n")
    ran = subprocess.run(
        [sys.executable, "-c", START, tmp_path], capture_output=True, text=True, timeout=300, check=True
    )
    assert int(ran.stdout) < 1_000_000  # kB


@pytest.fixture(scope="module")
def whole():
    return make_pool(SIZE, 5, seed=1)


@pytest.fixture(scope="module")
def parts(whole, tmp_path_factory):
    folder = tmp_path_factory.mktemp("candidates")
    for number, rows in enumerate(np.array_split(np.arange(SIZE), 3)):
        write_scored(folder / f"part-{number}.parquet", whole[0].take(rows))
    return folder


@pytest.mark.parametrize("method", ["pooled", "actc-lr-rndm"])
def test_a_session_has_a_sample_and_its_thresholds_hold_for_all(parts, whole, tmp_path, monkeypatch, method):
    monkeypatch.setattr("actc.data.files.MOST_READ", 1_000)
    session = create_session(tmp_path / "session", parts, Settings(method=method, budget=60))
    sample = session.read_pool()
    assert len(sample) == session.settings.triples == progress(session)["triples"] == 1_000
    assert whole[0].contains(sample).all()
    answer_truly(session, *whole, 60)
    checks = session.store.rows("SELECT DISTINCT reason FROM task WHERE selection = 'check'")
    assert len(checks) == (method == "pooled")  # no card shows which way a check would be decided
    export_session(session, thresholds=tmp_path / "thresholds.json", accepted=tmp_path / "accepted.tsv")
    decided = decide_candidates(tmp_path / "thresholds.json", parts, tmp_path / "all.parquet")
    assert decided.candidates.sum() == SIZE
    share = decided.accepted.sum() / SIZE
    assert share == pytest.approx(len((tmp_path / "accepted.tsv").read_text().splitlines()) / 1_000, abs=0.05)
    assert share == pytest.approx(whole[1].mean(), abs=0.15)


def test_parts_that_share_a_triple_are_refused_by_the_name_of_their_folder(whole, tmp_path):
    (tmp_path / "parts").mkdir()
    for number, name in enumerate(("a.tsv", "b.tsv")):
        part = whole[0].take([1, 2, 3])
        write_scored(tmp_path / "parts" / name, part.with_scores(part.scores + number))
    with pytest.raises(FileError) as error:
        create_session(tmp_path / "session", tmp_path / "parts")
    assert str(error.value).startswith(f"{tmp_path / 'parts' / 'b.tsv'}, line 2: ")
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]
