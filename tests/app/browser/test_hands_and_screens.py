"""Keys in menus, dialogs on a phone, links that end, budgets that fall: what people met with, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from actc.session import Session, Settings, start_session
from actc.session.start import sample_files
from actc.session.status import history
from tests.app.browser.conftest import PHONE, READY, open_card, press, run, saved, wait_for
from tests.app.browser.test_page import said


def told(page: Page, where: str, words: str) -> None:
    """Wait until a part of the page says something."""
    js = "([where, words]) => document.getElementById(where).textContent.includes(words)"
    page.wait_for_function(js, arg=[where, words])


def test_keys_are_a_menus_own_while_it_has_the_focus_and_the_pages_afterwards(sample, start_server, new_page):
    page = new_page()
    open_card(page, start_server(sample).links["you"])
    page.wait_for_selector("#only-label:not([hidden])")
    page.focus("#only")
    for key in ("t", "s", "f", "ArrowRight", "ArrowLeft", "Backspace", "u", "n", "h", "?", "1"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.id") == "only"
    assert page.locator("dialog[open], #note-box:not([hidden])").count() == 0
    page.keyboard.press("Escape")
    press(page, "f")
    saved(page)
    assert said(Session(sample)) == ["false"]


def test_who_chooses_a_relation_with_a_mouse_goes_on_with_keys_at_once(sample, start_server, new_page):
    page = new_page()
    open_card(page, start_server(sample).links["you"])
    page.wait_for_selector("#only-label:not([hidden])")
    page.focus("#only")
    page.dispatch_event("#only", "pointerdown")
    page.select_option("#only", index=3)
    assert page.evaluate("document.activeElement === document.body")
    press(page, "t")
    saved(page)
    assert said(Session(sample)) == ["true"]


def test_the_chosen_relation_survives_a_reload(sample, start_server, new_page):
    page = new_page()
    open_card(page, start_server(sample).links["you"])
    page.wait_for_selector("#only-label:not([hidden])")
    relation = page.locator("#only option").nth(3).get_attribute("value")
    page.select_option("#only", relation)
    press(page, "t")
    saved(page)
    page.reload()
    page.wait_for_function("relation => document.getElementById('only').value === relation", arg=relation)
    press(page, *"tt")
    saved(page)
    assert {line["relation"] for line in history(Session(sample))[:2]} == {relation}


@pytest.fixture
def guided(tmp_path: Path) -> Path:
    """A session with long guidelines."""
    scores, names, graph = sample_files()
    settings = Settings(guidelines="\n\n".join(["A sentence that is good to know before one judges anything."] * 60))
    start_session(tmp_path / "session", scores, settings, names, graph).close()
    return tmp_path / "session"


def test_dialogs_on_a_phone_close_at_the_top_at_the_foot_and_beside_them(guided, start_server, new_page):
    page = new_page(**PHONE)
    page.goto(start_server(guided).links["you"])
    page.wait_for_selector("#help[open]")
    page.tap("#help .top [data-close]")
    page.wait_for_selector(READY)
    for _ in range(12):
        page.wait_for_selector(READY)
        page.tap("#answers .false")
    saved(page)
    for name in ("help", "mine"):
        for close in ("top", "foot", "beside"):
            page.tap(f"#{name}-button")
            page.wait_for_selector(f"#{name}[open]")
            if name == "mine":
                wait_for(lambda: page.locator("#mine-list li").count() == 12)
            page.evaluate("for (const one of document.querySelectorAll('dialog .inside')) one.scrollTop = 200")
            for button in page.locator(f"#{name} [data-close]").all():
                box = button.bounding_box()
                assert 0 <= box["y"] <= 844 - box["height"], f"{name}: not in sight"
                assert box["height"] >= 44
            if close == "beside":
                page.touchscreen.tap(195, 8)
            else:
                page.tap(f"#{name} .{close} [data-close]")
            page.wait_for_selector(f"#{name}", state="hidden")
    assert said(Session(guided)) == ["false"] * 12


def test_a_void_link_is_told_at_once_and_a_new_one_sends_what_was_kept(sample, start_server, new_page):
    server = start_server(sample, "Ada")
    page = new_page()
    open_card(page, server.links["Ada"])
    server.session.change_link("Ada", void=True)
    press(page, "t")
    told(page, "message-title", "This link is not valid any more")
    told(page, "saved", "1 not saved")
    assert page.locator("#answers .true").is_disabled()
    assert "Not saved yet: 1 of your answers." in page.inner_text("#message-text")
    page.goto(server.link_of("Ada"))
    page.wait_for_selector(READY)
    saved(page)
    assert said(Session(sample)) == ["true"]


def test_an_idle_page_notices_a_void_link_and_goes_on_with_a_new_one(sample, start_server, new_page):
    server = start_server(sample, "Ada")
    page = new_page()
    open_card(page, server.links["Ada"])
    server.session.change_link("Ada", void=True)
    told(page, "message-title", "This link is not valid any more")
    other = page.context.new_page()
    open_card(other, server.link_of("Ada"))
    page.bring_to_front()
    page.wait_for_selector(READY)


def test_my_answers_say_so_where_the_server_does_not_answer(sample, start_server, new_page):
    page = new_page()
    open_card(page, start_server(sample).links["you"])
    page.context.set_offline(True)
    page.keyboard.press("h")
    page.wait_for_selector("#mine[open]")
    assert page.inner_text("#mine-none").startswith("The server does not answer.")
    page.keyboard.press("Escape")
    page.context.set_offline(False)
    press(page, "t")
    saved(page)
    page.keyboard.press("h")
    page.wait_for_selector("#mine-list li")


@pytest.mark.parametrize("size", [(320, 256), (320, 190)])
def test_at_400_percent_the_answers_come_after_the_card(sample, start_server, new_page, size):
    page = new_page(viewport={"width": size[0], "height": size[1]})
    open_card(page, start_server(sample).links["you"])
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    sentence, dock = (page.locator(part).bounding_box() for part in ("#sentence", ".dock"))
    assert sentence["y"] + sentence["height"] <= dock["y"]
    page.click("#answers .true")
    saved(page)
    assert said(Session(sample)) == ["true"]
    assert page.evaluate("scrollY") == 0, "the next card is read from its beginning"


def test_a_lower_budget_takes_cards_away(tmp_path, start_server, new_page):
    run("start", tmp_path / "s", "--sample", "--budget", 50)
    server, session = start_server(tmp_path / "s"), Session(tmp_path / "s")
    page = new_page()
    open_card(page, server.links["you"])
    press(page, "t")
    saved(page)
    server.session.set_budget(3)
    page.wait_for_function("() => document.getElementById('count').textContent === '1 of 3'")
    wait_for(lambda: session.store.value("SELECT count(*) FROM lease WHERE expires > 0") == 2)

    def all_are_judged() -> bool:  # a card that is drawn anew while the key is pressed takes no answer yet
        if page.locator(READY).count():
            page.keyboard.press("t")
        return "That is all" in (page.text_content("#message-title") or "")

    wait_for(all_are_judged)
    saved(page)
    assert said(session) == ["true"] * 3


def test_an_address_that_nobody_else_reaches_is_not_given_away_without_a_word(sample, start_server, new_page):
    server = start_server(sample, "Ada")
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(server.links["owner"])
    page.get_by_role("button", name="Copy link of Ada").click()
    told(
        page, "added", "Only this machine reaches it; for others, serve the session with: actc annotate SESSION --host"
    )
    assert page.evaluate("navigator.clipboard.readText()") == server.links["Ada"]


def test_an_address_is_the_one_that_others_reach_where_they_reach_one(sample, start_server, new_page):
    server = start_server(sample, "Ada")
    server.server.config.app.state.others = "judges.example.org"
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(server.links["owner"])
    page.get_by_role("button", name="Copy link of Ada").click()
    told(page, "added", "is copied.")
    assert "Only this machine" not in page.inner_text("#added")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == server.links["Ada"].replace("127.0.0.1", "judges.example.org")
