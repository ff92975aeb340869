"""The commands that show, find thresholds and decide: demo, methods, calibrate, decide; parse, call, print.

A command's options bear the names of its library function's keywords, and are passed on as they come.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from actc.cli.parts import (
    PATH,
    claim_output,
    constraint_options,
    examples,
    method_option,
    overwrite_option,
    progress_bar,
    promise_options,
    quiet_option,
)


@click.command("demo", epilog=examples("actc demo", "actc demo --out my-demo --repeats 30"))
@click.option("--out", type=PATH, default=Path("actc-demo"), show_default=True, help="A folder.")
@click.option("--repeats", default=10, show_default=True, help="How often to repeat the comparison.")
@overwrite_option
@quiet_option
def demo_command(out: Path, repeats: int, overwrite: bool, quiet: bool) -> None:
    """Do the whole job on the packaged sample and show what answers bring."""
    from actc.bench.sample.demo import run_demo
    from actc.cli.show import print_demo

    claim_output(out, overwrite=overwrite, folder=True)
    with progress_bar("Repeats", quiet) as advance:
        demo = run_demo(out, repeats=repeats, progress=advance)
    if not quiet:
        print_demo(demo)


@click.command("methods", epilog=examples("actc methods"))
@quiet_option
def methods_command(quiet: bool) -> None:
    """List every method with one line on what it is."""
    from actc.cli.show import print_methods
    from actc.methods.named import METHODS

    if not quiet:
        print_methods(METHODS)


@click.command(
    "calibrate",
    epilog=examples(
        "actc calibrate scores.tsv --labels labels.tsv --method actc-lr-rndm --out thresholds.json",
        "actc calibrate parts/ --labels labels.tsv --method pooled --out thresholds.json",
        "actc calibrate scores.tsv --labels labels.tsv --precision 0.9 --confidence 0.95",
    ),
)
@click.argument("scores", type=PATH)
@click.option("--labels", type=PATH, help="Judged triples: head, relation, tail, label (1 or 0).")
@method_option
@click.option("--known", type=PATH, help="Scored triples that the graph holds already.")
@click.option(
    "--picks",
    default="unknown",
    show_default=True,
    help="How the labelled were picked: as their columns say (unknown), or by a random draw, in your name (random).",
)
@promise_options()
@constraint_options
@click.option("--out", type=PATH, default=Path("thresholds.json"), show_default=True)
@overwrite_option
@quiet_option
def calibrate_command(scores: Path, out: Path, overwrite: bool, quiet: bool, **options: Any) -> None:
    """Find thresholds from scores and the answers that there are.

    SCORES holds the candidates: head, relation, tail, score. Labels are for some of them. With --precision, the
    thresholds keep a promise (pooled methods only).

    Of more than a million candidates a random sample is used, and those with labels.
    """
    from actc.cli.show import print_calibration
    from actc.decide.calibrate import calibrate

    read = (scores, *(options[name] for name in ("labels", "known", "constraints", "graph")))
    claim_output(out, overwrite=overwrite, inputs=read)
    calibration = calibrate(scores, out=out, **options)
    if not quiet:
        print_calibration(calibration, out)


@click.command(
    "decide",
    epilog=examples(
        "actc decide thresholds.json candidates.parquet --out accepted.tsv",
        "actc decide thresholds.json parts/ more.parquet --out accepted/ --memory 4GB",
        "actc decide thresholds.json /shared/parts --out /shared/accepted --engine spark --master spark://host:7077",
    ),
)
@click.argument("thresholds", type=PATH)
@click.argument("candidates", nargs=-1, required=True)
@click.option("--out", required=True, help="A .tsv, .csv or .parquet file, or a folder/ of Parquet parts.")
@click.option("--all", "keep_all", is_flag=True, help="Write rejected candidates too, with a column that says so.")
@click.option("--best-tail", "best_only", is_flag=True, help="At most one tail, the best, for each head and relation.")
@constraint_options
@overwrite_option
@click.option("--memory", default="1GB", show_default=True, help="How much memory to use at most.")
@click.option("--engine", default="duckdb", show_default=True, help="duckdb, or spark.")
@click.option("--master", help="Spark's address, such as spark://host:7077. [default: this machine]")
@quiet_option
def decide_command(thresholds: Path, candidates: tuple[str, ...], out: str, quiet: bool, **options: Any) -> None:
    """Accept or reject any number of scored candidates.

    CANDIDATES are files or folders of files, all laid out alike: head, relation, tail, score. The output is complete
    or absent.
    """
    from actc.cli.show import print_decided
    from actc.data.calibration import Calibration
    from actc.decide.decide_candidates import decide_candidates

    calibration = Calibration.read(thresholds)
    with progress_bar("Deciding", quiet) as advance:
        decided = decide_candidates(calibration, candidates, out, progress=advance, **options)
    if not quiet:
        print_decided(decided, calibration, out)


COMMANDS = [demo_command, methods_command, calibrate_command, decide_command]
