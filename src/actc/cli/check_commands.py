"""Wrong facts of a graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from actc.cli.graph_argument import takes_graph
from actc.cli.parts import (
    PATH,
    asking_options,
    base_option,
    examples,
    progress_bar,
    promise_options,
    quiet_option,
    say,
    seed_option,
    undo_options,
    without_option,
)


@click.command(
    "check",
    epilog=examples(
        "actc check graph.tsv --budget 0 --out checked   # the list, nobody is asked",
        "actc check graph.tsv --names names.tsv --out checked   # asks people; once more, when they have judged",
        "actc check graph.tsv --oracle truth.tsv --precision .9 --out checked",
        "actc check graph.tsv --out checked --undo --facts right-after-all.tsv",
    ),
)
@takes_graph
@asking_options
@promise_options
@without_option
@undo_options
@seed_option()
@click.option("--out", type=PATH, required=True, help="A folder.")
@base_option
@quiet_option
def check_command(graph: Path, out: Path, quiet: bool, **options: Any) -> None:
    """Find wrong facts of the GRAPH, and take out those that answers bear out.

    Without --oracle people are asked: it starts an annotation session and stops. Give the same command again when they
    have judged, and it goes on from there. The graph itself is not changed: a new one is written.
    """
    from actc.check.run import CheckPlan, check_graph

    checked = check_graph(CheckPlan(graph, out, **options), lambda name: progress_bar(name, quiet))
    say(quiet, *checked.lines)


COMMANDS = [check_command]
