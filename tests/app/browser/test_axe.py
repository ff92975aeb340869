"""axe-core finds no broken rule of accessibility on any page, in any of its states; wide, on a phone, light, dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from actc.check.run import CheckPlan, check_graph
from actc.paper.run import write_paper
from actc.sample.better_graph import complete_families
from actc.sample.run_demo import run_demo
from actc.session import Judgement, Session, Settings, start_session
from actc.session.examine import write_report
from actc.session.review import count_reviews
from actc.tables.constraints import Constraint, Constraints
from actc.tables.files import write_scored, write_triples
from actc.triples import ScoredTriples
from tests.app.browser.conftest import PHONE, READY, Server, open_card, press, saved
from tests.app.browser.test_owner import OPEN
from tests.check.test_doubt import make_towns
from tests.paper.test_paper import make_results

WIDE = {"viewport": {"width": 1240, "height": 760}}
LOOKS = [
    pytest.param(WIDE | {"color_scheme": "light"}, id="wide-light"),
    pytest.param(WIDE | {"color_scheme": "dark"}, id="wide-dark", marks=pytest.mark.long),
    pytest.param(PHONE | {"color_scheme": "light"}, id="phone-light", marks=pytest.mark.long),
    pytest.param(PHONE | {"color_scheme": "dark"}, id="phone-dark"),
]
LONG = "the eldest of the many children of somebody with a name that is longer than anybody would like to read,"
REASONS = (f"{LONG} is known {LONG}", f"against: {LONG} has one already {LONG}", f"against: {LONG} {LONG}")
RULES = Constraints((Constraint("one-tail", "father", use="hard"),))


def look(page: Page, state: str) -> None:
    """Run axe on a page as it stands."""
    found = Axe().run(page).response["violations"]
    told = [f"{one['id']} ({one['impact']}) at {one['nodes'][0]['html'][:120]}" for one in found]
    assert told == [], state


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A session in which cards have rivals, reasons and long names, and some are judged."""
    folder = tmp_path_factory.mktemp("axe")
    rows = [(f"{LONG} {i}", "father", f"{LONG} {i}-{j}") for i in range(60) for j in range(4)]
    rows += [(f"{LONG} {i}", "aunt", f"{LONG} {i}-{j}") for i in range(60) for j in range(4)]
    pool = ScoredTriples.from_columns(*zip(*rows, strict=True), np.random.default_rng(3).normal(size=len(rows)))
    write_scored(folder / "scores.parquet", pool)
    settings = Settings("pooled", 400, overlap=1.0, guidelines="# Judge\n\nSee [this](https://example.org).")
    start_session(
        folder / "session", folder / "scores.parquet", settings, reasons=[REASONS] * len(rows), constraints=RULES
    ).close()
    served = Server(folder / "session")
    yield served
    served.stop()


@pytest.mark.parametrize("options", LOOKS)
def test_the_pages_of_annotators(server, new_page, options, request):
    name = request.node.callspec.id
    page = new_page(bypass_csp=True, reduced_motion="reduce", **options)
    page.goto(server.link_of(name))
    page.wait_for_selector("#help[open]")
    look(page, "guidelines")
    page.keyboard.press("Escape")
    page.wait_for_selector(READY)
    look(page, "card")
    page.keyboard.press("n")
    page.keyboard.type("hm")
    look(page, "note")
    page.keyboard.press("Escape")
    rivals = False
    for _ in range(40):
        press(page, "f")
        saved(page)
        if rivals := page.locator("#rivals").is_visible():
            break
    assert rivals
    assert page.evaluate("(node => node.scrollHeight > node.clientHeight)(document.getElementById('before'))")
    look(page, "rivals, and reasons of the last answer")
    page.keyboard.press("h")
    page.wait_for_selector("#mine-list li")
    look(page, "my answers")
    page.keyboard.press("Escape")
    other = page.context.new_page()
    open_card(other, server.origin)
    press(page, "f")
    saved(page)
    other.bring_to_front()
    other.keyboard.press("1")
    other.wait_for_selector("#notice:not([hidden])")
    other.wait_for_selector(READY)
    look(other, "refused")
    server.session.set_paused(True)
    press(other, "s")
    other.wait_for_selector("#message:not([hidden])")
    look(other, "paused")
    server.session.set_paused(False)
    server.session.change_link(name, void=True)
    other.wait_for_function("() => document.getElementById('message-title').textContent.includes('not valid')")
    look(other, "void link")


@pytest.mark.parametrize("options", LOOKS)
def test_the_pages_of_the_owner(server, new_page, options, request):
    name = request.node.callspec.id
    session = server.session
    people = [session.add_annotator(f"{who} {name}") for who in ("Ada", "Bob")]
    for task in session.ask(people[0], 6):
        session.record(people[0], [Judgement("true", task.triple, f"{name} {task.triple}", note="hm")])
    for task in session.ask(people[1], 12):
        session.record(people[1], [Judgement("false", task.triple, f"{name} {task.triple}")])
    assert count_reviews(session)["differ"] > 0
    page = new_page(bypass_csp=True, reduced_motion="reduce", **options)
    page.goto(server.links["owner"])
    page.wait_for_selector("#people tr")
    page.click("#all summary")
    page.wait_for_selector("#all-rows tr")
    page.wait_for_selector("#review li")
    look(page, "overview")
    page.click("#decide")
    page.wait_for_selector(OPEN)
    look(page, "decide")
    page.goto(server.origin + "/j/no")
    look(page, "wrong link")


@pytest.fixture(scope="module")
def reports(sample_report, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages that commands write."""
    folder = tmp_path_factory.mktemp("reports")
    better = complete_families(folder).folder
    return {"report": sample_report, "complete": better / "report.html"}


@pytest.fixture(scope="module")
def sample_report(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    session = Session(server.session.folder)
    write_report(session, path)
    session.close()
    return path


@pytest.mark.parametrize("options", LOOKS)
def test_the_reports(reports, new_page, options):
    page = new_page(bypass_csp=True, reduced_motion="reduce", **options)
    for name, path in reports.items():
        page.goto(path.absolute().as_uri())
        look(page, name)


@pytest.fixture(scope="module")
def slow_pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages that take longer to make."""
    folder = tmp_path_factory.mktemp("pages")
    run_demo(folder / "demo", repeats=1)
    write_triples(folder / "graph.tsv", make_towns()[0].columns())
    check_graph(CheckPlan(folder / "graph.tsv", folder / "checked", budget=0))
    paper = write_paper(make_results(), ["table-avg", "figure-n"], folder / "paper")
    return {"demo": folder / "demo/report.html", "check": folder / "checked/report.html", "paper": paper}


@pytest.mark.long
@pytest.mark.parametrize("options", LOOKS)
def test_pages_that_take_longer_to_make(slow_pages, new_page, options):
    test_the_reports(slow_pages, new_page, options)
