"""From a pool to accepted triples in two calls, with data frames in and out, for notebooks.

The pool may come from anywhere: a frame, a file that was read, a model's own proposals. ::

    asked = pick_triples(pool, 50)             # these, please; put the answers into a column "label"
    accepted = accept_triples(pool, asked)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from actc.calibrator import Calibrator
from actc.triples import Annotations, ScoredTriples
from actc.trust.on_demand import draws_of, find_demand, thresholds_on_demand


def pick_triples(
    pool: Any,
    count: int = 50,
    *,
    answers: Any = None,
    method: str = "pooled",
    known: ScoredTriples | None = None,
    seed: int = 0,
    library: str = "pandas",
) -> Any:
    """Return the triples to judge next as a data frame: head, relation, tail, score.

    Parameters
    ----------
    pool : ScoredTriples, or data frame with the columns head, relation, tail and score
        The candidates.
    count : int
        How many.
    answers : data frame, optional
        What was judged before: head, relation, tail, label (1 or 0); these are not asked again.
    method : str
        A name in ``METHODS``.
    known : ScoredTriples, optional
        Triples that the graph holds already, with their scores; only some methods use them.
    seed : int
        Where chance comes from.
    library : str
        ``pandas``, ``polars`` or ``pyarrow``.
    """
    triples = _as_pool(pool)
    calibrator = Calibrator(method, random_state=seed)
    if answers is None:
        rows = calibrator.select(count, triples, known)
    else:
        rows = calibrator.fit(triples, Annotations.from_frame(triples, answers), known).select(count)
    return triples.take(rows).to_frame(library)


def accept_triples(
    pool: Any,
    answers: Any = None,
    *,
    method: str = "pooled",
    known: ScoredTriples | None = None,
    precision: float | None = None,
    confidence: float = 0.9,
    library: str = "pandas",
) -> Any:
    """Return the accepted triples as a data frame: head, relation, tail, score, probability, decided_by.

    What a person judged is decided by the person; all others by the threshold of their relation. Methods without
    probabilities leave that column out.

    Parameters
    ----------
    pool : ScoredTriples, or data frame with the columns head, relation, tail and score
        The candidates.
    answers : data frame, optional
        What was judged: head, relation, tail, label (1 or 0).
    method : str
        A name in ``METHODS``; the pooled ones need no answers.
    known : ScoredTriples, optional
        Triples that the graph holds already, with their scores; only some methods use them.
    precision, confidence : float
        Promise this share of true triples among those that the method accepts, with this confidence; pooled methods
        only.
    library : str
        ``pandas``, ``polars`` or ``pyarrow``.

    Examples
    --------
    >>> import actc
    >>> scored = {"head": "abcd", "relation": "rrrr", "tail": "wxyz", "score": [0.1, 0.4, 0.6, 0.9]}
    >>> pool = {name: list(column) for name, column in scored.items()}
    >>> answers = {"head": ["b", "c"], "relation": ["r", "r"], "tail": ["x", "y"], "label": [False, True]}
    >>> actc.accept_triples(pool, answers, method="localopt-acc")["head"].tolist()
    ['c', 'd']
    """
    triples = _as_pool(pool)
    judged = Annotations() if answers is None else Annotations.from_frame(triples, answers)
    demand = find_demand(precision, None, None, 1.0, confidence, False)
    calibrator = Calibrator(method).fit(triples, judged, known)
    if demand is None:
        accepted = calibrator.predict(triples)
    else:
        accepted = thresholds_on_demand(draws_of(calibrator.fit_, method), triples, judged, demand)[0].decide(triples)
    decided_by = np.full(len(triples), "method", dtype=object)
    accepted[judged.rows], decided_by[judged.rows] = judged.labels, "person"
    kept = triples.take(accepted)
    probability = calibrator.fit_.probabilities(kept)
    more = {} if probability is None else {"probability": probability}
    return kept.to_frame(library, {**more, "decided_by": decided_by[accepted]})


def _as_pool(pool: Any) -> ScoredTriples:
    return pool if isinstance(pool, ScoredTriples) else ScoredTriples.from_frame(pool)
