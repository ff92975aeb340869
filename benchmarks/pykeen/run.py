"""PyKEEN's predictions accepted with and without the evidence of the training graph, on its packaged Nations and UMLS.

    python benchmarks/pykeen/run.py --out benchmarks/pykeen/rows.csv

The facts of validation and test are true, all other proposals count as wrong, though some may be true. Writes for each
dataset, way, number of answers and seed: candidates, accepted, precision, recall, average precision of what nobody
judged, and seconds of processor time for picking and accepting.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np
from pykeen.datasets import UMLS, Nations
from pykeen.pipeline import pipeline
from sklearn.metrics import average_precision_score

import actc

OPTIONS = {"model": "RotatE", "loss": "nssa", "optimizer_kwargs": {"lr": 0.05}, "epochs": 20, "random_seed": 0}
QUIET = {"training_kwargs": {"batch_size": 512, "use_tqdm": False}, "evaluation_kwargs": {"use_tqdm": False}}
BEST = {Nations: 5, UMLS: 1}  # answers to each question
COLUMNS = (
    "dataset",
    "way",
    "answers",
    "seed",
    "candidates",
    "accepted",
    "precision",
    "recall",
    "ap_unjudged",
    "seconds",
)


def main() -> None:
    """Train one model for each dataset and accept its proposals in each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("rows.csv"))
    with parser.parse_args().out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for kind, best in BEST.items():
            data = kind()
            result = pipeline(dataset=data, device="cpu", **OPTIONS, **QUIET)
            pool = actc.from_pykeen(result, best=best)
            parts = (part.label_triples(part.mapped_triples) for part in (data.validation, data.testing))
            facts = {tuple(row) for part in parts for row in part}
            true = np.array([pool.triple(row) in facts for row in range(len(pool))])
            for way, graph in {"model": None, "evidence": result.training}.items():
                for answers, seed in ((0, 0), (50, 0), (50, 1), (50, 2)):
                    writer.writerow(
                        (kind.__name__, way, answers, seed, len(pool), *measure(pool, true, graph, answers, seed))
                    )
                    file.flush()


def measure(pool: actc.ScoredTriples, true: np.ndarray, graph: object, count: int, seed: int) -> tuple[object, ...]:
    """Accept with the given number of answers, and compare with the truth."""
    started, answers = time.process_time(), None
    if count:
        answers = actc.pick_triples(pool, count, graph=graph, seed=seed)
        answers["label"] = true[pool.find(answers["head"], answers["relation"], answers["tail"])]
    every = actc.accept_triples(pool, answers, graph=graph, keep_all=True)
    seconds, accepted = time.process_time() - started, every["accepted"].to_numpy()
    rest = (every["by"] == "method").to_numpy()
    hits = (accepted & true).sum()
    ranked = average_precision_score(true[rest], every["probability"].to_numpy()[rest])
    shares = (hits / max(accepted.sum(), 1), hits / true.sum(), ranked)
    return int(accepted.sum()), *(round(float(share), 4) for share in shares), round(seconds, 2)


if __name__ == "__main__":
    main()
