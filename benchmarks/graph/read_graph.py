"""How fast, and in how much memory, is a graph of ten million triples read?

    python benchmarks/graph/read_graph.py --out benchmarks/graph/read_graph.csv

Each reading is a process of its own. ``wall_seconds`` depends on what else the machine does; ``cpu_seconds``, all
threads together, does not. The graph: a million entities, most triples on few of them; 500 relations; Wikidata's names.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

READ = """
import json, resource, sys, time
from actc.graph.formats import read_graph
wall, cpu = time.perf_counter(), time.process_time()
graph = read_graph(sys.argv[1])
print(json.dumps({
    "triples": len(graph), "entities": len(graph.entity_names),
    "wall_seconds": round(time.perf_counter() - wall, 2), "cpu_seconds": round(time.process_time() - cpu, 2),
    "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
}))
"""
TERMS = {
    "tsv": "'Q' || h || '\t' || 'P' || r || '\t' || 'Q' || t",
    "nt": "'<http://www.wikidata.org/entity/Q' || h || '> <http://www.wikidata.org/prop/direct/P' || r || "
    "'> <http://www.wikidata.org/entity/Q' || t || '> .'",
}


def make_file(path: Path, lines: int, seed: int = 0) -> None:
    import duckdb

    rng = np.random.default_rng(seed)
    entities = (lines / 10 * rng.random(2 * lines) ** 3).astype(int)
    with duckdb.connect() as connection:
        connection.register("codes", {"h": entities[:lines], "r": rng.integers(500, size=lines), "t": entities[lines:]})
        connection.execute(
            f"COPY (SELECT {TERMS[path.suffix[1:]]} FROM codes) TO '{path}' "
            "(FORMAT csv, DELIMITER '\x01', HEADER false, QUOTE '', ESCAPE '')"
        )


def measure(path: Path, lines: int) -> dict[str, object]:
    result = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True)
    row = json.loads(result.stdout)
    rates = {f"lines_per_{kind}_second": round(lines / row[f"{kind}_seconds"]) for kind in ("wall", "cpu")}
    return {"format": path.suffix[1:], "lines": lines, **row, **rates, "cores": os.cpu_count()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in TERMS:
            path = Path(folder) / f"graph.{kind}"
            make_file(path, arguments.lines)
            rows += [measure(path, arguments.lines) for _ in range(arguments.repeats)]
    with arguments.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
