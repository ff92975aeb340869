"""What the studio's pages ask for about decisions, in process: the table, levels, pictures, overruling, taking."""

from __future__ import annotations

import os
import subprocess
import time

import rdflib

from actc.data.files import write_scored
from actc.graph.formats import FORMATS, read_graph
from actc.graph.terms import unescape
from actc.session import Session, Settings, start_session
from actc.session.plan import Planner
from tests.test_doors import POOL, rows_of
from tests.web.studio.conftest import add_project, run_to_its_end


def ask(client, path, **values):
    """Ask for something about decisions, until the table is as new as the answers."""
    for _ in range(400):
        got = client.get(path, params=values)
        told = got.json()
        if got.status_code != 409 and not (isinstance(told, dict) and told.get("stale")):
            assert got.status_code == 200, told
            return told
        time.sleep(0.1)
    raise AssertionError(told)


def triples_in(text, format):
    graph = rdflib.Graph()
    graph.parse(data=text, format=format)
    return {tuple(unescape(str(part).removeprefix("urn:actc:")) for part in triple) for triple in graph}


def test_from_the_first_answers_to_what_is_taken_away_and_audited(completed_client, tmp_path):
    client, name = completed_client, "families"
    base = f"/api/projects/{name}"
    assert client.get(f"/api/projects/{add_project(client)}/table").status_code == 409
    found = client.post(base, json={"title": "Who is whose aunt?", "guidelines": "Look at the *children*."}).json()
    assert found["state"] == "asking"
    pages = f"/session/{name}"
    client.get(found["session"]["judge"])
    assert client.get(f"{pages}/api/picture").json()["title"] == "Who is whose aunt?"
    assert client.get(f"{pages}/api/guidelines").json()["text"] == "Look at the *children*."
    for k in range(10):
        card = client.post(f"{pages}/api/exchange", json={"cards": 1}).json()["cards"][0]
        body = {"said": "true" if k % 2 else "false", "triple": card["triple"], "key": f"k{k}"}
        assert client.post(f"{pages}/api/exchange", json={"judgements": [body]}).json()["recorded"][0]["id"]
    Planner(Session(tmp_path / "studio" / name / "result" / "session")).step()  # the picture is of a plan
    assert client.get(base).json()["next"]["what"] == "decide"
    page = ask(client, f"{base}/table", part="accepted", rows=5)
    assert len(page["rows"]) == 5
    assert page["count"] == page["accepted"] < page["candidates"]
    levels = ask(client, f"{base}/levels")
    assert levels["now"] == page["accepted"]
    mine = ask(client, f"{base}/table", part="accepted", by="method", rows=1)["rows"][0]
    body = {"triple": mine["triple"], "said": "false", "key": "one"}
    told = [client.post(f"{base}/overrule", json=body).json() for _ in range(2)]
    assert told[0] == told[1]
    again = ask(client, f"{base}/table", part="accepted", rows=500)
    assert mine["triple"] not in {row["triple"] for row in again["rows"]}
    assert "owner" in again["people"]
    pictures = ask(client, f"{base}/pictures")
    assert pictures["learning"][-1]["answers"] >= 10
    assert [point["accepted"] for point in pictures["precision"] if point["now"]] == [again["accepted"]]
    assert sum(line["accepted"] for line in pictures["relations"]) == again["accepted"]
    assert all(sum(line["bins"]) == line["candidates"] for line in pictures["relations"])
    assert {one["name"] for one in client.get(f"{base}/take").json()} == {"commands.sh", "labels.tsv", "history.jsonl"}
    run_to_its_end(client, name, "decide")
    result = tmp_path / "studio" / name / "result"
    accepted = rows_of(result / "accepted.tsv")
    assert {tuple(row[part] for part in Session.TRIPLE): row["by"] for row in again["rows"]} == accepted
    found = client.get(base).json()
    assert (found["state"], found["next"]["what"]) == ("decided", "take")
    assert found["accepted"] == found["outcome"]["accepted"] == len(accepted) > 0
    check_taken(client, base, result, set(accepted), tmp_path)
    check_audit(client, name, accepted)


def check_audit(client, name, accepted):
    """Begin an audit of what was accepted, and look at its first cards."""
    audit = client.post(f"/api/projects/{name}/audit", json={"count": 5, "design": "simple", "target": 0.9}).json()
    words = "actc audit result/session --among result/accepted.tsv --count 5 --by simple --target 0.9"
    assert audit["command"] == words
    client.get(audit["judge"])
    cards = client.post(f"/session/{name}.audit/api/exchange", json={"cards": 5}).json()["cards"]
    assert len(cards) == 5
    assert {tuple(card[part]["id"] for part in Session.TRIPLE) for card in cards} <= set(accepted)


def check_taken(client, base, result, accepted, tmp_path):
    """Take everything; read the graphs back, by rdflib where it can."""
    found = {one["name"] for one in client.get(f"{base}/take").json()}
    graphs = {f"accepted{one.suffixes[0]}" for one in FORMATS.values()} - {"accepted.qs"}
    assert graphs <= found
    for file in found:
        got = client.get(f"{base}/take/{file}")
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
    lines = (tmp_path / "commands.sh").read_text().splitlines()
    assert subprocess.run(["sh", "-n", tmp_path / "commands.sh"], check=False).returncode == 0
    assert any(line.startswith("actc complete files/families.tsv") for line in lines)
    for wrong in ("..%2Fproject.json", "nothing.tsv", "accepted.xyz"):
        assert client.get(f"{base}/take/{wrong}").status_code in (400, 404)


def test_an_older_table_is_shown_while_a_newer_one_is_made_and_failure_is_told(client, tmp_path, monkeypatch):
    write_scored(tmp_path / "scores.parquet", POOL)
    name = add_project(client, goal="decide")
    base = f"/api/projects/{name}"
    start_session(tmp_path / "studio" / name / "session", tmp_path / "scores.parquet", Settings("pooled", 5)).close()
    before = ask(client, f"{base}/table")
    assert before["rows"]
    monkeypatch.setattr("actc.web.studio.kept_tables.SOON", 0.0)
    row = before["rows"][0]["triple"]
    client.post(f"{base}/overrule", json={"triple": row, "said": "true", "key": "k"}).raise_for_status()
    stale = client.get(f"{base}/table").json()
    assert (stale["state"], stale["stale"]) == (before["state"], True)
    assert stale["rows"] == before["rows"]
    after = ask(client, f"{base}/table", by="owner")
    assert after["state"] != before["state"]
    assert [line["triple"] for line in after["rows"]] == [row]
    kept = list((tmp_path / "studio" / name / "tables").glob("*.duckdb"))
    assert [one.stem for one in kept] == [str(after["state"])]
    (tmp_path / "studio" / name / "session" / "pool.parquet").write_bytes(b"")
    os.utime(tmp_path / "studio" / name / "session" / "names.sqlite", (1, 1))  # so that a new table is made
    for _ in range(100):
        got = client.get(f"{base}/table")
        if got.status_code == 409:
            break
        time.sleep(0.1)
    assert "pool.parquet" in got.json()["detail"]
