"""The commands about graphs: candidates, evidence, constraints, complete, check, convert, publish, withdraw."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

import actc
from actc.cli.parts import (
    Decorator,
    add_options,
    base_option,
    claim_output,
    columns_option,
    command,
    engine_option,
    flag_option,
    graph_option,
    key_option,
    option,
    path_argument,
    path_option,
    progress_bar,
    read_engine,
    together,
)
from actc.complete.config import Goal, defaults_of, options_of

BESIDE = ".graph.nt"
"""What is added to the name of the output for the file that a store is read into."""


def takes_graph(command: Callable[..., Any], required: bool = True) -> Callable[..., Any]:
    """Add the argument GRAPH, a file or a store, and options for stores; the command gets a path."""

    @wraps(command)
    def run(graph: str | None, graphs: tuple[str, ...], key_from: str | None, out: Path, **options: Any) -> Any:
        from actc.graph.client import StoreAddress, is_store, refuse_store_options

        if graph is not None and is_store(graph):
            named = [word for iri in graphs for word in ("--graph", iri)]
            options["store"] = (graph, *named, *(["--key-from", key_from] if key_from else []))  # for what to do next
            with _fetch(StoreAddress.of(graph, key_from), graphs, out) as path:
                return command(graph=path, out=out, **options)
        refuse_store_options(graph or "no graph", graphs, key_from)
        return command(graph=None if graph is None else Path(graph), out=out, **options)

    return together(click.argument("graph", required=required), graph_option, key_option)(run)


@contextmanager
def _fetch(store: Any, graphs: tuple[str, ...], out: Path) -> Iterator[Path]:
    """Read a store into a file beside the folder of a run; it stays as long as the folder does."""
    from actc.graph.read_sparql import fetch_graph

    path = Path(f"{out if out.name else out.absolute()}{BESIDE}")  # "." has no name
    claim_output(path, overwrite=True)
    try:
        with progress_bar("Triples") as advance:
            notes = fetch_graph(store, path, graphs, progress=advance)
        for note in notes:
            click.echo(note)
        yield path
    finally:
        if not out.is_dir():
            path.unlink(missing_ok=True)


@command(
    "actc candidates graph.tsv --out candidates.parquet",
    "actc candidates graph.tsv --model model --best 5 --out candidates.parquet",
    writes=True,
)
@path_argument("graph")
@path_option("--model", "A folder that PyKEEN wrote. [default: the graph's own rules propose]")
@option("--best", "How many answers to a question.", 5)
@path_option("--out", "A .parquet, .tsv or .csv file.", required=True)
@columns_option
@flag_option("--trust", "Allow reading a pickle, which can run any code in it.")
def candidates_command(graph: Path, model: Path | None, out: Path, **options: Any) -> None:
    """Propose facts that the GRAPH does not hold: by its rules, or by a model.

    A model's run that is cut off goes on where it stopped when it is started again.
    """
    claim_output(out, inputs=(model, graph))
    click.echo("\n".join(actc.propose_candidates(graph, out, model=model, stage=progress_bar, **options).lines))


@command(
    "actc evidence graph.tsv candidates.tsv --holdout unseen-scores.tsv --out evidence.parquet",
    "actc evidence graph.tsv candidates.parquet --out evidence/ --memory 4GB",
    "actc evidence /shared/graph.tsv /shared/new.parquet --out /shared/evidence --engine spark://host:7077",
    writes=True,
)
@path_argument("graph")
@path_argument("candidates")
@path_option("--out", "A .tsv, .csv or .parquet file, or a folder of parts.", required=True)
@path_option(
    "--holdout",
    "Facts that the model was not trained on, with its scores. [default: the graph's own facts, scores left out]",
)
@columns_option
@option("--memory", "How much the engine may use.", "2GB")
@engine_option
def evidence_command(graph: Path, candidates: Path, out: Path, engine: str, **options: Any) -> None:
    """Score candidates by the evidence that the graph has.

    The score of the CANDIDATES becomes log-odds by score and evidence; one column per piece of evidence follows.
    """
    claim_output(out, inputs=(graph, candidates, options["holdout"]), folder=not out.suffix)
    options |= read_engine(engine)
    with progress_bar("Evidence") as advance:
        lines = actc.add_evidence(graph, candidates, out, progress=advance, **options)
    click.echo("\n".join(lines))


@command(
    "actc constraints graph.tsv --out constraints.tsv",
    "actc constraints graph.nt --from shapes.ttl --no-learn --out constraints.tsv",
    writes=True,
)
@path_argument("graph")
@path_option("--from source", "More of them: RDF (RDFS, OWL, shapes), or such a table.")
@flag_option("--learn/--no-learn", "Learn what nearly all of the graph keeps.", default=True)
@path_option("--out", "Write a table to be edited: .tsv.")
@base_option
@columns_option
def constraints_command(graph: Path, out: Path | None, **options: Any) -> None:
    """List what cannot be true together in a GRAPH: declared constraints and those of its facts.

    Edit the column use of the table: hard is never violated by what is accepted, soft is evidence, no is nothing. Then
    give the table to calibrate, decide, start or complete with --constraints.
    """
    from actc.cli.show import print_constraints

    claim_output(out, inputs=(graph, options["source"]))
    print_constraints(actc.find_constraints(graph, out=out, **options), out)


MORE = [one.name for one in options_of("missing") if one.metadata["more"]] + ["graphs", "key_from"]


def run_options(goal: Goal) -> Decorator:
    """Return the options of a run: the fields of its configuration, and --out."""
    return together(path_option("--out", "A folder.", required=True), add_options(options_of(goal), defaults_of(goal)))


@command(
    "actc complete graph.tsv --names names.tsv --out better   # asks people; once more, when they have judged",
    "actc complete graph.tsv --oracle truth.tsv --out better",
    "actc complete sparql:http://localhost:7878/query --graph http://example.org/kg --out better",
    "actc complete graph.tsv --check --oracle truth.tsv --out better   # wrong facts are taken out, too",
    "actc complete graph.nt --candidates extracted.jsonl --oracle labels.tsv --out better",
    "actc complete --candidates extracted.jsonl --out better   # triples from text, and no graph yet",
    more=MORE,
)
@partial(takes_graph, required=False)
@run_options("missing")
def complete_command(graph: Path | None, out: Path, **options: Any) -> None:
    """Find missing facts of a GRAPH: candidates, evidence, answers, decisions, the new graph.

    GRAPH is a file, or a SPARQL store: sparql:http://host/query. Leave it out where there are only --candidates: a
    table of triples, with the confidence and the text of each where it has them.

    Without --oracle people answer: it starts an annotation session and stops. Give the same command again when they
    have judged, and it goes on from there. When the graph, the model or the candidates have changed, give it again with
    the same folder: answers are used again, new questions come, and the report has what changed.
    """
    click.echo("\n".join(actc.complete_graph(graph, out, stage=progress_bar, **options).lines))


@command(
    "actc check graph.tsv --budget 0 --out checked   # the list alone",
    "actc check graph.tsv --names names.tsv --out checked   # asks people; once more, when they have judged",
    "actc check graph.tsv --oracle truth.tsv --precision .9 --out checked",
    "actc check graph.tsv --out checked --undo right-after-all.tsv",
    more=MORE,
)
@takes_graph
@run_options("wrong")
def check_command(graph: Path, out: Path, **options: Any) -> None:
    """Find wrong facts of the GRAPH, and take out those that answers confirm.

    Without --oracle people answer: it starts an annotation session and stops. Give the same command again when they
    have judged, and it goes on from there. The graph itself is not changed: a new one is written.
    """
    click.echo("\n".join(actc.check_graph(graph, out, stage=progress_bar, **options).lines))


@command(
    "actc convert graph.nt --base http://www.wikidata.org/entity/ --base http://www.wikidata.org/prop/direct/ "
    "--out graph.qs",
    "actc convert sparql:http://localhost:7878/query --graph http://example.org/kg --out graph.tsv",
    writes=True,
)
@click.argument("graph")
@path_option("--out", "Where to write; the ending names the format.", required=True)
@base_option
@columns_option
@graph_option
@key_option
def convert_command(graph: str, out: Path, **options: Any) -> None:
    """Write a GRAPH, a file or a SPARQL store, in another format."""
    claim_output(out, inputs=(graph,))
    with progress_bar("Triples", late=True) as advance:
        made = actc.convert_graph(graph, out, progress=advance, **options)
    sizes = f"{len(made):,} triples, {len(made.entity_names):,} entities, {len(made.relation_names):,} relations"
    click.echo("\n".join([*made.notes, f"{out}: {sizes}."]))


store_options = together(
    option("--to", "sparql:http://host/update.", required=True),
    option("--into", "Each run is a named graph under this IRI.", required=True, metavar="IRI"),
)
"""Options of a store that is written to."""


@command(
    "actc publish better --to sparql:http://localhost:7878/update --into http://example.org/kg",
    "actc publish better --to sparql:http://localhost:7878/update --into http://example.org/kg --write",
)
@path_argument("folder")
@store_options
@flag_option("--write/--dry-run", "Write; or print what would be written.")
@flag_option("--replace", "Take the runs that are there under --into out first.")
@flag_option("--remove", "Remove the facts that were taken out, from --graph or the default graph.")
@graph_option
@key_option
@base_option
def publish_command(folder: Path, **options: Any) -> None:
    """Write what complete or check decided into a store, as a run that can be taken back.

    FOLDER is what they wrote, or a table such as `actc export --accepted` writes. Without --write it prints what
    would be written.
    """
    with progress_bar("Facts", late=True) as advance:
        published = actc.publish_facts(folder, progress=advance, **options)
    click.echo("\n".join(published.lines))


@command("actc withdraw better --to sparql:http://localhost:7878/update --into http://example.org/kg")
@path_argument("folder")
@store_options
@option("--run", "Which run. [default: the one with the decisions of FOLDER]", metavar="IRI")
@flag_option("--dry-run", "Print what would be changed, and stop.")
@key_option
@base_option
def withdraw_command(folder: Path, **options: Any) -> None:
    """Take a run back out of a store: what it wrote goes, what it removed comes back."""
    click.echo("\n".join(actc.withdraw_facts(folder, **options).lines))
