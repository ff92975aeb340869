"""A real browser, one for all tests of a process."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # loaded where a test asks for a browser, and not before
    from playwright.sync_api import Browser, BrowserContext, Page, Playwright

NO_CHROMIUM = (
    "No Chromium that runs was found for the browser tests. `make test` installs one where it may; "
    "else name one in the environment variable ACTC_CHROMIUM."
)
# A browser that asks nobody about updates, and runs as root in a container.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_chromium(playwright: Playwright) -> str:
    """Return the path of a Chromium: one that was named, the system's, or Playwright's own; as `tools/prepare` does."""
    own = Path(playwright.chromium.executable_path)
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    named = os.environ.get("ACTC_CHROMIUM")
    for place in (
        [named] if named else [*map(shutil.which, names), *own.parents[2].glob("chromium-*/chrome-linux*/chrome")]
    ):
        # Ubuntu's may be a script that only says where the real one is.
        if place and subprocess.run([place, "--version"], capture_output=True, check=False).returncode == 0:
            return str(place)
    pytest.fail(NO_CHROMIUM)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(playwright), args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def new_page(chromium: Browser) -> Iterator:
    contexts: list[BrowserContext] = []
    problems: list[str] = []
    asked: list[str] = []

    def new(**options) -> Page:
        # Nothing moves, as somebody may wish it: every frame of an animation is drawn by the processor.
        context = chromium.new_context(**{"reduced_motion": "reduce", **options})
        context.set_default_timeout(60_000)  # a busy machine is no fault of the page
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda line: problems.append(line.text) if "Content Security" in line.text else None)
        context.on("request", lambda request: asked.append(request.url))
        return page

    new.asked = asked
    yield new
    for context in contexts:
        context.close()
    assert problems == []
    elsewhere = [url for url in asked if not url.startswith(("http://127.0.0.1:", "file:", "data:"))]
    assert elsewhere == [], "a request left the machine"
