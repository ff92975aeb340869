"""The commands that compare methods: bench, paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from actc.cli.parts import (
    PATH,
    claim_output,
    examples,
    look_here,
    overwrite_option,
    progress_bar,
    quiet_option,
    seed_option,
)
from actc.errors import OptionError


@click.command(
    "bench",
    epilog=examples(
        "actc bench scores/codex-s/complex --repeats 20 --out rows.csv",
        "actc bench scores/*/* --method actc-lr-rndm --method 'actc-gp-rndm:n=50,soft=true' --budget 1,10,100",
    ),
)
@click.argument("folders", nargs=-1, required=True, type=PATH)
@click.option(
    "--method",
    "methods",
    multiple=True,
    callback=look_here,
    help="A method, with options if wanted; repeatable. [default: all]",
)
@click.option(
    "--budget", "budgets", multiple=True, help="Annotations, such as 1,2,5; repeatable. [default: the paper's]"
)
@click.option("--repeats", default=20, show_default=True, help="How often to draw anew.")
@seed_option(12345)
@click.option("--draws", default="numpy", show_default=True, help="numpy, or the authors' own stream: authors.")
@click.option("--jobs", default=-1, show_default=True, help="Processes; -1 for every core. The rows are the same.")
@click.option("--raw", is_flag=True, help="Leave scores outside [0, 1] as they are instead of squashing them.")
@click.option(
    "--metric", "metrics", multiple=True, help="A metric beside accuracy and F1: precision, recall; repeatable."
)
@click.option("--out", type=PATH, help="Write tidy rows to this CSV file; started again, an interrupted run goes on.")
@overwrite_option
@quiet_option
def bench_command(
    folders: tuple[Path, ...],
    methods: tuple[str, ...],
    budgets: tuple[str, ...],
    raw: bool,
    overwrite: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Compare methods on folders of scored, labelled triples.

    A FOLDER holds valid.tsv and test.tsv (or .tsv.gz, .csv, .parquet): head, relation, tail, score, label; and
    train.tsv, if there, without labels. Thresholds are found on valid and scored on test.
    """
    from actc.bench.cells import CellFolder
    from actc.bench.runs import further_metrics, run_experiment
    from actc.cli.show import print_rows
    from actc.methods.named import METHODS

    claim_output(options["out"], overwrite=overwrite, inputs=folders)
    cells = [CellFolder(folder) for folder in folders]
    known = all(cell.has_known for cell in cells)
    usable = [name for name, method in METHODS.items() if known or method.reads == "pool"]
    chosen = [name for text in methods for name in split_methods(text)] or usable
    with progress_bar("Repeats", quiet) as advance:
        rows = run_experiment(cells, chosen, parse_budgets(budgets), squash=not raw, progress=advance, **options)
    if not quiet:
        print_rows(rows, further_metrics(options["metrics"]))


@click.command(
    "paper",
    epilog=examples(
        "actc paper",
        "actc paper --quick --only table-avg --only figure-budgets-s --out look",
        "actc paper --method mymodule:my_method",
        "actc paper --from actc-paper/rows.csv",
    ),
)
@click.option("--quick", is_flag=True, help="CoDEx-S alone and at most 10 repeats: a look, not a measurement.")
@click.option("--only", "items", multiple=True, help="A table or figure, such as table-avg; repeatable. [default: all]")
@click.option("--out", type=PATH, default=Path("actc-paper"), show_default=True)
@click.option("--from", "rows", type=PATH, help="Draw everything from these rows; run nothing.")
@click.option(
    "--method",
    "methods",
    multiple=True,
    callback=look_here,
    help="A further method to set beside the paper's; repeatable.",
)
@click.option("--repeats", default=100, show_default=True, help="How often to draw anew.")
@click.option("--jobs", default=-1, show_default=True, help="Processes; -1 for every core. The rows are the same.")
@overwrite_option
@quiet_option
def paper_command(
    items: tuple[str, ...],
    out: Path,
    methods: tuple[str, ...],
    overwrite: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Make every table and figure of the paper, measured, beside the published numbers.

    CoDEx and the scores come from the checkout that this runs in; ACTC_DATA names a folder of other tables. Rows are
    kept in OUT/rows.csv as they come: with --overwrite an interrupted run goes on where it stopped.
    """
    from actc.bench.paper.run import run_paper
    from actc.cli.show import print_paper

    claim_output(out, overwrite=overwrite, folder=True)
    own = [name for text in methods for name in split_methods(text)]
    with progress_bar("Repeats", quiet) as advance:
        page = run_paper(out, items=items, own_methods=own, progress=advance, **options)
    if not quiet:
        print_paper(page)


def split_methods(text: str) -> list[str]:
    """Split ``a,b:n=5,soft=true,c`` at the commas between methods, not at those between a method's options."""
    methods: list[str] = []
    for part in text.split(","):
        if "=" in part and ":" not in part and methods:
            methods[-1] += "," + part
        else:
            methods.append(part.strip())
    return methods


def parse_budgets(texts: tuple[str, ...]) -> list[int]:
    """Read ``1,2,5`` as whole numbers; an empty list means the default ones."""
    parts = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    for part in parts:
        if not part.isdigit():
            raise OptionError(
                f"--budget: {part!r} is no number of answers; write whole numbers from 0 on, such as 1,2,5."
            )
    return [int(part) for part in parts]


COMMANDS = [bench_command, paper_command]
