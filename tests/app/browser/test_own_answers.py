"""What annotators do besides judging: change their mind, choose their keys, go on when the budget is spent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page

from actc.session import Session, Settings, start_session
from actc.session.start import sample_files
from actc.session.status import history
from tests.app.browser.conftest import READY, open_card, press, run, saved, wait_for


def labels(session: Session) -> list[bool]:
    return session.annotations().labels.tolist()


def test_somebody_changes_their_mind_about_an_old_answer(sample, start_server, new_page):
    page, session = new_page(), Session(sample)
    first = open_card(page, start_server(sample).links["you"])
    for _ in range(3):
        press(page, "t")
    saved(page)
    here = page.inner_text("#sentence")
    page.keyboard.press("h")
    page.wait_for_selector("#mine[open]")
    oldest = page.locator("#mine-list li").last
    assert " ".join(oldest.locator(".what").inner_text().split()) == " ".join(first.split())
    oldest.get_by_role("button", name="False").click()
    saved(page)
    # Labels come in the order of the answers that stand, so the changed one is the last now.
    assert labels(session) == [True, True, False]
    assert [line["said"] for line in history(session)] == ["false", "undo", "true", "true", "true"]
    page.keyboard.press("Escape")
    assert page.inner_text("#sentence") == here
    page.keyboard.press("u")
    saved(page)
    assert len(labels(session)) == 2
    page.keyboard.press("h")
    wait_for(lambda: page.locator("#mine-list li").count() == 2)


def test_one_s_own_answers_are_found_by_a_word(sample, start_server, new_page):
    page = new_page()
    first = open_card(page, start_server(sample).links["you"])
    for _ in range(4):
        press(page, "f")
    saved(page)
    page.click("#mine-button")
    page.fill("#mine-find", first)
    assert page.locator("#mine-list li").count() == 1
    page.fill("#mine-find", "no such words")
    assert page.inner_text("#mine-none") == "Nothing of the kind."


def choose_key(page: Page, action: str, key: str) -> None:
    page.keyboard.press("?")
    page.locator(f"#keys [data-action={action}]").click()
    page.keyboard.press(key)
    page.click("#help-close")


def test_keys_are_chosen_kept_and_never_lost(sample, start_server, new_page):
    page = new_page()
    server = start_server(sample)
    open_card(page, server.links["you"])
    choose_key(page, "true", "j")
    choose_key(page, "false", "s")  # which "not sure" had: it gets F instead
    assert page.inner_text("#answers .true kbd") == "J"
    page.reload()
    page.wait_for_selector(READY)
    for key in "jsft":
        press(page, key)
    saved(page)
    assert [line["said"] for line in history(Session(sample))][::-1] == ["true", "false", "unsure"]
    page.keyboard.press("?")
    page.click("#keys-reset")
    page.click("#help-close")
    press(page, "t")
    saved(page)
    assert history(Session(sample))[0]["said"] == "true"


def test_who_judges_alone_goes_on_when_the_budget_is_spent(tmp_path, start_server, new_page):
    run("start", tmp_path / "session", "--sample", "--budget", 3)
    page = new_page()
    open_card(page, start_server(tmp_path / "session").links["you"])
    for _ in range(3):
        press(page, "t")
    page.click("#fifty")
    page.wait_for_selector(READY)
    press(page, "t")
    saved(page)
    assert page.inner_text("#count") == "4 of 53"


def test_who_judges_with_others_leaves_the_budget_to_the_owner(tmp_path, start_server, new_page):
    run("start", tmp_path / "session", "--sample", "--budget", 1)
    page = new_page()
    open_card(page, start_server(tmp_path / "session", "Ada", "Bob").links["Ada"])
    press(page, "t")
    page.wait_for_function("() => document.getElementById('message-title').textContent.startsWith('That is all')")
    assert page.locator("#fifty").is_hidden()


def test_a_sentence_runs_as_its_letters_do(tmp_path, start_server, new_page):
    (tmp_path / "scores.tsv").write_text("head\trelation\ttail\tscore\na\tr\tb\t0.1\n")
    names = {"a": {"name": "نجيب محفوظ"}, "r": {"name": "مكان"}, "b": {"name": "القاهرة"}}
    (tmp_path / "names.json").write_text(json.dumps(names))
    run("start", tmp_path / "session", tmp_path / "scores.tsv", "--names", tmp_path / "names.json")
    page = new_page()
    open_card(page, start_server(tmp_path / "session").links["you"])
    left = [page.locator(f"#sentence .{role}").bounding_box()["x"] for role in ("head", "relation", "tail")]
    assert left == sorted(left, reverse=True)


@pytest.fixture
def reasoned(tmp_path: Path) -> Path:
    """A session in which every candidate has a reason for and one against it."""
    scores, names, graph = sample_files()
    said = [("[[it]] is known", "against: two others are likelier")] * 5000
    start_session(tmp_path / "session", scores, Settings(), names, graph, reasons=said).close()
    return tmp_path / "session"


def test_what_the_graph_says_is_shown_after_the_answer_and_gone_with_an_undo(reasoned, start_server, new_page):
    page = new_page()
    sentence = open_card(page, start_server(reasoned).links["you"])
    assert "two others" not in page.inner_text("body")
    press(page, "t")
    page.wait_for_selector("#before:not([hidden])")
    assert page.inner_text("#before-reasons").splitlines() == ["For it is known", "Against two others are likelier"]
    assert page.inner_text("#before-said") == "true"
    assert " ".join(page.inner_text("#before-what").split()) == " ".join(sentence.split())
    page.keyboard.press("u")
    page.wait_for_selector("#before", state="hidden")
    saved(page)


def test_reasons_stand_on_the_card_if_they_shall_and_are_within_the_first_screen(reasoned, start_server, new_page):
    Session(reasoned).change("reasons", "beside")
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    open_card(page, start_server(reasoned).links["you"])
    box, dock = page.locator("#reasons").bounding_box(), page.locator(".dock").bounding_box()
    assert box["y"] + box["height"] < dock["y"]
    page.tap("#answers .true")
    saved(page)
    assert page.locator("#before").is_hidden()


def test_somebody_is_asked_about_one_relation_and_then_about_all_again(sample, start_server, new_page):
    page = new_page()
    open_card(page, start_server(sample).links["you"])
    page.wait_for_selector("#only-label:not([hidden])")
    chosen = page.locator("#only option").nth(3)
    relation, name = chosen.get_attribute("value"), chosen.inner_text()
    page.select_option("#only", relation)
    title = "name => document.querySelector('#meanings .relation')?.textContent === name"
    page.wait_for_function(title, arg=name)
    for _ in range(5):
        page.wait_for_selector(READY)
        press(page, "t")
    saved(page)
    assert {line["relation"] for line in history(Session(sample))} == {relation}
    page.select_option("#only", "")
    page.wait_for_selector(READY)
