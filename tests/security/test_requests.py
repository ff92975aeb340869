"""Requests without a secret, to a session's pages and to the studio: nothing is shown, changed or begun."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from fastapi.testclient import TestClient

from actc.data.files import write_scored
from actc.session.settings import Settings
from actc.session.start import create_session
from actc.web.server import create_app
from actc.web.studio.project import create_studio_folder
from actc.web.studio.server import create_studio
from tests.synthetic import make_truth

JSON = {"content-type": "application/json"}
PROJECT, TITLE = "words-and-what-they-mean", "Nobody's business"
# Method, path, headers, body. {base} is the address of a session's pages, as far as a stranger can know it.
REQUESTS = {
    "the first page": ("GET", "/", {}, b""),
    "the owner's page": ("GET", "/owner", {}, b""),
    "the list of routes": ("GET", "/openapi.json", {}, b""),
    "the list of routes as a page": ("GET", "/docs", {}, b""),
    "a picture of the session": ("GET", "/api/picture", {}, b""),
    "an answer": ("POST", "/api/exchange", JSON, b'{"judgements": []}'),
    "an answer that is no JSON": ("POST", "/api/exchange", JSON, b"\xff\xfe{"),
    "an answer that nests": ("POST", "/api/exchange", JSON, b"[" * 100_000),
    "an answer of a megabyte": ("POST", "/api/exchange", JSON, b'{"a": "' + b"x" * 2**20 + b'"}'),
    "an answer as a form": ("POST", "/api/exchange", {"content-type": "text/plain"}, b"{}"),
    "a decision": ("POST", "/api/settle", JSON, b'{"triple": 0, "label": true}'),
    "a new annotator": ("POST", "/api/annotators", JSON, b'{"name": "eve"}'),
    "a budget": ("POST", "/api/budget", JSON, b'{"triples": 9}'),
    "a made-up token": ("GET", "/j/1-" + "A" * 32, {}, b""),
    "the owner's token, made up": ("GET", "/o/1-" + "A" * 32, {}, b""),
    "an empty token": ("GET", "/j/", {}, b""),
    "a token of a null character": ("GET", "/j/%00", {}, b""),
    "a token of a megabyte": ("GET", "/j/" + "A" * 30_000, {}, b""),
    "a bearer of nothing": ("GET", "/api/picture", {"authorization": "Bearer "}, b""),
    "a bearer of a made-up token": ("POST", "/api/exchange", JSON | {"authorization": "Bearer 1-" + "A" * 32}, b"{}"),
    "a basic password": ("GET", "/api/picture", {"authorization": "Basic b3duZXI6"}, b""),
    "a cookie of somebody's guess": ("GET", "/api/picture", {"cookie": "actc=1-AAAA; owner=1; secret="}, b""),
    "an address that climbs": ("GET", "/files/..%2f..%2fsecret", {}, b""),
    "an address that climbs by backslashes": ("GET", "/files/..\\..\\secret", {}, b""),
    "the secret itself": ("GET", "/secret", {}, b""),
    "the database": ("GET", "/session.sqlite", {}, b""),
    "another host's name": ("GET", "/", {"host": "evil.example"}, b""),
    "a host of two names": ("GET", "/", {"host": "127.0.0.1, evil.example"}, b""),
    "a forwarded address": (
        "GET",
        "/api/picture",
        {"x-forwarded-for": "127.0.0.1", "x-forwarded-host": "localhost"},
        b"",
    ),
    "another site's page": ("POST", "/api/exchange", JSON | {"origin": "http://evil.example"}, b"{}"),
    "another site's form": ("POST", "/api/annotators", JSON | {"sec-fetch-site": "cross-site"}, b"{}"),
    "a method of no use": ("TRACE", "/", {}, b""),
    "a deletion": ("DELETE", "/api/annotators/1", {}, b""),
    "a socket": ("GET", "/api/picture", {"upgrade": "websocket", "connection": "upgrade"}, b""),
    # of the studio
    "the projects": ("GET", "/api/studio", {}, b""),
    "a project": ("GET", f"/api/projects/{PROJECT}", {}, b""),
    "a project's deletion": ("DELETE", f"/api/projects/{PROJECT}", JSON, b'{"name": "x"}'),
    "a new project": ("POST", "/api/projects", JSON, b'{"title": "x"}'),
    "a file": ("PUT", f"/api/projects/{PROJECT}/files/x.tsv", {"content-type": "application/octet-stream"}, b"a"),
    "a run": ("POST", f"/api/projects/{PROJECT}/runs", JSON, b'{"what": "go"}'),
    "a result": ("GET", f"/p/{PROJECT}/take/accepted.tsv", {}, b""),
    "a session of a project": ("GET", f"/session/{PROJECT}/owner", {"accept": "text/html"}, b""),
    "the studio's token, made up": ("GET", "/s/" + "A" * 32, {}, b""),
}
STATIC = ("the first page", "the owner's page")  # the same for all, without anything of the session
REFUSED = (400, 401, 403, 404, 405, 408, 413, 421, 422)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    home = tmp_path_factory.mktemp("requests")
    write_scored(home / "scores.tsv", make_truth(60, 2)[0])
    with_title = Settings(budget=20, title=TITLE)
    return create_session(home / "s", home / "scores.tsv", with_title)


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    return create_studio(create_studio_folder(tmp_path_factory.mktemp("studio") / "projects"))


def contents(folder):
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("-wal", "-shm"))]
    return {path: path.read_bytes() for path in files}


def ask(app, case):
    method, path, headers, body = REQUESTS[case]
    client = TestClient(app, base_url="http://127.0.0.1:8766", follow_redirects=False)
    return client.request(method, path, headers=headers, content=body)


@pytest.mark.parametrize("case", REQUESTS)
def test_a_request_without_a_secret_is_refused_by_a_session_s_pages(case, session):
    before = contents(session.folder)
    answer = ask(create_app(session), case)
    assert answer.status_code in REFUSED or (case in STATIC and answer.status_code == 200)
    assert TITLE not in answer.text
    assert "set-cookie" not in answer.headers
    assert contents(session.folder) == before


@pytest.mark.parametrize("case", REQUESTS)
def test_a_request_without_a_secret_is_refused_by_the_studio(case, studio, monkeypatch):
    started = []
    monkeypatch.setattr("actc.web.studio.studio.planning", lambda folder, _: started.append(folder) or nullcontext())
    folder = studio.state.studio.folder
    before = contents(folder)
    answer = ask(studio, case)
    assert answer.status_code in REFUSED
    assert PROJECT not in answer.text
    assert "set-cookie" not in answer.headers
    assert contents(folder) == before
    assert started == []
