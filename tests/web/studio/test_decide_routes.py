"""What the studio's pages ask for about decisions, in process: pages, guarantees, answers, files to take."""

from __future__ import annotations

import rdflib

from actc.data.files import write_scored
from actc.graph.formats import FORMATS, read_graph
from actc.graph.rdf import unescape
from actc.session import Session
from actc.session.plan import Planner
from actc.session.settings import Settings
from actc.session.start import create_session
from tests.conftest import pages_of
from tests.test_doors import POOL, rows_of
from tests.web.studio.conftest import add_project, run_to_its_end


def ask(client, path, **values):
    """Ask for something about decisions."""
    got = client.get(path, params=values)
    assert got.status_code == 200, got.text
    return got.json()


def triples_in(text, format):
    graph = rdflib.Graph()
    graph.parse(data=text, format=format)
    return {tuple(unescape(str(part).removeprefix("urn:actc:")) for part in triple) for triple in graph}


def test_from_the_first_answers_to_what_is_taken_away_and_audited(completed_client, tmp_path):
    client, name = completed_client, "families"
    base = f"/api/projects/{name}"
    assert client.get(f"/api/projects/{add_project(client)}/decisions").status_code == 409
    found = client.post(base, json={"title": "Who is whose aunt?", "guidelines": "Look at the *children*."}).json()
    assert found["state"] == "asking"
    pages = pages_of(client.get(found["session"]["judge"]))
    assert client.get(f"{pages}/api/picture").json()["title"] == "Who is whose aunt?"
    assert client.get(f"{pages}/api/guidelines").json()["text"] == "Look at the *children*."
    for k in range(10):
        card = client.post(f"{pages}/api/exchange", json={"cards": 1}).json()["cards"][0]
        body = {"answer": "true" if k % 2 else "false", "triple": card["triple"], "key": f"k{k}"}
        assert client.post(f"{pages}/api/exchange", json={"judgements": [body]}).json()["recorded"][0]["id"]
    Planner(Session(tmp_path / "studio" / name / "result" / "session")).step()  # the picture is of a plan
    assert client.get(base).json()["next"]["what"] == "decide"
    assert client.get(f"{base}/decisions").status_code == 409  # nothing is decided yet
    assert {one["name"] for one in client.get(f"{base}/downloads").json()} == {"labels.tsv", "history.jsonl"}
    run_to_its_end(client, name, "decide")
    result = tmp_path / "studio" / name / "result"
    accepted = rows_of(result / "accepted.tsv")
    page, overview = ask(client, f"{base}/decisions", part="accepted", rows=5), ask(client, f"{base}/overview")
    assert len(page["rows"]) == 5
    assert page["count"] == overview["accepted"] == overview["unguaranteed"] == len(accepted) < overview["candidates"]
    assert page["version"] == overview["version"] == client.get(base).json()["decided"]
    assert overview["curve"][-1][0] >= 10
    mine = ask(client, f"{base}/decisions", part="accepted", by="method", rows=1)["rows"][0]
    body = {part: mine[part] for part in Session.TRIPLE} | {"answer": "false", "key": "one"}
    for _ in range(2):
        client.post(f"{base}/answer", json=body).raise_for_status()
    again = ask(client, f"{base}/decisions", part="accepted", by="method", rows=1)
    assert again["rows"] == [mine | {"answer": "false"}]  # the row stays, and shows the answer
    assert client.get(base).json()["next"]["what"] == "decide"
    run_to_its_end(client, name, "decide")
    accepted = rows_of(result / "accepted.tsv")
    assert tuple(mine[part] for part in Session.TRIPLE) not in accepted
    rows = ask(client, f"{base}/decisions", part="accepted", rows=500)["rows"]
    assert {tuple(row[part] for part in Session.TRIPLE): row["by"] for row in rows} == accepted
    found = client.get(base).json()
    assert (found["state"], found["next"]["what"]) == ("decided", "take")
    assert found["accepted"] == found["outcome"]["accepted"] == len(accepted) > 0
    check_taken(client, base, result, set(accepted), tmp_path)
    check_audit(client, name, accepted)


def check_audit(client, name, accepted):
    """Begin an audit of what was accepted, and look at its first cards."""
    run_to_its_end(client, name, "audit", count=5)
    found = client.get(f"/api/projects/{name}").json()
    words = "actc audit result/session --among result/accepted.tsv --count 5 --target 0.9"
    assert (found["runs"][-1]["command"], found["state"]) == (words, "decided")
    pages = pages_of(client.get(found["audit"]["judge"]))
    cards = client.post(f"{pages}/api/exchange", json={"cards": 5}).json()["cards"]
    assert len(cards) == 5
    assert {tuple(card[part]["id"] for part in Session.TRIPLE) for card in cards} <= set(accepted)


def check_taken(client, base, result, accepted, tmp_path):
    """Take everything; read the graphs back, by rdflib where it can."""
    found = {one["name"] for one in client.get(f"{base}/downloads").json()}
    graphs = {f"accepted{one.suffixes[0]}" for one in FORMATS.values()}
    assert graphs <= found
    assert client.get(f"{base}/downloads/accepted.qs").status_code == 400  # these are no items of Wikidata
    for file in found - {"accepted.qs", "graph.qs"}:
        got = client.get(f"{base}/downloads/{file}")
        assert got.status_code == 200, (file, got.text)
        (tmp_path / file).write_bytes(got.content)
        if file in graphs:
            read = read_graph(tmp_path / file, base="urn:actc:")
            triples = {read.triple(row) for row in range(len(read))}
            assert triples >= accepted if "statements" in file else triples == accepted, file
    for file, kind in (("accepted.ttl", "turtle"), ("accepted.nt", "nt"), ("accepted.rdf", "xml")):
        assert triples_in((tmp_path / file).read_text(), kind) == accepted
    assert triples_in((tmp_path / "accepted.statements.ttl").read_text(), "turtle") >= accepted
    assert (tmp_path / "report.json").read_bytes() == (result / "report.json").read_bytes()
    assert any(line.startswith("actc complete files/families.tsv") for line in client.get(base).json()["commands"])
    for wrong in ("..%2Fproject.json", "nothing.tsv", "accepted.xyz"):
        assert client.get(f"{base}/downloads/{wrong}").status_code in (400, 404)


def test_scored_candidates_have_the_table_of_their_session(client, tmp_path):
    write_scored(tmp_path / "scores.parquet", POOL)
    name = add_project(client, goal="decide")
    base, session = f"/api/projects/{name}", tmp_path / "studio" / name / "session"
    create_session(session, tmp_path / "scores.parquet", Settings("pooled", 5)).close()
    first, second = (dict(zip(Session.TRIPLE, POOL.triple(row), strict=True)) for row in (3, 4))
    client.post(f"{base}/answer", json=first | {"answer": "true", "key": "k"}).raise_for_status()
    assert (
        client.post(f"{base}/answer", json=first | {"head": "nobody", "answer": "true", "key": "l"}).status_code == 409
    )
    run_to_its_end(client, name, "decide")
    (row,) = ask(client, f"{base}/decisions", by="person")["rows"]
    assert {part: row[part] for part in Session.TRIPLE} == first
    client.post(f"{base}/answer", json=second | {"answer": "false", "key": "m"}).raise_for_status()
    client.post(f"{base}/answer", json=first | {"answer": "undo", "key": "k"}).raise_for_status()
    run_to_its_end(client, name, "decide")
    (row,) = ask(client, f"{base}/decisions", by="person")["rows"]
    assert ({part: row[part] for part in Session.TRIPLE}, row["accepted"]) == (second, False)
