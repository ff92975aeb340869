"""What the evidence is worth: learnt from facts that the model was not trained on, against its proposals.

A ridge logistic model on normal quantiles comes first, and is all where held facts are few. Where they are many, what
it says of a candidate is compared with what it says of the best rivals for the same questions, and boosted trees learn
from all of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from actc.errors import FileError, TableError
from actc.evidence.plan import QUESTION_COLUMNS
from actc.evidence.quantiles import Quantiles
from actc.evidence.table import Evidence
from actc.evidence.trees import Trees
from actc.numeric import logit, sigmoid
from actc.tables.files import write_json
from actc.triples import BoolArray, FloatArray, IntArray, ScoredTriples


@dataclass(frozen=True)
class Choices:
    """Settings of the learner, each the best on the mean of the proving ground's pool halves.

    What each graph would get by the others is in ``benchmarks/evidence/chosen.csv``: ``ridge`` and ``steeper`` come out
    as here but for one graph (UMLS would get 1 for ``steeper``); learnt from ``many`` held facts, trees are ahead on
    three of four graphs and level on the fourth. ``share`` is a first guess.

    Parameters
    ----------
    ridge : float
        Strength of the ridge: one unit of a weight costs as much as this many cases.
    many : int
        Held facts among the proposals from which trees are better than the ridge.
    share : float
        Share of true proposals to begin with where it has to be estimated.
    steeper : float
        What weights are multiplied by where the other proposals count as unlabelled: the true ones among them
        flatten what is learnt.
    """

    ridge: float = 10.0
    many: int = 700
    share: float = 0.2
    steeper: float = 1.5


CHOICES = Choices()
FOLDS = 5


@dataclass(frozen=True, eq=False)
class Ridge:
    """A logistic model on normal quantiles: log-odds = intercept + quantiles @ weights.

    Parameters
    ----------
    quantiles : Quantiles
        Of F columns.
    weights : float array of shape (F,)
    intercept : float
    """

    quantiles: Quantiles
    weights: FloatArray
    intercept: float

    @classmethod
    def learn(cls, table: FloatArray, labels: BoolArray, cases: FloatArray, ridge: float) -> Self:
        """Learn from a table of shape (N, F) whose rows count as ``cases`` each."""
        from sklearn.linear_model import LogisticRegression

        quantiles = Quantiles.of(table, cases)
        model = LogisticRegression(C=1 / ridge, max_iter=1000).fit(quantiles.transform(table), labels, cases)
        return cls(quantiles, model.coef_[0], float(model.intercept_[0]))

    def pieces(self, table: FloatArray) -> FloatArray:
        """Return what each column adds to the log-odds, shape (N, F)."""
        return self.quantiles.transform(table) * self.weights

    def log_odds(self, table: FloatArray) -> FloatArray:
        """Return the log-odds, shape (N,)."""
        return np.asarray(self.intercept + self.pieces(table).sum(axis=1))

    def steeper(self, times: float, table: FloatArray, share: float) -> Self:
        """Return it with weights so many times as large, and a share of a table of shape (N, F) expected true."""
        from scipy.optimize import brentq

        log_odds = times * (self.log_odds(table) - self.intercept)
        intercept = brentq(lambda more: float(sigmoid(log_odds + more).mean()) - share, *_bounds(log_odds, share))
        return replace(self, weights=times * self.weights, intercept=float(intercept))

    def to_data(self) -> dict[str, Any]:
        """Return it as lists."""
        return {"quantiles": self.quantiles.to_data(), "weights": self.weights.tolist(), "intercept": self.intercept}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """Read what :meth:`to_data` wrote."""
        return cls(Quantiles.from_data(data["quantiles"]), np.array(data["weights"]), float(data["intercept"]))


@dataclass(frozen=True, eq=False)
class Worth:
    """What each piece of evidence is worth.

    Parameters
    ----------
    columns : tuple of str
        The F pieces.
    ridge : Ridge
        On the pieces; the sentences take their weights from it.
    trees : Trees or None
        On the pieces, the ridge's log-odds and how far ahead of its rivals a candidate is, F + 3 columns.
    share : float
        The share of true candidates to expect before any answer.
    held : int
        How many held facts it was learnt from.
    """

    columns: tuple[str, ...]
    ridge: Ridge
    trees: Trees | None
    share: float
    held: int

    def log_odds(self, evidence: Evidence) -> FloatArray:
        """Return the log-odds that each candidate is true, shape (N,)."""
        table = pieces_of(evidence, self.columns)
        if self.trees is None:
            return self.ridge.log_odds(table)
        return self.trees.log_odds(with_rivals(table, self.ridge, evidence.candidates))

    @property
    def with_scores(self) -> bool:
        """Whether the models' scores count: not where the graph's own facts taught it."""
        return any(map(_is_of_scores, self.columns))

    def weights(self) -> dict[str, float]:
        """Return the weight of every piece: log-odds per standard deviation; beside trees still those of the ridge."""
        return dict(zip(self.columns, self.ridge.weights.tolist(), strict=True))

    def save(self, path: str | Path) -> None:
        """Write it as JSON."""
        content = {"columns": list(self.columns), "weights": self.weights(), "share": self.share, "held": self.held}
        content |= {"ridge": self.ridge.to_data(), "trees": self.trees.to_data() if self.trees else None}
        write_json(path, content)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
            trees = Trees.from_data(data["trees"]) if data["trees"] else None
            ridge = Ridge.from_data(data["ridge"])
            return cls(tuple(data["columns"]), ridge, trees, float(data["share"]), int(data["held"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FileError(f"{path} does not hold weights of evidence ({error}); learn them again.") from None


def pieces_of(evidence: Evidence, columns: Sequence[str]) -> FloatArray:
    """Return some pieces of evidence in single precision, shape (N, F).

    A database adds numbers up in any order, so their last digits differ from run to run, and trees would cut at them.
    """
    return evidence.only(columns).values.astype(np.float32).astype(np.float64)


def learn_worth(evidence: Evidence, held: BoolArray, own_questions: bool = True, with_scores: bool = True) -> Worth:
    """Learn from proposals of which some are held facts.

    Parameters
    ----------
    evidence : Evidence
        Of N proposals, looked at in a graph without the held facts.
    held : bool array of shape (N,)
        True for the held facts.
    own_questions : bool
        True when these are the proposals for the held facts' own questions, so that the share of held ones among them
        is the share of true ones. Otherwise it is estimated, and the other proposals count as unlabelled.
    with_scores : bool
        False where scores and places of held facts and proposals cannot be compared: the model was trained on the held
        facts, or they were put among proposals for other questions. Then they are left out.

    Returns
    -------
    Worth
    """
    held = np.asarray(held, dtype=np.bool_)
    count = int(held.sum())
    if count < 2 or count == len(held):
        raise TableError(f"{count} of {len(held)} proposals are held facts; two and other proposals are needed.")
    columns = tuple(name for name in evidence.columns if with_scores or not _is_of_scores(name))
    table = pieces_of(evidence, columns)
    share = count / len(held) if own_questions else expect_share(table, held)
    ridge = Ridge.learn(table, held, _count_cases(held, share), CHOICES.ridge)
    if not own_questions:
        ridge = ridge.steeper(CHOICES.steeper, table[~held], share)
    trees = None
    if own_questions and count >= CHOICES.many:
        trees = Trees.learn(with_rivals(table, ridge, evidence.candidates), held, _count_cases(held, share))
    return Worth(columns, ridge, trees, share, count)


def expect_share(table: FloatArray, held: BoolArray) -> float:
    """Estimate the share of true ones among unlabelled proposals from a table of shape (N, F).

    Half of the true ones stand above the median held fact, and hardly a false one does, so the share is twice that of
    the proposals there. Each row is judged by weights learnt without it.
    """
    fold = np.random.default_rng(0).integers(0, FOLDS, len(held))
    log_odds = np.zeros(len(held))
    for k in range(FOLDS):
        rest, these = fold != k, fold == k
        if held[rest].any() and these.any():
            cases = _count_cases(held[rest], CHOICES.share)
            log_odds[these] = Ridge.learn(table[rest], held[rest], cases, CHOICES.ridge).log_odds(table[these])
    above = float((log_odds[~held] >= np.median(log_odds[held])).mean())
    return min(max(2 * above, 0.5 / len(held)), 0.9)


def _bounds(log_odds: FloatArray, share: float) -> tuple[float, float]:
    """Return two intercepts between which the mean probability reaches a share."""
    middle = float(logit(np.array(share)))
    return middle - float(log_odds.max()), middle - float(log_odds.min())


def _count_cases(held: BoolArray, share: float) -> FloatArray:
    """Weight rows so that held facts are the given share of all, shape (N,)."""
    count = int(held.sum())
    return np.where(held, share / count, (1 - share) / (len(held) - count)) * len(held)


def score_columns(evidence: Evidence) -> tuple[str, ...]:
    """Return the names of the pieces that come from models' scores."""
    return tuple(filter(_is_of_scores, evidence.columns))


def _is_of_scores(name: str) -> bool:
    return re.sub(r"_\d+$", "", name) in QUESTION_COLUMNS  # score_2 is the second model's


def with_rivals(table: FloatArray, ridge: Ridge, candidates: ScoredTriples) -> FloatArray:
    """Put the ridge's log-odds beside the pieces, and how far ahead of its rivals each is: shape (N, F + 3)."""
    return np.column_stack([table, compare_rivals(ridge.log_odds(table), candidates)])


def compare_rivals(log_odds: FloatArray, candidates: ScoredTriples) -> FloatArray:
    """Return log-odds, and how far they are ahead of the best rival for the tail and for the head, shape (N, 3)."""
    tails = candidates.heads * len(candidates.relation_names) + candidates.relations
    heads = candidates.tails * len(candidates.relation_names) + candidates.relations
    return np.column_stack([log_odds, ahead_of_rivals(log_odds, tails), ahead_of_rivals(log_odds, heads)])


def ahead_of_rivals(values: FloatArray, groups: IntArray) -> FloatArray:
    """Return how far each value is above the best other one of its group, 0 where it is alone, shape (N,)."""
    order = np.lexsort((-values, groups))
    inverse = np.empty(len(order), dtype=np.int64)
    inverse[order] = np.arange(len(order))
    begins = np.append(True, np.diff(groups[order]) != 0)
    first = np.flatnonzero(begins)[np.cumsum(begins) - 1]
    sizes = np.diff(np.append(np.flatnonzero(begins), len(order)))[np.cumsum(begins) - 1]
    ranked = values[order]
    rival = np.where(begins, np.where(sizes > 1, first + 1, first), first)
    return np.asarray((ranked - ranked[np.minimum(rival, len(order) - 1)])[inverse])
