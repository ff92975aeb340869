"""What a guarantee costs in `actc complete`: what is accepted with .9 from 30 answers, beside what is without.

Run: python benchmarks/evidence/families.py families --out WORLDS
     python benchmarks/guarantee/complete_graphs.py WORLDS/families GRAPHS/umls GRAPHS/nations --seeds 0 1 2

A folder has train, valid and test; the graph is train and valid, the oracle all three. complete.csv has, of each graph,
seed and way, the answers, the accepted facts that nobody judged, and the true ones among them.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

from actc.graph.formats import read_graph

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "evidence"))
from complete import write_task  # noqa: E402

WAYS = {"nobody": (0,), "without": (30,), "guaranteed": (30, "--precision", 0.9)}
COLUMNS = ("graph", "seed", "way", "answers", "accepted", "true")


def measure(folder: Path, seed: int, way: str) -> tuple[object, ...]:
    """Complete a graph in one way and hold what is accepted unseen to the truth."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place)
        _, truth = write_task(folder, out)
        words = ["complete", "graph.tsv", "--oracle", "truth.tsv", "--out", "better", "--seed", seed, "--budget"]
        command = [sys.executable, "-m", "actc.cli.main", *map(str, words), *map(str, WAYS[way])]
        subprocess.run(command, cwd=out, check=True, capture_output=True)
        accepted = out / "better" / "accepted.tsv"
        unseen = (pd.read_csv(accepted, sep="\t").by != "oracle").to_numpy()
        true = truth.contains(read_graph(accepted)) if len(unseen) else unseen
        judged = json.loads((out / "better" / "report.json").read_text(encoding="utf-8"))["judged"]
    return folder.name, seed, way, judged, int(unseen.sum()), int((true & unseen).sum())


def main() -> None:
    """Append a row for each graph, seed and way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="+", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--out", type=Path, default=HERE / "complete.csv")
    options = parser.parse_args()
    new = not options.out.exists()
    with options.out.open("a", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        if new:
            table.writerow(COLUMNS)
        for seed in options.seeds:
            for folder in options.graphs:
                table.writerows(measure(folder, seed, way) for way in WAYS)
                file.flush()


if __name__ == "__main__":
    main()
