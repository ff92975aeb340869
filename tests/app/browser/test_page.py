"""What people do on the page, done in a real browser."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Page

from actc.session import Session, Settings, start_session
from actc.session.status import history
from tests.app.browser.conftest import PHONE, READY, open_card, press, run, saved, wait_for
from tests.conftest import later


def said(session: Session) -> list[str]:
    return [line["said"] for line in history(session)][::-1]


def test_a_new_user_judges_undoes_skips_leaves_and_goes_on(sample, start_process, new_page):
    server = start_process(sample)
    session = Session(sample)
    page = new_page()
    open_card(page, server.links["you"])
    assert page.url == server.origin + "/"  # the token is gone from the address bar
    for number in range(30):
        before = page.inner_text("#sentence")
        press(page, "tf"[number % 2])
        page.wait_for_function("before => document.getElementById('sentence').innerText !== before", arg=before)
    press(page, "s")
    press(page, "s")
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
    press(again, "t")
    saved(again)
    assert len(session.annotations()) == 30


def test_fifty_presses_as_fast_as_they_go_double_none_and_judge_no_card_unread(sample, start_server, new_page):
    server = start_server(sample)
    page = new_page()
    open_card(page, server.links["you"])
    for _ in range(50):
        page.keyboard.press("t")
    press(page, "f")
    saved(page)
    lines = history(Session(sample))
    assert len({line["triple"] for line in lines}) == len(lines) >= 2
    assert min(line["seconds"] for line in lines) >= 0.25
    assert lines[0]["said"] == "false"


@pytest.mark.parametrize("how", ["click", later("tap")])
def test_a_double_click_or_tap_judges_one_card(sample, start_server, new_page, how):
    page = new_page(**(PHONE if how == "tap" else {}))
    open_card(page, start_server(sample).links["you"])
    if how == "click":
        page.dblclick("#answers .true")
    else:
        box = page.locator("#answers .true").bounding_box()
        for _ in range(2):
            page.touchscreen.tap(box["x"] + 9, box["y"] + 9)
    saved(page)
    lines = history(Session(sample))
    assert lines[-1]["said"] == "true"
    # On a busy machine the second may come late; it is then taken as an answer to a card that was there to be read.
    assert min(line["seconds"] for line in lines) >= 0.25


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


@pytest.mark.long
def test_answers_given_while_the_server_is_dead_arrive_when_it_is_back(sample, start_process, new_page):
    server = start_process(sample)
    page = new_page()
    open_card(page, server.links["you"])
    page.wait_for_timeout(500)
    server.stop(signal.SIGKILL)
    for key in "tff":
        press(page, key)
    page.wait_for_function("() => document.getElementById('saved').textContent.includes('not saved yet')")
    server.start()
    saved(page)
    assert said(Session(sample)) == ["true", "false", "false"]


def test_the_next_card_and_the_picture_follow_the_answers(sample, start_server, new_page):
    server = start_server(sample)
    page = new_page()
    open_card(page, server.links["you"])
    for key in "tftftftf":
        press(page, key)
    page.wait_for_function("() => document.getElementById('advice').textContent.includes('is expected to correct')")
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
    press(page, "f")
    saved(page)
    line = history(Session(sample))[0]
    assert (line["said"], line["note"]) == ("false", "not true, after all")
    assert line["seconds"] > 0


def test_with_no_overlap_two_annotators_see_different_triples(sample, start_server, new_page):
    server = start_server(sample, "Ada", "Bob")
    pages = [new_page(), new_page()]
    for page, name in zip(pages, ("Ada", "Bob"), strict=True):
        open_card(page, server.links[name])
    for _ in range(10):
        for page in pages:
            press(page, "t")
    for page in pages:
        saved(page)
    judged = [line["triple"] for line in history(Session(sample))]
    assert len(judged) == len(set(judged)) == 20


def test_a_phone_shows_everything_and_takes_taps(sample, start_server, new_page):
    server = start_server(sample)
    page = new_page(**PHONE)
    open_card(page, server.links["you"])
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for name in ("False", "Not sure", "True", "Undo", "Note"):
        box = page.get_by_role("button", name=name).bounding_box()
        assert box["y"] + box["height"] <= 844, f"{name} is not on the screen"
    page.get_by_role("button", name="False").tap()
    session = Session(sample)
    wait_for(lambda: said(session) == ["false"])
    page.get_by_role("button", name="Undo").tap()
    wait_for(lambda: said(session) == ["false", "undo"])


def touch(page: Page, start: tuple[float, float], by: tuple[float, float]) -> None:
    """Move a finger over the screen: real touch events, which the browser may take for scrolling."""
    browser = page.context.new_cdp_session(page)
    for share in (0, 0.1, 0.3, 0.6, 1):
        point = {"x": start[0] + share * by[0], "y": start[1] + share * by[1]}
        kind = "touchMove" if share else "touchStart"
        browser.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    browser.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    browser.detach()


PARTS = [".question", "#sentence", "#meanings dt", "#meanings dd", "#context h2", "#context li", ".why"]
SWIPES = {"true": (150, 8), "false": (-150, -8)}


def middle_of(page: Page, part: str) -> tuple[float, float]:
    box = page.locator(part).first.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """A session whose cards have every part, links too, and fit on a phone."""
    lines = [f"Q{i}\tP1\tQ{i + 50}\t0.{i}\n" for i in range(1, 50)]
    (tmp_path / "scores.tsv").write_text("".join(lines))
    (tmp_path / "graph.tsv").write_text("Q100\tP1\tQ101\nQ102\tP1\tQ103\n")
    (tmp_path / "names.json").write_text(json.dumps({"P1": {"name": "is near", "description": "not far"}}))
    names = [tmp_path / "names.json"]
    start_session(tmp_path / "linked", tmp_path / "scores.tsv", Settings(), names, tmp_path / "graph.tsv")
    return tmp_path / "linked"


@pytest.mark.parametrize("answer", ["true", later("false")])
def test_a_swipe_answers_from_every_part_of_the_card(linked, start_server, new_page, answer):
    server, session = start_server(linked), Session(linked)
    page = new_page(**PHONE)
    open_card(page, server.links["you"])
    for number, part in enumerate([*PARTS, "#meanings a", "corner"], start=1):
        box = page.locator("#card").bounding_box()
        start = (box["x"] + 200, box["y"] + box["height"] - 8) if part == "corner" else middle_of(page, part)
        page.wait_for_selector(READY)
        touch(page, start, SWIPES[answer])
        wait_for(lambda: said(session) == [answer] * number)
    assert page.url == server.origin + "/", "a swipe that began on a link opened it"


@pytest.mark.parametrize(
    "by",
    [(30, 0), (6, -180), later((0, -400)), later((0, 200)), (100, 100)],
    ids=["short", "up", "far", "down", "askew"],
)
def test_a_movement_that_is_no_clear_swipe_answers_nothing(linked, start_server, new_page, by):
    server = start_server(linked)
    page = new_page(**PHONE)
    before = open_card(page, server.links["you"])
    touch(page, middle_of(page, "#sentence"), by)
    page.wait_for_timeout(300)
    assert page.inner_text("#sentence") == before
    assert page.evaluate("document.getElementById('card').style.transform") == ""
    assert said(Session(linked)) == []


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """A session whose cards need scrolling, and differ much in length."""
    (tmp_path / "scores.tsv").write_text("a\tr\tb\t0.1\nb\tr\ta\t0.2\nc\tr\td\t0.3\n")
    names = {key: {"name": f"{key} name", "description": "word " * 900} for key in "ab"}
    (tmp_path / "names.json").write_text(json.dumps(names))
    start_session(tmp_path / "long", tmp_path / "scores.tsv", Settings(), [tmp_path / "names.json"])
    return tmp_path / "long"


def bring_up(page: Page, length: str) -> None:
    """Answer until a long card, or a short one, is shown."""
    long_one = "document.getElementById('meanings').innerText.length > 500"
    while page.evaluate(long_one) != (length == "long"):
        before = page.inner_text("#sentence")
        press(page, "s")
        page.wait_for_function("before => document.getElementById('sentence').innerText !== before", arg=before)


@pytest.mark.long
def test_a_finger_that_reads_on_answers_nothing_in_the_middle_of_a_card_or_at_its_end(long, start_server, new_page):
    server, session = start_server(long), Session(long)
    page = new_page(**PHONE)
    open_card(page, server.links["you"])
    bring_up(page, "long")
    saved(page)
    before = said(session)
    touch(page, (195, 500), (0, -300))
    wait_for(lambda: page.evaluate("scrollY") > 100)
    page.evaluate("scrollBy(0, document.getElementById('card').getBoundingClientRect().bottom - 600)")
    for _ in range(4):
        touch(page, (195, 500), (0, -300))
    press(page, "t")
    saved(page)
    assert said(session) == [*before, "true"]


def test_a_card_that_a_finger_drags_away_does_not_widen_the_page(linked, start_server, new_page):
    page = new_page(**PHONE)
    open_card(page, start_server(linked).links["you"])
    browser = page.context.new_cdp_session(page)
    for x in (100, 150, 250, 380):
        point = {"type": "touchMove" if x > 100 else "touchStart", "touchPoints": [{"x": x, "y": 300}]}
        browser.send("Input.dispatchTouchEvent", point)
    page.wait_for_function("() => document.getElementById('card').style.transform.includes('translate')")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("visualViewport.width") == 390


@pytest.mark.parametrize("size", [later((1240, 760)), (640, 400), later((390, 844))], ids=["wide", "at 200 %", "phone"])
def test_the_answers_stay_in_their_place_whatever_the_card_holds(long, start_server, new_page, size):
    page = new_page(viewport={"width": size[0], "height": size[1]})
    open_card(page, start_server(long).links["you"])
    places = set()
    for length in ("long", "short"):
        bring_up(page, length)
        box = page.get_by_role("button", name="True").bounding_box()
        places.add((box["x"], box["y"]))
        assert box["y"] + box["height"] <= size[1]
    assert len(places) == 1


@pytest.mark.parametrize("size", [(1240, 760), later((640, 400))], ids=["wide", "at 200 %"])
def test_arrow_down_reads_on_and_answers_nothing(long, start_server, new_page, size):
    page = new_page(viewport={"width": size[0], "height": size[1]})
    open_card(page, start_server(long).links["you"])
    bring_up(page, "long")
    before = page.inner_text("#sentence")
    for _ in range(200):
        page.keyboard.press("ArrowDown")
    page.wait_for_function(
        """() => document.querySelector(".why").getBoundingClientRect().bottom
            <= document.querySelector(".dock").getBoundingClientRect().top"""
    )  # the end of the card is reached
    assert page.inner_text("#sentence") == before


def test_letters_go_by_place_on_a_keyboard_without_latin_letters(sample, start_server, new_page):
    page = new_page()
    open_card(page, start_server(sample).links["you"])
    for character, code in (("е", "KeyT"), ("а", "KeyF"), ("ы", "KeyS"), ("t", "KeyK"), ("y", "KeyT")):
        page.wait_for_selector(READY)
        page.evaluate(
            "([key, code]) => document.dispatchEvent(new KeyboardEvent('keydown', { key, code, bubbles: true }))",
            [character, code],
        )
    saved(page)
    assert said(Session(sample)) == ["true", "false", "unsure", "true"]  # a Latin y is no t, wherever it is


def test_not_sure_of_the_last_one_twice_ends_with_a_word(tmp_path, start_server, new_page):
    (tmp_path / "scores.tsv").write_text("a\tr\tb\t1.0\n")
    start_session(tmp_path / "session", tmp_path / "scores.tsv")
    page = new_page()
    open_card(page, start_server(tmp_path / "session").links["you"])
    assert page.inner_text("#count") == "0 of 1"
    for answers in (["unsure"], ["unsure", "unsure"]):
        page.wait_for_selector(READY)
        press(page, "s")
        wait_for(lambda answers=answers: said(Session(tmp_path / "session")) == answers)
    page.wait_for_function("() => document.getElementById('message-title').textContent === 'Nothing is left for you'")
    assert page.inner_text("#count") == "0 of 1 · 1 not sure"


@pytest.mark.long
def test_the_counter_never_falls_back_with_repeats_and_second_opinions(tmp_path, start_server, new_page):
    run("start", tmp_path / "session", "--sample", "--budget", 60, "--overlap", 1.0, "--repeats", 0.5)
    server = start_server(tmp_path / "session", "Ada", "Bob")
    for name in ("Ada", "Bob"):
        page = new_page()
        page.add_init_script(
            """window.seen = [];
            new MutationObserver(() => window.seen.push(parseInt(document.getElementById('count')?.textContent)))
                .observe(document, { subtree: true, childList: true, characterData: true });"""
        )
        open_card(page, server.links[name])
        for _ in range(40):
            press(page, "t")
        saved(page)
        seen = [number for number in page.evaluate("window.seen") if number is not None]
        assert seen == sorted(seen)


def test_a_note_that_is_being_written_survives_a_reload(sample, start_server, new_page):
    page = new_page()
    before = open_card(page, start_server(sample).links["you"])
    page.keyboard.press("n")
    page.keyboard.type("half a thou")
    page.reload()
    page.wait_for_selector(READY)
    assert page.inner_text("#sentence") == before
    assert page.input_value("#note") == "half a thou"
    page.click("#answers .true")
    saved(page)
    assert history(Session(sample))[0]["note"] == "half a thou"
    assert page.input_value("#note") == ""


GUIDELINES = (
    "# Usually\n\nWhat is **usually** true.\n\n- see [here](https://example.org)\n- <b>not</b> snake_case_names\n"
)


def test_guidelines_are_shown_once_and_whenever_help_is_asked_for(tmp_path, start_server, new_page):
    (tmp_path / "guide.md").write_text(GUIDELINES)
    run("start", tmp_path / "s", "--sample", "--guidelines", tmp_path / "guide.md", "--title", "My facts")
    page = new_page()
    page.goto(start_server(tmp_path / "s").links["you"])
    page.wait_for_selector("#help[open]")
    assert page.inner_text("#guidelines strong") == "usually"
    assert page.inner_text("#guidelines li:last-child") == "<b>not</b> snake_case_names"
    assert page.get_attribute("#guidelines a", "href") == "https://example.org"
    assert page.inner_text("#title") == "My facts"
    page.keyboard.press("t")  # no answer while the guidelines are read
    page.click("#help-close")
    page.reload()
    page.wait_for_selector(READY)
    page.wait_for_timeout(500)
    assert page.locator("#help[open]").count() == 0
    page.keyboard.press("?")
    page.wait_for_selector("#help[open]")
    assert said(Session(tmp_path / "s")) == []


def test_a_wrong_link_is_answered_with_a_page(sample, start_server, new_page):
    page = new_page()
    for path, title in (("/j/wrong", "This link does not work"), ("/nowhere", "There is no such page")):
        page.goto(start_server(sample).origin + path)
        assert page.get_by_role("heading", level=1).inner_text() == title
        assert "{" not in page.inner_text("body")


HOSTILE = {
    "script": "<script>document.title = 'broken'</script><img src=x onerror=\"document.title = 'broken'\">",
    "quotes": "\"'`--></h1>&lt;&amp;",
    "bidi": "abc\u202egnp.exe\u202c \u2066\u200f",
    "long": "x" * 10_000,
}


@pytest.mark.parametrize("options", [{}, later(PHONE)], ids=["wide", "phone"])
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
        press(page, "tf"[number % 2])
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


@pytest.mark.parametrize("scheme", [later("light"), "dark"])
def test_text_has_enough_contrast(shared, start_server, new_page, scheme):
    server = start_server(shared, "Ada", "Bob")
    page = new_page(color_scheme=scheme, reduced_motion="reduce")
    for name, key in (("Ada", "t"), ("Bob", "f")):
        open_card(page, server.links[name])
        press(page, key)
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
