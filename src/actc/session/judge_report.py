"""What machine judges brought a session: what each is worth, and the honest numbers that they make narrower."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from actc.data.files import in_json
from actc.decide.case import Case
from actc.decide.estimate import Share
from actc.decide.words import CANDIDATES, Sought
from actc.session.find_case import Opened
from actc.session.judged import compare_judges

QUANTITIES = ("accuracy", "precision", "recall")
SURELY = 1.645  # standard deviations from 0 that a worth must be to be called one: nine chances in ten

NO_CHECKS = (
    "No answer of people's has a known chance to be asked, so nothing checks what judges bought; sessions ask such "
    "questions by themselves."
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
        Decisions that are other ones with judges than without.
    heeded, without : dict of str to Share
        How good decisions are where judges are heeded, as the whole report says; and without them.
    checks : int
        People's answers that both are checked by.
    """

    judges: tuple[JudgeLine, ...]
    turned: int
    heeded: dict[str, Share | None]
    without: dict[str, Share | None]
    checks: int

    def sentences(self, sought: Sought = CANDIDATES) -> list[str]:
        """Say it in words, most important first."""
        said = [*(_say_judge(line) for line in self.judges), f"Judges turn {self.turned:,} decisions round."]
        for name in QUANTITIES:
            one, other = self.heeded[name], self.without[name]
            if one is not None:
                without = "" if other is None else f"; without them: {other}"
                said.append(f"{sought.quantities[name][0]} with judges: {one}{without}.")
        return said if self.checks else [*said, NO_CHECKS]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return in_json(asdict(self), words=False)  # type: ignore[no-any-return]


def _say_judge(line: JudgeLine) -> str:
    agrees = f"says what people said on {line.agrees:.0%} of {line.compared:,}" if line.compared else "not compared yet"
    weight = f"{line.weight:+.1f} ± {line.spread:.1f}"
    nothing = ": nothing to speak of" if abs(line.weight) < SURELY * line.spread else ""
    return f"{line.name}: {line.judged:,} answers; {agrees}; its word adds {weight} log-odds{nothing}."


def report_judges(opened: Opened) -> JudgeReport | None:
    """Say what judges brought a session; None where no machine judged, or its method has no probabilities."""
    case = opened.case
    if case.heeded is None:
        return None
    alone = case.without_judges()
    turned = int((case.decisions.accepted != alone.decisions.accepted).sum())
    assert case.estimates is not None
    assert alone.estimates is not None
    heeded, without = ({name: one.overall[name] for name in QUANTITIES} for one in (case.estimates, alone.estimates))
    return JudgeReport(_compare(case), turned, heeded, without, int(case.annotations.has_inclusion_probability.sum()))


def _compare(case: Case) -> tuple[JudgeLine, ...]:
    """Return a line for each judge."""
    assert case.heeded is not None
    counts = np.bincount(case.judged.judges, minlength=len(case.judged.names)).tolist()
    compared = compare_judges(case.annotations, case.judged)
    return tuple(
        JudgeLine(name, count, compared[name].compared, compared[name].right, *case.heeded.weight(judge))
        for judge, (name, count) in enumerate(zip(case.judged.names, counts, strict=True))
        if count
    )
