"""The server's routes, in process: who may do what, what is refused, and what leaves with every answer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from fastapi import testclient

from actc.data.files import write_scored
from actc.session import OWNER, Session
from actc.session.cards import make_card
from actc.session.settings import Settings
from actc.session.start import create_session
from actc.session.status import history
from actc.web.access import MOST_BYTES, Bucket, Links, host_name, loopback_names
from actc.web.routes import Pages
from actc.web.server import create_app
from tests.conftest import make_pool, pages_of

TITLE = "Nobody's business"
JSON = {"content-type": "application/json"}
BEARER, COOKIE = {"authorization": "Bearer 1-" + "A" * 32}, {"cookie": "actc=1-AAAA; owner=1; secret="}
FORWARDED = {"x-forwarded-for": "127.0.0.1", "x-forwarded-host": "localhost"}
# What somebody without a secret sends: method, path, headers, body.
REQUESTS = {
    "the list of routes": ("GET", "/openapi.json", {}, b""),
    "the list of routes as a page": ("GET", "/docs", {}, b""),
    "a picture of the session": ("GET", "/api/picture", {}, b""),
    "an answer": ("POST", "/api/exchange", JSON, b'{"judgements": []}'),
    "an answer that is no JSON": ("POST", "/api/exchange", JSON, b"\xff\xfe{"),
    "an answer that nests": ("POST", "/api/exchange", JSON, b"[" * 100_000),
    "an answer of a megabyte": ("POST", "/api/exchange", JSON, b'{"a": "' + b"x" * 2**20 + b'"}'),
    "an answer as a form": ("POST", "/api/exchange", {"content-type": "text/plain"}, b"{}"),
    "more cards": ("POST", "/api/more", JSON, b"{}"),
    "a decision": ("POST", "/api/owner/settle", JSON, b'{"triple": 0, "answer": "true", "key": "k"}'),
    "a new annotator": ("POST", "/api/owner/annotators", JSON, b'{"name": "eve"}'),
    "a budget": ("POST", "/api/owner/change", JSON, b'{"budget": 9}'),
    "a deletion": ("DELETE", "/api/owner/annotators", JSON, b"{}"),
    "a method of no use": ("TRACE", "/", {}, b""),
    "a made-up token": ("GET", "/j/1-" + "A" * 32, {}, b""),
    "the owner's token, made up": ("GET", "/o/1-" + "A" * 32, {}, b""),
    "an empty token": ("GET", "/j/", {}, b""),
    "a token of odd letters": ("GET", "/j/ü%00", {}, b""),
    "a token of a megabyte": ("GET", "/j/" + "A" * 30_000, {}, b""),
    "a bearer of nothing": ("GET", "/api/picture", {"authorization": "Bearer "}, b""),
    "a bearer of a made-up token": ("POST", "/api/exchange", JSON | BEARER, b"{}"),
    "a basic password": ("GET", "/api/picture", {"authorization": "Basic b3duZXI6"}, b""),
    "a cookie of somebody's guess": ("GET", "/api/picture", COOKIE, b""),
    "a forwarded address": ("GET", "/api/picture", FORWARDED, b""),
    "a socket": ("GET", "/api/picture", {"upgrade": "websocket", "connection": "upgrade"}, b""),
    "another host's name": ("GET", "/", {"host": "evil.example"}, b""),
    "a host of two names": ("GET", "/", {"host": "127.0.0.1, evil.example"}, b""),
    "another site's page": ("POST", "/api/exchange", JSON | {"origin": "http://evil.example"}, b"{}"),
    "another site's form": ("POST", "/api/owner/annotators", JSON | {"sec-fetch-site": "cross-site"}, b"{}"),
    "the secret": ("GET", "/secret", {}, b""),
    "the database": ("GET", "/session.sqlite", {}, b""),
    "a file that is no page's": ("GET", "/files/server.py", {}, b""),
    "an address that climbs": ("GET", "/files/..%2f..%2fsecret", {}, b""),
    "an address that climbs by points": ("GET", "/files/%2e%2e/server.py", {}, b""),
    "an address that climbs by backslashes": ("GET", "/files/..\\..\\secret", {}, b""),
    "a file and a null character": ("GET", "/files/judge.js%00", {}, b""),
}


@pytest.fixture(scope="session")
def started(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session that nobody has judged yet; to be copied."""
    folder = tmp_path_factory.mktemp("started")
    write_scored(folder / "scores.parquet", make_pool(120, 3)[0])
    made = create_session(folder / "session", folder / "scores.parquet", Settings(overlap=1.0, budget=50, title=TITLE))
    for name in ("ada", "bob"):
        made.add_annotator(name)
    made.close()
    return folder / "session"


@pytest.fixture
def session(started: Path, tmp_path: Path) -> Session:
    return Session(shutil.copytree(started, tmp_path / "session"))


@pytest.fixture
def app(session):
    return create_app(session)


def client(app, **options):
    return testclient.TestClient(app, base_url="http://127.0.0.1:8765", **options)


def enter(app, session, name):
    """Return a client that opened its own link."""
    browser = client(app)
    answer = browser.get(Links.of(session.folder).path(session.annotator(name)))
    assert answer.status_code == 200
    browser.base_url = f"http://127.0.0.1:8765{pages_of(answer)}"
    return browser


def exchange(browser, *judgements, cards=3):
    return browser.post("/api/exchange", json={"judgements": list(judgements), "cards": cards})


def said(card, word, key, **more):
    return {"answer": word, "triple": card["triple"], "key": key} | more


def test_a_link_signs_in_without_leaving_the_token_in_the_address(app, session):
    browser = client(app, follow_redirects=False)
    answer = browser.get(Links.of(session.folder).path(session.annotator("ada")))
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    pages = pages_of(answer)
    assert f"path={pages.lower()};" in cookie
    assert browser.post(f"{pages}/api/exchange", json={}).status_code == 200
    assert exchange(browser).status_code == 401


def test_a_new_link_lets_in_and_the_old_one_does_not_any_more(app, session):
    links, owner = Links.of(session.folder), enter(app, session, OWNER)
    old = links.path(session.annotator("ada"))
    ada = enter(app, session, "ada")
    new = owner.post("/api/owner/link", json={"name": "ada", "void": False}).json()["link"]
    assert new != old
    assert client(app).get(old).status_code == 404
    assert exchange(ada).status_code == 401
    assert client(app).get(new).status_code == 200
    assert owner.post("/api/owner/link", json={"name": "ada", "void": True}).json()["link"] is None
    assert client(app).get(new).status_code == 404
    assert ada.post("/api/owner/link", json={"name": "bob", "void": True}).status_code == 401


def test_a_pause_reaches_everybody_and_files_can_be_taken(app, session):
    owner, ada = enter(app, session, OWNER), enter(app, session, "ada")
    card = exchange(ada).json()["cards"][0]
    exchange(ada, said(card, "true", "k"))
    assert owner.post("/api/owner/change", json={"paused": True}).json()["paused"] is True
    waiting = exchange(ada).json()
    assert (waiting["cards"], waiting["progress"]["left"]) == ([], "paused")
    labels = owner.get("/api/owner/download/labels.tsv")
    assert labels.text.splitlines()[1].startswith(card["head"]["id"])
    assert "attachment" in labels.headers["content-disposition"]
    assert '"answer"' in owner.get("/api/owner/download/history.jsonl").text
    assert owner.get("/api/owner/download/thresholds.json").json()["format"] == "actc-thresholds"
    accepted = owner.get("/api/owner/download/accepted.tsv").text
    assert accepted.startswith("head\trelation\ttail\tscore\tprobability\tby\n")
    assert "<title>" in owner.get("/api/owner/download/report.html").text
    assert [path.name for path in session.folder.parent.iterdir() if path.name.startswith(".")] == []
    assert owner.get("/api/owner/download/secret").status_code == 422
    assert ada.get("/api/owner/download/labels.tsv").status_code == 401


def contents(folder):
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("-wal", "-shm"))]
    return {path: path.read_bytes() for path in files}


@pytest.mark.parametrize("case", REQUESTS)
def test_a_request_without_a_secret_sees_and_changes_nothing(app, session, case):
    method, path, headers, body = REQUESTS[case]
    before = contents(session.folder)
    answer = client(app, follow_redirects=False).request(method, path, headers=headers, content=body)
    assert answer.status_code in (400, 401, 403, 404, 405, 408, 413, 421, 422)
    assert TITLE not in answer.text
    assert "set-cookie" not in answer.headers
    assert contents(session.folder) == before


def test_links_are_different_for_everybody_and_the_same_after_a_restart(session):
    links = Links.of(session.folder)
    tokens = [links.token(one) for one in session.annotators()]
    assert len(set(tokens)) == 3
    assert [Links.of(session.folder).token(one) for one in session.annotators()] == tokens
    assert (session.folder / "secret").stat().st_mode & 0o077 == 0


def test_an_annotators_token_opens_nothing_of_the_owners(app, session):
    links, browser = Links.of(session.folder), client(app)
    ada = {"authorization": f"Bearer {links.token(session.annotator('ada'))}"}
    owner = {"authorization": f"Bearer {links.token(session.annotator(OWNER))}"}
    assert browser.get("/api/openapi.json").status_code == 401
    assert "/api/exchange" in browser.get("/api/openapi.json", headers=ada).json()["paths"]
    assert browser.get("/api/owner", headers=ada).status_code == 401
    assert browser.get("/api/picture", headers=owner).status_code == 401
    assert browser.get("/api/picture", headers=ada).status_code == 200
    assert browser.get("/api/owner", headers=owner).status_code == 200


@pytest.mark.parametrize("path", ["/", "/owner", "/files/judge.js", "/api/picture", "/nothing", "/api/openapi.json"])
def test_every_answer_carries_the_strict_headers(app, path):
    headers = client(app).get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
    ],
)
def test_a_request_from_another_site_is_refused(app, session, headers):
    browser = enter(app, session, "ada")
    body = json.dumps({"cards": 1})
    answer = browser.post("/api/exchange", content=body, headers={"content-type": "application/json"} | headers)
    assert answer.status_code == 403
    own = {"origin": "http://127.0.0.1:8765", "sec-fetch-site": "same-origin"}
    assert browser.post("/api/exchange", json={"cards": 1}, headers=own).status_code == 200


def test_a_server_on_loopback_answers_to_no_other_name(app):
    browser = client(app)
    assert browser.get("/", headers={"host": "evil.example"}).status_code == 421
    assert browser.get("/", headers={"host": "localhost:8765"}).status_code == 200
    assert loopback_names("0.0.0.0") is None
    assert loopback_names("::1") is not None
    assert loopback_names("example.org") is None
    assert host_name("[::1]:80") == "::1"
    assert host_name("LocalHost:80") == "localhost"


def test_a_large_body_is_refused_said_or_not(app, session):
    browser = enter(app, session, "ada")
    large = b'{"cards": 1, "x": "' + b"x" * MOST_BYTES + b'"}'
    json_type = {"content-type": "application/json"}
    assert browser.post("/api/exchange", content=large, headers=json_type).status_code == 413
    pieces = (large[start : start + 10_000] for start in range(0, len(large), 10_000))
    assert browser.post("/api/exchange", content=pieces, headers=json_type).status_code == 413


def test_a_bucket_lets_a_burst_through_and_then_its_rate():
    bucket = Bucket(rate=1.0, burst=3, most_sources=2)
    assert [bucket.allows("a") for _ in range(5)] == [True, True, True, False, False]
    assert bucket.allows("b")
    assert bucket.allows("c")
    assert len(bucket._levels) == 2


def test_a_full_disk_is_answered_with_a_sentence_and_nothing_is_stored(app, session):
    browser = enter(app, session, "ada")
    cards = exchange(browser, cards=32).json()["cards"]
    judgements = [said(card, "true", f"k{place}", note="x" * 2000) for place, card in enumerate(cards)]
    with session.store.connect() as connection:
        connection.execute("PRAGMA max_page_count = 1")  # as many as there are: SQLite says that the disk is full
    refused = exchange(browser, *judgements)
    assert refused.status_code == 507
    assert "full" in refused.json()["detail"]
    assert history(session) == []


def test_of_a_batch_with_what_was_not_asked_nothing_is_stored_and_of_what_is_sent_again_one(app, session):
    browser = enter(app, session, "ada")
    card, other = exchange(browser).json()["cards"][:2]
    answer = exchange(browser, said(card, "true", "k"), said({"triple": 10**9}, "true", "k2"))
    assert answer.status_code == 409
    assert history(session) == []
    for _ in range(3):
        kept = exchange(browser, said(card, "true", "k"), said(other, "false", "k2")).json()
        assert [one["triple"] for one in kept["recorded"]] == [card["triple"], other["triple"]]
        assert kept["progress"]["labels"] == 2
    assert len(history(session)) == 2
    undone = exchange(browser, {"answer": "undo", "key": "u"}).json()
    assert undone["cards"][0]["triple"] == other["triple"]


@pytest.mark.parametrize(
    "body",
    [
        {"judgements": [{"answer": "maybe", "triple": 1, "key": "k"}]},
        {"judgements": [{"answer": "true", "triple": -1, "key": "k"}]},
        {"judgements": [{"answer": "true", "triple": 1, "key": ""}]},
        {"judgements": [{"answer": "true", "triple": 1, "key": "../.."}]},
        {"judgements": [{"answer": "true", "triple": 1, "key": "k", "seconds": -1}]},
        {"judgements": [{"answer": "true", "triple": 1, "key": "k", "note": "x" * 2001}]},
        {"cards": 33},
        {"cards": "many"},
        {"else": 1},
        [],
    ],
)
def test_a_body_that_is_not_understood_is_refused(app, session, body):
    assert enter(app, session, "ada").post("/api/exchange", json=body).status_code == 422


def test_a_file_that_cannot_be_made_is_a_sentence(tmp_path):
    write_scored(tmp_path / "scores.parquet", make_pool(60, 2)[0])
    session = create_session(tmp_path / "session", tmp_path / "scores.parquet", Settings(method="actc-lr-rndm"))
    owner = enter(create_app(session), session, OWNER)
    answer = owner.get("/api/owner/download/report.html")
    assert answer.status_code == 409


def test_the_owner_adds_annotators_and_changes_the_budget_and_the_share_that_two_judge(app, session):
    owner = enter(app, session, OWNER)
    link = owner.post("/api/owner/annotators", json={"name": "Cleo"}).json()["link"]
    assert exchange(enter(app, session, "Cleo")).status_code == client(app).get(link).status_code == 200
    assert owner.post("/api/owner/annotators", json={"name": "\u0000"}).status_code == 400
    assert owner.post("/api/owner/annotators", json={"name": OWNER}).status_code == 409
    assert owner.post("/api/owner/change", json={"budget": 77}).json()["budget"] == 77
    assert owner.post("/api/owner/change", json={"overlap": 0.25}).json()["overlap"] == 0.25
    assert owner.get("/api/owner").json()["settings"]["overlap"] == 0.25
    for wrong in ({"budget": 0}, {"overlap": 2}):
        assert owner.post("/api/owner/change", json=wrong).status_code == 422
    assert history(session) == []


def test_a_page_that_has_the_picture_is_not_sent_it_again(app, session):
    browser = enter(app, session, "ada")
    first = browser.get("/api/picture").json()
    again = browser.get("/api/picture", params={"have": first["state"]}).json()
    assert first["picture"]["advice"]
    assert again["picture"] is None
    assert again["progress"] == first["progress"]
    session.change({"budget": 60})
    assert browser.get("/api/picture", params={"have": first["state"]}).json()["picture"] == first["picture"]


def test_names_that_were_added_show_on_cards_that_were_sent_before(app, session, tmp_path):
    browser = enter(app, session, "ada")
    card = exchange(browser).json()["cards"][0]
    (tmp_path / "names.tsv").write_text(f"id\tname\n{card['head']['id']}\tAda's own name\n")
    session.add_names([tmp_path / "names.tsv"])
    assert exchange(browser).json()["cards"][0]["head"]["name"] == "Ada's own name"


def test_few_cards_are_kept_however_many_are_shown(session, monkeypatch):
    monkeypatch.setattr("actc.web.routes.CACHED_CARDS", 4)
    pages, tasks = Pages(session, Links.of(session.folder)), session.ask(session.annotator("ada"), 8)
    cards = [make_card(session.names, task, session.settings.reasons) for task in tasks]
    assert json.loads(pages.cards(tasks)) == json.loads(pages.cards(tasks)) == cards
    assert pages._card.cache_info().currsize == 4
