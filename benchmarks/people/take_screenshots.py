"""Judge a little on the packaged sample, and take the pictures of docs/images.

Run: python -m benchmarks.people.take_screenshots
With a folder, pictures of odd sessions to look at go there instead: 45 relations, no names, long ones, right to left.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.people.serving import Server
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from tests.browser import ARGUMENTS, find_chromium
from tests.web.browser.conftest import READY, press

from actc.bench.sample import load_sample
from actc.session.settings import SessionInputs, Settings
from actc.session.start import copy_sample, create_session

IMAGES = Path("docs/images")
WIDE = {"viewport": {"width": 1240, "height": 760}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}


def open_page(browser: Browser, link: str, **options: Any) -> Page:
    """Open a link in a browser of its own."""
    page = browser.new_context(reduced_motion="reduce", **options).new_page()
    page.goto(link)
    return page


def judge(page: Page, truth: dict[str, bool], count: int, wrong_every: int) -> None:
    """Answer as the sample's labels do, now and then wrongly, a few times a second."""
    page.wait_for_selector("#card:not([hidden])")
    for number in range(1, count + 1):
        true = truth[bare(page.inner_text("#sentence"))] ^ (number % wrong_every == 0)
        press(page, "s" if number == 9 else "t" if true else "f")
        page.wait_for_selector(READY)
    page.wait_for_timeout(3000)


def sentences() -> dict[str, bool]:
    """Return every sentence of the sample's pool, and whether it is true."""
    sample = load_sample()
    rows = range(len(sample.valid))
    return {bare(sample.sentence(*sample.valid.triple(row))): bool(sample.valid_labels[row]) for row in rows}


def bare(sentence: str) -> str:
    """Return a sentence without what tells namesakes apart."""
    return " ".join(re.sub(r" \([^()]*\)", "", sentence).split())


def save(page: Page, name: str, whole: bool = False, folder: Path = IMAGES) -> None:
    """Take a picture in 256 colours, which is a third of the size."""
    data = page.screenshot(full_page=whole)
    Image.open(BytesIO(data)).convert("RGB").quantize(256).save(folder / f"{name}.png", optimize=True)


ODD = {
    "relations": lambda i: (f"Person {i}", f"{RELATIONS[i % 9]} {i % 45}", f"Place {i % 7}"),
    "nameless": lambda i: (f"Q{4200 + i}", f"P{19 + i % 3}", f"Q{64 + i % 5}"),
    "long": lambda i: (LONG, "is the officially registered holder of the office of", f"{LONG}, second part, {i}"),
    "right-to-left": lambda i: ("نجيب محفوظ", "مكان الولادة", f"القاهرة {i % 5}"),
}
"""Triples of odd sessions, as people would read them."""
RELATIONS = ("place of birth", "employer", "award received", "member of", "spouse", "sport", "genre", "mother", "cause")
LONG = "The Society for the Preservation of Very Long and Rather Tiresome Names of Institutions in Llanfairpwllgwyngyll"


def start_odd(folder: Path, name: str) -> Path:
    """Start a session whose names are odd."""
    rng = np.random.default_rng(0)
    rows = [(f"Q{4200 + i}", f"P{19 + i % 45}", f"Q{64 + i % 5}") for i in range(400)]
    words = {part: text for i, row in enumerate(rows) for part, text in zip(row, ODD[name](i), strict=True)}
    lines = ["\t".join((*row, f"{rng.normal():.4f}")) for row in rows]
    (folder / f"{name}.tsv").write_text("head\trelation\ttail\tscore\n" + "\n".join(lines) + "\n")
    (folder / f"{name}.json").write_text(json.dumps({key: {"name": text} for key, text in words.items()}))
    names = () if name == "nameless" else (folder / f"{name}.json",)
    create_session(
        folder / name, folder / f"{name}.tsv", Settings(overlap=1.0, title=name.capitalize()), SessionInputs(names)
    ).close()
    return folder / name


def take_odd(browser: Browser, session: Path, name: str, out: Path) -> None:
    """Let two people differ in an odd session, and take its pages: wide, on a phone, the owner's, the decision."""
    server = Server(session, ["Ada", "Bob"])
    server.start()
    try:
        links = {who: f"http://127.0.0.1:{server.port}/j/{token}" for who, token in server.tokens.items()}
        for who, key in (("Ada", "t"), ("Bob", "f")):
            page = open_page(browser, links[who], **WIDE)
            page.wait_for_selector("#card:not([hidden])")
            press(page, *(6 * key))
            page.wait_for_timeout(2500)
        save(page, f"{name}-judge", folder=out)
        page.keyboard.press("h")
        page.wait_for_timeout(500)
        save(page, f"{name}-answers", folder=out)
        phone = open_page(browser, links["Ada"], **PHONE)
        phone.wait_for_selector("#card:not([hidden])")
        save(phone, f"{name}-phone", folder=out)
        for scheme, size in (("light", WIDE), ("dark", PHONE)):
            owner = open_page(browser, links["owner"].replace("/j/", "/o/"), **size, color_scheme=scheme)
            owner.wait_for_selector("#review li")
            owner.wait_for_timeout(1500)
            save(owner, f"{name}-owner-{scheme}", whole=True, folder=out)
            owner.click("#decide")
            owner.wait_for_selector("#settle[open]")
            save(owner, f"{name}-decide-{scheme}", folder=out)
    finally:
        server.stop()


def take(browser: Browser, server: Server) -> None:
    """Let two people judge, and take all pictures."""
    links = {name: f"http://127.0.0.1:{server.port}/j/{token}" for name, token in server.tokens.items()}
    ada = open_page(browser, links["Ada"], **WIDE)
    judge(ada, sentences(), 24, 100)
    judge(open_page(browser, links["Bob"], **WIDE), sentences(), 18, 3)
    judged = "() => /[2-9] judged/.test(document.getElementById('relations').textContent)"
    ada.wait_for_function(judged, timeout=120_000)
    save(ada, "judge-light")
    owner = open_page(browser, links["owner"].replace("/j/", "/o/"), **WIDE)
    owner.wait_for_selector("#review li")
    owner.wait_for_timeout(500)
    save(owner, "owner-light", whole=True)


def main() -> None:
    """Start a session on the sample, a server and a browser."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        if sys.argv[1:]:
            browser = playwright.chromium.launch(executable_path=find_chromium(playwright), args=ARGUMENTS)
            out = Path(sys.argv[1])
            out.mkdir(exist_ok=True, parents=True)
            for name in ODD:
                take_odd(browser, start_odd(Path(folder), name), name, out)
            browser.close()
            return
        scores, names, graph = copy_sample(Path(folder))
        session = Path(folder) / "session"
        settings = Settings(budget=100, overlap=0.5, title="Everyday facts")
        create_session(session, scores, settings, SessionInputs(names, graph=graph)).close()
        browser = playwright.chromium.launch(executable_path=find_chromium(playwright), args=ARGUMENTS)
        server = Server(session, ["Ada", "Bob"])
        server.start()
        try:
            take(browser, server)
        finally:
            server.stop()
            browser.close()


if __name__ == "__main__":
    main()
