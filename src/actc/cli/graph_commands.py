"""The commands of a graph's engineer: train, score, candidates, complete, convert; parse, call, print."""

from __future__ import annotations

from pathlib import Path

import click

from actc.cli.parts import examples, progress_bar, quiet_option
from actc.errors import OptionError

GRAPH = click.argument("graph", type=click.Path(path_type=Path))
base_option = click.option("--base", default="", help="What IRIs begin with in RDF and names do not.")
trust_option = click.option("--trust", is_flag=True, help="Allow reading a pickle, which can run any code in it.")
device_option = click.option("--device", help="cuda or cpu. [default: a GPU where there is one]")


@click.command("train", epilog=examples("actc train graph.tsv --model complex --out model"))
@GRAPH
@click.option("--model", default="complex", show_default=True, help="complex, conve, rescal, transe or tucker.")
@click.option("--recipe", help="The name of a recipe, or a JSON file. [default: by model, graph size and device]")
@click.option("--held-out", type=click.Path(path_type=Path), help="True triples to stop by; none of the graph's.")
@click.option("--seconds", type=float, default=float("inf"), help="Stop when so much time has passed.")
@click.option("--seed", default=0, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A folder for the model.")
@base_option
@device_option
@quiet_option
def train_command(
    graph: Path,
    model: str,
    recipe: str | None,
    held_out: Path | None,
    seconds: float,
    seed: int,
    out: Path,
    base: str,
    device: str | None,
    quiet: bool,
) -> None:
    """Train an embedding model on a GRAPH (.tsv, .parquet, .nt, .ttl and others)."""
    from actc.graphs.formats import read_graph
    from actc.graphs.terms import without_literals
    from actc.models.recipes import choose_recipe, load_recipe
    from actc.models.saved_model import FILES, save_model
    from actc.models.score_triples import refuse_strangers
    from actc.models.train_model import find_device, train_model
    from actc.tables.deliver import check_folder

    check_folder(out, FILES)  # before hours of training
    device = find_device(device)
    known = without_literals(read_graph(graph, base=base))
    name = recipe or choose_recipe(model, len(known), device)
    others, notes = None, list(known.notes)
    if held_out is not None:
        asked = read_graph(held_out, base=base)
        others = asked.recoded(known.entity_names, known.relation_names)
        refuse_strangers(asked, others)
        new = ~known.contains(asked)
        if not new.any():
            raise OptionError(f"--held-out: the graph holds all of these {len(asked)} triples; give others.")
        if not new.all():
            others = others.take(new)
            notes.append(f"{len(asked) - len(others)} held-out triples are in the graph too and are left out.")
    with progress_bar("Epochs", quiet) as advance:
        trained = train_model(
            known, load_recipe(name), held_out=others, device=device, seed=seed, seconds=seconds, progress=advance
        )
    save_model(trained, out)
    if not quiet:
        for note in notes:
            click.echo(note)
        facts = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in trained.facts.items())
        click.echo(f"{out}: {trained.recipe.model} by recipe {name}; {len(known)} triples; {facts}.")


@click.command(
    "score",
    epilog=examples(
        "actc score model triples.tsv --out scores.tsv",
        "actc score pykeen-result triples.nt --trust --out scores.parquet",
    ),
)
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("triples", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A .tsv, .csv or .parquet file.")
@base_option
@trust_option
@device_option
@quiet_option
def score_command(
    model: Path, triples: Path, out: Path, base: str, trust: bool, device: str | None, quiet: bool
) -> None:
    """Score TRIPLES with a MODEL: a folder that `actc train` or PyKEEN's pipeline wrote."""
    from actc.graphs.formats import check_format, read_graph, write_graph
    from actc.models.load_scorer import load_scorer
    from actc.models.score_triples import score_triples
    from actc.tables.deliver import check_writable

    check_writable(out)
    check_format(out, None, ["score"])
    graph = read_graph(triples, base=base)
    scorer = load_scorer(model, trust=trust, device=device)
    with progress_bar("Triples", quiet) as advance:
        scored = score_triples(scorer, graph, advance)
    write_graph(out, graph, base=base, extras={"score": scored.scores})
    if not quiet:
        for note in graph.notes:
            click.echo(note)
        click.echo(
            f"{out}: {len(graph)} triples with scores from {scored.scores.min():.4g} to {scored.scores.max():.4g}."
        )


@click.command(
    "convert", epilog=examples("actc convert graph.nt --base http://www.wikidata.org/entity/ --out graph.tsv")
)
@GRAPH
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="Where to write; the ending names the format."
)
@click.option("--from", "source", help="The format of GRAPH, where its name does not say it.")
@click.option("--to", "target", help="The format to write: kgtk, quickstatements, turtle, neo4j and others.")
@base_option
@quiet_option
def convert_command(graph: Path, out: Path, source: str | None, target: str | None, base: str, quiet: bool) -> None:
    """Write a GRAPH in another format."""
    from actc.graphs.formats import check_format, read_extras, read_graph, write_graph

    written = check_format(out, target)
    found = read_graph(graph, source, base)
    extras = read_extras(graph, found, source)
    write_graph(out, found, target, base, extras if written.carries else None)
    if not quiet:
        for note in found.notes:
            click.echo(note)
        if extras and not written.carries:
            click.echo(f"{written.summary} has no place for {', '.join(extras)}: left out.")
        click.echo(
            f"{out}: {len(found)} triples, {len(found.entity_names)} entities, {len(found.relation_names)} relations."
        )


@click.command(
    "candidates",
    epilog=examples(
        "actc candidates model graph.tsv --best 5 --out candidates.parquet",
        "actc candidates model graph.tsv --relation P27 --side tail --any-entity --out candidates.tsv",
    ),
)
@click.argument("model", type=click.Path(path_type=Path))
@GRAPH
@click.option("--best", default=5, show_default=True, help="How many answers to a question.")
@click.option(
    "--side", "sides", multiple=True, help="tail asks (head, relation, ?), head (?, relation, tail). [default: both]"
)
@click.option("--relation", "relations", multiple=True, help="Only this relation; repeatable. [default: all]")
@click.option(
    "--any-entity", is_flag=True, help="Ask about every entity, not only those that fit by the graph's example."
)
@click.option("--dry-run", is_flag=True, help="Say how many questions there are and how long they will take, and stop.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A .parquet, .tsv or .csv file.")
@base_option
@trust_option
@device_option
@quiet_option
def candidates_command(
    model: Path,
    graph: Path,
    best: int,
    sides: tuple[str, ...],
    relations: tuple[str, ...],
    any_entity: bool,
    dry_run: bool,
    out: Path,
    base: str,
    trust: bool,
    device: str | None,
    quiet: bool,
) -> None:
    """Propose new facts: the best answers of a MODEL that the GRAPH does not hold.

    A run that is cut off goes on where it stopped when it is started again.
    """
    from actc.graphs.formats import read_graph
    from actc.graphs.terms import without_literals
    from actc.models.candidates import CandidateSearch, Wanted, write_candidates
    from actc.models.load_scorer import load_scorer
    from actc.tables.deliver import check_writable

    check_writable(out)
    wanted = Wanted(best, sides or ("tail", "head"), relations, any_entity)
    known = without_literals(read_graph(graph, base=base))
    search = CandidateSearch(load_scorer(model, trust=trust, device=device), known, wanted)
    questions, seconds = search.estimate_seconds()
    if not quiet or dry_run:
        click.echo(f"{questions} questions, about {describe_seconds(seconds)}.")
    if dry_run:
        return
    with progress_bar("Questions", quiet) as advance:
        count = write_candidates(search, out, advance)
    if not quiet:
        click.echo(f"{out}: {count} candidates.")


@click.command(
    "complete",
    epilog=examples(
        "actc complete graph.tsv --names names.tsv --out better   # asks people; once more, when they have judged",
        "actc complete graph.tsv --oracle truth.tsv --out better",
        "actc complete graph.nt --model model --candidates extracted.tsv --oracle labels.tsv --out better",
    ),
)
@GRAPH
@click.option("--model", type=click.Path(path_type=Path), help="A trained model's folder. [default: train one]")
@click.option("--train", "kind", default="complex", show_default=True, help="Which model to train.")
@click.option(
    "--candidates", type=click.Path(path_type=Path), help="Facts in question. [default: the model's proposals]"
)
@click.option("--best", default=2, show_default=True, help="How many proposals to a question.")
@click.option(
    "--oracle", type=click.Path(path_type=Path), help="Judged triples with labels, or a graph of all true ones."
)
@click.option(
    "--names",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Names of entities or relations, for the people who judge; see: actc start --help. Repeatable.",
)
@click.option("--budget", default=100, show_default=True, help="How many answers to ask for.")
@click.option("--method", default="pooled", show_default=True, help="See: actc methods.")
@click.option("--seconds", type=float, default=90.0, show_default=True, help="How long to train on a CPU at most.")
@click.option("--seed", default=0, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A folder.")
@base_option
@trust_option
@device_option
@quiet_option
def complete_command(
    graph: Path,
    model: Path | None,
    kind: str,
    candidates: Path | None,
    best: int,
    oracle: Path | None,
    names: tuple[Path, ...],
    budget: int,
    method: str,
    seconds: float,
    seed: int,
    out: Path,
    base: str,
    trust: bool,
    device: str | None,
    quiet: bool,
) -> None:
    """Go the whole way: a model, candidates, answers, decisions, the new graph.

    Without --oracle people are asked: it starts an annotation session and stops. Give the same command again when they
    have judged, and it goes on from there.
    """
    from actc.complete.run import CompletionPlan, run_completion

    plan = CompletionPlan(
        graph, out, model, kind, candidates, best, oracle, names, budget, method, seconds, seed, base, trust, device
    )
    lines = run_completion(plan, lambda name: progress_bar(name, quiet))
    if not quiet:
        for line in lines:
            click.echo(line)


def describe_seconds(seconds: float) -> str:
    """Say how long something takes, roughly."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


COMMANDS = [train_command, score_command, candidates_command, complete_command, convert_command]
