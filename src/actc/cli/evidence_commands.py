"""What the graph says of candidates: parse, call, print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from actc.cli.graph_argument import takes_graph
from actc.cli.parts import PATH, base_option, claim_output, examples, overwrite_option, progress_bar, quiet_option, say


@click.command(
    "evidence",
    epilog=examples(
        "actc evidence graph.tsv candidates.tsv --held held-scores.tsv --out evidence.parquet",
        "actc evidence graph.tsv candidates.tsv --held held.tsv --scores one.tsv --scores two.tsv --out evidence.tsv",
        "actc evidence graph.tsv candidates.parquet --out evidence/ --memory 4GB",
        "actc evidence /shared/graph.tsv /shared/new.parquet --out /shared/evidence --engine spark "
        "--master spark://host:7077",
    ),
)
@takes_graph
@click.argument("candidates", type=PATH)
@click.option("--out", type=PATH, required=True, help="A .tsv, .csv or .parquet file, or a folder of parts.")
@click.option(
    "--held",
    type=PATH,
    help="Facts that the model was not trained on, with its scores. [default: the validation file of a LibKGE or "
    "OpenKE folder; else the graph's own facts, scores left out]",
)
@click.option(
    "--scores", multiple=True, type=PATH, help="A further model's scores of candidates and holdout facts; repeatable."
)
@base_option
@click.option("--memory", default="2GB", show_default=True, help="How much the engine may use.")
@click.option("--engine", default="duckdb", show_default=True, help="duckdb, or spark, which writes a folder.")
@click.option("--master", help="Spark's address, such as spark://host:7077. [default: this machine]")
@overwrite_option
@quiet_option
def evidence_command(graph: Path, candidates: Path, out: Path, overwrite: bool, quiet: bool, **options: Any) -> None:
    """Score candidates by all that the graph says of them.

    The score of the CANDIDATES becomes log-odds by score and evidence; one column per piece of evidence follows.
    """
    from actc.evidence.from_files import add_evidence

    given = [path for path in (graph, candidates, options["held"], *options["scores"]) if path is not None]
    if out.suffix:
        claim_output(out, overwrite=overwrite, inputs=given)
    else:
        claim_output(out, "graph", folder=True, overwrite=overwrite, inputs=given)
    with progress_bar("Evidence", quiet) as advance:
        added = add_evidence(
            graph, candidates, out, progress=lambda done, total, name: advance(1, 2 * total), overwrite=True, **options
        )
    worth = added.learnt.worth
    told = f"{len(added.candidates)} candidates, {worth.share:.1%} of them expected to be true"
    say(quiet, *added.notes, f"{out}: {told}; learnt from {worth.holdout} holdout facts.")


COMMANDS = [evidence_command]
