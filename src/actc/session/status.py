"""The state of a session: progress, the refits, what each person did, how far people agree, and where they do not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from actc.data.text_files import in_json
from actc.errors import FileError
from actc.session.cards import make_card
from actc.session.cases import parts_of, words_of
from actc.session.lease_queue import Annotator, lease_clock, leased_at
from actc.session.session import Session
from actc.session.settings import Settings

MOST_POINTS, MOST_RELATIONS = 120, 24
NEEDED = {"labels", "expected", "low", "high"}  # of a refit, on the pages
AS_JUDGED = "In estimates and guarantees a triple is true if the majority of these people judge it true."


# One statement: every look and every answer asks for it.
_PROGRESS = """
    SELECT labels, (SELECT coalesce(max(id), 0) FROM judgement) AS judgements,
        (SELECT count(*) FROM task WHERE answered > 0 AND labelled = 0) AS unsure,
        (SELECT answered FROM annotator WHERE id = ?) AS mine,
        (SELECT count(*) FROM (SELECT 1 FROM annotator WHERE kind = 'person' AND link >= 0 LIMIT 2)) = 1 AS alone
    FROM total
"""


def progress(session: Session, annotator: Annotator | None = None) -> dict[str, Any]:
    """Return the counts that change with every answer."""
    [row] = session.store.rows(_PROGRESS, (None if annotator is None else annotator.id,))
    settings = session.settings
    budget, triples, counts = settings.budget, settings.triples, dict(row)
    counts |= {"budget": budget, "triples": triples, "goal": min(budget, triples), "done": row["labels"] >= budget}
    return counts | {"alone": bool(row["alone"])}


def write_count(counts: dict[str, Any]) -> str:
    """Write progress against the budget, or the number of candidates if those are fewer."""
    if counts["labels"] > counts["goal"]:
        return f"{counts['labels']:,} triples judged, budget {counts['goal']:,}"
    return f"{counts['labels']:,} of {counts['goal']:,} triples judged"


def describe_session(session: Session) -> list[str]:
    """Return sentences: progress, how far people agree, and why nothing is planned where that is so."""
    lines = [f"{write_count(progress(session))}."]
    measured = agreement(session)
    if measured["shared"]:
        alpha = "–" if measured["krippendorff"] is None else f"{measured['krippendorff']:.2f}"
        lines += [f"Agreement on {measured['shared']:,} shared triples: Krippendorff's alpha {alpha}.", AS_JUDGED]
    if failure := session.read_failure():
        lines.append(f"The last attempt to plan questions failed: {failure}")
    return lines


def what_is_left(session: Session, annotator: Annotator) -> str:
    """Return why an annotator has no lease.

    More are being planned (``more``); the owner paused the session; an audit has enough answers (``certified``); the
    budget is spent; others have the rest; or nothing (``none``) is left for this annotator.
    """
    counts = progress(session)
    if session.settings.paused:
        return "paused"
    if session.certified:
        return "certified"
    if counts["done"]:
        return "spent"
    fresh = counts["triples"] - int(session.store.value("SELECT count(*) FROM task"))
    if fresh <= 0:  # some that were given out may be free again; to count those takes many times as long
        given_out = "SELECT triple FROM task WHERE answered > 0 UNION SELECT triple FROM lease"
        fresh = counts["triples"] - int(session.store.value(f"SELECT count(*) FROM ({given_out})"))
    leased = session.store.rows(
        "SELECT count(DISTINCT triple) AS triples, coalesce(max(annotator != ?1), 0) AS others "
        f"FROM lease JOIN task USING (triple) WHERE {leased_at('?2')} AND labelled = 0",
        (annotator.id, lease_clock()),
    )[0]
    if fresh > 0 and counts["labels"] + leased["triples"] < counts["budget"]:
        return "more"
    return "others" if leased["others"] else "none"


def _page_words(settings: Settings) -> dict[str, Any]:
    """Return the words of the pages; an audit's pages show how many of the accepted ones are true."""
    words = words_of(settings)
    accepted, true = words.accepted.capitalize(), words.true.capitalize()
    if settings.is_audit:
        return asdict(words) | {
            "by_relation": f"{true} among the judged, relation by relation",
            "share": f"Share that is {words.true}",
            "now": f"of the judged triples are {words.true}",
            "soon": f"The share that is {words.true} appears here with the first answer.",
        }
    count = len(parts_of(settings)[0][0])  # the pages are about the first part
    base = f"all {count:,} {words.things}"
    if settings.candidates > count:
        base = f"the {count:,} {words.things} that may be asked about, of {settings.candidates:,}"
    return asdict(words) | {
        "by_relation": f"{accepted} of {base}",
        "share": "Expected accuracy",
        "now": f"of the decisions on {base} should be right now",
        "soon": "Expected accuracy appears here once the method has an estimate.",
    }


def picture(session: Session) -> dict[str, Any]:
    """Return what the refits expect: accuracy by number of labels, the latest cuts, and when to stop."""
    refits = _refits(session)
    latest = refits[-1] if refits else None
    # As the last refit left them, those with most labels first.
    lines = json.loads(session.store.value("SELECT content FROM relations") or "[]")[:MOST_RELATIONS]
    return {
        "curve": [
            [one["labels"], one["expected"], one["low"], one["high"]] for one in refits if one["expected"] is not None
        ],
        "relations": [line | {"name": session.names.of(line["relation"]).name} for line in lines],
        "audit": session.settings.is_audit,
        "words": _page_words(session.settings),
        "advice": write_advice(latest, progress(session)),
    }


def _refits(session: Session) -> list[dict[str, Any]]:
    """Return the refits, oldest first; evenly thinned out where there are many."""
    rows = session.store.rows("SELECT content FROM refit ORDER BY id")
    chosen = np.linspace(0, len(rows) - 1, min(len(rows), MOST_POINTS)).astype(int)
    try:
        refits = [json.loads(rows[i]["content"]) for i in chosen.tolist()]
    except (ValueError, TypeError):
        refits = [None]
    if not all(isinstance(one, dict) and one.keys() >= NEEDED for one in refits):
        raise FileError(f"{session.store.path}: a refit in it is damaged; put back a copy of the session.")
    return refits


def write_advice(refit: dict[str, Any] | None, counts: dict[str, Any]) -> str:
    """Write how many decisions the last answers changed, so that people can see when to stop."""
    if refit is not None and "verdict" in refit:
        return str(refit["verdict"])
    spent = f"The budget of {counts['budget']:,} answers is spent. " if counts["done"] else ""
    if refit is None or not counts["labels"]:
        return spent + "Judge a few triples to see an estimate of the accuracy."
    if refit["changed"] is not None:
        return f"{spent}The last answers changed {refit['changed']:.0%} of the decisions."
    return spent + "A few more answers will show whether they still change decisions."


def people(session: Session, annotators: Sequence[Annotator] | None = None) -> list[dict[str, Any]]:
    """Return what each annotator did: counts, speed, and how often they agree with the majority of the others."""
    work = {row["annotator"]: {name: row[name] for name in NO_WORK} for row in session.store.rows(_WORK)}
    compared = {annotator: counts for annotator, *counts in session.store.rows(_COMPARED)}
    lines = []
    for one in annotators or session.annotators():
        line: dict[str, Any] = {"name": one.name, "kind": one.kind, "void": one.link < 0, **work.get(one.id, NO_WORK)}
        if one.kind == "person":
            line["reliability"] = in_json(Reliability.of(*compared.get(one.id, (0, 0))), words=False)
        lines.append(line)
    return lines


# Counted by SQLite, which lets annotators' requests run meanwhile; a loop in Python would not.
_PRESENT = (
    "SELECT annotator, id, answer, seconds, at FROM judgement AS j WHERE answer != 'undo' "
    "AND NOT EXISTS (SELECT 1 FROM judgement AS u WHERE u.undoes = j.id)"
)
_WORK = f"""
    WITH present AS ({_PRESENT}),
    placed AS (
        SELECT *, coalesce(seconds < 1, 0) AS hasty,
            sum(coalesce(seconds >= 1, 1)) OVER (PARTITION BY annotator ORDER BY id) AS stretch,
            row_number() OVER (PARTITION BY annotator, seconds IS NULL ORDER BY seconds) AS place,
            count(seconds) OVER (PARTITION BY annotator) AS timed
        FROM present),
    haste AS (
        SELECT annotator, max(hasty) AS hasty FROM (
            SELECT annotator, sum(hasty) AS hasty FROM placed GROUP BY annotator, stretch) GROUP BY annotator)
    SELECT annotator, haste.hasty, count(*) AS judged, sum(answer = 'true') AS "true", sum(answer = 'false') AS "false",
        sum(answer = 'unsure') AS unsure,
        avg(seconds) FILTER (WHERE place IN ((timed + 1) / 2, (timed + 2) / 2)) AS seconds, max(at) AS last
    FROM placed JOIN haste USING (annotator) GROUP BY annotator
"""
_COMPARED = (
    "SELECT annotator, count(*), sum((balance - weight > 0) = label) FROM vote "
    "JOIN (SELECT triple, sum(weight) AS balance FROM vote GROUP BY triple) USING (triple) "
    "WHERE kind = 'person' AND balance != weight GROUP BY annotator"
)
# ``hasty``: the most answers in a row that took less than a second; no one reads a card so fast for long.
NO_WORK = {"hasty": 0, "judged": 0, "true": 0, "false": 0, "unsure": 0, "seconds": None, "last": None}


@dataclass(frozen=True)
class Reliability:
    """How often a person or a judge agrees with other people."""

    compared: int = 0  # triples judged by both
    right: float = float("nan")  # the share of equal answers; NaN where none is compared
    low: float = float("nan")  # its 90% interval (Beta posterior, uniform prior)
    high: float = float("nan")

    @classmethod
    def of(cls, compared: int, equal: int) -> Reliability:
        """Return the share of equal answers among those that are compared."""
        from scipy.special import betaincinv  # not scipy.stats, which takes a second to load

        low, high = betaincinv(equal + 1, compared - equal + 1, [0.05, 0.95])
        return cls(compared, equal / compared, float(low), float(high)) if compared else cls()


_SHARED = (
    "SELECT count(*), sum(rated), sum(trues), sum(trues * (rated - trues) / (rated - 1.0)) FROM "
    "(SELECT count(*) AS rated, sum(label) AS trues FROM vote WHERE kind = 'person' GROUP BY triple HAVING rated > 1)"
)


def agreement(session: Session) -> dict[str, Any]:
    """Return how far people agree: the number of ``shared`` triples, and Krippendorff's alpha, None if not defined.

    The owner's answers are no ratings.
    """
    [(shared, ratings, trues, unequal)] = session.store.rows(_SHARED)
    mixed = shared and trues * (ratings - trues)
    return {"shared": shared, "krippendorff": 1 - unequal * (ratings - 1) / mixed if mixed else None}


def own_answers(session: Session, annotator: Annotator, most: int) -> list[dict[str, Any]]:
    """Return an annotator's current answers on cards, newest first, each with the key to undo it."""
    rows = session.store.rows(
        "SELECT answer.triple, key, answer, note FROM answer JOIN judgement ON judgement = judgement.id "
        "WHERE answer.annotator = ? AND purpose IN ('new', 'shared', 'again') ORDER BY answer.judgement DESC LIMIT ?",
        (annotator.id, most),
    )
    return [dict(row) | {"sentence": session.sentence(row["triple"])} for row in rows]


def history(session: Session) -> list[dict[str, Any]]:
    """Return all judgements, newest first, those that were taken back too."""
    rows = session.store.rows(
        "SELECT j.id, at, name, kind, triple, head, relation, tail, answer, purpose, selection, sampling_frame, "
        "inclusion_probability, round, key, seconds, note, shown, j.probability, undoes "
        "FROM judgement AS j JOIN task USING (triple) JOIN annotator ON annotator = annotator.id ORDER BY j.id DESC"
    )
    return [dict(row) for row in rows]


_BY_OWNER = "SELECT triple FROM answer JOIN annotator ON annotator = id WHERE kind = 'owner'"
KINDS = {
    "differ": "SELECT triple FROM answer JOIN annotator ON annotator = id WHERE kind = 'person' AND label IS NOT NULL "
    f"AND triple NOT IN ({_BY_OWNER}) GROUP BY triple HAVING min(label) != max(label) ORDER BY triple",
    "unsure": f"SELECT triple FROM task WHERE answered > 0 AND labelled = 0 AND triple NOT IN ({_BY_OWNER}) "
    "ORDER BY triple",
    "noted": "SELECT answer.triple FROM judgement JOIN answer ON answer.judgement = judgement.id "
    "JOIN annotator ON answer.annotator = annotator.id WHERE note != '' AND kind = 'person' "
    "GROUP BY answer.triple ORDER BY max(judgement.id) DESC",
}
"""Triples that wait for the owner's answer; those with a note stay when it is given, the newest note first."""


def count_reviews(session: Session) -> dict[str, int]:
    """Count the triples of each kind."""
    return {kind: int(session.store.value(f"SELECT count(*) FROM ({sql})")) for kind, sql in KINDS.items()}


def list_reviews(session: Session, kind: str, most: int = 50) -> list[dict[str, Any]]:
    """Return the first triples of a kind, each as a sentence, with people's answers and the owner's."""
    return [
        {"triple": triple, "sentence": session.sentence(triple)} | _answers(session, triple)
        for (triple,) in session.store.rows(f"{KINDS[kind]} LIMIT ?", (most,))
    ]


def show_review(session: Session, triple: int) -> dict[str, Any]:
    """Return the whole card of a triple that was given out, its score and probability, and everybody's answers."""
    task = session.task(triple)
    p = "" if task.probability is None else f"; probability of being true: {task.probability:.0%}"
    belief = {"belief": f"Score of the model: {task.score:.4g}{p}."}
    return make_card(session.names, task, "beside") | belief | _answers(session, triple)


def _answers(session: Session, triple: int) -> dict[str, Any]:
    """Return the current answers of people, the oldest first, and the owner's answer, None where there is none."""
    rows = session.store.rows(
        "SELECT name, kind, answer, note FROM answer JOIN judgement ON judgement = judgement.id "
        "JOIN annotator ON answer.annotator = annotator.id WHERE answer.triple = ? ORDER BY judgement",
        (triple,),
    )
    decided = [row["answer"] for row in rows if row["kind"] == "owner"]
    answers = [{name: row[name] for name in ("name", "answer", "note")} for row in rows if row["kind"] == "person"]
    return {"answers": answers, "decided": decided[0] if decided else None}
