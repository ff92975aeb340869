"""From a pool to accepted triples in two calls, with data frames in and out, for notebooks.

The pool may come from anywhere: a frame, a file that was read, a model's own proposals. ::

    asked = pick_triples(pool, 50)             # these, please; put the answers into a column "label"
    accepted = accept_triples(pool, asked)
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from actc.data.answers import Annotations, Answers
from actc.data.constraints import Constraints
from actc.data.frames import IDS, are_integers, kind_of, make_frame, read_frame, read_ids, read_optional
from actc.data.triples import ScoredTriples, Triples
from actc.decide.case import Case
from actc.decide.judge_answers import JudgeAnswers
from actc.decide.list_test import Demand
from actc.decide.pick import pick_draws, pick_next
from actc.errors import OptionError, TableError
from actc.methods.named import find_method, warn_of_scores

LOG = logging.getLogger("actc")


def pick_triples(
    pool: Any,
    count: int = 50,
    *,
    answers: Any = None,
    judges: Any = None,
    precision: float | None = None,
    confidence: float = 0.9,
    method: str = "pooled",
    known: ScoredTriples | None = None,
    seed: int = 0,
    library: str | None = None,
) -> Any:
    """Return the triples to judge next as a data frame.

    Its columns are head, relation, tail and score; and selection, sampling_frame, inclusion_probability, round and
    frame_size, which describe how each was selected. Leave these beside the answers: guarantees rest on them.

    Parameters
    ----------
    pool : ScoredTriples, or data frame with the columns head, relation, tail and score
        The candidates; beside judges a frame needs no score.
    count : int
        How many.
    answers : Answers or data frame, optional
        What was judged before: head, relation, tail, label (1 or 0); these are not asked again.
    judges : data frame, optional
        What machines answered, as :func:`accept_triples` takes it.
    precision, confidence : float
        Draw from the list that is tested for this precision, with this confidence. Let some answers teach first, ten
        or so; then draw, and give all answers to :func:`accept_triples`.
    method : str
        A name in ``METHODS``.
    known : ScoredTriples, optional
        Triples that the graph holds already, with their scores; only some methods use them.
    seed : int
        Where chance comes from.
    library : str, optional
        ``pandas``, ``polars``, ``polars-lazy``, ``pyarrow`` or ``duckdb``; that of the pool if not given.
    """
    if count < 1:
        raise OptionError(f"{count} questions are none; ask for at least 1.")
    triples, heard = _as_pool(pool, judges)
    judged, found = _as_answers(triples, answers), find_method(method)
    warn_of_scores(found, triples)
    random = np.random.default_rng([seed, len(judged)])
    demand = None if precision is None else Demand(precision, confidence)
    case = Case(triples, judged, known, method, heard, demand)
    picks = pick_next(case, count, random) if demand is None else pick_draws(case, demand, count, random)
    how = {name: getattr(picks, name) for name in ("selection", "sampling_frame", "inclusion_probability", "round")}
    size = np.full(len(picks), len(triples))
    chosen = triples.take(picks.rows)
    return _frame_like(pool, {**chosen.columns(), "score": chosen.scores, **how, "frame_size": size}, library)


def accept_triples(
    pool: Any,
    answers: Any = None,
    *,
    judges: Any = None,
    method: str = "pooled",
    known: ScoredTriples | None = None,
    precision: float | None = None,
    confidence: float = 0.9,
    constraints: Constraints | None = None,
    facts: Triples | None = None,
    library: str | None = None,
) -> Any:
    """Return the accepted triples as a data frame: head, relation, tail, score, probability, by.

    What a person judged is decided by the person; all others by the method. Methods without probabilities leave that
    column out.

    Parameters
    ----------
    pool : ScoredTriples, or data frame with the columns head, relation, tail and score
        The candidates; beside judges a frame needs no score.
    answers : Answers or data frame, optional
        What was judged: head, relation, tail, label (1 or 0), and how it was asked, as :func:`pick_triples` says.
    judges : data frame, optional
        What machines answered: head, relation, tail, judge, and label (1 or 0) or probability. What they are worth is
        learnt from the answers of people.
    method : str
        A name in ``METHODS``; the pooled ones need no answers.
    known : ScoredTriples, optional
        Triples that the graph holds already, with their scores; only some methods use them.
    precision, confidence : float
        Promise this share of true triples among those that the method accepts, with this confidence; pooled methods
        only.
    constraints : Constraints, optional
        What may not be true together, as :func:`actc.find_constraints` finds it.
    facts : Triples, optional
        What the graph holds, which candidates may contradict.
    library : str, optional
        ``pandas``, ``polars``, ``polars-lazy``, ``pyarrow`` or ``duckdb``; that of the pool if not given.

    Examples
    --------
    >>> import actc
    >>> scored = {"head": "abcd", "relation": "rrrr", "tail": "wxyz", "score": [0.1, 0.4, 0.6, 0.9]}
    >>> pool = {name: list(column) for name, column in scored.items()}
    >>> answers = {"head": ["b", "c"], "relation": ["r", "r"], "tail": ["x", "y"], "label": [False, True]}
    >>> actc.accept_triples(pool, answers, method="localopt-acc")["head"].tolist()
    ['c', 'd']
    """
    triples, heard = _as_pool(pool, judges)
    judged = _as_answers(triples, answers)
    warn_of_scores(find_method(method), triples)
    if len(heard) and not len(judged):
        LOG.warning(
            "No person answered, so neither the share of true triples nor what the judges are worth is known: the "
            "order is theirs, and about half is taken as true. Twenty answers to triples drawn at random settle it."
        )
    demand = None if precision is None else Demand(precision, confidence)
    rules = Constraints() if constraints is None else constraints
    case = Case(triples, judged, known, method, heard, demand, constraints=rules, facts=facts)
    return _frame_like(pool, case.decisions.columns(), library)


def _frame_like(pool: Any, columns: dict[str, Any], library: str | None) -> Any:
    """Return columns as a frame of the kind that the pool is; ids are whole numbers if they were."""
    if isinstance(pool, ScoredTriples):
        return make_frame(columns, library or "pandas")
    numbers = [name for name, column in zip(IDS, read_ids(pool), strict=True) if are_integers(column)]
    columns = {**columns, **{name: np.array(list(map(int, columns[name])), dtype=np.int64) for name in numbers}}
    return make_frame(columns, library or kind_of(pool))


def _as_pool(pool: Any, judges: Any) -> tuple[ScoredTriples, JudgeAnswers]:
    """Read the pool, and what judges answered about it; without a score all have the same one."""
    if isinstance(pool, ScoredTriples):
        triples = pool
    elif judges is None or read_optional(pool, ("score",)):
        triples = ScoredTriples.from_frame(pool)
    else:
        heads, relations, tails = read_frame(pool, IDS)
        triples = ScoredTriples.from_columns(heads, relations, tails, np.zeros(len(heads)))
    return triples, JudgeAnswers.none() if judges is None else JudgeAnswers.from_frame(triples, judges)


def _as_answers(triples: ScoredTriples, answers: Any) -> Annotations:
    """Read answers; refuse a frame in which nobody has answered anything, such as the questions as they were picked."""
    if answers is None:
        return Annotations()
    found = answers if isinstance(answers, Answers) else Answers.from_frame(answers)
    if not len(found) and not isinstance(answers, Answers) and len(read_ids(answers)[0]):
        raise TableError("No answer has a label: put 1 (true) or 0 (false) into the column label, or give no answers.")
    for note in found.describe_use(triples):
        LOG.warning(note)
    return found.on(triples)
