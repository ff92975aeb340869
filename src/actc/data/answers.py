"""Answers about triples, whichever pool they were asked from: read, kept, and matched with the candidates of today.

An answer is about a triple, not about a score: it outlives the model and the candidates that it was given to.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from actc.data.files import answer_columns, read_answers, write_triples
from actc.data.triples import Annotations, BoolArray, IntArray, Triples, encode_columns
from actc.errors import FileError

UNUSED = (
    ("is a fact of the graph already", "are facts of the graph already"),
    ("names an entity or a relation that is unknown here", "name an entity or a relation that is unknown here"),
    ("is not among the candidates", "are not among the candidates"),
)
"""Why an answer is not used, and why several are not, in the order in which it is looked for."""
OTHER_POOL = (
    "They were drawn from other candidates than these: they teach what is true, and prove nothing of how good the "
    "decisions are."
)


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers by themselves.

    Parameters
    ----------
    triples : Triples
        What they are about, each once.
    annotations : Annotations
        The answer to each: row i is about triple i.
    """

    triples: Triples = field(default_factory=lambda: encode_columns([], [], []))
    annotations: Annotations = field(default_factory=Annotations)

    def __len__(self) -> int:
        return len(self.annotations)

    @classmethod
    def of(cls, pool: Triples, annotations: Annotations) -> Answers:
        """Take answers out of the pool that they are about."""
        found = pool.take(annotations.rows)
        triples = Triples(found.heads, found.relations, found.tails, found.entity_names, found.relation_names)
        sizes = np.where(
            annotations.has_inclusion_probability & (annotations.frame_size == 0), len(pool), annotations.frame_size
        )
        return cls(triples.with_used_names(), replace(annotations, rows=np.arange(len(annotations)), frame_size=sizes))

    @classmethod
    def read(cls, path: str | Path) -> Answers:
        """Read a table of answers: head, relation, tail, label, and how each was asked as far as the file has it."""
        return cls(*read_answers(path))

    def write(self, path: str | Path) -> None:
        """Write them; what :meth:`read` reads."""
        write_triples(path, {**self.triples.columns(), **answer_columns(self.annotations)})

    def take(self, rows: IntArray | BoolArray) -> Answers:
        """Return some of them (or those a mask keeps)."""
        annotations = self.annotations.take(rows)
        return Answers(self.triples.take(rows), replace(annotations, rows=np.arange(len(annotations))))

    def plus(self, more: Answers) -> Answers:
        """Return these and more; of a triple that is in both, the later answer."""
        kept = self.take(~more.triples.contains(self.triples))
        triples = kept.triples.followed_by(more.triples)
        return Answers(
            triples, kept.annotations.plus(replace(more.annotations, rows=more.annotations.rows + len(kept)))
        )

    def called_true(self, candidates: Triples, graph: Triples) -> Answers:
        """Return the answers that make a fact of what is neither a candidate nor in the graph."""
        return self.take(self.annotations.labels & ~candidates.contains(self.triples) & ~graph.contains(self.triples))

    def called_false(self, graph: Triples) -> Answers:
        """Return the answers that say of a fact of the graph that it is false."""
        return self.take(~self.annotations.labels & graph.contains(self.triples))

    def among(self, candidates: Triples, graph: Triples | None = None) -> tuple[Annotations, Use]:
        """Return the answers that are about candidates, with their rows; say of the others why they are not."""
        rows = candidates.rows_of(self.triples)
        annotations = self.annotations.drawn_from(len(candidates))
        if annotations.has_inclusion_probability[rows < 0].any():  # a pool of that size, and another one
            annotations = annotations.without_inclusion_probability()
        found, unused = rows >= 0, explain_unused(self.triples.take(rows < 0), candidates, graph)
        unproved = bool(
            self.annotations.has_inclusion_probability[found].any()
            and not annotations.has_inclusion_probability[found].any()
        )
        return replace(annotations.take(found), rows=rows[found]), Use(int(found.sum()), unused, unproved)


@dataclass(frozen=True)
class Use:
    """What answers were good for."""

    used: int  # how many are about candidates
    unused: tuple[int, ...]  # how many are not, by the reasons in ``UNUSED``
    unproved: bool = False  # whether they were random draws from another pool, and prove nothing of this one

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know: nothing, where every answer is used as it was given."""
        missed = (describe_unused(self.used, self.unused),) if any(self.unused) else ()
        return (*missed, *((OTHER_POOL,) if self.unproved else ()))

    def refuse_none(self, source: str | Path, candidates: str) -> None:
        """Refuse answers of which none is about candidates."""
        if not self.used and any(self.unused):
            why = _reasons(self.unused)
            raise FileError(f"{source}: none of its {sum(self.unused):,} answers is about {candidates}: {why}.")


def describe_unused(used: int, unused: tuple[int, ...]) -> str:
    """Describe how many answers are used, and why others are not."""
    summary = f"{used:,} of {used + sum(unused):,} answers are about candidates and are used"
    return f"{summary}; {_reasons(unused)}." if any(unused) else f"{summary}."


def _reasons(unused: tuple[int, ...]) -> str:
    """Describe why answers are not used: ``3 are facts of the graph already, 1 is not among the candidates``."""
    counts = zip(unused, UNUSED, strict=True)
    return ", ".join(f"{count:,} {one if count == 1 else several}" for count, (one, several) in counts if count)


def explain_unused(others: Triples, candidates: Triples, graph: Triples | None) -> tuple[int, ...]:
    """Count answers that are about no candidate, by why they are not."""
    facts = np.zeros(len(others), dtype=np.bool_) if graph is None else graph.contains(others)
    strange = np.ones(len(others), dtype=np.bool_)
    for names in (candidates, *([] if graph is None else [graph])):
        found = others.recoded(names.entity_names, names.relation_names)
        strange &= (found.heads < 0) | (found.relations < 0) | (found.tails < 0)
    strange &= ~facts
    return int(facts.sum()), int(strange.sum()), int((~facts & ~strange).sum())
