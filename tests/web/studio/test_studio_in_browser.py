"""The whole way in a real browser, as a curator goes it: from an empty folder to facts in Turtle."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import numpy as np
import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Page

from actc.bench.sample.demo import make_families
from actc.data.deliver import try_to_lock
from actc.graph.formats import read_graph
from actc.session import Judgement, Session
from actc.session.plan import Planner
from actc.session.status import history
from actc.web.studio.decisions import own_answers_of
from actc.web.studio.project import Project
from actc.web.studio.runs import add_run, list_runs
from actc.web.studio.server import create_studio
from tests.conftest import wait_for
from tests.graph.servers import oxigraph
from tests.web.browser.conftest import PHONE, READY, Process, Serving, saved
from tests.web.browser.test_axe import DARK_PHONE, look, look_at_both
from tests.web.studio.conftest import BYTES, enter, run_to_its_end
from tests.web.studio.test_decide_routes import triples_in

WORKS = 120_000  # milliseconds that a run may take on a busy machine


class Served(Serving):
    """A studio that a thread of this process serves."""

    def __init__(self, folder: Path, host: str) -> None:
        super().__init__(lambda origin: create_studio(folder, host, origin if host == "0.0.0.0" else None))
        self.folder, studio = folder, self.app.state.studio
        self.link, self.place = f"{self.origin}/s/{studio.token}", self.origin + studio.place


@pytest.fixture
def new_studio(start_process, tmp_path) -> Process:
    """`actc studio` in a new folder."""
    return start_process(tmp_path / "studio", command="studio")


@pytest.fixture
def judged_studio(judged, new_page) -> Iterator[Callable[..., tuple[Served, Page]]]:
    """Open the home page of a studio whose project is judged and decided."""
    with ExitStack() as running:

        def start(host: str = "127.0.0.1", **options) -> tuple[Served, Page]:
            studio, page = Served(judged, host), new_page(**options)
            running.callback(studio.stop)
            page.goto(studio.link)
            page.wait_for_selector("#projects li")
            return studio, page

        yield start


@pytest.fixture(scope="session")
def true_facts() -> set[tuple[str, str, str]]:
    """What is true of the families, in the graph or not."""
    return set(zip(*make_families(np.random.default_rng(0)).columns().values(), strict=True))


def next_is(page: Page, what: str) -> None:
    """Wait until the page says what to do next: data, go, judge, decide, take."""
    page.wait_for_selector(f"#next-sentence[data-what={what}]", timeout=WORKS)


def drop(page: Page, *files: Path) -> None:
    """Drop files on the page, as out of a file manager."""
    content = [[file.name, file.read_text(encoding="utf-8")] for file in files]
    made = page.evaluate_handle(
        """files => {
            const dropped = new DataTransfer();
            for (const [name, text] of files) dropped.items.add(new File([text], name));
            return dropped;
        }""",
        content,
    )
    page.dispatch_event("#drop", "dragover", {"dataTransfer": made})
    page.dispatch_event("#drop", "drop", {"dataTransfer": made})


def said_by(page: Page, facts: set[tuple[str, str, str]]) -> str:
    """Say what is true of the card that is shown."""
    page.wait_for_selector(READY)
    return "true" if tuple(page.locator("#meanings dt bdi").all_inner_texts()[:3]) in facts else "false"


def judge(page: Page, facts: set[tuple[str, str, str]], count: int, act) -> None:
    for _ in range(count):
        said, shown = said_by(page, facts), page.inner_text("#meanings")
        act(said)
        another = "shown => document.getElementById('meanings').innerText !== shown"
        page.wait_for_function(f"{another} || document.getElementById('card').hidden", arg=shown)
    saved(page)


def judge_in(session: Session, facts: set[tuple[str, str, str]], count: int) -> None:
    """Let Ada judge some cards, by what is true."""
    ada, until = session.add_annotator("Ada"), time.monotonic() + 60
    while count > 0:
        assert time.monotonic() < until, "no cards"
        for task in session.ask(ada, count):
            said = "true" if (task.head, task.relation, task.tail) in facts else "false"
            session.record(ada, [Judgement(said, task.triple, f"key{task.triple}")])
            count -= 1


def test_a_dropped_graph_is_completed_judged_guaranteed_and_taken_as_turtle(
    new_studio, new_page, families, completed, true_facts, tmp_path
):
    studio, page = new_studio, new_page(viewport={"width": 1200, "height": 900})
    page.goto(studio.links["studio"])
    page.wait_for_selector("#projects li")
    drop(page, families)
    page.wait_for_url("**/project/families*")
    page.locator("#recognised", has_text=f"{len(read_graph(families)):,}").wait_for()
    page.wait_for_selector("#card:not([hidden]) #sentence .head")
    next_is(page, "go")
    # What Go runs to its end with the same graph, once for all tests; the studio goes on where it ended.
    result = shutil.copytree(completed / "families" / "result", studio.folder / "families" / "result")
    next_is(page, "judge")
    page.fill("[data-option=budget]", "32")
    page.keyboard.press("Tab")
    session = Session(result / "session")
    wait_for(lambda: session.settings.budget == 32)
    judge_in(session, true_facts, 26)
    page.click("#tab-people")
    address = studio.origin + page.get_attribute("#judge-now", "href")

    desk = page.context.new_page()
    desk.goto(address)
    judge(desk, true_facts, 4, lambda said: desk.keyboard.press(said[0]))
    assert page.url.partition("#")[0] == studio.origin + desk.get_attribute("#back", "href").partition("#")[0]
    desk.close()
    phone = new_page(**PHONE)
    phone.goto(address)
    judge(phone, true_facts, 2, lambda said: phone.tap(f"#answers .{said}"))
    phone.wait_for_selector("#message[data-left=spent]:not([hidden])")
    judged, pool = session.annotations(), session.read_pool()
    assert [pool.triple(row) in true_facts for row in judged.rows] == judged.labels.tolist()
    assert len(judged) == 32
    session.close()

    next_is(page, "decide")
    page.click("#tab-decide")
    page.click("#guarantee")
    next_is(page, "take")
    page.click("#tab-decide")
    page.wait_for_selector("#rows tr")
    slide_to(page, 90)
    guaranteed = int(re.search(r"[\d,]+", page.inner_text("#cost"))[0].replace(",", ""))
    page.click("#guarantee")
    run_ends(studio, 2)
    next_is(page, "take")
    assert "--precision 0.9" in page.locator("#runs pre").first.text_content()

    page.click("#tab-take")
    with page.expect_download() as download:
        page.click("#takes [download='accepted.ttl']")
    download.value.save_as(tmp_path / "accepted.ttl")
    accepted = set(zip(*read_graph(result / "accepted.tsv").columns().values(), strict=True))
    assert triples_in((tmp_path / "accepted.ttl").read_text(), "turtle") == accepted
    assert len(accepted) == guaranteed >= 10
    assert len(accepted & true_facts) >= 0.85 * len(accepted)

    page.reload()
    assert page.get_attribute("#tab-take", "aria-selected") == "true"
    page.click("#tab-decide")
    page.wait_for_selector("#level-rows tr")
    assert page.inner_text("#level-now") == "90%"  # what was decided with
    assert page.inner_text("#summary").startswith("32 of 32")


@pytest.fixture
def judged(build_once, completed, true_facts, tmp_path) -> Path:
    """A studio with a project that was decided once, after ten of twelve cards."""
    return shutil.copytree(
        build_once("studio-judged", lambda folder: judge_all(folder, completed, true_facts)) / "studio",
        tmp_path / "studio",
    )


def judge_all(home: Path, completed: Path, true_facts: set[tuple[str, str, str]]) -> None:
    app = create_studio(shutil.copytree(completed, home / "studio"))
    session = Session(home / "studio" / "families" / "result" / "session")
    judge_in(session, true_facts, 10)
    with TestClient(app, base_url="http://127.0.0.1:8766") as client:
        enter(client)
        run_to_its_end(client, "families", "decide")
        session.change({"budget": 12})
        Planner(session).step()
        session.close()
        client.post("/api/projects", json={"title": "Empty"})
        client.post("/api/projects", json={"title": "Broken"})
        client.put("/api/projects/broken/files/bad.nt", content=b"<a> <b", headers=BYTES)
        run_to_its_end(client, "broken", "go", "failed")


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until something has the focus."""
    for _ in range(200):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never comes to {selector}")


def open_tab(page: Page, key: str, name: str) -> None:
    """Go to a tab by keys."""
    page.evaluate("document.activeElement.blur()")
    tab_to(page, "[role=tab][aria-selected=true]")
    for _ in range(5):
        if page.get_attribute(f"#tab-{name}", "aria-selected") == "true":
            return
        page.keyboard.press(key)
    raise AssertionError(f"{key} never comes to {name}")


def slide_to(page: Page, percent: int) -> None:
    """Move the slider by keys to a precision, and wait until what is below is of it."""
    page.focus("#level")
    page.keyboard.press("Home")
    while page.inner_text("#level-now") != f"{percent}%":
        page.keyboard.press("ArrowRight")
    page.wait_for_function(f"() => location.hash.includes('level={percent / 100:g}')")
    page.wait_for_selector("#facts:not([aria-busy])")


def numbers_in(text: str) -> list[int]:
    return [int(found.replace(",", "")) for found in re.findall(r"\d[\d,]*", text)]


def test_the_slider_moves_the_table_and_the_relations_alike(judged_studio):
    studio, page = judged_studio(viewport={"width": 1280, "height": 900})
    page.goto(f"{studio.place}/project/families#decide")
    page.wait_for_selector("#level-rows tr")
    found = []
    for precision in (None, 70, 99):
        if precision is not None:
            slide_to(page, precision)
        accepted = numbers_in(page.inner_text("#cost"))[0]
        assert numbers_in(page.inner_text("#page-of"))[-1:] == [accepted]
        cells = page.locator("#level-rows tr").all()
        assert sum(numbers_in(row.locator("td").first.inner_text())[0] for row in cells) == accepted
        found.append(accepted)
    assert len(set(found)) > 1
    page.reload()  # which forgets nothing of it
    page.wait_for_selector("#level-rows tr")
    assert page.inner_text("#level-now") == "99%"
    assert numbers_in(page.inner_text("#cost"))[0] == found[-1]


def rows_shown(page: Page) -> list[str]:
    return page.locator("#rows .what").all_inner_texts()


def test_the_list_stands_still_under_the_keyboard_and_every_key_answers_the_fact_that_was_read(judged_studio):
    studio, page = judged_studio(viewport={"width": 1280, "height": 900})
    page.goto(f"{studio.place}/project/families#decide")
    page.wait_for_selector("#rows tr")
    session = Session(studio.folder / "families" / "result" / "session")
    page.evaluate(
        """() => new Promise((done) => {
            const rows = document.getElementById("rows");
            const press = () => { rows.querySelector("button.true").click(); done(); };
            new MutationObserver(press).observe(rows, { childList: true });
            document.querySelector("[data-part=rejected]").click();
        })"""
    )
    page.wait_for_timeout(600)
    assert own_answers_of(session) == {}  # nobody reads a list within a quarter of a second of its change
    page.click("[data-part=accepted]")
    page.wait_for_selector("#facts:not([aria-busy])")
    page.wait_for_timeout(300)
    tab_to(page, "#rows tr")
    shown, read = rows_shown(page), []
    for key in "tftf":
        read.append((page.get_attribute("#rows tr:focus", "data-fact"), {"t": "true", "f": "false"}[key]))
        page.keyboard.press(key)
        page.wait_for_selector(f"#rows tr:focus .{read[-1][1]}[aria-pressed=true]")
        wait_for(lambda: len(own_answers_of(session)) == len(read))
        assert rows_shown(page) == shown
        page.keyboard.press("ArrowDown")
    facts = [(tuple(json.loads(fact)), said) for fact, said in read]
    assert own_answers_of(session) == dict(facts)
    page.keyboard.press("u")
    wait_for(lambda: own_answers_of(session) == dict(facts[:-1]))
    page.wait_for_selector(f"#rows tr:has(+ tr:focus) .{facts[-1][1]}[aria-pressed=false]")

    run_to_its_end_of(studio, "families")  # somebody decides while the list is being read
    page.wait_for_selector("#refresh:visible")
    assert rows_shown(page) == shown
    page.click("#refresh")
    page.wait_for_selector("#refresh", state="hidden")
    session.close()


def test_what_a_run_brought_is_shown_and_a_button_asks_the_cards_that_a_guarantee_needs(judged_studio):
    studio, page = judged_studio(viewport={"width": 1280, "height": 900})
    page.goto(f"{studio.place}/project/families#run")
    page.locator("#result-lines", has_text="candidates were accepted").wait_for()
    accepted, whole = numbers_in(page.inner_text("#result-lines"))[:2]
    page.click("#result-table")
    page.wait_for_selector("#level-rows tr")
    rows = [numbers_in(row.locator("td").first.inner_text()) for row in page.locator("#level-rows tr").all()]
    assert [sum(column) for column in zip(*rows, strict=True)] == [accepted, whole]
    page.locator("#needs button").first.click()
    next_is(page, "judge")
    count, options = numbers_in(page.inner_text("#needs button"))[0], Project.read(studio.folder / "families").options
    session = Session(studio.folder / "families" / "result" / "session")
    assert (options.precision, options.budget) == (0.9, 10 + count)
    assert (session.settings.precision, session.settings.budget) == (0.9, 10 + count)
    session.close()


def test_a_second_graph_and_columns_without_known_names_are_asked_about(judged_studio, tmp_path):
    studio, page = judged_studio(viewport={"width": 1280, "height": 900})
    for name, text in (("a.tsv", "Ada\tuncle\tBob\n"), ("b.tsv", "Eve\tuncle\tBob\n")):
        (tmp_path / name).write_text(text)
    (tmp_path / "c.csv").write_text("no,who,does,whom\n1,Ada,knows,Bob\n")
    page.goto(f"{studio.place}/project/empty")
    drop(page, tmp_path / "a.tsv", tmp_path / "b.tsv")
    page.locator("#file-state", has_text="b.tsv is not used").wait_for()
    page.select_option("[aria-label='What b.tsv is']", "graph")
    wait_for(lambda: Project.read(studio.folder / "empty").roles == {"a.tsv": "unused", "b.tsv": "graph"})
    page.fill("#sentences input", "{tail} is the uncle of {head}")
    page.keyboard.press("Tab")
    page.locator("#card #sentence", has_text="Bob is the uncle of Eve").wait_for()
    drop(page, tmp_path / "c.csv")
    page.wait_for_selector("#file-rows tr:nth-child(4)")
    page.select_option("[aria-label='What c.csv is']", "graph")
    for part, column in zip(("head", "relation", "tail"), "123", strict=True):
        page.select_option(f".picker [data-part={part}]", column)
    page.click(".picker [type=submit]")
    wait_for(lambda: Project.read(studio.folder / "empty").roles.get("c-columns.parquet") == "graph")


def test_back_leads_to_the_tab_before_and_an_audit_takes_a_percentage_or_a_share(judged_studio):
    studio, page = judged_studio()
    page.goto(f"{studio.place}/project/families#data")
    page.fill("[data-option=budget]", "9")
    page.keyboard.press("Tab")
    page.locator("#summary", has_text="10 cards judged").wait_for()  # and not 10 of 9
    for name in ("take", "people"):
        page.click(f"#tab-{name}")
    assert numbers_in(page.inner_text("#judged")) == [10]
    for name in ("take", "data"):
        page.go_back()
        page.wait_for_selector(f"#tab-{name}[aria-selected=true]")
    page.click("#tab-people")
    page.fill("#count-audit", "20")
    for number, share, target in ((3, "90", "0.9"), (4, ".8", "0.8")):
        page.fill("#target", share)
        page.click("#audit [type=submit]")
        run_ends(studio, number)
        assert f"--target {target}" in list_runs(studio.folder / "families")[-1].describe()["command"]
    page.wait_for_selector("#audit-links:not([hidden])")


def test_time_left_is_that_of_a_stage_while_it_counts(judged_studio):
    studio, page = judged_studio()
    run = add_run(studio.folder / "empty", "go", [["actc", "methods"]])
    with (run.folder / "lock").open("w") as lock, (run.folder / "progress.jsonl").open("a") as progress:
        assert try_to_lock(lock)  # as its supervisor does

        def report(*steps: tuple[str, int, int | None, int]) -> None:
            for stage, done, total, ago in steps:
                line = {"stage": stage, "done": done, "total": total, "at": time.time() - ago}
                print(json.dumps(line), file=progress, flush=True)

        report(("Rules", 0, 2, 60), ("Rules", 2, 2, 40), ("Evidence", 0, 10, 40), ("Evidence", 4, 10, 20))
        page.goto(f"{studio.place}/project/empty#run")
        page.locator("#runs li p", has_text="needs about 30 s more").wait_for()
        shares = [bar.get_attribute("aria-valuenow") for bar in page.locator(".stages [role=progressbar]").all()]
        assert shares == ["100", "40"]
        report(("Evidence", 10, 10, 10), ("Cards", 0, None, 10))
        page.locator("#runs li p", has_text="needs about").wait_for(state="hidden")
        page.wait_for_selector(".stages li:nth-child(3) [role=progressbar]:not([aria-valuenow])")


def test_the_way_by_keys_alone(judged_studio, families, true_facts):
    studio, page = judged_studio(viewport={"width": 1200, "height": 900})
    page.on("filechooser", lambda chooser: chooser.set_files(families))  # from now on, so that none opens unseen
    tab_to(page, "#new-title")
    page.keyboard.type("Keys")
    page.keyboard.press("Enter")
    page.wait_for_url("**/project/keys*")
    next_is(page, "data")
    tab_to(page, "#pick")
    page.keyboard.press("Enter")
    next_is(page, "go")
    tab_to(page, "[data-option=budget]")
    page.keyboard.press("Control+a")
    page.keyboard.type("12")
    page.keyboard.press("Tab")
    wait_for(lambda: Project.read(studio.folder / "keys").options.budget == 12)
    page.evaluate("document.activeElement.blur()")
    tab_to(page, "#next-go")
    page.keyboard.press("Enter")
    wait_for(lambda: len(list_runs(studio.folder / "keys")) == 1)
    tab_to(page, "#runs li button")  # which ends it: another project is far enough to go on with
    page.keyboard.press("Enter")
    wait_for(lambda: list_runs(studio.folder / "keys")[0].state == "cancelled")

    page.goto(studio.place + "/")
    tab_to(page, "#projects a[href$=families]")
    page.keyboard.press("Enter")
    page.wait_for_url("**/project/families*")
    next_is(page, "take")
    open_tab(page, "ArrowRight", "people")
    tab_to(page, "#judge-now")
    with page.context.expect_page() as opened:
        page.keyboard.press("Control+Enter")
    card = opened.value
    judge(card, true_facts, 2, lambda said: card.keyboard.press(said[0]))
    card.close()
    next_is(page, "decide")
    open_tab(page, "ArrowRight", "decide")
    page.wait_for_selector("#rows tr")
    tab_to(page, "[data-part=rejected]")
    page.keyboard.press("Enter")
    tab_to(page, "[data-by=relation]")
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash.includes('sort=relation')")
    page.reload()  # which forgets neither the tab nor what is looked at
    page.wait_for_selector("#rows tr")
    assert page.get_attribute("[data-part=rejected]", "aria-pressed") == "true"
    assert page.locator("#rows .yes").count() == 0
    assert page.get_attribute("th:has([data-by=relation])", "aria-sort")
    tab_to(page, "#rows tr")
    before = page.inner_text("#rows tr:focus .what")
    page.keyboard.press("ArrowDown")
    assert page.inner_text("#rows tr:focus .what") != before
    session = Session(studio.folder / "families" / "result" / "session")
    page.wait_for_timeout(300)  # nothing is taken so soon after the list changed
    page.keyboard.press("t")
    wait_for(lambda: history(session)[0]["name"] == "owner")
    session.close()
    page.evaluate("document.activeElement.blur()")
    tab_to(page, "#guarantee:enabled")
    page.keyboard.press("Enter")
    page.wait_for_selector("#tab-run[aria-selected=true]")  # the page goes there by itself, once it has the reply
    wait_for(lambda: [run.request["what"] for run in list_runs(studio.folder / "families")][-2:] == ["decide"] * 2)
    list_runs(studio.folder / "families")[-1].cancel()
    open_tab(page, "End", "take")
    page.wait_for_selector("#takes a")
    tab_to(page, "#takes a")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.path().stat().st_size > 0


def test_axe_finds_nothing_on_any_page_of_the_studio(judged_studio):
    studio, page = judged_studio("0.0.0.0", bypass_csp=True, **DARK_PHONE)
    look_at_both(page, "home")
    page.goto(f"{studio.place}/project/empty")
    next_is(page, "data")
    look(page, "nothing yet")
    page.goto(f"{studio.place}/project/broken#run")
    page.wait_for_selector("#runs pre")
    look(page, "a run that failed")
    page.goto(f"{studio.place}/project/families#data")
    page.wait_for_selector("#card:not([hidden])")
    page.click("#from-store summary")
    look(page, "data")
    page.click("#tab-run")
    page.click("#run .command summary")
    look(page, "runs")
    page.click("#tab-people")
    page.wait_for_selector("#persons li")
    look(page, "people")
    page.click("#persons li [aria-haspopup=dialog] >> nth=0")
    page.wait_for_selector("#qr[open] svg")
    box, code = page.locator("#qr-code").bounding_box(), page.locator("#qr-code svg").bounding_box()
    assert code["width"] > 0.8 * box["width"], "the code fills its box"
    assert page.inner_text("#qr-address").startswith(f"{studio.origin}/session/families/j/")
    look(page, "QR code")
    page.keyboard.press("Escape")
    page.click("#tab-decide")
    page.wait_for_selector("#rows tr")
    page.click("[data-part=rejected]")
    page.wait_for_selector("#learning canvas")
    look_at_both(page, "decide")
    page.click("#tab-take")
    page.wait_for_selector("#takes a")
    look(page, "take")
    page.click("#take-report a")
    page.wait_for_url("**/families/report")
    look(page, "report")
    page.click("nav a")
    page.wait_for_url("**/project/families#take")
    page.goto(f"{studio.place}/project/none")
    look(page, "no such project")
    page.goto(studio.place + "/")
    page.once("dialog", lambda asked: asked.accept())
    page.click("[aria-label='Delete: Broken']")
    wait_for(lambda: not (studio.folder / "broken").exists())


HOSTILE = ["<img src=x onerror=alert(1)><script>alert(2)</script>", "نجيب محفوظ", "n" * 2000]
SCREENS = [(320, "dir = 'ltr'"), (640, "style.fontSize = '200%'"), (390, "dir = 'rtl'")]
READY_WHEN = {
    "": "#projects li",
    "project/families#data": "#card:not([hidden])",
    "project/families#run": "#runs li",
    "project/families#people": "#persons li",
    "project/families#decide": "#learning canvas",
    "project/families#take": "#takes a",
}


@pytest.mark.long
def test_no_page_is_wider_than_its_screen_and_hostile_names_do_nothing(judged_studio, tmp_path):
    studio, page = judged_studio()
    for width, style in SCREENS:
        page.set_viewport_size({"width": width, "height": 800})
        for place, ready in READY_WHEN.items():
            page.goto(f"{studio.place}/{place}")
            page.evaluate(f"document.documentElement.{style}")
            page.wait_for_selector(ready)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (place, style)
            if place.endswith("decide") and width == 320:
                assert page.evaluate(
                    "(box => box.scrollWidth <= box.clientWidth)(document.querySelector('.scroll:has(#level-rows)'))"
                )
    rows = [f"{name}{i}\t{name}\t{other}{i % 7}" for name in HOSTILE for other in HOSTILE for i in range(8)]
    (tmp_path / "graph.tsv").write_text("\n".join(rows), encoding="utf-8")
    page.set_viewport_size({"width": 320, "height": 700})
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    page.goto(studio.place + "/")
    page.fill("#new-title", HOSTILE[0])
    drop(page, tmp_path / "graph.tsv")
    page.wait_for_selector("#card:not([hidden])")
    assert page.inner_text("#title") == HOSTILE[0]
    assert page.locator("main img, main script").count() == 0
    wide, high = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    assert wide <= 320
    assert high < 4500


def run_to_its_end_of(studio: Served, name: str) -> None:
    """Decide in a project as another window would, and wait until that is done."""
    app = create_studio(studio.folder)
    with TestClient(app, base_url="http://127.0.0.1:8766") as client:
        enter(client)
        run_to_its_end(client, name, "decide")


def run_ends(studio: Served | Process, number: int, state: str = "done") -> None:
    """Wait until a run of the decided project, by its number, has ended so."""
    wait_for(
        lambda: [run.state for run in list_runs(studio.folder / "families")][number - 1 :] == [state], WORKS / 1000
    )


@pytest.mark.long
def test_what_is_decided_is_looked_at_published_and_withdrawn(judged_studio):
    with oxigraph() as store:
        studio, page = judged_studio()
        page.goto(f"{studio.place}/project/families#take")
        page.wait_for_selector("#takes a")
        page.fill("#to", f"sparql:{store}/update")
        page.fill("#into", "http://example.org/decided")
        page.fill("#base", "http://example.org/")
        assert page.is_disabled("#write")
        page.click("button[form=publish]")
        page.wait_for_selector("#write:enabled", timeout=WORKS)  # once what would be written was shown
        assert count_triples(store) == 0
        page.click("#write")
        run_ends(studio, 4)
        assert count_triples(store) > 0
        page.wait_for_selector("#write:disabled")
        page.reload()
        page.wait_for_function("() => document.getElementById('into').value === 'http://example.org/decided'")
        page.click("#withdraw-look")
        page.click("#withdraw", timeout=WORKS)
        run_ends(studio, 6)
        assert count_triples(store, "http://example.org/decided") == 0


def count_triples(store: str, graph: str = "") -> int:
    """Count what is in a store, or in one of its graphs."""
    where = f"GRAPH <{graph}> {{ ?s ?p ?o }}" if graph else "GRAPH ?g { ?s ?p ?o }"
    query = f"SELECT (count(*) AS ?n) WHERE {{ {where} }}"
    reply = httpx.post(f"{store}/query", data={"query": query}, headers={"accept": "application/sparql-results+json"})
    return int(reply.json()["results"]["bindings"][0]["n"]["value"])
