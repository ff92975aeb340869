"""How well the score and the evidence score rank test candidates with no answer, per cell of the proving ground.

Run: ACTC_PROVING=FOLDER python benchmarks/evidence/run.py --out benchmarks/evidence/rows.csv
and with --leave-out also each piece of evidence left out, one at a time.
"""

from __future__ import annotations

import argparse
import csv
import resource
import time
from pathlib import Path

from cells import Cell, find_cells, read_cell
from sklearn.metrics import average_precision_score, roc_auc_score

from actc.evidence.plan import QUESTION_COLUMNS, Limits
from actc.evidence.table import Evidence, gather_evidence
from actc.evidence.weigh import known_to, without
from actc.evidence.worth import learn_worth

PREFIXES = {
    "question": QUESTION_COLUMNS,
    "slots": ("head_slot", "tail_slot"),
    "entities": ("head_degree", "tail_degree", "head_share", "tail_share", "same_entity"),
    "pair": ("pair",),
    "kinds": ("head_kind", "tail_kind"),
    "paths": ("path",),
    "rules": ("head_rule", "tail_rule"),
    "relatives": ("head_relatives", "tail_relatives"),
}
FIELDS = ("graph", "model", "left_out", "held", "learner", "share_expected", "share_true", "score_auc", "score_ap",
          "evidence_auc", "evidence_ap", "seconds", "peak_memory_mb")  # fmt: skip


def leave_out(evidence: Evidence, piece: str) -> Evidence:
    """Return the evidence without one piece."""
    prefixes = PREFIXES.get(piece, ())
    return evidence.only([name for name in evidence.columns if not name.startswith(tuple(prefixes))])


def measure(cell: Cell, pieces: list[str], limits_of: int) -> list[dict[str, object]]:
    """Return a row with everything, and one for each piece left out, under the limits of so many candidates."""
    start = time.perf_counter()
    before = without(cell.known, cell.held.facts)
    limits = Limits.for_count(max(len(cell.test), len(cell.held.proposals), limits_of))
    lesson = gather_evidence(before, cell.held.proposals, limits=limits)
    tables: dict[bool, Evidence] = {}
    rows = []
    for piece in ["", *pieces]:
        worth = learn_worth(leave_out(lesson, piece), cell.held.true, cell.held.own_questions)
        grown = worth.trees is not None
        if grown not in tables:
            tables[grown] = gather_evidence(known_to(worth, cell.known, before), cell.test, limits=limits)
        log_odds = worth.log_odds(tables[grown])
        learner = "trees" if grown else "ridge"
        figures = [f"{worth.share:.3f}", f"{cell.truth.mean():.3f}"]
        for score in (cell.test.scores, log_odds):
            figures += [f"{of(cell.truth, score):.4f}" for of in (roc_auc_score, average_precision_score)]
        spent = [f"{time.perf_counter() - start:.1f}", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024]
        values = [cell.graph_name, cell.model, piece, worth.held, learner, *figures, *spent]
        rows.append(dict(zip(FIELDS, values, strict=True)))
        print(*values, flush=True)
        start = time.perf_counter()
    return rows


def main() -> None:
    """Write one row per cell, and per piece left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--leave-out", action="store_true")
    parser.add_argument("--graphs", nargs="*", help="only these, for example umls-top")
    parser.add_argument("--limits-of", type=int, default=0, help="as if there were so many candidates")
    options = parser.parse_args()
    pieces = list(PREFIXES) if options.leave_out else []
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for folder in find_cells():
            if options.graphs and folder.parent.name not in options.graphs:
                continue
            writer.writerows(measure(read_cell(folder), pieces, options.limits_of))
            file.flush()


if __name__ == "__main__":
    main()
