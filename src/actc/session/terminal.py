"""Judge in a terminal: one triple at a time, one key for each answer."""

from __future__ import annotations

import secrets
import textwrap
import time
from collections.abc import Callable
from typing import Any

from actc.errors import SessionError
from actc.session.cards import make_card, plain
from actc.session.lease_queue import Annotator, Judgement
from actc.session.machines import clean_text
from actc.session.session import Session
from actc.session.status import picture, progress, what_is_left, write_count

KEYS = {"t": "true", "f": "false", "s": "unsure", "u": "undo", "q": "quit"}
HELP = "[t] true   [f] false   [s] not sure   [u] undo   [n] note   [q] quit"
ENDS = {
    "more": "The next triples are not chosen yet; come back in a moment.",
    "paused": "The owner paused the session; come back later.",
    "certified": "The audit has enough answers. Thank you!",
    "spent": "The budget is spent. Thank you!",
    "others": "Other people have the rest; come back later. Thank you!",
    "none": "Nothing is left for you to judge. Thank you!",
}
PATIENCE = 20.0
"""Seconds to wait for a planner before a person reads that nothing is left."""


def judge_in_terminal(
    session: Session,
    annotator: Annotator,
    read_key: Callable[[], str],
    read_line: Callable[[str], str],
    write: Callable[[str], Any],
) -> int:
    """Ask until the budget is spent, nothing is left, or the annotator quits; return how many answers were given.

    ``read_key`` returns the next key pressed, ``read_line`` shows a prompt and returns a line of text (for notes),
    ``write`` prints a line.
    """
    answers, note = 0, ""
    while (card := _next_card(session, annotator)) is not None:
        write("\n".join(draw(card, progress(session, annotator), picture(session)["advice"])))
        shown = time.monotonic()
        while (key := read_key().lower()) not in KEYS:
            if key == "n":
                note = read_line("Note: ")
            elif key in ("", "\x03", "\x04"):
                return answers
        answer = KEYS[key]
        if answer == "quit":
            return answers
        triple = None if answer == "undo" else card["triple"]
        judgement = Judgement(answer, triple, secrets.token_hex(12), round(time.monotonic() - shown, 2), note)
        try:
            session.record(annotator, [judgement])
        except SessionError as error:
            write(str(error))
            continue
        answers += 1
        note = ""
        if answer != "undo" and card.get("when") == "after":
            write("\n".join(_reasons(card)))
    write(ENDS[what_is_left(session, annotator)])
    return answers


def _next_card(session: Session, annotator: Annotator) -> dict[str, Any] | None:
    until = time.monotonic() + PATIENCE
    while True:
        tasks = session.ask(annotator, 3)
        if tasks:
            return make_card(session.names, tasks[0], session.settings.reasons)
        if what_is_left(session, annotator) != "more" or time.monotonic() > until:
            return None
        time.sleep(0.2)


def draw(card: dict[str, Any], counts: dict[str, Any], advice: str) -> list[str]:
    """Return a card as lines of text; characters that move the cursor or hide text are replaced."""
    lines = ["", f"── {write_count(counts)} " + "─" * 40, "", f"  {clean(plain(card['sentence']))}?", ""]
    for role in ("head", "relation", "tail"):
        named = card[role]
        about = " · ".join(clean(named[part]) for part in ("types", "description", "link") if named.get(part))
        lines += _wrap(f"{clean(named['name'])}: {about}") if about else []
    sections = {
        "Taken from": [card["source"]],
        "Already in the graph": card["known"],
        "Others of this relation in the graph": map(plain, card["examples"]),
        "Also in the graph": map(plain, [*card["head_facts"], *card["tail_facts"]]),
    }
    for title, texts in sections.items():
        text = "; ".join(clean(one) for one in texts if one)
        lines += ["", *_wrap(f"{title}: {text}")] if text else []
    if card.get("when") == "beside":
        lines += ["", *_reasons(card)]
    return [*lines, "", *_wrap(f"Why this one? {card['why']}"), *_wrap(advice), "", f"  {HELP}"]


def _reasons(card: dict[str, Any]) -> list[str]:
    """Return the reasons for and against a triple, a line each."""
    lines = [f"{'For' if one['for'] else 'Against'}: {clean(one['text'])}" for one in card["reasons"]]
    return [piece for line in lines for piece in _wrap(line)]


def clean(text: str) -> str:
    """Return text without characters that a terminal would obey, at a length that fits."""
    shown = clean_text(text)
    return shown if len(shown) <= 500 else f"{shown[:500]}… ({len(shown):,} characters)"


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(text, 92, initial_indent="  ", subsequent_indent="    ")
