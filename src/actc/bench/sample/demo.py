"""The whole job on the packaged sample: select, answer from the sample's labels, calibrate, decide, look."""

from __future__ import annotations

import base64
import csv
import itertools
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from actc.bench.cells import Cell
from actc.bench.measurements import Row
from actc.bench.metrics import accuracy, f1
from actc.bench.plots import check_matplotlib, draw_learning_curves
from actc.bench.runs import run_experiment
from actc.bench.sample import Sample, load_sample
from actc.complete.run import complete_graph
from actc.data.answers import Annotations
from actc.data.files import write_scored, write_triples
from actc.data.progress import Progress, ignore_progress
from actc.data.text_files import render, write_text
from actc.data.triples import IntArray
from actc.decide.calibrate import describe_calibration, write_sources
from actc.decide.case import Case
from actc.decide.decision_table import ORACLE, Decisions
from actc.decide.estimate import write_cut
from actc.errors import OptionError
from actc.graph.graph import Graph
from actc.methods.named import METHODS

FAMILIES, HIDDEN = 30, 0.2
BUDGETS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500)
COMPARED = {
    "pooled-known": "pooled-known: ours, with the known triples' scores",
    "pooled": "pooled: ours",
    "actc-lr-rndm": "actc-lr-rndm: the paper's method",
    "globalopt-f1": "globalopt-f1: baseline",
    "localopt-acc": "localopt-acc: baseline",
}
METHOD, ANSWERS = "pooled-known", 50
MOST_ACCEPTED = 40  # triples on the page


def make_families(random: np.random.Generator) -> Graph:
    """Return facts about families of three generations, each of which follows from others."""
    facts: list[tuple[str, str, str]] = []
    for k in range(FAMILIES):
        old, young = (f"Grandpa {k}", f"Grandma {k}"), [f"{name} {k}" for name in ("Ann", "Bob", "Cleo")]
        children = {
            parent: [f"{parent}'s {name}" for name in ("Dan", "Eve")] for parent in young[: random.integers(1, 4)]
        }
        couples = [(old, young), *(((parent, f"{parent}'s love"), theirs) for parent, theirs in children.items())]
        for couple, theirs in couples:
            facts += [(one, "married", other) for one, other in itertools.permutations(couple)]
            facts += [(one, "sibling", other) for one, other in itertools.permutations(theirs, 2)]
            for parent, child in itertools.product(couple, theirs):
                facts += [(parent, "parent", child), (child, "child", parent)]
        facts += [(one, "grandparent", child) for theirs in children.values() for one in old for child in theirs]
    return Graph.from_columns(*zip(*facts, strict=True))


@dataclass(frozen=True, eq=False)
class Demo:
    """What came of the demo."""

    sample: Sample
    rows: list[Row]  # accuracy and F1 by method, budget and repeat
    levels: dict[str, tuple[float, float]]  # what no calibration at all gives, and what all of the pool's labels give
    case: Case  # with ``ANSWERS`` answers, chosen one batch after the other
    decided: Decisions  # on the test triples
    # a graph completed without a model: facts, hidden facts, accepted ones, and how many of these were hidden
    families: dict[str, int]
    rules: tuple[str, ...]  # some of the rules that proposed its facts
    folder: Path

    @property
    def by_relation(self) -> list[tuple[str, ...]]:
        """A row for each relation: its name, threshold, judged triples; test triples, accepted ones, accuracy."""
        sample, case, test = self.sample, self.case, self.sample.test
        judged, rows = Counter(case.pool.columns()["relation"][case.annotations.rows]), []
        for name, cut in zip(case.thresholds.relation_names, case.thresholds.cuts.tolist(), strict=True):
            mine = test.columns()["relation"] == name
            accepted = self.decided.accepted[mine]
            numbers = map(str, (judged[name], mine.sum(), accepted.sum()))
            right = f"{accuracy(sample.test_labels[mine], accepted):.0%}"
            rows.append((sample.relations[name]["name"], write_cut(cut), *numbers, right))
        return rows

    @property
    def precision(self) -> float:
        """The share of true triples among the accepted ones."""
        return float(self.sample.test_labels[self.decided.accepted].mean())

    @property
    def best_accepted(self) -> IntArray:
        """Rows of the accepted test triples, the most probable first."""
        assert self.decided.probability is not None
        rows = np.flatnonzero(self.decided.accepted)
        return rows[np.argsort(-self.decided.probability[rows], kind="stable")]

    @property
    def story_of_families(self) -> str:
        """How much better the graph without a model is."""
        facts, hidden, accepted, true = (f"{count:,}" for count in self.families.values())
        return (
            f"{facts} facts about {FAMILIES} families; {hidden} more are hidden. The graph's own rules propose facts, "
            f"and nobody judges: {accepted} facts are added, {true} of them true, so the graph has {true} of the "
            f"{hidden} hidden facts now."
        )

    @property
    def written(self) -> list[Path]:
        """The files that show it."""
        names = ("learning-curve.png", "report.html", "thresholds.json", "accepted.tsv")
        return [self.folder / name for name in (*names, "scores.tsv", "labels.tsv", "known.tsv")]


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
        Called with how many more steps are done, of how many in all.
    """
    check_matplotlib()  # before the work
    out = Path(out)
    if out.exists() and not out.is_dir():
        raise OptionError(f"--out: {out} is a file; give the name of a folder.")
    sample, method, answers = load_sample(), METHODS[METHOD], Annotations()
    valid, labels, test, truth = sample.valid, sample.valid_labels, sample.test, sample.test_labels
    cell = Cell("wordnet", "sample", valid, labels, test, truth, sample.known)
    rows = run_experiment([cell], list(COMPARED), BUDGETS, repeats=repeats, seed=seed, jobs=jobs, progress=progress)
    random = np.random.default_rng(seed)
    while len(answers) < ANSWERS:
        count = min(method.batch(len(answers)), ANSWERS - len(answers))
        picks = method.fit(valid, answers, sample.known).pick(count, random)
        answers = answers.plus(picks.answered(labels[picks.rows], ORACLE))
    case = Case(valid, answers, sample.known, METHOD)
    every_label = METHODS["localopt-acc"].fit(valid, Annotations(np.arange(len(valid)), labels))
    compared = {
        "no calibration": test.scores >= test.scores.mean(),
        "every label of the pool": every_label.accepts(test),
    }
    levels = {name: (accuracy(truth, accepted), f1(truth, accepted)) for name, accepted in compared.items()}
    decisions = replace(case, candidates=test, fitted=case.fit).decisions
    demo = Demo(sample, rows, levels, case, decisions, *complete_families(out, seed), out)
    write_demo(demo)
    return demo


def complete_families(folder: Path, seed: int = 0) -> tuple[dict[str, int], tuple[str, ...]]:
    """Hide a fifth of the facts and complete the rest, as ``actc complete --budget 0``; return counts and rules."""
    random = np.random.default_rng(seed)
    world = make_families(random)
    hidden = random.random(len(world)) < HIDDEN
    folder.mkdir(parents=True, exist_ok=True)
    write_triples(folder / "families.tsv", world.take(~hidden).columns())
    out = folder / "better"
    complete_graph(folder / "families.tsv", out, budget=0, seed=seed)
    with (out / "accepted.tsv").open(encoding="utf-8") as lines:
        accepted = list(csv.DictReader(lines, delimiter="\t"))
    names = ([row[name] for row in accepted] for name in ("head", "relation", "tail"))
    true = int((world.take(hidden).find(*names) >= 0).sum())
    counts = {"facts": int((~hidden).sum()), "hidden": int(hidden.sum()), "accepted": len(accepted), "true": true}
    return counts, tuple(dict.fromkeys(row["rule"] for row in accepted))[:3]


def write_demo(demo: Demo) -> None:
    """Write the picture, the page, the thresholds with what they rest on, and the accepted triples."""
    picture, page, thresholds, accepted, scores, labels, known = demo.written
    levels = {name: 100 * level[0] for name, level in demo.levels.items()}
    title = "What a few answers bring (packaged WordNet sample)"
    draw_learning_curves(demo.rows, COMPARED, levels, title, picture)
    write_scored(known, demo.sample.known)
    sources = write_sources(demo.folder, demo.case, scores=scores.name, labels=labels.name, known=known)
    describe_calibration(demo.case, sources).write(thresholds)
    rows, columns = demo.best_accepted, demo.decided.columns(accepted_only=False)
    sentences = [demo.sample.sentence(*demo.sample.test.triple(row)) for row in rows.tolist()]
    del columns["accepted"]  # all of these are
    write_triples(accepted, {**{name: column[rows] for name, column in columns.items()}, "sentence": sentences})
    write_text(page, _render_page(demo, picture))


def _render_page(demo: Demo, picture: Path) -> str:
    sample, annotations, probability = demo.sample, demo.case.annotations, demo.decided.probability
    assert probability is not None
    by_budget: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for row in demo.rows:
        by_budget.setdefault((row.method, row.budget), []).append((row.accuracy, row.f1))
    means = {key: [f"{100 * mean:.1f}" for mean in np.mean(values, axis=0)] for key, values in by_budget.items()}
    return render(
        "demo.html",
        demo=demo,
        answers=ANSWERS,
        method=METHOD,
        image=base64.b64encode(picture.read_bytes()).decode(),
        budgets=[str(budget) for budget in BUDGETS],
        quality={method: [means.get((method, budget), ["–"]) for budget in BUDGETS] for method in COMPARED},
        judged=[
            (sample.sentence(*sample.valid.triple(row)), label)
            for row, label in zip(annotations.rows.tolist(), annotations.labels.tolist(), strict=True)
        ],
        taken=[
            (sample.sentence(*sample.test.triple(row)), probability[row])
            for row in demo.best_accepted[:MOST_ACCEPTED].tolist()
        ],
    )
