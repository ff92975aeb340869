"""What machines said of a session's triples, set against what people said."""

from __future__ import annotations

import numpy as np

from actc.judges.answers import JudgeAnswers
from actc.session.agreement import Reliability, measure_reliability
from actc.triples import Annotations, FloatArray, IntArray, Picks

DIFFERING = "Chosen to learn what machine judges are worth."
"""Why a card is asked on which judges and model differ: nothing in it says what either said."""


def compare_judges(people: Annotations, judged: JudgeAnswers) -> dict[str, Reliability]:
    """Return how often each judge says what people said, by its name."""
    found = {}
    for at, name in enumerate(judged.names):
        mine = judged.judges == at
        said = Annotations(judged.rows[mine], judged.signals[mine] > 0)
        found[name] = measure_reliability(said, people)
    return found


def put_differing_first(
    picks: Picks, judged: JudgeAnswers, probabilities: FloatArray, share: float, besides: IntArray
) -> Picks:
    """Make a share of the picks, random checks aside, triples on which judges and model differ most.

    Parameters
    ----------
    picks : Picks
        What the method would ask next.
    judged : JudgeAnswers
    probabilities : float array of shape (N,)
        What the model believes, judges aside.
    share : float
        Between 0 and 1.
    besides : int array
        Rows that are not asked again: judged, or leased to somebody.
    """
    apart, drawn = np.zeros(len(probabilities)), np.isin(picks.asked, ("random", "check"))
    np.maximum.at(apart, judged.rows, np.abs((1 + judged.signals) / 2 - probabilities[judged.rows]))
    apart[np.concatenate([besides, picks.rows[drawn]])] = 0.0
    places = np.flatnonzero(~drawn)
    places = places[np.floor((np.arange(len(places)) + 1) * share) > np.floor(np.arange(len(places)) * share)]
    best = np.argsort(-apart, kind="stable")[: len(places)]
    best = best[apart[best] > 0.5]  # on the other side of one half: they differ
    places = places[: len(best)]
    rest = np.setdiff1d(np.arange(len(picks)), places)
    kept = rest[~np.isin(picks.rows[rest], best)]
    both = picks.take(kept).plus(Picks(best, "differing", reasons=DIFFERING))
    return both.take(np.argsort(np.concatenate([kept, places]), kind="stable"))
