"""The command line: one command per library verb; parses, calls, prints."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from actc import __version__
from actc.cli import core_commands, graph_commands, session_commands, trust_commands
from actc.cli.parts import examples, progress_bar, quiet_option
from actc.errors import ActcError, OptionError


def main() -> None:
    """Run a command; whatever a person can put right becomes one sentence and exit code 2."""
    try:
        code = commands.main(standalone_mode=False)
    except click.UsageError as error:
        help_hint = f" Try: {error.ctx.command_path} --help" if error.ctx else ""
        _stop(error.format_message().rstrip(".") + "." + help_hint)
    except click.Abort:
        sys.exit(130)
    except ActcError as error:
        _stop(str(error))
    except OSError as error:
        _stop(f"{error.filename or 'A file'}: {(error.strerror or str(error)).lower()}.")
    else:
        sys.exit(code if isinstance(code, int) else 0)


def _stop(sentence: str) -> None:
    print(f"actc: {' '.join(sentence.split())}", file=sys.stderr)
    sys.exit(2)


backend_option = click.option(
    "--backend", default="loky", show_default=True, help="Where: loky (this machine), dask or ray."
)
address_option = click.option(
    "--address", help="A cluster's scheduler, such as tcp://host:8786. [default: one on this machine]"
)


JOBS = {
    "See it work": ("demo", "methods"),
    "Find thresholds, decide": ("calibrate", "decide"),
    "Let people judge": ("start", "annotate", "status", "export", "import"),
    "Know how good it is": ("report", "ask", "audit", "shift"),
    "From a graph to a better graph": ("train", "score", "candidates", "complete", "convert"),
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


@click.group(cls=CommandsByJob, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="actc")
def commands() -> None:
    """Decide which predicted facts may enter a knowledge graph, with the least human work."""
    sys.path.append(os.getcwd())  # where a method of the user's own, module:name, is likely to be


@commands.command(
    "bench",
    epilog=examples(
        "actc bench scores/codex-s/complex --repeats 20 --out rows.csv",
        "actc bench scores/*/* --method actc-lr-rndm --method 'actc-gp-rndm:n=50,soft=true' --budget 1,10,100",
    ),
)
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--method", "methods", multiple=True, help="A method, with options if wanted; repeatable. [default: all]")
@click.option(
    "--budget", "budgets", multiple=True, help="Annotations, such as 1,2,5; repeatable. [default: the paper's]"
)
@click.option("--repeats", default=20, show_default=True, help="How often to draw anew.")
@click.option("--seed", default=12345, show_default=True, help="Where the draws start from.")
@click.option("--draws", default="numpy", show_default=True, help="numpy, or the authors' own stream: authors.")
@click.option("--jobs", default=-1, show_default=True, help="Processes; -1 for every core. The rows are the same.")
@backend_option
@address_option
@click.option("--raw", is_flag=True, help="Leave scores outside [0, 1] as they are instead of squashing them.")
@click.option("--out", type=click.Path(path_type=Path), help="Write tidy rows to this CSV file.")
@quiet_option
def bench_command(
    folders: tuple[Path, ...],
    methods: tuple[str, ...],
    budgets: tuple[str, ...],
    repeats: int,
    seed: int,
    draws: str,
    jobs: int,
    backend: str,
    address: str | None,
    raw: bool,
    out: Path | None,
    quiet: bool,
) -> None:
    """Compare methods on folders of scored, labelled triples.

    A FOLDER holds valid.tsv and test.tsv (or .tsv.gz, .csv, .parquet): head, relation, tail, score, label; and
    train.tsv, if there, without labels. Thresholds are found on valid and scored on test.
    """
    from actc.cli.show import print_rows
    from actc.experiment.runs import read_cell, run_experiment, write_rows
    from actc.methods import METHODS
    from actc.tables.files import check_writable

    if out is not None:
        check_writable(out)
    cells = [read_cell(folder) for folder in folders]
    known = all(cell.known is not None for cell in cells)
    usable = [name for name, method in METHODS.items() if known or not method.needs_known]
    chosen = [name for text in methods for name in split_methods(text)] or usable
    with progress_bar("Repeats", quiet) as advance:
        rows = run_experiment(
            cells, chosen, parse_budgets(budgets), repeats, seed, draws, jobs, not raw, advance, backend, address
        )
    if out is not None:
        write_rows(out, rows)
    if not quiet:
        print_rows(rows)


@commands.command(
    "paper",
    epilog=examples(
        "actc paper",
        "actc paper --quick --only table-avg --only figure-budgets-s --out look",
        "actc paper --method mymodule:my_method",
        "actc paper --from actc-paper/rows.csv",
    ),
)
@click.option("--quick", is_flag=True, help="CoDEx-S alone and at most 10 repeats: a look, not a measurement.")
@click.option("--only", "items", multiple=True, help="A table or figure, such as table-avg; repeatable. [default: all]")
@click.option("--out", type=click.Path(path_type=Path), default=Path("actc-paper"), show_default=True)
@click.option("--from", "rows", type=click.Path(path_type=Path), help="Draw everything from these rows; run nothing.")
@click.option("--method", "methods", multiple=True, help="A further method to set beside the paper's; repeatable.")
@click.option("--repeats", default=100, show_default=True, help="How often to draw anew.")
@click.option("--seed", default=12345, show_default=True, help="Where the draws start from.")
@click.option("--draws", default="authors", show_default=True, help="The authors' own stream, or: numpy.")
@click.option("--jobs", default=-1, show_default=True, help="Processes; -1 for every core. The rows are the same.")
@backend_option
@address_option
@quiet_option
def paper_command(
    quick: bool,
    items: tuple[str, ...],
    out: Path,
    rows: Path | None,
    methods: tuple[str, ...],
    repeats: int,
    seed: int,
    draws: str,
    jobs: int,
    backend: str,
    address: str | None,
    quiet: bool,
) -> None:
    """Make every table and figure of the paper, measured, beside the published numbers.

    The triples come from CoDEx, which is downloaded once, or from the folder that ACTC_DATA names. Rows are kept in
    OUT/rows.csv as they come: an interrupted run goes on where it stopped.
    """
    from actc.cli.show import print_paper
    from actc.experiment.grid import Settings
    from actc.paper.run import redraw_paper, run_paper

    own = [name for text in methods for name in split_methods(text)]
    if rows is not None:
        page = redraw_paper(rows, out, items=items, own_methods=own)
    else:
        settings = Settings(seed=seed, draws=draws)
        with progress_bar("Repeats", quiet) as advance:
            page = run_paper(
                out,
                items=items,
                own_methods=own,
                quick=quick,
                repeats=repeats,
                settings=settings,
                jobs=jobs,
                progress=advance,
                backend=backend,
                address=address,
            )
    if not quiet:
        print_paper(page)


def split_methods(text: str) -> list[str]:
    """Split ``a,b:n=5,soft=true,c`` at the commas between methods, not at those between a method's options."""
    methods: list[str] = []
    for part in text.split(","):
        if "=" in part and ":" not in part and methods:
            methods[-1] += "," + part
        else:
            methods.append(part.strip())
    return methods


def parse_budgets(texts: tuple[str, ...]) -> list[int]:
    """Read ``1,2,5`` as whole numbers; an empty list means the default ones."""
    parts = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    for part in parts:
        if not part.isdigit():
            raise OptionError(f"--budget: {part!r} is not a whole number; write budgets such as 1,2,5.")
    return [int(part) for part in parts]


for group in (core_commands, session_commands, graph_commands, trust_commands):
    for command in group.COMMANDS:
        commands.add_command(command)


if __name__ == "__main__":
    main()
