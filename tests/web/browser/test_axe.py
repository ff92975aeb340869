"""axe-core finds no broken rule of accessibility on any page, in any of its states; main states are dark and light."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from actc.bench.paper.run import write_paper
from actc.bench.sample.demo import run_demo
from actc.complete.config import RunConfig
from actc.complete.run import run_config
from actc.data.files import write_scored, write_triples
from actc.data.triples import ScoredTriples
from actc.session import Judgement, Session
from actc.session.export import write_report
from actc.session.settings import SessionInputs, Settings
from actc.session.start import create_session
from actc.session.status import count_reviews
from tests.bench.test_paper import make_results
from tests.synthetic import make_towns
from tests.web.browser.conftest import PHONE, READY, Server, open_card, press, saved
from tests.web.browser.test_owner import OPEN

DARK_PHONE = PHONE | {"color_scheme": "dark"}
WIDE = {"viewport": {"width": 1240, "height": 760}, "color_scheme": "light"}
LONG = "the eldest of the many children of somebody with a name that is longer than anybody would like to read,"
REASONS = (f"{LONG} is known {LONG}", f"against: {LONG} has one already {LONG}", f"against: {LONG} {LONG}")


def look_at_both(page: Page, state: str) -> None:
    """Run axe on a page, dark and light: the scheme changes colours and nothing else."""
    page.emulate_media(color_scheme="dark")
    look(page, f"{state}, dark")
    page.emulate_media(color_scheme="light")
    look(page, f"{state}, light", runOnly=["color-contrast"])


def look(page: Page, state: str, **options) -> None:
    """Run axe on a page as it stands."""
    found = Axe().run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
    told = [f"{one['id']} ({one['impact']}) at {one['nodes'][0]['html'][:120]}" for one in found]
    assert told == [], state


@pytest.fixture
def server(build_once, tmp_path, start_server) -> Server:
    """A session in which cards have reasons and long names."""
    return start_server(shutil.copytree(build_once("axe", start_everything) / "session", tmp_path / "session"))


def start_everything(folder: Path) -> None:
    rows = [(f"{LONG} {i}", "father", f"{LONG} {i}-{j}") for i in range(60) for j in range(4)]
    rows += [(f"{LONG} {i}", "aunt", f"{LONG} {i}-{j}") for i in range(60) for j in range(4)]
    pool = ScoredTriples.from_columns(*zip(*rows, strict=True), np.random.default_rng(3).normal(size=len(rows)))
    write_scored(folder / "scores.parquet", pool)
    settings = Settings("pooled", 400, overlap=1.0, guidelines="# Judge\n\nSee [this](https://example.org).")
    create_session(
        folder / "session", folder / "scores.parquet", settings, SessionInputs(evidence=[REASONS] * len(rows))
    ).close()


def test_the_pages_of_annotators(server, new_page):
    page = new_page(bypass_csp=True, **DARK_PHONE)
    page.goto(server.link_of("Ada"))
    page.wait_for_selector("#help[open]")
    look(page, "guidelines")
    page.keyboard.press("Escape")
    page.wait_for_selector(READY)
    page.keyboard.press("n")
    page.keyboard.type("hm")
    look_at_both(page, "card with a note")
    page.keyboard.press("Escape")
    press(page, "f")
    saved(page)
    assert page.evaluate("(node => node.scrollHeight > node.clientHeight)(document.getElementById('before'))")
    look_at_both(page, "reasons of the last answer")
    page.keyboard.press("h")
    page.wait_for_selector("#mine-list li")
    look(page, "my answers")
    page.keyboard.press("Escape")
    other = page.context.new_page()
    open_card(other, server.place)
    press(page, "f")
    saved(page)
    other.bring_to_front()
    press(other, "t")
    other.wait_for_selector("#notice:not([hidden])")
    other.wait_for_selector(READY)
    look(other, "refused")
    server.session.change({"paused": True})
    press(other, "s")
    other.wait_for_selector("#message:not([hidden])")
    look(other, "paused")


def test_the_pages_of_the_owner_and_the_report(server, new_page, tmp_path):
    session = server.session
    people = [session.add_annotator(who) for who in ("Ada", "Bob")]
    for task in session.ask(people[0], 6):
        session.record(people[0], [Judgement("true", task.triple, f"a {task.triple}", note="hm")])
    for task in session.ask(people[1], 12):
        session.record(people[1], [Judgement("false", task.triple, f"b {task.triple}")])
    assert count_reviews(session)["differ"] > 0
    page = new_page(bypass_csp=True, **WIDE)
    page.goto(server.links["owner"])
    page.wait_for_selector("#people tr")
    page.wait_for_selector("#review li")
    look_at_both(page, "overview")
    page.click("#decide")
    page.wait_for_selector(OPEN)
    look(page, "decide")
    page.goto(server.origin + "/j/no")
    look(page, "wrong link")
    mine = Session(session.folder)
    write_report(mine, tmp_path / "report.html")
    mine.close()
    page.goto((tmp_path / "report.html").as_uri())
    look_at_both(page, "report")


@pytest.mark.long
def test_pages_that_take_longer_to_make(new_page, tmp_path):
    run_demo(tmp_path / "demo", repeats=1)
    write_triples(tmp_path / "graph.tsv", make_towns()[0].columns())
    run_config(RunConfig(tmp_path / "graph.tsv", tmp_path / "checked", "wrong", budget=0))
    paper = write_paper(make_results(), ["table-avg", "figure-n"], tmp_path / "paper")
    page = new_page(bypass_csp=True, **PHONE)
    for path in (tmp_path / "demo/report.html", tmp_path / "checked/report.html", paper):
        page.goto(path.absolute().as_uri())
        look_at_both(page, path.parent.name)
