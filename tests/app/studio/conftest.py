"""A studio in a new folder, and a small graph to drop into it."""

import numpy as np
import pytest
from fastapi.testclient import TestClient

from actc.app.studio.serve import prepare
from actc.app.studio.server import create_studio
from actc.sample.better_graph import make_families
from actc.tables.files import write_triples

BYTES = {"content-type": "application/octet-stream"}


@pytest.fixture(scope="session")
def families(tmp_path_factory):
    """A graph of which most facts follow from others; a tenth is not in it."""
    graph = make_families(np.random.default_rng(0))
    path = tmp_path_factory.mktemp("graph") / "families.tsv"
    write_triples(path, graph.take(np.random.default_rng(1).random(len(graph)) < 0.9).columns())
    return path


@pytest.fixture
def studio(tmp_path):
    return prepare(tmp_path / "studio")


@pytest.fixture
def client(studio):
    """Somebody who opened the studio's link."""
    app = create_studio(studio)
    with TestClient(app, base_url="http://127.0.0.1:8766") as client:
        assert client.get(f"/s/{app.state.studio.token}").status_code == 200
        yield client


def add_project(client, path=None, **options):
    """Make a project with a graph in it."""
    name = client.post("/api/projects", json={"title": "Families"}).json()["name"]
    if path is not None:
        client.put(f"/api/projects/{name}/files/{path.name}", content=path.read_bytes(), headers=BYTES)
    if options:
        assert client.post(f"/api/projects/{name}", json=options).status_code == 200
    return name
