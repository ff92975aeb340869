"""Go the studio's way with the graph of the tutorial, and take the pictures docs/images/studio-*.png.

Run: python -m benchmarks.people.take_studio_screenshots
"""

from __future__ import annotations

import signal
import sys
import tempfile
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from tests.browser import ARGUMENTS, find_chromium
from tests.web.browser.conftest import PHONE, Process, wait_for
from tests.web.studio.test_studio_in_browser import drop, judge, next_is, slide_to

from actc.bench.sample.demo import make_families
from actc.web.studio.runs import list_runs

IMAGES, GRAPH = Path("docs/images"), Path("docs/families.tsv")
READY = {
    "data": "#card:not([hidden])",
    "run": "#runs li",
    "people": "#persons li",
    "decide": "#learning canvas",
    "take": "#takes a",
}
TALLEST = 2000  # pixels of a picture: what is further down is seen on the page


def save(page: Page, name: str, out: Path) -> None:
    """Take a picture in 128 colours, which is a third of the size."""
    picture = Image.open(BytesIO(page.screenshot(full_page=True))).convert("RGB")
    picture = picture.crop((0, 0, picture.width, min(picture.height, TALLEST)))
    picture.quantize(128).save(out / f"studio-{name}.png", optimize=True)


def go(page: Page, studio: Process) -> None:
    """Drop the graph, judge 30 cards as the whole families say, and decide."""
    facts = set(zip(*make_families(np.random.default_rng(0)).columns().values(), strict=True))
    page.goto(studio.links["studio"])
    page.wait_for_selector("#projects li")
    drop(page, GRAPH)
    page.wait_for_selector("#card:not([hidden])")
    page.click("#next-go")
    next_is(page, "judge")
    page.click("#tab-people")
    card = page.context.new_page()
    card.goto(studio.origin + str(page.get_attribute("#judge-now", "href")))
    judge(card, facts, 30, lambda said: card.keyboard.press(said[0]))
    card.close()
    page.fill("#person", "Ada")
    page.click("#add button")
    next_is(page, "decide")
    page.click("#tab-decide")
    page.click("#guarantee")
    next_is(page, "take")
    page.click("#tab-decide")
    page.wait_for_selector("#rows tr")
    slide_to(page, 80)
    page.click("#guarantee")
    wait_for(lambda: [run.state for run in list_runs(studio.folder / "families")] == ["done"] * 3)


def take(browser: Browser, studio: Process, out: Path) -> None:
    """Take every page of the project, light, and one on a phone."""
    page = browser.new_context(reduced_motion="reduce", viewport={"width": 1200, "height": 900}).new_page()
    page.goto(studio.links["studio"])
    page.wait_for_selector("#projects li")
    save(page, "home-light", out)
    for tab in READY:
        show(page, f"{page.url.partition('project')[0]}project/families#{tab}", tab)
        save(page, f"{tab}-light", out)
    phone = browser.new_context(reduced_motion="reduce", **PHONE).new_page()
    phone.goto(studio.links["studio"])
    phone.wait_for_selector("#projects li")
    show(phone, f"{phone.url}project/families#decide", "decide")
    save(phone, "decide-phone", out)


def show(page: Page, address: str, tab: str) -> None:
    """Open a tab, and wait until all of it is drawn."""
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector(READY[tab])
    page.wait_for_timeout(1000)


def main() -> None:
    """Start a studio and a browser."""
    out = Path(sys.argv[1]) if sys.argv[1:] else IMAGES
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        studio = Process(Path(folder) / "studio", command="studio")
        browser = playwright.chromium.launch(executable_path=find_chromium(playwright), args=ARGUMENTS)
        try:
            go(browser.new_context(viewport={"width": 1200, "height": 900}).new_page(), studio)
            take(browser, studio, out)
        finally:
            browser.close()
            studio.stop(signal.SIGTERM)


if __name__ == "__main__":
    main()
