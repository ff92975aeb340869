"""The commands of people who judge: start, annotate, export, import; parse, call, print."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from actc.cli.page import page_options, serve_page
from actc.cli.parts import (
    PATH,
    allow_method_option,
    claim_output,
    examples,
    language_option,
    method_option,
    overwrite_option,
    promise_options,
    quiet_option,
    seed_option,
)
from actc.errors import OptionError

if TYPE_CHECKING:
    from actc.session import Session


@click.command(
    "start",
    epilog=examples(
        "actc start my-session --sample",
        "actc start my-session scores.tsv --names names.tsv --kg graph.tsv --budget 200 --overlap 0.2",
    ),
)
@click.argument("session", type=PATH)
@click.argument("scores", type=PATH, required=False)
@click.option("--sample", is_flag=True, help="Use the packaged sample: everyday facts that anyone can judge.")
@click.option(
    "--names",
    multiple=True,
    type=PATH,
    help="Names of entities or relations: a table (id, name, description, types, sentence), JSON, RDF; repeatable.",
)
@language_option
@click.option("--kg", type=PATH, help="What the graph holds: head, relation, tail (and score).")
@click.option("--constraints", help="What may not be true together: a file of actc constraints, or learnt (from --kg).")
@method_option
@click.option("--budget", default=100, show_default=True, help="How many triples to judge.")
@promise_options()
@click.option("--overlap", default=0.0, show_default=True, help="The share of triples that two people judge.")
@click.option("--title", help="What the pages call the session. [default: the file's name]")
@click.option("--guidelines", type=PATH, help="What annotators should know, shown first: Markdown.")
@click.option(
    "--reasons",
    default="after",
    show_default=True,
    help="Show what the graph says of a triple, where known: after (the answer), beside (the card), never.",
)
@click.option("--link", default="", help="Where entities are described: an address with {id}. [default: Wikidata]")
@click.option("--show-score", is_flag=True, help="Show what the model thinks on the cards. It sways people.")
@seed_option()
@quiet_option
def start_command(
    session: Path,
    scores: Path | None,
    sample: bool,
    names: tuple[Path, ...],
    kg: Path | None,
    title: str | None,
    guidelines: Path | None,
    language: str,
    constraints: str | None,
    quiet: bool,
    **choices: Any,
) -> None:
    """Start an annotation session, a new folder: people judge candidates.

    SCORES is a file of scored candidates, or a folder of parts.

    Of more than a million candidates the session has a random sample.
    """
    from actc.cli.show_session import print_named
    from actc.data.files import read_text
    from actc.session import Settings, start_session
    from actc.session.start import sample_files

    if sample == (scores is not None):
        raise OptionError("Give a file of scored candidates, or --sample for the packaged sample.")
    title = title or ("Everyday facts" if scores is None else scores.name.partition(".")[0])
    text = read_text(guidelines) if guidelines else ""
    if scores is None:
        scores, names, kg = sample_files()
    settings = Settings(title=title, guidelines=text, **choices)
    with closing(start_session(session, scores, settings, names, kg, language, constraints=constraints)) as started:
        if not quiet:
            print(f"{started.settings.triples:,} candidates are ready. Judge them with: actc annotate {session}")
            print_named(started)


@click.command(
    "annotate",
    epilog=examples(
        "actc annotate my-session",
        "actc annotate my-session --annotator Ada --annotator Bob --host 0.0.0.0",
        "actc annotate my-session --terminal",
    ),
)
@click.argument("session", type=PATH)
@click.option("--terminal", is_flag=True, help="Judge here, in the terminal.")
@click.option("--reasons", help="From now on, show what the graph says of a triple: after (the answer), beside, never.")
@click.option("--title", help="From now on, what the pages call the session.")
@click.option("--guidelines", type=PATH, help="From now on, what annotators should know, shown first: Markdown.")
@click.option("--names", multiple=True, type=PATH, help="More names, as of `actc start`; repeatable.")
@language_option
@page_options
@allow_method_option
@quiet_option
def annotate_command(
    session: Path,
    annotators: list[str],
    terminal: bool,
    reasons: str | None,
    title: str | None,
    guidelines: Path | None,
    names: tuple[Path, ...],
    language: str,
    host: str,
    port: int,
    browser: bool,
    quiet: bool,
) -> None:
    """Judge triples: on a page, or in the terminal."""
    from actc.data.files import read_text
    from actc.session import Session
    from actc.session.read_names import try_names
    from actc.session.start import add_session_names

    text = None if guidelines is None else read_text(guidelines)
    given = {"reasons": reasons, "title": title, "guidelines": text}
    choices = {name: value for name, value in given.items() if value is not None}
    try_names(names, language)

    def prepare(opened: Session) -> None:
        opened.change(choices, annotators)
        if names:
            add_session_names(opened, names, language)

    if terminal:
        with closing(Session(session)) as opened:
            prepare(opened)
            _judge_here(opened, annotators[0] if annotators else "you")
    else:
        serve_page(session, prepare, host, port, browser, quiet)


def _judge_here(session: Session, name: str) -> None:
    from actc.session.plan import planning
    from actc.session.terminal import judge_in_terminal

    read_key = click.getchar if sys.stdin.isatty() else lambda: sys.stdin.read(1)
    with planning(session.folder, click.echo):
        judge_in_terminal(session, session.add_annotator(name), read_key, input, click.echo)


@click.command(
    "export",
    epilog=examples("actc export my-session --labels labels.tsv --thresholds thresholds.json --accepted accepted.tsv"),
)
@click.argument("session", type=PATH)
@click.option("--labels", type=PATH, help="One label per judged triple: .tsv, .csv or .parquet.")
@click.option("--history", type=PATH, help="Everything that was ever said: .jsonl.")
@click.option("--thresholds", type=PATH, help="Where true begins: .json.")
@click.option("--accepted", type=PATH, help="The accepted triples: .tsv, .csv or .parquet.")
@click.option("--held", type=PATH, help="What constraints held back, and why: .tsv, .csv or .parquet.")
@click.option("--label-studio", type=PATH, help="The next triples as Label Studio's tasks: .json.")
@click.option("--count", default=100, show_default=True, help="How many tasks for Label Studio.")
@promise_options()
@allow_method_option
@overwrite_option
@quiet_option
def export_command(session: Path, overwrite: bool, quiet: bool, **options: Any) -> None:
    """Write judgements, thresholds and accepted triples of a session."""
    from actc.session.results import export_session

    for name in ("labels", "history", "thresholds", "accepted", "held", "label_studio"):
        claim_output(options[name], overwrite=overwrite, inputs=(session,))
    for count, what, path in export_session(session, **options):
        if not quiet:
            print(f"{count:,} {what}: {path}")


@click.command(
    "import",
    epilog=examples(
        "actc import my-session labels.tsv --annotator Ada",
        "actc import my-session label-studio.json",
        "actc import my-session judges.tsv --judge",
    ),
)
@click.argument("session", type=PATH)
@click.argument("judgements", type=PATH)
@click.option("--annotator", help="Whose judgements they are, where the file does not tell.")
@click.option("--owner", is_flag=True, help="Take what the file's owner decided as your own decisions.")
@click.option("--judge", is_flag=True, help="Machines' answers: head, relation, tail, judge, label or probability.")
@allow_method_option
@quiet_option
def import_command(session: Path, judgements: Path, quiet: bool, **options: Any) -> None:
    """Bring judgements into a session: a table, JSON lines, or Label Studio's export."""
    from actc.session.exchange import import_judgements

    added, notes = import_judgements(session, judgements, **options)
    if not quiet:
        print("\n".join([*notes, f"{added:,} new judgements are in {session}."]))


COMMANDS = [
    start_command,
    annotate_command,
    export_command,
    import_command,
]
