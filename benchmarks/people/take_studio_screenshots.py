"""Go the studio's way with the graph of the tutorial, and take the pictures docs/images/studio-*.png.

Run: python -m benchmarks.people.take_studio_screenshots
"""

from __future__ import annotations

import sys
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from tests.browser import ARGUMENTS, find_chromium
from tests.web.studio.test_studio_in_browser import Studio, drop, judge, state_is

from actc.bench.sample.better_graph import make_families

IMAGES, GRAPH = Path("docs/images"), Path("docs/families.tsv")
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1200, "height": 900}},
    "dark": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}
READY = {
    "data": "#card:not([hidden])",
    "run": "#runs li",
    "people": "#persons li",
    "decide": "#multiples svg",
    "take": "#takes a",
}
TALLEST = 2000  # pixels of a picture: what is further down is seen on the page


def save(page: Page, name: str, out: Path) -> None:
    """Take a picture in 128 colours, which is a third of the size."""
    picture = Image.open(BytesIO(page.screenshot(full_page=True))).convert("RGB")
    picture = picture.crop((0, 0, picture.width, min(picture.height, TALLEST)))
    picture.quantize(128).save(out / f"studio-{name}.png", optimize=True)


def go(page: Page, studio: Studio) -> None:
    """Drop the graph, judge 30 cards as the whole families say, and decide."""
    facts = set(zip(*make_families(np.random.default_rng(0)).columns().values(), strict=True))
    page.goto(studio.link)
    page.wait_for_selector("#projects li")
    drop(page, GRAPH)
    page.wait_for_selector("#card:not([hidden])")
    page.click("#next-go")
    state_is(page, "Judge cards")
    page.click("#tab-people")
    card = page.context.new_page()
    card.goto(studio.origin + str(page.get_attribute("#judge-now", "href")))
    judge(card, facts, 30, lambda said: card.keyboard.press(said[0]))
    card.close()
    page.fill("#person", "Ada")
    page.click("#add button")
    state_is(page, "Decide")
    page.click("#tab-decide")
    page.wait_for_selector("#rows tr")
    page.focus("#level")
    while page.inner_text("#level-now") != "80\u00a0%":
        page.keyboard.press("ArrowRight")
    page.click("#promise")
    state_is(page, "take it with you")


def take(browser: Browser, studio: Studio, out: Path) -> None:
    """Take every page in every look."""
    for look, options in LOOKS.items():
        page = browser.new_context(reduced_motion="reduce", **options).new_page()
        page.goto(studio.link)
        page.wait_for_selector("#projects li")
        save(page, f"home-{look}", out)
        for tab, ready in READY.items():
            page.goto(f"{studio.origin}/project/families#{tab}")
            page.reload()
            page.wait_for_selector(ready)
            page.wait_for_timeout(1000)
            save(page, f"{tab}-{look}", out)


def main() -> None:
    """Start a studio and a browser."""
    out = Path(sys.argv[1]) if sys.argv[1:] else IMAGES
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        studio = Studio(Path(folder) / "studio", "--host", "0.0.0.0")
        browser = playwright.chromium.launch(executable_path=find_chromium(playwright), args=ARGUMENTS)
        try:
            go(browser.new_context(viewport={"width": 1200, "height": 900}).new_page(), studio)
            take(browser, studio, out)
        finally:
            browser.close()
            studio.stop()


if __name__ == "__main__":
    main()
