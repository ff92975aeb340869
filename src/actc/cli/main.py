"""The command line: one command per library verb; parses, calls, prints."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from actc import __version__
from actc.cli import experiment_commands, graph_commands, session_commands, trust_commands
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


@commands.command("demo", epilog=examples("actc demo", "actc demo --out my-demo --repeats 30"))
@click.option("--out", type=click.Path(path_type=Path), default=Path("actc-demo"), show_default=True, help="A folder.")
@click.option("--repeats", default=10, show_default=True, help="How often to repeat the comparison.")
@click.option("--seed", default=0, show_default=True, help="Where the draws start from.")
@quiet_option
def demo_command(out: Path, repeats: int, seed: int, quiet: bool) -> None:
    """Do the whole job on the packaged sample and show what calibration buys."""
    from actc.cli.show import print_demo
    from actc.sample.demo import run_demo, write_demo
    from actc.sample.demo_page import write_page

    if out.exists() and not out.is_dir():
        raise OptionError(f"--out: {out} is a file; give the name of a folder.")
    with progress_bar("Repeats", quiet) as advance:
        demo = run_demo(repeats, seed, jobs=-1, progress=advance)
    picture, *others = write_demo(demo, out)
    page = write_page(demo, picture)
    if not quiet:
        print_demo(demo, [picture, page, *others])


@commands.command("methods", epilog=examples("actc methods"))
@quiet_option
def methods_command(quiet: bool) -> None:
    """List every method with one line on what it is."""
    from actc.cli.show import print_methods
    from actc.methods import METHODS

    if not quiet:
        print_methods(METHODS)


@commands.command(
    "calibrate",
    epilog=examples(
        "actc calibrate scores.tsv --labels labels.tsv --method actc-lr-rndm --out thresholds.json",
        "actc calibrate parts/ --labels labels.tsv --method pooled --sketch --out thresholds.json",
        "actc calibrate scores.tsv --labels labels.tsv --precision 0.9 --confidence 0.95",
    ),
)
@click.argument("scores", type=click.Path(path_type=Path))
@click.option("--labels", type=click.Path(path_type=Path), help="Judged triples: head, relation, tail, label (1 or 0).")
@click.option("--method", default="pooled", show_default=True, help="See: actc methods.")
@click.option("--known", type=click.Path(path_type=Path), help="Scored triples that the graph holds already.")
@click.option("--sketch", is_flag=True, help="For many millions: measure all, keep a sample. Pooled methods only.")
@click.option(
    "--picks",
    default="unknown",
    show_default=True,
    help="How the labelled were picked: random, expected-gain, unknown.",
)
@click.option("--precision", type=float, help="Accept as many as keep this precision, with --confidence.")
@click.option("--recall", type=float, help="Accept as few as reach this recall, with --confidence.")
@click.option("--cost-false-accept", type=float, help="Accept what costs least, a false accept costing this ...")
@click.option("--cost-false-reject", default=1.0, show_default=True, help="... and a false reject this.")
@click.option("--confidence", default=0.9, show_default=True, help="How probable the promise should be.")
@click.option("--each-relation", is_flag=True, help="Make the promise for each relation by itself.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("thresholds.json"), show_default=True)
@quiet_option
def calibrate_command(
    scores: Path,
    labels: Path | None,
    method: str,
    known: Path | None,
    sketch: bool,
    picks: str,
    precision: float | None,
    recall: float | None,
    cost_false_accept: float | None,
    cost_false_reject: float,
    confidence: float,
    each_relation: bool,
    out: Path,
    quiet: bool,
) -> None:
    """Find thresholds from annotations that exist.

    SCORES holds the candidates: head, relation, tail, score. Labels are for some of them. With --precision, --recall or
    costs, the thresholds keep a promise (pooled methods only).
    """
    from actc.calibrator import Calibrator
    from actc.cli.show import print_thresholds
    from actc.cli.show_trust import print_promise
    from actc.methods import describe_options, find_method
    from actc.pooled.sketch import sketch_pool
    from actc.tables.files import read_annotations, read_scored
    from actc.tables.parts import read_candidates
    from actc.tables.thresholds_file import write_thresholds
    from actc.triples import Annotations
    from actc.trust.on_demand import describe_promise, describe_sources, draws_of, find_demand, thresholds_on_demand

    found = find_method(method)
    demand = find_demand(precision, recall, cost_false_accept, cost_false_reject, confidence, each_relation)
    sources = describe_sources(scores, labels, known, sketch, picks)
    if labels is None and found.least_budget > 0:
        raise OptionError(f"{method} needs annotations: give a file of judged triples with --labels.")
    if sketch and not found.takes_sketch:
        raise OptionError(f"{method} looks at every candidate; --sketch goes with the pooled methods only.")
    if sketch and demand is not None:
        raise OptionError("A promise is about the whole pool, which a sketch is not; leave --sketch out.")
    facts = None if known is None else read_scored(known)[0]
    pool = sketch_pool(scores, facts, labelled=labels) if sketch else read_candidates(scores)
    annotations = Annotations() if labels is None else read_annotations(labels, pool)
    calibrator = Calibrator(method).fit(pool, annotations, facts)
    squash = calibrator.squash_
    transform = None if squash is None else {"name": "sigmoid(score - mean)", "mean": squash.mean}
    thresholds, kept = calibrator.thresholds_, None
    if demand is not None:
        thresholds, kept = thresholds_on_demand(draws_of(calibrator.fit_, method), pool, annotations, demand)
    options, curves, promised = describe_options(found), calibrator.curves(), describe_promise(kept)
    write_thresholds(out, thresholds, method, options, pool, annotations, transform, curves, sources, promised)
    if not quiet:
        print_thresholds(thresholds, pool, annotations, out)
        if kept is not None:
            print_promise(kept)


@commands.command(
    "decide",
    epilog=examples(
        "actc decide thresholds.json candidates.parquet --out accepted.tsv",
        "actc decide thresholds.json parts/ more.parquet --out accepted/ --memory 4GB",
        "actc decide thresholds.json /shared/parts --out /shared/accepted --engine spark --master spark://host:7077",
    ),
)
@click.argument("thresholds", type=click.Path(path_type=Path))
@click.argument("candidates", nargs=-1, required=True)
@click.option("--out", required=True, help="A .tsv, .csv or .parquet file, or a folder/ of Parquet parts.")
@click.option("--all", "keep_all", is_flag=True, help="Write rejected candidates too, with a column that says so.")
@click.option("--best-tail", "best_only", is_flag=True, help="At most one tail, the best, for each head and relation.")
@click.option("--overwrite", is_flag=True, help="Replace an output that is there already.")
@click.option("--memory", default="1GB", show_default=True, help="How much memory to use at most.")
@click.option("--engine", default="duckdb", show_default=True, help="duckdb, or spark.")
@click.option("--master", help="Spark's address, such as spark://host:7077. [default: this machine]")
@quiet_option
def decide_command(
    thresholds: Path,
    candidates: tuple[str, ...],
    out: str,
    keep_all: bool,
    best_only: bool,
    overwrite: bool,
    memory: str,
    engine: str,
    master: str | None,
    quiet: bool,
) -> None:
    """Accept or reject any number of scored candidates.

    CANDIDATES are files or folders of files, all laid out alike: head, relation, tail, score. The output is complete
    or absent.
    """
    from actc.cli.show import print_decided
    from actc.decide.decide_candidates import decide
    from actc.tables.thresholds_file import read_curves, read_thresholds

    cuts = read_thresholds(thresholds)
    with progress_bar("Deciding", quiet) as advance:
        decided = decide(
            cuts,
            candidates,
            out,
            keep_all,
            memory,
            curves=read_curves(thresholds),
            best_only=best_only,
            engine=engine,
            master=master,
            overwrite=overwrite,
            progress=advance,
        )
    if not quiet:
        print_decided(decided, cuts, out)


for command in (
    *session_commands.COMMANDS,
    *graph_commands.COMMANDS,
    *trust_commands.COMMANDS,
    *experiment_commands.COMMANDS,
):
    commands.add_command(command)


if __name__ == "__main__":
    main()
