"""The report as one self-contained page: what is accepted, how good it is, what to ask next; pictures inside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import numpy as np

from actc.tables.deliver import write_beside
from actc.trust.expect import Share
from actc.trust.intervals import Interval, clopper_pearson
from actc.trust.report import TRUSTED_FROM, RelationLine, Report, as_interval
from actc.trust.svg import histogram, learning_curve, reliability, shares, whisker

MOST_PICTURES = 24
MOST_LINES = 30
"""Relations in the first table; those after them, the smaller ones, can be opened."""
STYLE = """
:root { color-scheme: light dark; --ink: #1b2733; --soft: #5d6b79; --line: #dde3e9; --card: #f6f8fa; --page: #fff;
  --accept: #1c7c54; --ask: #e0a100; --reject: #b9c2cc; --bad: #b3261e; --blue: #0b63a5; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --soft: #9aa7b4; --line: #343d47; --card: #1c232b;
  --page: #12171d; --accept: #4cc38a; --ask: #f1bd3a; --reject: #525d69; --bad: #ff8a80; --blue: #6cb6f5; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 72rem;
  margin: 2rem auto; padding: 0 1.2rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .4rem; } h2 { font-size: 1.2rem; margin: 2.4rem 0 .6rem; }
p { margin: .4rem 0; } .soft, .note { color: var(--soft); } .note { font-size: .9rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: .8rem;
  margin: 1.2rem 0 .6rem; }
.tile { background: var(--card); border-radius: 10px; padding: .8rem 1rem .6rem; }
.tile b { font-size: 1.9rem; display: block; line-height: 1.2; } .tile span { color: var(--soft); font-size: .88rem; }
.tile.first { outline: 2px solid var(--accept); }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr)); gap: 1.2rem; }
.small { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .8rem; }
figure { margin: 0; background: var(--card); border-radius: 10px; padding: .7rem .8rem .5rem; }
figcaption { font-size: .9rem; color: var(--soft); } figcaption b { color: var(--ink); overflow-wrap: anywhere; }
.advice { border-left: 5px solid var(--ask); background: var(--card); padding: .7rem 1rem;
  border-radius: 0 10px 10px 0; }
.advice.stop { border-color: var(--accept); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th { color: var(--soft); font-weight: 600; } th, td { padding: .28rem .5rem; border-bottom: 1px solid var(--line);
  text-align: right; white-space: nowrap; } th:first-child, td:first-child { text-align: left; white-space: normal;
  overflow-wrap: anywhere; min-width: 7rem; } td svg { width: 130px; height: 18px; vertical-align: middle; }
.why { display: inline-block; min-width: 20rem; text-align: left; white-space: normal; }
.badge { border-radius: 99px; padding: .05rem .55rem; font-size: .8rem; border: 1px solid currentColor; }
.badge.trusted { color: var(--accept); } .badge.not { color: var(--bad); } .badge.nothing { color: var(--soft); }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .7rem 1rem;
  overflow-x: auto; }
details { margin: .8rem 0; } summary { cursor: pointer; font-weight: 600; padding: .3rem 0; }
.key i { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin: 0 .3em 0 .9em; }
svg { width: 100%; height: auto; display: block; } td svg { display: inline-block; }
svg .grid { stroke: var(--line); } svg .tick, svg .axis { fill: var(--soft); font-size: 12px; font-family: inherit; }
svg .ideal { stroke: var(--soft); stroke-dasharray: 4 4; } svg .whisker { stroke: var(--blue); stroke-width: 2; }
svg .point { fill: var(--blue); } svg .curve { fill: none; stroke: var(--blue); stroke-width: 2.5; }
svg .band { fill: var(--blue); opacity: .16; } svg .accepted { fill: var(--accept); } svg .asked { fill: var(--ask); }
svg .rejected { fill: var(--reject); } svg .cut { stroke: var(--ink); stroke-width: 2; } svg .doubt { fill: var(--ask);
  opacity: .25; } svg .yes { fill: var(--accept); } svg .no { fill: var(--bad); } svg .axisline { stroke: var(--soft); }
svg .span { fill: var(--blue); opacity: .35; } svg .dot { fill: var(--blue); } svg .span.not { fill: var(--bad); }
svg .dot.not { fill: var(--bad); }
"""


@dataclass(frozen=True)
class Words:
    """How a page speaks of things.

    Parameters
    ----------
    name : callable
        Gives the name of a relation's id.
    sentence : callable
        Gives the sentence of a head, a relation and a tail.
    commands : tuple of str
        What to run next, ready to copy.
    reasons : mapping of (head, relation, tail) to str
        Why a triple may be true or false, of those that are shown; empty where nobody looked.
    accepted : tuple of (head, relation, tail)
        Accepted triples to show with their reasons.
    """

    name: Callable[[str], str] = str
    sentence: Callable[[str, str, str], str] = lambda head, relation, tail: f"{head}  {relation}  {tail}"
    commands: tuple[str, ...] = ()
    reasons: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    accepted: tuple[tuple[str, str, str], ...] = ()

    def why(self, head: str, relation: str, tail: str) -> str:
        """Return the reasons of a triple as a cell of a table."""
        return f'<span class="why">{escape(self.reasons.get((head, relation, tail), ""))}</span>'


def write_page(report: Report, path: str | Path, words: Words | None = None) -> None:
    """Write the page, complete or not at all."""
    words = words or Words()
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="generator" content="actc report">'  # by which the next report knows that it may replace this one
        f"<title>{escape(report.case.name)}: what may be accepted</title><style>{STYLE}</style></head>"
        f"<body><main>{''.join(_body(report, words))}</main></body></html>\n"
    )
    with write_beside(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _body(report: Report, words: Words) -> Iterable[str]:
    yield from _headline(report)
    yield from _next(report, words)
    yield from _accepted(words)
    yield "<h2>Relation by relation</h2>"
    yield _key(("accept", "accept"), ("ask", "too close to call: better asked"), ("reject", "reject"))
    yield from _relation_tables(report, words)
    yield "<h2>Can the numbers be believed?</h2>"
    yield f"<p>{escape(report.rests_on)}</p>"
    yield _belief(report)
    if report.judges:
        yield "<h2>What machine judges brought</h2>"
        yield from (f"<p>{escape(line)}</p>" for line in report.judges)
    yield from _thresholds(report, words)
    yield _small_print(report)


def _headline(report: Report) -> Iterable[str]:
    case, precision = report.case, report.quality["precision"]
    yield f"<h1>{_verdict(report, precision)}</h1>"
    yield (
        f'<p class="soft">{escape(case.name)}: {case.target.stands_for:,} candidates in '
        f"{len(case.target.relation_names):,} relations, {len(case.annotations):,} of them judged by a person, "
        f"method {escape(str(case.method))}.</p>"
    )
    names = {
        "precision": "of the accepted are true",
        "recall": "of the true ones are accepted",
        "accuracy": "of all decisions are right",
        "f1": "F1",
    }
    tiles = [_tile(words, report.quality[name], name == "precision") for name, words in names.items()]
    yield f'<div class="tiles">{"".join(tiles)}</div>'
    yield f'<p class="note">Bounds hold with {report.level:.0%} probability under what is said below.</p>'


def _verdict(report: Report, precision: Share | None) -> str:
    if precision is None:
        return f"None of {report.case.target.stands_for:,} candidates is accepted."
    return (
        f"{report.accepted:,} of {report.case.target.stands_for:,} candidates are accepted; "
        f"about {precision.middle:.0%} of them are true ({precision.low:.0%} to {precision.high:.0%})."
    )


def _tile(words: str, share: Share | None, first: bool) -> str:
    style = "tile first" if first else "tile"
    if share is None:
        return f'<div class="{style}"><b>–</b><span>{words}: nothing is accepted</span></div>'
    bounds = f"{share.low:.0%} to {share.high:.0%}"
    picture = whisker(share.middle, as_interval(share), "")
    return f'<div class="{style}"><b>{share.middle:.0%}</b><span>{words}<br>{bounds}</span>{picture}</div>'


def _next(report: Report, words: Words) -> Iterable[str]:
    yield "<h2>What to do next</h2>"
    style = "advice" if report.advice.go_on else "advice stop"
    doubtful = [line for line in report.relations if line.trust == "not yet"]
    more = ""
    if doubtful:
        names = ", ".join(
            escape(words.name(line.relation)) for line in sorted(doubtful, key=lambda line: -line.accepted)[:5]
        )
        rest = f" and {len(doubtful) - 5} more" if len(doubtful) > 5 else ""
        more = f"<p>Do not trust yet what is accepted of: <b>{names}</b>{rest}.</p>"
    yield f'<div class="{style}"><p><b>{escape(str(report.advice))}</b></p>{more}</div>'
    if words.commands:
        lines = "\n".join(map(escape, words.commands))
        yield f'<p>Run this next:</p><pre tabindex="0" aria-label="Commands to run next">{lines}</pre>'
    if report.questions:
        rows = [
            [
                escape(words.sentence(one.head, one.relation, one.tail)),
                f"{one.score:.3g}",
                f"{one.probability:.0%}",
                f"{one.worth:.2f}",
                *([words.why(one.head, one.relation, one.tail)] if words.reasons else []),
            ]
            for one in report.questions
        ]
        asked = sum(line.ask for line in report.relations)
        yield (
            f"<p>{asked:,} candidates are too close to call: a look at each is worth more than it costs. "
            "Begin with these, the best two of each relation first:</p>"
        )
        head = ["triple", "score", "probably true", "right decisions it brings"]
        yield _table([*head, *(["what the graph says"] if words.reasons else [])], rows)


def _accepted(words: Words) -> Iterable[str]:
    """Say why some triples were accepted, where somebody looked."""
    if words.accepted:
        yield "<h2>Why they were accepted</h2>"
        yield "<p>The surest of them, and the least sure:</p>"
        rows = [[escape(words.sentence(*triple)), words.why(*triple)] for triple in words.accepted]
        yield _table(["accepted triple", "what the graph says"], rows)


def _relation_tables(report: Report, words: Words) -> Iterable[str]:
    """The larger relations are in sight, the others can be opened: five hundred lines are no overview."""
    lines = report.relations
    yield _relation_table(lines[:MOST_LINES], words)
    if len(lines) > MOST_LINES:
        rest = lines[MOST_LINES:]
        doubtful = sum(line.trust == "not yet" for line in rest)
        yield f"<details><summary>{len(rest):,} smaller relations, {doubtful:,} of them not trusted yet</summary>"
        yield f"{_relation_table(rest, words)}</details>"
    yield (
        f'<p class="note"><b>Trusted</b>: with {report.level:.0%} probability, more than {TRUSTED_FROM:.0%} of what is '
        "accepted of the relation is true (the lower end of its bar). It does not say that all of it is. "
        "<b>Not yet</b>: it may be less; judge some more of this relation, or leave out what is accepted of it.</p>"
    )


def _relation_table(lines: Sequence[RelationLine], words: Words) -> str:
    most = max(line.triples for line in lines)
    rows = []
    for line in lines:
        share, style = line.quality["precision"], "not" if line.trust == "not yet" else ""
        bar = shares(line.surely_accepted, line.ask, line.triples - line.surely_accepted - line.ask, most)
        rows.append(
            [
                escape(words.name(line.relation)),
                f"{line.answered_true} / {line.answers}",
                bar,
                f"{line.accepted:,} / {line.triples:,}",
                f"{line.ask:,}",
                "–" if share is None else whisker(share.middle, as_interval(share), style),
                "–" if share is None else f"{share.middle:.0%} ({share.low:.0%}–{share.high:.0%})",
                f'<span class="badge {line.trust.split()[0]}">{line.trust}</span>',
            ]
        )
    head = ["relation", "true / judged", "decided", "accepted / all", "ask", "true among accepted", "share", "trust"]
    return _table(head, rows)


def _belief(report: Report) -> str:
    edges = np.array([0.1, 0.25, 0.4, 0.6, 0.75, 0.9])
    which = np.searchsorted(edges, report.said, side="right")
    labels = report.case.annotations.labels
    bounds = []
    for at in range(len(edges) + 1):
        mine = labels[which == at]
        bounds.append(clopper_pearson(int(mine.sum()), len(mine), report.level) if len(mine) else Interval(0.0, 1.0))
    figures = []
    if len(labels):
        words = (
            "<b>Are probabilities kept?</b> Each judged triple's probability, reckoned without its own answer, against "
            "how often people said true. Dots on the dashed line: yes."
        )
        figures.append(_figure(reliability(report.said, labels, bounds, edges), words))
    counts, values = zip(*report.curve, strict=True)
    picture = learning_curve(counts, [value.middle for value in values], [as_interval(value) for value in values])
    words = "<b>What have answers brought?</b> Expected share of right decisions after so many answers, with bounds."
    figures.append(_figure(picture, words))
    return f'<div class="two">{"".join(figures)}</div>'


def _thresholds(report: Report, words: Words) -> Iterable[str]:
    case = report.case
    yield "<h2>Where the thresholds are</h2>"
    yield _key(("accept", "accepted"), ("reject", "rejected"), ("ask", "where the threshold may lie"))
    low, high = np.quantile(case.pool.scores, [0.002, 0.998])
    span = Interval(float(low), float(high)) if high > low else Interval(float(low) - 1, float(high) + 1)
    figures = []
    for line in report.relations[:MOST_PICTURES]:
        mine = case.pool.relations == case.pool.relation_names.places[line.relation]
        judged = mine[case.annotations.rows]
        scores = case.pool.scores[case.annotations.rows][judged]
        interval = None if line.interval is None else Interval(*line.interval)
        picture = histogram(case.pool.scores[mine], line.cut, interval, scores, case.annotations.labels[judged], span)
        without = "all accepted" if line.cut < 0 else "none accepted"
        cut = f"threshold {line.cut:.3g}" if np.isfinite(line.cut) else without
        caption = f"<b>{escape(words.name(line.relation))}</b><br>{cut}, {line.answers} judged"
        figures.append(_figure(picture, caption))
    yield f'<div class="small">{"".join(figures)}</div>'
    if len(report.relations) > MOST_PICTURES:
        yield f'<p class="note">The {MOST_PICTURES} largest of {len(report.relations)} relations are drawn.</p>'


def _small_print(report: Report) -> str:
    return (
        '<h2>What is promised, and when</h2><p class="note">Probabilities come from one logistic model over all '
        "relations, which share strength; the bounds add how far such a model was found off on pools it was not made "
        "for, corrected by answers whose chance to be asked is known. They hold for candidates drawn like this pool, "
        "scored by the same model, and for answers that are right. New candidates whose scores are distributed differently "
        "need a look first; an audit of the accepted triples needs no model at all. Numbers of a single relation rest "
        "on the model more than the overall ones do.</p>"
    )


def _figure(picture: str, words: str) -> str:
    return f"<figure>{picture}<figcaption>{words}</figcaption></figure>"


def _key(*items: tuple[str, str]) -> str:
    parts = "".join(f'<i style="background: var(--{colour})"></i>{words}' for colour, words in items)
    return f'<p class="note key">{parts}</p>'


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are HTML already."""
    line = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    region = f'<div class="scroll" tabindex="0" role="region" aria-label="{head[0]}, {head[1]}">'
    return f"{region}<table><thead><tr>{line}</tr></thead><tbody>{body}</tbody></table></div>"
