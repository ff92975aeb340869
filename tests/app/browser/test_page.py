"""What people do on the page, done in a real browser."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import Page

from actc.session import Session, Settings, start_session
from actc.session.status import history
from tests.app.browser.conftest import run, wait_for


def open_card(page: Page, link: str) -> str:
    """Open a link, wait for the first card, and return its sentence."""
    page.goto(link)
    page.wait_for_selector("#card:not([hidden])")
    return page.inner_text("#sentence")


def saved(page: Page) -> None:
    page.wait_for_function("() => document.getElementById('saved').textContent === 'All saved'")


def said(session: Session) -> list[str]:
    return [line["said"] for line in history(session, None, 9999)][::-1]


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    run("start", tmp_path / "session", "--sample", "--budget", 200)
    return tmp_path / "session"


def test_a_new_user_judges_undoes_skips_leaves_and_goes_on(sample, start_server, new_page):
    server = start_server(sample)
    session = Session(sample)
    page = new_page()
    open_card(page, server.links["you"])
    assert page.url == server.origin + "/"  # the token is gone from the address bar
    for number in range(30):
        before = page.inner_text("#sentence")
        page.keyboard.press("tf"[number % 2])
        page.wait_for_function("before => document.getElementById('sentence').innerText !== before", arg=before)
    page.keyboard.press("s")
    page.keyboard.press("ArrowDown")
    saved(page)
    assert said(session) == ["true", "false"] * 15 + ["unsure"] * 2
    assert page.inner_text("#count").startswith("30 of 200")

    for _ in range(3):
        page.keyboard.press("u")
    saved(page)
    assert said(session)[-3:] == ["undo"] * 3
    assert len(session.annotations()) == 29
    where = page.inner_text("#sentence")
    page.context.close()
    server.stop()
    server.start()

    again = new_page()
    assert open_card(again, server.links["you"]) == where
    again.keyboard.press("t")
    saved(again)
    assert len(session.annotations()) == 30


def test_fifty_presses_as_fast_as_they_go_lose_none_and_double_none(sample, start_server, new_page):
    server = start_server(sample)
    page = new_page()
    open_card(page, server.links["you"])
    for _ in range(50):
        page.keyboard.press("t")
    saved(page)
    session = Session(sample)
    judged = [line["triple"] for line in history(session, None, 9999)]
    assert len(judged) == len(set(judged)) == 50


def test_a_held_key_answers_once(sample, start_server, new_page):
    server = start_server(sample)
    page = new_page()
    open_card(page, server.links["you"])
    page.keyboard.down("f")
    for _ in range(10):
        page.keyboard.down("f")
    page.keyboard.up("f")
    saved(page)
    assert said(Session(sample)) == ["false"]


def test_answers_given_while_the_server_is_dead_arrive_when_it_is_back(sample, start_server, new_page):
    server = start_server(sample)
    page = new_page()
    open_card(page, server.links["you"])
    page.wait_for_timeout(500)
    server.stop(signal.SIGKILL)
    for key in "tff":
        page.keyboard.press(key)
    page.wait_for_function("() => document.getElementById('saved').textContent.includes('not saved yet')")
    server.start()
    saved(page)
    assert said(Session(sample)) == ["true", "false", "false"]


def test_the_next_card_and_the_picture_follow_the_answers(sample, start_server, new_page):
    server = start_server(sample)
    page = new_page()
    open_card(page, server.links["you"])
    for key in "tftftftf":
        page.keyboard.press(key)
    page.wait_for_function("() => document.getElementById('advice').textContent.startsWith('Ten more answers')")
    page.wait_for_selector("#curve svg .line")
    assert page.locator("#relations li").count() > 3
    assert "Why this one?" in page.inner_text(".why")


def test_a_note_goes_with_the_answer(sample, start_server, new_page):
    server = start_server(sample)
    page = new_page()
    open_card(page, server.links["you"])
    page.keyboard.press("n")
    page.keyboard.type("not true, after all")  # t and f are letters here, not answers
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    saved(page)
    line = history(Session(sample))[0]
    assert (line["said"], line["note"]) == ("false", "not true, after all")
    assert line["seconds"] > 0


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    run("start", tmp_path / "session", "--sample", "--budget", 40, "--overlap", 1.0)
    return tmp_path / "session"


def test_two_annotators_side_by_side_and_the_owner_settles(shared, start_server, new_page):
    server = start_server(shared, "Ada", "Bob")
    ada, bob, owner = new_page(), new_page(), new_page()
    open_card(ada, server.links["Ada"])
    for _ in range(4):
        ada.keyboard.press("t")
    saved(ada)
    open_card(bob, server.links["Bob"])
    for _ in range(4):
        bob.keyboard.press("f")
    saved(bob)
    session = Session(shared)
    assert Counter(line["name"] for line in history(session)) == {"Ada": 4, "Bob": 4}
    owner.goto(server.links["owner"])
    owner.wait_for_selector("#review li")
    assert owner.url == server.origin + "/owner"
    assert owner.locator("#review li").count() == 4
    assert "Ada: true · Bob: false" in owner.inner_text("#review li:first-child .who")
    owner.click("#review li:first-child button.true")
    wait_for(lambda: owner.locator("#review li").count() == 3)
    assert session.annotations().labels.tolist() == [True]
    owner.fill("#name", "Cleo")
    owner.click("#add button")
    owner.wait_for_function("() => document.getElementById('added').textContent.includes('Cleo: http://127.0.0.1')")
    cleo = owner.inner_text("#added").split()[1]
    open_card(new_page(), cleo)


def test_with_no_overlap_two_annotators_see_different_triples(sample, start_server, new_page):
    server = start_server(sample, "Ada", "Bob")
    pages = [new_page(), new_page()]
    for page, name in zip(pages, ("Ada", "Bob"), strict=True):
        open_card(page, server.links[name])
    for _ in range(10):
        for page in pages:
            page.keyboard.press("t")
    for page in pages:
        saved(page)
    judged = [line["triple"] for line in history(Session(sample))]
    assert len(judged) == len(set(judged)) == 20


PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


def test_a_phone_shows_everything_and_takes_taps_and_swipes(sample, start_server, new_page):
    server = start_server(sample)
    page = new_page(**PHONE)
    open_card(page, server.links["you"])
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for name in ("False", "Not sure", "True"):
        box = page.get_by_role("button", name=name).bounding_box()
        assert box["height"] >= 44
        assert box["y"] + box["height"] <= 740
    page.get_by_role("button", name="False").tap()
    session = Session(sample)
    wait_for(lambda: said(session) == ["false"])
    swipe(page, 230)
    wait_for(lambda: said(session) == ["false", "true"])
    swipe(page, -230)
    wait_for(lambda: said(session) == ["false", "true", "false"])
    swipe(page, 30)  # too short to mean anything
    page.wait_for_timeout(300)
    assert len(said(session)) == 3


def swipe(page: Page, by: int) -> None:
    page.evaluate(
        """by => {
            const card = document.getElementById('card');
            const start = { bubbles: true, pointerId: 7, pointerType: 'touch', clientX: 180, clientY: 300 };
            card.dispatchEvent(new PointerEvent('pointerdown', start));
            card.dispatchEvent(new PointerEvent('pointermove', { ...start, clientX: 180 + by }));
            card.dispatchEvent(new PointerEvent('pointerup', { ...start, clientX: 180 + by }));
        }""",
        by,
    )


HOSTILE = {
    "script": "<script>document.title = 'broken'</script><img src=x onerror=\"document.title = 'broken'\">",
    "quotes": "\"'`--></h1>&lt;&amp;",
    "bidi": "abc\u202egnp.exe\u202c \u2066\u200f",
    "long": "x" * 10_000,
}


@pytest.mark.parametrize("options", [{}, PHONE], ids=["wide", "phone"])
def test_hostile_names_are_shown_as_text(tmp_path, start_server, new_page, options):
    lines = [f"{name}\tr\tb\t0.{number}\n" for number, name in enumerate(HOSTILE, start=1)]
    (tmp_path / "scores.tsv").write_text("".join(lines))
    names = {key: {"name": text, "description": text, "types": text} for key, text in HOSTILE.items()}
    names["r"] = {"name": HOSTILE["script"], "description": HOSTILE["long"]}
    (tmp_path / "names.json").write_text(json.dumps(names))
    start_session(
        tmp_path / "session", tmp_path / "scores.tsv", Settings(title=HOSTILE["script"]), [tmp_path / "names.json"]
    )
    server = start_server(tmp_path / "session", "<b>Ada</b>")
    page = new_page(**options)
    open_card(page, server.links["<b>Ada</b>"])
    seen = set()
    for number in range(len(HOSTILE)):
        seen |= set(page.locator("#sentence .head").all_text_contents())
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
        assert page.get_by_role("button", name="True", exact=False).is_visible()
        page.keyboard.press("tf"[number % 2])
    assert seen == set(HOSTILE.values())
    saved(page)
    assert page.title() == "Judge triples · actc"
    assert page.locator("main script, main img, main b").count() == 0


def test_without_a_link_there_is_nothing_to_see(sample, start_server, new_page):
    server = start_server(sample)
    page = new_page()
    page.goto(server.origin)
    page.wait_for_function("() => document.getElementById('message-title').textContent.includes('your own link')")
    assert page.locator("#card").is_hidden()


CONTRAST = """() => {
    const channel = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const parse = (text) => text.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const behind = (node) => {
        for (; node; node = node.parentElement) {
            const colour = parse(getComputedStyle(node).backgroundColor);
            if (colour.length < 4 || colour[3] > 0) return colour;
        }
        return [255, 255, 255];
    };
    const worst = [];
    for (const node of document.querySelectorAll("body *")) {
        const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
        if (!own || !node.checkVisibility() || node.closest("svg, .hidden, :disabled")) continue;
        const [a, b] = [light(parse(getComputedStyle(node).color)), light(behind(node))];
        worst.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), node.className + node.textContent.slice(0, 30)]);
    }
    return worst.sort((a, b) => a[0] - b[0]).slice(0, 3);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(shared, start_server, new_page, scheme):
    server = start_server(shared, "Ada", "Bob")
    page = new_page(color_scheme=scheme, reduced_motion="reduce")
    for name, key in (("Ada", "t"), ("Bob", "f")):
        open_card(page, server.links[name])
        page.keyboard.press(key)
        saved(page)
        assert page.evaluate(CONTRAST)[0][0] >= 4.5, page.evaluate(CONTRAST)
    page.goto(server.links["owner"])
    page.wait_for_selector("#review li")
    assert page.evaluate(CONTRAST)[0][0] >= 4.5, page.evaluate(CONTRAST)


def test_the_keyboard_alone_and_a_screen_reader_are_enough(sample, start_server, new_page):
    server = start_server(sample)
    page = new_page(reduced_motion="reduce")
    sentence = open_card(page, server.links["you"])
    assert " ".join(page.inner_text("#announce").split()) == " ".join(sentence.split())
    assert page.get_by_role("progressbar", name="Triples judged").get_attribute("aria-valuemax") == "200"
    assert page.get_by_role("heading", level=1).first.is_visible()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.said") == "true":
            break
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.press("Enter")
    saved(page)
    assert said(Session(sample)) == ["true"]
    assert page.evaluate("getComputedStyle(document.getElementById('card')).animationName") == "none"
    controls = "[...document.querySelectorAll('button, textarea')]"
    assert page.evaluate(f"() => {controls}.every(one => one.textContent.trim() || one.labels.length)")
