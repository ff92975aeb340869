"""thresholds.json: everything needed to apply thresholds later, and to know where they came from.

One table in memory (:class:`Calibration`), one writer and one reader. Paths stand in the file relative to its own
folder, so a folder can be moved with all that is in it.

A method's probabilities depend on a triple only through its relation and its score. Tabulated at evenly spaced scores
they are :class:`Curves`, and a candidate gets its own by a straight line between two neighbours: the same few
operations on every engine, so the same bits.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from actc import __version__
from actc.data.answers import Annotations, Answers
from actc.data.constraints import Constraints
from actc.data.frames import TRIPLE
from actc.data.text_files import check_file, in_json, load_json, write_json
from actc.data.triples import (
    BoolArray,
    FloatArray,
    IntArray,
    ScoredTriples,
    Thresholds,
    Vocabulary,
    as_vocabulary,
    encode_columns,
)
from actc.errors import FileError

FORMAT = "actc-thresholds"
FORMAT_VERSION = 1
KNOTS = 129
DIGITS = 5
"""Of each probability in a file."""
_AT_ONCE = 2048  # relations whose grid is in memory
_UNSEEN = "\U0010ffff"  # sorts behind every name, and is none


@dataclass(frozen=True, eq=False, repr=False)
class Curves:
    """P(true) against the score, relation by relation.

    Parameters
    ----------
    relation_names : tuple of str
        Sorted.
    low, high : float
        The scores of the first and the last knot; beyond them the probability stays as it is there.
    probabilities : float array of shape (R + 1, K)
        At evenly spaced scores from ``low`` to ``high``; the last row is for any other relation.
    """

    relation_names: tuple[str, ...]
    low: float
    high: float
    probabilities: FloatArray

    def __repr__(self) -> str:
        return f"Curves({len(self.relation_names):,} relations, scores {self.low:.4g} to {self.high:.4g})"

    @property
    def knots(self) -> int:
        """How many scores are tabulated."""
        return int(self.probabilities.shape[1])

    @property
    def scale(self) -> float:
        """Knots per unit of score; 0 where all scores are one."""
        return (self.knots - 1) / (self.high - self.low) if self.high > self.low else 0.0

    @property
    def rises(self) -> FloatArray:
        """How much the probability rises from each knot to the next, shape (R + 1, K); 0 after the last."""
        return np.diff(self.probabilities, axis=1, append=self.probabilities[:, -1:])

    def look_up(self, scores: FloatArray, relations: IntArray) -> FloatArray:
        """Return P(true) of scores, given codes into ``relation_names`` (R for any other)."""
        position = np.clip((scores - self.low) * self.scale, 0.0, self.knots - 1)
        knot = position.astype(np.int64)
        start, end = (self.probabilities[relations, np.minimum(at, self.knots - 1)] for at in (knot, knot + 1))
        return np.asarray(start + (position - knot) * (end - start))

    def codes(self, triples: ScoredTriples) -> IntArray:
        """Return which curve each triple has, shape (N,)."""
        return as_vocabulary(self.relation_names).translate(triples.relations, triples.relation_names)

    def of(self, triples: ScoredTriples) -> FloatArray:
        """Return P(true) of triples, shape (N,)."""
        return self.look_up(triples.scores, self.codes(triples))

    def as_written(self) -> Curves:
        """Return the same to the digit as a file has it."""
        return replace(self, probabilities=np.loadtxt(self.lines(), ndmin=2))

    def lines(self) -> list[str]:
        """Return the probabilities as a file has them, a line for each relation."""
        return [" ".join(f"{value:.{DIGITS}g}" for value in row.tolist()) for row in self.probabilities]

    def bars(self, thresholds: Thresholds) -> FloatArray:
        """Return the least probability that each relation's cut accepts, at most .5, shape (R + 1,)."""
        codes = as_vocabulary(self.relation_names).codes(thresholds.relation_names, len(self.relation_names))
        cuts = np.full(len(self.relation_names) + 1, thresholds.default)
        known = codes < len(self.relation_names)
        cuts[codes[known]] = thresholds.cuts[known]
        inside = np.clip(cuts, self.low, self.high)
        return np.minimum(self.look_up(inside, np.arange(len(cuts))), 0.5)


def tabulate_curves(
    probability: Callable[[ScoredTriples], FloatArray | None], pool: ScoredTriples, scores: FloatArray | None = None
) -> Curves | None:
    """Tabulate a method's probabilities over a range of scores; None where it has none."""
    names, given = [*pool.relation_names, _UNSEEN], pool.scores if scores is None else scores
    low, high = float(given.min()), float(given.max())
    parts = list[FloatArray]()
    for start in range(0, len(names), _AT_ONCE):
        own = Vocabulary(names[start : start + _AT_ONCE])
        relations, grid = np.repeat(np.arange(len(own)), KNOTS), np.tile(np.linspace(low, high, KNOTS), len(own))
        nothing = np.zeros_like(relations)
        p = probability(ScoredTriples(nothing, relations, nothing, Vocabulary([""]), own, scores=grid))
        if p is None:
            return None
        parts.append(p.reshape(len(own), KNOTS))
    return Curves(pool.relation_names, low, high, np.concatenate(parts))


@dataclass(frozen=True, eq=False, kw_only=True)
class Counts:
    """How much thresholds rest on, and what they accept of it."""

    pool: int  # candidates
    annotated: int  # answers
    annotated_true: int  # those of them that are "true"
    draws: int  # answers with an inclusion probability, on which guarantees rest
    # Of each relation, (R,):
    triples: IntArray  # candidates
    answers: IntArray
    accepted: IntArray  # accepted candidates

    @classmethod
    def of(cls, pool: ScoredTriples, annotations: Annotations, decided: BoolArray) -> Counts:
        """Count a pool, its answers, and what is accepted of it, shape (N,)."""
        size = len(pool.relation_names)
        return cls(
            pool=len(pool),
            annotated=len(annotations),
            annotated_true=int(annotations.labels.sum()),
            draws=int(annotations.has_inclusion_probability.sum()),
            triples=pool.relation_counts,
            answers=np.bincount(pool.relations[annotations.rows], minlength=size),
            accepted=np.bincount(pool.relations[decided], minlength=size),
        )


TOTALS, COUNTED = ("pool", "annotated", "annotated_true", "draws"), ("triples", "answers", "accepted")
"""The numbers of :class:`Counts`: of the pool, and of each relation."""


@dataclass(frozen=True)
class Sources:
    """Where thresholds come from, so that a report can go back there."""

    # scores, labels, known: the candidates, the answers on some of them, the scored triples that the graph holds
    scores: Path | None = None
    labels: Path | None = None
    known: Path | None = None
    session: Path | None = None  # the annotation session that has all three, instead
    candidates: Path | None = None  # what is decided on, where it is more than these scores
    graph: Path | None = None  # the facts that candidates may contradict, where there are constraints
    # how the judged triples were picked: as far as the labels show, or at random by the user's word: "unknown",
    # "random"
    picks: str = "unknown"
    columns: str | None = None  # the user's names of the columns of ``scores``

    def __bool__(self) -> bool:
        return self.scores is not None or self.session is not None

    def relative_to(self, folder: Path) -> dict[str, str | None]:
        """Return those that there are, as seen from a folder."""
        paths = {
            name: Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
            for name, path in vars(self).items()
            if isinstance(path, Path)
        }
        return {**paths, "picks": self.picks, "columns": self.columns}

    @classmethod
    def read(cls, content: dict[str, Any] | None, folder: Path) -> Sources:
        """Read what :meth:`relative_to` returned."""
        places = {"picks": "unknown", "columns": None, **(content or {})}
        picks, columns = _text(places.pop("picks")), places.pop("columns")
        paths = {name: (folder.resolve() / place).resolve() for name, place in places.items()}
        return cls(**paths, picks=picks, columns=columns)


@dataclass(frozen=True)
class GuaranteedPrecision:
    """The precision that thresholds guarantee."""

    precision: float
    confidence: float
    min_probability: float | None  # the lowest P(true) that is accepted; None where no list has passed the test
    excluded_relations: tuple[str, ...] = ()  # relations of which nothing is accepted

    @property
    def passed(self) -> bool:
        """Whether a list has passed the test, so that anything is accepted."""
        return self.min_probability is not None

    def describe(self) -> dict[str, Any]:
        """Return the precision, the confidence, and whether a list has passed, as reports have it."""
        return {"precision": self.precision, "confidence": self.confidence, "passed": self.passed}


@dataclass(frozen=True, eq=False)
class Calibration:
    """All that thresholds.json holds.

    Parameters
    ----------
    thresholds : Thresholds
    method : str
        Its name, with options if it was given any.
    options : dict
        The method's options as plain values.
    counts : Counts
    transform : dict, optional
        What was done to the scores before the method saw them; the thresholds are in scores as they were given.
    curves : Curves, optional
        P(true) against the score, where the method has probabilities.
    sources : Sources
    guarantee : GuaranteedPrecision, optional
    exceptions : Answers
        Triples with an answer of a person or a judge, which are decided so, whatever their score. Who decided is
        person, oracle, judges, or the method, where judges spoke and did not turn its decision round; the probability
        is 1 or 0 for a person's answer, NaN where nobody knows.
    holdout : tuple of float
        Draws of the accepted precision by a holdout of the graph, where nobody answered.
    constraints : Constraints
        What cannot be true together.
    answers_needed : dict, optional
        About how many more answers a guarantee of each precision needs, where no list has passed; None out of reach.
    accepted_precision : list of float, optional
        Lowest, middle and highest of the precision of what is accepted among the candidates of the fit.
    actc_version, created : str
        Which version of actc wrote the thresholds, and when.
    """

    thresholds: Thresholds
    method: str
    options: dict[str, Any]
    counts: Counts
    transform: dict[str, Any] | None = None
    curves: Curves | None = None
    sources: Sources = field(default_factory=Sources)
    guarantee: GuaranteedPrecision | None = None
    exceptions: Answers = field(default_factory=Answers)
    holdout: tuple[float, ...] = ()
    constraints: Constraints = field(default_factory=Constraints)
    accepted_precision: list[float] | None = None
    answers_needed: dict[str, int | None] | None = None
    actc_version: str = __version__
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    def write(self, path: str | Path, place: Path | None = None) -> None:
        """Write thresholds.json, complete or not at all; its paths are relative to ``place``, where it will lie."""
        path, counts, cuts, curves, decided = Path(path), self.counts, self.thresholds, self.curves, self.exceptions
        lines = [] if curves is None else curves.lines()
        columns = {"cut": cuts.cuts, "own": cuts.own, **{name: getattr(counts, name) for name in COUNTED}}
        if cuts.lower is not None and cuts.upper is not None:
            columns["interval"] = np.stack([cuts.lower, cuts.upper], axis=1)
        named = in_json(columns) | ({} if curves is None else {"curve": lines[:-1]})
        entries = (dict(zip(named, values, strict=True)) for values in zip(*named.values(), strict=True))
        content = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "actc_version": self.actc_version,
            "created": self.created,
            "method": self.method,
            "options": self.options,
            "score_transform": self.transform,
            "counts": {**{name: getattr(counts, name) for name in TOTALS}, "relations": len(counts.triples)},
            "sources": self.sources.relative_to((place or path).absolute().parent) if self.sources else None,
            "guarantee": self.guarantee,
            "exceptions": {
                **decided.triples.columns(),
                "accepted": decided.labels,
                "by": decided.who,
                "probability": () if decided.probability is None else decided.probability,
            },
            "holdout": self.holdout,
            "constraints": self.constraints.columns(),
            "accepted_precision": self.accepted_precision,
            "answers_needed": self.answers_needed,
            "default": cuts.default,
            "curves": None if curves is None else {"low": curves.low, "high": curves.high, "default": lines[-1]},
            "relations": dict(zip(cuts.relation_names, entries, strict=True)),
        }
        write_json(path, in_json(content))

    @classmethod
    def read(cls, path: str | Path) -> Calibration:
        """Read thresholds.json back, or say in one sentence why that cannot be done."""
        path = Path(path)
        content = _read_content(path)
        try:
            relations, guarantee, precision = (
                content[name] for name in ("relations", "guarantee", "accepted_precision")
            )
            names = tuple(sorted(relations))
            entries = [relations[name] for name in names]

            def column(name: str, kind: type) -> Any:
                return np.array([kind(one[name]) for one in entries], dtype=kind)

            counted: dict[str, Any] = {name: int(content["counts"][name]) for name in TOTALS}
            counted |= {name: column(name, int) for name in COUNTED}
            bounds: Any = ()
            if entries and all("interval" in one for one in entries):
                bounds = np.array([[float(bound) for bound in one["interval"]] for one in entries]).T
            return cls(
                Thresholds(names, column("cut", float), float(content["default"]), column("own", bool), *bounds),
                _text(content["method"]),
                dict(content["options"]),
                Counts(**counted),
                content["score_transform"],
                _read_curves(names, content["curves"], entries),
                Sources.read(content["sources"], path.absolute().parent),
                None if guarantee is None else GuaranteedPrecision(
                    float(guarantee["precision"]),
                    float(guarantee["confidence"]),
                    None if guarantee["min_probability"] is None else float(guarantee["min_probability"]),
                    tuple(guarantee["excluded_relations"]),
                ),
                _read_exceptions(content["exceptions"]),
                tuple(map(float, content["holdout"])),
                Constraints.from_columns(content["constraints"]),
                None if precision is None else [float(precision[at]) for at in range(3)],
                content["answers_needed"],
                _text(content["actc_version"]),
                _text(content["created"]),
            )  # fmt: skip
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise FileError(f"{path}: the thresholds are damaged ({type(error).__name__}: {error}).") from None


def _read_content(path: Path) -> dict[str, Any]:
    check_file(path)
    try:
        content = load_json(path)
    except ValueError as error:  # no JSON, no text, or a number of thousands of digits
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise FileError(f"{path}{line}: this is no JSON file; thresholds are written by `actc calibrate`.") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise FileError(f"{path}: this is no thresholds file; write one with `actc calibrate`.")
    if content.get("format_version") != FORMAT_VERSION:
        raise FileError(
            f"{path}: its format version is {content.get('format_version')}, this actc reads {FORMAT_VERSION}; "
            "update actc or calibrate again."
        )
    return content


def _text(cell: Any) -> str:
    if not isinstance(cell, str):
        raise TypeError(f"{cell!r} is no text")
    return cell


def _read_exceptions(content: dict[str, Any]) -> Answers:
    accepted, by = content["accepted"], [_text(cell) for cell in content["by"]]
    if not all(isinstance(cell, bool) for cell in accepted):
        raise TypeError("exceptions of another kind")
    probability = np.array([float(cell) for cell in content["probability"]])
    triples = encode_columns(*(content[name] for name in TRIPLE))
    return Answers(triples, np.array(accepted, dtype=np.bool_), probability, who=np.array(by, dtype=object))


def _read_curves(names: tuple[str, ...], ends: dict[str, Any] | None, entries: list[dict[str, Any]]) -> Curves | None:
    if ends is None:
        return None
    lines = [*(one["curve"] for one in entries), ends["default"]]
    values = np.array([[float(value) for value in line.split()] for line in lines])
    low, high = float(ends["low"]), float(ends["high"])
    if not (math.isfinite(low) and math.isfinite(high) and values.size and ((values >= 0) & (values <= 1)).all()):
        raise ValueError("curves of another kind")
    return Curves(names, low, high, values)
