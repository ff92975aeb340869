"""What is there to say about thresholds? How good, resting on what, which relations not to trust, what to do next.

A :class:`Case` is what thresholds came from; :func:`make_report` turns it into numbers, ``report_page`` into a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from actc.errors import FileError
from actc.frames import html_table
from actc.methods import named_method
from actc.pooled.model import Posterior
from actc.tables.calibration import Calibration
from actc.tables.files import write_triples
from actc.triples import Annotations, BoolArray, FloatArray, IntArray, ScoredTriples, Thresholds
from actc.trust.ask import Advice, ThreeWay, decide_three_ways, weigh_next_answers
from actc.trust.calibrate import read_sources
from actc.trust.discrepancy import look, uniform_picks
from actc.trust.expect import QUANTITIES, Expectation, Quality, expect
from actc.trust.intervals import Interval, check_level
from actc.trust.on_demand import draws_of
from actc.trust.tuned import TUNED

CURVE = (10, 20, 50, 100, 200, 500, 1000, 2000)
QUESTIONS = 10
TRUSTED_FROM = 0.5
"""A relation is not trusted while the precision of its accepted triples may lie below this."""


@dataclass(frozen=True, eq=False)
class Case:
    """What thresholds came from.

    Parameters
    ----------
    pool, annotations, known
        The candidates, the answers in the order they were given, the scores of known triples.
    thresholds : Thresholds
    method : str
        The pooled method that the probabilities come from.
    picks : {"expected-gain", "random", "unknown"}
        How the judged triples were picked; of unknown picks none counts as uniform.
    name : str
        What to call it.
    uniform_ones : bool array of shape (l,), optional
        Which annotations were picked uniformly, where that is known of each.
    """

    pool: ScoredTriples
    annotations: Annotations
    thresholds: Thresholds
    known: ScoredTriples | None = None
    method: str = "pooled"
    picks: str = "unknown"
    name: str = "thresholds"
    uniform_ones: BoolArray | None = None

    @property
    def cuts(self) -> FloatArray:
        """The cuts, the default last, shape (R + 1,)."""
        return self.thresholds.cuts_and_default

    @property
    def uniform(self) -> BoolArray:
        """Which annotations were picked uniformly."""
        if self.uniform_ones is not None:
            return self.uniform_ones
        return uniform_picks(len(self.annotations), self.picks)

    def fit(self) -> Posterior:
        """Return the pooled fit on the annotations."""
        return draws_of(named_method(self.method).fit(self.pool, self.annotations, self.known), self.method)


def read_case(path: str | Path, calibration: Calibration | None = None) -> Case:
    """Read a thresholds file, unless it was read already, and the files that it names as its sources."""
    calibration = calibration or Calibration.read(path)
    sources, thresholds = calibration.sources, calibration.thresholds
    if sources.scores is None:
        raise FileError(
            f"{path}: it does not say which scores it came from; report on the session that it was exported from, or "
            "write it again with `actc calibrate`."
        )
    pool, annotations, known = read_sources(sources)
    if pool.relation_names != thresholds.relation_names:
        raise FileError(f"{sources.scores}: its relations are not those of {path}; calibrate again.")
    return Case(pool, annotations, thresholds, known, calibration.method, sources.picks, Path(path).name)


@dataclass(frozen=True)
class Share:
    """A share with its interval."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, quality: Quality, quantity: str, level: float) -> Share | None:
        """Read it off draws; None where it is undefined."""
        middle = quality.middle(quantity)
        return None if np.isnan(middle) else cls(middle, *quality.interval(quantity, level))


@dataclass(frozen=True)
class RelationLine:
    """What the report says of one relation."""

    relation: str
    triples: int
    answers: int
    answered_true: int
    accepted: int
    surely_accepted: int
    ask: int
    cut: float
    interval: tuple[float, float] | None
    quality: dict[str, Share | None]
    trust: str


@dataclass(frozen=True)
class Question:
    """A triple that an answer is worth most on."""

    head: str
    relation: str
    tail: str
    score: float
    probability: float
    worth: float


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """The numbers of a report; see the fields' own classes."""

    case: Case
    level: float
    expectation: Expectation
    quality: dict[str, Share | None]
    relations: list[RelationLine]
    questions: list[Question]
    advice: Advice
    curve: list[tuple[int, Share]]
    said: FloatArray  # probability of each judged triple, without its own answer
    judges: tuple[str, ...] = ()  # what machine judges brought, in sentences

    def __repr__(self) -> str:
        counts = f"{len(self.case.annotations):,} answers, {self.accepted:,} of {self.case.pool.stands_for:,} accepted"
        return f"Report({self.case.name!r}, {self.case.method}, {counts})"

    def _repr_html_(self) -> str:
        """Return what to expect of each relation as a table, for a notebook."""
        lines = [asdict(line) for line in self.relations]
        shown = {name: [line[name] for line in lines] for name in ("relation", "cut", "accepted", "answers", "trust")}
        return html_table(repr(self), shown, len(lines))

    @property
    def accepted(self) -> int:
        """How many triples of the pool are accepted."""
        return sum(line.accepted for line in self.relations)

    @property
    def rests_on(self) -> str:
        """Say what the numbers rest on, in a sentence or two."""
        return _RESTS_ON[self.expectation.source].format(looks=self.expectation.looks, chance=self.expectation.misfit)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {
            "format": "actc-report",
            "format_version": 1,
            "name": self.case.name,
            "method": self.case.method,
            "picks": self.case.picks,
            "level": self.level,
            "pool": self.case.pool.stands_for,
            "answers": len(self.case.annotations),
            "accepted": self.accepted,
            "rests_on": self.expectation.source,
            "uniform_answers": self.expectation.looks,
            "misfit_p_value": self.expectation.misfit,
            "quality": {name: share and asdict(share) for name, share in self.quality.items()},
            "advice": {"go_on": self.advice.go_on, "gain": self.advice.gain, "price": self.advice.price},
            "learning_curve": [{"answers": count, **asdict(share)} for count, share in self.curve],
            "relations": [_finite(asdict(line)) for line in self.relations],
            "ask_next": [asdict(question) for question in self.questions],
        }


def make_report(case: Case, level: float = 0.9, price: float = TUNED.price, seed: int = 0) -> Report:
    """Work out every number of the report."""
    check_level(level)
    posterior = case.fit()
    found = expect(posterior, case.cuts, case.annotations, case.uniform, case.pool, seed=seed)
    three = decide_three_ways(posterior, case.pool, case.cuts, price)
    everything = np.ones(len(case.annotations), dtype=np.bool_)
    return Report(
        case,
        level,
        found,
        {name: Share.of(found.overall, name, level) for name in QUANTITIES},
        _relation_lines(case, found, three, level),
        find_questions(case, three, spread=True),
        weigh_next_answers(posterior, price),
        _learning_curve(case, level, seed),
        look(posterior, case.annotations, everything).probabilities,
    )


def _relation_lines(case: Case, found: Expectation, three: ThreeWay, level: float) -> list[RelationLine]:
    pool, size = case.pool, len(case.pool.relation_names)
    taken = case.thresholds.decide(pool)
    masks = (taken, three.accept, three.ask)
    counts = [np.bincount(pool.relations, mask * pool.weights, size) for mask in masks]
    decided = np.stack(counts, axis=1).round().astype(np.int64).tolist()
    judged = pool.relations[case.annotations.rows]
    answers = np.bincount(judged, minlength=size).tolist()
    trues = np.bincount(judged[case.annotations.labels], minlength=size).tolist()
    lower, upper = case.thresholds.lower, case.thresholds.upper
    lines = []
    for at in np.argsort(-pool.relation_sizes, kind="stable").tolist():
        name, count = pool.relation_names[at], int(pool.relation_sizes[at])
        known = found.relations.get(name)
        quality = {key: None if known is None else Share.of(known, key, level) for key in QUANTITIES}
        interval = None if lower is None or upper is None else (float(lower[at]), float(upper[at]))
        cut = float(case.thresholds.cuts[at])
        trust = _trust(quality["precision"], decided[at][0])
        accepted, surely, ask = decided[at]
        numbers = (count, answers[at], trues[at], accepted, surely, ask)
        lines.append(RelationLine(name, *numbers, cut, interval, quality, trust))
    return lines


def _trust(precision: Share | None, accepted: int) -> str:
    if not accepted:
        return "nothing accepted"
    return "trusted" if precision is not None and precision.low >= TRUSTED_FROM else "not yet"


def find_questions(
    case: Case,
    three: ThreeWay,
    count: int = QUESTIONS,
    candidates: ScoredTriples | None = None,
    spread: bool = False,
) -> list[Question]:
    """Return the triples of the pool, or of new candidates, that are better asked; best first, none that was judged.

    Spread, the best two of each relation come before the third of any: one relation must not hide the others.
    """
    triples = case.pool if candidates is None else candidates
    judged = triples.rows_of(case.pool.take(case.annotations.rows))
    fresh = np.ones(len(triples), dtype=np.bool_)
    fresh[judged[judged >= 0]] = False
    queue = three.queue[fresh[three.queue]]
    if spread:
        queue = queue[np.argsort(_rank_within(triples.relations[queue]) // 2, kind="stable")]
    rows = queue[:count].tolist()
    scores, probability, worth = triples.scores, three.probability, three.worth
    return [
        Question(*triples.triple(row), float(scores[row]), float(probability[row]), float(worth[row])) for row in rows
    ]


def _rank_within(groups: IntArray) -> IntArray:
    """Return each element's place among the elements of its group, in the order they come, shape (N,)."""
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups) if len(groups) else np.zeros(0, dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    rank = np.empty(len(groups), dtype=np.int64)
    rank[order] = np.arange(len(groups)) - starts[groups[order]]
    return rank


def write_questions(path: str | Path, questions: Sequence[Question]) -> None:
    """Write questions as a table."""
    columns = [field.name for field in fields(Question)]
    write_triples(path, {name: [getattr(one, name) for one in questions] for name in columns})


def expected_precision(case: Case, accepted: ScoredTriples, seed: int = 0) -> FloatArray:
    """Return draws of the precision that a case's model expects of an accepted set."""
    posterior = case.fit()
    everything = np.full(len(posterior.beta), -np.inf)
    return expect(
        posterior, everything, case.annotations, case.uniform, accepted, seed=seed, each=False
    ).overall.precision


def _learning_curve(case: Case, level: float, seed: int) -> list[tuple[int, Share]]:
    """Say what was to be expected after the first 10, 20, 50 ... answers, each with the thresholds of that moment."""
    method = named_method(case.method)
    budgets: Sequence[int] = [count for count in (0, *CURVE) if count < len(case.annotations)] + [len(case.annotations)]
    curve = []
    for count in budgets:
        first = case.annotations.first(count)
        fit = method.fit(case.pool, first, case.known)
        assert fit.thresholds is not None  # whoever knows its doubts does so before the first answer
        posterior, cuts = draws_of(fit, case.method), fit.thresholds.cuts_and_default
        found = expect(posterior, cuts, first, case.uniform[:count], case.pool, 200, 1000, seed, each=False)
        share = Share.of(found.overall, "accuracy", level)
        assert share is not None  # accuracy is always defined
        curve.append((count, share))
    return curve


def _finite(value: Any) -> Any:
    """Replace infinite numbers, which JSON does not have, by words."""
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value


def as_interval(share: Share) -> Interval:
    """Return the bounds of a share."""
    return Interval(share.low, share.high)


_RESTS_ON = {
    "model": "These numbers rest on the model alone, widened by how far off it was found on pools it was not made for. "
    "No judged triple is known to be a uniform pick, so nothing has checked the model here; an audit would.",
    "model and looks": "These numbers rest on the model, corrected by {looks} answers on uniformly picked triples, "
    "which do not contradict it (p = {chance:.2g}).",
    "looks": "The model does not fit here (p = {chance:.2g}), so the overall numbers rest on {looks} answers on "
    "uniformly picked triples instead. Numbers of single relations still rest on the model: do not lean on them.",
}
