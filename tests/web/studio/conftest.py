"""A studio in a new folder, and a small graph to drop into it."""

import shutil
from contextlib import nullcontext

import numpy as np
import pytest
from fastapi.testclient import TestClient

from actc.bench.sample.demo import make_families
from actc.data.files import write_triples
from actc.web.studio.project import create_studio_folder
from actc.web.studio.runs import LIVING, list_runs
from actc.web.studio.server import create_studio
from tests.conftest import wait_for
from tests.web.browser.conftest import start_process  # noqa: F401

BYTES = {"content-type": "application/octet-stream"}


@pytest.fixture(scope="session")
def families(build_once):
    """A graph of which most facts follow from others; a tenth is not in it."""
    return build_once("families", write_families) / "families.tsv"


def write_families(folder):
    graph = make_families(np.random.default_rng(0))
    write_triples(folder / "families.tsv", graph.take(np.random.default_rng(1).random(len(graph)) < 0.9).columns())


@pytest.fixture(scope="session")
def completed(build_once, families):
    """A studio in which candidates of a project were found, and nobody has judged yet; to be copied."""
    return build_once("studio-completed", lambda folder: find_candidates(folder / "studio", families)) / "studio"


def find_candidates(folder, families):
    app = create_studio(create_studio_folder(folder))
    with TestClient(app, base_url="http://127.0.0.1:8766") as client:
        enter(client)
        run_to_its_end(client, add_project(client, families, budget=10), "go")


def run_to_its_end(client, name, what, state="done", **more):
    """Start a run and wait until it ends."""
    client.post(f"/api/projects/{name}/runs", json={"what": what, **more}).raise_for_status()
    run = list_runs(client.app.state.studio.folder / name)[-1]
    wait_for(lambda: run.state not in LIVING, 120)
    assert run.state == state, run.describe()


@pytest.fixture(autouse=True)
def nobody_plans(monkeypatch):
    """Start no planner in a process of its own for a session that is opened here: its first plan is enough."""
    monkeypatch.setattr("actc.web.studio.studio.planning", lambda folder, report: nullcontext())


@pytest.fixture
def studio(tmp_path):
    return create_studio_folder(tmp_path / "studio")


@pytest.fixture
def client(studio):
    """Somebody who opened the studio's link."""
    yield from open_studio(studio)


@pytest.fixture(scope="module")
def shared_client(tmp_path_factory):
    """Somebody who opened the link of a studio that a whole file's tests share: for what is refused, or made anew."""
    yield from open_studio(create_studio_folder(tmp_path_factory.mktemp("shared") / "studio"))


@pytest.fixture
def completed_client(completed, tmp_path):
    """Somebody who opened the link of a studio with candidates to judge."""
    yield from open_studio(shutil.copytree(completed, tmp_path / "studio"))


def enter(client):
    """Open the studio's link; the cookie that it sets is for its pages' own path, this one for all of them."""
    studio = client.app.state.studio
    assert client.get(f"/s/{studio.token}").status_code == 200
    client.cookies.set(studio.cookie, studio.token)


def open_studio(folder):
    app = create_studio(folder)
    with TestClient(app, base_url="http://127.0.0.1:8766") as client:
        enter(client)
        yield client


def add_project(client, path=None, **options):
    """Make a project with a graph in it."""
    name = client.post("/api/projects", json={"title": "Families"}).json()["name"]
    if path is not None:
        upload(client, name, path.name, path.read_bytes())
    if options:
        assert client.post(f"/api/projects/{name}", json=options).status_code == 200
    return name


def upload(client, project, file, content):
    """Send a file into a project, and return the reply."""
    return client.put(f"/api/projects/{project}/files/{file}", content=content, headers=BYTES)
