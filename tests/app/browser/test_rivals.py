"""A contradiction is one card in a real browser: pick one, none, or more than one after all; by keys and by fingers."""

from __future__ import annotations

from playwright.sync_api import Page

from actc.session import Session
from tests.app.browser.conftest import PHONE, READY, press, saved


def go_to_rivals(page: Page, least: int = 2, most: int = 9) -> list[int]:
    """Answer ordinary cards until one has so many rivals; return the triples on it."""
    for _ in range(40):
        page.wait_for_selector(READY)
        found = page.eval_on_selector_all("#rivals:not([hidden]) button", "all => all.map(one => +one.dataset.triple)")
        if least <= len(found) <= most:
            return found
        before = page.evaluate("document.getElementById('card').innerText")
        press(page, "f")
        page.wait_for_function("before => document.getElementById('card').innerText !== before", arg=before)
    raise AssertionError("no card had rivals")


def labels(session: Session) -> dict[int, bool]:
    answers = session.annotations()
    return dict(zip(answers.rows.tolist(), answers.labels.tolist(), strict=True))


def test_one_none_or_more_of_the_rivals_are_true(copy_session, start_server, new_page):
    folder = copy_session("rivals")
    server, session = start_server(folder), Session(folder)
    page = new_page(**PHONE)
    page.goto(server.links["you"])
    shown = go_to_rivals(page, least=3)
    saved(page)
    before = labels(session)
    press(page, "2")
    saved(page)
    assert labels(session) == before | {triple: place == 1 for place, triple in enumerate(shown)}
    page.keyboard.press("u")
    saved(page)
    assert labels(session) == before
    page.keyboard.press("0")  # means nothing
    press(page, "f")
    saved(page)
    assert labels(session) == before | dict.fromkeys(shown, False)
    shown = go_to_rivals(page, least=3)
    press(page, "t", "1", "2", "3", "2")  # more than one after all
    assert page.get_attribute("#rivals li:nth-child(1) button", "aria-pressed") == "true"
    assert page.get_attribute("#rivals li:nth-child(2) button", "aria-pressed") == "false"
    press(page, "t")
    saved(page)
    assert [labels(session)[triple] for triple in shown] == [place in (0, 2) for place in range(len(shown))]
    shown = go_to_rivals(page)
    saved(page)
    page.tap(f'#rivals button[data-triple="{shown[-1]}"]')
    saved(page)
    assert [labels(session)[triple] for triple in shown] == [False] * (len(shown) - 1) + [True]
    shown = go_to_rivals(page)
    page.tap("#answers .unsure")
    saved(page)
    assert not set(shown) & set(labels(session))
    session.close()
