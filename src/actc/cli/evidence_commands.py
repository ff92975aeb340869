"""What the graph itself says of facts: evidence, constraints, check; parse, call, print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from actc.cli.graph_argument import takes_graph
from actc.cli.parts import (
    PATH,
    base_option,
    claim_output,
    examples,
    overwrite_option,
    progress_bar,
    quiet_option,
    say,
)
from actc.cli.run_options import RunCommand, run_options


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
    help="Facts that the model was not trained on, with its scores. [default: the graph's own facts, scores left out]",
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
    claim_output(out, overwrite=overwrite, inputs=given, folder=not out.suffix)
    with progress_bar("Evidence", quiet) as advance:
        added = add_evidence(
            graph, candidates, out, progress=lambda done, total, name: advance(1, 2 * total), overwrite=True, **options
        )
    model = added.scorer.model
    unknown = "how many of them are true is unknown before any answer"
    told = f"{len(added.candidates)} candidates; {unknown}; learnt from {model.holdout} holdout facts."
    say(quiet, *added.notes, f"{out}: {told}")


@click.command(
    "constraints",
    epilog=examples(
        "actc constraints graph.tsv --out constraints.tsv",
        "actc constraints graph.nt --from shapes.ttl --no-learn --out constraints.tsv",
    ),
)
@takes_graph
@click.option("--from", "source", type=PATH, help="More of them: RDF (RDFS, OWL, shapes, Wikidata's), or such a table.")
@click.option("--learn/--no-learn", default=True, show_default=True, help="Learn what nearly all of the graph keeps.")
@click.option("--out", type=PATH, help="Write a table to be edited: .tsv.")
@base_option
@overwrite_option
@quiet_option
def constraints_command(graph: Path, out: Path | None, overwrite: bool, quiet: bool, **options: Any) -> None:
    """List what cannot be true together in a GRAPH: declared constraints and learnt ones.

    Edit the column use of the table: hard is never violated by what is accepted, soft is evidence, no is nothing. Then
    give the table to calibrate, decide, start or complete with --constraints.
    """
    from actc.cli.show import print_constraints
    from actc.decide.find_constraints import find_constraints

    claim_output(out, overwrite=overwrite, inputs=(graph, options["source"]))
    found = find_constraints(graph, out=out, **options)
    if not quiet:
        print_constraints(found, out)


@click.command(
    "check",
    cls=RunCommand,
    epilog=examples(
        "actc check graph.tsv --budget 0 --out checked   # the list, nobody is asked",
        "actc check graph.tsv --names names.tsv --out checked   # asks people; once more, when they have judged",
        "actc check graph.tsv --oracle truth.tsv --precision .9 --out checked",
        "actc check graph.tsv --out checked --undo --facts right-after-all.tsv",
    ),
)
@takes_graph
@run_options("wrong")
@quiet_option
def check_command(graph: Path, out: Path, quiet: bool, **options: Any) -> None:
    """Find wrong facts of the GRAPH, and take out those that answers confirm.

    Without --oracle people are asked: it starts an annotation session and stops. Give the same command again when they
    have judged, and it goes on from there. The graph itself is not changed: a new one is written.
    """
    from actc.complete.check_run import check_graph

    checked = check_graph(graph, out, stage=lambda name: progress_bar(name, quiet), **options)
    say(quiet, *checked.lines)


COMMANDS = [evidence_command, constraints_command, check_command]
