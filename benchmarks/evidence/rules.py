"""Rules propose, evidence decides, without a model: candidates, recall, AP, F1, expected and true share, time, memory.

Run: python benchmarks/evidence/rules.py umls nations wn18rr --graphs FOLDER --out benchmarks/evidence/rules.csv
FOLDER/GRAPH has train, valid and test; the graph is train and valid, what is hidden is test. Rows of one graph, on the
same candidates: ``evidence`` (accepted is what is likelier than not; with --answers, what `actc complete` accepts after
so many answers from the truth), and rule confidence alone as AnyBURL ranks: ``max-plus`` (the surest rule, ties by the
next ones) and ``noisy-or``. ``best_f1`` is that of the best cut, which nobody knows. --propose-only stops at the
candidates; --confidence says which rules propose; --redraw K hides as many other facts, drawn at random. Each graph
runs in a process of its own.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score

from actc.complete.answers import ask_oracle, worth_asking
from actc.data.triples import BoolArray, FloatArray, ScoredTriples
from actc.decide.case import Case
from actc.evidence import rules as plan
from actc.evidence.holdouts import score_rules
from actc.evidence.rules import propose_by_rules
from actc.evidence.steps import Step
from actc.evidence.table import open_spilling, put_facts
from actc.graph.formats import read_graph
from actc.graph.graph import Graph
from actc.methods.pooled.method import EVIDENCE_METHOD

FIELDS = (
    "graph", "redraw", "ranked_by", "answers", "seed", "confidence", "rules", "candidates", "found_hidden",
    "expected_found", "expected_share", "true_share", "ap", "accepted", "precision", "recall", "f1", "best_f1", "low",
    "middle", "high", "seconds", "cpu_seconds", "peak_mb",
)  # fmt: skip
TOPS = 5  # confidences that max-plus compares


def read_split(folder: Path) -> tuple[Graph, Graph]:
    """Return train and valid, and what test has that they do not."""
    train, valid, test = (read_graph(next(folder.glob(f"{name}.tsv*"))) for name in ("train", "valid", "test"))
    graph = Graph.of(train.union(valid))
    return graph, test.take(~graph.contains(test))


def hide_anew(graph: Graph, hidden: Graph, redraw: int) -> tuple[Graph, Graph]:
    """Return as many other hidden facts of the whole graph, drawn at random; 0 leaves them as they are."""
    if not redraw:
        return graph, hidden
    whole = Graph.of(graph.union(hidden))
    out = np.random.default_rng(1000 + redraw).permutation(len(whole)) < len(hidden)
    return whole.take(~out), whole.take(out)


def rank_by_confidence(graph: Graph, proposed: ScoredTriples, rules: plan.Rules) -> FloatArray:
    """Return places by max-plus, the best last, shape (N,): the surest rules' confidences, compared one by one."""
    with open_spilling(plan.MEMORY, len(graph)) as connection:
        put_facts(connection, graph)
        plan.make(connection, plan.EDGES)
        plan.make(connection, plan.DEGREE)
        plan.make(connection, plan.middle_step(rules.hub))
        plan.make(connection, Step("edge_part", "SELECT * FROM edge"), "CREATE OR REPLACE VIEW")
        connection.register("rule", rules.columns)
        connection.execute("CREATE TABLE rule_body AS SELECT DISTINCT a, b FROM rule WHERE b >= -1")
        plan.make(connection, plan.APPLIED)
        rows = connection.execute(
            f"""SELECT h, r, t, list_reverse_sort(list(confidence))[:{TOPS}] AS tops FROM (
                SELECT p.x AS h, l.r, p.y AS t, l.confidence FROM body p JOIN rule l ON l.a = p.a AND l.b = p.b
                UNION ALL SELECT h, r, t, confidence FROM ({plan.CONSTANT_PAIRS}))
            ANTI JOIN fact USING (h, r, t) GROUP BY ALL ORDER BY h, r, t"""
        ).fetchnumpy()
    tops = np.zeros((len(proposed), TOPS))
    for row, found in enumerate(rows["tops"]):
        tops[row, : len(found)] = found
    place = np.empty(len(tops))
    place[np.lexsort(tops.T[::-1])] = np.arange(len(tops))
    return place


def judge(values: FloatArray, accepted: BoolArray | None, true: BoolArray, hidden: int) -> dict[str, Any]:
    """Return how a ranking and what is accepted stand against the truth."""
    right = np.cumsum(true[np.argsort(-values, kind="stable")])
    best = (2 * right / (np.arange(1, len(right) + 1) + hidden)).max()
    row = {"ap": average_precision_score(true, values), "best_f1": best}
    if accepted is not None:
        taken, good = int(accepted.sum()), int((accepted & true).sum())
        row |= {"accepted": taken, "precision": good / max(taken, 1), "recall": good / hidden}
        row |= {"f1": 2 * good / (taken + hidden)}
    return row


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the rows of one graph."""
    graph, hidden = hide_anew(*read_split(options.graphs / options.graph[0]), options.redraw)
    begun, used = time.perf_counter(), time.process_time()
    proposed, rules = propose_by_rules(graph, confidence=options.confidence)
    true = hidden.contains(proposed)
    same = {
        "graph": options.graph[0],
        "redraw": options.redraw,
        "seed": options.seed,
        "confidence": rules.least,
        "rules": len(rules),
    }
    same |= {"candidates": len(proposed), "found_hidden": true.sum() / len(hidden), "true_share": true.mean()}

    def spent() -> dict[str, float]:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        return {"seconds": time.perf_counter() - begun, "cpu_seconds": time.process_time() - used, "peak_mb": peak}

    if options.propose_only:
        return [same | {"ranked_by": "none"} | spent()]
    found = score_rules(graph, proposed, rules, seed=options.seed)
    log_odds = found.scored.scores
    low, middle, high = found.precision
    said = {"expected_found": found.recall, "expected_share": found.share, "low": low, "middle": middle, "high": high}
    rows = [same | {"ranked_by": "evidence", "answers": 0} | said]
    rows[0] |= judge(log_odds, log_odds > 0, true, len(hidden)) | spent()
    for answers in options.answers:
        candidates = found.scored.without_pieces()
        everyone = worth_asking(candidates, np.arange(len(candidates)))
        case = ask_oracle(Case(candidates, method=EVIDENCE_METHOD), true, everyone, answers, options.seed)
        told = dict(zip(("low", "middle", "high"), case.accepted_precision or (), strict=False))
        decided = case.decisions
        ranked = log_odds if decided.probability is None else decided.probability
        row = same | {"ranked_by": "evidence", "answers": answers} | told
        rows.append(row | judge(ranked, decided.accepted, true, len(hidden)) | spent())
    if options.redraw or not options.answers:
        return rows
    alone = {"max-plus": rank_by_confidence(graph, proposed, rules), "noisy-or": proposed.pieces["rules_together"]}
    return rows + [
        same | {"ranked_by": name} | judge(values, None, true, len(hidden)) for name, values in alone.items()
    ]


def main() -> None:
    """Append the rows of each graph."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph", nargs="+")
    parser.add_argument("--graphs", type=Path, required=True)
    parser.add_argument("--answers", type=int, nargs="*", default=[100])
    parser.add_argument("--confidence", type=float)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--redraw", type=int, default=0)
    parser.add_argument("--propose-only", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.out is None:
        print(json.dumps(measure(options), default=float))
        return
    new = not options.out.exists()
    words = sys.argv[1:]
    at = words.index("--out")
    words = [word for word in [*words[:at], *words[at + 2 :]] if word not in options.graph]
    with options.out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        if new:
            writer.writeheader()
        for graph in options.graph:
            run = subprocess.run([sys.executable, __file__, graph, *words], capture_output=True, text=True, check=True)
            for row in json.loads(run.stdout.splitlines()[-1]):
                print(row, flush=True)
                writer.writerow({k: f"{v:.4g}" if isinstance(v, float) and v < 1000 else v for k, v in row.items()})
            file.flush()


if __name__ == "__main__":
    main()
