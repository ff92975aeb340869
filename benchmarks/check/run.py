"""Errors planted in graphs, and how well they are found: before any answer, and with some.

Run: python benchmarks/check/run.py --data DATA --graphs umls wn18rr --kinds slot any --out benchmarks/check/rows.csv
Each row is one graph (train, valid and test together) with errors of one kind, so many for each hundred facts, added
to it. Rows that the file has are not run again.

slot      another entity seen in the same slot of the relation
any       half with one part replaced by anything, half wholly random (as CAGED plants them, CIKM 2022)
in-place  as slot, but the error stands in the place of the fact it was made from
rules     what the graph's own rules propose and the graph does not have, with a confidence of .3 (a few are true)
model     what a model proposes, placed first in its slot, and the graph does not have; of the best (a few are true)
hard      CoDEx's verified negatives
none      nothing planted
"""

from __future__ import annotations

import argparse
import csv
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from actc.complete.answers import ask_oracle
from actc.complete.candidates import Candidates
from actc.complete.doubt import doubt_facts, probability_wrong
from actc.complete.propose import propose_candidates
from actc.data.files import read_scored
from actc.decide.case import Case
from actc.decide.guarantee import TargetPrecision
from actc.evidence.plant import Planted, replace_all, replace_end, replace_relation, replace_seen
from actc.evidence.rules import propose_by_rules
from actc.graph.formats import read_graph, write_graph
from actc.graph.graph import Graph
from actc.methods.pooled.method import WRONG_FACTS_METHOD

MOST_PROPOSED = 3  # times as many of a model's best proposals as are planted

FIELDS = (
    "graph", "kind", "planted", "repeat", "facts", "wrong", "ap", "first_100", "first_1_percent", "first_5_percent",
    "seconds", "peak_memory_mb", "answers", "asked_wrong", "ap_rest_before", "ap_rest_after", "removed",
    "removed_precision", "removed_recall", "promised", "promised_precision", "share", "share_low", "share_high",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--graphs", nargs="+", required=True)
    parser.add_argument("--kinds", nargs="+", default=["slot", "any"])
    parser.add_argument("--shares", nargs="+", type=float, default=[0.05])
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--precision", type=float, default=0.9)
    parser.add_argument("--models", type=Path, help="a folder with the folder of a PyKEEN model for each graph")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    done = read_done(args.out)
    cells = [
        (g, k, 0.0 if k == "none" else s, r)
        for g in args.graphs
        for k in args.kinds
        for s in args.shares
        for r in range(args.repeats)
    ]
    for name, kind, share, repeat in cells:
        if (name, kind, f"{share:g}", str(repeat)) not in done:
            row = run_cell(args, name, kind, share, repeat)
            write_row(args.out, row)
            print(row, flush=True)


def run_cell(args: argparse.Namespace, name: str, kind: str, share: float, repeat: int) -> dict[str, object]:
    """Plant, find, ask."""
    graph, wrong = plant(args.data, name, kind, share, repeat, args.models)
    started = time.process_time()
    doubtful = doubt_facts(graph)
    seconds = time.process_time() - started
    ranked = wrong[graph.rows_of(doubtful.triples)]
    row = {
        "graph": name, "kind": kind, "planted": f"{share:g}", "repeat": repeat, "facts": len(graph),
        "wrong": int(wrong.sum()), "ap": average_precision(ranked), "first_100": ranked[:100].mean(),
        "first_1_percent": ranked[: len(graph) // 100].mean(), "first_5_percent": ranked[: len(graph) // 20].mean(),
        "seconds": round(seconds, 1),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }  # fmt: skip
    return row | ask(args, doubtful, ranked, repeat)


def ask(args: argparse.Namespace, doubtful: Candidates, labels: np.ndarray, seed: int) -> dict[str, object]:
    """Ask so many questions; return how the rest is ranked before and after, what is taken out, and what is told."""
    facts, rows, target = doubtful.triples, np.arange(len(labels)), TargetPrecision(args.precision)
    case = Case(facts, method=WRONG_FACTS_METHOD, target=target)
    case = ask_oracle(case, labels, budget=args.answers, seed=seed)
    asked = case.answers.rows
    rest = np.setdiff1d(rows, asked)
    before, after = (
        average_precision(labels[rest[np.argsort(-probability_wrong(doubtful, told)[rest], kind="stable")]])
        for told in (None, case)
    )
    decided = case.decisions
    out, share = decided.accepted, case.estimates.overall["true_share"]
    by_method = out & (decided.by == "method")
    return {
        "answers": len(case.annotations), "asked_wrong": int(labels[asked].sum()), "ap_rest_before": before,
        "ap_rest_after": after, "removed": int(out.sum()), "removed_precision": mean(labels[out]),
        "removed_recall": labels[out].sum() / max(labels.sum(), 1), "promised": int(by_method.sum()),
        "promised_precision": mean(labels[by_method]),
        "share": share.middle, "share_low": share.low, "share_high": share.high,
    }  # fmt: skip


def plant(
    data: Path, name: str, kind: str, share: float, repeat: int, models: Path | None = None
) -> tuple[Graph, np.ndarray]:
    """Return a graph with errors in it, its rows in a random order, and which are wrong."""
    graph, random = read_whole(data, name), np.random.default_rng([77, repeat])
    if kind == "none":
        return graph, np.zeros(len(graph), dtype=np.bool_)
    count = int(share * len(graph))
    if kind in ("rules", "hard", "model"):
        makers = {"rules": lambda: propose(graph), "hard": lambda: read_negatives(data, name)}
        found = makers.get(kind, lambda: propose_by_model(graph, models / name, MOST_PROPOSED * count))()
        found = found.take(np.flatnonzero(~graph.contains(found)))
        errors = found.take(np.sort(random.permutation(len(found))[:count]))
        both = Graph.of(graph.followed_by(errors))
        wrong = errors.contains(both)
    else:
        kinds = {"any": (replace_part, replace_all)}.get(kind, (replace_seen,))
        planted = Planted.of(graph, count // len(kinds), random, kinds, replaced=float(kind == "in-place"))
        both, wrong = planted.graph, planted.kinds > 0
    order = random.permutation(len(both))
    return both.take(order), wrong[order]


def replace_part(graph, rows, random):
    """Replace head, relation or tail by anything, each as often."""
    end, relation = replace_end(graph, rows, random), replace_relation(graph, rows, random)
    which = random.random(len(rows)) < 2 / 3
    columns = (np.where(which, getattr(end, one), getattr(relation, one)) for one in ("heads", "relations", "tails"))
    return Graph(*columns, graph.entity_names, graph.relation_names)


def propose(graph: Graph) -> Graph:
    """Return what rules propose, those with a confidence of .3 and more."""
    return Graph.of(propose_by_rules(graph, confidence=0.3)[0])


def propose_by_model(graph: Graph, model: Path, most: int) -> Graph:
    """Return the proposals of a model with the best scores, which are kept beside it."""
    path = model / "proposals.parquet"
    if not path.exists():
        with tempfile.TemporaryDirectory() as folder:
            write_graph(Path(folder) / "graph.tsv", graph)
            propose_candidates(Path(folder) / "graph.tsv", path, model=model, best=1)
    proposed = read_scored(path)[0]
    return Graph.of(proposed.take(np.argsort(-proposed.scores, kind="stable")[:most]))


def read_whole(data: Path, name: str) -> Graph:
    if name.startswith("codex"):
        return read_texts([data / "data" / name / f"{split}.txt" for split in ("train", "valid", "test")])
    parts = [read_graph(next((data / "graphs" / name).glob(f"{split}.tsv*"))) for split in ("train", "valid", "test")]
    whole = parts[0].followed_by(parts[1]).followed_by(parts[2])
    return Graph.of(whole.unique())


def read_negatives(data: Path, name: str) -> Graph:
    return read_texts([data / "data" / name / f"{split}_negatives.txt" for split in ("valid", "test")])


def read_texts(paths: list[Path]) -> Graph:
    lines = [line.split("\t") for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    return Graph.from_columns(*zip(*lines, strict=True))


def average_precision(ranked: np.ndarray) -> float:
    """Return the mean precision at each wrong fact of a ranked list."""
    hits = np.flatnonzero(ranked)
    return mean((np.arange(len(hits)) + 1) / (hits + 1))


def mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")


def read_done(path: Path) -> set[tuple[str, ...]]:
    if not path.exists():
        return set()
    with path.open(encoding="utf-8") as file:
        return {tuple(row[name] for name in FIELDS[:4]) for row in csv.DictReader(file)}


def write_row(path: Path, row: dict[str, object]) -> None:
    new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if new:
            writer.writeheader()
        writer.writerow({name: f"{value:.4g}" if isinstance(value, float) else value for name, value in row.items()})


if __name__ == "__main__":
    main()
