"""Machine judges: parse, call, print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from actc.cli.parts import PATH, allow_method_option, examples, progress_bar, quiet_option


@click.command(
    "judge",
    epilog=examples(
        "actc judge my-session --program 'python judge.py'",
        "actc judge my-session --url http://127.0.0.1:8080/v1 --model local --which all --jobs 8",
        "actc judge my-session --url https://models.example/v1 --model large --key-from MODEL_KEY --limit 500",
    ),
)
@click.argument("session", type=PATH)
@click.option("--program", help="A command that judges: JSON lines in, JSON lines out.")
@click.option("--url", help="A server that speaks the OpenAI chat protocol, on this machine or elsewhere.")
@click.option("--model", help="The server's name for the model.")
@click.option(
    "--which",
    default="doubtful",
    show_default=True,
    help="Besides what people judged: doubtful, accepted, random or all.",
)
@click.option("--count", type=int, help="How many of those at most. [default: 1,000 doubtful or random ones, else all]")
@click.option("--prompt", type=PATH, help="What a model is asked: a text with fields in braces.")
@click.option("--texts", type=PATH, help="The text that each candidate was taken from: head, relation, tail, source.")
@click.option("--key-from", metavar="NAME", help="The environment variable that holds the server's key.")
@click.option("--name", help="What to call the judge. [default: the model's or program's name]")
@click.option("--jobs", default=4, show_default=True, help="Requests at the same time.")
@click.option("--retries", default=5, show_default=True, help="How often a failed request is tried again.")
@click.option("--timeout", default=120.0, show_default=True, help="Seconds to wait for a reply.")
@click.option("--limit", default=10_000, show_default=True, help="Requests in this run at most, retries among them.")
@click.option(
    "--way",
    type=click.Choice(["tokens", "schema", "text"]),
    help="How a server answers: by the probabilities of its first word, by a form, by any text. "
    "[default: the first that it can]",
)
@allow_method_option
@quiet_option
def judge_command(session: Path, quiet: bool, **options: Any) -> None:
    """Let a machine judge triples; people's answers show how much it counts.

    People's answers stay the only labels. What a judge was asked before, told the same, is not asked again.
    """
    from actc.cli.show_session import print_judge_run
    from actc.session.judge import judge_triples

    with progress_bar("Judging", quiet, late=True) as advance:
        run = judge_triples(session, progress=lambda done, total: advance(1, total), **options)
    if not quiet:
        print_judge_run(run)


COMMANDS = [judge_command]
