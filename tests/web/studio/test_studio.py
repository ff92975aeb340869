"""The studio's routes: who may ask, what may be dropped, and the whole way without a browser."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from actc.complete.propose import candidates_of_rules
from actc.data.deliver import alone, try_to_lock
from actc.errors import FileError, OptionError
from actc.graph.formats import read_graph
from actc.session import Session, start_session
from actc.web.studio import server
from actc.web.studio.commands import RunBody, commands_of
from actc.web.studio.describe import WHERE, describe_project
from actc.web.studio.project import (
    Project,
    create_project,
    create_studio_folder,
    find_project,
    list_projects,
    safe_name,
)
from actc.web.studio.recognise import SCORES_UNUSED, guess_templates
from actc.web.studio.runs import add_run, list_runs
from actc.web.studio.server import create_studio
from tests.conftest import pages_of
from tests.web.studio.conftest import BYTES, add_project, enter, run_to_its_end

SCORES = b"head\trelation\ttail\tscore\n" + b"".join(b"a%d\tr\tb\t%d\n" % (k, k) for k in range(40))


def stranger(client):
    return TestClient(client.app, base_url="http://127.0.0.1:8766")


def test_every_route_of_the_studio_wants_the_link(client):
    open_to_all = {"/files/{name}", "/s/{token}"}
    for route in client.app.routes:
        if getattr(route, "dependant", None) is None or route.path in open_to_all:
            continue
        path = route.path.format(name="words-and-what-they-mean", file="x.tsv", run=1, token="x")
        kind = BYTES if "PUT" in route.methods else {"content-type": "application/json"}
        asked = stranger(client).request(next(iter(route.methods)), path, content=b"no JSON", headers=kind)
        assert asked.status_code == 401, route.path
    assert not Path(client.app.state.studio.folder, "words-and-what-they-mean", "files", "x.tsv").exists()


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
    answer = shared_client.post(
        "/api/projects", content=b'{"title": "x"}', headers={"content-type": "application/json"} | headers
    )
    assert answer.status_code in (403, 421)
    put = shared_client.put("/api/projects/words-and-what-they-mean/files/x.tsv", content=b"a", headers=BYTES | headers)
    assert put.status_code in (403, 421)
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


@pytest.mark.parametrize("name", ["", "...", "x" * 200, "graph.zip", "graph.tar.gz", "graph.7z", "/"])
def test_names_that_say_nothing_and_archives_are_refused(shared_client, name):
    project = add_project(shared_client)
    answer = shared_client.put(f"/api/projects/{project}/files/{name or '%20'}", content=b"a\tr\tb\n", headers=BYTES)
    assert answer.status_code in (400, 404)
    assert shared_client.get(f"/api/projects/{project}").json()["files"] == []


def test_a_file_that_is_too_large_leaves_nothing(client, monkeypatch):
    project = add_project(client)
    gate = client.app
    while not hasattr(gate, "uploads"):
        gate = getattr(gate, "app", None) or gate.middleware_stack
    monkeypatch.setattr(gate, "uploads", 1000)
    said = client.put(f"/api/projects/{project}/files/g.tsv", content=b"a\tr\tb\n" * 1000, headers=BYTES)
    chunks = client.put(f"/api/projects/{project}/files/g.tsv", content=iter([b"a\tr\tb\n" * 1000]), headers=BYTES)
    assert (said.status_code, chunks.status_code) == (413, 413)
    assert list((client.app.state.studio.folder / project / "files").iterdir()) == []


def test_a_full_disk_refuses_a_file_and_keeps_the_old_one(shared_client, monkeypatch):
    project = add_project(shared_client)
    place = f"/api/projects/{project}/files/g.tsv"
    assert shared_client.put(place, content=b"a\tr\tb\n", headers=BYTES).status_code == 200
    monkeypatch.setattr(server, "LEFT_FREE", 2**62)
    assert shared_client.put(place, content=b"other", headers=BYTES).status_code == 507
    assert (shared_client.app.state.studio.folder / project / "files" / "g.tsv").read_bytes() == b"a\tr\tb\n"


def test_a_file_whose_plain_name_is_another_s_replaces_nothing(shared_client):
    project = add_project(shared_client)
    folder = shared_client.app.state.studio.folder / project / "files"
    first, second, again = (
        shared_client.put(f"/api/projects/{project}/files/{name}", content=content, headers=BYTES).status_code
        for name, content in (("a-b.tsv", b"a\tr\tb\n"), ("a b.tsv", b"other"), ("a-b.tsv", b"c\tr\td\n"))
    )
    assert (first, second, again) == (200, 400, 200)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"a-b.tsv": b"c\tr\td\n"}


def test_links_in_a_project_are_not_followed(shared_client, tmp_path):
    project = add_project(shared_client)
    folder, secret = shared_client.app.state.studio.folder / project, tmp_path / "secret"
    secret.write_text("a\tr\tb\n")
    (folder / "files" / "g.tsv").symlink_to(secret)
    Project.read(folder).with_file("g.tsv", "graph")
    assert shared_client.get(f"/api/projects/{project}/preview").json()["graph"] is None
    assert shared_client.post(f"/api/projects/{project}/runs", json={"what": "go"}).status_code == 400
    shared_client.put(f"/api/projects/{project}/files/g.tsv", content=b"x\ty\tz\n", headers=BYTES)
    assert secret.read_text() == "a\tr\tb\n"
    (shared_client.app.state.studio.folder / "linked").symlink_to(folder)
    assert shared_client.get("/api/projects/linked").status_code == 404


@pytest.mark.parametrize("name", ["..", ".actc-studio", "a/b", "A", "-x", "%2e%2e"])
def test_no_name_from_outside_reaches_another_folder(shared_client, name):
    assert shared_client.get(f"/api/projects/{name}").status_code == 404
    with pytest.raises(FileError):
        find_project(shared_client.app.state.studio.folder, name)


def test_a_damaged_project_is_left_out_and_said(client):
    name = add_project(client)
    path = client.app.state.studio.folder / name / "project.json"
    for text in ("", "[]", '{"format": 1}', path.read_text().replace('"budget": 30', '"budget": -1')):
        path.write_text(text)
        assert client.get(f"/api/projects/{name}").status_code == 404
        assert [one["name"] for one in client.get("/api/studio").json()["projects"]] == ["words-and-what-they-mean"]


@pytest.mark.parametrize(
    "body",
    [
        {"goal": "conquer"},
        {"budget": 0},
        {"precision": 1.0},
        {"title": " "},
        {"language": "../x"},
        {"store": "file:///etc/passwd"},
        {"store": "sparql:file:///etc/passwd"},
        {"evil": 1},
    ],
)
def test_what_a_command_would_refuse_is_refused_here(shared_client, body):
    name = add_project(shared_client)
    before = shared_client.get(f"/api/projects/{name}").json()["options"]
    assert shared_client.post(f"/api/projects/{name}", json=body).status_code in (400, 422)
    assert shared_client.get(f"/api/projects/{name}").json()["options"] == before


def test_a_folder_with_other_files_is_no_studio(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FileError):
        create_studio_folder(tmp_path)
    (tmp_path / ".actc-studio").write_text("mine, too")
    with pytest.raises(FileError):
        create_studio_folder(tmp_path)


def test_projects_of_one_title_have_folders_of_their_own(studio):
    assert [create_project(studio, "Über Graphen!").name for _ in range(3)] == [
        "uber-graphen",
        "uber-graphen-2",
        "uber-graphen-3",
    ]
    assert create_project(studio, "图").name == "project"


def test_the_secret_is_its_owner_s_alone(studio, client):
    path = studio / ".actc-studio" / "secret"
    assert path.stat().st_mode & 0o077 == 0
    assert studio.stat().st_mode & 0o077 == 0
    assert client.app.state.studio.token not in json.dumps(client.get("/api/studio").json())


def test_what_was_dropped_is_recognised_with_its_notes_and_a_first_card(shared_client, tmp_path):
    name = add_project(shared_client)
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    facts = f'<http://e/Paris> <http://e/lies_in> <http://e/F> .\n<http://e/F> {label} "France" .\n'.encode()
    files = {"g.nt": facts, "names.tsv": b"id\tname\nhttp://e/Paris\tParis <b>\n"}
    told = [
        shared_client.put(f"/api/projects/{name}/files/{file}", content=text, headers=BYTES).json()
        for file, text in files.items()
    ]
    assert [one["role"] for one in told] == ["graph", "names"]
    found = shared_client.get(f"/api/projects/{name}/preview").json()
    assert (found["graph"]["format"], found["names"]["named"]) == ("N-Triples", 2)
    assert len(found["graph"]["notes"]) == 1  # of the literal
    # By the table of names, by the end of an address, and by the graph's own label.
    assert [part["text"] for part in found["card"]["sentence"][::2]] == ["Paris <b>", "lies in", "France"]
    assert shared_client.get(f"/api/projects/{name}").json()["next"]["what"] == "go"
    broken = shared_client.put(f"/api/projects/{name}/files/h.nt", content=b"<a <b\n", headers=BYTES).json()
    assert (broken["role"], broken["guess"], broken["other"]) == ("unused", "graph", "g.nt")  # the page asks
    shared_client.post(f"/api/projects/{name}/files/h.nt", json={"role": "graph"})
    assert "h.nt, line 1" in shared_client.get(f"/api/projects/{name}/preview").json()["problem"]
    project = shared_client.get(f"/api/projects/{name}").json()
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
    place = f"/api/projects/{add_project(shared_client)}/files/x.{'jsonl' if text[0] == '{' else 'tsv'}"
    assert shared_client.put(place, content=text, headers=BYTES).json()["role"] == role


def test_a_sentence_for_a_relation_reaches_its_cards(shared_client):
    name = add_project(shared_client)
    shared_client.put(f"/api/projects/{name}/files/g.tsv", content=b"Ada\tuncle\tBob\n", headers=BYTES)
    (line,) = shared_client.get(f"/api/projects/{name}/preview").json()["sentences"]
    assert line["guesses"][0] == "{tail} is the uncle of {head}"
    place = f"/api/projects/{name}/sentences"
    for wrong in ({"relation": "uncle", "template": "{head} is"}, {"relation": "aunt", "template": line["guesses"][0]}):
        assert shared_client.post(place, json=wrong).status_code == 400
    assert shared_client.post(place, json={"relation": "uncle", "template": line["guesses"][0]}).status_code == 200
    found = shared_client.get(f"/api/projects/{name}/preview").json()
    assert "".join(part["text"] for part in found["card"]["sentence"]) == "Bob is the uncle of Ada"
    assert "--names files/sentences.tsv" in shared_client.get(f"/api/projects/{name}").json()["commands"][-1]


@pytest.mark.parametrize(
    ("relation", "guess"),
    [
        *((words, f"{{head}} {words} {{tail}}") for words in ("wrote", "works for", "has part", "died of", "hated")),
        ("located_in", "{head} located in {tail}"),
        ("locatedIn", "{head} located in {tail}"),
        ("aunt", "{tail} is the aunt of {head}"),
        ("part of", "{head} is a part of {tail}"),
        ("causes", "{head} causes {tail}"),
        ("isa", "{head} is a {tail}"),
        ("", None),
    ],
)
def test_sentences_are_guessed_from_names(relation, guess):
    assert next(iter(guess_templates(relation)), None) == guess


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("facts.csv", b"no,Person,Verb,Thing,sure\n1,Ada,knows,Bob,0.5\n2,Bob,knows,Eve,0.25\n"),
        ("facts.jsonl", b'{"no": 1, "who": "Ada", "does": "knows", "whom": "Bob", "sure": 0.5}\n'),
    ],
)
def test_columns_that_are_not_recognised_are_picked(shared_client, file, text):
    name = add_project(shared_client)
    place = f"/api/projects/{name}/files/{file}"
    shared_client.put(f"{place}?role=graph", content=text, headers=BYTES)
    (table,) = shared_client.get(f"/api/projects/{name}/preview").json()["columns"]
    assert (table["names"] or table["rows"][0])[0] == "no"
    columns = {"head": "2", "relation": "3", "tail": "4", "score": "5"}
    for wrong in ({"head": "2"}, columns | {"score": "9"}, columns | {"verb": "1"}):
        assert shared_client.post(f"{place}/columns", json={"columns": wrong, "header": True}).status_code == 400
    roles = shared_client.post(f"{place}/columns", json={"columns": columns, "header": True}).json()["roles"]
    assert roles == {file: "unused", "facts-columns.parquet": "scores"}
    found = shared_client.get(f"/api/projects/{name}/preview").json()
    assert found["scores"]["rows"][0] == ["Ada", "knows", "Bob"]
    assert found["columns"] == []


def test_triples_from_text_need_no_graph(shared_client):
    name = add_project(shared_client)
    text = b'{"head": "Ada", "relation": "born in", "tail": "London", "source": "Ada was born in London."}\n'
    put = shared_client.put(f"/api/projects/{name}/files/extracted.jsonl", content=text, headers=BYTES)
    assert put.json()["role"] == "candidates"
    found = shared_client.get(f"/api/projects/{name}").json()
    assert found["next"]["what"] == "go"
    assert found["commands"][-1] == "actc complete --candidates files/extracted.jsonl --budget 30 --out result"


def test_one_run_at_a_time_is_started_and_may_be_cancelled(client, families):
    name = add_project(client, families, budget=10)
    api = f"/api/projects/{name}"
    assert client.get(api).json()["next"]["what"] == "go"
    told = client.post(f"{api}/runs", json={"what": "go"}).json()
    assert told["command"] == "actc complete files/families.tsv --budget 10 --out result"
    assert client.post(f"{api}/runs", json={"what": "go"}).status_code == 400
    list_runs(client.app.state.studio.folder / name)[0].cancel()


def test_people_of_a_studio_that_others_reach_get_an_address_and_its_code(studio):
    app = server.create_studio(studio, "0.0.0.0", "http://mine.example:8766")
    with TestClient(app, base_url="http://mine.example:8766") as client:
        enter(client)
        name = add_project(client)
        client.put(f"/api/projects/{name}/files/scores.tsv", content=SCORES, headers=BYTES)
        client.post(f"/api/projects/{name}", json={"goal": "decide", "budget": 5})
        run_to_its_end(client, name, "go")
        ada = client.post(f"/api/projects/{name}/people", json={"name": "Ada"}).json()
        assert ada["address"].startswith(f"http://mine.example:8766/session/{name}/j/")
        assert ada["qr"].startswith("<svg")
        assert client.get(ada["link"]).status_code == 200
        client.post(f"/api/projects/{name}/finish", json={})
        assert client.get(f"/api/projects/{name}").json()["next"]["what"] == "decide"


def test_scored_candidates_are_decided_beside_the_graph_of_a_store(shared_client):
    name = add_project(shared_client)
    chosen = {"goal": "decide", "store": "sparql:http://127.0.0.1:9/query", "graph_iri": "http://example.org/kg"}
    shared_client.post(f"/api/projects/{name}", json=chosen)
    assert shared_client.get(f"/api/projects/{name}").json()["state"] == "new"  # there is nothing to decide on yet
    shared_client.put(f"/api/projects/{name}/files/scores.tsv", content=SCORES, headers=BYTES)
    found = shared_client.get(f"/api/projects/{name}").json()
    assert (found["state"], found["next"]["what"]) == ("ready", "go")
    read, start = [line.split() for line in found["commands"] if line.startswith(("actc convert", "actc start"))]
    assert read[2:5] == [chosen["store"], "--graph", chosen["graph_iri"]]
    assert start[start.index("--graph") + 1] == read[read.index("--out") + 1]


def test_a_session_of_one_project_does_not_open_another(shared_client, tmp_path):
    first, second = (start_judging(shared_client, tmp_path) for _ in range(2))
    link = shared_client.get(f"/api/projects/{first}").json()["session"]["judge"]
    judge = stranger(shared_client)
    pages = pages_of(judge.get(link))
    assert judge.get(f"{pages}/api/picture").status_code == 200
    assert judge.get(f"{pages.replace(first, second)}/api/picture").status_code == 401
    assert judge.get("/api/studio").status_code == 401
    assert judge.get(link.replace(first, second)).status_code == 401


def test_whoever_has_no_secret_learns_of_no_project_and_starts_nothing(shared_client, tmp_path, monkeypatch):
    name, started = start_judging(shared_client, tmp_path), []
    studio = shared_client.app.state.studio
    with studio.closed(name):
        pass
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
    link = shared_client.get(f"/api/projects/{name}").json()["session"]["judge"]
    with studio.closed(name):
        pass
    assert stranger(shared_client).get(link).status_code == 200
    assert len(started) == 2  # for whoever described the project, and for the one with the link


def test_files_that_are_dropped_at_once_are_all_there(shared_client):
    name = add_project(shared_client)
    with ThreadPoolExecutor(8) as several:
        places = [f"/api/projects/{name}/files/names-{k}.tsv?role=names" for k in range(16)]
        codes = list(
            several.map(
                lambda place: shared_client.put(place, content=b"id\tname\n", headers=BYTES).status_code, places
            )
        )
    assert codes == [200] * 16
    assert len(shared_client.get(f"/api/projects/{name}").json()["files"]) == 16


def test_columns_that_are_not_used_are_said(shared_client):
    name = add_project(shared_client)
    table = b"head,relation,tail,source,colour,confidence\na,r,x,He saw it.,1,0.5\nb,r,y,He said it.,2,0.25\n"
    place = f"/api/projects/{name}/files/facts.csv"
    assert shared_client.put(place, content=table, headers=BYTES).json()["role"] == "candidates"
    assert shared_client.get(f"/api/projects/{name}/preview").json()["candidates"]["scores"] == [0.25, 0.5]
    shared_client.post(place, json={"role": "scores"})
    found = shared_client.get(f"/api/projects/{name}/preview").json()["scores"]
    assert found["scores"] == [0.25, 0.5]
    (note,) = found["notes"]
    assert "colour" in note
    shared_client.post(place, json={"role": "graph"})
    notes = shared_client.get(f"/api/projects/{name}/preview").json()["graph"]["notes"]
    assert "source, colour, confidence" in notes[0]
    assert notes[1:] == [SCORES_UNUSED]


def start_judging(client, tmp_path):
    """Return a project with a session in it."""
    name = add_project(client)
    (tmp_path / "scores.tsv").write_text("".join(f"a{k}\tr\tb\t{k}\n" for k in range(40)))
    result = client.app.state.studio.folder / name / "result"
    result.mkdir()
    start_session(result / "session", tmp_path / "scores.tsv").close()
    return name


def test_what_is_sought_stays_once_people_judge(shared_client, tmp_path):
    api = f"/api/projects/{start_judging(shared_client, tmp_path)}"
    assert shared_client.post(api, json={"goal": "check"}).status_code == 400
    assert shared_client.post(api, json={"goal": "complete", "budget": 7}).json()["options"]["budget"] == 7


def test_names_are_read_in_another_process_and_reach_people_who_judge(shared_client, tmp_path, monkeypatch):
    def read_here(*words):
        raise AssertionError("read in the server")

    monkeypatch.setattr("actc.session.session.insert_names", read_here)
    name = start_judging(shared_client, tmp_path)
    place = f"/api/projects/{name}/files"
    assert shared_client.put(f"{place}/n.tsv", content=b"id\tname\na1\tAda\n", headers=BYTES).json()["role"] == "names"
    with closing(Session(shared_client.app.state.studio.folder / name / "result" / "session")) as session:
        assert session.names.of("a1").name == "Ada"
    assert shared_client.put(f"{place}/m.json?role=names", content=b"{", headers=BYTES).status_code == 400


def take_away(client, path):
    return client.request("DELETE", path, json={})


def test_a_project_is_deleted_for_good_with_its_links(client, tmp_path):
    name, studio = start_judging(client, tmp_path), client.app.state.studio.folder
    link = client.get(f"/api/projects/{name}").json()["session"]["judge"]
    assert take_away(client, f"/api/projects/{name}").json() == {"deleted": name}
    assert client.get(f"/api/projects/{name}").status_code == 404
    assert stranger(client).get(link).status_code == 401
    assert [one["name"] for one in client.get("/api/studio").json()["projects"]] == ["words-and-what-they-mean"]
    assert sorted(one.name for one in (studio / ".actc-studio").iterdir()) == ["secret"]


def test_a_project_in_which_something_is_written_is_not_deleted(shared_client):
    name = add_project(shared_client)
    folder = shared_client.app.state.studio.folder / name
    (folder / "runs" / "1").mkdir(parents=True)
    (folder / "runs" / "1" / "run.json").write_text('{"what": "go", "commands": []}')
    with (folder / "runs" / "1" / "lock").open("w") as lock:
        assert try_to_lock(lock)
        assert take_away(shared_client, f"/api/projects/{name}").status_code == 400
    (folder / "runs" / "1" / "ended.json").write_text('{"state": "done"}')
    with alone(folder / "result"):  # as a command in a terminal does
        assert take_away(shared_client, f"/api/projects/{name}").status_code == 400
    assert folder.is_dir()
    assert take_away(shared_client, f"/api/projects/{name}").status_code == 200


def test_the_report_is_a_page_with_a_way_back_on_which_nothing_runs(shared_client):
    name = add_project(shared_client)
    assert shared_client.get(f"/project/{name}/report").status_code == 404
    result = shared_client.app.state.studio.folder / name / "result"
    result.mkdir()
    (result / "report.html").write_text("<html><body class='report'>\n<main>All is well</main></body></html>")
    page = shared_client.get(f"/project/{name}/report")
    assert "All is well" in page.text
    assert f'<a href="../{name}#take">' in page.text
    policy = page.headers["content-security-policy"]
    assert "script-src" not in policy
    assert policy.startswith("default-src 'none'")
    assert "'unsafe-inline'" not in shared_client.get(f"/project/{name}").headers["content-security-policy"]
    assert shared_client.get(f"/api/projects/{name}").json()["report"]


PASSWORD = "open-sesame-4711"


def test_an_address_with_a_password_in_it_is_not_written_down(shared_client):
    name = add_project(shared_client)
    said = shared_client.post(f"/api/projects/{name}", json={"store": f"sparql:http://ada:{PASSWORD}@h/query"})
    assert said.status_code == 400
    assert PASSWORD not in said.text
    body = {"what": "publish", "to": f"sparql:http://ada:{PASSWORD}@h/update", "into": "http://e/g"}
    assert shared_client.post(f"/api/projects/{name}/runs", json=body).status_code == 400


def test_a_store_that_does_not_answer_changes_nothing_in_where_a_project_stands(shared_client, tmp_path):
    name = start_judging(shared_client, tmp_path)
    folder = shared_client.app.state.studio.folder / name
    (folder / "result" / "accepted.tsv").write_text("head\trelation\ttail\na\tr\tb\n")
    where = {"to": "sparql:http://127.0.0.1:1/update", "into": "http://e/g", "base": "", "remove": False}
    for state in ("done", "failed"):
        body = RunBody(what="publish", **where)
        run = add_run(folder, "publish", commands_of(Project.read(folder), body), body.model_dump(include=WHERE))
        (run.folder / "ended.json").write_text(json.dumps({"state": state}))
    told = shared_client.get(f"/api/projects/{name}").json()
    assert told["state"] == "decided"
    assert told["target"] == {**where, "out_of": ""}


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
