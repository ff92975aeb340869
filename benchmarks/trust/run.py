"""Do intervals hold, and promises, on pools the model was not made for? Runs, one line each; summarise.py counts them.

    ACTC_PROVING=folder OMP_NUM_THREADS=1 python benchmarks/trust/run.py --runs 200 --out runs

on CoDEx, the packaged sample, a made pool of two relations and the proving ground, if it is there, writes
runs-coverage.csv.gz (does the 90% interval of test accuracy and of accepted precision hold the truth, how wide is it;
and the model's own, without any discrepancy) and runs-promise.csv.gz (precision on demand at confidence 0.9: true
precision on test, triples accepted; beside MAPIE's controller, if it is installed, and a plain Clopper-Pearson scan,
which both need random picks). Picks are random, or those of a session as it is by default, of one, two or five people
who are not always sure and wish for a relation now and then. ``--tune`` takes half of valid as pool, the other half as
target, and never opens test. ``--others`` tries other numbers than those of ``actc.trust.tuned`` too, from which
left_out.py chooses.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from pools import CELLS, KINDS, METHOD, Run, runs
from rivals import mapie_cut, scan_cut

from actc.methods import METHODS
from actc.metrics import accuracy
from actc.numeric import even_places
from actc.pooled.draws import draw_probabilities
from actc.pooled.model import find_cuts
from actc.triples import FloatArray
from actc.trust import certify, expect, promise
from actc.trust.tuned import TUNED, Tuned

COVERAGE_BUDGETS = (20, 50, 100, 200)
PROMISE_BUDGETS = (50, 100, 200)
PRECISIONS = (0.8, 0.9, 0.95)
CONFIDENCE = 0.9
DRAWS, POINTS = 200, 400
SHIPPED = "shipped"
WIDTHS = [("believed", value) for value in (0.1, 0.15, 0.3)] + [("first_doubt", value) for value in (0.0, 7.0, 28.0)]
COUNTS = [("model_counts", value) for value in (0.0, 5.0, 20.0)] + [("least_due", value) for value in (0.0, 0.8)]
"""Other numbers that intervals and promises could rest on."""
KEYS = ("cell", "kind", "picks", "people", "run", "budget", "setting")
COVERAGE = (*KEYS, "quantity", "truth", "middle", "low", "high", "model_low", "model_high", "source")
PROMISE = (*KEYS, "asked", "who", "accepted", "precision")


class Judged:
    """One run at one budget: the fit, and the target's triples laid out for any cuts."""

    def __init__(self, run: Run, budget: int) -> None:
        self.run, self.annotations = run, run.annotations.first(budget)
        self.posterior = METHODS["pooled"].fit(run.pair.valid, self.annotations).draws
        self.codes = self.posterior.pool.relation_codes(run.pair.test)
        self.key = (run.cell, run.kind, run.picks, run.people, run.number, budget)

    def decide(self, cuts: FloatArray) -> np.ndarray:
        """Apply cuts to the target."""
        return self.run.pair.test.scores >= cuts[self.codes]

    def precision(self, decisions: np.ndarray) -> float:
        """Share of true ones among the accepted."""
        return float(self.run.pair.test_labels[decisions].mean()) if decisions.any() else float("nan")


def settings(others: list[tuple[str, float]]) -> Iterator[str]:
    """Let the functions work with their own numbers, then with one of the others after the other; yield the name."""
    yield SHIPPED
    for field, value in others:
        _use(replace(TUNED, **{field: value}))
        yield f"{field}={value:g}"
    _use(TUNED)


def _use(tuned: Tuned) -> None:
    certify.TUNED = expect.TUNED = promise.TUNED = tuned


def coverage(one: Judged, others: bool) -> Iterator[tuple[Any, ...]]:
    """Yield the intervals and the truth."""
    pair, seed = one.run.pair, one.run.number
    cuts = find_cuts(one.posterior)
    decisions = one.decide(cuts)
    truth = {"accuracy": accuracy(pair.test_labels, decisions), "precision": one.precision(decisions)}
    on_pool = pair.valid.scores >= cuts[pair.valid.relations]
    model = foresee(one, on_pool, np.random.default_rng(seed))
    state = (one.posterior, cuts, one.annotations, pair.test)
    for setting in settings(WIDTHS if others else []):
        found = expect.expect(*state, DRAWS, POINTS, seed, each=False)
        for name, value in truth.items():
            own = np.quantile(model[name], [0.05, 0.95])
            numbers = (value, found.overall.middle(name), *found.overall.interval(name), *own)
            yield (*one.key, setting, name, *(f"{number:.4f}" for number in numbers), found.source)


def foresee(one: Judged, accepted: np.ndarray, random: np.random.Generator) -> dict[str, FloatArray]:
    """Draw, by the model alone, accuracy and precision of decisions on the pool, on a set as large as the target."""
    pool, size = one.posterior.pool, len(one.run.pair.test)
    rows = pool.members[even_places(len(pool), min(POINTS, len(pool)))]
    p = draw_probabilities(one.posterior, pool.relations[rows], pool.x[rows], DRAWS, random)
    taken = accepted[rows]
    drawn = {"accuracy": _with_luck(np.where(taken, p, 1 - p), p, size, random), "precision": np.full(DRAWS, np.nan)}
    if taken.any():
        drawn["precision"] = _with_luck(p[:, taken], p[:, taken], max(1.0, size * taken.mean()), random)
    return drawn


def _with_luck(right: FloatArray, p: FloatArray, size: float, random: np.random.Generator) -> FloatArray:
    spread = np.sqrt((p * (1 - p)).mean(axis=1) / size)
    return np.clip(right.mean(axis=1) + spread * random.standard_normal(len(p)), 0, 1)


def promises(one: Judged, others: bool) -> Iterator[tuple[Any, ...]]:
    """Yield what everyone accepts at each demand."""
    for setting in settings(COUNTS if others else []):
        yield from _promises(one, setting)


def _promises(one: Judged, setting: str) -> Iterator[tuple[Any, ...]]:
    pair, pool = one.run.pair, one.run.pair.valid
    demands = [promise.Demand(asked, CONFIDENCE) for asked in PRECISIONS]
    state = (one.posterior, one.annotations, pair.test)
    found = promise.promise(*state, demands, DRAWS, POINTS, one.run.number)
    for asked, ours in zip(PRECISIONS, found, strict=True):
        accepts = {"actc": one.decide(ours.cuts)}
        if one.run.picks == "random" and setting == SHIPPED:
            scores, labels = pool.scores[one.annotations.rows], one.annotations.labels
            accepts["scan"] = pair.test.scores >= scan_cut(scores, labels, asked, CONFIDENCE)
            cut = mapie_cut(pool.scores, scores, labels, asked, CONFIDENCE)
            if cut is not None:
                accepts["mapie"] = pair.test.scores >= cut
        for who, decisions in accepts.items():
            share = f"{decisions.mean():.4f}"
            yield (*one.key, setting, asked, who, share, f"{one.precision(decisions):.4f}")


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cells", default=",".join(CELLS))
    parser.add_argument("--kinds", default="plain")
    parser.add_argument("--picks", default=",".join(METHOD), help="random, session")
    parser.add_argument("--budgets", default=",".join(map(str, COVERAGE_BUDGETS)))
    parser.add_argument("--only", choices=("intervals", "promises"), help="Leave the others out.")
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--others", action="store_true", help="Try other numbers too.")
    parser.add_argument("--out", default="runs")
    options = parser.parse_args()
    kinds = list(KINDS) if options.kinds == "all" else options.kinds.split(",")
    numbers = range(options.first, options.first + options.runs)
    with (
        gzip.open(f"{options.out}-coverage.csv.gz", "wt", newline="") as first,
        gzip.open(f"{options.out}-promise.csv.gz", "wt", newline="") as second,
    ):
        coverage_rows, promise_rows = (csv.writer(file, lineterminator="\n") for file in (first, second))
        coverage_rows.writerow(COVERAGE)
        promise_rows.writerow(PROMISE)
        picks = options.picks.split(",")
        budgets = [int(budget) for budget in options.budgets.split(",")]
        for run in runs(options.cells.split(","), kinds, numbers, max(budgets), options.tune, picks):
            for budget in budgets:
                if budget <= len(run.annotations):
                    one = Judged(run, budget)
                    if options.only != "promises":
                        coverage_rows.writerows(coverage(one, options.others))
                    if options.only != "intervals" and budget in PROMISE_BUDGETS:
                        promise_rows.writerows(promises(one, options.others))
            first.flush()
            second.flush()


if __name__ == "__main__":
    main()
