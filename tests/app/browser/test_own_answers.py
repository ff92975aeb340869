"""What annotators do besides judging, in a real browser: change their mind, choose their keys, use two windows."""

from __future__ import annotations

from playwright.sync_api import Page

from actc.session import Session
from actc.session.status import history
from tests.app.browser.conftest import READY, open_card, press, said, saved, title_is, wait_for


def choose_key(page: Page, action: str, key: str) -> None:
    page.keyboard.press("?")
    page.locator(f"#keys [data-action={action}]").click()
    page.keyboard.press(key)
    page.click("#help-close")


def test_an_old_answer_is_found_and_changed_and_keys_are_chosen(copy_session, start_server, new_page):
    folder = copy_session("sample")
    page = new_page()
    first = open_card(page, start_server(folder).links["you"])
    choose_key(page, "true", "j")
    choose_key(page, "false", "s")  # which "not sure" had: it gets F instead
    page.reload()
    press(page, *"jjst")
    saved(page)
    assert said(folder) == ["true", "true", "false"]
    page.keyboard.press("?")
    page.click("#keys-reset")
    page.click("#help-close")
    page.context.set_offline(True)
    page.keyboard.press("h")
    page.wait_for_selector("#mine-none:visible")
    page.keyboard.press("Escape")
    page.context.set_offline(False)
    here = page.inner_text("#sentence")
    page.keyboard.press("h")
    page.wait_for_selector("#mine-list li")
    page.fill("#mine-find", "no such words")
    page.wait_for_selector("#mine-none:visible")
    page.fill("#mine-find", first)
    assert page.locator("#mine-list li").count() == 1
    page.locator("#mine-list li").get_by_role("button", name="False").click()
    saved(page)
    # Labels come in the order of the answers that stand, so the changed one is the last now.
    assert Session(folder).annotations().labels.tolist() == [True, False, False]
    page.keyboard.press("Escape")
    assert page.inner_text("#sentence") == here
    press(page, "t")
    page.keyboard.press("u")
    saved(page)
    assert said(folder) == ["true", "true", "false", "undo", "false", "true", "undo"]


def test_two_windows_of_one_person(copy_session, start_server, new_page):
    folder = copy_session("arabic")
    server = start_server(folder)
    first = new_page()
    sentence = open_card(first, server.links["you"])
    left = [first.locator(f"#sentence .{role}").bounding_box()["x"] for role in ("head", "relation", "tail")]
    assert left == sorted(left, reverse=True)  # a sentence runs as its letters do
    second = first.context.new_page()
    assert open_card(second, server.origin) == sentence
    press(first, *"ff")
    saved(first)
    press(second, "f")  # the same answer is taken silently
    saved(second)
    assert second.locator("#notice").is_hidden()
    press(second, "t")
    second.wait_for_selector("#notice:not([hidden])")
    title_is(second, "1 not taken", "saved")
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
    assert [line["said"] for line in lines] == ["undo", "true", "false", "false"]
    assert lines[0]["undoes"] == lines[1]["id"]
    third = first.context.new_page()
    open_card(third, server.origin)
    third.keyboard.press("u")  # nothing was answered here: what was is read under "My answers"
    third.wait_for_selector("#mine[open]")
    wait_for(lambda: third.locator("#mine-list li").count() == 2)
