"""Small pictures as SVG text that takes its colours from the page around it: no library, sharp at any size."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from actc.data.triples import BoolArray, FloatArray
from actc.decide.estimate import Share
from actc.decide.words import CANDIDATES, Sought

INLINE = (190, 20)  # of pictures in a cell of a table


class Frame:
    """A picture with a plot area; ``x`` and ``y`` turn values into places."""

    def __init__(
        self,
        size: tuple[int, int],
        x_range: tuple[float, float],
        y_range: tuple[float, float],
        margins: tuple[int, int, int, int] = (10, 12, 34, 44),
    ) -> None:
        self.width, self.height = size
        self.top, self.right, self.bottom, self.left = margins
        self.x_range, self.y_range = x_range, y_range
        self.parts: list[str] = []

    def x(self, value: float) -> float:
        """Return where a value stands from the left."""
        low, high = self.x_range
        return self.left + (self.width - self.left - self.right) * (value - low) / ((high - low) or 1.0)

    def y(self, value: float) -> float:
        """Return where a value stands from the top."""
        low, high = self.y_range
        return (
            self.height - self.bottom - (self.height - self.top - self.bottom) * (value - low) / ((high - low) or 1.0)
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        """Draw a line between two places."""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{style}"/>')

    def box(self, x: float, y: float, width: float, height: float, style: str, title: str = "") -> None:
        """Draw a filled rectangle; the title shows when the mouse rests on it."""
        inner = f"<title>{escape(title)}</title>" if title else ""
        shape = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}"'
        self.parts.append(f'<rect {shape} class="{style}">{inner}</rect>')

    def dot(self, x: float, y: float, radius: float, style: str, title: str = "") -> None:
        """Draw a filled circle."""
        inner = f"<title>{escape(title)}</title>" if title else ""
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" class="{style}">{inner}</circle>')

    def path(self, points: Sequence[tuple[float, float]], style: str, closed: bool = False) -> None:
        """Draw a line through places, or the area inside of them."""
        text = " L".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<path d="M{text}{"Z" if closed else ""}" class="{style}"/>')

    def text(self, x: float, y: float, words: str, anchor: str = "middle", style: str = "tick") -> None:
        """Write words at a place."""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{style}">{escape(words)}</text>'
        )

    def ticks_y(self, values: Sequence[float]) -> None:
        """Draw a grid line and a number at each value."""
        for value in values:
            self.line(self.left, self.y(value), self.width - self.right, self.y(value), "grid")
            self.text(self.left - 6, self.y(value) + 4, f"{value:.0%}", "end")

    def ticks_x(self, places: Sequence[float], words: Sequence[str], title: str) -> None:
        """Write words under places of the axis, and the axis' title."""
        for place, word in zip(places, words, strict=True):
            self.text(place, self.height - self.bottom + 15, word)
        middle = (self.left + self.width - self.right) / 2
        self.text(middle, self.height - 3, title, style="axis")

    def svg(self, label: str) -> str:
        """Return the picture."""
        head = f'<svg viewBox="0 0 {self.width} {self.height}" role="img" aria-label="{escape(label, quote=True)}">'
        return head + "".join(self.parts) + "</svg>"


def histogram(
    scores: FloatArray,
    cut: float,
    interval: tuple[float, float] | None,
    judged: FloatArray,
    labels: BoolArray,
    span: tuple[float, float],
) -> str:
    """Draw one relation's scores, what is accepted, where the cut may lie, and the answers given."""
    frame = Frame((300, 150), span, (0, 1), (6, 8, 30, 8))
    counts, edges = np.histogram(np.clip(scores, *span), bins=28, range=span)
    most = max(1, int(counts.max()))
    if interval is not None:
        left, right = (frame.x(float(np.clip(bound, *span))) for bound in interval)
        frame.box(left, frame.top, right - left, frame.height - frame.top - frame.bottom, "doubt")
    for count, a, b in zip(counts.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        edge = float(np.clip(cut, a, b))
        for start, stop, style in ((a, edge, "rejected"), (edge, b, "accepted")):
            if stop > start and count:
                top = frame.y(count / most)
                frame.box(frame.x(start), top, frame.x(stop) - frame.x(start) - 0.4, frame.y(0) - top, style)
    if span[0] <= cut <= span[1]:
        frame.line(frame.x(cut), frame.top, frame.x(cut), frame.y(0), "cut")
    for score, label in zip(np.clip(judged, *span).tolist(), labels.tolist(), strict=True):
        frame.dot(frame.x(score), frame.y(0) + 6, 2.6, "yes" if label else "no")
    frame.line(frame.left, frame.y(0), frame.width - frame.right, frame.y(0), "axisline")
    for value, anchor in zip(span, ("start", "end"), strict=True):
        frame.text(frame.x(value), frame.height - 6, f"{value:.3g}", anchor)
    return frame.svg("Scores of one relation, its threshold and the answers")


def whisker(share: Share, style: str) -> str:
    """Draw a share with its interval on a line from 0 to 1."""
    frame = Frame(INLINE, (0, 1), (0, 1), (0, 6, 0, 6))
    for value in (0, 0.5, 1):
        frame.line(frame.x(value), 3, frame.x(value), 17, "grid")
    frame.box(frame.x(share.low), 7, frame.x(share.high) - frame.x(share.low), 6, f"span {style}")
    frame.dot(frame.x(share.middle), 10, 4.2, f"dot {style}")
    return frame.svg(f"{share.middle:.0%}, between {share.low:.0%} and {share.high:.0%}")


def shares(accepted: int, rejected: int, most: int, sought: Sought = CANDIDATES) -> str:
    """Draw how many of a relation's triples are accepted and rejected, on a scale up to ``most``."""
    frame = Frame(INLINE, (0, max(most, 1)), (0, 1), (0, 2, 0, 2))
    start = 0
    for count, style, word in ((accepted, "accepted", sought.accepted), (rejected, "rejected", sought.rejected)):
        if count:
            length = max(frame.x(start + count) - frame.x(start), 0.8)
            frame.box(frame.x(start), 4, length, 12, style, f"{count:,} {word}")
        start += count
    return frame.svg(f"{accepted} {sought.accepted}, {rejected} {sought.rejected}")
