"""A method and its fit as one scikit-learn-style estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from actc.data.answers import Annotations, Answers
from actc.data.calibration import Curves, tabulate_curves
from actc.data.frames import as_labels
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Thresholds
from actc.errors import OptionError, TableError
from actc.methods.named import Fit, Method, find_method, finds_cuts, warn_of_scores
from actc.methods.three_steps import NO_ANSWER


class Calibrator(BaseEstimator):  # type: ignore[misc]
    """Find out where "true" begins in each relation, from a few answers.

    It clones, prints, scores and is fitted like any estimator of scikit-learn; but on triples, with answers to some of
    them. With one label for each triple (NaN where nobody answered) in the place of ``Answers``, ``cross_val_score``
    and ``GridSearchCV`` work: they fit it on some of the triples, and score it on the others that have a label.
    Pipelines and ``check_estimator``, which fill arrays of numbers, cannot be used with it.

    Parameters
    ----------
    method : str or Method
        A name in ``METHODS``, with options if wanted (``"actc-lr-rndm:n=50"``), or a method of your own. The
        pooled methods work from zero annotations on.
    random_state : int, numpy Generator or None
        Where random selection comes from.

    Attributes
    ----------
    thresholds_ : Thresholds or None
        One cut per relation, in units of the scores given to :meth:`fit`; with an interval, from pooled methods. None
        where no cut on the score decides as :meth:`predict` does.
    classes_ : bool array of shape (2,)
        False and True, in the order of :meth:`predict_proba`'s columns.
    fit_ : Fit
        The method's fit, for every other question.

    Examples
    --------
    >>> from actc import Answers, Calibrator, ScoredTriples
    >>> pool = ScoredTriples.from_columns("abcd", "rrrr", "wxyz", [0.1, 0.4, 0.6, 0.9])
    >>> calibrator = Calibrator("actc-lr-rndm", random_state=0)
    >>> rows = calibrator.select(2, pool)
    >>> labels = pool.scores[rows] > 0.3  # here a person would judge
    >>> calibrator.fit(pool, Answers.of(pool, rows, labels)).predict(pool).tolist()
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
            fit = find_method(self.method).fit(_check_triples(triples), Annotations(), _check_known(known))
        else:
            check_is_fitted(self)
            fit = self.fit_
        return fit.pick(count, np.random.default_rng(self.random_state)).rows

    def fit(
        self,
        triples: ScoredTriples,
        answers: Answers | Annotations | ArrayLike | None = None,
        known: ScoredTriples | None = None,
    ) -> Self:
        """Find the thresholds.

        Parameters
        ----------
        triples : ScoredTriples
            The pool of candidates.
        answers : Answers, or array of shape (N,)
            Answers about some of them; or a label for each, NaN where nobody answered.
        known : ScoredTriples, optional
            Triples that the graph holds already, with their scores; only some methods use them.
        """
        method, pool = find_method(self.method), _check_triples(triples)
        annotations = _check_answers(answers, pool)
        warn_of_scores(method, pool)
        fit = method.fit(pool, annotations, _check_known(known))
        if not len(annotations) and finds_cuts(method):
            raise OptionError(NO_ANSWER)
        self.pool_, self.annotations_ = pool, annotations
        self.fit_: Fit = fit
        self.classes_: BoolArray = np.array([False, True])
        self.thresholds_: Thresholds | None = fit.thresholds
        return self

    def predict(self, triples: ScoredTriples) -> BoolArray:
        """Return which triples the method accepts, shape (N,).

        A person's word on a triple does not count before the method's here; in ``accept_triples`` it does.
        """
        check_is_fitted(self)
        return self.fit_.accepts(_check_triples(triples))

    def score(self, triples: ScoredTriples, labels: ArrayLike) -> float:
        """Return the accuracy on labelled triples: the share that is accepted if true, rejected if false.

        Parameters
        ----------
        triples : ScoredTriples
        labels : bool array of shape (N,)
            NaN where nobody answered: these do not count.
        """
        predicted, true = self.predict(triples), as_labels(labels)
        if true.shape != predicted.shape:
            raise TableError(f"There are {len(predicted)} triples but labels of the shape {true.shape}.")
        answered = true == true
        return float((predicted == true)[answered].mean()) if answered.any() else float("nan")

    def predict_proba(self, triples: ScoredTriples) -> FloatArray:
        """Return P(false) and P(true) of each triple by the fit, shape (N, 2).

        Whatever decides (``accept_triples``, thresholds.json) looks it up in a table of this, :meth:`curves`, equal to
        about two digits. And there a person's word comes first: what was judged has the probability 0 or 1.
        """
        check_is_fitted(self)
        true = self.fit_.probabilities(_check_triples(triples))
        if true is None:
            raise OptionError("This method decides without probabilities; use an actc or a pooled method for them.")
        return np.column_stack([1 - true, true])

    def curves(self) -> Curves | None:
        """Return P(true) against the score for every relation, as a table; None if the method has no probabilities."""
        check_is_fitted(self)
        return tabulate_curves(self.fit_.probabilities, self.pool_)


def _check_known(known: object) -> ScoredTriples | None:
    return None if known is None else _check_triples(known)


def _check_triples(triples: object) -> ScoredTriples:
    if isinstance(triples, ScoredTriples):
        return triples
    raise TableError(
        f"Scored triples were expected, not a {type(triples).__name__}; make them with "
        "ScoredTriples.from_frame(frame) or ScoredTriples.from_columns(heads, relations, tails, scores)."
    )


def _check_answers(answers: Any, pool: ScoredTriples) -> Annotations:
    if answers is None:
        return Annotations()
    if isinstance(answers, Annotations):
        return answers
    if isinstance(answers, Answers):
        return answers.warn_of_unused(pool).on(pool)
    if np.ndim(answers) == 1 and np.size(answers) == len(pool):
        labels = as_labels(answers)
        rows = np.flatnonzero(labels == labels)
        return Annotations(rows, labels[rows])
    raise TableError(
        f"Answers were expected, or a label for each triple, not a {type(answers).__name__}; say which rows of the "
        "pool were judged, and how: Answers.of(pool, rows, labels)."
    )
