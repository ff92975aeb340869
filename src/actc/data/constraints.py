"""Constraints as a table: what may not be true together, how sure that is, and the source.

A person may read and edit the file: ``use`` is ``hard`` (never violated by what is accepted), ``soft`` (evidence
against) or ``no``.
"""

from __future__ import annotations

import csv
import logging
from collections.abc import Iterable
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from actc.data.text_files import open_text, write_csv
from actc.data.triples import BoolArray, FloatArray
from actc.errors import FileError, check_choice

LOG = logging.getLogger("actc")
KINDS = {
    "functional": "a head has at most one tail of the relation",
    "inverse-functional": "a tail has at most one head of the relation",
    "asymmetric": "the relation does not hold both ways",
    "irreflexive": "nothing stands in the relation to itself",
    "domain": "a head of the relation is of the class",
    "range": "a tail of the relation is of the class",
    "disjoint": "nothing is of both classes",
    "not-both": "the two relations do not hold between the same two",
    "type": "the relation gives the class of an entity",
    "subclass": "the relation gives the class that another is a part of",
}
USES = ("hard", "soft", "no")
COLUMNS = ("kind", "relation", "other", "cases", "share", "source", "use")
DOUBT = 0.05
"""The lower bound of a share is exceeded with all but this probability."""
EXPECTED = np.e - 2
"""Where one true triple is expected in a place, and they fall independently, so many have two or more for each that has
exactly one: (e - 2) / 1 of a Poisson distribution."""


@dataclass(frozen=True)
class Constraint:
    """One constraint."""

    kind: str  # a name in ``KINDS``
    # relation, other: what it is about: a relation, and another relation or a class where the kind has one; two classes
    # if disjoint
    relation: str
    other: str = ""
    use: str = "soft"
    cases: int = 0  # places of the graph that could have violated it
    share: float = float("nan")  # those of them that do not; NaN where there are none
    source: str = ""  # where it comes from
    # the factor of a candidate's odds where a fact contradicts it, as the candidates bear it out; NaN where nobody
    # looked: then :attr:`rho`
    against: float = float("nan")

    def __post_init__(self) -> None:
        if not all(isinstance(text, str) for text in (*self.key, self.use)):
            raise ValueError(f"A constraint is made of texts, not of {self.key}.")
        check_choice("kind of constraint", self.kind, KINDS)
        check_choice("use of a constraint", self.use, USES)

    @property
    def key(self) -> tuple[str, str, str]:
        """Its content, without its source and how sure it is."""
        return (self.kind, self.relation, self.other)

    @property
    def rho(self) -> float:
        """By how much "more than one is true" is less probable than it would be if triples were independent.

        0 where the constraint is hard; else the exceptions' odds, at the most that the cases allow, against those of
        independent triples. 1, no effect, where there are no cases.
        """
        if self.use == "hard":
            return 0.0
        least = lower_share(self.cases, self.share)
        return float(min(1.0, (1 - least) / max(least, 1e-12) / EXPECTED))

    def __str__(self) -> str:
        return " ".join(filter(None, self.key))


def lower_share(cases: int, share: float) -> float:
    """Return the lower bound of a share by its cases: the quantile ``DOUBT`` of a Beta posterior, uniform before."""
    from scipy.special import betaincinv

    fitting = round(cases * share) if cases else 0
    return float(betaincinv(fitting + 1, cases - fitting + 1, DOUBT))


@dataclass(frozen=True, eq=False, repr=False)
class Constraints:
    """Some constraints, each once, and what was left out when they were read."""

    each: tuple[Constraint, ...] = ()
    notes: tuple[str, ...] = ()  # what was not understood, in sentences

    def __len__(self) -> int:
        return len(self.each)

    def __repr__(self) -> str:
        counts = ", ".join(f"{sum(one.use == use for one in self.each):,} {use}" for use in USES)
        return f"Constraints({len(self):,}: {counts})"

    @property
    def used(self) -> Constraints:
        """Those that decide something: hard ones, and soft ones with an effect; and the vocabulary."""
        return Constraints(tuple(one for one in self.each if one.use != "no" and one.rho < 1), self.notes)

    def of(self, *kinds: str) -> list[Constraint]:
        """Return those of some kinds."""
        return [one for one in self.each if one.kind in kinds]

    @property
    def relations(self) -> list[str]:
        """The relations that the constraints are about; triples of any other are decided by themselves."""
        plain = [one.relation for one in self.each if one.kind != "disjoint"]
        return sorted({*plain, *(one.other for one in self.of("not-both"))})

    def warn_of_unknown(self, known: Iterable[str], where: str) -> None:
        """Print, through the logger ``actc``, which relations of hard constraints are none of those that are known."""
        hard = Constraints(tuple(one for one in self.each if one.use == "hard")).relations
        names = sorted(set(known))
        for name in [name for name in hard if name not in names][:3]:
            near = get_close_matches(name, names, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            LOG.warning("A hard constraint is about the relation %r, which is not in %s.%s", name, where, hint)

    @cached_property
    def rho(self) -> FloatArray:
        """The factor of each, shape (C,)."""
        return np.array([one.rho for one in self.each], dtype=np.float64)

    @cached_property
    def against(self) -> FloatArray:
        """The factor of each against facts, shape (C,)."""
        against = np.array([one.against for one in self.each], dtype=np.float64)
        return np.where(np.isnan(against), self.rho, against)

    @property
    def hard(self) -> BoolArray:
        """Which are hard, shape (C,)."""
        return np.array([one.use == "hard" for one in self.each], dtype=np.bool_)

    def plus(self, more: Constraints) -> Constraints:
        """Return these and more; of two that say the same, the one here."""
        each: dict[tuple[str, ...], Constraint] = {}
        for one in (*self.each, *more.each):
            each.setdefault(one.key, one)
        return Constraints(tuple(each.values()), (*self.notes, *more.notes))

    def columns(self) -> dict[str, list[Any]]:
        """Return all columns, for thresholds.json."""
        return {field.name: [getattr(one, field.name) for one in self.each] for field in fields(Constraint)}

    @classmethod
    def from_columns(cls, columns: dict[str, Any]) -> Self:
        """Take such columns."""
        names = [field.name for field in fields(Constraint)]
        rows = zip(*(columns[name] for name in names), strict=True)
        return cls(tuple(_typed(dict(zip(names, row, strict=True))) for row in rows))

    def write(self, path: str | Path) -> None:
        """Write a table that a person can edit: .tsv."""
        shares = ["" if np.isnan(one.share) else f"{one.share:.6g}" for one in self.each]
        rows = [(*one.key, one.cases, share, one.source, one.use) for one, share in zip(self.each, shares, strict=True)]
        write_csv(path, [COLUMNS, *rows], delimiter="\t")

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read such a table back, or say in one sentence which line is wrong."""
        with open_text(Path(path)) as file:
            reader = csv.DictReader(file, delimiter="\t")
            missing = [name for name in ("kind", "relation", "use") if name not in (reader.fieldnames or ())]
            if missing:
                raise FileError(
                    f"{path}: the column {missing[0]!r} is missing; `actc constraints` writes such a table."
                )
            each = []
            for row in reader:
                try:
                    each.append(_typed({name: row[name] or "" for name in COLUMNS if row.get(name) is not None}))
                except ValueError as error:
                    raise FileError(f"{path}, line {reader.line_num}: {error}") from None
        return cls(tuple(each))


def _typed(row: dict[str, Any]) -> Constraint:
    cases, share, against = (row.pop(name, None) for name in ("cases", "share", "against"))
    return Constraint(**row, cases=int(cases or 0), share=_number(share), against=_number(against))


def _number(text: Any) -> float:
    return float("nan" if text is None or text == "" else text)
