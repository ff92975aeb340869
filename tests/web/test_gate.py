"""What does not come in time is not waited for; what cannot be stored is refused, once."""

from __future__ import annotations

import ipaddress
import socket
import time
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi.testclient import TestClient

from actc.data.files import write_scored
from actc.errors import OptionError
from actc.session.settings import Settings
from actc.session.start import create_session
from actc.web import access
from actc.web.access import Links
from actc.web.routes import Pages
from actc.web.serve import check_public_url, links_of
from actc.web.server import create_app
from tests.synthetic import make_truth
from tests.web.browser.conftest import Serving


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    home = tmp_path_factory.mktemp("guard")
    write_scored(home / "scores.tsv", make_truth(100, 2)[0])
    return create_session(home / "s", home / "scores.tsv", Settings(budget=20))


def test_a_body_that_never_ends_is_not_waited_for(session, monkeypatch):
    monkeypatch.setattr(access, "SECONDS", 0.5)
    ada = Links.of(session.folder).token(session.add_annotator("eve"))
    head = f"Host: localhost\r\nAuthorization: Bearer {ada}\r\nContent-Type: application/json\r\nContent-Length: 100"
    with (
        Serving(lambda _: create_app(session)) as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=20) as one,
    ):
        one.sendall(f"POST /api/exchange HTTP/1.1\r\n{head}\r\n\r\n{{".encode())
        assert one.recv(1000).startswith(b"HTTP/1.1 408")


def test_pages_behind_a_proxy_have_its_address_and_take_requests_from_there_alone(session):
    public = "https://kg.example.org"
    app, links = create_app(session, address=public), Links.of(session.folder)
    assert all(link.startswith(f"{public}/") for _, link in links_of(session, public))
    head = {"authorization": f"Bearer {links.token(session.add_annotator('ada'))}"}
    for host in ("kg.example.org", "127.0.0.1:8765"):  # as the proxy leaves it, or writes it anew
        browser = TestClient(app, base_url=f"http://{host}")
        assert "; Secure" in browser.get(links.path(session.annotator("ada"))).headers["set-cookie"]
        for origin, status in ((public, 200), ("http://kg.example.org.evil", 403), ("https://evil.example", 403)):
            sent = browser.post("/api/exchange", json={}, headers=head | {"origin": origin})
            assert sent.status_code == status
    assert TestClient(app, base_url="http://evil.example").get("/").status_code == 421


@pytest.mark.parametrize("address", ["kg.example.org", "ftp://kg.example.org", "https://kg.example.org/a", "https://"])
def test_what_is_no_address_of_a_proxy_is_refused(address):
    with pytest.raises(OptionError):
        check_public_url(address)


def test_half_a_character_is_refused_and_the_next_answer_is_stored(session):
    ada = session.add_annotator("ada")
    head = {"content-type": "application/json", "authorization": f"Bearer {Links.of(session.folder).token(ada)}"}
    with Serving(lambda _: create_app(session)) as server:

        def send(body):
            return httpx.post(f"{server.origin}/api/exchange", content=body.encode(), headers=head, timeout=20)

        triple = send('{"cards": 1}').json()["cards"][0]["triple"]
        words = f'"answer": "true", "triple": {triple}, "key": "k1"'
        assert 400 <= send(f'{{"judgements": [{{{words}, "note": "\\ud800"}}]}}').status_code < 500
        assert 400 <= send('{"\\ud800": 1}').status_code < 500
        assert send(f'{{"judgements": [{{{words}, "note": "fine"}}]}}').json()["recorded"] == [
            {"id": 1, "triple": triple}
        ]


def test_a_look_at_many_answers_is_not_taken_anew_every_two_seconds(session, monkeypatch):
    from actc.web import routes

    looks = []

    def look(session):
        looks.append(1)
        time.sleep(0.25)
        return {}

    monkeypatch.setattr(routes, "agreement", look)
    pages = Pages(session, Links.of(session.folder))
    for _ in range(3):
        routes.recent_people(pages)
    assert len(looks) == 1
    session.add_annotator("somebody new")
    routes.recent_people(pages)
    assert len(looks) == 2


@pytest.mark.parametrize(
    ("host", "name"),
    [("127.0.0.1", None), ("localhost", None), ("::1", None), ("10.1.2.3", "http://10.1.2.3:8765")],
)
def test_others_reach_a_server_by_a_name_that_is_not_this_machines_for_itself(host, name):
    assert access.address_for_others(host, 8765) == name


def test_links_for_others_have_an_address_of_this_machine_or_its_name_where_it_has_no_network():
    found = urlsplit(access.address_for_others("0.0.0.0", 8765)).hostname
    assert found == socket.gethostname() or not ipaddress.ip_address(found).is_loopback
