"""What the owner of a session does on their page, done in a real browser."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page

from actc.session import Session
from actc.session.start import start_audit
from actc.session.status import history
from tests.conftest import wait_for
from tests.web.browser.conftest import READY, open_card, press, saved

OPEN = "#settle[open]:not([data-unread])"


def place(page: Page, words: str) -> None:
    """Wait until the owner is at a place of the list: "1 of 3"."""
    page.wait_for_function("words => document.getElementById('place').textContent === words", arg=words)


def test_two_annotators_side_by_side_and_the_owner_settles(copy_session, start_server, new_page):
    folder = copy_session("shared")
    server, session = start_server(folder, "Ada", "Bob"), Session(folder)
    ada, bob = new_page(), new_page()
    owner = new_page(permissions=["clipboard-read", "clipboard-write"])
    for page, name, key in ((ada, "Ada", "t"), (bob, "Bob", "f")):
        open_card(page, server.links[name])
        press(page, key, key)
        saved(page)
    server.server.config.app.state.pages.address = "https://judges.example.org"  # by which other machines reach it
    owner.goto(server.links["owner"])
    owner.wait_for_selector("#review li")
    assert owner.url == server.place + "owner"
    assert owner.locator("#review li").count() == 2
    owner.click("#review li:first-child button")
    owner.wait_for_selector(OPEN)
    owner.click("#answers .true")
    owner.keyboard.press("Escape")  # while the word is on its way
    wait_for(lambda: session.annotations().labels.tolist() == [True])
    wait_for(lambda: owner.locator("#review li").count() == 1)
    assert owner.locator("#settle[open]").count() == 0
    words = owner.inner_text("#pause")
    owner.click("#pause")
    wait_for(lambda: session.settings.paused)
    press(ada, "t")
    ada.wait_for_selector("#message[data-left=paused]:not([hidden])")
    wait_for(lambda: owner.inner_text("#pause") != words)  # the button lets them go on now
    owner.click("#pause")
    ada.wait_for_selector(READY)
    owner.fill("#name", "Cleo")
    owner.click("#add button")
    owner.get_by_role("button", name="Copy link of Cleo").click()
    others = server.link_of("Cleo").replace(server.origin, "https://judges.example.org")
    wait_for(lambda: owner.evaluate("navigator.clipboard.readText()") == others)
    open_card(new_page(), others.replace("https://judges.example.org", server.origin))
    void = owner.get_by_role("button", name="Void link of Bob")
    owner.once("dialog", lambda asked: asked.dismiss())
    void.click()
    assert bob.goto(server.links["Bob"]).status == 200
    owner.once("dialog", lambda asked: asked.accept())
    void.click()
    wait_for(lambda: bob.goto(server.links["Bob"]).status == 404)
    session.close()


def test_the_owner_decides_by_keys_and_changes_the_session(copy_session, start_server, new_page, tmp_path):
    folder = copy_session("differing")
    server, session, owner = start_server(folder, "Ada", "Bob"), Session(folder), new_page()
    owner.goto(server.links["owner"])
    owner.wait_for_selector("#review li")
    judged = owner.locator("#people tr td:nth-child(2)").all_inner_texts()
    assert judged == ["3", "3"]
    owner.click("[data-kind=noted]")
    wait_for(lambda: owner.locator("#review li").count() == 1)
    owner.click("[data-kind=unsure]")
    owner.wait_for_selector("#no-review:not([hidden])")
    assert owner.get_attribute("[data-kind=unsure]", "aria-pressed") == "true"
    owner.click("[data-kind=differ]")
    wait_for(lambda: owner.locator("#review li").count() == 3)

    owner.click("#decide")
    place(owner, "1 of 3")
    first = owner.inner_text("#sentence")
    assert owner.locator("#meanings dt").count() == 3
    notes = [owner.inner_text("#who")]
    for key, words in (("j", "2 of 3"), ("j", "3 of 3"), ("k", "2 of 3"), ("k", "1 of 3")):
        owner.keyboard.press(key)
        place(owner, words)
        notes.append(owner.inner_text("#who"))
    assert any("are you sure?" in note for note in notes)
    owner.wait_for_selector(OPEN)
    owner.evaluate(
        """() => new MutationObserver((_, looking) => {
            looking.disconnect();
            document.querySelector("#answers .true").click(); // at once: nobody has read the second card
        }).observe(document.getElementById("place"), { childList: true, characterData: true, subtree: true })"""
    )
    owner.click("#answers .true")
    place(owner, "2 of 3")
    press(owner, "ArrowLeft", card=OPEN)
    place(owner, "3 of 3")
    assert sorted(session.annotations().labels.tolist()) == [False, True]
    owner.keyboard.press("u")
    place(owner, "2 of 3")
    owner.reload()
    owner.wait_for_selector("#review li")
    owner.click("#decide")
    place(owner, "1 of 2")
    owner.keyboard.press("u")  # what was decided on an earlier visit
    owner.wait_for_function("words => document.getElementById('sentence').innerText === words", arg=first)
    assert len(session.annotations()) == 0
    assert [line["answer"] for line in history(session) if line["name"] == "owner"] == ["undo", "undo", "false", "true"]
    owner.keyboard.press("Escape")

    with owner.expect_response("**/download/labels.tsv") as refused:  # people differ on all three: there is no label
        owner.click("#files a[download='labels.tsv']")
    assert refused.value.status == 409
    with owner.expect_download() as found:
        owner.click("#files a[download='thresholds.json']")
    found.value.save_as(tmp_path / "thresholds.json")
    assert json.loads((tmp_path / "thresholds.json").read_text())["format"] == "actc-thresholds"
    owner.click("#fifty")
    wait_for(lambda: session.settings.budget == 90)
    owner.fill("#overlap", "20")
    owner.press("#overlap", "Enter")
    wait_for(lambda: session.settings.overlap == 0.2)
    session.close()


@pytest.mark.long
def test_an_audit_is_judged_on_the_page_until_it_is_certified(copy_session, start_process, new_page):
    folder = copy_session("sample")
    start_audit(folder, count=300, target=0.2).close()
    server = start_process(folder / "audit")
    page = new_page()
    open_card(page, server.links["you"])
    ended = "#message[data-left=certified]:not([hidden])"
    for _ in range(200):
        press(page, "t")
        saved(page)
        page.wait_for_timeout(300)  # the planner says when it is enough
        if page.locator(ended).count():
            break
    page.wait_for_selector(ended)
    assert len(Session(folder / "audit").annotations()) < 300
