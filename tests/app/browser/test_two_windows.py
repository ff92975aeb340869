"""Two windows of one person show the same cards: what each does to the other, in a real browser."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page

from actc.session import Session, Settings, start_session
from actc.session.status import history
from tests.app.browser.conftest import READY, open_card, press, saved, wait_for
from tests.app.browser.test_page import said


@pytest.fixture
def windows(sample, start_server, new_page) -> tuple[Page, Page]:
    """Two windows with the same first card."""
    server = start_server(sample)
    first = new_page()
    sentence = open_card(first, server.links["you"])
    second = first.context.new_page()
    assert open_card(second, server.origin) == sentence
    return first, second


def test_the_second_is_told_once_where_to_change_it_and_gets_fresh_cards(windows, sample):
    first, second = windows
    press(first, *"fff")
    saved(first)
    here = first.inner_text("#sentence")
    press(second, "t")
    second.wait_for_selector("#notice:not([hidden])")
    told = second.inner_text("#refused")
    assert "“false”, given before, stands; “true” was not taken. Change it under “My answers”." in told
    second.wait_for_function("here => document.getElementById('sentence').innerText === here", arg=here)
    assert second.inner_text("#saved") == "1 not taken"
    second.click("#notice-close")
    press(second, "t")
    saved(second)
    assert said(Session(sample)) == ["false", "false", "false", "true"]


def test_the_same_answer_is_taken_silently(windows, sample):
    first, second = windows
    press(first, "f")
    saved(first)
    press(second, "f")
    saved(second)
    assert second.locator("#notice").is_hidden()
    assert said(Session(sample)) == ["false"]


def test_undo_takes_back_the_last_answer_of_its_own_window_and_no_other(windows, sample):
    first, second = windows
    session = Session(sample)
    mine = second.inner_text("#sentence")
    press(first, *"tt")
    saved(first)
    second.keyboard.press("u")  # nothing was answered here: what was is read under "My answers"
    second.wait_for_selector("#mine[open]")
    assert second.locator("#mine-list li").count() == 2
    second.keyboard.press("Escape")
    assert said(session) == ["true", "true"]
    second.reload()
    press(second, "f")
    saved(second)
    press(first, "t")  # the card that the second has just called false
    first.wait_for_selector("#notice:not([hidden])")
    second.reload()  # which forgets nothing of this window
    second.wait_for_selector(READY)
    second.keyboard.press("u")
    saved(second)
    lines = history(session)
    assert [line["said"] for line in lines] == ["undo", "false", "true", "true"]
    assert lines[0]["undoes"] == lines[1]["id"]
    assert second.inner_text("#sentence") != mine


def test_a_refusal_that_begins_with_an_arabic_name_runs_from_left_to_right(tmp_path, start_server, new_page):
    (tmp_path / "scores.tsv").write_text("".join(f"a\tr\tb{i}\t0.{i}\n" for i in range(9)))
    names = {"a": {"name": "نجيب محفوظ"}, "r": {"name": "مكان"}} | {f"b{i}": {"name": "القاهرة"} for i in range(9)}
    (tmp_path / "names.json").write_text(json.dumps(names))
    start_session(tmp_path / "s", tmp_path / "scores.tsv", Settings(), [tmp_path / "names.json"]).close()
    server = start_server(tmp_path / "s")
    first = new_page()
    open_card(first, server.links["you"])
    second = first.context.new_page()
    open_card(second, server.origin)
    press(first, "f")
    saved(first)
    press(second, "t")
    second.wait_for_selector("#notice:not([hidden])")
    place = """words => {
        const text = document.querySelector("#refused li").firstChild, range = document.createRange();
        const from = text.textContent.indexOf(words);
        range.setStart(text, from);
        range.setEnd(text, from + words.length);
        return range.getBoundingClientRect().x;
    }"""
    name, given, change = (second.evaluate(place, words) for words in ("القاهرة", "given before", "was not taken"))
    assert name < given < change or given == change
    wait_for(lambda: said(Session(tmp_path / "s")) == ["false"])
