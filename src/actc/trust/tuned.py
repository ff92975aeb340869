"""Every number of the trust functions that was chosen, not derived: one table, and what chose each.

All but ``believed`` were chosen on validation triples, half of them playing the test, for earlier versions of the model
and of the picks. The trials were not kept; the files named here, in benchmarks/trust, are the rows that they lead
to. benchmarks/trust/left_out.py would say what would be chosen without each of the graphs; it was not run again.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuned:
    """The numbers of expectations and promises."""

    # The error of a share p is believed to have this times sqrt(p (1 - p)) as its standard deviation: about 11 points
    # at a share of 0.7. Widened from 0.2 after six runs on all cells, in which 0.25 held in 94% and 0.2 in 93% of the
    # precisions from 100 answers. coverage.csv: held beside model_held, the model's own interval without it.
    believed: float = 0.25
    # It is believed less where few answers are inside: at none, its variance is so many times larger again, and that
    # falls off with so many answers. Chosen on twelve runs on all graphs; those of coverage.csv are others.
    first_doubt: float = 14.0
    doubt_lasts: float = 3.0
    # Of p (1 - p): a share near 1 is not believed exactly either. Not tuned: as for a share of 0.96.
    least_spread: float = 0.04
    # Below this p-value the answers contradict the model, and from so many on they stand alone. coverage.csv,
    # on_answers_alone: how often that was so.
    surprise: float = 0.01
    enough_checks: int = 20
    # How many answers the model counts for when answers decide on a promise. With 20, promises broke more often on
    # UMLS; with 5, fewer triples were accepted at 50 answers. Chosen on twelve runs on all graphs; those of
    # promise.csv are others.
    model_counts: float = 10.0
    # A list ends where answers do: its last tenth has at least half of its due share of them. Without this, checked
    # promises of 0.8 broke in 5.7% of the trial runs at 500 answers, with it in 2.0%.
    last_part: float = 0.1
    least_due: float = 0.5


TUNED = Tuned()
