"""What stands in the paper: every table and figure, what must be run for it, and how it is built from the results.

Each item says which methods it needs in which cells, so that a few items can be asked for and only their part of the
grid is run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from actc.bench.datasets import DATASETS, has_known_scores
from actc.bench.measurements import Measurements
from actc.bench.paper.figures import N_VALUES, UNIFORM_PAIRS, draw_budgets, draw_n, draw_uniform
from actc.bench.paper.tables import DATASET_LABELS, build_ablation, build_comparisons, build_paper_table
from actc.bench.paper.text_tables import TextTable
from actc.bench.rows import Run
from actc.errors import choose
from actc.methods.named import find_method

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Place = tuple[str, str]

BASELINES = ("localopt-acc", "localopt-f1", "globalopt-f1")
ACTC = ("actc-lr-dens", "actc-gp-dens", "actc-lr-rndm", "actc-gp-rndm")
APPENDIX = (ACTC[0], "actc-lr-dens:default=annotations", *ACTC[1:])
ACTC_F1 = tuple(f"{method}-f1" for method in ACTC)
UNIFORM = ("actc-lr-uni", "actc-gp-uni", "localopt-acc-uni", "localopt-f1-uni")
PAPER_METHODS = (*BASELINES, *ACTC, *ACTC_F1, *UNIFORM)
ABLATION_REPEATS = 10
AUTHORS_CELL: Place = ("codex-s", "complex-authors")
UNIFORM_CELL: Place = ("codex-s", "conve")


@dataclass(frozen=True)
class Item:
    """A table or figure of the paper.

    Parameters
    ----------
    title : str
        What it shows.
    methods : tuple of str
        What must be run for it.
    build : callable
        Given results, the item's name and methods of the user's own, returns the table or figure.
    wants : callable
        Says of a (data set, model) whether the item needs it.
    repeats : int, optional
        The most repeats it needs.
    own_methods : bool
        Whether the user's own methods stand in it too.
    """

    title: str
    methods: tuple[str, ...]
    build: Callable[[Measurements, str, tuple[str, ...]], TextTable | Figure]
    wants: Callable[[Place], bool] = lambda place: True
    repeats: int | None = None
    own_methods: bool = False


def plan_runs(
    items: Iterable[str], own_methods: Sequence[str], places: Sequence[Place], repeats: int
) -> dict[Run, int]:
    """Return what must be run and how often; cell by cell, so that each is loaded once.

    A method that needs the known triples is left out where their scores are not at hand.
    """
    wanted: dict[Run, int] = {}
    chosen = [find_item(name) for name in items]
    needs_known = {method for method in own_methods if find_method(method).reads != "pool"}
    for place in places:
        impossible = set() if has_known_scores(*place) else needs_known
        for item in (item for item in chosen if item.wants(place)):
            for method in (*item.methods, *(own_methods if item.own_methods else ())):
                if method not in impossible:
                    run = Run(*place, method)
                    wanted[run] = max(wanted.get(run, 0), min(repeats, item.repeats or repeats))
    return wanted


def find_item(name: str) -> Item:
    """Return the item of that name."""
    return choose("table or figure", name, ITEMS)


def _paper_table(title: str, table: str, budget: int | None, methods: tuple[str, ...]) -> Item:
    def build(results: Measurements, name: str, own: tuple[str, ...]) -> TextTable:
        return build_paper_table(results, table, title, (*methods, *own), budget)

    return Item(title, methods, build, own_methods=True)


def _ablation(title: str, variants: dict[str, str]) -> Item:
    def wants(place: Place) -> bool:
        return place[0] == "codex-s" and place != AUTHORS_CELL

    def build(results: Measurements, name: str, own: tuple[str, ...]) -> TextTable:
        cells = [cell for cell in results.cells() if wants(cell)]
        return build_ablation(results.first_repeats(ABLATION_REPEATS), name, title, variants, cells)

    return Item(title, tuple(variants.values()), build, wants, ABLATION_REPEATS)


def _comparisons(metric: str, title: str) -> Item:
    def build(results: Measurements, name: str, own: tuple[str, ...]) -> TextTable:
        mine = [(method, other) for method in own for other in ("actc-lr-rndm", "localopt-acc")]
        return build_comparisons(results, [*PAIRS, *mine], metric, title)

    methods = tuple(dict.fromkeys(method for pair in PAIRS for method in pair))
    return Item(title, methods, build, lambda place: place != AUTHORS_CELL, own_methods=True)


def _budget_figure(dataset: str) -> Item:
    return Item(
        f"ACTC-LR by annotation budget, {DATASET_LABELS[dataset]}",
        (*BASELINES, "actc-lr-rndm", "actc-lr-dens"),
        lambda results, name, own: draw_budgets(results, dataset),
        lambda place: place[0] == dataset and place != AUTHORS_CELL,
    )


PAIRS = (
    ("actc-lr-rndm", "localopt-acc"),
    ("actc-lr-rndm", "globalopt-f1"),
    ("actc-lr-dens", "localopt-acc"),
    ("actc-lr-dens", "globalopt-f1"),
    ("actc-lr-rndm", "actc-lr-dens"),
    ("actc-lr-rndm", "actc-gp-rndm"),
    ("actc-lr-dens", "actc-gp-dens"),
    ("actc-lr-rndm-f1", "actc-lr-rndm"),
    ("actc-lr-rndm", "actc-lr-uni"),
    ("localopt-acc", "localopt-acc-uni"),
)
# Which items stand in the paper: the name of its table, and the budget it is for.
PRINTED_TABLES: dict[str, tuple[str, int | None]] = {
    "table-avg": ("avg", None),
    "table-avg-f1": ("avg-f1", None),
    "table-l1": ("l1", 1),
    "table-l10": ("l10", 10),
    "table-l50": ("l50", 50),
}
ITEMS: dict[str, Item] = {
    "table-avg": _paper_table("Averages over the annotation budgets", "avg", None, (*BASELINES, *ACTC)),
    "table-avg-f1": _paper_table(
        "Averages over the annotation budgets, with the F1 versions", "avg-f1", None, (*BASELINES, *ACTC, *ACTC_F1)
    ),
    "table-l1": _paper_table("One annotated triple", "l1", 1, (*BASELINES, *APPENDIX)),
    "table-l10": _paper_table("Ten annotated triples", "l10", 10, (*BASELINES, *APPENDIX)),
    "table-l50": _paper_table("Fifty annotated triples", "l50", 50, (*BASELINES, *APPENDIX)),
    "table-uniform": _paper_table("One threshold for all relations, averages", "uniform", None, UNIFORM),
    "comparisons-accuracy": _comparisons("accuracy", "Paired differences in accuracy"),
    "comparisons-f1": _comparisons("f1", "Paired differences in F1"),
    "ablation-estimate-all": _ablation(
        "Estimate all triples, or only until there are n = 500",
        {
            f"{kind}, {what}": f"actc-{kind.lower().replace(' ', '-')}{option}"
            for kind in ("LR rndm", "LR dens", "GP rndm", "GP dens")
            for what, option in (("n = 500", ""), ("all", ":estimate_all=true"))
        },
    ),
    "ablation-soft": _ablation(
        "Hard labels or soft ones",
        {
            f"{kind}, {what}": f"actc-{kind.lower().replace(' ', '-')}{option}"
            for kind in ("LR rndm", "LR dens", "GP rndm", "GP dens")
            for what, option in (("hard", ""), ("soft", ":soft=true"))
        },
    ),
    "ablation-kernels": _ablation(
        "Kernels of the Gaussian process, density selection",
        {
            "Matérn 3/2, length 0.1 (the paper's tables)": "actc-gp-dens",
            "Rational quadratic, length 0.1": "actc-gp-dens:estimator=gp-rational-quadratic",
            "10 × RBF, length 10": "actc-gp-dens:estimator=gp-rbf",
        },
    ),
    "ablation-density": _ablation(
        "Density as run (nearest the mean score) and as printed (farthest)",
        {
            "LR, nearest, as run": "actc-lr-dens",
            "LR, farthest, as printed": "actc-lr-dens:selector=farthest-mean",
            "LR, random": "actc-lr-rndm",
            "GP, nearest, as run": "actc-gp-dens",
            "GP, farthest, as printed": "actc-gp-dens:selector=farthest-mean",
            "GP, random": "actc-gp-rndm",
        },
    ),
    "ablation-default": _ablation(
        "Where the threshold of relations without annotations comes from",
        {
            "LR dens, from estimates": "actc-lr-dens",
            "LR dens, from annotations": "actc-lr-dens:default=annotations",
            "GlobalOpt, found on the grid": "globalopt-f1",
            "GlobalOpt, 0.5 as in the footnote": "globalopt-f1:default=half",
        },
    ),
    "figure-budgets-s": _budget_figure("codex-s"),
    "figure-budgets-m": _budget_figure("codex-m"),
    "figure-uniform": Item(
        "One threshold for all relations against one for each",
        UNIFORM_PAIRS,
        lambda results, name, own: draw_uniform(results, UNIFORM_CELL),
        lambda place: place == UNIFORM_CELL,
    ),
    "figure-n": Item(
        "How many labels are enough for a threshold",
        tuple(f"actc-lr-dens:n={n}" for n in N_VALUES),
        lambda results, name, own: draw_n(results, DATASETS),
        lambda place: place != AUTHORS_CELL,
    ),
}
