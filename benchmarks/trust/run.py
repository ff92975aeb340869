"""Do intervals hold, and promises, on pools the model was not made for? Runs, one line each; summarise.py counts them.

    ACTC_PROVING=folder OMP_NUM_THREADS=1 python benchmarks/trust/run.py --runs 200 --out runs

on CoDEx, the packaged sample and the proving ground, if it is there, writes runs-coverage.csv.gz (does the 90% interval
of test accuracy and of accepted precision hold the truth, how wide is it; and the model's own, without any discrepancy)
and runs-promise.csv.gz (precision on demand at confidence 0.9: true precision on test, triples accepted; beside MAPIE's
controller, if it is installed, and a plain Clopper-Pearson scan, which both need random picks). Picks are random,
active (the pooled method's own), or checked: its own with the promise known beforehand, so that some of them check
what would be accepted. ``--tune`` takes half of valid as pool, the other half as target, and never opens test.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from collections.abc import Iterator
from typing import Any

import numpy as np
from pools import CELLS, KINDS, METHOD, Run, runs
from rivals import mapie_cut, scan_cut

from actc.methods import METHODS, find_method
from actc.metrics import accuracy
from actc.pooled.draws import foresee
from actc.pooled.model import find_cuts
from actc.triples import BoolArray, FloatArray
from actc.trust.discrepancy import drawn_picks
from actc.trust.expect import expect
from actc.trust.promise import Demand, promise

COVERAGE_BUDGETS = (10, 20, 50, 100, 200, 500)
PROMISE_BUDGETS = (50, 100, 200, 500)
PRECISIONS = (0.8, 0.9, 0.95)
CONFIDENCE = 0.9
DRAWS, POINTS = 200, 400
KEYS = ("cell", "kind", "picks", "run", "budget")
COVERAGE = (*KEYS, "quantity", "truth", "middle", "low", "high", "model_low", "model_high", "source")
PROMISE = (*KEYS, "asked", "who", "accepted", "precision")


class Judged:
    """One run at one budget: the fit, and the target's triples laid out for any cuts."""

    def __init__(self, run: Run, budget: int) -> None:
        self.run, self.annotations, self.uniform = run, run.annotations.first(budget), run.uniform[:budget]
        self.promised = getattr(find_method(METHOD[run.picks]), "promised", 0.0)
        self.posterior = METHODS["pooled"].fit(run.pair.valid, self.annotations).draws
        self.codes = self.posterior.pool.relation_codes(run.pair.test)
        self.key = (run.cell, run.kind, run.picks.partition(" ")[0], run.number, budget)

    @property
    def drawn(self) -> BoolArray:
        """Which answers are on random draws."""
        picks = "random" if self.run.picks == "random" else "expected-gain"
        return drawn_picks(len(self.annotations), picks, self.promised)

    def decide(self, cuts: FloatArray) -> np.ndarray:
        """Apply cuts to the target."""
        return self.run.pair.test.scores >= cuts[self.codes]

    def precision(self, decisions: np.ndarray) -> float:
        """Share of true ones among the accepted."""
        return float(self.run.pair.test_labels[decisions].mean()) if decisions.any() else float("nan")


def coverage(one: Judged) -> Iterator[tuple[Any, ...]]:
    """Yield the intervals and the truth."""
    pair, seed = one.run.pair, one.run.number
    cuts = find_cuts(one.posterior)
    found = expect(one.posterior, cuts, one.annotations, one.uniform, pair.test, DRAWS, POINTS, seed, each=False)
    decisions = one.decide(cuts)
    truth = {"accuracy": accuracy(pair.test_labels, decisions), "precision": one.precision(decisions)}
    on_pool = pair.valid.scores >= cuts[pair.valid.relations]
    model = foresee(one.posterior, on_pool, np.random.default_rng(seed), DRAWS, POINTS, len(pair.test))
    for name, value in truth.items():
        own = np.quantile(getattr(model, name), [0.05, 0.95])
        numbers = (value, found.overall.middle(name), *found.overall.interval(name), *own)
        yield (*one.key, name, *(f"{number:.4f}" for number in numbers), found.source)


def promises(one: Judged, rivals: bool) -> Iterator[tuple[Any, ...]]:
    """Yield what everyone accepts at each demand."""
    pair, pool = one.run.pair, one.run.pair.valid
    precisions = [one.promised] if one.promised else PRECISIONS
    demands = [Demand("precision", asked, CONFIDENCE) for asked in precisions]
    state = (one.posterior, one.annotations, pair.test)
    found = promise(*state, demands, DRAWS, POINTS, one.run.number, one.drawn)
    for asked, ours in zip(precisions, found, strict=True):
        accepts = {"actc": one.decide(ours.cuts)}
        if one.run.picks == "random" and rivals:
            scores, labels = pool.scores[one.annotations.rows], one.annotations.labels
            accepts["scan"] = pair.test.scores >= scan_cut(scores, labels, asked, CONFIDENCE)
            cut = mapie_cut(pool.scores, scores, labels, asked, CONFIDENCE)
            if cut is not None:
                accepts["mapie"] = pair.test.scores >= cut
        for who, decisions in accepts.items():
            share = f"{decisions.mean():.4f}"
            yield (*one.key, asked, who, share, f"{one.precision(decisions):.4f}")


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cells", default=",".join(CELLS))
    parser.add_argument("--kinds", default="plain")
    parser.add_argument("--picks", default=",".join(METHOD), help="random, active, checked 0.8, ...")
    parser.add_argument("--only-promise", action="store_true", help="No intervals, and no rivals.")
    parser.add_argument("--tune", action="store_true")
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
        for run in runs(options.cells.split(","), kinds, numbers, COVERAGE_BUDGETS[-1], options.tune, picks):
            for budget in PROMISE_BUDGETS if options.only_promise else COVERAGE_BUDGETS:
                if budget <= len(run.annotations):
                    one = Judged(run, budget)
                    if not options.only_promise and not one.promised:
                        coverage_rows.writerows(coverage(one))
                    if budget in PROMISE_BUDGETS:
                        promise_rows.writerows(promises(one, rivals=not options.only_promise))
            first.flush()
            second.flush()


if __name__ == "__main__":
    main()
