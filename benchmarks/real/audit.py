"""How many answers does an audit take, and how often does its interval hold the truth?

    ACTC_REAL=folder OMP_NUM_THREADS=1 python benchmarks/real/audit.py --runs 500

``folder`` holds nell-judged.tsv.gz and dbpedia-judges.tsv.gz: facts that people judged, DBpedia's also with the votes
of language models as scores. Other sets are made up: 3,000 facts of twelve relations, whose shares of true facts differ
by a standard deviation of ``spread``. Facts are drawn, ten at a time as on the page, and judged one by one until the
interval at 95% is plus or minus 5 points; looked at after each answer, and now and then while many are missing. Writes
audit.csv: of each set the mean number of answers, the share of the runs whose last interval holds the truth, and the
mean error.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from actc.data.answers import Annotations
from actc.data.triples import BoolArray, ScoredTriples
from actc.decide.audit import MIN_ANSWERS, StoppingRule, assess, draw_next

HERE = Path(__file__).parent
GOAL, MOST = StoppingRule(0.05, level=0.95), 600
AHEAD = 10  # draws between two looks at the answers
COLUMNS = ("facts", "truth", "runs", "answers", "held", "bias")


def read_facts() -> Iterator[tuple[str, ScoredTriples, BoolArray]]:
    """Yield real facts that people judged; DBpedia's also with the votes of language models as scores."""
    folder = os.environ.get("ACTC_REAL")
    for name in ("nell-judged", "dbpedia-judges") if folder else ():
        table = pd.read_csv(
            Path(str(folder)) / f"{name}.tsv.gz", sep="\t", dtype={"head": str, "tail": str}, keep_default_na=False
        )
        names = [table[part].tolist() for part in ("head", "relation", "tail")]
        labels = table.label.to_numpy() == 1
        votes = table.iloc[:, 4:].apply(pd.to_numeric)  # nothing where a judge said nothing
        yield name, ScoredTriples.from_columns(*names, np.zeros(len(table))), labels
        if votes.size:
            scores = votes.mean(axis=1).fillna(0.5).to_numpy()
            yield f"{name}, by votes", ScoredTriples.from_columns(*names, scores), labels


def make_facts(share: float, spread: float) -> tuple[str, ScoredTriples, BoolArray]:
    """Make facts of twelve relations of unequal size."""
    random, size = np.random.default_rng(0), 3000
    relations = random.choice(12, size, p=random.dirichlet(np.full(12, 2.0)))
    shares = np.clip(share + spread * random.standard_normal(12), 0, 1)
    labels = random.random(size) < shares[relations]
    names = [f"e{i}" for i in range(size)]
    facts = ScoredTriples.from_columns(names, [f"r{i}" for i in relations], names, np.zeros(size))
    return f"made, {share:g}, spread {spread:g}", facts, labels


def audit_once(facts: ScoredTriples, labels: BoolArray, random: np.random.Generator) -> tuple[int, bool, float]:
    """Return how many answers it took, whether the interval holds, and the estimate."""
    answers, look = Annotations(), MIN_ANSWERS
    while len(answers) < MOST:
        for row in draw_next(facts, answers, MIN_ANSWERS if not len(answers) else AHEAD, random, GOAL):
            answers = Annotations(np.append(answers.rows, row), np.append(answers.labels, labels[row]))
            if len(answers) < look:
                continue
            found = assess(facts, answers, GOAL)
            look = len(answers) + max(1, (found.more or 0) // 4)
            if found.more == 0:
                return len(answers), found.share.low <= labels.mean() <= found.share.high, found.share.middle
    raise ValueError(f"{MOST} answers are not enough.")


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--out", type=Path, default=HERE / "audit.csv")
    options = parser.parse_args()
    with options.out.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        made = [make_facts(*shape) for shape in ((0.85, 0.0), (0.85, 0.15), (0.97, 0.0))]
        for name, facts, labels in [*read_facts(), *made]:
            runs = [audit_once(facts, labels, np.random.default_rng([7, run])) for run in range(options.runs)]
            answers, held, middle = (np.mean(column) for column in zip(*runs, strict=True))
            row = f"{labels.mean():.4f}", options.runs, f"{answers:.1f}", f"{held:.3f}", f"{middle - labels.mean():.4f}"
            table.writerow((name, *row))
            file.flush()
            print(name, *row, flush=True)


if __name__ == "__main__":
    main()
