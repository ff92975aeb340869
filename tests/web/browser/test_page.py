"""What annotators do at a desk, done in a real browser."""

from __future__ import annotations

import signal
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from playwright.sync_api import Page

from actc.session import Session
from actc.session.status import history
from tests.conftest import wait_for
from tests.web.browser.conftest import HOSTILE, READY, open_card, press, said, saved, stop_scrolling


def test_a_new_user_judges_undoes_skips_leaves_and_goes_on(copy_session, start_process, start_server, new_page):
    folder = copy_session("sample")
    server = start_process(folder)
    page = new_page(reduced_motion="no-preference")
    open_card(page, server.links["you"])
    assert page.url == server.place  # the token is gone from the address bar
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
    before = len(history(Session(folder)))
    for _ in range(20):  # each press answers one card that was there to be read
        again.keyboard.press("t")
    again.wait_for_selector(READY)
    again.dblclick("#answers .true")
    press(again, "s")
    again.wait_for_selector(READY)
    for _ in range(10):  # the key is not released
        again.keyboard.down("f")
    again.keyboard.up("f")
    saved(again)
    lines = history(Session(folder))[:-before]
    assert len({line["triple"] for line in lines}) == len(lines)
    assert min(line["seconds"] for line in lines) >= 0.25
    answers = [line["answer"] for line in lines][::-1]
    assert set(answers[:-2]) == {"true"}
    assert answers[-2:] == ["unsure", "false"]


def choose_key(page: Page, action: str, key: str) -> None:
    page.keyboard.press("?")
    page.locator(f"#keys [data-action={action}]").click()
    page.keyboard.press(key)
    page.click("#help-close")


def test_keys_notes_own_answers_and_one_relation(copy_session, start_server, new_page):
    folder = copy_session("sample")
    page = new_page()
    sentence = open_card(page, start_server(folder, planning=True).links["you"])
    assert page.inner_text("#announce").split() == sentence.split()  # what a screen reader says
    assert page.inner_text("#count") == "0 of 200"
    assert page.evaluate("getComputedStyle(document.getElementById('card')).animationName") == "none"
    page.keyboard.press("n")
    page.keyboard.type("not true, after")  # t and f are letters here, not answers
    page.reload()
    page.wait_for_selector(READY)
    assert page.input_value("#note") == "not true, after"
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.answer") == "true":
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
    answers = ["true", "true", "false", "unsure", "true"]
    assert [line["answer"] for line in lines] == answers
    assert [line["note"] for line in lines] == ["not true, after", *[""] * 4]
    assert page.input_value("#note") == ""

    choose_key(page, "true", "j")
    choose_key(page, "false", "s")  # which "not sure" had: it gets F instead
    page.reload()
    press(page, *"jsft")  # t means nothing any more
    saved(page)
    answers += ["true", "false", "unsure"]
    assert said(folder) == answers
    page.keyboard.press("?")
    page.click("#keys-reset")
    page.click("#help-close")
    here = page.inner_text("#sentence")
    page.keyboard.press("h")
    page.wait_for_selector("#mine-list li")
    page.fill("#mine-find", "no such words")
    page.wait_for_selector("#mine-none:visible")
    page.fill("#mine-find", sentence)
    assert page.locator("#mine-list li").count() == 1
    page.click("#mine-list li button.false")
    saved(page)
    page.keyboard.press("Escape")
    assert page.inner_text("#sentence") == here
    press(page, "t")
    page.keyboard.press("u")
    saved(page)
    answers += ["undo", "false", "true", "undo"]
    assert said(folder) == answers
    labels = Session(folder).annotations().labels.tolist()
    assert labels == [True, False, True, True, False, False]  # the changed answer is the newest

    page.wait_for_selector("#curve canvas")  # the picture follows the answers


AT_END = """() => document.querySelector(".why").getBoundingClientRect().bottom
    <= document.querySelector(".dock").getBoundingClientRect().top"""
"""Whether the end of the card can be read."""


def test_cards_of_any_length_with_names_of_any_kind(copy_session, start_server, new_page):
    server = start_server(copy_session("odd"), "<b>Ada</b>")
    small, middle = {"width": 320, "height": 256}, {"width": 640, "height": 400}  # a wide screen at 400 % and 200 %
    page = new_page(viewport=small, color_scheme="dark")
    open_card(page, server.links["<b>Ada</b>"])
    seen, places, long = set(), set(), set()
    for number in range(len(HOSTILE) + 2):
        page.wait_for_selector(READY)
        head = page.locator("#sentence .head").text_content()
        seen.add(head)
        assert page.evaluate("scrollY") == 0, "the next card is read from its beginning"
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        page.set_viewport_size(middle)
        assert page.evaluate("document.documentElement.scrollWidth") <= 640
        box = page.locator("#answers .true").bounding_box()
        places.add((box["x"], box["y"]))
        assert box["y"] + box["height"] <= 400
        if head in ("c", "e"):
            pages = 0
            while not page.evaluate(AT_END):
                page.keyboard.press("PageDown")
                stop_scrolling(page)
                pages += 1
            long.add(pages > 2)
            assert page.locator("#sentence .head").text_content() == head
        page.set_viewport_size(small)
        page.evaluate("scrollTo(0, 200)")
        press(page, "tf"[number % 2])
    saved(page)
    assert seen == {*HOSTILE.values(), "c", "e"}
    assert long == {True, False}
    assert len(places) == 1, "answers keep their place"
    assert page.title() == "Judge triples · actc"
    assert page.locator("main script, main img, main b").count() == 0


def test_nothing_is_lost_offline_without_a_link_or_when_the_budget_changes(copy_session, start_server, new_page):
    folder = copy_session("few")
    server = start_server(folder, "Ada")
    page = new_page()
    page.goto(server.origin)
    page.wait_for_selector("#message:not([hidden])")  # without a link
    assert page.locator("#card").is_hidden()
    open_card(page, server.links["Ada"])
    page.context.set_offline(True)
    press(page, "t", "f")
    page.wait_for_selector('#saved.late[data-waiting="2"]')
    page.keyboard.press("h")
    page.wait_for_selector("#mine-none:visible")
    page.keyboard.press("Escape")
    page.context.set_offline(False)
    saved(page)
    assert said(folder) == ["true", "false"]

    server.session.change_link("Ada", void=True)
    press(page, "t")
    page.wait_for_selector('#saved.late[data-waiting="1"]')
    assert page.locator("#answers .true").is_disabled()
    other = page.context.new_page()
    open_card(other, server.link_of("Ada"))
    saved(other)
    page.bring_to_front()
    page.wait_for_selector(READY)  # the idle page goes on, too
    assert said(folder) == ["true", "false", "true"]
    other.close()

    press(page, "s", "t", "t")
    saved(page)
    page.click("#fifty")  # who judges alone goes on
    press(page, "t")
    saved(page)
    assert page.inner_text("#count").startswith("6 of 55")
    server.session.change({"budget": 6})
    page.wait_for_selector("#message[data-left=spent]:not([hidden])")
    assert said(folder) == ["true", "false", "true", "unsure", "true", "true", "true"]


def test_two_windows_of_one_person(copy_session, start_server, new_page):
    folder = copy_session("arabic")
    server = start_server(folder)
    first = new_page()
    sentence = open_card(first, server.links["you"])
    left = [first.locator(f"#sentence .{role}").bounding_box()["x"] for role in ("head", "relation", "tail")]
    assert left == sorted(left, reverse=True)  # a sentence runs as its letters do
    second = first.context.new_page()
    assert open_card(second, server.place) == sentence
    press(first, *"ff")
    saved(first)
    press(second, "f")  # the same answer is taken silently
    saved(second)
    assert second.locator("#notice").is_hidden()
    press(second, "t")
    second.wait_for_selector("#notice:not([hidden])")
    second.wait_for_selector('#saved[data-waiting="0"][data-refused="1"]')
    assert second.get_attribute("#refused li", "dir") == "ltr"
    assert said(folder) == ["false", "false"]
    second.click("#notice-close")
    press(second, "t")
    saved(second)
    press(first, "f")  # the card that the second has just called true
    first.wait_for_selector("#notice:not([hidden])")
    second.reload()  # which forgets nothing of this window
    second.wait_for_selector(READY)
    second.keyboard.press("u")
    saved(second)
    lines = history(Session(folder))
    assert [line["answer"] for line in lines] == ["undo", "true", "false", "false"]
    assert lines[0]["undoes"] == lines[1]["id"]
    third = first.context.new_page()
    open_card(third, server.place)
    third.keyboard.press("u")  # nothing was answered here: what was is read under "My answers"
    third.wait_for_selector("#mine[open]")
    wait_for(lambda: third.locator("#mine-list li").count() == 2)


@pytest.mark.long
def test_answers_given_while_the_server_is_dead_arrive_when_it_is_back(copy_session, start_process, new_page):
    folder = copy_session("sample")
    server = start_process(folder)
    page = new_page()
    open_card(page, server.links["you"])
    saved(page)
    server.stop(signal.SIGKILL)
    press(page, *"tff")
    page.wait_for_selector('#saved.late[data-waiting="3"]')
    server.start()
    saved(page)
    assert said(folder) == ["true", "false", "false"]


def test_a_page_on_another_port_gets_no_cookie(copy_session, start_server, new_page):
    received = []

    class Other(BaseHTTPRequestHandler):
        def do_GET(self):
            received.append(self.headers.get("Cookie"))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *words):
            pass

    server, page = start_server(copy_session("few")), new_page()
    open_card(page, server.links["you"])
    cookies = [one["value"] for one in page.context.cookies(server.place)]
    assert len(cookies) == 1  # it is there, and
    with HTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        for path in ("", "j/x", "api/picture", "owner", "session/few/"):
            page.goto(f"http://127.0.0.1:{other.server_port}/{path}")
        other.shutdown()
    assert received
    assert set(received) == {None}
