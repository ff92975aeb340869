"""What constraints held back, and why: which rule, and which rival or fact."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from actc.data.constraints import Constraint
from actc.decide.case import Case

MOST_NAMED = 3
WORDS = {
    "functional": "only one tail per head",
    "inverse-functional": "only one head per tail",
    "asymmetric": "not both ways",
    "irreflexive": "not to itself",
    "symmetric": "only both ways",
    "inverse": "only with its inverse",
    "domain": "the head is not of the class",
    "range": "the tail is not of the class",
    "disjoint": "not of both classes",
    "not-both": "not beside the other relation",
}


def held_columns(case: Case) -> dict[str, Any]:
    """Return what is held back as a table: triple, score, probability, constraint, why, and what it lost to.

    ``against`` is ``fact`` where the graph holds what contradicts it: a person, or a check of the graph, decides which
    of the two is wrong; ``rival`` where another candidate is more probable; else the constraint alone forbids it.
    """
    decided = case.decisions
    rows, together = decided.held, decided.together
    columns = {**case.target.take(rows).columns(), "score": case.target.scores[rows]}
    if decided.probability is not None:
        columns["probability"] = decided.probability[rows]
    if together is None:
        return {**columns, **{name: np.zeros(0, dtype=object) for name in ("constraint", "why", "against", "other")}}
    used = case.rules.each
    rules = [used[rule] for rule in together.rule[rows].tolist()]
    others = [_other(case, row) for row in rows.tolist()]
    told = {
        "constraint": [str(rule) for rule in rules],
        "why": [_say(rule) for rule in rules],
        "against": [against for against, _ in others],
        "other": [other for _, other in others],
    }
    return {**columns, **{name: np.array(cells, dtype=object) for name, cells in told.items()}}


def _say(rule: Constraint) -> str:
    if rule.use == "hard" or np.isnan(rule.share):
        return WORDS[rule.kind]
    return f"{WORDS[rule.kind]}: {rule.share:.1%} of {rule.cases:,}"


def _other(case: Case, row: int) -> tuple[str, str]:
    together = case.decisions.together
    assert together is not None
    fact, rival = int(together.fact[row]), int(together.rival[row])
    if fact >= 0 and case.facts is not None:
        return "fact", " ".join(case.facts.triple(fact))
    return ("rival", " ".join(case.target.triple(rival))) if rival >= 0 else ("", "")


def count_held(case: Case) -> dict[str, Any]:
    """Return how many are held back: in all, against facts, and by each constraint, the most frequent first."""
    columns = held_columns(case)
    by_rule = Counter(columns["constraint"].tolist()).most_common()
    facts = int((columns["against"] == "fact").sum())
    counts = {"held_back": len(columns["constraint"]), "against_facts": facts, "both_after_all": case.both_after_all}
    return {**counts, "by_constraint": dict(by_rule)}


def tell_held(case: Case) -> list[str]:
    """Say it in a sentence; nothing where there are no constraints."""
    if not len(case.constraints):
        return []
    counted = count_held(case)
    named = list(counted["by_constraint"].items())
    names = ", ".join(f"{count:,} by {rule}" for rule, count in named[:MOST_NAMED])
    more = f" and {len(named) - MOST_NAMED:,} more constraints" if len(named) > MOST_NAMED else ""
    facts = f"; {counted['against_facts']:,} contradict a fact" if counted["against_facts"] else ""
    because = f" ({names}{more}{facts})" if named else ""
    told = [f"{counted['held_back']:,} candidates are held back by constraints{because}."]
    if counted["both_after_all"]:
        told.append(
            f"In {counted['both_after_all']:,} places people called more true than a constraint allows; they count."
        )
    return told
