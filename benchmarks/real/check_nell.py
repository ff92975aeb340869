"""Does `check` learn from answers where errors are real? NELL's sports facts, and DBpedia's judged facts as a graph.

    ACTC_REAL=folder python -m benchmarks.real.check_nell --repeats 20

Each repeat asks 100 questions about judged facts, with the guarantee of .9 that `actc check` has by default. Writes
check_nell.csv: average precision of P(wrong) on the judged facts that were not asked about, before and after; that of
the true rates of the relations, and the share of wrong ones, which an order at random has; what is taken out unjudged.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
from pathlib import Path

import numpy as np

from actc.complete.answers import ask_oracle
from actc.complete.candidates import Candidates
from actc.complete.doubt import doubt_facts, probability_wrong
from actc.data.answers import Answers
from actc.data.numeric import sigmoid
from actc.data.triples import BoolArray, FloatArray, ScoredTriples
from actc.decide.case import Case
from actc.decide.guarantee import TargetPrecision
from actc.graph.formats import read_graph
from actc.graph.graph import Graph
from actc.methods.pooled.method import WRONG_FACTS_METHOD

OUT = Path(__file__).with_suffix(".csv")
BUDGETS = (20, 50, 100)


def read_nell(folder: Path) -> tuple[Graph, Answers]:
    """Read NELL's graph, and what people said of some of its facts."""
    return read_graph(folder / "nell-graph.tsv.gz"), Answers.read(folder / "nell-judged.tsv.gz")


def read_dbpedia(folder: Path) -> tuple[Graph, Answers]:
    """Read the judged facts of DBpedia: they are all of the graph."""
    with gzip.open(folder / "dbpedia-judges.tsv.gz", "rt", encoding="utf-8") as file:
        next(file)
        heads, relations, tails, labels = zip(*(line.split("\t")[:4] for line in file), strict=True)
    triples = ScoredTriples.from_columns(heads, relations, tails, np.zeros(len(heads)))
    answers = Answers.of(triples, np.arange(len(triples)), np.array(labels) == "1")
    return Graph.from_columns(heads, relations, tails), answers


def run(name: str, doubtful: Candidates, answers: Answers, budget: int, repeat: int) -> dict[str, object]:
    """Ask, and measure on the judged facts that were not asked about."""
    facts = doubtful.triples
    judged = answers.on(facts)
    wrong = np.zeros(len(facts), dtype=np.bool_)
    wrong[judged.rows] = ~judged.labels
    rows = np.sort(judged.rows)
    case = Case(facts, method=WRONG_FACTS_METHOD, target=TargetPrecision(0.9))
    case = ask_oracle(case, wrong, rows, budget, repeat)
    asked = case.answers.rows
    rest, decisions = np.setdiff1d(rows, asked), case.decisions
    counts = np.bincount(facts.relations[rows], minlength=len(facts.relation_names))
    rates = np.bincount(facts.relations[rows], wrong[rows], len(counts)) / np.maximum(counts, 1)
    unjudged = decisions.accepted & (decisions.by == "method")
    share = case.estimates.overall["true_share"]
    return {
        "graph": name, "answers": budget, "repeat": repeat, "facts": len(facts), "judged": len(rows),
        "asked_wrong": int(wrong[asked].sum()), "chance": wrong[rest].mean(),
        "before": average_precision(sigmoid(facts.scores)[rest], wrong[rest]),
        "after": average_precision(probability_wrong(doubtful, case)[rest], wrong[rest]),
        "rates": average_precision(rates[facts.relations[rest]], wrong[rest]),
        "taken_out_unjudged": int(unjudged.sum()), "guaranteed": len(case.guarantee.rows),
        "share_low": share.low, "share": share.middle, "share_high": share.high, "share_judged": wrong[rows].mean(),
    }  # fmt: skip


def average_precision(p: FloatArray, wrong: BoolArray) -> float:
    """Return the mean precision at each wrong fact, the most probable first."""
    hits = np.flatnonzero(wrong[np.argsort(-p, kind="stable")])
    return float(((np.arange(len(hits)) + 1) / (hits + 1)).mean())


def main() -> None:
    """Run all repeats and write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    repeats, folder, rows = parser.parse_args().repeats, Path(os.environ["ACTC_REAL"]), []
    for name, (graph, answers) in {"nell": read_nell(folder), "dbpedia": read_dbpedia(folder)}.items():
        doubtful = doubt_facts(graph)
        for budget in BUDGETS:
            found = [run(name, doubtful, answers, budget, repeat) for repeat in range(repeats)]
            rows += found
            columns = ("chance", "before", "after", "rates", "taken_out_unjudged", "share")
            print(
                name, budget, {at: round(float(np.mean([one[at] for one in found])), 3) for at in columns}, flush=True
            )
    with OUT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {name: f"{value:.4g}" if isinstance(value, float) else value for name, value in row.items()}
            )


if __name__ == "__main__":
    main()
