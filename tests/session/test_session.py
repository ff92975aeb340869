"""A session on disk: ask, record, undo, resume; nothing lost, nothing doubled, nothing overwritten."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from actc.data.files import read_scored, write_scored
from actc.decide.case import FOLDS
from actc.errors import ChoiceError, FileError, OptionError, SessionError
from actc.methods.pooled import method as pooled_method
from actc.session import Judgement, Session
from actc.session import lease_queue as queue_module
from actc.session import session as session_module
from actc.session.cards import make_card
from actc.session.plan import Planner
from actc.session.settings import SessionInputs, Settings
from actc.session.start import create_session, start_session
from actc.session.status import history, list_reviews, picture, progress, show_review, what_is_left
from tests.conftest import make_pool, start_copy


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    write_scored(tmp_path / "scores.parquet", make_pool(200, 4)[0])
    return tmp_path / "scores.parquet"


def new_session(scores: Path, **settings) -> Session:
    return start_copy(scores.parent / "session", scores, Settings(**{"method": "actc-lr-rndm"} | settings))


def begin(scores: Path, *names: str, **settings) -> tuple:
    """Start a session of some people; return it, and them."""
    session = new_session(scores, **settings)
    return session, *(session.add_annotator(name) for name in names)


def judge(session: Session, annotator, count: int, answer: str = "true") -> list[int]:
    """Judge the next triples, one at a time, and return them."""
    judged = []
    for _ in range(count):
        task = session.ask(annotator, 3)[0]
        number = len(history(session))
        session.record(annotator, [Judgement(answer, task.triple, f"{annotator.name}-{number}")])
        judged.append(task.triple)
    return judged


def test_answers_survive_closing_and_opening(scores):
    session, ada = begin(scores, "ada")
    judged = judge(session, ada, 5)
    waiting = [task.triple for task in session.ask(ada, 3)]
    session.close()
    again = Session(session.folder)
    assert again.annotations().rows.tolist() == judged
    assert [task.triple for task in again.ask(again.annotator("ada"), 3)] == waiting


def test_the_same_key_is_stored_once(scores):
    session, ada = begin(scores, "ada")
    judgement = Judgement("true", session.ask(ada)[0].triple, "k")
    assert session.record(ada, [judgement]) == session.record(ada, [judgement])
    assert [line["answer"] for line in history(session)] == ["true"]


@pytest.mark.parametrize(
    "refused",
    [
        Judgement("false", 0, "b"),  # another answer to what was just judged
        Judgement("true", -1, "b"),  # what nobody was asked
        Judgement("undo", None, "b", undoes="x"),
        Judgement("false", 0, "a"),  # a key that was used
    ],
)
def test_a_batch_with_a_judgement_that_cannot_be_stores_nothing(scores, refused):
    session, ada, bob = begin(scores, "ada", "bob")
    triple, other = session.ask(ada)[0].triple, session.ask(bob)[0].triple
    if refused.triple is not None:
        refused = replace(refused, triple=other if refused.triple else triple)
    with pytest.raises(SessionError):
        session.record(ada, [Judgement("true", triple, "a"), refused])
    assert history(session) == []


def test_the_same_answer_from_a_second_window_is_the_one_that_stands_unless_it_has_more(scores):
    session, ada = begin(scores, "ada")
    triple = session.ask(ada)[0].triple
    first = session.record(ada, [Judgement("true", triple, "a", note="hm")])
    assert session.record(ada, [Judgement("true", triple, "b")]) == first
    with pytest.raises(SessionError):
        session.record(ada, [Judgement("true", triple, "c", note="another note")])
    with pytest.raises(SessionError):
        session.record(ada, [Judgement("undo", None, "d", undoes="b")])
    assert len(history(session)) == 1


def test_undo_brings_the_last_triples_back_in_order_and_keeps_the_history(scores):
    session, ada = begin(scores, "ada")
    judged = judge(session, ada, 4)
    session.record(
        ada, [Judgement("undo", None, "u0", undoes="ada-2"), *(Judgement("undo", None, k) for k in ("u1", "u2"))]
    )
    assert session.annotations().rows.tolist() == judged[:1]
    assert [task.triple for task in session.ask(ada, 3)] == [judged[1], judged[3], judged[2]]
    assert [line["answer"] for line in history(session)] == ["undo"] * 3 + ["true"] * 4


def test_unsure_is_no_label_and_comes_back_later(scores):
    session, ada = begin(scores, "ada")
    unsure = judge(session, ada, 1, "unsure")[0]
    assert len(session.annotations()) == 0
    later = judge(session, ada, queue_module.AGAIN_AFTER + 8)
    assert unsure in later
    assert unsure not in later[: queue_module.AGAIN_AFTER - 1]


def test_nobody_is_asked_for_a_third_time_what_they_were_unsure_of_twice(scores):
    session = new_session(scores)
    ada, cards = session.add_annotator("ada"), []
    for number in range(3 * queue_module.AGAIN_AFTER):
        triple = session.ask(ada, 3)[0].triple
        cards.append(triple)
        session.record(ada, [Judgement("unsure" if triple == cards[0] else "true", triple, f"k{number}")])
    assert cards.count(cards[0]) == queue_module.MOST_UNSURE


def test_what_one_is_unsure_of_is_offered_to_another(scores):
    session, ada, bob = begin(scores, "ada", "bob")
    unsure = judge(session, ada, 1, "unsure")[0]
    assert session.ask(bob)[0].triple == unsure


def test_with_overlap_every_triple_gets_two_answers(scores):
    session, ada, bob = begin(scores, "ada", "bob", overlap=1.0)
    judged = set(judge(session, ada, 10))
    assert set(judge(session, bob, 10)) == judged
    assert not judged & set(judge(session, session.add_annotator("cleo"), 10))


def test_a_lower_budget_takes_back_what_nobody_judged_yet_and_an_answer_on_its_way_is_still_taken(scores):
    session, ada, bob = begin(scores, "ada", "bob", budget=20)
    mine = [task.triple for task in session.ask(ada, 6)]
    session.ask(bob, 6)
    session.record(ada, [Judgement("true", mine[0], "a")])
    session.change({"budget": 8})
    left = [task.triple for task in session.ask(ada, 6)]
    assert left == mine[1:2]  # of 8 one is labelled, six are with the other
    assert len(session.ask(bob, 6)) == 6
    session.record(ada, [Judgement("true", mine[4], "b")])
    session.change({"budget": 1})
    assert session.ask(ada, 6) == session.ask(bob, 6) == []
    session.record(ada, [Judgement("undo", None, "c")])
    assert [task.triple for task in session.ask(ada, 6)] == [mine[4]]  # who took one back may answer it again


def test_a_triple_that_one_judged_and_another_holds_takes_one_place_of_the_budget(scores):
    session, ada, bob = begin(scores, "ada", "bob", overlap=1.0, budget=1)
    judged = judge(session, ada, 1)
    leased = {task.triple for task in session.ask(bob, 1)}
    session.change({"budget": 2})
    leased |= {task.triple for task in session.ask(ada, 3)}
    assert judged[0] in leased
    assert len(leased) == 2


def test_a_card_does_not_show_a_repeat_and_hides_the_score(scores):
    session = new_session(scores)
    task = session.ask(session.add_annotator("ada"))[0]
    card = make_card(session.names, task)
    assert not {"purpose", "belief"} & set(card)
    assert f"{task.score:.4g}" in show_review(session, task.triple)["belief"]


def test_no_more_is_given_out_than_the_budget(scores):
    session, ada, bob = begin(scores, "ada", "bob", budget=7)
    assert len(session.ask(ada, 5)) + len(session.ask(bob, 5)) == 7
    judge(session, ada, 5)
    judge(session, bob, 2)
    assert session.ask(ada, 5) == []
    assert progress(session)["done"]
    session.change({"budget": 8})
    assert len(session.ask(ada, 5)) == 1


def test_a_lease_lasts_from_the_last_look_whatever_time_of_day_it_is(scores, monkeypatch):
    session, ada, bob = begin(scores, "ada", "bob", budget=1)
    triple, day, now, started = session.ask(ada)[0].triple, 24 * 60 * 60, time.time(), time.monotonic()

    def after(minutes, who):
        monkeypatch.setattr(session_module, "lease_clock", lambda: started + 60 * minutes)
        return [task.triple for task in session.ask(who)]

    for jump in (day, -day):  # somebody sets the clock
        monkeypatch.setattr(time, "time", lambda jump=jump: now + jump)
        assert after(15, bob) == []
    assert after(15, ada) == [triple]  # which lasts twenty minutes more
    assert after(30, bob) == []
    assert after(36, bob) == [triple]


def test_an_abandoned_triple_is_offered_to_others_and_a_late_answer_still_counts(scores, monkeypatch):
    session, ada, bob = begin(scores, "ada", "bob", budget=1)
    monkeypatch.setattr(queue_module, "LEASE_SECONDS", -1.0)
    left = session.ask(ada)[0].triple
    assert [task.triple for task in session.ask(bob)] == [left]
    session.record(bob, [Judgement("true", left, "b")])
    assert session.ask(session.add_annotator("cleo")) == []
    session.record(ada, [Judgement("false", left, "a")])
    assert len(history(session)) == 2


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE judgement SET answer = 'false'",
        "DELETE FROM judgement",
        "UPDATE answer SET label = 0",
        "DELETE FROM total",
        "UPDATE annotator SET kind = 'machine'",
        "UPDATE setting SET at = 'x'",
        "UPDATE task SET inclusion_probability = 'x'",
    ],
)
def test_sqlite_itself_keeps_the_history_the_counts_and_the_types(scores, sql):
    session, ada = begin(scores, "ada")
    judge(session, ada, 1)
    with pytest.raises(sqlite3.IntegrityError), session.store.transaction() as connection:
        connection.execute(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO setting (at, name, value) VALUES (1, 'budget', '{')",
        "INSERT INTO refit (at, judgement, content) VALUES (1, 9, '[]')",
        "INSERT INTO refit (at, judgement, content) VALUES (1, 9, '{')",
    ],
)
def test_a_forged_database_is_refused_in_a_sentence(scores, sql):
    session, ada = begin(scores, "ada")
    session.record(ada, [Judgement("true", session.ask(ada)[0].triple, "k")])
    session.store.write(lambda connection: connection.execute(sql))
    with pytest.raises(FileError, match=r"session\.sqlite:"):
        again = Session(session.folder)
        again.annotations()
        picture(again)


def test_one_step_of_the_planner_fits_the_model_once_and_once_for_each_fold(tmp_path, monkeypatch):
    pool, labels = make_pool(300, 3)
    write_scored(tmp_path / "scores.parquet", pool)
    session = start_copy(tmp_path / "session", tmp_path / "scores.parquet", Settings("pooled"))
    ada, planner = session.add_annotator("ada"), Planner(session)
    for task in session.ask(ada, 10):
        session.record(ada, [Judgement("true" if labels[task.triple] else "false", task.triple, str(task.triple))])
    fits, fit = [], pooled_method.fit_regimes
    monkeypatch.setattr(pooled_method, "fit_regimes", lambda *arguments: fits.append(1) or fit(*arguments))
    assert planner.step()
    assert len(fits) == 1 + FOLDS


def test_every_triple_of_a_small_pool_can_be_judged(tmp_path):
    write_scored(tmp_path / "scores.parquet", make_pool(150, 2)[0])
    session = start_copy(tmp_path / "session", tmp_path / "scores.parquet", Settings("actc-lr-rndm", budget=1000))
    ada, planner = session.add_annotator("ada"), Planner(session)
    judged = set()
    while tasks := session.ask(ada, 10):
        session.record(ada, [Judgement("true", task.triple, str(task.triple)) for task in tasks])
        judged |= {task.triple for task in tasks}
        planner.step()
    assert judged == set(range(150))


class Interrupted(Planner):
    """A planner during whose work people go on: one answers, another is given triples."""

    def _plan_part(self, *arguments):
        plan = super()._plan_part(*arguments)
        self.judged = set(judge(self.session, self.session.annotator("ada"), 3))
        self.leased = {task.triple for task in self.session.ask(self.session.annotator("bob"), 4)}
        return plan


def test_what_people_answer_or_take_while_a_plan_is_made_is_not_in_it(scores):
    session = new_session(scores)
    ada, _ = session.add_annotator("ada"), session.add_annotator("bob")
    judge(session, ada, 1)
    planner = Interrupted(session)
    assert planner.step()
    on_table = {row["triple"] for row in session.store.rows("SELECT triple FROM lease")}
    assert len(planner.judged) == 3
    assert not planner.judged & on_table
    assert not planner.judged & set(planned(session))
    assert not planner.leased & set(planned(session))


def planned(session: Session) -> list[int]:
    return [row["triple"] for row in session.store.rows("SELECT triple FROM plan ORDER BY place")]


def test_a_plan_made_from_newer_answers_stays(scores):
    session = new_session(scores)
    with session.store.transaction() as connection:
        connection.execute("INSERT INTO refit (at, judgement, content) VALUES (0, 1000000, '{}')")
        connection.execute("DELETE FROM plan WHERE place > 70")
    before = planned(session)
    judge(session, session.add_annotator("ada"), 1)
    Planner(session).step()
    assert set(planned(session)) < set(before)


def test_a_plan_that_runs_short_is_made_again_without_new_answers(scores):
    session = new_session(scores)
    planner = Planner(session)
    planner.step()
    assert not planner.step()
    with session.store.transaction() as connection:
        connection.execute("DELETE FROM plan")
    assert planner.step()
    assert planned(session)


def test_a_link_made_void_leaves_the_answers_and_gives_the_open_triples_to_others(scores):
    session, ada, bob = begin(scores, "ada", "bob")
    judge(session, ada, 2)
    waiting = {task.triple for task in session.ask(ada, 3)}
    assert session.change_link("ada", void=True).link < 0
    assert [one.name for one in session.people()] == ["bob"]
    assert waiting <= {task.triple for task in session.ask(bob, 6)}
    assert len(session.annotations()) == 2
    again = session.add_annotator("ada")
    assert again.id == ada.id
    assert again.link > 0
    with pytest.raises(SessionError):
        session.change_link("owner", void=True)


def test_a_paused_session_takes_answers_and_gives_out_nothing(scores):
    session, ada = begin(scores, "ada")
    triple = session.ask(ada)[0].triple
    session.change({"paused": True})
    recorded, tasks = Session(session.folder).exchange(ada, [Judgement("true", triple, "k")], 5)
    assert (len(recorded), tasks) == (1, [])
    assert what_is_left(session, ada) == "paused"
    session.change({"paused": False})
    assert len(session.ask(ada, 5)) == 5


def test_the_owner_has_the_last_word(scores):
    session, ada, bob = begin(scores, "ada", "bob", overlap=1.0)
    triple = judge(session, ada, 1)[0]
    judge(session, bob, 1, "false")
    assert len(session.annotations()) == 0
    assert [line["triple"] for line in list_reviews(session, "differ")] == [triple]
    assert session.settle(Judgement("false", triple, "k")) == session.settle(Judgement("false", triple, "k"))
    with pytest.raises(SessionError):
        session.settle(Judgement("true", triple, "k"))
    assert session.annotations().labels.tolist() == [False]
    assert list_reviews(session, "differ") == []
    assert len(history(session)) == 3


def test_history_tells_who_when_what_was_shown_and_what_the_model_thought(scores):
    session = new_session(scores)
    ada, planner = session.add_annotator("ada"), Planner(session)
    judge(session, ada, 4)
    planner.step()
    judge(session, ada, 4)
    line = history(session)[0]
    assert line["name"] == "ada"
    assert line["at"] > 0
    assert 0 < line["probability"] < 1
    assert line["head"] in json.loads(line["shown"])["sentence"]


def test_many_threads_and_two_openings_lose_and_double_nothing(scores):
    session = new_session(scores, budget=60)
    openings = [session, Session(session.folder)]
    done: list[int] = []

    def work(number: int) -> None:
        mine = openings[number % 2]
        annotator = mine.add_annotator(f"a{number}")
        while tasks := mine.ask(annotator, 2):
            mine.record(annotator, [Judgement("true", tasks[0].triple, tasks[0].head)])
            done.append(tasks[0].triple)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == len(set(done)) == 60
    assert sorted(session.annotations().rows.tolist()) == sorted(done)


@hypothesis_settings(max_examples=25)
@given(st.lists(st.sampled_from(["true", "false", "unsure", "undo"]), max_size=25))
def test_standing_answers_are_what_a_replay_of_the_history_gives(tmp_path_factory, words):
    folder = tmp_path_factory.mktemp("replay")
    write_scored(folder / "scores.parquet", make_pool(40, 2)[0])
    session = start_copy(folder / "session", folder / "scores.parquet", Settings("actc-lr-rndm"))
    ada, stack = session.add_annotator("ada"), []
    for number, word in enumerate(words):
        if word == "undo" and not stack:
            continue
        triple = None if word == "undo" else session.ask(ada)[0].triple
        session.record(ada, [Judgement(word, triple, str(number))])
        if word == "undo":
            stack.pop()
        else:
            stack.append((triple, word))
    expected = {triple: word == "true" for triple, word in stack if word != "unsure"}
    answers = session.annotations()
    assert dict(zip(answers.rows.tolist(), answers.labels.tolist(), strict=True)) == expected
    session.close()


def test_a_failed_start_leaves_nothing_behind(scores):
    before = sorted(path.name for path in scores.parent.iterdir())
    bad = scores.parent / "names.tsv"
    bad.write_text("name\tdescription\nx\ty\n")
    with pytest.raises(FileError, match="'id'"):
        start_session(scores.parent / "session", scores, names=[bad])
    assert sorted(path.name for path in scores.parent.iterdir()) == sorted([*before, "names.tsv"])


@pytest.mark.parametrize("version", [1, 99])
def test_a_session_of_another_format_is_refused_in_one_sentence(scores, version):
    session = new_session(scores)
    session.store.rows(f"PRAGMA user_version = {version}")
    session.close()
    with pytest.raises(FileError, match=f"format {version}"):
        Session(session.folder)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        *(({"budget": 0}, OptionError), ({"overlap": 1.5}, OptionError), ({"method": "actc-lr-rndn"}, ChoiceError)),
        ({"link": "javascript:alert({id})"}, OptionError),
    ],
)
def test_wrong_settings_are_refused(scores, wrong, error):
    with pytest.raises(error):
        new_session(scores, **wrong)


@pytest.mark.parametrize("name", ["", "x" * 81, "a\x00b", "\u202e"])
def test_odd_names_of_annotators_are_refused(scores, name):
    session = new_session(scores)
    with pytest.raises(OptionError):
        session.add_annotator(name)


def test_a_graph_in_turtle_is_shown_on_cards_and_names_what_it_names(tmp_path):
    place, label = "http://e/", "<http://www.w3.org/2000/01/rdf-schema#label>"
    rows = [f"{place}a{k}\t{place}knows\t{place}b\t{k}\n" for k in range(40)]
    (tmp_path / "scores.tsv").write_text("head\trelation\ttail\tscore\n" + "".join(rows))
    (tmp_path / "graph.ttl").write_text(
        f'<{place}b> {label} "Bob"@en, "Robert"@fr . <{place}b> <{place}likes> <{place}c> .\n'
    )
    (tmp_path / "names.tsv").write_text(f"id\tname\n{place}a1\tAda\n")
    session = start_session(
        tmp_path / "s", tmp_path / "scores.tsv", names=[tmp_path / "names.tsv"], graph=tmp_path / "graph.ttl"
    )
    assert [session.names.of(f"{place}{one}").name for one in ("a1", "b")] == ["Ada", "Bob"]
    card = make_card(session.names, session.ask(session.add_annotator("ada"), 1)[0])
    assert card["sentence"][-1]["text"] == "Bob"  # not distinguished from its own label
    assert [[part["text"] for part in fact[::2]] for fact in card["tail_facts"]] == [["Bob", "likes", "c"]]
    session.close()


@pytest.mark.parametrize(("when", "read"), [("after", "after"), ("beside", "before"), ("never", None)])
def test_reasons_call_ids_by_their_names_and_the_history_tells_when_they_were_read(scores, when, read):
    pool = read_scored(scores)[0]
    why = [(f"[[{pool.triple(row)[0]}]] is known", "against: nothing") if row % 2 else () for row in range(len(pool))]
    settings, inputs = Settings("actc-lr-rndm", reasons=when), SessionInputs(evidence=why)
    session, head = create_session(scores.parent / "session", scores, settings, inputs), pool.triple(3)[0]
    assert [session.names.reasons(row) for row in (3, 4)] == [(f"{head} is known", "against: nothing"), ()]
    (scores.parent / "names.tsv").write_text(f"id\tname\n{head}\tAda\n")
    session.add_names([scores.parent / "names.tsv"])
    assert session.names.reasons(3)[0] == "Ada is known"
    judged = judge(session, session.add_annotator("ada"), 12)
    seen = [json.loads(line["shown"]).get("reasons") for line in history(session)[::-1]]
    assert seen == [read if row % 2 else None for row in judged]
    session.close()


@pytest.mark.parametrize(
    "forged",
    [
        *({"seed": -1}, {"seed": "0"}, {"budget": True}, {"budget": 1e9}, {"overlap": ["all"]}),
        *({"title": None}, {"paused": 1}, {"target": "0.9"}, {"link": 5}, {"reasons": {}}, {"level": []}),
        *({"n_facts": -1}, {"n_facts": 10**9}, {"triples": -1}),
    ],
)
def test_forged_settings_are_refused_by_a_sentence_that_names_the_file(tmp_path, forged):
    rows = [(name, json.dumps(value)) for name, value in (vars(Settings()) | forged).items()]
    with pytest.raises(FileError, match=r"session\.sqlite:"):
        Settings.read(rows, tmp_path / "session.sqlite")


def tuples(store, sql):
    return [tuple(row) for row in store.rows(sql)]


def recount(store):
    """Return what the counts must be, from the answers and the history alone."""
    of_task = "FROM answer WHERE answer.triple = task.triple"
    return {
        "labels": store.value("SELECT count(DISTINCT triple) FROM answer WHERE label IS NOT NULL"),
        "tasks": tuples(
            store, f"SELECT triple, (SELECT count(*) {of_task}), (SELECT count(label) {of_task}) FROM task ORDER BY 1"
        ),
        "annotators": tuples(
            store, "SELECT id, (SELECT count(*) FROM answer WHERE annotator = id) FROM annotator ORDER BY id"
        ),
    }


def stored_counts(store):
    """Return the counts that the triggers write."""
    return {
        "labels": store.value("SELECT labels FROM total"),
        "tasks": tuples(store, "SELECT triple, answered, labelled FROM task ORDER BY triple"),
        "annotators": tuples(store, "SELECT id, answered FROM annotator ORDER BY id"),
    }


steps = st.tuples(st.sampled_from(["ada", "bob", "owner"]), st.sampled_from(["true", "false", "unsure", "undo"]))


@hypothesis_settings(max_examples=25)
@given(st.lists(steps, max_size=40))
def test_the_counts_are_those_of_a_recount_whatever_people_do(tmp_path_factory, story):
    folder = tmp_path_factory.mktemp("counts")
    write_scored(folder / "scores.parquet", make_pool(12, 2)[0])
    settings = Settings("actc-lr-rndm", budget=8, overlap=0.5)
    session = start_copy(folder / "session", folder / "scores.parquet", settings)
    people = {name: session.add_annotator(name) for name in ("ada", "bob")}
    for number, (name, word) in enumerate(story):
        judged = session.annotations().rows
        tasks = [] if name == "owner" else session.ask(people[name], 2)
        if name == "owner" and word != "undo" and len(judged):
            session.settle(Judgement(word, int(judged[0]), f"k{number}"))
        elif (
            word == "undo"
            and name != "owner"
            and session.store.rows("SELECT 1 FROM answer WHERE annotator = ?", (people[name].id,))
        ):
            session.record(people[name], [Judgement("undo", None, f"k{number}")])
        elif tasks and word != "undo":
            session.record(people[name], [Judgement(word, tasks[0].triple, f"k{number}")])
        assert stored_counts(session.store) == recount(session.store)
    session.close()


def test_an_exchange_reads_no_table_of_the_history_from_end_to_end(scores):
    """Every statement of an exchange finds its rows by an index, so a long history costs it nothing."""
    session, ada, bob = begin(scores, "ada", "bob", budget=200, overlap=0.5)
    seen = set()
    with session.store.connect() as connection:
        connection.set_trace_callback(seen.add)
    for number in range(40):
        for one in (ada, bob):
            word = ("true", "false", "unsure")[number % 3]
            session.exchange(one, [Judgement(word, session.ask(one)[0].triple, f"k{number}")], 3)
            progress(session, one)
    with session.store.connect() as connection:
        connection.set_trace_callback(None)
    # A connection without foreign keys: their plan of an insert shows a search that only a broken key would start.
    with closing(sqlite3.connect(session.store.path)) as plain:
        plans = {sql: plain.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall() for sql in seen if is_query(sql)}
    assert any("JOIN answer" in sql for sql in plans)
    few = ("task_shared", "task_undecided")  # indices of what is still open, not of what was ever asked
    steps = {(row[3], sql) for sql, rows in plans.items() for row in rows}
    scans = {step for step in steps if step[0].startswith(("SCAN answer", "SCAN judgement", "SCAN task"))}
    assert not {step for step in scans if not step[0].endswith(few)}


def is_query(sql):
    return sql.split()[0] in ("SELECT", "INSERT", "DELETE", "UPDATE")
