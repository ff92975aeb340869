"""What machine judges brought a session: what each is worth, and the honest numbers that they make narrower."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from actc.judges.heed import Heeded
from actc.judges.ppi import Powered, PoweredQuality, assess_decisions, estimate_share
from actc.numeric import sigmoid
from actc.session.judged import compare_judges
from actc.session.results import Results
from actc.session.session import Session
from actc.triples import Annotations, BoolArray, FloatArray, ScoredTriples

QUANTITIES = {
    "accuracy": "of all decisions are right",
    "precision": "of the accepted are true",
    "recall": "of the true ones are accepted",
}

NO_CHECKS = (
    "People judged no random check, so nothing honest can be said of what judges bought; such checks come after the "
    "first answers, or from the start where triples are picked at random (pooled-rndm)."
)


@dataclass(frozen=True)
class JudgeLine:
    """One judge: how many triples it judged, how often it says what people said, and what its "true" adds.

    Parameters
    ----------
    weight, spread : float
        The log-odds that its answer adds, and how unsure that is.
    """

    name: str
    judged: int
    compared: int
    agrees: float
    weight: float
    spread: float


@dataclass(frozen=True, eq=False)
class JudgeReport:
    """What judges brought.

    Parameters
    ----------
    judges : tuple of JudgeLine
    turned : int
        Decisions that are other ones with judges than by the thresholds alone.
    by_thresholds, heeded : PoweredQuality
        How good decisions are by the thresholds alone, and where judges are heeded: by random checks of people and by
        judges together.
    without : PoweredQuality
        How good decisions by the thresholds are, the model's guesses alone beside people's answers.
    level : float
        How sure the bounds are.
    """

    judges: tuple[JudgeLine, ...]
    turned: int
    by_thresholds: PoweredQuality
    heeded: PoweredQuality
    without: PoweredQuality
    level: float

    def sentences(self) -> list[str]:
        """Say it in words, most important first."""
        said = [_say_judge(line) for line in self.judges]
        if self.heeded.answers < 2:
            return [*said, NO_CHECKS]
        said.append(f"Judges turn {self.turned:,} decisions round. Where they are heeded:")
        said += [f"{_say_share(getattr(self.heeded, name))} {words}." for name, words in QUANTITIES.items()]
        said.append("By the thresholds alone:")
        for name, words in QUANTITIES.items():
            one, before = getattr(self.by_thresholds, name), getattr(self.without, name)
            said.append(f"{_say_share(one)} {words}; {_say_bought(one, before)}.")
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return _finite(asdict(self))  # type: ignore[no-any-return]


def _say_judge(line: JudgeLine) -> str:
    agrees = f"says what people said on {line.agrees:.0%} of {line.compared:,}" if line.compared else "not compared yet"
    weight = f"{line.weight:+.1f} ± {line.spread:.1f}"
    return f"{line.name}: {line.judged:,} answers; {agrees}; its word adds {weight} log-odds."


def _say_share(one: Powered) -> str:
    low, high = one.interval
    return f"{one.share:.1%} ({low:.1%} to {high:.1%}; by people alone {one.alone.low:.1%} to {one.alone.high:.1%})"


def _say_bought(one: Powered, before: Powered) -> str:
    people = f"as if {one.worth:,.0f} people's answers instead of {one.alone_worth:,.0f}"
    return f"{people} ({before.worth:,.0f} without judges)"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def report_judges(session: Session, level: float = 0.9) -> JudgeReport | None:
    """Say what judges brought a session; None where no machine judged, or its method has no probabilities."""
    results = Results(session)
    heeded = results.heeded
    if not len(heeded.judged) or heeded.probabilities is None:
        return None
    return describe_judges(heeded, compare_lines(session, heeded), session.asked_at_random(heeded.answers), level)


def compare_lines(session: Session, heeded: Heeded) -> tuple[JudgeLine, ...]:
    """Return a line for each judge."""
    counts = np.bincount(heeded.judged.judges, minlength=len(heeded.judged.names)).tolist()
    compared = compare_judges(session, heeded.judged)
    return tuple(
        JudgeLine(name, count, compared[name].compared, compared[name].right, weight.own, weight.spread)
        for name, count, weight in zip(heeded.judged.names, counts, heeded.weights.judges, strict=True)
        if count
    )


def describe_judges(heeded: Heeded, lines: tuple[JudgeLine, ...], uniform: BoolArray, level: float) -> JudgeReport:
    """Work out the numbers from the answers that were picked uniformly."""
    assert heeded.fit.thresholds is not None
    assert heeded.probabilities is not None
    plain, rows = heeded.fit.thresholds.decide(heeded.pool), heeded.answers.rows
    labels, foreseen = heeded.answers.labels[uniform], heeded.foreseen[uniform]
    unswayed = heeded.unswayed[uniform]
    asked = heeded.asked[rows[uniform]]
    took = np.where(asked, foreseen >= 0.5, unswayed >= 0)
    base = heeded.fit.probabilities(heeded.pool)
    assert base is not None

    def assess(decisions: BoolArray, guesses: FloatArray, guessed: FloatArray, took: BoolArray) -> PoweredQuality:
        return assess_decisions(decisions, guesses, labels, guessed, took, level)

    return JudgeReport(
        lines,
        int((heeded.decisions != plain).sum()),
        assess(plain, heeded.probabilities, foreseen, unswayed >= 0),
        assess(heeded.decisions, heeded.probabilities, foreseen, took),
        assess(plain, base, sigmoid(unswayed), unswayed >= 0),
        level,
    )


def audit_with_judges(session: Session, accepted: ScoredTriples, answers: Annotations, level: float) -> Powered | None:
    """Estimate the share of true triples among accepted ones from a simple slice and a session's judges.

    The answers on the slice must not be among the session's own; None where no machine judged there.
    """
    heeded = Results(session).heeded
    guesses = heeded.fit.probabilities(accepted) if len(heeded.judged) else None
    if guesses is None or heeded.probabilities is None:
        return None
    rows = heeded.pool.rows_of(accepted)
    guesses = np.where(rows >= 0, heeded.probabilities[rows], guesses)
    return estimate_share(answers.labels.astype(np.float64), guesses[answers.rows], guesses, level)
