"""How well the score and the evidence score rank candidates with no answer, per cell of the proving ground.

Run: ACTC_PROVING=FOLDER python benchmarks/evidence/run.py --out benchmarks/evidence/rows.csv
and with --leave-out also each piece of evidence left out, one at a time. The table is looked up once for a cell, and
only what the rest is worth is learnt anew. What is dropped is chosen by the pool; the test half only says what it came
to.
"""

from __future__ import annotations

import argparse
import csv
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from cells import find_cells
from sklearn.metrics import average_precision_score, roc_auc_score

from actc.data.triples import BoolArray, FloatArray, ScoredTriples
from actc.evidence.plan import SCORE_COLUMNS
from actc.evidence.score import EvidenceModel, fit_model
from tables import Tables, open_tables

PREFIXES = {
    "question": SCORE_COLUMNS,
    "slots": ("head_slot", "tail_slot"),
    "entities": ("head_degree", "tail_degree", "head_share", "tail_share", "same_entity"),
    "pair": ("pair",),
    "kinds": ("head_kind", "tail_kind"),
    "paths": ("path",),
    "rules": ("head_rule", "tail_rule"),
    "relatives": ("head_relatives", "tail_relatives"),
}
FIELDS = ("graph", "model", "left_out", "held", "share_expected", "share_true", "score_auc", "score_ap",
          "evidence_auc", "evidence_ap", "pool_auc", "pool_ap", "cpu_seconds", "peak_memory_mb")  # fmt: skip


def leave_out(evidence: ScoredTriples, piece: str) -> ScoredTriples:
    """Return the evidence without one piece."""
    prefixes = tuple(PREFIXES.get(piece, ()))
    pieces = {name: values for name, values in evidence.pieces.items() if not (prefixes and name.startswith(prefixes))}
    return evidence.without_pieces().with_pieces(**pieces)


def measure(tables: Tables, pieces: list[str]) -> Iterator[dict[str, object]]:
    """Yield a row with everything, and one for each piece left out."""
    cell = tables.cell
    for piece in ["", *pieces]:
        start = time.process_time()
        model = fit_model(leave_out(tables.training(), piece), cell.training.true)
        test, pool = model.log_odds(tables.test().pieces), model.log_odds(tables.pool().pieces)
        figures = [*_rank(cell.truth, cell.test.scores), *_rank(cell.truth, test), *_rank(tables.labels, pool)]
        spent = [f"{time.process_time() - start:.1f}", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024]
        values = [cell.graph_name, cell.model, piece, *_describe(model, cell.truth), *figures, *spent]
        print(*values, flush=True)
        yield dict(zip(FIELDS, values, strict=True))


def _describe(model: EvidenceModel, truth: BoolArray) -> list[object]:
    return [model.holdout, f"{model.share:.3f}", f"{truth.mean():.3f}"]


def _rank(truth: BoolArray, scores: FloatArray) -> list[str]:
    return [f"{of(truth, scores):.4f}" for of in (roc_auc_score, average_precision_score)]


def main() -> None:
    """Write one row per cell, and per piece left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--leave-out", action="store_true")
    parser.add_argument("--graphs", nargs="*", help="only these, for example umls-top")
    parser.add_argument("--limits-of", type=int, default=0, help="as if there were so many candidates")
    parser.add_argument("--tables", type=Path, help="a folder that keeps what was looked up")
    options = parser.parse_args()
    pieces = list(PREFIXES) if options.leave_out else []
    kept = options.tables or Path(tempfile.mkdtemp())
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for folder in find_cells():
            if options.graphs and folder.parent.name not in options.graphs:
                continue
            for row in measure(open_tables(folder, kept, limits_of=options.limits_of), pieces):
                writer.writerow(row)
                file.flush()


if __name__ == "__main__":
    main()
