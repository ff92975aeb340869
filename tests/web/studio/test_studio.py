"""The studio's routes: who may ask, what may be dropped, and the whole way without a browser."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext

import pytest
from fastapi.testclient import TestClient

from actc.complete.propose import candidates_of_rules
from actc.data.deliver import alone, try_to_lock
from actc.errors import FileError, OptionError
from actc.graph.formats import read_graph
from actc.session import Session, start_session
from actc.web.studio import server
from actc.web.studio.commands import RunBody, commands_of
from actc.web.studio.describe import describe_project
from actc.web.studio.project import (
    Project,
    create_project,
    create_studio_folder,
    find_project,
    list_projects,
    safe_name,
)
from actc.web.studio.recognise import SCORES_UNUSED
from actc.web.studio.runs import add_run, list_runs
from actc.web.studio.server import create_studio
from tests.conftest import pages_of
from tests.web.studio.conftest import BYTES, add_project, enter, run_to_its_end, upload

SCORES = b"head\trelation\ttail\tscore\n" + b"".join(b"a%d\tr\tb\t%d\n" % (k, k) for k in range(40))


def stranger(client):
    return TestClient(client.app, base_url="http://127.0.0.1:8766")


def look(client, name, part=""):
    """Return what the page of a project shows, or a part of it."""
    got = client.get(f"/api/projects/{name}{part}")
    assert got.status_code == 200, got.text
    return got.json()


def folder_of(client, name):
    return client.app.state.studio.folder / name


def test_every_route_of_the_studio_wants_the_link(client):
    for route in client.app.routes:
        if getattr(route, "dependant", None) is None or route.path in ("/files/{name}", "/s/{token}"):
            continue
        path = route.path.format(name="words-and-what-they-mean", file="x.tsv", token="x", number=1, act="again")
        kind = BYTES if "PUT" in route.methods else {"content-type": "application/json"}
        asked = stranger(client).request(next(iter(route.methods)), path, content=b"no JSON", headers=kind)
        assert asked.status_code == 401, route.path
    assert not (folder_of(client, "words-and-what-they-mean") / "files" / "x.tsv").exists()
    made_up = stranger(client).get("/s/" + "A" * 32)
    assert made_up.status_code in (401, 404)
    assert "set-cookie" not in made_up.headers


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"content-type": "text/plain"},
        {"host": "evil.example"},
    ],
)
def test_a_page_of_another_site_changes_nothing(shared_client, headers):
    before = list_projects(shared_client.app.state.studio.folder)
    as_json = {"content-type": "application/json"} | headers
    post = shared_client.post("/api/projects", content=b'{"title": "x"}', headers=as_json)
    put = shared_client.put("/api/projects/words-and-what-they-mean/files/x.tsv", content=b"a", headers=BYTES | headers)
    assert {post.status_code, put.status_code} <= {403, 421}
    assert list_projects(shared_client.app.state.studio.folder) == before


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("graph.tsv", "graph.tsv"),
        ("../../../etc/passwd", "passwd"),
        ("..\\..\\evil.tsv", "evil.tsv"),
        ("--out=x.tsv", "out-x.tsv"),
        (".hidden.tsv", "hidden.tsv"),
        ("Käse 🧀 $(rm).tsv", "Käse-rm-.tsv"),
        ("a\nb\0c.tsv", "a-b-c.tsv"),
    ],
)
def test_a_file_gets_a_plain_name_in_its_own_folder(name, kept):
    assert safe_name(name) == kept


@pytest.mark.parametrize("name", ["%20", "...", "x" * 200, "graph.zip", "graph.tar.gz", "graph.7z", "/"])
def test_names_that_say_nothing_and_archives_are_refused(shared_client, name):
    project = add_project(shared_client)
    assert upload(shared_client, project, name, b"a\tr\tb\n").status_code in (400, 404)
    assert look(shared_client, project)["files"] == []


def test_a_file_that_is_too_large_leaves_nothing(client, monkeypatch):
    project, gate = add_project(client), client.app
    while not hasattr(gate, "uploads"):
        gate = getattr(gate, "app", None) or gate.middleware_stack
    monkeypatch.setattr(gate, "uploads", 1000)
    for content in (b"a\tr\tb\n" * 1000, iter([b"a\tr\tb\n" * 1000])):
        assert upload(client, project, "g.tsv", content).status_code == 413
    assert list((folder_of(client, project) / "files").iterdir()) == []


def test_a_full_disk_refuses_a_file_and_keeps_the_old_one(shared_client, monkeypatch):
    project = add_project(shared_client)
    assert upload(shared_client, project, "g.tsv", b"a\tr\tb\n").status_code == 200
    monkeypatch.setattr(server, "LEFT_FREE", 2**62)
    assert upload(shared_client, project, "g.tsv", b"other").status_code == 507
    assert (folder_of(shared_client, project) / "files" / "g.tsv").read_bytes() == b"a\tr\tb\n"


def test_a_file_whose_plain_name_is_another_s_replaces_nothing(shared_client):
    project = add_project(shared_client)
    files = (("a-b.tsv", b"a\tr\tb\n", 200), ("a b.tsv", b"other", 400), ("a-b.tsv", b"c\tr\td\n", 200))
    for name, content, status in files:
        assert upload(shared_client, project, name, content).status_code == status
    folder = folder_of(shared_client, project) / "files"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"a-b.tsv": b"c\tr\td\n"}


def test_links_in_a_project_are_not_followed(shared_client, tmp_path):
    project = add_project(shared_client)
    folder, secret = folder_of(shared_client, project), tmp_path / "secret"
    secret.write_text("a\tr\tb\n")
    (folder / "files" / "g.tsv").symlink_to(secret)
    Project.read(folder).with_file("g.tsv", "graph")
    assert look(shared_client, project, "/preview")["graph"] is None
    assert shared_client.post(f"/api/projects/{project}/runs", json={"what": "go"}).status_code == 400
    upload(shared_client, project, "g.tsv", b"x\ty\tz\n")
    assert secret.read_text() == "a\tr\tb\n"
    folder.with_name("linked").symlink_to(folder)
    assert shared_client.get("/api/projects/linked").status_code == 404


@pytest.mark.parametrize("name", ["..", ".actc-studio", "a/b", "A", "-x", "%2e%2e"])
def test_no_name_from_outside_reaches_another_folder(shared_client, name):
    assert shared_client.get(f"/api/projects/{name}").status_code == 404
    with pytest.raises(FileError):
        find_project(shared_client.app.state.studio.folder, name)


def test_a_damaged_project_is_left_out(client):
    name = add_project(client)
    path = folder_of(client, name) / "project.json"
    written = path.read_text()
    no_store = written.replace('"store": ""', '"store": "mail:x"')
    assert no_store != written
    for text in ("", "[]", '{"format": 1}', written.replace('"budget": 30', '"budget": -1'), no_store):
        path.write_text(text)
        assert client.get(f"/api/projects/{name}").status_code == 404
        assert [one["name"] for one in client.get("/api/studio").json()["projects"]] == ["words-and-what-they-mean"]


@pytest.mark.parametrize(
    "body",
    [
        {"goal": "conquer"},
        {"budget": 0},
        {"budget": True},
        {"precision": 1.0},
        {"title": " "},
        {"guidelines": "\ud800"},
        {"language": "../x"},
        {"store": "file:///etc/passwd"},
        {"store": "sparql:file:///etc/passwd"},
        {"graph_iri": "http://e/\0"},
        {"evil": 1},
    ],
)
def test_what_a_command_would_refuse_is_refused_here(shared_client, body):
    name = add_project(shared_client)
    before = look(shared_client, name)["options"]
    as_json = {"content-type": "application/json"}
    refused = shared_client.post(f"/api/projects/{name}", content=json.dumps(body), headers=as_json)
    assert refused.status_code == 422
    assert look(shared_client, name)["options"] == before


def test_a_folder_with_other_files_is_no_studio(tmp_path):
    for name in ("mine.txt", ".actc-studio"):
        (tmp_path / name).write_text("mine")
        with pytest.raises(FileError):
            create_studio_folder(tmp_path)


def test_projects_of_one_title_have_folders_of_their_own(studio):
    titles = ["Über Graphen!"] * 3 + ["图"]
    names = ["uber-graphen", "uber-graphen-2", "uber-graphen-3", "project"]
    assert [create_project(studio, title).name for title in titles] == names


def test_the_secret_is_its_owner_s_alone_and_stays(studio, client):
    assert (studio / ".actc-studio" / "secret").stat().st_mode & 0o077 == 0
    assert studio.stat().st_mode & 0o077 == 0
    token = client.app.state.studio.token
    assert token not in json.dumps(client.get("/api/studio").json())
    assert create_studio(studio).state.studio.token == token


def test_what_was_dropped_is_recognised_with_its_notes_and_a_first_card(shared_client):
    name = add_project(shared_client)
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    facts = f'<http://e/Paris> <http://e/lies_in> <http://e/F> .\n<http://e/F> {label} "France" .\n'.encode()
    assert upload(shared_client, name, "g.nt", facts).json()["role"] == "graph"
    names = b"id\tname\nhttp://e/Paris\tParis <b>\n"
    assert upload(shared_client, name, "names.tsv", names).json()["role"] == "names"
    found = look(shared_client, name, "/preview")
    assert (found["graph"]["format"], found["names"]["named"]) == ("N-Triples", 2)
    assert len(found["graph"]["notes"]) == 1  # of the literal
    # By the table of names, by the end of an address, and by the graph's own label.
    assert [part["text"] for part in found["card"]["sentence"][::2]] == ["Paris <b>", "lies in", "France"]
    assert look(shared_client, name)["next"]["what"] == "go"
    broken = upload(shared_client, name, "h.nt", b"<a <b\n").json()
    assert (broken["role"], broken["guess"], broken["other"]) == ("unused", "graph", "g.nt")  # the page asks
    shared_client.post(f"/api/projects/{name}/files/h.nt", json={"role": "graph"})
    assert "h.nt, line 1" in look(shared_client, name, "/preview")["problem"]
    project = look(shared_client, name)
    assert (project["state"], project["next"]["what"]) == ("unread", "data")


def test_a_project_s_page_says_what_to_do_after_a_run_that_was_cancelled_or_failed(studio):
    project = create_project(studio, "Few facts").with_file("g.tsv", "graph")
    (project.files / "g.tsv").write_text("a\tr\tb\n")
    run, app = add_run(project.folder, "go", [["actc", "complete", "files/g.tsv"]]), create_studio(studio)
    run.cancel()
    assert describe_project(app.state.studio, project)["next"]["what"] == "again"
    with pytest.raises(OptionError) as raised:
        candidates_of_rules(read_graph(project.files / "g.tsv"))
    (run.folder / "log.txt").write_text(f"$ actc complete\nactc: {raised.value}\n")
    (run.folder / "ended.json").write_text('{"state": "failed"}')
    sentence = describe_project(app.state.studio, project)["next"]["sentence"]
    assert "(tab Data)" in sentence  # a place of the studio, not an option of the command
    assert "--" not in sentence


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ('{"head": "a", "relation": "r", "tail": "b", "score": 1}\n', "scores"),
        ('{"id": "a", "name": "b"}\n', "names"),
        ("id\tname\tdescription\nq1\tone\tthe first\n", "names"),
        ("id\tname\tsentence\tdescription\nr\tis\t{head} is {tail}\tso\n", "names"),
        ("entity\tlabel\nq1\tone\n", "names"),
        ("a\tb\tc\n", "graph"),
        ("a\tb\tc\t0.5\n", "scores"),
        ("head\trelation\ttail\tlabel\na\tb\tc\ttrue\n", "graph"),
        ("subject\tpredicate\tobject\tconfidence\na\tb\tc\t0.5\n", "scores"),
    ],
)
def test_what_a_table_is_its_columns_say(shared_client, text, role):
    name = "x.jsonl" if text[0] == "{" else "x.tsv"
    assert upload(shared_client, add_project(shared_client), name, text).json()["role"] == role


def test_a_sentence_for_a_relation_reaches_its_cards(shared_client):
    name, template = add_project(shared_client), "{tail} is the uncle of {head}"
    upload(shared_client, name, "g.tsv", b"Ada\tuncle\tBob\n")
    place = f"/api/projects/{name}/sentences"
    for wrong in ({"relation": "uncle", "template": "{head} is"}, {"relation": "aunt", "template": template}):
        assert shared_client.post(place, json=wrong).status_code == 400
    assert shared_client.post(place, json={"relation": "uncle", "template": template}).status_code == 200
    found = look(shared_client, name, "/preview")
    assert "".join(part["text"] for part in found["card"]["sentence"]) == "Bob is the uncle of Ada"
    assert "--names files/sentences.tsv" in look(shared_client, name)["commands"][-1]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("facts.csv", b"no,Person,Verb,Thing,sure\n1,Ada,knows,Bob,0.5\n2,Bob,knows,Eve,0.25\n"),
        ("facts.jsonl", b'{"no": 1, "who": "Ada", "does": "knows", "whom": "Bob", "sure": 0.5}\n'),
    ],
)
def test_columns_that_are_not_recognised_are_picked(shared_client, file, text):
    name = add_project(shared_client)
    upload(shared_client, name, f"{file}?role=graph", text)
    (table,) = look(shared_client, name, "/preview")["columns"]
    assert (table["names"] or table["rows"][0])[0] == "no"
    place, columns = f"/api/projects/{name}/files/{file}/columns", {"head": "2", "relation": "3", "tail": "4"}
    columns |= {"score": "5"}
    for wrong in ({"head": "2"}, columns | {"score": "9"}, columns | {"verb": "1"}):
        assert shared_client.post(place, json={"columns": wrong, "header": True}).status_code == 400
    roles = shared_client.post(place, json={"columns": columns, "header": True}).json()["roles"]
    assert roles == {file: "unused", "facts-columns.parquet": "scores"}
    found = look(shared_client, name, "/preview")
    assert found["scores"]["rows"][0] == ["Ada", "knows", "Bob"]
    assert found["columns"] == []


def test_triples_from_text_need_no_graph(shared_client):
    name = add_project(shared_client)
    text = b'{"head": "Ada", "relation": "born in", "tail": "London", "source": "Ada was born in London."}\n'
    assert upload(shared_client, name, "extracted.jsonl", text).json()["role"] == "candidates"
    found = look(shared_client, name)
    assert found["next"]["what"] == "go"
    assert found["commands"][-1] == "actc complete --candidates files/extracted.jsonl --budget 30 --out result"


def test_one_run_at_a_time_is_started_and_may_be_cancelled(client, families):
    name = add_project(client, families, budget=10)
    api = f"/api/projects/{name}"
    assert look(client, name)["next"]["what"] == "go"
    started = client.post(f"{api}/runs", json={"what": "go"}).json()
    assert started["command"] == "actc complete files/families.tsv --budget 10 --out result"
    assert client.post(f"{api}/runs", json={"what": "go"}).status_code == 400
    list_runs(folder_of(client, name))[0].cancel()


def test_people_of_a_studio_that_others_reach_get_an_address_and_its_code(studio):
    app = create_studio(studio, "0.0.0.0", "http://mine.example:8766")
    with TestClient(app, base_url="http://mine.example:8766") as client:
        enter(client)
        name = add_project(client)
        upload(client, name, "scores.tsv", SCORES)
        client.post(f"/api/projects/{name}", json={"goal": "decide", "budget": 5})
        run_to_its_end(client, name, "go")
        ada = client.post(f"/api/projects/{name}/people", json={"name": "Ada"}).json()
        assert ada["address"].startswith(f"http://mine.example:8766/session/{name}/j/")
        assert ada["qr"].startswith("<svg")
        assert client.get(ada["link"]).status_code == 200
        client.post(f"/api/projects/{name}/finish", json={})
        assert look(client, name)["next"]["what"] == "decide"


def test_scored_candidates_are_decided_beside_the_graph_of_a_store(shared_client):
    name = add_project(shared_client)
    chosen = {"goal": "decide", "store": "sparql:http://127.0.0.1:9/query", "graph_iri": "http://example.org/kg"}
    shared_client.post(f"/api/projects/{name}", json=chosen)
    assert look(shared_client, name)["state"] == "new"  # there is nothing to decide on yet
    upload(shared_client, name, "scores.tsv", SCORES)
    found = look(shared_client, name)
    assert (found["state"], found["next"]["what"]) == ("ready", "go")
    read, start = [line.split() for line in found["commands"] if line.startswith(("actc convert", "actc start"))]
    assert read[2:5] == [chosen["store"], "--graph", chosen["graph_iri"]]
    assert start[start.index("--graph") + 1] == read[read.index("--out") + 1]


def start_judging(client, tmp_path):
    """Return a project with a session in it."""
    name = add_project(client)
    (tmp_path / "scores.tsv").write_bytes(SCORES)
    result = folder_of(client, name) / "result"
    result.mkdir()
    start_session(result / "session", tmp_path / "scores.tsv").close()
    return name


def test_a_project_with_a_damaged_session_hides_no_other(client, tmp_path):
    name = start_judging(client, tmp_path)
    (folder_of(client, name) / "result" / "session" / "session.sqlite").write_text("no database")
    lines = {one["name"]: one["summary"] for one in client.get("/api/studio").json()["projects"]}
    assert lines == {name: [lines[name][0]], "words-and-what-they-mean": []}
    assert "session.sqlite" in lines[name][0]


def test_a_session_of_one_project_does_not_open_another(shared_client, tmp_path):
    first, second = (start_judging(shared_client, tmp_path) for _ in range(2))
    link = look(shared_client, first)["session"]["judge"]
    judge = stranger(shared_client)
    pages = pages_of(judge.get(link))
    assert judge.get(f"{pages}/api/picture").status_code == 200
    for other in (f"{pages.replace(first, second)}/api/picture", "/api/studio", link.replace(first, second)):
        assert judge.get(other).status_code == 401


def test_whoever_has_no_secret_learns_of_no_project_and_starts_nothing(shared_client, tmp_path, monkeypatch):
    name, started = start_judging(shared_client, tmp_path), []
    studio = shared_client.app.state.studio
    monkeypatch.setattr("actc.web.studio.studio.planning", lambda folder, _: started.append(folder) or nullcontext())
    for path in ("", "owner", "api/picture", "files/judge.js", "j/1-no", "j/no", "o/1-" + "x" * 32):
        for accept in ("*/*", "text/html"):
            there, not_there = (
                stranger(shared_client).get(f"/session/{one}/{path}", headers={"accept": accept})
                for one in (name, "none")
            )
            assert there.status_code == not_there.status_code == 401
            assert there.text == not_there.text
    assert started == []
    link = look(shared_client, name)["session"]["judge"]
    with studio.closed(name):
        pass
    assert stranger(shared_client).get(link).status_code == 200
    assert len(started) == 2  # for whoever described the project, and for the one with the link


def test_sessions_that_are_asked_for_last_are_open_and_no_others(shared_client, tmp_path, monkeypatch):
    monkeypatch.setattr("actc.web.studio.studio.MOST_OPEN", 2)
    studio, names = shared_client.app.state.studio, [start_judging(shared_client, tmp_path) for _ in range(3)]
    for name in (names[0], names[1], names[0], names[2]):
        session = studio.served(name).session
    assert list(studio._open)[-2:] == [names[0], names[2]]
    assert studio.served(names[2]).session is session


def test_files_that_are_dropped_at_once_are_all_there(shared_client):
    name = add_project(shared_client)
    with ThreadPoolExecutor(8) as several:
        files = [f"names-{k}.tsv?role=names" for k in range(16)]
        replies = list(several.map(lambda file: upload(shared_client, name, file, b"id\tname\n"), files))
    assert [reply.status_code for reply in replies] == [200] * 16
    assert len(look(shared_client, name)["files"]) == 16


def test_columns_that_are_not_used_are_named(shared_client):
    name = add_project(shared_client)
    table = b"head,relation,tail,source,colour,confidence\na,r,x,He saw it.,1,0.5\nb,r,y,He said it.,2,0.25\n"
    place = f"/api/projects/{name}/files/facts.csv"
    assert upload(shared_client, name, "facts.csv", table).json()["role"] == "candidates"
    assert look(shared_client, name, "/preview")["candidates"]["scores"] == [0.25, 0.5]
    shared_client.post(place, json={"role": "scores"})
    found = look(shared_client, name, "/preview")["scores"]
    assert found["scores"] == [0.25, 0.5]
    (note,) = found["notes"]
    assert "colour" in note
    shared_client.post(place, json={"role": "graph"})
    notes = look(shared_client, name, "/preview")["graph"]["notes"]
    assert "source, colour, confidence" in notes[0]
    assert notes[1:] == [SCORES_UNUSED]


def test_the_goal_stays_once_people_judge(shared_client, tmp_path):
    api = f"/api/projects/{start_judging(shared_client, tmp_path)}"
    assert shared_client.post(api, json={"goal": "check"}).status_code == 400
    assert shared_client.post(api, json={"goal": "complete", "budget": 7}).json()["options"]["budget"] == 7


def test_names_are_read_in_another_process_and_reach_people_who_judge(shared_client, tmp_path, monkeypatch):
    def read_here(*words):
        raise AssertionError("read in the server")

    monkeypatch.setattr("actc.session.session.insert_names", read_here)
    name = start_judging(shared_client, tmp_path)
    assert upload(shared_client, name, "n.tsv", b"id\tname\na1\tAda\n").json()["role"] == "names"
    with closing(Session(folder_of(shared_client, name) / "result" / "session")) as session:
        assert session.names.of("a1").name == "Ada"
    assert upload(shared_client, name, "m.json?role=names", b"{").status_code == 400


def remove(client, name):
    return client.request("DELETE", f"/api/projects/{name}", json={})


def test_a_project_is_deleted_for_good_with_its_links(client, tmp_path):
    name, studio = start_judging(client, tmp_path), client.app.state.studio.folder
    link = look(client, name)["session"]["judge"]
    assert remove(client, name).json() == {"deleted": name}
    assert client.get(f"/api/projects/{name}").status_code == 404
    assert stranger(client).get(link).status_code == 401
    assert [one["name"] for one in client.get("/api/studio").json()["projects"]] == ["words-and-what-they-mean"]
    assert sorted(one.name for one in (studio / ".actc-studio").iterdir()) == ["secret"]


def test_a_project_in_which_something_is_written_is_not_deleted(shared_client):
    name = add_project(shared_client)
    run = add_run(folder_of(shared_client, name), "go", [])
    with (run.folder / "lock").open("w") as lock:
        assert try_to_lock(lock)
        assert remove(shared_client, name).status_code == 400
    (run.folder / "ended.json").write_text('{"state": "done"}')
    with alone(folder_of(shared_client, name) / "result"):  # as a command in a terminal does
        assert remove(shared_client, name).status_code == 400
    assert remove(shared_client, name).status_code == 200


def test_the_report_is_a_page_with_a_way_back_on_which_nothing_runs(shared_client):
    name = add_project(shared_client)
    assert shared_client.get(f"/project/{name}/report").status_code == 404
    result = folder_of(shared_client, name) / "result"
    result.mkdir()
    (result / "report.html").write_text("<html><body class='report'>\n<main>All is well</main></body></html>")
    page = shared_client.get(f"/project/{name}/report")
    assert "All is well" in page.text
    assert f'<a href="../{name}#take">' in page.text
    policy = page.headers["content-security-policy"]
    assert "script-src" not in policy
    assert policy.startswith("default-src 'none'")
    assert "'unsafe-inline'" not in shared_client.get(f"/project/{name}").headers["content-security-policy"]
    assert look(shared_client, name)["report"]


PASSWORD = "open-sesame-4711"


def test_an_address_with_a_password_in_it_is_not_written_down(shared_client):
    name = add_project(shared_client)
    refused = shared_client.post(f"/api/projects/{name}", json={"store": f"sparql:http://ada:{PASSWORD}@h/query"})
    assert refused.status_code in (400, 422)
    assert PASSWORD not in refused.text
    body = {"what": "publish", "to": f"sparql:http://ada:{PASSWORD}@h/update", "into": "http://e/g"}
    assert shared_client.post(f"/api/projects/{name}/runs", json=body).status_code == 400
    assert not any(PASSWORD in path.read_text() for path in folder_of(shared_client, name).rglob("*.json"))


def test_a_store_that_does_not_answer_changes_nothing_in_where_a_project_stands(shared_client, tmp_path):
    name = start_judging(shared_client, tmp_path)
    folder = folder_of(shared_client, name)
    (folder / "result" / "accepted.tsv").write_text("head\trelation\ttail\na\tr\tb\n")
    where = {"to": "sparql:http://127.0.0.1:1/update", "into": "http://e/g", "base": "", "remove": False, "out_of": ""}
    for state in ("done", "failed"):
        body = RunBody(what="publish", **where)
        run = add_run(folder, "publish", commands_of(Project.read(folder), body), body.where)
        (run.folder / "ended.json").write_text(json.dumps({"state": state}))
    found = look(shared_client, name)
    assert (found["state"], found["runs"][-1]["where"]) == ("decided", where)


def test_a_studio_that_was_killed_while_its_folder_was_made_starts_again(tmp_path, monkeypatch):
    def killed(project):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("actc.web.studio.project.add_sample", killed)
        create_studio_folder(tmp_path / "studio")
    assert create_studio(create_studio_folder(tmp_path / "studio"))


def test_the_studio_s_cookie_is_for_its_own_path_alone(studio):
    app = create_studio(studio)
    with TestClient(app, base_url="http://127.0.0.1:8766") as client:
        answer = client.get(f"/s/{app.state.studio.token}")
        pages = pages_of(answer)
        assert f"Path={pages};" in answer.headers["set-cookie"]
        assert len(pages) > 30
        for path in ("/", "/api/studio"):
            assert client.get(path).status_code == 401
            assert client.get(pages + path).status_code == 200
