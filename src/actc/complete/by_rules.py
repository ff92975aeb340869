"""Candidates without a model: the graph's own rules propose, evidence weighs, a holdout says what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from actc.complete.weighing import Reasons
from actc.errors import OptionError, TableError
from actc.evidence.propose_by_rules import propose_by_rules
from actc.evidence.table import Progress, Proposals
from actc.evidence.weigh import Lesson, weigh
from actc.evidence.weigh_by_rules import weigh_rules
from actc.graphs.graph import Graph
from actc.triples import ScoredTriples

GIVEN = "Nobody's rules or model proposed these candidates: the graph's own facts teach what evidence is worth."


def find_by_rules(
    graph: Graph, given: Graph | None, seed: int, advance: Callable[..., Any]
) -> tuple[ScoredTriples, Reasons, dict[str, Any], list[str], list[float]]:
    """Propose by rules, or take the candidates given, and weigh them.

    Returns
    -------
    candidates : ScoredTriples
        Their scores are log-odds.
    reasons : Reasons
    columns : dict
        What the file of the candidates has beside them: the rule of each, and who proposed it.
    notes : list of str
    precisions : list of float
        Draws of the accepted precision by the holdout, before anybody is asked; none where no holdout says it.
    """

    def progress(done: int, total: int, name: str) -> None:
        advance(1, 2 * total)

    try:
        return _weigh_given(graph, given, progress) if given is not None else _propose(graph, seed, progress)
    except TableError as error:
        raise OptionError(f"{str(error).rstrip('.')}; give --train, --model or --candidates.") from None


def _propose(
    graph: Graph, seed: int, progress: Progress
) -> tuple[ScoredTriples, Reasons, dict[str, Any], list[str], list[float]]:
    proposed = propose_by_rules(graph)
    found = weigh_rules(graph, proposed, seed=seed, progress=progress)
    beside = {name: values for name, values in proposed.columns().items() if name not in ("head", "relation", "tail")}
    reasons = Reasons(found.weighed.evidence, found.weighed.worth, graph)
    beside = {**beside, "score": found.weighed.log_odds}
    return found.weighed.candidates, reasons, beside, [found.tell()], found.precisions.round(4).tolist()


def _weigh_given(
    graph: Graph, given: Graph, progress: Progress
) -> tuple[ScoredTriples, Reasons, dict[str, Any], list[str], list[float]]:
    weighed = weigh(graph, Proposals(given), Lesson.taken(graph, given), progress=progress)
    reasons = Reasons(weighed.evidence, weighed.worth, graph)
    beside = {"score": weighed.log_odds, "proposed_by": ["given"] * len(given)}
    return weighed.candidates, reasons, beside, [*given.notes, GIVEN], []
