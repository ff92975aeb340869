"""The commands of a session, as a person would call them."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from actc.data.files import write_scored
from actc.session.start import create_session
from actc.web.serve import link_to_open
from tests.cli.test_cli import actc
from tests.conftest import make_pool


@pytest.fixture(scope="module")
def sample(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    done = actc("start", folder / "session", "--sample", "--budget", 20)
    assert done.returncode == 0
    assert f"actc annotate {folder / 'session'}" in done.stdout
    assert "not used" not in done.stderr
    return folder / "session"


def test_from_start_to_the_first_judgement_on_the_packaged_sample(sample):
    done = subprocess.run(
        [sys.executable, "-m", "actc.cli.main", "annotate", str(sample), "--terminal"],
        input="tnwell known\nfq",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "[t] true" in done.stdout
    report = actc("report", sample, "--out", sample.parent / "report.html")
    assert "2 of 20 triples judged" in report.stdout


def test_start_says_how_many_entities_have_a_name(tmp_path):
    (tmp_path / "scores.tsv").write_text("Q1\tP2\tQ3\t0.5\n")
    started = actc("start", tmp_path / "session", tmp_path / "scores.tsv")
    assert "0 of 2 entities have a name" in started.stdout
    (tmp_path / "names.csv").write_text("id,name\nQ1,Ada\nQ3,London\n")
    done = subprocess.run(
        [sys.executable, "-m", "actc.cli.main", "annotate", "session", "--terminal", "--names", "names.csv"],
        cwd=tmp_path,
        input="q",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Ada" in done.stdout


def test_a_server_for_the_whole_network_warns_about_plain_http_and_a_port_in_use_is_named(sample):
    command = [sys.executable, "-m", "actc.cli.main", "annotate", str(sample), "--host", "0.0.0.0", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        shown = ""
        while "Each link" not in shown:
            shown += server.stdout.readline()
        port = re.search(r"http://[^/]*:(\d+)/", shown)[1]
        done = actc("annotate", sample, "--host", "0.0.0.0", "--port", port)
        server.send_signal(signal.SIGTERM)
    assert "plain HTTP" in shown
    assert done.returncode == 2
    assert "--port" in done.stderr


def test_a_session_with_annotators_gets_no_further_one_and_its_owner_the_browser(tmp_path):
    write_scored(tmp_path / "scores.parquet", make_pool(30, 2)[0])
    session = create_session(tmp_path / "session", tmp_path / "scores.parquet")
    session.add_annotator("Ada")
    command = [sys.executable, "-m", "actc.cli.main", "annotate", str(tmp_path / "session"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        lines = [line for line in iter(server.stdout.readline, "") if "Each link" not in line or server.terminate()]
    assert [line.split()[0] for line in lines if "http" in line] == ["owner", "Ada"]
    assert [one.name for one in session.people()] == ["Ada"]
    assert link_to_open([("owner", "/o/1"), ("Ada", "/j/2")]) == "/o/1"
    assert link_to_open([("owner", "/o/1"), ("you", "/j/2")]) == "/j/2"
