"""What is looked at: proposals, and one gathering of their evidence by facts and candidates with the same codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from actc.data.triples import FloatArray, IntArray, ScoredTriples, Triples
from actc.errors import TableError
from actc.evidence.plan import Limits, candidate_steps, graph_steps
from actc.graph.graph import Graph

Progress = Callable[[int, int, str], object]
VOCABULARIES = ("entity_names", "relation_names")
HAS = "has_"  # before the name of a piece: whether it is there
NO_COLUMN = "The candidates have no {!r}, which the training set's proposals have; give both the same."
CHUNK = 1_000_000  # candidates looked at together; more would only take more memory


@dataclass(frozen=True, eq=False)
class Proposals:
    """Triples to look at, and what their proposers say of each.

    Parameters
    ----------
    triples : Triples
        N triples.
    scores : tuple of float arrays of shape (N,)
        One for each model; NaN where a model has no score.
    marks : mapping of str to float array of shape (N,)
        Further pieces of evidence, such as who proposed it or the confidence of a rule; NaN where one is missing.
    """

    triples: Triples
    scores: tuple[FloatArray, ...] = ()
    marks: Mapping[str, FloatArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lengths = [len(column) for column in (*self.scores, *self.marks.values())]
        if set(lengths) - {len(self.triples)}:
            raise TableError(
                f"Each model must score the same {len(self.triples)} candidates; the columns have {lengths} rows."
            )

    @classmethod
    def of(cls, given: Self | ScoredTriples) -> Self:
        """Take a model's scored triples as its proposals."""
        return cls(given, (given.scores,)) if isinstance(given, ScoredTriples) else given

    def __len__(self) -> int:
        return len(self.triples)

    def take(self, rows: ArrayLike) -> Self:
        """Return the given rows, or those that a mask keeps."""
        rows = np.asarray(rows)
        marks = {name: values[rows] for name, values in self.marks.items()}
        return type(self)(self.triples.take(rows), tuple(scores[rows] for scores in self.scores), marks)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the graph and the models say of candidates, in the order of the candidates.

    Parameters
    ----------
    candidates : Triples
        N candidates.
    columns : tuple of str
        Names of the F pieces of evidence.
    values : float array of shape (N, F)
        NaN where a piece is missing.
    named : int array of shape (N, M)
        Codes that the sentences name, in the order of ``NAMED_COLUMNS``.
    entity_names, relation_names : tuple of str
        Of the codes in ``named``; slot 2 r is relation r from its head, 2 r + 1 from its tail.
    """

    candidates: Triples
    columns: tuple[str, ...]
    values: FloatArray
    named: IntArray
    entity_names: tuple[str, ...]
    relation_names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.values)

    def column(self, name: str) -> FloatArray:
        """Return one piece of evidence, shape (N,)."""
        if name not in self.columns:
            raise TableError(NO_COLUMN.format(name))
        return np.asarray(self.values[:, self.columns.index(name)])

    def take(self, rows: ArrayLike) -> Self:
        """Return the evidence of some candidates."""
        rows = np.asarray(rows)
        return replace(self, candidates=self.candidates.take(rows), values=self.values[rows], named=self.named[rows])


@dataclass(frozen=True, eq=False)
class Work:
    """One gathering: facts and candidates by the same codes, and how it is done.

    Parameters
    ----------
    graph, candidates : Graph
        Facts and N candidates.
    scores : tuple of float arrays of shape (N,)
    rows : int array of shape (N,)
        Where each of them stands among the candidates that were given. If there are more than a chunk,
        they stand relation by relation here, since a chunk should ask for few slots.
    limits : Limits
    report : callable
        Called with the name of each step that is done.
    """

    graph: Graph
    candidates: Graph
    scores: tuple[FloatArray, ...]
    rows: IntArray
    limits: Limits
    report: Callable[[str], None]

    @classmethod
    def of(
        cls,
        graph: Graph,
        candidates: Proposals | ScoredTriples,
        limits: Limits | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Give facts and candidates the same codes."""
        given = Proposals.of(candidates)
        limits = limits or Limits.for_count(len(given))
        names = [tuple(sorted({*getattr(graph, one), *getattr(given.triples, one)})) for one in VOCABULARIES]
        targets, scores, rows = _recode(given.triples, *names), given.scores, np.arange(len(given))
        if len(given) > CHUNK:
            rows = np.lexsort((targets.heads, targets.relations))
            targets, scores = targets.take(rows), tuple(column[rows] for column in scores)
        steps = len(graph_steps(limits)) + len(scores) + -(-len(targets) // CHUNK) * len(candidate_steps(limits))
        return cls(_recode(graph, *names), targets, scores, rows, limits, count_steps(progress, steps))

    @property
    def models(self) -> int:
        """How many models' scores there are."""
        return len(self.scores)


@dataclass(frozen=True, eq=False)
class Part:
    """What was found of some candidates.

    Parameters
    ----------
    ids : int array of shape (n,)
        Their places in ``Work.candidates``.
    found : mapping of str to arrays of shape (n,)
        Masked where there is nothing.
    """

    ids: IntArray
    found: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.ids)

    def column(self, name: str) -> FloatArray:
        """Return one column, shape (n,); NaN where there is nothing."""
        if name not in self.found:
            raise TableError(NO_COLUMN.format(name))
        return with_nan(self.found[name])

    def values(self, columns: Iterable[str]) -> FloatArray:
        """Return some columns side by side, shape (n, F)."""
        return np.column_stack([self.column(name) for name in columns])


def _recode(triples: Triples, *names: Sequence[str]) -> Graph:
    """Return triples as codes of four bytes, half of what others have: there may be many millions."""
    coded = Graph.of(triples).recoded(*names)
    small: Any = {name: getattr(coded, name).astype(np.int32) for name in ("heads", "relations", "tails")}
    return replace(coded, **small)


def with_nan(column: Any) -> FloatArray:
    """Return a column of the database with NaN where it has NULL."""
    return np.ma.filled(np.ma.asarray(column).astype(np.float64), np.nan)


def count_steps(progress: Progress | None, total: int) -> Callable[[str], None]:
    """Return a function to call after each step, which passes on how many of ``total`` steps are done."""
    done = 0

    def report(name: str) -> None:
        nonlocal done
        done = min(done + 1, total)
        if progress is not None:
            progress(done, total, name)

    return report
