"""The commands of a graph's engineer: candidates, complete, convert; parse, call, print."""

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
    "convert",
    epilog=examples(
        "actc convert graph.nt --base http://www.wikidata.org/entity/ --base http://www.wikidata.org/prop/direct/ "
        "--out graph.qs",
        "actc convert sparql:http://localhost:7878/query --graph http://example.org/kg --out graph.tsv",
    ),
)
@takes_graph
@click.option("--out", type=PATH, required=True, help="Where to write; the ending names the format.")
@click.option("--from", "source", help="The format of GRAPH, where its name does not say it.")
@click.option("--to", "target", help="The format to write: tsv, ntriples, turtle, quickstatements and others.")
@base_option
@overwrite_option
@quiet_option
def convert_command(graph: Path, out: Path, overwrite: bool, quiet: bool, **options: Any) -> None:
    """Write a GRAPH in another format."""
    from actc.graph.formats import convert_graph

    claim_output(out, overwrite=overwrite, inputs=(graph,))
    found = convert_graph(graph, out, **options)
    sizes = f"{len(found)} triples, {len(found.entity_names)} entities, {len(found.relation_names)} relations"
    say(quiet, *found.notes, f"{out}: {sizes}.")


@click.command(
    "candidates",
    epilog=examples(
        "actc candidates graph.tsv --out candidates.parquet",
        "actc candidates graph.tsv --evidence --out candidates.parquet",
        "actc candidates graph.tsv --model model --best 5 --out candidates.parquet",
        "actc candidates graph.tsv --model model --relation P27 --any-entity --out candidates.tsv",
    ),
)
@takes_graph
@click.option(
    "--model",
    type=PATH,
    help="A folder that PyKEEN wrote; with --evidence rules propose too. [default: the graph's own rules propose]",
)
@click.option("--best", default=5, show_default=True, help="How many answers to a question.")
@click.option(
    "--evidence/--no-evidence",
    default=False,
    show_default=True,
    help="Score by what the graph says of each; with a model, have rules propose too.",
)
@click.option(
    "--held",
    type=PATH,
    help="With --evidence: facts that the model was not trained on. [default: those its folder tells of]",
)
@click.option("--relation", "relations", multiple=True, help="Only this relation; repeatable. [default: all]")
@click.option(
    "--any-entity", is_flag=True, help="Ask about every entity, not only those that fit by the graph's example."
)
@click.option("--out", type=PATH, required=True, help="A .parquet, .tsv or .csv file.")
@base_option
@click.option("--trust", is_flag=True, help="Allow reading a pickle, which can run any code in it.")
@overwrite_option
@quiet_option
def candidates_command(
    graph: Path, model: Path | None, out: Path, overwrite: bool, quiet: bool, **options: Any
) -> None:
    """Propose facts that the GRAPH does not hold: by its rules, by a model, or both.

    A model's run that is cut off goes on where it stopped when it is started again.
    """
    from actc.complete.propose import propose_candidates

    claim_output(out, overwrite=overwrite, inputs=(model, graph, options["held"]))
    with progress_bar("Questions" if model else "Rules", quiet, late=True) as advance:
        proposed = propose_candidates(graph, out, model=model, progress=advance, **options)
    said = f"{out}: {proposed.candidates} candidates"
    if options["evidence"]:
        said += "; their scores are log-odds, for --method pooled-evidence"
    say(quiet, *proposed.notes, f"{said}.")


@click.command(
    "complete",
    cls=RunCommand,
    epilog=examples(
        "actc complete graph.tsv --names names.tsv --out better   # asks people; once more, when they have judged",
        "actc complete graph.tsv --oracle truth.tsv --out better",
        "actc complete sparql:http://localhost:7878/query --graph http://example.org/kg --out better",
        "actc complete graph.tsv --check --oracle truth.tsv --out better   # wrong facts are taken out, too",
        "actc complete graph.nt --model model --candidates extracted.tsv --oracle labels.tsv --out better",
    ),
)
@takes_graph
@run_options("missing")
@quiet_option
def complete_command(graph: Path, out: Path, quiet: bool, **options: Any) -> None:
    """Find missing facts of a GRAPH: candidates, evidence, answers, decisions, the new graph.

    GRAPH is a file, or a SPARQL store: sparql:http://host/query.

    Without --oracle people are asked: it starts an annotation session and stops. Give the same command again when they
    have judged, and it goes on from there. When the graph, the model or the candidates have changed, give it again with
    the same folder: answers are used again, new questions are asked, and it says what changed.
    """
    from actc.complete.run import complete_graph

    completed = complete_graph(graph, out, stage=lambda name: progress_bar(name, quiet), **options)
    say(quiet, *completed.lines)


COMMANDS = [candidates_command, complete_command, convert_command]
