"""thresholds.json: everything needed to apply thresholds later, and to know where they came from.

One table in memory (:class:`Calibration`), one writer and one reader. Paths stand in the file relative to its own
folder, so a folder can be moved with all that is in it.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from actc import __version__
from actc.data.answers import Annotations, Answers
from actc.data.constraints import Constraints
from actc.data.curves import DIGITS, Curves
from actc.data.files import in_json, load_json, write_json
from actc.data.frames import IDS
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Thresholds, encode_columns
from actc.errors import FileError

FORMAT = "actc-thresholds"
FORMAT_VERSION = 1


@dataclass(frozen=True, eq=False)
class Counts:
    """How much thresholds rest on, and what they accept of it."""

    pool: int  # candidates in the pool
    # annotated, annotated_true: answers, and those that say "true"
    annotated: int
    annotated_true: int
    # triples, annotated_by_relation: shape (R,); candidates and answers of each relation
    triples: IntArray
    annotated_by_relation: IntArray
    accepted: IntArray  # shape (R,); candidates that the thresholds accept
    draws: int  # answers with an inclusion probability: guarantees and estimates rest on these

    @classmethod
    def of(cls, pool: ScoredTriples, annotations: Annotations, decided: BoolArray) -> Counts:
        """Count a pool, its answers, and what is accepted of it, shape (N,)."""
        size = len(pool.relation_names)
        return cls(
            len(pool),
            len(annotations),
            int(annotations.labels.sum()),
            pool.relation_counts,
            np.bincount(pool.relations[annotations.rows], minlength=size),
            np.bincount(pool.relations[decided], minlength=size),
            int(annotations.has_inclusion_probability.sum()),
        )


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
    # how the judged triples were picked: unknown (as far as the labels show) or random (in the user's own name)
    picks: str = "unknown"

    def __bool__(self) -> bool:
        return self.scores is not None or self.session is not None


PATHS = ("scores", "labels", "known", "session", "candidates", "graph")


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
        Draws of the accepted precision by facts that were held out of the graph, where nobody answered.
    constraints : Constraints
        What cannot be true together.
    answers_needed : dict, optional
        About how many more answers a guarantee of each precision needs, where no list has passed; None out of reach.
    accepted_precision : list of float, optional
        Lowest, middle and highest of the precision of what is accepted of the candidates that thresholds were found on.
    actc_version, created : str
        Which version of actc found the thresholds, and when.
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
        path, counts, curves = Path(path), self.counts, self.curves
        default = None if curves is None else _write_curves(curves.probabilities[-1:])[0]
        content = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "actc_version": self.actc_version,
            "created": self.created,
            "method": self.method,
            "options": self.options,
            "score_transform": self.transform,
            "counts": {
                "pool": counts.pool,
                "relations": len(counts.triples),
                "annotated": counts.annotated,
                "annotated_true": counts.annotated_true,
                "draws": counts.draws,
            },
            "sources": _write_sources(self.sources, (place or path).absolute().parent),
            "guarantee": None if self.guarantee is None else asdict(self.guarantee),
            "exceptions": _write_exceptions(self.exceptions),
            "holdout": list(self.holdout),
            "constraints": self.constraints.columns(),
            "accepted_precision": self.accepted_precision,
            "answers_needed": self.answers_needed,
            "default": self.thresholds.default,
            "curves": None if curves is None else {"low": curves.low, "high": curves.high, "default": default},
        }
        relations = dict(zip(self.thresholds.relation_names, self._relations(), strict=True))
        write_json(path, in_json(content) | {"relations": relations})

    def _relations(self) -> list[dict[str, Any]]:
        """Return the entry of each relation; curves as one line of numbers each."""
        cuts, counts = self.thresholds, self.counts
        columns = {
            "cut": in_json(cuts.cuts.tolist()),
            "own": cuts.own.tolist(),
            "triples": counts.triples.tolist(),
            "annotated": counts.annotated_by_relation.tolist(),
            "accepted": counts.accepted.tolist(),
        }
        if cuts.lower is not None and cuts.upper is not None:
            columns["interval"] = in_json(np.stack([cuts.lower, cuts.upper], axis=1).tolist())
        if self.curves is not None:
            columns["curve"] = _write_curves(self.curves.probabilities[:-1])
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]

    @classmethod
    def read(cls, path: str | Path) -> Calibration:
        """Read thresholds.json back, or say in one sentence why that cannot be done."""
        path = Path(path)
        content = _read_content(path)
        try:
            return cls(
                _read_thresholds(content),
                _text(content, "method"),
                dict(content["options"]),
                _read_counts(content),
                content["score_transform"],
                _read_curves(content),
                _read_sources(content["sources"], path.absolute().parent),
                _read_guarantee(content["guarantee"]),
                _read_exceptions(content["exceptions"]),
                tuple(float(draw) for draw in content["holdout"]),
                Constraints.from_columns(content["constraints"]),
                _read_precision(content["accepted_precision"]),
                content["answers_needed"],
                _text(content, "actc_version"),
                _text(content, "created"),
            )
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise FileError(f"{path}: the thresholds are damaged ({type(error).__name__}: {error}).") from None


def _read_precision(found: Any) -> list[float] | None:
    if found is None:
        return None
    low, middle, high = map(float, found)
    return [low, middle, high]


def _read_content(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise FileError(f"{path}: there is no such file.")
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


def _text(content: dict[str, Any], name: str) -> str:
    found = content[name]
    if not isinstance(found, str):
        raise TypeError(f"{name} is no text")
    return found


def _read_thresholds(content: dict[str, Any]) -> Thresholds:
    relations = content["relations"]
    names = tuple(sorted(relations))
    bounds: list[FloatArray | None] = [None, None]
    if names and all("interval" in relations[name] for name in names):
        bounds = [np.array([float(relations[name]["interval"][side]) for name in names]) for side in (0, 1)]
    cuts = np.array([float(relations[name]["cut"]) for name in names])
    own = np.array([bool(relations[name]["own"]) for name in names], dtype=np.bool_)
    return Thresholds(names, cuts, float(content["default"]), own, *bounds)


def _read_counts(content: dict[str, Any]) -> Counts:
    counts, relations = content["counts"], [content["relations"][name] for name in sorted(content["relations"])]
    pool, annotated, true, draws = (int(counts[name]) for name in ("pool", "annotated", "annotated_true", "draws"))
    triples, answers, accepted = (
        np.array([int(one[name]) for one in relations], dtype=np.int64) for name in ("triples", "annotated", "accepted")
    )
    return Counts(pool, annotated, true, triples, answers, accepted, draws)


def _write_sources(sources: Sources, folder: Path) -> dict[str, Any] | None:
    if not sources:
        return None
    paths = {name: getattr(sources, name) for name in PATHS}
    found = {
        name: Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
        for name, path in paths.items()
        if path is not None
    }
    return {**found, "picks": sources.picks}


def _read_sources(content: dict[str, Any] | None, folder: Path) -> Sources:
    if content is None:
        return Sources()
    paths = {name: (folder.resolve() / content[name]).resolve() for name in PATHS if content.get(name)}
    return Sources(**paths, picks=_text(content, "picks"))


def _read_guarantee(content: dict[str, Any] | None) -> GuaranteedPrecision | None:
    if content is None:
        return None
    bar, excluded = content["min_probability"], tuple(content["excluded_relations"])
    bar = None if bar is None else float(bar)
    return GuaranteedPrecision(float(content["precision"]), float(content["confidence"]), bar, excluded)


def _write_exceptions(answers: Answers) -> dict[str, list[Any]]:
    triples = {name: column.tolist() for name, column in answers.triples.columns().items()}
    probability = [] if answers.probability is None else answers.probability.tolist()
    return {**triples, "accepted": answers.labels.tolist(), "by": answers.who.tolist(), "probability": probability}


def _read_exceptions(content: dict[str, Any]) -> Answers:
    triples = encode_columns(*(content[name] for name in IDS))
    accepted, by = content["accepted"], content["by"]
    if not all(isinstance(cell, str) for cell in by) or not all(isinstance(cell, bool) for cell in accepted):
        raise TypeError("exceptions of another kind")
    probability = np.array([float(cell) for cell in content["probability"]])
    return Answers(triples, np.array(accepted, dtype=np.bool_), probability, who=np.array(by, dtype=object))


def _write_curves(probabilities: FloatArray) -> list[str]:
    """Return each row as a line of numbers."""
    return [" ".join(f"{value:.{DIGITS}g}" for value in row) for row in probabilities.tolist()]


def _read_curves(content: dict[str, Any]) -> Curves | None:
    head, relations = content["curves"], content["relations"]
    if head is None:
        return None
    names = tuple(sorted(relations))
    lines = [*(relations[name]["curve"] for name in names), head["default"]]
    values = np.array([[float(value) for value in line.split()] for line in lines])
    low, high = float(head["low"]), float(head["high"])
    if not (math.isfinite(low) and math.isfinite(high) and values.size and ((values >= 0) & (values <= 1)).all()):
        raise ValueError("curves of another kind")
    return Curves(names, low, high, values)
