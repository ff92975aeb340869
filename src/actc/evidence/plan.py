"""The evidence table as one relational plan: named steps of SQL, each a table made from the ones before.

DuckDB and Spark run the same text. A candidate that is itself a fact (``own = 1``) is looked at as if it were not:
whatever it added to a count is taken off again, and where a limit of :class:`Limits` cuts a list, the next one moves
up. Of one count that is true on average only: rules of paths for a relation with more than ``path_facts`` facts, or
mined through an entity with more than ``path_edges`` edges, since these are counted from a sample.
"""

from __future__ import annotations

import re

from actc.evidence.look_up import kind_steps, look_steps, pair_steps, path_steps, relative_steps, rule_steps, slot_steps
from actc.evidence.steps import Limits as Limits
from actc.evidence.steps import Step as Step
from actc.evidence.steps import graph_steps as graph_steps
from actc.evidence.steps import small


def candidate_steps(limits: Limits, models: int = 0) -> list[Step]:
    """Return what is counted for candidates, those in ``candidate_part(id, h, r, t)``, from the graph's tables.

    Beside that stands what the scores of so many models give.
    """
    return [*look_steps(), *slot_steps(), *pair_steps(), *kind_steps(), *path_steps(limits),
            *rule_steps(limits), *relative_steps(limits), Step("evidence", collect(models))]  # fmt: skip


# Column of the evidence table: its SQL. {0} stands for a side's number; the names begin with head_ or tail_ there.
SIDE_COLUMNS = {
    "slot_filled": "slots{0}.filled",
    "slot_usual": "slots{0}.facts * 1e0 / greatest(slots{0}.holders, 1)",
    "slot_excess": "slots{0}.filled * 1e0 * slots{0}.holders / greatest(slots{0}.facts, 1)",
    "degree": "slots{0}.degree",
    "share": "slots{0}.filled * 1e0 / greatest(slots{0}.facts, 1)",
    "kind_best": "coalesce(kinds{0}.best, 0)",
    "kind_mean": "coalesce(kinds{0}.mean, 0)",
    "kind_lift": "coalesce(kinds{0}.lift, 0)",
    "rule_best": "coalesce(rules{0}.best, 0)",
    "rule_together": "coalesce(rules{0}.together, 0)",
    "rule_mean": "coalesce(rules{0}.mean, 0)",
    "rule_weighted": "coalesce(rules{0}.weighted, 0)",
    "relatives_five": "coalesce(relatives{0}.five, 0)",
    "relatives_twenty": "coalesce(relatives{0}.twenty, 0)",
    "relatives_every": "coalesce(relatives{0}.every, 0)",
    "relatives_nearest": "coalesce(relatives{0}.nearest, 0)",
}
PAIR_COLUMNS = {
    "same_entity": "CASE WHEN q.h = q.t THEN 1 ELSE 0 END",
    "pair_best": "coalesce(pairs.best, 0)",
    "pair_lowest": "coalesce(pairs.lowest, 0)",
    "pair_together": "coalesce(pairs.together, 0)",
    "pair_count": "coalesce(pairs.n, 0)",
    "path_best": "coalesce(paths.best, 0)",
    "path_together": "coalesce(paths.together, 0)",
    "path_count": "coalesce(paths.n, 0)",
    "path_mean": "coalesce(paths.mean, 0)",
}
# What the sentences name: codes of slots (s2, a, b) and entities (c), not evidence by themselves.
NAMED_COLUMNS = {
    "pair_slot": "coalesce(pairs.s2, -1)",
    "path_first": "coalesce(paths.a, -1)",
    "path_second": "coalesce(paths.b, -1)",
    "head_relatives_count": "coalesce(relatives0.n, 0)",
    "tail_relatives_count": "coalesce(relatives1.n, 0)",
    "head_rule_slot": "coalesce(rules0.s2, -1)",
    "head_rule_entity": "coalesce(rules0.c, -1)",
    "tail_rule_slot": "coalesce(rules1.s2, -1)",
    "tail_rule_entity": "coalesce(rules1.c, -1)",
}
MODEL_SCORE = "model_score"  # in tables whose score is the log-odds
SIDES = ("head", "tail")
GRAPH_COLUMNS = {f"{side}_{name}": sql.format(i) for i, side in enumerate(SIDES) for name, sql in SIDE_COLUMNS.items()}
GRAPH_COLUMNS |= PAIR_COLUMNS


def collect(models: int) -> str:
    """Return the SQL that puts all pieces side by side, one row per candidate: ``evidence(id, h, r, t, ...)``."""
    columns = ", ".join(
        [*_score_pieces(models), *(f"{sql} AS {name}" for name, sql in (GRAPH_COLUMNS | NAMED_COLUMNS).items())]
    )
    joins = f"{_join_scores(models)} LEFT JOIN pairs ON pairs.id = q.id LEFT JOIN paths ON paths.id = q.id"
    for side in (0, 1):
        for table in ("slots", "rules", "relatives"):
            joins += f" LEFT JOIN {table} {table}{side} ON {table}{side}.k = 2 * q.id + {side}"
        same = " AND ".join(f"kinds{side}.{name} = slots{side}.{name}" for name in ("u", "s", "leaves"))
        joins += f" LEFT JOIN kinds kinds{side} ON {same}"
    return f"SELECT q.id, q.h, q.r, q.t, {columns} FROM target q {joins}"


def score_step(k: int) -> Step:
    """Return what the scores of model ``k`` say of a candidate among the others for the same two slots.

    NULL where the model has no score of the candidate.
    """
    score = f"c.score{k}"
    tails, heads = (f"OVER (PARTITION BY {one} ORDER BY {score} DESC NULLS LAST)" for one in ("c.h, c.r", "c.r, c.t"))
    places = [f"CASE WHEN {score} IS NOT NULL THEN {small(f'rank() {over}')} END" for over in (tails, heads)]
    # The highest score of a slot is that of its first row, so that it needs no sort of its own.
    query = f"""
        SELECT c.id, {score} AS score, {places[0]} AS place_among_tails, {places[1]} AS place_among_heads,
               {score} - max({score}) {tails} AS behind_best_tail, {score} - max({score}) {heads} AS behind_best_head,
               {score} - m.mean AS above_relation
        FROM candidate c JOIN (SELECT r, avg(score{k}) AS mean FROM candidate GROUP BY r) m ON m.r = c.r"""
    return Step(f"scored{k}", query)


SCORE_COLUMNS = (
    "score", "place_among_tails", "place_among_heads", "behind_best_tail", "behind_best_head", "above_relation"
)  # fmt: skip


def score_columns(models: int) -> list[str]:
    """Return the names of the pieces that so many models' scores give; those of the second end in _2 and so on."""
    return [f"{name}_{k + 1}" if k else name for k in range(models) for name in SCORE_COLUMNS]


def score_rows(models: int) -> str:
    """Return the SQL of the pieces that scores give, of the candidates in ``target``, in their order."""
    return f"SELECT {', '.join(['q.id', *_score_pieces(models)])} FROM target q {_join_scores(models)} ORDER BY q.id"


def whole_rows(models: int, log_odds: str) -> str:
    """Return the SQL of the rows that people read: names, log-odds, all pieces of evidence.

    Parameters
    ----------
    models : int
    log_odds : str
        SQL of the log-odds of a row of ``evidence e``.
    """
    pieces = (*score_columns(models), *GRAPH_COLUMNS)
    columns = [f"CAST(e.{name} AS DOUBLE) AS {MODEL_SCORE if name == 'score' else name}" for name in pieces]
    return f"""
        SELECT h.name AS head, r.name AS relation, t.name AS tail, {log_odds} AS score, {", ".join(columns)}
        FROM evidence e JOIN entity_name h ON h.code = e.h
        JOIN relation_name r ON r.code = e.r JOIN entity_name t ON t.code = e.t"""


def _score_pieces(models: int) -> list[str]:
    given = [f"scored{k}.{name}" for k in range(models) for name in SCORE_COLUMNS]
    return [f"CAST({sql} AS DOUBLE) AS {name}" for sql, name in zip(given, score_columns(models), strict=True)]


def _join_scores(models: int) -> str:
    return " ".join(f"JOIN scored{k} ON scored{k}.id = q.id" for k in range(models))


def last_uses(steps: list[Step], kept: set[str]) -> dict[str, list[str]]:
    """Return the tables that are dropped after each step, but for those to be kept."""
    gone: dict[str, list[str]] = {}
    for place, step in enumerate(steps):
        later = [
            other.name for other in steps[place:] if re.search(rf"\b{step.name}\b", other.query + other.part_query)
        ]
        if step.name not in kept:
            gone.setdefault(later[-1] if later else step.name, []).append(step.name)
    return gone
