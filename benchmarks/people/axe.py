"""Look at every page with axe-core, in both themes, wide and on a phone: how many rules of accessibility are broken?

axe-core is not part of the house; get it with ``npm install axe-core`` and name its file. The judge's and the owner's
pages (with their dialogs), the page of a wrong link, the report and the demo are made here; other pages, such as the
one that ``actc paper`` wrote, are named.

Run: python -m benchmarks.people.axe node_modules/axe-core/axe.min.js actc-paper/index.html
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from benchmarks.people.serving import Server
from playwright.sync_api import Browser, Page, sync_playwright
from tests.app.browser.conftest import ARGUMENTS, find_chromium

from actc.sample import load_sample
from actc.sample.run_demo import run_demo
from actc.session import Judgement, Session, Settings, start_session
from actc.session.examine import write_report
from actc.session.start import sample_files

SIZES = {"wide": {"width": 1240, "height": 760}, "phone": {"width": 390, "height": 844}}
RUN = (
    "axe.run(document, {resultTypes: ['violations']}).then(found => [axe.version, "
    "found.violations.map(one => `${one.id} (${one.impact}) at ${one.nodes[0].html.slice(0, 100)}`)])"
)


@dataclass(frozen=True)
class Look:
    """One look at one page."""

    page: str
    theme: str
    size: str
    violations: int
    axe: str


def look(page: Page, axe: str, name: str, theme: str, size: str) -> Look:
    """Run axe on a page as it stands; say what it found."""
    page.evaluate(axe)
    version, found = page.evaluate(RUN)
    for problem in found:
        print(f"{name}, {theme}, {size}: {problem}")
    return Look(name, theme, size, len(found), version)


def answer_some(session: Session) -> None:
    """Let somebody judge thirty triples, so that there is something to report on."""
    labels, person = load_sample().valid_labels, session.add_annotator("Cleo")
    for task in session.ask(person, 30):
        said = "true" if labels[task.triple] else "false"
        session.record(person, [Judgement(said, task.triple, f"k{task.triple}")])
    session.close()


def judge_pages(open_page: Callable[[str], Page], links: dict[str, str]) -> Iterator[tuple[str, Page]]:
    """Return the pages of a session, one state after the other."""
    for who, key in (("Ada", "t"), ("Bob", "f")):
        page = open_page(links[who])
        page.wait_for_selector("#card:not([hidden])")
        page.wait_for_selector("#help[open]")
        yield "help", page
        page.keyboard.press("Escape")
        for _ in range(3):
            page.keyboard.press(key)
            page.wait_for_timeout(150)
        page.keyboard.press("n")
        page.keyboard.type("hm")
        page.wait_for_timeout(2500)
        yield "judge", page
        page.click("#mine-button")
        page.wait_for_selector("#mine-list li")
        yield "own answers", page
    owner = open_page(links["owner"].replace("/j/", "/o/"))
    owner.wait_for_selector("#review li")
    owner.click("#all summary")
    owner.wait_for_selector("#all-rows tr")
    yield "owner", owner
    owner.click("#decide")
    owner.wait_for_selector("#settle[open]")
    yield "decide", owner
    yield "wrong link", open_page(links["owner"].rpartition("/")[0] + "/no")


def look_at_all(browser: Browser, axe: str, links: dict[str, str], files: dict[str, Path]) -> Iterator[Look]:
    """Look at every page in both themes and sizes."""
    for theme in ("light", "dark"):
        for size, viewport in SIZES.items():
            options: dict[str, Any] = {"viewport": viewport, "color_scheme": theme, "bypass_csp": True}
            context = browser.new_context(reduced_motion="reduce", **options)

            def open_page(link: str, context: Any = context) -> Page:
                page: Page = context.new_page()
                page.goto(link)
                return page

            for name, page in judge_pages(open_page, links):
                yield look(page, axe, name, theme, size)
            for name, file in files.items():
                yield look(open_page(file.absolute().as_uri()), axe, name, theme, size)
            context.close()


def main() -> None:
    """Make the pages, look at them, and write a row for each look."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("axe", type=Path)
    parser.add_argument("pages", type=Path, nargs="*")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/people/axe.csv"))
    options = parser.parse_args()
    scores, names, graph = sample_files()
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        folder = Path(home)
        settings = Settings(
            overlap=1.0, guidelines="# Judge\n\nSee [this](https://example.org).", title="Everyday facts"
        )
        answer_some(start_session(folder / "session", scores, settings, names, graph))
        write_report(folder / "session", folder / "report.html")
        run_demo(folder / "demo", repeats=2)
        pages = {"report": folder / "report.html", "demo": next((folder / "demo").glob("*.html"))}
        pages |= {path.parent.name: path for path in options.pages}
        server = Server(folder / "session", ["Ada", "Bob"])
        server.start()
        browser = playwright.chromium.launch(executable_path=find_chromium(playwright), args=ARGUMENTS)
        links = {who: f"http://127.0.0.1:{server.port}/j/{token}" for who, token in server.tokens.items()}
        try:
            found = list(look_at_all(browser, options.axe.read_text(encoding="utf-8"), links, pages))
        finally:
            server.stop()
            browser.close()
    with open(options.out, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Look)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, found))
    print(f"{len(found)} looks, {sum(one.violations for one in found)} violations")


if __name__ == "__main__":
    main()
