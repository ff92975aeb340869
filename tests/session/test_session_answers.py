"""Answers combined, compared, carried in and out; a terminal as a way to give them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import actc
from actc.data.files import write_scored
from actc.errors import ActcError, FileError
from actc.session import Judgement, Session
from actc.session import terminal as terminal_module
from actc.session.cards import link_of, make_card, plain
from actc.session.cases import open_case
from actc.session.export import write_history, write_label_studio, write_labels
from actc.session.import_answers import import_judgements
from actc.session.settings import Settings
from actc.session.start import create_session, start_session
from actc.session.status import agreement, history, people, progress
from actc.session.terminal import judge_in_terminal
from tests.conftest import make_pool, start_copy


@pytest.fixture
def session(tmp_path: Path) -> Session:
    write_scored(tmp_path / "scores.parquet", make_pool(120, 3)[0])
    return start_copy(tmp_path / "session", tmp_path / "scores.parquet", Settings(overlap=1.0))


def answer(session: Session, name: str, words: str) -> list[int]:
    """Let somebody say t, f and s to what they are asked; return the triples."""
    annotator, triples = session.add_annotator(name), []
    for word in words:
        task = session.ask(annotator)[0]
        label = {"t": "true", "f": "false", "s": "unsure"}[word]
        session.record(annotator, [Judgement(label, task.triple, f"{name}{task.triple}{len(triples)}")])
        triples.append(task.triple)
    return triples


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        ({"ada": "tt", "bob": "tf", "cleo": "ff"}, [True, False]),  # two against one
        ({"ada": "tt", "bob": "tf"}, [True]),  # one against one is no label
        ({"ada": "ts", "bob": "ss"}, [True]),
    ],
)
def test_the_label_of_a_triple_is_that_of_the_majority_in_the_order_of_the_first_answers(session, words, labels):
    triples = session.store.integers("SELECT triple FROM plan ORDER BY place LIMIT 2")[::-1].tolist()
    lines = [
        {"answer": {"t": "true", "f": "false", "s": "unsure"}[word], "name": name}
        | dict(zip(Session.TRIPLE, session.read_pool().triple(triple), strict=True))
        for name, letters in words.items()
        for triple, word in zip(triples, letters, strict=True)
    ]
    (session.folder.parent / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    import_judgements(session, session.folder.parent / "a.jsonl")
    assert session.annotations().labels.tolist() == labels
    assert session.annotations().rows.tolist() == triples[: len(labels)]
    session.settle(Judgement("false", triples[0], "k"))  # the owner's answer outweighs any number, and is no rating
    assert session.annotations().labels.tolist() == [False, *labels[1:]]
    assert agreement(session)["shared"] == (2 if words["bob"] != "ss" else 0)


@pytest.fixture(scope="module")
def rated(tmp_path_factory):
    """Return a function that puts ratings (people beside each other, NaN for none) into a session and measures them."""
    folder = tmp_path_factory.mktemp("rated")
    write_scored(folder / "scores.parquet", make_pool(120, 3)[0])
    session = start_copy(folder / "session", folder / "scores.parquet", Settings())
    answer(session, "0", "t")
    ids = [session.add_annotator(str(number)).id for number in range(3)]

    def measure(table):
        with session.store.transaction() as connection:
            connection.execute("DELETE FROM answer")
            rows = [
                (triple, ids[who], int(table[triple, who]), 1) for triple, who in np.argwhere(~np.isnan(table)).tolist()
            ]
            connection.executemany("INSERT INTO answer VALUES (?, ?, ?, ?)", rows)
        return agreement(session)

    return measure


ratings = st.lists(st.lists(st.sampled_from([0.0, 1.0, np.nan]), min_size=3, max_size=3), min_size=2, max_size=30)


@given(ratings.map(np.array))
def test_krippendorff_is_that_of_another_package(rated, table):
    ours, shared = rated(table), table[(~np.isnan(table)).sum(axis=1) > 1]
    assert ours["shared"] == len(shared)
    if len(np.unique(shared[~np.isnan(shared)])) < 2:
        assert ours["krippendorff"] is None
    else:
        alpha = krippendorff.alpha(table.T, level_of_measurement="nominal")
        assert ours["krippendorff"] == pytest.approx(alpha, abs=1e-12)


def test_reliability_counts_only_what_both_judged(session):
    for name, words in (("ada", "ttft"), ("bob", "ftft"), ("cleo", "f")):
        answer(session, name, words)
    lines = {line["name"]: line["reliability"] for line in people(session) if line["kind"] == "person"}
    compared = {name: (line["compared"], line["right"]) for name, line in lines.items()}
    assert compared == {"ada": (4, 0.75), "bob": (4, 0.75), "cleo": (0, None)}
    assert lines["ada"]["low"] < 0.75 < lines["ada"]["high"]


def test_labels_and_history_go_out_and_come_back(session, tmp_path):
    answer(session, "ada", "tfts")
    answer(session, "bob", "tff")
    session.record(session.annotator("bob"), [Judgement("undo", None, "u")])
    session.store.write(lambda connection: connection.execute("UPDATE task SET round = 2"))
    write_labels(session, tmp_path / "labels.tsv")
    write_history(session, tmp_path / "history.jsonl")
    assert import_judgements(session, tmp_path / "history.jsonl")[0] == 0
    other = create_session(tmp_path / "other", tmp_path / "scores.parquet", Settings(overlap=1.0))
    assert import_judgements(other, tmp_path / "history.jsonl")[0] == 6
    assert other.annotations().rows.tolist() == session.annotations().rows.tolist()
    assert set(other.annotations().round) == {2}
    third = create_session(tmp_path / "third", tmp_path / "scores.parquet")
    assert import_judgements(third, tmp_path / "labels.tsv", annotator="cleo")[0] == len(session.annotations())
    assert import_judgements(third, tmp_path / "labels.tsv", annotator="cleo")[0] == 0
    assert np.array_equal(third.annotations().labels, session.annotations().labels)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("{", "line 1:"),
        ("[]", "line 1:"),
        ('{"head": "h1", "relation": "r1", "answer": "true"}', "line 1: 'tail'"),
        ('{"head": "h1", "relation": "r9", "tail": "t", "answer": "true"}', "bad.jsonl: "),
        ('{"head": "h1", "relation": "r9", "tail": "t", "answer": "perhaps"}', "line 1: 'perhaps'"),
        ('{"head": "h1", "relation": "r9", "tail": "t", "answer": "true", "kind": "program"}', "line 1: 'program'"),
    ],
)
def test_a_bad_line_of_judgements_is_named_and_nothing_is_stored(session, tmp_path, text, place):
    (tmp_path / "bad.jsonl").write_text(text + "\n")
    with pytest.raises(ActcError, match=place):
        import_judgements(session, tmp_path / "bad.jsonl")
    assert history(session) == []


def test_what_came_from_a_file_is_not_asked_any_more(session, tmp_path):
    planned = session.store.value("SELECT triple FROM plan ORDER BY place LIMIT 1")
    head, relation, tail = session.read_pool().triple(planned)
    (tmp_path / "labels.tsv").write_text(f"head\trelation\ttail\tlabel\n{head}\t{relation}\t{tail}\t1\n")
    import_judgements(session, tmp_path / "labels.tsv", annotator="ada")
    assert session.ask(session.annotator("ada"))[0].triple != planned


def test_a_key_that_was_used_for_another_answer_is_refused_and_nothing_of_the_file_is_stored(session, tmp_path):
    head, relation, tail = session.read_pool().triple(3)
    line = {"head": head, "relation": relation, "tail": tail, "name": "ada"}
    lines = [line | {"answer": "true", "key": "a"}, line | {"answer": "false", "key": "a"}]
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(FileError, match=r"line 2:.*'a'"):
        import_judgements(session, tmp_path / "answers.jsonl")
    assert history(session) == session.people() == []


def test_label_studio_gets_tasks_and_gives_answers(session, tmp_path):
    write_label_studio(session, open_case(session)[0], tmp_path / "tasks.json", 5)
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    assert len(tasks) == 5
    for number, task in enumerate(tasks):
        result = [{"from_name": "answer", "type": "choices", "value": {"choices": ["True" if number else "Not sure"]}}]
        task["annotations"] = [{"completed_by": {"email": "ada@example.org"}, "lead_time": 3.5, "result": result}]
    tasks[4]["annotations"][0]["was_cancelled"] = True
    (tmp_path / "answers.json").write_text(json.dumps(tasks))
    assert import_judgements(session, tmp_path / "answers.json")[0] == 4
    assert session.annotations().rows.tolist() == [task["data"]["triple"] for task in tasks[1:4]]
    assert people(session)[1]["name"] == "label-studio ada@example.org"


def in_terminal(session, keys, lines=()):
    keys, lines, written = iter(keys), iter(lines), []
    ada = session.add_annotator("ada")
    answers = judge_in_terminal(session, ada, lambda: next(keys, ""), lambda prompt: next(lines), written.append)
    return answers, "\n".join(written)


def test_the_terminal_takes_one_key_each(session):
    answers, written = in_terminal(session, "tfsxuntq", ["a note"])
    assert answers == 5
    assert [line["answer"] for line in history(session)][::-1] == ["true", "false", "unsure", "undo", "true"]
    assert history(session)[0]["note"] == "a note"
    assert "[t] true" in written
    assert "Why this one?" in written


def test_the_terminal_stops_when_the_budget_is_spent(session, monkeypatch):
    session.change({"budget": 3})
    monkeypatch.setattr(terminal_module, "PATIENCE", 0.0)
    answers, written = in_terminal(session, "ttttt")
    assert answers == 3
    assert "Thank you" in written


def test_the_terminal_obeys_no_name():
    assert "\x1b" not in terminal_module.clean("\x1b[2Jboo\u202e")
    assert len(terminal_module.clean("x" * 10_000)) < 600


def start_on(folder: Path, scores: str, graph: str = "", **names: str) -> Session:
    """Start a session on lines of scores, a graph, and files of names; in the name of a file _ is a point."""
    files = {"scores.tsv": scores, "graph.tsv": graph} | {name.replace("_", "."): text for name, text in names.items()}
    for name, text in files.items():
        (folder / name).write_text(text)
    given = {"graph": folder / "graph.tsv" if graph else None, "names": [folder / name for name in [*files][2:]]}
    return start_session(folder / "session", folder / "scores.tsv", method="actc-lr-rndm", **given)


def card_of(session: Session, triple: int = 0):
    tasks = session.ask(session.add_annotator("ada"), 2)
    return make_card(session.names, next(task for task in tasks if task.triple == triple))


def test_names_sentences_known_triples_and_examples_make_a_card(tmp_path):
    session = start_on(
        tmp_path,
        "Q1\tP2\tQ3\t0.5\nQ2\tP2\tQ3\t0.7\n",
        "Q1\tP2\tQ5\nQ9\tP2\tQ5\nQ1\tP2\tQ3\nQ1\tP31\tQ6\nQ7\tP8\tQ1\nQ3\tP9\tQ4\n",
        names_tsv="id\tname\tdescription\nQ1\tAda\ta mathematician\nQ3\tLondon\t\nQ5\tRome\t\n",
        relations_json='{"P2": {"label": "born in", "sentence": "{head} was born in {tail}"}}',
    )
    card = card_of(session)
    assert plain(card["sentence"]) == "Ada was born in London"
    assert card["head"]["description"] == "a mathematician"
    assert card["head"]["link"] == "https://www.wikidata.org/wiki/Q1"
    assert card["relation"]["link"].endswith("Property:P2")
    assert card["known"] == ["Rome"]  # a doubtful fact does not speak for itself
    assert [plain(example) for example in card["examples"]] == ["Q9 was born in Rome"]
    assert sorted(map(plain, card["head_facts"])) == ["Ada P31 Q6", "Q7 P8 Ada"]
    assert list(map(plain, card["tail_facts"])) == ["London P9 Q4"]
    drawn = " ".join(terminal_module.draw(card, progress(session, session.annotator("ada")), ""))
    assert "Others of this relation in the graph: Q9 was born in Rome" in drawn
    assert "Others of this relation in the graph" in (Path(actc.__file__).parent / "web" / "card.js").read_text()


WIKIDATA = """[
{"type":"item","id":"Q1","labels":{"de":{"value":"Ada"},"en":{"value":"Ada L."}},"descriptions":{"en":{"value":"who"}}},
{"type":"item","id":"Q99","labels":{"en":{"value":"nobody asks about it"}}},
{"type":"property","id":"P2","labels":{"mul":{"value":"born in"}},"descriptions":{}}
]
"""
TURTLE = """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix schema: <http://schema.org/> . @prefix wd: <http://www.wikidata.org/entity/> .
wd:Q1 rdfs:label "Augusta"@en ; schema:description "wer"@de , "who"@en ; skos:prefLabel "Ada L."@en , "Ada"@de .
wd:P2 rdfs:label "born in" . wd:Q99 rdfs:label "nobody asks about it" .
"""
NAME_FILES = {
    "names.csv": "id,label,description\nQ1,Ada L.,who\nP2,born in,\n",
    "names.json": '{"Q1": {"label": "Ada L.", "description": "who"}, "P2": "born in"}',
    "lines.jsonl": '{"id": "Q1", "name": "Ada L.", "description": "who"}\n{"id": "P2", "name": "born in"}\n',
    "dump.json": WIKIDATA,
    "labels.ttl": TURTLE,
}


@pytest.fixture
def nameless(tmp_path):
    (tmp_path / "scores.tsv").write_text("Q1\tP2\tQ3\t0.5\nQ2\tP2\tQ3\t0.7\n")
    return start_copy(tmp_path / "session", tmp_path / "scores.tsv", Settings("actc-lr-rndm"))


def count_named(session):
    return session.names.count_named(session.read_pool().entity_names)


@pytest.mark.parametrize("file", NAME_FILES)
def test_names_may_come_later_and_in_any_format(nameless, tmp_path, file):
    assert count_named(nameless) == 0
    (tmp_path / file).write_text(NAME_FILES[file])
    nameless.add_names([tmp_path / file])
    assert count_named(nameless) == 1
    named = nameless.names.of("Q1")  # the session was open all the time
    assert (named.name, named.description, nameless.names.of("P2").name) == ("Ada L.", "who", "born in")


@pytest.mark.parametrize("file", ["dump.json", "labels.ttl"])
def test_names_are_in_the_language_asked_for_and_else_in_another(nameless, tmp_path, file):
    (tmp_path / file).write_text(NAME_FILES[file])
    nameless.add_names([tmp_path / file], language="de")
    assert [nameless.names.of(one).name for one in ("Q1", "P2", "Q99")] == ["Ada", "born in", "Q99"]


@pytest.mark.parametrize(
    ("file", "text", "place"),
    [
        ("bad.jsonl", b'{"id": "Q1", "name": "x"}\nnonsense\n', "line 2:"),
        ("bad.ttl", b"this is no turtle", "bad.ttl"),
        ("bad.csv", b"name,label\n", "bad.csv.*'id'"),
        ("bad.tsv", b"id\tname\nx\ty\tz\n", "line 2"),
        ("bad.tsv", b"id\tname\n\xff\xfe\n", "bad.tsv"),
        ("bad.tsv.gz", gzip.compress(b"id\tname\n" + b"x\ty\n" * 5000)[:-20], "bad.tsv.gz"),
        ("bad.json", b"{", "bad.json"),
        ("bad.parquet", b"nothing", "bad.parquet"),
    ],
)
def test_names_that_cannot_be_read_change_nothing(nameless, tmp_path, file, text, place):
    (tmp_path / file).write_bytes(text)
    with pytest.raises(FileError, match=place):
        nameless.add_names([tmp_path / file])
    assert count_named(nameless) == 0


def test_namesakes_on_a_card_have_other_names(tmp_path):
    texts = {"q1": "capital of France", "q2": "town in Texas " * 9, "q3": "", "q4": "a boy", "q5": "a boy"}
    names = {key: {"name": "Paris" if key < "q4" else "Kim", "description": text} for key, text in texts.items()}
    graph = "q1\ttwin of\tq3\nq4\ttwin of\tq5\n"
    session = start_on(tmp_path, "q1\ttwin of\tq2\t0.5\n", graph, names_json=json.dumps(names))
    card = card_of(session)
    shown = "Paris (capital of France) twin of Paris (town in Texas town in Texas town in…)"
    assert plain(card["sentence"]) == plain(session.sentence(0)) == shown
    assert card["known"] == ["Paris (q3)"]
    assert [plain(one) for one in card["examples"]] == ["Kim (q4) twin of Kim (q5)"]


@pytest.mark.parametrize("typed", [True, False])
def test_examples_are_alike_in_kind_not_neighbours_in_the_alphabet(tmp_path, typed):
    people, works = [f"a{i}" for i in range(9)], [f"z{i}" for i in range(3)]
    lines = [f"{one}\tmade in\tcity\n" for one in people + works]
    if not typed:
        lines += [f"{one}\t{fact}\tx\n" for group, fact in ((people, "plays"), (works, "shows")) for one in group]
        lines.append("apex\tshows\tx\n")
    types = [f"{one},{'person' if one in people else 'work of art'}\n" for one in (*people, *works, "apex")]
    names = "id,types\n" + "".join(types if typed else [])
    session = start_on(tmp_path, "apex\tmade in\ttown\t0.5\n", "".join(lines), names_csv=names)
    shown = session.names.examples("made in", "apex", "town", 3)
    assert sorted(head for head, _ in shown) == works


THERE = "https://example.org/thing/{id}?lang=en"
ADDRESSES = {
    ("wd:Q42", ""): "https://www.wikidata.org/wiki/Q42",
    ("wdt:P31", ""): "https://www.wikidata.org/wiki/Property:P31",
    ("/m/02mjmr", ""): "https://www.wikidata.org/w/index.php?search=haswbstatement:P646=/m/02mjmr",
    ("http://dbpedia.org/resource/Rome", ""): "http://dbpedia.org/resource/Rome",
    ("http://dbpedia.org/resource/Rome", THERE): "http://dbpedia.org/resource/Rome",
    ("Q42", THERE): "https://example.org/thing/Q42?lang=en",
    ("../a b&c", THERE): "https://example.org/thing/..%2Fa%20b%26c?lang=en",
} | {(hostile, ""): "" for hostile in ("javascript:alert(1)", "Q1<script>", "http://a b", "Q12\n", "//x")}


@pytest.mark.parametrize(("identifier", "template"), ADDRESSES)
def test_ids_are_links_and_only_addresses_become_any(identifier, template):
    assert link_of(identifier, template) == ADDRESSES[identifier, template]
