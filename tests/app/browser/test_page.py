"""What annotators do at a desk, done in a real browser."""

from __future__ import annotations

import signal

import pytest

from actc.session import Session
from actc.session.status import history
from tests.app.browser.conftest import HOSTILE, READY, open_card, press, said, saved, title_is


def test_a_new_user_judges_undoes_skips_leaves_and_goes_on(copy_session, start_process, start_server, new_page):
    folder = copy_session("sample")
    server = start_process(folder)
    page = new_page()
    open_card(page, server.links["you"])
    assert page.url == server.origin + "/"  # the token is gone from the address bar
    for number in range(6):
        before = page.inner_text("#sentence")
        press(page, "tf"[number % 2])
        page.wait_for_function("before => document.getElementById('sentence').innerText !== before", arg=before)
    press(page, "s", "s")
    saved(page)
    assert said(folder) == ["true", "false"] * 3 + ["unsure"] * 2
    assert page.inner_text("#count").startswith("6 of 200")
    for _ in range(3):
        page.keyboard.press("u")
    saved(page)
    assert said(folder)[-3:] == ["undo"] * 3
    where = page.inner_text("#sentence")
    page.context.close()
    server.stop()

    again = new_page()
    assert open_card(again, start_server(folder).links["you"]) == where
    press(again, "t")
    saved(again)
    assert len(Session(folder).annotations()) == 6


def test_each_press_answers_one_card_that_was_there_to_be_read(copy_session, start_server, new_page):
    folder = copy_session("sample")
    page = new_page()
    open_card(page, start_server(folder).links["you"])
    for _ in range(20):
        page.keyboard.press("t")
    page.wait_for_selector(READY)
    page.dblclick("#answers .true")
    press(page, "s")
    page.wait_for_selector(READY)
    for _ in range(10):  # the key is not released
        page.keyboard.down("f")
    page.keyboard.up("f")
    saved(page)
    lines = history(Session(folder))
    assert len({line["triple"] for line in lines}) == len(lines)
    assert min(line["seconds"] for line in lines) >= 0.25
    answers = said(folder)
    assert set(answers[:-2]) == {"true"}
    assert answers[-2:] == ["unsure", "false"]


def test_keys_notes_and_a_screen_reader(copy_session, start_server, new_page):
    folder = copy_session("sample")
    page = new_page(reduced_motion="reduce")
    sentence = open_card(page, start_server(folder).links["you"])
    assert page.inner_text("#announce").split() == sentence.split()
    assert page.get_by_role("progressbar", name="Triples judged").get_attribute("aria-valuemax") == "200"
    assert page.evaluate("getComputedStyle(document.getElementById('card')).animationName") == "none"
    page.keyboard.press("n")
    page.keyboard.type("not true, after")  # t and f are letters here, not answers
    page.reload()
    page.wait_for_selector(READY)
    assert page.input_value("#note") == "not true, after"
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.said") == "true":
            break
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.press("Enter")
    # By place on a keyboard without Latin letters; a Latin y is no t, wherever it is.
    for key, code in (("е", "KeyT"), ("а", "KeyF"), ("ы", "KeyS"), ("t", "KeyK"), ("y", "KeyT")):
        page.wait_for_selector(READY)
        page.evaluate(
            "([key, code]) => document.dispatchEvent(new KeyboardEvent('keydown', { key, code, bubbles: true }))",
            [key, code],
        )
    saved(page)
    lines = history(Session(folder))[::-1]
    assert [line["said"] for line in lines] == ["true", "true", "false", "unsure", "true"]
    assert [line["note"] for line in lines] == ["not true, after", *[""] * 4]
    assert page.input_value("#note") == ""


def test_the_picture_follows_the_answers_and_a_relation_is_chosen(copy_session, start_server, new_page):
    folder = copy_session("sample")
    page = new_page()
    open_card(page, start_server(folder, planning=True).links["you"])
    press(page, *"tftf")
    page.wait_for_selector("#curve svg .line")
    page.wait_for_selector("#only-label:not([hidden])")
    page.focus("#only")
    for key in ("t", "f", "ArrowLeft", "u", "n", "h", "?", "1"):  # keys are the menu's own while it has the focus
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.id") == "only"
    assert page.locator("dialog[open], #note-box:not([hidden])").count() == 0
    page.dispatch_event("#only", "pointerdown")
    relation = page.locator("#only option").nth(3).get_attribute("value")
    page.select_option("#only", relation)
    assert page.evaluate("document.activeElement === document.body")
    press(page, "t")
    saved(page)
    page.reload()
    page.wait_for_function("relation => document.getElementById('only').value === relation", arg=relation)
    press(page, "t")
    saved(page)
    assert {line["relation"] for line in history(Session(folder))[:2]} == {relation}
    page.select_option("#only", "")
    page.wait_for_selector(READY)


def test_answers_keep_their_place_and_arrows_read_on_where_a_card_is_long(copy_session, start_server, new_page):
    page = new_page(viewport={"width": 640, "height": 400})  # a wide screen at 200 %
    open_card(page, start_server(copy_session("long")).links["you"])
    places, lengths = set(), set()
    for _ in range(3):
        page.wait_for_selector(READY)
        box, before = page.get_by_role("button", name="True").bounding_box(), page.inner_text("#sentence")
        places.add((box["x"], box["y"]))
        assert box["y"] + box["height"] <= 400
        long = page.evaluate("document.getElementById('meanings').innerText.length > 500")
        if long and True not in lengths:
            for _ in range(200):
                page.keyboard.press("ArrowDown")
            page.wait_for_function(
                """() => document.querySelector(".why").getBoundingClientRect().bottom
                    <= document.querySelector(".dock").getBoundingClientRect().top"""
            )  # the end of the card is reached
            assert page.inner_text("#sentence") == before
        lengths.add(long)
        press(page, "t")
    assert lengths == {True, False}
    assert len(places) == 1


def test_a_void_link_keeps_answers_and_a_new_one_sends_them(copy_session, start_server, new_page):
    folder = copy_session("sample")
    server = start_server(folder, "Ada")
    page = new_page()
    page.goto(server.origin)
    page.wait_for_selector("#message:not([hidden])")
    assert page.locator("#card").is_hidden()
    open_card(page, server.links["Ada"])
    server.session.change_link("Ada", void=True)
    press(page, "t")
    title_is(page, "1 not saved", "saved")
    assert page.locator("#answers .true").is_disabled()
    other = page.context.new_page()
    open_card(other, server.link_of("Ada"))
    saved(other)
    page.bring_to_front()
    page.wait_for_selector(READY)  # the idle page goes on, too
    assert said(folder) == ["true"]


def test_the_budget_ends_grows_and_falls(copy_session, start_server, new_page):
    folder = copy_session("few")
    server, page = start_server(folder), new_page()
    open_card(page, server.links["you"])
    press(page, "t", "t", "s")
    saved(page)
    press(page, "t")
    page.click("#fifty")  # who judges alone goes on
    press(page, "t")
    saved(page)
    assert page.inner_text("#count").startswith("4 of 53")
    server.session.set_budget(4)
    page.wait_for_selector("#message:not([hidden])")
    assert said(folder) == ["true", "true", "unsure", "true", "true"]


def test_names_are_text_whatever_is_in_them(copy_session, start_server, new_page):
    server = start_server(copy_session("hostile"), "<b>Ada</b>")
    page = new_page(viewport={"width": 320, "height": 256}, color_scheme="dark")  # at 400 %
    open_card(page, server.links["<b>Ada</b>"])
    seen = set()
    for number in range(len(HOSTILE)):
        page.wait_for_selector(READY)
        seen |= set(page.locator("#sentence .head").all_text_contents())
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        assert page.evaluate("scrollY") == 0, "the next card is read from its beginning"
        press(page, "tf"[number % 2])
    assert seen == set(HOSTILE.values())
    saved(page)
    assert page.title() == "Judge triples · actc"
    assert page.locator("main script, main img, main b").count() == 0


@pytest.mark.long
def test_answers_given_while_the_server_is_dead_arrive_when_it_is_back(copy_session, start_process, new_page):
    folder = copy_session("sample")
    server = start_process(folder)
    page = new_page()
    open_card(page, server.links["you"])
    saved(page)
    server.stop(signal.SIGKILL)
    press(page, *"tff")
    title_is(page, "not saved yet", "saved")
    server.start()
    saved(page)
    assert said(folder) == ["true", "false", "false"]
