"""What the owner of a session does on their page, done in a real browser."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from playwright.sync_api import Page

from actc.session import Session
from actc.session.status import history
from tests.app.browser.conftest import READY, open_card, press, saved, wait_for

OPEN = "#settle[open]:not([data-unread])"


@pytest.fixture
def differing(shared, start_server, new_page):
    """Two people who differ on three triples, one of them with a note; the owner's page, and the session."""
    server = start_server(shared, "Ada", "Bob")
    for name, key in (("Ada", "t"), ("Bob", "f")):
        page = new_page()
        open_card(page, server.links[name])
        if name == "Bob":
            page.keyboard.press("n")
            page.keyboard.type("are you sure?")
            page.keyboard.press("Escape")
        for _ in range(3):
            press(page, key)
        saved(page)
        page.close()
    owner = new_page()
    owner.goto(server.links["owner"])
    owner.wait_for_selector("#review li")
    return owner, Session(shared)


def told(page: Page, words: str, where: str = "told") -> None:
    """Wait until the page says something."""
    js = "([where, words]) => document.getElementById(where).textContent.includes(words)"
    page.wait_for_function(js, arg=[where, words])


def place(page: Page, words: str) -> None:
    told(page, words, "place")


def test_two_annotators_side_by_side_and_the_owner_settles(shared, start_server, new_page):
    server = start_server(shared, "Ada", "Bob")
    ada, bob, owner = new_page(), new_page(), new_page()
    open_card(ada, server.links["Ada"])
    for _ in range(4):
        press(ada, "t")
    saved(ada)
    open_card(bob, server.links["Bob"])
    for _ in range(4):
        press(bob, "f")
    saved(bob)
    session = Session(shared)
    assert Counter(line["name"] for line in history(session)) == {"Ada": 4, "Bob": 4}
    owner.goto(server.links["owner"])
    owner.wait_for_selector("#review li")
    assert owner.url == server.origin + "/owner"
    assert owner.locator("#review li").count() == 4
    assert "Ada: true · Bob: false" in owner.inner_text("#review li:first-child .who")
    owner.click("#review li:first-child button")
    owner.wait_for_selector(OPEN)
    owner.click("#answers .true")
    owner.keyboard.press("Escape")  # while the word is on its way
    wait_for(lambda: session.annotations().labels.tolist() == [True])
    wait_for(lambda: owner.locator("#review li").count() == 3)
    assert owner.locator("#settle[open]").count() == 0
    owner.fill("#name", "Cleo")
    owner.click("#add button")
    owner.wait_for_function("() => document.getElementById('added').textContent.includes('Cleo: http://127.0.0.1')")
    cleo = owner.inner_text("#added").split()[1]
    open_card(new_page(), cleo)


def test_the_owner_makes_a_link_void_and_pauses_everybody(sample, start_server, new_page):
    server = start_server(sample, "Ada", "Bob")
    ada, owner = new_page(), new_page()
    open_card(ada, server.links["Ada"])
    owner.goto(server.links["owner"])
    owner.click("#pause")
    owner.wait_for_function("() => document.getElementById('state').textContent === 'Paused'")
    press(ada, "t")
    ada.wait_for_function("() => document.getElementById('message-title').textContent === 'Paused'")
    owner.click("#pause")
    ada.wait_for_selector(READY)
    owner.get_by_role("button", name="Void link of Bob").click()
    owner.wait_for_function("() => document.getElementById('added').textContent.includes('has no link any more')")
    bob = new_page()
    bob.goto(server.links["Bob"])
    assert bob.get_by_role("heading", level=1).inner_text() == "This link does not work"


def test_the_owner_decides_by_keys_with_the_whole_card_and_takes_it_back(differing):
    owner, session = differing
    owner.click("#decide")
    place(owner, "1 of 3")
    first = owner.inner_text("#sentence")
    assert owner.locator("#meanings dt").count() == 3
    assert "score" in owner.inner_text("#belief")
    notes = [owner.inner_text("#who")]
    for key, words in (("j", "2 of 3"), ("j", "3 of 3"), ("k", "2 of 3"), ("k", "1 of 3")):
        owner.keyboard.press(key)
        place(owner, words)
        notes.append(owner.inner_text("#who"))
    assert any("are you sure?" in note for note in notes)
    press(owner, "t", card=OPEN)
    place(owner, "2 of 3")
    press(owner, "ArrowLeft", card=OPEN)
    place(owner, "3 of 3")
    assert session.annotations().labels.tolist() == [True, False]
    owner.keyboard.press("u")
    place(owner, "2 of 3")
    owner.keyboard.press("u")
    place(owner, "1 of 3")
    assert owner.inner_text("#sentence") == first
    assert len(session.annotations()) == 0
    owner.keyboard.press("j")
    place(owner, "2 of 3")
    owner.keyboard.press("k")
    place(owner, "1 of 3")
    assert [line["said"] for line in history(session) if line["name"] == "owner"] == ["undo", "undo", "false", "true"]


def test_a_double_click_decides_one_card(differing):
    owner, session = differing
    owner.click("#decide")
    owner.wait_for_selector(OPEN)
    owner.evaluate(
        """() => new MutationObserver((_, looking) => {
            looking.disconnect();
            document.querySelector("#answers .true").click(); // at once: nobody has read the second card
        }).observe(document.getElementById("place"), { childList: true, characterData: true, subtree: true })"""
    )
    owner.click("#answers .true")
    place(owner, "2 of 3")
    owner.wait_for_selector(OPEN)
    place(owner, "2 of 3")
    assert session.annotations().labels.tolist() == [True]


def test_a_decision_of_an_earlier_visit_can_be_taken_back(differing):
    owner, session = differing
    owner.click("#decide")
    place(owner, "1 of 3")
    decided = owner.inner_text("#sentence")
    press(owner, "t", card=OPEN)
    place(owner, "2 of 3")
    owner.reload()
    owner.wait_for_selector("#review li")
    owner.click("#decide")
    place(owner, "1 of 2")
    owner.keyboard.press("u")
    told(owner, "Taken back")
    owner.wait_for_function("words => document.getElementById('sentence').innerText === words", arg=decided)
    assert len(session.annotations()) == 0


def test_notes_and_what_nobody_was_sure_of_have_lists_of_their_own(differing, start_server, new_page):
    owner, _ = differing
    owner.click("[data-kind=noted]")
    wait_for(lambda: owner.locator("#review li").count() == 1)
    assert "are you sure?" in owner.inner_text("#review .who")
    owner.click("[data-kind=unsure]")
    owner.wait_for_selector("#no-review:not([hidden])")
    assert owner.get_by_role("button", name="Nobody was sure").get_attribute("aria-pressed") == "true"


def test_another_rule_is_tried_chosen_and_tells_what_it_changed(differing):
    owner, session = differing
    owner.select_option("#rule", "dawid-skene")
    told(owner, "A tie is no label", "rules")
    owner.click("#combine button")
    told(owner, "By dawid-skene now", "changed")
    assert session.rule == "dawid-skene"


def test_budget_and_overlap_change_on_the_page(differing):
    owner, session = differing
    owner.click("#fifty")
    wait_for(lambda: session.budget == 90)
    owner.fill("#overlap", "20")
    owner.press("#overlap", "Enter")
    wait_for(lambda: session.overlap == 0.2)
    owner.reload()
    wait_for(lambda: owner.input_value("#overlap") == "20")


def test_files_are_taken_from_the_page(differing, tmp_path):
    owner, _ = differing
    with owner.expect_download(timeout=60_000) as found:
        owner.click("#files a[download='thresholds.json']")
    found.value.save_as(tmp_path / "thresholds.json")
    assert json.loads((tmp_path / "thresholds.json").read_text())["format"] == "actc-thresholds"
    owner.click("#files a[download='labels.tsv']")  # people differ on all three: there is no label yet
    told(owner, "no label", "file-state")


def test_all_relations_are_sorted_by_whatever_is_clicked(differing):
    owner, session = differing
    owner.click("#all summary")
    owner.wait_for_selector("#all-rows tr")

    def column(number: int) -> list[str]:
        return owner.locator(f"#all-rows tr > :nth-child({number})").all_inner_texts()

    assert len(column(1)) == session.settings.relations
    owner.click("[data-by=name]")
    assert column(1) == sorted(column(1), key=str.lower)
    owner.click("[data-by=triples]")
    sizes = [int(text.replace(",", "")) for text in column(2)]
    assert sizes == sorted(sizes, reverse=True)
    owner.click("[data-by=triples]")
    assert [int(text.replace(",", "")) for text in column(2)] == sorted(sizes)
    assert owner.locator("#sorts th[aria-sort=ascending]").inner_text().startswith("Candidates")
    owner.fill("#find", column(1)[0])
    assert len(column(1)) >= 1
    assert len(column(1)) < session.settings.relations


def test_who_answers_in_haste_or_apart_from_the_others_is_seen(differing):
    owner, _ = differing
    rows = owner.locator("#people tr").all_inner_texts()
    assert all("of 3" in row for row in rows)  # the share of answers that the others gave too


@pytest.mark.long
def test_an_audit_is_judged_on_the_page_until_it_is_certified(sample, start_process, new_page):
    server = start_process(sample, command=("audit", "--count", "300", "--target", "0.2"))
    page = new_page()
    open_card(page, server.links["you"])
    assert page.inner_text("#buys") == "What the audit says"
    ended = "() => document.getElementById('message-title').textContent === 'The audit has its answer'"
    for _ in range(200):
        press(page, "t")
        saved(page)
        page.wait_for_timeout(300)  # the planner says when it is enough
        if page.evaluate(ended):
            break
    page.wait_for_function(ended)
    told(page, "Certified: at least 0.2 of the accepted triples are true.", "advice")
    assert len(Session(sample / "audit").annotations()) < 300
