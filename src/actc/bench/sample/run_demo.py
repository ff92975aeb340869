"""The demo with all that it writes: picture, page, thresholds and what they rest on, accepted triples."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import numpy as np

from actc.bench.plots import draw_learning_curves
from actc.bench.sample.better_graph import complete_families
from actc.bench.sample.demo import ANSWERS, COMPARED, METHOD, Demo, make_demo
from actc.data.files import write_scored, write_text, write_triples
from actc.data.pages import render
from actc.data.progress import Progress, ignore_progress
from actc.decide.calibrate import describe_calibration, write_sources
from actc.errors import OptionError

MOST_ACCEPTED = 40  # triples on the page


def run_demo(
    out: str | Path = "actc-demo",
    *,
    repeats: int = 10,
    seed: int = 0,
    jobs: int = -1,
    progress: Progress = ignore_progress,
) -> Demo:
    """Do the whole job on the packaged sample and write what calibration buys, as ``actc demo`` does.

    Parameters
    ----------
    out : path
        A folder.
    repeats : int
        How often to repeat the comparison of methods.
    seed : int
        Where the draws start from.
    jobs : int
        Processes; -1 for every core. The numbers are the same.
    progress : callable
        Told how many more steps are done, of how many in all.
    """
    out = Path(out)
    if out.exists() and not out.is_dir():
        raise OptionError(f"--out: {out} is a file; give the name of a folder.")
    demo = make_demo(repeats, seed, jobs=jobs, progress=progress)
    demo = replace(demo, better=complete_families(out, seed))
    return replace(demo, written=tuple(write_demo(demo, out)))


def write_demo(demo: Demo, folder: Path) -> list[Path]:
    """Write the picture, the page, the thresholds with what they rest on, the accepted triples; return where."""
    folder.mkdir(parents=True, exist_ok=True)
    picture, thresholds, accepted = (folder / n for n in ("learning-curve.png", "thresholds.json", "accepted.tsv"))
    levels = {name: 100 * level[0] for name, level in demo.levels.items()}
    draw_learning_curves(demo.curves, levels, "What a few answers bring (packaged WordNet sample)", picture)
    scores, labels, known = (folder / f"{name}.tsv" for name in ("scores", "labels", "known"))
    write_scored(known, demo.sample.known)
    sources = write_sources(folder, demo.case, scores=scores.name, labels=labels.name, known=known)
    describe_calibration(demo.case, sources).write(thresholds)
    _write_accepted(demo, accepted)
    return [picture, write_page(demo, picture), thresholds, accepted, scores, labels, known]


def _write_accepted(demo: Demo, path: Path) -> None:
    rows, columns = demo.best_accepted, demo.decided.columns(accepted_only=False)
    sentences = [demo.sample.sentence(*demo.sample.test.triple(row)) for row in rows.tolist()]
    del columns["accepted"]  # all of these are
    write_triples(path, {**{name: column[rows] for name, column in columns.items()}, "sentence": sentences})


def write_page(demo: Demo, picture: Path) -> Path:
    """Write the page beside the picture, the picture inside it."""
    path, sample, annotations = picture.with_name("report.html"), demo.sample, demo.case.annotations
    asked = zip(annotations.rows.tolist(), annotations.labels.tolist(), strict=True)
    taken = demo.best_accepted[:MOST_ACCEPTED].tolist()
    budgets = sorted({row.budget for row in demo.rows})
    page = render(
        "demo.html",
        demo=demo,
        answers=ANSWERS,
        method=METHOD,
        image=base64.b64encode(picture.read_bytes()).decode(),
        budgets=[str(budget) for budget in budgets],
        quality=_quality_rows(demo, budgets),
        asked=[(sample.sentence(*sample.valid.triple(row)), label) for row, label in asked],
        taken=[(sample.sentence(*sample.test.triple(row)), demo.probabilities[row]) for row in taken],
    )
    write_text(path, page)
    return path


def _quality_rows(demo: Demo, budgets: list[int]) -> dict[str, list[list[str]]]:
    """Return accuracy and F1 of each method at each budget, in percent."""
    rows: dict[str, list[list[str]]] = {}
    for method in COMPARED:
        rows[method] = []
        for budget in budgets:
            mine = [(row.accuracy, row.f1) for row in demo.rows if (row.method, row.budget) == (method, budget)]
            rows[method].append([f"{100 * mean:.1f}" for mean in np.mean(mine, axis=0)] if mine else ["–"])
    return rows
