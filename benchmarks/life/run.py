"""A year in fast motion: a closed world of which a tenth more is known each week, twenty answers a week.

Run: python benchmarks/life/run.py households --seeds 12 --out benchmarks/life/households.csv
     python benchmarks/life/run.py umls FOLDER --seeds 4 --out benchmarks/life/umls.csv

``households`` move in, a tenth more each week; a quarter of their facts stays hidden. FOLDER has
``{train,valid,test}.tsv``: of all its facts a third is known in the first week, and a tenth more each week. What is
missing is every fact of the part of the world that is there and not in the graph; rules are found anew each week.

Each week ``actc complete`` is given the graph of the week and an oracle for twenty new answers: once into the folder of
the weeks before (``life``), once into an empty one (``nothing``). A row has the F1 of the missing facts among the
accepted ones, their precision, the interval that was said of it, and how many earlier answers were used again.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from actc.complete.config import RunConfig
from actc.complete.run import run_config
from actc.graph.formats import read_graph

Fact = tuple[str, str, str]
WEEKS, GROWTH, ANSWERS = 10, 1.1, 20
HOUSEHOLDS, HIDDEN, LOVED = 30, 0.25, 0.5
KNOWN = 0.35
COLUMNS = ("world", "seed", "week", "arm", "facts", "missing", "candidates", "accepted", "f1", "precision",
           "low", "high", "judged", "again")  # fmt: skip


def make_household(name: str, random: np.random.Generator) -> Iterator[Fact]:
    """Give the facts of parents and children: who loves whom follows from nothing, all else from other facts."""
    parents, children = (name + "m", name + "f"), [f"{name}c{k}" for k in range(int(random.integers(2, 5)))]
    for relation, group in (("married", parents), ("sibling", children)):
        yield from ((one, relation, other) for one in group for other in group if one != other)
    for parent in parents:
        for child in children:
            yield parent, "parent", child
            yield child, "child", parent
            if random.random() < LOVED:
                yield child, "loves", parent


def weeks_of_households(seed: int) -> Iterator[tuple[list[Fact], list[Fact]]]:
    """Give, week by week, the facts that are known and those that are missing."""
    random = np.random.default_rng([seed, 1])
    every: list[tuple[Fact, bool]] = []
    there = 0
    for week in range(WEEKS):
        while there < round(HOUSEHOLDS * GROWTH**week):
            facts = list(make_household(f"h{there}", random))
            every += zip(facts, (random.random(len(facts)) < HIDDEN).tolist(), strict=True)
            there += 1
        yield [fact for fact, out in every if not out], [fact for fact, out in every if out]


def weeks_of_graph(folder: Path, seed: int) -> Iterator[tuple[list[Fact], list[Fact]]]:
    """Give the same of a graph that is taken for the whole world."""
    graphs = [read_graph(folder / f"{part}.tsv") for part in ("train", "valid", "test")]
    facts = sorted({graph.triple(row) for graph in graphs for row in range(len(graph))})
    order = np.random.default_rng([seed, 2]).permutation(len(facts)).tolist()
    for week in range(WEEKS):
        known = round(KNOWN * GROWTH**week * len(facts))
        yield [facts[at] for at in order[:known]], [facts[at] for at in order[known:]]


def live(world: str, folder: Path | None, seed: int) -> list[dict[str, object]]:
    """Go through the weeks of one world; return a row for each week and way."""
    weeks = weeks_of_households(seed) if folder is None else weeks_of_graph(folder, seed)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for week, (known, missing) in enumerate(weeks, start=1):
            _write(place / "graph.tsv", known)
            _write(place / "truth.tsv", known + missing)
            plan = RunConfig(place / "graph.tsv", place / "life", oracle=place / "truth.tsv", budget=ANSWERS,
                                  seed=seed * WEEKS + week)  # fmt: skip
            run_config(plan)
            _copy_candidates(place / "life", place / "nothing")
            run_config(replace(plan, out=place / "nothing"))
            told = {"world": world, "seed": seed, "week": week, "facts": len(known), "missing": len(missing)}
            rows += [{**told, "arm": arm, **_measure(place / arm, set(missing))} for arm in ("life", "nothing")]
            print(world, seed, week, rows[-2]["f1"], rows[-1]["f1"], file=sys.stderr, flush=True)
    return rows


def _copy_candidates(done: Path, folder: Path) -> None:
    """Begin a folder with the week's candidates, which are the same both ways, and with nothing that was said."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path in (done / "candidates.parquet", *done.glob("evidence*.npz")):
        shutil.copy(path, folder)
    begun = json.loads((done / "begun.json").read_text(encoding="utf-8"))
    begun["done"].pop("state")
    (folder / "begun.json").write_text(json.dumps(begun), encoding="utf-8")


def _write(path: Path, facts: list[Fact]) -> None:
    path.write_text("".join("\t".join(fact) + "\n" for fact in facts), encoding="utf-8")


def _measure(out: Path, missing: set[Fact]) -> dict[str, object]:
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    with open(out / "accepted.tsv", encoding="utf-8", newline="") as lines:
        found = [(row["head"], row["relation"], row["tail"]) for row in csv.DictReader(lines, delimiter="\t")]
    right = sum(fact in missing for fact in found)
    low, _, high = report["accepted_precision"] or (0.0, 0.5, 1.0)
    return {
        "candidates": report["candidates"],
        "accepted": len(found),
        "f1": round(2 * right / max(len(found) + len(missing), 1), 4),
        "precision": round(right / max(len(found), 1), 4),
        "low": low,
        "high": high,
        "judged": report["judged"],
        "again": report["judged"] - ANSWERS,
    }


def main() -> None:
    """Write the rows of some seeds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("world")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.seeds)
    with options.out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        work = (delayed(live)(options.world, options.folder, seed) for seed in seeds)
        for rows in Parallel(options.jobs, return_as="generator")(work):
            writer.writerows(rows)
            file.flush()


if __name__ == "__main__":
    main()
