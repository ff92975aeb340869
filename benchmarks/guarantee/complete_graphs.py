"""What a guarantee costs in `actc complete`: what is accepted with .9 from 30 answers, beside what is without.

Run: python benchmarks/evidence/families.py families --out WORLDS
     python benchmarks/guarantee/complete_graphs.py WORLDS/families GRAPHS/umls GRAPHS/nations --seeds 0 1 --repeats 40

A folder has train, valid and test; the graph is train and valid, the oracle all three. Candidates are made once for a
seed, and questions are drawn from them several times. complete.csv has, of each graph, seed, way and repeat, the
answers, the accepted facts that nobody judged, and the true ones among them. The way ``most`` is a bound: what the
longest list that is good enough is expected to bring, if one knew which list that is, by the most powerful test that 30
random draws allow; one row for each seed, its true ones by the list's precision.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from actc.complete.answers import NO_ANSWERS, FileOracle, ask_oracle, draw_pool, worth_asking
from actc.complete.config import RunConfig
from actc.complete.run import prepare
from actc.data.progress import no_stage
from actc.data.triples import BoolArray
from actc.decide.case import Case
from actc.decide.guarantee import TargetPrecision
from actc.graph.formats import read_graph

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "evidence"))
from complete import write_task  # noqa: E402

ANSWERS, TARGET = 30, TargetPrecision(0.9)
WAYS = {"nobody": (0, None), "without": (ANSWERS, None), "guaranteed": (ANSWERS, TARGET)}
COLUMNS = ("graph", "seed", "way", "repeat", "answers", "accepted", "true")


def measure(folder: Path, seed: int, repeats: int) -> Iterator[tuple[object, ...]]:
    """Complete a graph in each way and compare it with the truth."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place)
        _, truth = write_task(folder, out)
        plan = RunConfig(out / "graph.tsv", out / "better", seed=seed)
        ready, _ = prepare(plan, read_graph(out / "graph.tsv"), None, None, no_stage)
        judged = FileOracle(out / "truth.tsv", true=truth).judge(ready.triples)
        rows, method, true = worth_asking(ready.triples, judged.rows), plan.method, judged.labels
    for way, (budget, target) in WAYS.items():
        for repeat in range(repeats if budget else 1):
            case = Case(ready.triples, method=method, target=target)
            case = ask_oracle(case, true, rows, budget, 1000 * seed + repeat)
            mine = case.decisions.accepted & (case.decisions.by == "method")
            yield folder.name, seed, way, repeat, len(case.annotations), int(mine.sum()), int(true[mine].sum())
    drawn = draw_pool(ready.triples, rows, NO_ANSWERS, np.random.default_rng(seed))
    pool = ready.triples.take(drawn).with_used_names()
    ranking = Case(pool, method=method, candidates=ready.triples).ranking
    accepted, precision = bound_accepted(true[ranking.rows])
    yield folder.name, seed, "most", 0, ANSWERS, round(accepted), round(accepted * precision)


def bound_accepted(true: BoolArray) -> tuple[float, float]:
    """Return the most accepted facts to expect of any list of a ranking, and the precision of that list.

    The most powerful test of "the precision is below the target" accepts few false draws always, and one more with the
    probability that spends the rest of the error.
    """
    from scipy.stats import binom

    sizes = np.arange(1, len(true) + 1)
    precision, false = np.cumsum(true) / sizes, np.arange(ANSWERS)
    least = binom.cdf(false, ANSWERS, 1 - TARGET.precision)
    most = int((least <= TARGET.error).sum()) - 1  # false draws that always pass
    spent = least[most] if most >= 0 else 0.0
    luck = (TARGET.error - spent) / binom.pmf(most + 1, ANSWERS, 1 - TARGET.precision)
    power = binom.cdf(most, ANSWERS, 1 - precision) + luck * binom.pmf(most + 1, ANSWERS, 1 - precision)
    best = int(np.argmax(np.where(precision >= TARGET.precision, sizes * power, 0)))
    return float(sizes[best] * power[best]), float(precision[best])


def main() -> None:
    """Write the rows of each graph and seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="+", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--out", type=Path, default=HERE / "complete.csv")
    options = parser.parse_args()
    with options.out.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for seed in options.seeds:
            for folder in options.graphs:
                table.writerows(measure(folder, seed, options.repeats))
                file.flush()


if __name__ == "__main__":
    main()
