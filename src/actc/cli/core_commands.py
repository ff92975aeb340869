"""The commands that show, find thresholds, decide and compare: demo, methods, calibrate, decide, bench, paper.

A command parses, calls and prints. Its options have the names of its library function's keywords.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import actc
from actc.cli.parts import (
    claim_output,
    columns_option,
    command,
    constraint_options,
    engine_option,
    flag_option,
    is_overwriting,
    option,
    path_argument,
    path_option,
    progress_bar,
    read_engine,
    seed_option,
)
from actc.errors import OptionError


@command("actc demo", "actc demo --out my-demo", writes=True)
@path_option("--out", "A folder.", Path("actc-demo"))
def demo_command(out: Path) -> None:
    """Do the whole job on the packaged sample and show what answers bring."""
    from actc.cli.show import print_demo

    claim_output(out, folder=True)
    with progress_bar("Repeats") as advance:
        demo = actc.run_demo(out, progress=advance)
    print_demo(demo)


@command("actc methods", "actc methods actc-lr-rndm")
@click.argument("name", required=False)
def methods_command(name: str | None) -> None:
    """List every method with one line on what it is; or the options of the method NAME."""
    from actc.cli.show import print_method, print_methods
    from actc.methods.named import find_method

    if name is None:
        print_methods(actc.METHODS)
    else:
        print_method(name, find_method(name))


@command(
    "actc calibrate scores.tsv --labels labels.tsv --method actc-lr-rndm --out thresholds.json",
    "actc calibrate parts/ --labels labels.tsv --method pooled --out thresholds.json",
    "actc calibrate scores.tsv --labels labels.tsv --precision 0.9 --confidence 0.95",
    writes=True,
)
@path_argument("scores")
@path_option("--labels", "Judged triples: head, relation, tail, label (1 or 0).")
@option("--method", "See: actc methods.", "pooled")
@path_option("--known", "Scored triples that the graph holds already.")
@option(
    "--picks", "How the labelled were picked: by their columns (unknown), or all by a random draw (random).", "unknown"
)
@option("--precision", "Guarantee this precision, with --confidence: random draws test the list.", type=float)
@option("--confidence", "The confidence of the guaranteed precision.", 0.9)
@constraint_options
@columns_option
@path_option("--out", default=Path("thresholds.json"))
def calibrate_command(scores: Path, out: Path, **options: Any) -> None:
    """Find thresholds from scores and the answers that there are.

    SCORES holds the candidates: head, relation, tail, score. Labels are for some of them. With --precision, the
    thresholds guarantee it (not with the baselines, which have no probabilities).

    Of more than a million candidates a random sample is used, and those with labels.
    """
    from actc.cli.show import print_calibration

    inputs = (scores, *(options[name] for name in ("labels", "known", "constraints", "graph")))
    claim_output(out, inputs=inputs)
    print_calibration(actc.calibrate(scores, out=out, **options), out)


@command(
    "actc decide thresholds.json candidates.parquet --out accepted.tsv",
    "actc decide thresholds.json parts/ more.parquet --out accepted/ --memory 4GB",
    "actc decide thresholds.json /shared/parts --out /shared/accepted --engine spark://host:7077",
    writes=True,
)
@path_argument("thresholds")
@click.argument("candidates", nargs=-1, required=True)
@option("--out", "A .tsv, .csv or .parquet file, or a folder/ of Parquet parts.", required=True)
@flag_option("--all keep_all", "Write rejected candidates too, with a column accepted.")
@flag_option("--best-tail best_only", "At most one tail, the best, for each head and relation.")
@constraint_options
@columns_option
@option("--memory", "How much memory to use at most.", "1GB")
@engine_option
def decide_command(thresholds: Path, candidates: tuple[str, ...], out: str, engine: str, **options: Any) -> None:
    """Accept or reject any number of scored candidates.

    CANDIDATES are files or folders of files, all laid out alike: head, relation, tail, score. Further columns come
    back. The output is complete or absent.
    """
    from actc.cli.show import print_decided
    from actc.data.calibration import Calibration

    calibration = Calibration.read(thresholds)
    options |= {"overwrite": is_overwriting(), **read_engine(engine)}
    with progress_bar("Deciding") as advance:
        decided = actc.decide_candidates(calibration, candidates, out, progress=advance, **options)
    print_decided(decided, calibration, out)


@command(
    "actc bench benchmarks/scores/codex-s/complex --repeats 20 --out rows.csv",
    "actc bench scores/*/* --method actc-lr-rndm --method 'actc-gp-rndm:n=50,soft=true' --budget 1,10,100",
    writes=True,
)
@path_argument("folders", nargs=-1, required=True)
@option("--method methods", "A method, with its options; repeatable. [default: all]", multiple=True)
@option("--budget budgets", "Annotations, such as 1,2,5; repeatable. [default: the paper's]", multiple=True)
@option("--repeats", "How often to draw anew.", 20)
@seed_option(12345)
@option("--draws", "numpy, or the authors' own stream: authors.", "numpy")
@option("--jobs", "Processes; -1 for every core. The rows are the same.", -1)
@path_option("--out", "Write tidy rows to this CSV file; started again, an interrupted run goes on.")
def bench_command(
    folders: tuple[Path, ...],
    methods: tuple[str, ...],
    budgets: tuple[str, ...],
    **options: Any,
) -> None:
    """Compare methods on folders of scored, labelled triples.

    A FOLDER holds valid.tsv and test.tsv (or .tsv.gz, .csv, .parquet): head, relation, tail, score, label; and
    train.tsv, if there, without labels; or the arrays of a checkout's benchmarks/scores. Thresholds are chosen on valid
    and scored on test.
    """
    from actc.bench.cells import CellFolder
    from actc.cli.show import print_rows

    claim_output(options["out"], inputs=folders)
    cells = [CellFolder(folder) for folder in folders]
    known = all(cell.has_known for cell in cells)
    usable = [name for name, method in actc.METHODS.items() if known or method.reads == "pool"]
    with progress_bar("Repeats") as advance:
        rows = actc.run_experiment(cells, methods or usable, parse_budgets(budgets), progress=advance, **options)
    print_rows(rows)


@command(
    "actc paper",
    "actc paper --quick --only table-avg --only figure-budgets-s --out look",
    "actc paper --method mymodule:my_method",
    "actc paper --from actc-paper/rows.csv",
    writes=True,
)
@flag_option("--quick", "CoDEx-S alone and at most 10 repeats: a look, not a measurement.")
@option("--only items", "A table or figure, such as table-avg; repeatable. [default: all]", multiple=True)
@path_option("--out", default=Path("actc-paper"))
@path_option("--from rows", "Draw everything from these rows; run nothing.")
@option("--method methods", "A further method beside the paper's; repeatable.", multiple=True)
@option("--repeats", "How often to draw anew.", 100)
def paper_command(items: tuple[str, ...], out: Path, methods: tuple[str, ...], **options: Any) -> None:
    """Make every table and figure of the paper, measured, beside the published numbers.

    CoDEx and the scores come from the checkout that this runs in; ACTC_SCORES names a folder of other scores. Rows are
    written to OUT/rows.csv as they come: with --overwrite an interrupted run goes on where it stopped.
    """
    claim_output(out, folder=True)
    with progress_bar("Repeats") as advance:
        page = actc.run_paper(out, items=items, own_methods=methods, progress=advance, **options)
    click.echo(f"Tables, figures and rows are in {page.parent}; {page.name} shows all of it.")


def parse_budgets(texts: tuple[str, ...]) -> list[int]:
    """Read ``1,2,5`` as whole numbers; an empty list means the default ones."""
    parts = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    for part in parts:
        if not part.isdigit():
            raise OptionError(
                f"--budget: {part!r} is no number of answers; write whole numbers from 0 on, such as 1,2,5."
            )
    return [int(part) for part in parts]
