"""The command line: one command per library verb; parses, calls, prints."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

import click

from actc import __version__
from actc.cli import (
    core_commands,
    evidence_commands,
    experiment_commands,
    graph_commands,
    judge_commands,
    session_commands,
    store_commands,
    studio_commands,
    trust_commands,
)
from actc.errors import ActcError, say_failure


def main() -> None:
    """Run a command; whatever a person can put right becomes one sentence and exit code 2."""
    try:
        code = commands.main(standalone_mode=False)
    except click.UsageError as error:
        help_hint = f" Try: {error.ctx.command_path} --help" if error.ctx else ""
        message = error.format_message().rstrip(".")
        _stop(message + ("" if message.endswith(("?", "?)")) else ".") + help_hint)
    except click.Abort:
        sys.exit(130)
    except ActcError as error:
        _stop(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        _stop(say_failure(error))
    else:
        sys.exit(code if isinstance(code, int) else 0)


def _stop(sentence: str) -> None:
    print(f"actc: {' '.join(sentence.split())}", file=sys.stderr)
    sys.exit(2)


EXTRAS = {
    "plots": "matplotlib",
    "app": "fastapi",
    "judge": "httpx",
    "train": "torch",
    "pykeen": "pykeen",
    "rdf": "pyoxigraph",
    "store": "httpx",
    "kuzu": "kuzu",
    "neo4j": "neo4j",
    "spark": "pyspark",
}
"""Each extra and the package that it is about."""


def _tell_version(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    click.echo(f"actc, version {__version__} (Python {platform.python_version()})")
    for extra, package in EXTRAS.items():
        try:
            found = f"{package} {version(package)}"
        except PackageNotFoundError:
            found = "not installed"
        click.echo(f"  {extra}: {found}")
    context.exit()


JOBS = {
    "See it work": ("demo", "methods"),
    "All of it in a browser": ("studio",),
    "Find thresholds, decide": ("calibrate", "decide"),
    "Let people judge": ("start", "names", "annotate", "judge", "status", "export", "import", "extend", "backup"),
    "Know how good it is": ("report", "ask", "audit", "shift"),
    "From a graph to a better graph": (
        "train",
        "score",
        "candidates",
        "evidence",
        "constraints",
        "complete",
        "check",
        "convert",
        "publish",
        "withdraw",
    ),
    "Compare methods": ("bench", "paper"),
}


class CommandsByJob(click.Group):
    """Lists the commands under the jobs that they do."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the commands' names, in the order of the jobs."""
        return [name for names in JOBS.values() for name in names]

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each job."""
        for job, names in JOBS.items():
            with formatter.section(job):
                found = [(name, self.get_command(context, name)) for name in names]
                formatter.write_dl([(name, command.get_short_help_str(90)) for name, command in found if command])


@click.group(
    cls=CommandsByJob,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_tell_version, help="Show versions and exit."
)
@click.pass_context
def commands(context: click.Context) -> None:
    """Decide which predicted facts may enter a knowledge graph, with the least human work."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


GROUPS = (
    core_commands,
    studio_commands,
    session_commands,
    judge_commands,
    graph_commands,
    evidence_commands,
    store_commands,
    trust_commands,
    experiment_commands,
)
for group in GROUPS:
    for command in group.COMMANDS:
        commands.add_command(command)


if __name__ == "__main__":
    main()
