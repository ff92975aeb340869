"""From a pool to accepted triples in two calls, with data frames in and out, for notebooks.

The pool may come from anywhere: a frame, a file that was read, a model's own proposals. ::

    questions = pick_triples(pool, 50)         # these, please; put the answers into a column "label"
    accepted = accept_triples(pool, questions)
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np

from actc.data.answers import Answers
from actc.data.constraints import Constraints
from actc.data.frames import (
    TRIPLE,
    are_integers,
    kind_of,
    make_frame,
    read_frame,
    read_further,
    read_optional,
)
from actc.data.triples import IntArray, ScoredTriples
from actc.decide.case import Case
from actc.decide.guarantee import TargetPrecision
from actc.decide.pick import pick_draws, pick_next
from actc.errors import OptionError, TableError
from actc.evidence.score import TrainingSet, score_evidence
from actc.graph.formats import as_graph
from actc.graph.graph import Graph
from actc.methods.named import find_method, warn_of_scores
from actc.methods.pooled.method import EVIDENCE_METHOD

LOG = logging.getLogger("actc")
DRAWN = ("selection", "sampling_frame", "inclusion_probability", "round")
"""The columns of questions that say how each was selected, beside ``frame_size``."""
NO_PERSON = (
    "No person answered, so neither the share of true triples nor what the judges are worth is known: the order is "
    "theirs, and about half is taken as true. Twenty answers to triples drawn at random settle it."
)


def pick_triples(
    pool: Any,
    count: int = 50,
    *,
    answers: Any = None,
    judges: Any = None,
    precision: float | None = None,
    confidence: float = 0.9,
    method: str | None = None,
    known: ScoredTriples | None = None,
    graph: Any = None,
    seed: int = 0,
    library: str | None = None,
) -> Any:
    """Return the triples to judge next as a data frame.

    Its columns are head, relation, tail and score; those of the pool's frame in memory that are no others; selection,
    sampling_frame, inclusion_probability, round and frame_size, which describe how each was selected. Leave these
    beside the answers: guarantees rest on them.

    Parameters
    ----------
    pool : ScoredTriples, or data frame with the columns head, relation, tail and score
        The candidates; beside judges or a graph a frame needs no score.
    count : int
        How many.
    answers : Answers or data frame, optional
        What was judged before: head, relation, tail, label (1 or 0); these are not selected again.
    judges : data frame, optional
        What machines answered, as :func:`accept_triples` takes it.
    precision, confidence : float
        Draw from the list that is tested for this precision, with this confidence. Fit on some answers first, ten
        or so; then draw, and give all answers to :func:`accept_triples`.
    method, known, graph
        As in :func:`accept_triples`.
    seed : int
        Where randomness comes from.
    library : str, optional
        ``pandas``, ``polars``, ``polars-lazy``, ``pyarrow`` or ``duckdb``; that of the pool if not given.
    """
    if count < 1:
        raise OptionError(f"{count} questions are none; ask for at least 1.")
    case = _open_case(pool, answers, judges, method, known, graph, precision, confidence)
    random = np.random.default_rng([seed, len(case.annotations)])
    picks = pick_next(case, count, random) if case.target is None else pick_draws(case, case.target, count, random)
    chosen = case.pool.take(picks.rows)
    columns = {**chosen.plain().columns(), "score": chosen.scores, **chosen.further}
    columns |= {name: getattr(picks, name) for name in DRAWN} | {"frame_size": np.full(len(picks), len(case.pool))}
    return _frame_like(pool, picks.rows, columns, library)


def accept_triples(
    pool: Any,
    answers: Any = None,
    *,
    judges: Any = None,
    method: str | None = None,
    known: ScoredTriples | None = None,
    precision: float | None = None,
    confidence: float = 0.9,
    constraints: Constraints | None = None,
    graph: Any = None,
    keep_all: bool = False,
    library: str | None = None,
) -> Any:
    """Return the accepted triples as a data frame: head, relation, tail, score, probability, by.

    What a person judged is decided by the person; all others by the method. Methods without probabilities leave that
    column out. Further columns of the pool's frame come back, and in pandas its index; of a lazy frame, and of a
    relation of DuckDB's, they do not. One that is called like a column made here comes back as ``given_…``.

    Parameters
    ----------
    pool : ScoredTriples, or data frame with the columns head, relation, tail and score
        The candidates; beside judges or a graph a frame needs no score.
    answers : Answers or data frame, optional
        What was judged: head, relation, tail, label (1 or 0), and the columns of :func:`pick_triples`.
    judges : data frame, optional
        What machines answered: head, relation, tail, judge, and label (1 or 0) or probability. What they are worth is
        inferred from the answers of people.
    method : str, optional
        A name in ``METHODS``; the pooled ones need no answers. ``pooled`` if not given, with a graph
        ``pooled-evidence``.
    known : ScoredTriples, optional
        Triples that the graph holds already, with their scores; only some methods use them.
    precision, confidence : float
        Guarantee this share of true triples among those that the method accepts, with this confidence; not
        with the baselines, which have no probabilities.
    constraints : Constraints, optional
        What may not be true together, as :func:`actc.find_constraints` finds it.
    graph : path, Triples, data frame or PyKEEN's triples factory, optional
        The facts that are known, such as those that a model was trained on. A method that reads evidence scores the
        candidates by the graph's evidence for each; their own score comes back as ``model_score``. Candidates that
        contradict these facts are excluded, where there are constraints.
    keep_all : bool
        Return all candidates, in their order, with a column ``accepted``.
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
    case = _open_case(pool, answers, judges, method, known, graph, precision, confidence)
    case = replace(case, constraints=constraints or Constraints())
    if len(case.judged) and not len(case.annotations):
        LOG.warning(NO_PERSON)
    if case.target:
        _ = case.ranked_by_method  # refused where there are no probabilities
    decided = case.decisions
    rows = np.arange(len(case.pool)) if keep_all else np.flatnonzero(decided.accepted)
    return _frame_like(pool, rows, decided.columns(accepted_only=not keep_all), library)


def _open_case(
    pool: Any,
    answers: Any,
    judges: Any,
    method: str | None,
    known: ScoredTriples | None,
    graph: Any,
    precision: float | None,
    confidence: float,
) -> Case:
    name = method or ("pooled" if graph is None else EVIDENCE_METHOD)
    facts = None if graph is None else as_graph(graph)
    reads_evidence = facts is not None and find_method(name).reads == "evidence"
    triples = _as_pool(pool, needs_score=judges is None and not reads_evidence)
    if facts is not None and reads_evidence:
        triples = _score_evidence(triples, facts)
    warn_of_scores(find_method(name), triples)
    annotations = _read_answers(answers, "answers").warn_of_unused(triples).on(triples)
    if judges is not None and not isinstance(judges, Answers):
        read_frame(judges, (*TRIPLE, "judge"))  # refused without
    judged = _read_answers(judges, "judges' answers").warn_of_unused(triples, source="judges' answers")
    target = None if precision is None else TargetPrecision(precision, confidence)
    return Case(triples, annotations, known, name, judged, target, facts=facts)


def _score_evidence(triples: ScoredTriples, graph: Graph) -> ScoredTriples:
    """Return candidates whose scores are their log-odds by the graph's evidence; its own facts weigh the evidence."""
    if set(graph.entity_names).isdisjoint(triples.entity_names):
        raise TableError("The graph and the pool have no entity in common; are they about the same things?")
    scored, _ = score_evidence(graph, triples, TrainingSet.from_graph(graph, triples))
    return replace(triples.with_scores(scored.scores), further={**triples.further, "model_score": triples.scores})


def _frame_like(pool: Any, rows: IntArray, columns: dict[str, Any], library: str | None) -> Any:
    """Return columns about rows of the pool as a frame of its kind: whole numbers as ids, and an index, if it has."""
    if isinstance(pool, ScoredTriples):
        return make_frame(columns, library or "pandas")
    numbers = [name for name, column in read_optional(pool, TRIPLE).items() if are_integers(column)]
    columns = columns | {name: columns[name].astype(np.int64) for name in numbers}
    kind = library or kind_of(pool)
    frame = make_frame(columns, kind)
    return frame.set_axis(pool.index[rows]) if kind == "pandas" and hasattr(pool, "index") else frame


def _as_pool(pool: Any, needs_score: bool) -> ScoredTriples:
    """Read the pool; where no score is needed, one without has the same for all."""
    if isinstance(pool, ScoredTriples):
        return pool
    if needs_score or read_optional(pool, ("score",)):
        return ScoredTriples.from_frame(pool)
    heads, relations, tails = read_frame(pool, TRIPLE)
    triples = ScoredTriples.from_columns(heads, relations, tails, np.zeros(len(heads)))
    return replace(triples, further=read_further(pool, TRIPLE))


def _read_answers(given: Any, source: str) -> Answers:
    """Read answers; refuse a frame in which nobody has answered anything, such as the questions as they were picked."""
    if given is None:
        return Answers()
    answers = given if isinstance(given, Answers) else Answers.from_frame(given)
    if answers is not given and not len(answers) and len(read_optional(given, TRIPLE)["head"]):
        raise TableError(f"None of the {source} has a label: put 1 (true) or 0 (false) into the column label.")
    return answers
