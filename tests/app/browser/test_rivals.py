"""A contradiction is one card in a real browser: pick one, none, or more than one after all; by keys and by fingers."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Page

from actc.session import Session, Settings, start_session
from actc.tables.constraints import Constraint, Constraints
from actc.tables.files import write_scored
from actc.triples import ScoredTriples
from tests.app.browser.conftest import READY, press, saved

RULES = Constraints((Constraint("one-tail", "father", use="hard"),))


@pytest.fixture
def rivals(tmp_path):
    """A session in which every child has four fathers to choose from."""
    rows = [(f"child {i}", "father", f"man {i}-{j}") for i in range(60) for j in range(4)]
    pool = ScoredTriples.from_columns(*zip(*rows, strict=True), np.random.default_rng(3).normal(size=len(rows)))
    write_scored(tmp_path / "scores.parquet", pool)
    settings = Settings("pooled", budget=60)
    start_session(tmp_path / "session", tmp_path / "scores.parquet", settings, constraints=RULES).close()
    return tmp_path / "session"


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


def test_one_key_labels_every_rival_and_one_undo_takes_all_back(rivals, start_server, new_page):
    server, session = start_server(rivals), Session(rivals)
    page = new_page()
    page.goto(server.links["you"])
    shown = go_to_rivals(page, least=3)
    assert "At most one of these is true" in page.inner_text("#question")
    saved(page)
    before = labels(session)
    press(page, "2")
    saved(page)
    assert labels(session) == before | {triple: place == 1 for place, triple in enumerate(shown)}
    page.keyboard.press("u")
    saved(page)
    assert labels(session) == before
    assert page.eval_on_selector_all("#rivals button", "all => all.map(one => +one.dataset.triple)") == shown
    page.keyboard.press("0")  # means nothing
    press(page, "f")
    saved(page)
    assert labels(session) == before | dict.fromkeys(shown, False)
    session.close()


def test_more_than_one_after_all(rivals, start_server, new_page):
    server, session = start_server(rivals), Session(rivals)
    page = new_page()
    page.goto(server.links["you"])
    shown = go_to_rivals(page, least=3)
    press(page, "t")
    assert "Press each that is true" in page.inner_text("#question")
    for key in ("1", "2", "3", "2"):
        press(page, key)
    assert page.get_attribute("#rivals li:nth-child(1) button", "aria-pressed") == "true"
    assert page.get_attribute("#rivals li:nth-child(2) button", "aria-pressed") == "false"
    press(page, "t")
    saved(page)
    told = labels(session)
    assert [told[triple] for triple in shown] == [place in (0, 2) for place in range(len(shown))]
    session.close()


def test_fingers_press_the_one_that_is_true(rivals, start_server, new_page):
    server, session = start_server(rivals), Session(rivals)
    page = new_page(viewport={"width": 380, "height": 740}, has_touch=True, is_mobile=True)
    page.goto(server.links["you"])
    shown = go_to_rivals(page)
    saved(page)
    page.tap(f'#rivals button[data-triple="{shown[-1]}"]')
    saved(page)
    told = labels(session)
    assert [told[triple] for triple in shown] == [False] * (len(shown) - 1) + [True]
    shown = go_to_rivals(page)
    page.tap("#answers .unsure")
    saved(page)
    assert not set(shown) & set(labels(session))
    session.close()
