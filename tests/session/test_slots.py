"""Rivals are on one card: one answer labels all of them, in one go, and proves no more than it should."""

from __future__ import annotations

import numpy as np
import pytest

from actc.constraints.places import find_places
from actc.errors import OptionError, SessionError
from actc.session import Judgement, Session, Settings
from actc.session.ask import read_rivals
from actc.session.cards import make_card
from actc.session.find_case import session_case
from actc.session.plan import Planner
from actc.session.slots import gather_rivals
from actc.tables.constraints import Constraint, Constraints
from actc.tables.files import write_scored
from actc.triples import Picks, ScoredTriples
from actc.trust.held import tell_held
from tests.conftest import start_copy

RULES = Constraints((Constraint("one-tail", "father", use="hard"),))


def make_pool(children: int = 30, each: int = 3) -> ScoredTriples:
    rows = [(f"c{i}", "father", f"m{i}-{j}") for i in range(children) for j in range(each)]
    return ScoredTriples.from_columns(*zip(*rows, strict=True), np.random.default_rng(0).normal(size=len(rows)))


@pytest.fixture
def session(tmp_path):
    write_scored(tmp_path / "scores.parquet", make_pool())
    settings = Settings("pooled", budget=20)
    session = start_copy(tmp_path / "session", tmp_path / "scores.parquet", settings, constraints=RULES)
    yield session
    session.close()


def slot_of(session: Session, person, wish: int = 6):
    """Return a task that was picked for what it teaches, with its rivals."""
    tasks = session.ask(person, wish)
    return next(task for task in tasks if len(read_rivals(task)) == 2)


def test_one_answer_labels_all_rivals_and_only_what_was_drawn_proves(session):
    ada = session.add_annotator("ada")
    task = slot_of(session, ada)
    rivals = [rival.triple for rival in read_rivals(task)]
    assert {rival.head for rival in read_rivals(task)} == {task.head}
    session.record(ada, [Judgement("false", task.triple, "k1", chosen=[rivals[0]])])
    answers = session.annotations()
    told = dict(zip(answers.rows.tolist(), answers.labels.tolist(), strict=True))
    assert told == {task.triple: False, rivals[0]: True, rivals[1]: False}
    asked = dict(zip(answers.rows.tolist(), answers.asked.tolist(), strict=True))
    assert asked[task.triple] == task.asked
    assert {asked[rival] for rival in rivals} == {"rival"}
    assert not answers.proves[np.isin(answers.rows, rivals)].any()
    assert session.store.value("SELECT labels FROM total") == 1  # one answer of the budget
    session.record(ada, [Judgement("false", task.triple, "k1", chosen=[rivals[0]])])  # sent again, stored once
    assert session.store.value("SELECT count(*) FROM judgement") == 3


def test_from_a_second_window_an_answer_to_rivals_is_the_same_only_if_it_chooses_the_same(session):
    ada = session.add_annotator("ada")
    task = slot_of(session, ada)
    rivals = [rival.triple for rival in read_rivals(task)]
    [first] = session.record(ada, [Judgement("false", task.triple, "k1", chosen=[rivals[0]])])
    assert session.record(ada, [Judgement("false", task.triple, "k2", chosen=[rivals[0]])]) == [first]
    with pytest.raises(SessionError, match="stands"):
        session.record(ada, [Judgement("false", task.triple, "k3", chosen=[rivals[1]])])
    assert session.store.value("SELECT count(*) FROM judgement") == 3


def test_undo_opens_the_whole_card_again(session):
    ada = session.add_annotator("ada")
    task = slot_of(session, ada)
    session.record(ada, [Judgement("true", task.triple, "k1", chosen=[task.triple])])
    session.record(ada, [Judgement("undo", None, "k2", undoes="k1", chosen=[])])
    assert len(session.annotations()) == 0
    assert session.store.value("SELECT labels FROM total") == 0
    assert session.ask(ada, 6)[0].triple == task.triple
    both = [task.triple, read_rivals(task)[0].triple]
    session.record(ada, [Judgement("true", task.triple, "k3", chosen=both)])
    assert session.annotations().labels.sum() == 2
    session.store.check()


def test_rivals_are_nobody_elses_card_and_are_let_go_when_only_one_is_answered(session):
    ada, bob = session.add_annotator("ada"), session.add_annotator("bob")
    task = slot_of(session, ada)
    rivals = {rival.triple for rival in read_rivals(task)}
    theirs = session.ask(bob, 6)
    shown = {one.triple for other in theirs for one in (other, *read_rivals(other))}
    assert not shown & {task.triple, *rivals}
    leased = "SELECT count(*) FROM lease JOIN task USING (triple) WHERE annotator = ? AND triple IN (?, ?)"
    assert session.store.value(leased, (ada.id, *rivals)) == 2
    session.exchange(ada, [Judgement("unsure", task.triple, "k1")], 0)
    assert session.store.value(leased, (ada.id, *rivals)) == 0


def test_what_is_not_on_the_card_cannot_be_chosen(session):
    ada = session.add_annotator("ada")
    task = slot_of(session, ada)
    strange = next(row for row in range(90) if row not in {task.triple, *(one.triple for one in read_rivals(task))})
    with pytest.raises(SessionError, match="not on the card"):
        session.record(ada, [Judgement("false", task.triple, "k1", chosen=[strange])])
    with pytest.raises(OptionError, match="answered by those that are true"):
        session.record(ada, [Judgement("true", task.triple, "k1", chosen=[])])
    assert len(session.annotations()) == 0


def test_a_card_has_its_rivals_in_an_order_that_tells_nothing(session):
    ada = session.add_annotator("ada")
    task = slot_of(session, ada)
    card = make_card(session.names, task)
    assert [one["triple"] for one in card["rivals"]] == sorted(one["triple"] for one in card["rivals"])
    assert task.triple in [one["triple"] for one in card["rivals"]]


def test_what_was_drawn_at_random_is_nobodys_rival_and_keeps_its_place():
    pool = make_pool(4, 3)
    places, p = find_places(RULES, pool), np.full(12, 0.5)
    picks = Picks(np.array([0, 1, 2, 3]), ["gain", "check", "gain", "gain"], chance=[np.nan, 0.1, np.nan, np.nan])
    left, rivals = gather_rivals(places, picks, p, np.array([4]))
    assert left.rows.tolist() == [0, 1, 3]
    assert dict(zip(left.rows.tolist(), rivals, strict=True)) == {0: [2], 1: [], 3: [5]}
    assert left.chance[1] == 0.1


def test_slots_that_end_more_doubt_come_earlier_and_prove_nothing_then():
    pool = make_pool(3, 3)
    places, p = find_places(RULES, pool), np.array([0.99, 0.01, 0.01, 0.5, 0.5, 0.5, 0.9, 0.1, 0.01])
    picks = Picks(np.array([0, 6, 3]), "gain", chance=0.1)
    left, rivals = gather_rivals(places, picks, p, np.zeros(0, dtype=int))
    assert left.rows.tolist() == [0, 3, 6]
    assert rivals == [[], [4, 5], [7]]
    assert np.isnan(left.chance).tolist() == [False, True, False]


def test_refits_go_on_with_answers_of_slots(session):
    ada, planner = session.add_annotator("ada"), Planner(session)
    for number in range(5):
        planner.step()
        [task] = session.ask(ada, 1)
        chosen = [task.triple] if number % 2 else []
        said = "true" if number % 2 else "false"
        session.record(ada, [Judgement(said, task.triple, f"k{number}", chosen=chosen)])
    answers = session.annotations()
    assert len(answers) > 7
    assert session.store.value("SELECT labels FROM total") == 5
    judged = set(answers.rows.tolist())
    planner.step()
    planned = session.store.rows("SELECT triple FROM plan")
    assert not judged & {row[0] for row in planned}


def test_two_that_people_call_true_are_both_accepted_and_it_is_said(session):
    ada = session.add_annotator("ada")
    task = slot_of(session, ada)
    both = [task.triple, read_rivals(task)[0].triple]
    session.record(ada, [Judgement("true", task.triple, "k1", chosen=both)])
    case = session_case(session)
    assert case.decisions.accepted[both].all()
    assert "In 1 places people called more true than a constraint allows; they count." in tell_held(case)
