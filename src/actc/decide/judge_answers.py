"""What machines said of the candidates of a pool, as aligned arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from actc.data.answers import as_labels
from actc.data.database import open_database
from actc.data.files import TRIPLE, find_layout, require, rows_named_by, with_columns
from actc.data.frames import as_list, read_frame, read_optional
from actc.data.triples import BoolArray, FloatArray, IntArray, Triples, encode_columns
from actc.errors import RowError, TableError

WORDS = ("label", "probability")
"""The columns that hold an answer; one is enough."""


@dataclass(frozen=True, eq=False)
class JudgeAnswers:
    """Answers true or false; whoever was unsure, or said what made no sense, is not here.

    Parameters
    ----------
    rows : int array of shape (A,)
        Rows of the pool; of one judge each at most once.
    judges : int array of shape (A,)
        Who said it, a place in ``names``.
    signals : float array of shape (A,)
        2 p - 1 of the probability that the judge gave; without one, 1 for true and -1 for false.
    names : tuple of str
        The J judges.
    """

    rows: IntArray
    judges: IntArray
    signals: FloatArray
    names: tuple[str, ...]

    @classmethod
    def of(
        cls, rows: IntArray, judges: IntArray, said: BoolArray, probability: FloatArray, names: Sequence[str]
    ) -> Self:
        """Make signals of answers; NaN where a judge gave no probability, or one on the other side of its answer."""
        own = np.where(np.isnan(probability), 0.5, probability)
        fits = np.where(said, own > 0.5, own < 0.5)
        return cls(rows, judges, np.where(fits, 2 * own - 1, np.where(said, 1.0, -1.0)), tuple(names))

    @classmethod
    def from_frame(cls, pool: Triples, frame: Any) -> Self:
        """Take the columns head, relation, tail, judge, and label (1 or 0) or probability of a data frame.

        An empty cell is no answer, nor is a probability of 0.5; of a judge that answered twice the later answer counts.
        """
        heads, relations, tails, judge = read_frame(frame, (*TRIPLE, "judge"))
        answers = read_optional(frame, WORDS)
        if not answers:
            raise TableError("The answers of judges need a column 'label' (1 or 0) or 'probability' (0 to 1).")
        named = encode_columns(heads, relations, tails)
        rows = pool.rows_of(named)
        if (rows < 0).any():
            at = int(np.argmax(rows < 0))
            raise RowError(at, f"the triple {named.triple(at)} is not among the candidates; leave it out.")
        probability = (
            _as_probabilities(answers["probability"]) if "probability" in answers else np.full(len(rows), np.nan)
        )
        label = np.asarray(as_labels(answers["label"]), dtype=np.float64) if "label" in answers else probability
        names, judges = np.unique([str(name) for name in as_list(judge)], return_inverse=True)
        said = np.flatnonzero(~np.isnan(label) & (label != 0.5))
        _, last = np.unique((rows * len(names) + judges)[said][::-1], return_index=True)
        kept = np.sort(said[len(said) - 1 - last])
        return cls.of(rows[kept], judges[kept], label[kept] > 0.5, probability[kept], names.tolist())

    @classmethod
    def none(cls) -> Self:
        """Return the answers of nobody."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(nothing, nothing, np.zeros(0), ())

    def __len__(self) -> int:
        return len(self.rows)

    def table(self, count: int) -> FloatArray:
        """Return the signals of every judge on every row of a pool, shape (N, J); NaN where it said nothing."""
        signals = np.full((count, len(self.names)), np.nan)
        kept = self.rows < count
        signals[self.rows[kept], self.judges[kept]] = self.signals[kept]
        return signals


def _as_probabilities(column: Any) -> FloatArray:
    """Return probabilities; NaN where a cell is empty."""
    found = np.full(len(cells := as_list(column)), np.nan)
    for row, cell in enumerate(cells):
        try:
            found[row] = np.nan if cell is None or cell == "" else float(cell)
        except (TypeError, ValueError):
            found[row] = -1.0
        if not np.isnan(found[row]) and not 0 <= found[row] <= 1:
            raise RowError(row, f"the probability is {cell!r}; write a number from 0 to 1, or nothing.")
    return found


def read_judge_answers(path: str | Path, pool: Triples) -> JudgeAnswers:
    """Read a table with a header: head, relation, tail, judge, and label (1 or 0) or probability."""
    layout = with_columns(find_layout(path), ("judge", *WORDS))
    require(layout, (*TRIPLE, "judge"))
    names = [name for name in (*TRIPLE, "judge", *WORDS) if name in layout.position]
    with rows_named_by(layout):
        with open_database() as connection:
            found = connection.execute(f"SELECT {layout.texts(names)} FROM {layout.source}").fetchnumpy()
        cells = {name: np.where(np.ma.getmaskarray(found[name]), None, found[name]) for name in names}
        return JudgeAnswers.from_frame(pool, cells)
