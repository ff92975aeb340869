"""Fingers on a phone, in a real browser: taps, swipes, and movements that mean nothing."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.conftest import wait_for
from tests.web.browser.conftest import PHONE, READY, open_card, said, saved, stop_scrolling


def touch(page: Page, start: tuple[float, float], by: tuple[float, float], *, lift: bool = True) -> None:
    """Move a finger over the screen: real touch events, which the browser may take for scrolling."""
    browser = page.context.new_cdp_session(page)
    for share in (0, 0.1, 0.3, 0.6, 1):
        point = {"x": start[0] + share * by[0], "y": start[1] + share * by[1]}
        kind = "touchMove" if share else "touchStart"
        browser.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    if lift:
        browser.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    browser.detach()


def middle_of(page: Page, part: str) -> tuple[float, float]:
    """Return the middle of a part of the page, once it is on the screen and nothing scrolls any more."""
    page.locator(part).first.scroll_into_view_if_needed()
    stop_scrolling(page)
    box = page.locator(part).first.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_taps_and_swipes_answer_from_every_part_of_the_card(copy_session, start_server, new_page):
    folder = copy_session("linked")
    server, page = start_server(folder), new_page(**PHONE)
    open_card(page, server.links["you"])
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for name in ("False", "Not sure", "True", "Undo", "Note"):
        box = page.get_by_role("button", name=name).bounding_box()
        assert box["y"] + box["height"] <= 844, f"{name} is not on the screen"
    page.get_by_role("button", name="False").tap()
    saved(page)
    page.get_by_role("button", name="Undo").tap()
    saved(page)
    before, card = page.inner_text("#sentence"), page.locator("#context")
    head, tail = (page.inner_text(f"#sentence .{role}") for role in ("head", "tail"))
    assert [(one.get_attribute("class"), one.inner_text()) for one in card.locator("mark").all()] == [
        ("head", head.lower()),
        ("tail", tail),
    ]
    assert card.locator(".tags li").all_inner_texts() == ["Q200"]  # not the fact that is asked about
    for by in ((30, 0), (6, -180), (100, 100)):  # short, up, askew
        touch(page, middle_of(page, "#sentence"), by)
        assert page.inner_text("#sentence") == before
        assert page.evaluate("document.getElementById('card').style.transform") == ""
    _, below = middle_of(page, ".tools")
    touch(page, (40, below), (300, 4))  # beside the card: the browser must not go back to the page before
    assert said(folder) == ["false", "undo"]
    expected = ["false", "undo"]
    swipes = {"true": (150, 8), "false": (-150, -8)}
    for number, part in enumerate((".question", "#sentence", "#meanings dd", "#context li", "#meanings a", ".why")):
        answer = ("true", "false")[number % 2]
        page.wait_for_selector(READY)
        touch(page, middle_of(page, part), swipes[answer])
        expected.append(answer)
        saved(page)
        assert said(folder) == expected, part
    assert page.url == server.place, "a swipe that began on a link opened it"
    page.reload()
    page.wait_for_selector(READY)
    touch(page, (100, 300), (280, 0), lift=False)
    page.wait_for_function("() => document.getElementById('card').style.transform.includes('translate')")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("visualViewport.width") == 390


def test_guidelines_reasons_and_own_answers_are_read_on_a_phone(copy_session, start_server, new_page):
    folder = copy_session("guided")
    server, page = start_server(folder), new_page(**PHONE)
    page.goto(server.links["you"])
    page.wait_for_selector("#help[open]")
    assert page.inner_text("#guidelines strong") == "usually"
    assert page.inner_text("#guidelines li:last-child") == "<b>not</b> snake_case_names"
    assert page.get_attribute("#guidelines a", "href") == "https://example.org"
    assert page.inner_text("#title") == "My facts"
    page.keyboard.press("t")  # no answer while the guidelines are read
    page.tap("#help .top [data-close]")
    page.reload()
    page.wait_for_selector(READY)
    assert page.locator("#help[open]").count() == 0  # they are shown once
    touch(page, (195, 500), (0, -300))  # a finger that reads on answers nothing
    wait_for(lambda: page.evaluate("scrollY") > 100)
    page.evaluate("scrollBy(0, document.getElementById('card').getBoundingClientRect().bottom - 600)")
    touch(page, (195, 500), (0, -300))
    page.wait_for_selector(READY)
    assert page.locator("#reasons").is_hidden()  # they are shown after the answer
    page.tap("#answers .true")
    page.wait_for_selector("#before:not([hidden])")
    assert page.locator("#before-reasons li").count() == 2
    page.tap("#undo")
    page.wait_for_selector("#before", state="hidden")
    saved(page)
    page.tap("#answers .false")
    saved(page)
    for name in ("help", "mine"):
        for close in ("top", "foot", "beside"):
            page.tap(f"#{name}-button")
            page.wait_for_selector(f"#{name}[open]")
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
    server.session.change({"reasons": "beside"})
    page.reload()
    page.wait_for_selector(READY)
    box, dock = page.locator("#reasons").bounding_box(), page.locator(".dock").bounding_box()
    assert box["y"] + box["height"] < dock["y"]
    assert said(folder) == ["true", "undo", "false"]
