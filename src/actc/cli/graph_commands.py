"""The commands of a graph's engineer: candidates, complete, convert; parse, call, print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from actc.cli.graph_argument import takes_graph
from actc.cli.parts import (
    PATH,
    asking_options,
    base_option,
    claim_output,
    examples,
    look_here,
    overwrite_option,
    progress_bar,
    promise_options,
    quiet_option,
    say,
    seed_option,
    undo_options,
)

trust_option = click.option("--trust", is_flag=True, help="Allow reading a pickle, which can run any code in it.")
device_option = click.option("--device", help="cuda or cpu. [default: a GPU where there is one]")


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
        "actc candidates graph.tsv --model model --relation P27 --side tail --any-entity --out candidates.tsv",
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
@click.option(
    "--side", "sides", multiple=True, help="tail asks (head, relation, ?), head (?, relation, tail). [default: both]"
)
@click.option("--relation", "relations", multiple=True, help="Only this relation; repeatable. [default: all]")
@click.option(
    "--any-entity", is_flag=True, help="Ask about every entity, not only those that fit by the graph's example."
)
@click.option(
    "--dry-run", is_flag=True, help="Say how many questions the model has and how long they will take, and stop."
)
@click.option("--out", type=PATH, required=True, help="A .parquet, .tsv or .csv file.")
@base_option
@trust_option
@device_option
@overwrite_option
@quiet_option
def candidates_command(
    graph: Path, model: Path | None, out: Path, dry_run: bool, overwrite: bool, quiet: bool, **options: Any
) -> None:
    """Propose facts that the GRAPH does not hold: by its rules, by a model, or both.

    A model's run that is cut off goes on where it stopped when it is started again.
    """
    from actc.complete.propose import propose_candidates

    if not dry_run:
        claim_output(out, overwrite=overwrite, inputs=(model, graph, options["held"]))

    def announce(questions: int, seconds: float) -> None:
        say(quiet and not dry_run, f"{questions} questions, about {describe_seconds(seconds)}.")

    with progress_bar("Questions" if model else "Rules", quiet, late=True) as advance:
        proposed = propose_candidates(
            graph, out, model=model, dry_run=dry_run, announce=announce, progress=advance, **options
        )
    said = f"{out}: {proposed.candidates} candidates"
    if options["evidence"]:
        said += "; their scores are log-odds, for --method pooled-evidence"
    say(quiet and not dry_run, *proposed.notes)
    say(quiet or dry_run, f"{said}.")


@click.command(
    "complete",
    epilog=examples(
        "actc complete graph.tsv --names names.tsv --out better   # asks people; once more, when they have judged",
        "actc complete graph.tsv --oracle truth.tsv --out better",
        "actc complete sparql:http://localhost:7878/query --graph http://example.org/kg --out better",
        "actc complete graph.tsv --check --oracle truth.tsv --out better   # wrong facts are taken out, too",
        "actc complete graph.nt --model model --candidates extracted.tsv --oracle labels.tsv --out better",
    ),
)
@takes_graph
@click.option("--model", type=PATH, help="A folder that PyKEEN wrote: its model proposes beside the rules.")
@click.option(
    "--candidates",
    type=PATH,
    help="Facts in question; only these are decided. [default: what rules and the model propose]",
)
@click.option("--best", type=int, help="How many proposals of a model to a question. [default: 10; without evidence 2]")
@click.option(
    "--evidence/--no-evidence",
    default=True,
    show_default=True,
    help="Score candidates by what the graph says of them, or by the model alone.",
)
@click.option(
    "--held",
    type=PATH,
    help="Facts that the model was not trained on. [default: those its folder tells of]",
)
@asking_options
@click.option(
    "--judge", metavar="URL", help="A model's server (OpenAI chat protocol): asked before people, see actc judge."
)
@click.option("--judge-model", default="local", show_default=True, help="The server's name for the model.")
@click.option("--judge-key-from", metavar="NAME", help="The environment variable that holds the server's key.")
@click.option("--judged", type=PATH, multiple=True, help="Answers from elsewhere, such as a judged audit; repeatable.")
@click.option("--constraints", help="What may not be true together: a file of actc constraints, or learnt.")
@click.option("--check", is_flag=True, help="Find wrong facts of the graph too: half of the answers are about them.")
@undo_options
@promise_options()
@click.option(
    "--method", callback=look_here, help="See: actc methods. [default: pooled; with evidence pooled-evidence]"
)
@seed_option()
@click.option("--out", type=PATH, required=True, help="A folder.")
@click.option("--if-changed", is_flag=True, help="Do nothing, and say so, where nothing is new since the last run.")
@base_option
@trust_option
@device_option
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


def describe_seconds(seconds: float) -> str:
    """Say how long something takes, roughly."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


COMMANDS = [candidates_command, complete_command, convert_command]
