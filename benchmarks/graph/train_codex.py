"""Train a model on CoDEx by its recipe, score valid, test and train, and say how well they can be told apart.

    python benchmarks/graph/train_codex.py codex-s complex --out scores/codex-s/complex

Accuracy and F1 are on test, with each relation's best threshold for all validation labels (localopt-acc). This is what
``actc train`` does, without its command line: numpy and torch are all it needs.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from actc.graphs.graph import Graph
from actc.methods import METHODS
from actc.metrics import accuracy, f1
from actc.models.recipes import load_recipe
from actc.models.saved_model import EmbeddingScorer, save_model
from actc.models.train_model import train_model
from actc.triples import Annotations


def read_lines(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]


def read_split(folder: Path, split: str, train: Graph | None = None) -> tuple[Graph, np.ndarray]:
    true = read_lines(folder / f"{split}.txt")
    false = [] if split == "train" else read_lines(folder / f"{split}_negatives.txt")
    graph = Graph.from_columns(*zip(*true, *false, strict=True))
    if train is not None:
        graph = graph.recoded(train.entity_names, train.relation_names)
        assert min(graph.heads.min(), graph.relations.min(), graph.tails.min()) >= 0
    return graph, np.arange(len(graph)) < len(true)


def add_row(path: Path, facts: dict[str, object]) -> None:
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(facts))
        if new:
            writer.writeheader()
        writer.writerow(facts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("model")
    data = os.environ.get("ACTC_DATA")  # a folder that has CoDEx as text: codex-m/train.txt and so on
    parser.add_argument("--data", type=Path, default=data, required=data is None)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--set", action="append", default=[], help="another setting: epochs=10")
    parser.add_argument("--recipe", help="another recipe than model_dataset, such as complex_small")
    parser.add_argument("--rows", type=Path, help="a CSV file to add the figures to")
    parser.add_argument("--keep", action="store_true", help="write the model too")
    arguments = parser.parse_args()
    name = arguments.recipe or f"{arguments.model}_{arguments.dataset}"
    recipe = load_recipe(name)
    recipe = replace(recipe, **{key: json.loads(value) for key, value in (text.split("=") for text in arguments.set)})
    folder = arguments.data / arguments.dataset
    train, _ = read_split(folder, "train")
    valid, valid_labels = read_split(folder, "valid", train)
    test, test_labels = read_split(folder, "test", train)
    model = train_model(train, recipe, held_out=valid.take(valid_labels), seconds=arguments.seconds)
    scorer = EmbeddingScorer(model)
    start = time.perf_counter()
    tables = [
        graph.with_scores(scorer.score(graph.heads, graph.relations, graph.tails)) for graph in (valid, test, train)
    ]
    everything = Annotations(np.arange(len(valid)), valid_labels)
    decisions = METHODS["localopt-acc"].fit(tables[0], everything).accepts(tables[1])
    arguments.out.mkdir(parents=True, exist_ok=True)
    for split, table in zip(("valid", "test", "train"), tables, strict=True):
        np.save(arguments.out / f"{split}.npy", table.scores.astype(np.float32))
    facts = {
        "dataset": arguments.dataset,
        "model": arguments.model,
        "recipe": name,
        "accuracy": round(accuracy(test_labels, decisions), 4),
        "f1": round(f1(test_labels, decisions), 4),
        "scoring_seconds": round(time.perf_counter() - start, 1),
        **model.facts,
        "settings": " ".join(arguments.set),
    }
    (arguments.out / "facts.json").write_text(json.dumps(facts) + "\n", encoding="utf-8")
    if arguments.rows:
        add_row(arguments.rows, facts)
    if arguments.keep:
        save_model(model, arguments.out)
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    main()
