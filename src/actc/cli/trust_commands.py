"""The commands about trust: report, ask, audit, shift."""

from __future__ import annotations

from pathlib import Path

import click

from actc.cli.parts import examples, quiet_option
from actc.errors import OptionError

PATH = click.Path(path_type=Path)
price_option = click.option(
    "--price", default=0.4, show_default=True, help="What an answer costs, in right decisions that it must bring."
)


@click.command(
    "report",
    epilog=examples("actc report thresholds.json --out report.html", "actc report my-session --json report.json"),
)
@click.argument("source", type=PATH)
@click.option("--out", type=PATH, default=Path("report.html"), show_default=True, help="The page.")
@click.option("--json", "json_out", type=PATH, help="The same numbers as JSON.")
@click.option("--level", default=0.9, show_default=True, help="How sure the bounds should be.")
@price_option
@quiet_option
def report_command(source: Path, out: Path, json_out: Path | None, level: float, price: float, quiet: bool) -> None:
    """Say how good decisions are, resting on what, and what to ask next.

    SOURCE is a session, or a thresholds file that `actc calibrate` wrote; either with a pooled method.
    """
    from actc.cli.show_trust import print_report
    from actc.session.find_case import find_case
    from actc.tables.files import write_json
    from actc.trust.report import make_report
    from actc.trust.report_page import write_page

    report = make_report(find_case(source), level, price)
    write_page(report, out)
    if json_out is not None:
        write_json(json_out, report.to_dict())
    if not quiet:
        print_report(report, [path for path in (out, json_out) if path is not None])


@click.command(
    "ask",
    epilog=examples(
        "actc ask thresholds.json --count 50 --out questions.tsv",
        "actc ask my-session --candidates candidates.tsv --out questions.tsv",
    ),
)
@click.argument("source", type=PATH)
@click.option("--candidates", type=PATH, help="Ask about these instead of the pool: head, relation, tail, score.")
@click.option("--count", default=50, show_default=True, help="How many questions at most.")
@price_option
@click.option("--out", type=PATH, required=True, help="The questions, best first: .tsv, .csv or .parquet.")
@quiet_option
def ask_command(source: Path, candidates: Path | None, count: int, price: float, out: Path, quiet: bool) -> None:
    """List the candidates that are better asked than decided, the most worthwhile first.

    The list can be the candidates of a new session: `actc start SESSION questions.tsv`.

    SOURCE is a session, or a thresholds file that `actc calibrate` wrote; either with a pooled method.
    """
    from actc.cli.show_trust import print_asked
    from actc.session.find_case import find_case
    from actc.tables.parts import read_candidates
    from actc.trust.ask import decide_three_ways, weigh_next_answers
    from actc.trust.report import find_questions, write_questions

    if count < 1:
        raise OptionError(f"--count: {count} questions are none; give at least 1.")
    case = find_case(source)
    posterior = case.fit()
    triples = case.pool if candidates is None else read_candidates(candidates)
    three = decide_three_ways(posterior, triples, case.cuts, price)
    questions = find_questions(case, three, count, triples)
    write_questions(out, questions)
    if not quiet:
        print_asked(three, triples, questions, weigh_next_answers(posterior, price), out)


@click.command(
    "audit",
    epilog=examples(
        "actc audit accepted.tsv --count 100 --out slice.tsv",
        "actc audit accepted.tsv --labels slice-judged.tsv --target 0.9 --model thresholds.json",
    ),
)
@click.argument("accepted", type=PATH)
@click.option("--count", default=100, show_default=True, help="How many answers to ask for.")
@click.option(
    "--by",
    "design",
    default="simple",
    show_default=True,
    help="How to draw: simple; relation (within each); head (all triples of some head entities).",
)
@click.option("--seed", default=0, show_default=True, help="Where the draw starts from.")
@click.option("--out", type=PATH, help="Write the slice to be judged to this file.")
@click.option("--labels", type=PATH, help="The judged slice: head, relation, tail, label (1 or 0).")
@click.option("--target", type=float, help="The share of true triples to certify, such as 0.9.")
@click.option("--level", default=0.9, show_default=True, help="How sure the bounds should be.")
@click.option("--model", "source", type=PATH, help="The thresholds or session behind them: do they disagree?")
@quiet_option
def audit_command(
    accepted: Path,
    count: int,
    design: str,
    seed: int,
    out: Path | None,
    labels: Path | None,
    target: float | None,
    level: float,
    source: Path | None,
    quiet: bool,
) -> None:
    """Judge a random slice of accepted triples: how many are true, without any model.

    Without --labels, the slice is drawn and written to --out. With them, they are read as the slice was drawn.
    """
    import numpy as np

    from actc.cli.show_trust import print_audit, print_slice
    from actc.session.find_case import find_case
    from actc.tables.files import read_annotations, write_rows_of
    from actc.tables.parts import read_candidates
    from actc.trust.audit import answers_to_certify, assess, disagreement, draw_slice
    from actc.trust.report import expected_precision

    triples = read_candidates(accepted)
    if labels is None:
        if out is None:
            raise OptionError("Give --out to draw a slice, or --labels to read a judged one.")
        rows = draw_slice(triples, count, design, np.random.default_rng(seed))
        write_rows_of(out, triples, rows)
        if not quiet:
            print_slice(triples, rows, out)
        return
    audit = assess(triples, read_annotations(labels, triples), design, level)
    more = None if target is None else answers_to_certify(audit, target)
    surprise = None
    if source is not None:
        surprise = disagreement(expected_precision(find_case(source), triples), audit.trues, audit.judged)
    if not quiet:
        print_audit(audit, target, more, surprise)


@click.command("shift", epilog=examples("actc shift thresholds.json candidates.parquet"))
@click.argument("source", type=PATH)
@click.argument("candidates", type=PATH)
@click.option("--json", "json_out", type=PATH, help="Write every relation's numbers as JSON.")
@quiet_option
def shift_command(source: Path, candidates: Path, json_out: Path | None, quiet: bool) -> None:
    """Say whether new candidates are like the pool that thresholds were found on.

    SOURCE is a session, or a thresholds file that `actc calibrate` wrote; either with a pooled method.
    """
    from dataclasses import asdict

    from actc.cli.show_trust import print_shifts
    from actc.session.find_case import find_case
    from actc.tables.files import write_json
    from actc.tables.parts import read_candidates
    from actc.trust.shift import find_shifts

    case = find_case(source)
    shifts = find_shifts(case.pool, read_candidates(candidates), case.thresholds)
    if json_out is not None:
        write_json(json_out, [{**asdict(shift), "shifted": shift.shifted} for shift in shifts])
    if not quiet:
        print_shifts(shifts)


COMMANDS = [report_command, ask_command, audit_command, shift_command]
