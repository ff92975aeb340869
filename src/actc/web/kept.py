"""What many requests show is worked out once, and kept as the bytes that are sent: the picture, and every card."""

from __future__ import annotations

import json
from typing import Any

from fastapi.responses import Response

from actc.data.begun import version_of
from actc.session import Session
from actc.session.ask import Task
from actc.session.cards import make_cards
from actc.session.status import picture

MOST_CARDS = 2048
"""Cards that are kept: a page gets each several times, first ahead of time and then until it is answered."""


class Kept:
    """The picture and the cards of a session, for use by any thread."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._picture = ("", b"")
        self._cards: tuple[Any, dict[Task, bytes]] = (None, {})

    def picture(self, counts: dict[str, Any]) -> tuple[str, bytes]:
        """Return the picture after these counts (see ``progress``), and a name that another picture does not have."""
        last = self.session.store.value("SELECT max(id) FROM outlook")
        # The advice says whether there is a label and whether the budget is spent: no other answer changes it.
        state = f"{last}.{counts['labels'] > 0:d}.{counts['done']:d}.{counts['budget']}"
        if self._picture[0] != state:
            self._picture = (state, to_bytes(picture(self.session)))
        return self._picture

    def cards(self, tasks: list[Task]) -> bytes:
        """Return the cards of some triples; made anew where names, reasons or texts were added since."""
        when = self.session.reasons
        state = (when, version_of(self.session.names.path))
        if self._cards[0] != state:
            self._cards = (state, {})
        kept = self._cards[1]
        found = {task: card for task in tasks if (card := kept.get(task)) is not None}
        new = [task for task in tasks if task not in found]
        made = make_cards(self.session.names, new, self.session.settings.show_score, when)
        found |= zip(new, map(to_bytes, made), strict=True)
        kept |= found
        for oldest in list(kept)[: max(0, len(kept) - MOST_CARDS)]:
            kept.pop(oldest, None)
        return b"[" + b",".join(found[task] for task in tasks) + b"]"


def to_bytes(value: Any) -> bytes:
    """Return a value as JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def send_json(**parts: Any) -> Response:
    """Answer with an object; parts that are bytes are JSON already."""
    named = (
        b'"%s":' % name.encode() + (part if isinstance(part, bytes) else to_bytes(part)) for name, part in parts.items()
    )
    return Response(b"{" + b",".join(named) + b"}", media_type="application/json")
