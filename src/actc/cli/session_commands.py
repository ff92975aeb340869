"""The commands of people who judge: studio, start, annotate, judge, export, import, report, audit."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

import actc
from actc.cli.parts import (
    Decorator,
    add_options,
    claim_output,
    command,
    flag_option,
    option,
    path_argument,
    path_option,
    progress_bar,
    together,
)
from actc.data.options import options_of
from actc.errors import OptionError
from actc.session.settings import AuditConfig, ExportFiles, JudgeConfig, SessionInputs, Settings

if TYPE_CHECKING:
    from actc.session import Session


def page_options(port: int) -> Decorator:
    """Return the options of a page."""
    port_text = "The port to listen on; 0 for any free one."
    return together(
        option("--host", "The address to listen on.", "127.0.0.1"),
        option("--port", port_text, port, type=click.IntRange(0, 65535)),
        flag_option("--browser/--no-browser", "Open the page in a browser.", default=True),
        option("--public-url", "The address that an HTTPS proxy before it has.", metavar="URL"),
    )


@command("actc studio", "actc studio my-projects --host 0.0.0.0 --port 8080")
@path_argument("folder", default="actc-studio")
@page_options(8766)
def studio_command(folder: Path, host: str, port: int, browser: bool, public_url: str | None) -> None:
    """Do all of it in a browser: graphs, runs, people, decisions, files.

    FOLDER holds the projects; it is made if it is not there, with a first project to try.
    """
    try:
        from actc.web.serve import browsing, serve_studio
        from actc.web.studio.project import HIDDEN
    except ModuleNotFoundError:
        raise OptionError("This actc comes without pages; each step is a command: actc --help.") from None

    def announce(link: str) -> None:
        click.echo(f"The studio is here; everybody with this address may use it:\n  {link}\nCtrl-C ends it.")
        if browser and sys.stdout.isatty():
            ending.enter_context(browsing(link, folder / HIDDEN))

    with ExitStack() as ending:
        serve_studio(folder, host, port, announce, public_url)


@command(
    "actc start my-session --sample",
    "actc start my-session scores.tsv --names names.tsv --graph graph.tsv --budget 200 --overlap 0.2",
)
@path_argument("session")
@path_argument("scores", required=False)
@flag_option("--sample", "Use the packaged sample: everyday facts that anyone can judge.")
@add_options(options_of(SessionInputs, Settings))
def start_command(session: Path, scores: Path | None, sample: bool, guidelines: str, **options: Any) -> None:
    """Start an annotation session, a new folder: people judge candidates.

    SCORES is a file of scored candidates, or a folder of parts.

    Of more than a million candidates the session has a random sample.
    """
    from actc.data.text_files import read_text
    from actc.session.start import copy_sample

    if sample == (scores is not None):
        raise OptionError("Give a file of scored candidates, or --sample for the packaged sample.")
    text = read_text(Path(guidelines)) if guidelines else ""
    with ExitStack() as ending:
        if scores is None:
            scratch = ending.enter_context(TemporaryDirectory(prefix="actc-"))
            scores, options["names"], options["graph"] = copy_sample(Path(scratch))
            options["title"] = options["title"] or "Everyday facts"
        started = ending.enter_context(closing(actc.start_session(session, scores, guidelines=text, **options)))
        click.echo(f"{started.settings.triples:,} candidates. Judge them with: actc annotate {session}")
        entities = started.read_pool().entity_names
        named = started.names.count_named(entities)
        if named < len(entities):
            click.echo(
                f"{named:,} of {len(entities):,} entities have a name; cards show the ids of the others. "
                f"Give names with --names, or now: actc annotate {session} --names FILE"
            )


def _tidy_names(context: click.Context, option: click.Parameter, names: tuple[str, ...]) -> list[str]:
    from actc.session.session import tidy_name

    return [tidy_name(name, "an annotator") for name in names]


@command(
    "actc annotate my-session",
    "actc annotate my-session --annotator Ada --annotator Bob --host 0.0.0.0",
    "actc annotate my-session --terminal",
)
@path_argument("session")
@option(
    "--annotator annotators",
    "A name that gets a link; repeatable. [default: those there are, or you]",
    multiple=True,
    callback=_tidy_names,
)
@flag_option("--terminal", "Judge here, in the terminal.")
@path_option("--names", "More names, as of `actc start`; repeatable.", multiple=True)
@page_options(8765)
def annotate_command(
    session: Path,
    annotators: list[str],
    terminal: bool,
    names: tuple[Path, ...],
    browser: bool,
    **address: Any,
) -> None:
    """Judge triples: on a page, or in the terminal."""
    from actc.session.names import try_names

    try_names(names, "en")

    def prepare(there: Session) -> None:
        there.change({}, annotators)
        if names:
            there.add_names(names)

    if not terminal:
        _serve_page(session, prepare, browser, **address)
        return
    from actc.session.processes import planning
    from actc.session.terminal import judge_in_terminal

    read_key = click.getchar if sys.stdin.isatty() else lambda: sys.stdin.read(1)
    with closing(actc.Session(session)) as there:
        prepare(there)
        with planning(there, click.echo):
            person = there.add_annotator(annotators[0] if annotators else "you")
            judge_in_terminal(there, person, read_key, input, click.echo)


def _serve_page(session: Path, prepare: Callable[[Session], None], browser: bool, host: str, **address: Any) -> None:
    """Serve a session's page until interrupted; ``prepare`` changes the session once the port is ours."""
    from actc.cli.show import make_table, show

    try:
        from actc.web.serve import browsing, link_to_open, serve
    except ModuleNotFoundError:
        raise OptionError("This actc comes without the annotation page; judge in the terminal: --terminal.") from None

    def announce(links: list[tuple[str, str]]) -> None:
        show(make_table(("who", "link"), links))
        if host not in ("127.0.0.1", "localhost", "::1"):
            click.echo(
                "Mind: this is plain HTTP, reachable from other machines. A reader of the traffic can judge in "
                "somebody else's name; put a proxy with HTTPS before it, or use a network that you trust."
            )
        click.echo("Each link is a secret of its own. Stop with Ctrl+C; every answer is on the disk already.")
        if browser and sys.stdout.isatty():
            ending.enter_context(browsing(link_to_open(links), session))

    with ExitStack() as ending:
        serve(session, prepare, host, announce=announce, report=partial(click.echo, err=True), **address)


@command(
    "actc judge my-session --program 'python judge.py'",
    "actc judge my-session --url http://127.0.0.1:8080/v1 --model local --which all --jobs 8",
    "actc judge my-session --url https://models.example/v1 --model large --key-from MODEL_KEY --limit 500",
)
@path_argument("session")
@add_options(options_of(JudgeConfig))
def judge_command(session: Path, **options: Any) -> None:
    """Let a machine judge triples; people's answers show how much it counts.

    People's answers stay the only labels. No judge gets a question twice.
    """
    with progress_bar("Judging", late=True) as advance:
        run = actc.judge_triples(session, progress=lambda done, total: advance(1, total), **options)
    click.echo("\n".join(run.sentences()))


@command(
    "actc export my-session --labels labels.tsv --thresholds thresholds.json --accepted accepted.tsv",
    writes=True,
)
@path_argument("session")
@add_options(options_of(ExportFiles))
def export_command(session: Path, **options: Any) -> None:
    """Write judgements, thresholds and accepted triples of a session."""
    for path in ExportFiles(**options).paths().values():
        claim_output(path, inputs=(session,))
    for count, what, path in actc.export_session(session, **options):
        click.echo(f"{count:,} {what}: {path}")


@command(
    "actc import my-session labels.tsv --annotator Ada",
    "actc import my-session label-studio.json",
    "actc import my-session judges.tsv --judge",
)
@path_argument("session")
@path_argument("judgements")
@option("--annotator", "Whose judgements they are, where the file does not name anybody.")
@flag_option("--judge", "Machines' answers: head, relation, tail, judge, label or probability.")
def import_command(session: Path, judgements: Path, **options: Any) -> None:
    """Bring judgements into a session: a table, JSON lines, or Label Studio's export."""
    added, notes = actc.import_judgements(session, judgements, **options)
    click.echo("\n".join([*notes, f"New judgements in {session}: {added:,}."]))


@command("actc report thresholds.json --out report.html", "actc report my-session --json report.json", writes=True)
@path_argument("source")
@path_option("--out", "The page.", Path("report.html"))
@path_option("--json json_out", "The same numbers as JSON.")
def report_command(source: Path, out: Path, json_out: Path | None) -> None:
    """Report how good the decisions are, how that is known, and what to ask next.

    SOURCE is a session, or a thresholds file that `actc calibrate` wrote; either with a pooled method.
    """
    from actc.cli.show import print_report

    if json_out is not None and json_out.absolute() == out.absolute():
        raise OptionError(f"--json: {json_out} is the page; give another name.")
    claim_output(out, inputs=(source,))
    claim_output(json_out, inputs=(source, out))
    report = actc.write_report(source, out, json_out=json_out)
    print_report(report, [path for path in (out, json_out) if path is not None])


@command(
    "actc audit my-session --within 0.05",
    "actc audit my-session --among accepted.tsv --target 0.9",
    "actc audit accepted.tsv --out first.tsv",
    "actc audit accepted.tsv --labels judged.tsv --count 20 --out more.tsv",
    writes=True,
)
@path_argument("accepted")
@path_option("--out", "Of a file: the draws to be judged. Of a session: the audit's folder.")
@path_option("--labels", "The judged draws: head, relation, tail, label (1 or 0).")
@add_options(options_of(AuditConfig))
def audit_command(accepted: Path, out: Path | None, labels: Path | None, **options: Any) -> None:
    """Judge random draws from accepted triples: how many are true, without any model.

    ACCEPTED is a session: a folder is made in which what it accepts is judged (`actc annotate FOLDER`); the same
    command shows later how far that is. Or it is a file: draws are written to --out; with --labels it shows what the
    answers show, about how many more are needed, and --out draws more.
    """
    from actc.session.cases import words_of
    from actc.session.status import picture

    if (accepted / "session.sqlite").is_file() and labels is None:
        with closing(actc.start_audit(accepted, out, **options)) as audit:
            settings = audit.settings
            drawn = f"{settings.budget:,} of {settings.triples:,} {words_of(settings).accepted_facts}"
            click.echo(f"{settings.title}: {drawn} are drawn to be judged.\n{picture(audit)['advice']}")
            click.echo(f"Judge them with: actc annotate {audit.folder}")
        return
    from actc.decide.audit import describe_audit

    AuditConfig(**options)  # refuses what cannot be shown before it claims the output
    claim_output(out, inputs=(accepted, labels))
    shown = actc.audit_accepted(accepted, labels, out=out, **options)
    if labels is not None:
        counts = f"{shown.trues:,} of {shown.judged:,} judged triples are true; {shown.total:,} are accepted in all."
        click.echo(f"{counts}\n{describe_audit(shown)}")
    if out is not None:
        click.echo(f"{shown.drawn:,} accepted triples are drawn: {out}")
        click.echo("Judge them from the top: add a column label (1 or 0); give all answers back with --labels.")
