"""Write what other tools are to read: tasks for Label Studio, votes for crowd-kit.

python tools/foreign/write_files.py FOLDER
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np

from actc import ScoredTriples, export_session, import_judgements, start_session
from actc.bench.sample import load_sample
from actc.data.files import write_scored

ROOT = Path(__file__).parent.parent.parent
RATES = ((0.95, 0.1), (0.9, 0.1), (0.97, 0.6), (0.8, 0.3), (0.85, 0.2))
"""How often each of five people says "true" of true triples, and of false ones."""


def write_tasks(folder: Path) -> None:
    """Write twenty tasks and the labelling configuration that the docs give."""
    write_scored(folder / "scores.tsv", load_sample().valid)
    start_session(folder / "session", folder / "scores.tsv")
    export_session(folder / "session", label_studio=folder / "tasks.json", count=20)
    page = (ROOT / "docs" / "how-to" / "judge-triples.md").read_text(encoding="utf-8")
    (folder / "config.xml").write_text(re.search(r"```xml\n(.*?)```", page, re.DOTALL)[1], encoding="utf-8")


def write_votes(folder: Path) -> None:
    """Write five people's votes on 2,000 triples, and the labels that ours makes of them."""
    rng = np.random.default_rng(0)
    truth = rng.random(2000) < 0.4
    triples, people = (grid.ravel() for grid in np.meshgrid(np.arange(2000), np.arange(5), indexing="ij"))
    labels = rng.random(len(triples)) < np.array(RATES)[people, np.where(truth[triples], 0, 1)]
    pool = ScoredTriples.from_columns([f"h{i}" for i in range(2000)], ["r"] * 2000, ["t"] * 2000, rng.random(2000))
    write_scored(folder / "voted.tsv", pool)
    lines = [
        {
            "head": f"h{triple}",
            "relation": "r",
            "tail": "t",
            "name": f"p{person}",
            "answer": "true" if label else "false",
        }
        for triple, person, label in zip(triples.tolist(), people.tolist(), labels.tolist(), strict=True)
    ]
    (folder / "voted.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    session = start_session(folder / "voted", folder / "voted.tsv")
    import_judgements(session, folder / "voted.jsonl")
    found = session.annotations()
    told = {"triples": triples, "people": people, "labels": labels, "rows": found.rows, "found": found.labels}
    columns = {name: column.tolist() for name, column in told.items()}
    (folder / "votes.json").write_text(json.dumps(columns), encoding="utf-8")


if __name__ == "__main__":
    place = Path(sys.argv[1])
    for write in (write_tasks, write_votes):
        write(place)
