"""Runs outlive the server, end when told to, and go on after a kill."""

import json
import os
import random
import signal
import time
from collections import defaultdict
from contextlib import ExitStack

import httpx
import pytest

from actc.data.progress import read_progress
from actc.session import Session
from actc.web.studio.project import add_sample, create_project
from actc.web.studio.runs import add_run, list_runs, resume_runs
from tests.conftest import pages_of
from tests.conftest import wait_for as until
from tests.web.browser.conftest import Process
from tests.web.studio.conftest import add_project


def wait_for(run, *states, seconds=120):
    until(lambda: run.state in states, seconds)
    return run.state


def project_in(studio):
    return create_project(studio, "A project").folder


def test_a_run_does_its_commands_in_the_project_s_folder_and_says_how_it_ended(studio):
    project = project_in(studio)
    (project / "files" / "graph.tsv").write_text("a\tr\tb\nb\tr\tc\n")
    words = ["actc", "convert", "files/graph.tsv", "--out", "files/graph.csv"]
    run = add_run(project, "go", [words, ["actc", "convert", "files/none.tsv", "--out", "files/x.csv"], words])
    run.start()
    assert wait_for(run, "done", "failed") == "failed"
    told = run.describe()
    assert (project / "files" / "graph.csv").read_text().count("\n") == 3
    assert told["command"].startswith("actc convert files/graph.tsv --out files/graph.csv\n")
    assert "none.tsv" in told["log"][-1]
    assert sum(line.startswith("$ ") for line in told["log"]) == 2  # what comes after a failure is not begun


def test_each_stage_of_a_run_counts_to_a_total_that_it_had_from_its_first_step(completed):
    path, totals = completed / "families/runs/1/progress.jsonl", defaultdict(set)
    for line in map(json.loads, path.read_text().splitlines()):
        totals[line["stage"]] |= {line["total"]} - {None}
    stages = read_progress(path)
    assert [stage["name"] for stage in stages] == list(totals)  # no stage begins twice
    assert {len(values) for values in totals.values()} == {0, 1}
    assert all(stage["done"] == stage["total"] for stage in stages if stage["total"])
    assert sum(stage["seconds"] for stage in stages) > 0.3 * list_runs(completed / "families")[0].describe()["seconds"]


def test_runs_that_a_kill_has_ended_go_on_and_cancelled_ones_do_not(studio):
    requested, killed, cancelled = (add_run(project_in(studio), "go", [["actc", "methods"]]) for _ in range(3))
    cancelled.cancel()
    (killed.folder / "pid").touch()
    assert [run.state for run in (requested, killed, cancelled)] == ["waiting", "interrupted", "cancelled"]
    resume_runs(studio)
    assert wait_for(requested, "done") == wait_for(killed, "done") == "done"
    assert cancelled.state == "cancelled"


@pytest.mark.long
def test_a_cancelled_run_ends_with_all_its_processes_and_goes_on_when_it_is_told_to(studio):
    project = add_sample(create_project(studio, "Words")).change({"goal": "complete"})
    words = ["actc", "complete", "files/train.tsv.gz", "--budget", "10", "--out", "result"]
    run = add_run(project.folder, "go", [words])
    run.start()
    until(lambda: run.state == "running" and run.describe()["stages"])
    run.cancel()
    assert wait_for(run, "cancelled", seconds=10) == "cancelled"
    group = int((run.folder / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        for _ in range(100):  # killed ones are there until somebody has looked
            os.killpg(group, 0)
            time.sleep(0.05)
    assert project.session is None
    run.again()
    assert wait_for(run, "done", "failed") == "done"
    assert project.session is not None


class Killable(Process):
    """A studio as a user starts it, that is killed and started again."""

    def start(self):
        super().start()
        self.client = httpx.Client(base_url=self.origin, timeout=60)
        for name, value in self.client.get(self.links["studio"]).cookies.items():
            self.client.cookies.set(name, value)

    def kill(self):
        self.client.close()
        self.stop(signal.SIGKILL)

    def ask(self, path, body=None):
        answer = self.client.get(path) if body is None else self.client.post(path, json=body)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer


@pytest.mark.long
def test_ten_kills_of_the_studio_and_its_runs_lose_nothing(tmp_path, families):
    chance, said = random.Random(0), set()
    with ExitStack() as ending:
        studio = Killable(tmp_path / "studio", command="studio")
        ending.callback(studio.kill)
        name = add_project(studio.client, families, budget=1000)
        studio.ask(f"/api/projects/{name}/runs", {"what": "go"})
        run = list_runs(tmp_path / "studio" / name)[0]
        for _ in range(5):  # while it looks for candidates: the server, and often the run's whole group
            time.sleep(chance.uniform(0.1, 1.5))
            if chance.random() < 0.6 and run.state == "running":
                os.killpg(int((run.folder / "pid").read_text()), signal.SIGKILL)
            studio.kill()
            studio.start()
        assert wait_for(run, "done", "failed") == "done"
        for _ in range(5):  # while somebody judges
            pages = pages_of(studio.ask(studio.ask(f"/api/projects/{name}").json()["session"]["judge"]))
            until = time.monotonic() + chance.uniform(0.2, 2)
            while time.monotonic() < until:
                time.sleep(0.05)  # whoever asks more than fifty times a second is told to wait
                cards = studio.ask(f"{pages}/api/exchange", {"cards": 1}).json()["cards"]
                if not cards:  # more are being planned
                    continue
                answer = {"answer": "true", "triple": cards[0]["triple"], "key": f"k{len(said)}"}
                got = studio.ask(f"{pages}/api/exchange", {"judgements": [answer]}).json()["recorded"]
                assert got[0]["triple"] == cards[0]["triple"]
                said.add(cards[0]["triple"])
            studio.kill()
            studio.start()
        studio.ask(f"/api/projects/{name}/runs", {"what": "decide"})
        decided = list_runs(tmp_path / "studio" / name)[-1]
        assert wait_for(decided, "done", "failed") == "done", decided.describe()["log"]
    result = tmp_path / "studio" / name / "result"
    session = Session(result / "session")
    assert set(session.annotations().rows.tolist()) == said
    session.close()
    assert (result / "accepted.tsv").read_text().count("\tperson") == len(said)
