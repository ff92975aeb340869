"""The three steps as one scikit-learn-style estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from actc.errors import OptionError
from actc.methods import Foresighted, Method, find_method
from actc.tables.curves import Curves, tabulate_curves
from actc.three_steps.squash_scores import Squash, needs_squashing
from actc.triples import Annotations, BoolArray, FloatArray, IntArray, ScoredTriples, Thresholds


class Calibrator(BaseEstimator):  # type: ignore[misc]
    """Find out where "true" begins in each relation, from a few answers.

    Parameters
    ----------
    method : str or Method
        A name in ``METHODS``, with options if wanted (``"actc-lr-rndm:n=50"``), or a method of your own. The
        pooled methods work from zero annotations on.
    random_state : int, numpy Generator or None
        Where random selection comes from.

    Attributes
    ----------
    thresholds_ : Thresholds
        One cut per relation, in units of the scores given to :meth:`fit`; with an interval, from pooled methods.
    gain_ : float or None
        Right decisions in the pool that one more label is expected to add; None if the method does not know.

    Examples
    --------
    >>> from actc import Annotations, Calibrator, ScoredTriples
    >>> pool = ScoredTriples.from_columns("abcd", "rrrr", "wxyz", [0.1, 0.4, 0.6, 0.9])
    >>> calibrator = Calibrator("actc-lr-rndm", random_state=0)
    >>> rows = calibrator.select(2, pool)
    >>> answers = pool.scores[rows] > 0.3  # here a person would judge
    >>> calibrator.fit(pool, Annotations(rows, answers)).predict(pool).tolist()
    [False, True, True, True]
    """

    def __init__(self, method: str | Method = "pooled", random_state: Any = None) -> None:
        self.method = method
        self.random_state = random_state

    def select(self, count: int, triples: ScoredTriples | None = None, known: ScoredTriples | None = None) -> IntArray:
        """Return the rows of the next triples to judge.

        Parameters
        ----------
        count : int
            How many.
        triples, known : ScoredTriples, optional
            The pool, before the first :meth:`fit`; afterwards the pool and the answers of that fit are used.
        """
        if triples is not None:
            pool, annotations = triples, Annotations()
        else:
            check_is_fitted(self)
            pool, annotations, known = self.pool_, self.annotations_, self.known_
        method = find_method(self.method)
        squash = _squash_for(method, pool)
        random = np.random.default_rng(self.random_state)
        return method.select(_apply(squash, pool), annotations, count, random, _apply(squash, known))

    def fit(
        self, triples: ScoredTriples, annotations: Annotations | None = None, known: ScoredTriples | None = None
    ) -> Self:
        """Find the thresholds.

        Parameters
        ----------
        triples : ScoredTriples
            The pool of candidates.
        annotations : Annotations
            What is known about some of them.
        known : ScoredTriples, optional
            Triples that the graph holds already, with their scores; only some methods use them.
        """
        method = find_method(self.method)
        self.pool_, self.annotations_, self.known_ = triples, annotations or Annotations(), known
        if len(self.annotations_) < method.least_budget:
            raise OptionError(f"This method needs at least {method.least_budget} annotation(s), not 0.")
        self.squash_ = _squash_for(method, triples)
        pool = _apply(self.squash_, triples)
        cuts = method.find_cuts(pool, [self.annotations_], _apply(self.squash_, known))[0]
        if self.squash_ is not None:
            cuts = self.squash_.undo(cuts, triples)
        own = np.zeros(len(triples.relation_names), dtype=np.bool_)
        own[triples.relations[self.annotations_.rows]] = True
        own |= cuts[:-1] != cuts[-1]  # the pooled methods tell relations apart before anybody judged them
        ahead = method.foresee(pool, self.annotations_, known) if isinstance(method, Foresighted) else None
        self.gain_ = ahead.gain if ahead else None
        lower, upper = (ahead.lower[:-1], ahead.upper[:-1]) if ahead else (None, None)
        self.thresholds_ = Thresholds(triples.relation_names, cuts[:-1], float(cuts[-1]), own, lower, upper)
        return self

    def predict(self, triples: ScoredTriples) -> BoolArray:
        """Say of each triple whether it is accepted, shape (N,)."""
        check_is_fitted(self)
        return self.thresholds_.decide(triples)

    def predict_proba(self, triples: ScoredTriples) -> FloatArray:
        """Return P(false) and P(true) of each triple, shape (N, 2)."""
        check_is_fitted(self)
        squash = self.squash_
        true = find_method(self.method).estimate(
            _apply(squash, self.pool_), self.annotations_, _apply(squash, triples), _apply(squash, self.known_)
        )
        return np.column_stack([1 - true, true])

    def curves(self) -> Curves | None:
        """Return P(true) against the score for every relation, as a table; None if the method has no probabilities."""
        check_is_fitted(self)
        try:
            return tabulate_curves(lambda triples: self.predict_proba(triples)[:, 1], self.pool_)
        except OptionError:
            return None


def _squash_for(method: Method, pool: ScoredTriples) -> Squash | None:
    return Squash.of(pool) if method.wants_squashed and needs_squashing(pool) else None


def _apply(squash: Squash | None, triples: Any) -> Any:
    return triples if squash is None or triples is None else squash.apply(triples)
