"""What may not be true together: parse, call, print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from actc.cli.graph_argument import takes_graph
from actc.cli.parts import PATH, base_option, claim_output, examples, overwrite_option, quiet_option


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
    """Show what may not be true together in a GRAPH: declared, or kept by nearly all.

    Edit the column use of the table: hard is never violated by what is accepted, soft is evidence, no is nothing. Then
    give the table to calibrate, decide, start or complete with --constraints.
    """
    from actc.cli.show import print_constraints
    from actc.constraints.find_constraints import find_constraints

    if out is not None:
        claim_output(out, overwrite=overwrite, inputs=(graph, options["source"]))
    found = find_constraints(graph, out=out, **options)
    if not quiet:
        print_constraints(found, out)


COMMANDS = [constraints_command]
