"""The page of commands, choices and files, from the code: site_pages.py asks for it when the site is built."""

from __future__ import annotations

import inspect
from typing import Any

import click

from actc.bench.metrics import METRICS
from actc.bench.runs import DRAWS
from actc.cli.main import commands
from actc.data.answers import SELECTIONS
from actc.decide.decision_table import BY, CONSTRAINT
from actc.methods.choose_thresholds import OBJECTIVES
from actc.methods.classifiers import ESTIMATORS
from actc.methods.named import METHODS, explain_options
from actc.methods.select_triples import SELECTORS

FILES = """## Files

Tables are TSV, CSV or Parquet, by the ending of their names. The first three columns are `head`, `relation` and `tail`.

| file | written by | further columns |
| --- | --- | --- |
| answers | `actc export --labels`, `pick_triples` (add `label`), `answers.tsv` of `complete` | `label` (1 or 0) and how the triple was selected (below) |
| accepted triples | `actc export --accepted`, `accept_triples`, `actc demo` | `score`, `probability` (where the method has one), `by` |
| decided candidates | `actc decide` | `score`, `threshold`, `probability` (likewise), `by`; with `--all` also `accepted` |
| accepted facts | `actc complete`: `accepted.tsv` | `score`, `probability`, `threshold`, `method`, `date`, `by`, `rule`, `proposed_by`, `reasons` |
| doubtful facts | `actc check`: `doubtful.tsv`, `removed.tsv` | `probability` (of being wrong), `reasons`; in `removed.tsv` also `by` |
| excluded by constraints | `actc complete`: `excluded.tsv` | `score`, `probability`, `constraint`, `why`, `against` (`fact`, `rival` or nothing), `other` |
| all candidates | `complete`, `check`, `export`: `decisions.parquet` | `score`, `probability`, `accepted`, `by`, `reasons` (names in double brackets), and `guaranteed`: the highest precision whose guarantee would accept the triple |

Each answer carries how its triple was selected:

| column | content |
| --- | --- |
| `selection` | how the triple was selected: {selection}; `given` if unknown, as in a file without the column |
| `sampling_frame` | the set that it was drawn from: `pool`, `accepted` (what would have been accepted then), `rejected`, `relation`; empty if it was not drawn |
| `inclusion_probability` | the probability that this question was about this triple, above 0 and at most 1; empty if unknown. An answer without it is used to fit, not to estimate or to guarantee |
| `frame_size` | how many candidates there were to draw from |
| `who`, `when` | who answered, and when (ISO 8601) |

`by` is who decided: {by}. A person's answer counts before judges, judges before the method.

`thresholds.json` has the method and its options, counts, sources, one entry for each relation (`cut` and its interval, numbers of triples,
answers and accepted triples), the `default` cut, the guarantee, and `exceptions`: the triples that people or judges answered about, with the
decision and its probability. `actc decide` uses these first.
"""  # noqa: E501


TWINS = {
    "demo": ("run_demo",),
    "methods": ("METHODS",),
    "studio": ("serve_studio",),
    "calibrate": ("calibrate",),
    "decide": ("decide_candidates",),
    "start": ("start_session",),
    "annotate": ("Session",),
    "judge": ("judge_triples",),
    "export": ("export_session",),
    "import": ("import_judgements",),
    "report": ("write_report",),
    "audit": ("audit_accepted", "start_audit"),
    "candidates": ("propose_candidates",),
    "evidence": ("add_evidence",),
    "constraints": ("find_constraints",),
    "complete": ("complete_graph",),
    "check": ("check_graph",),
    "convert": ("convert_graph",),
    "publish": ("publish_facts",),
    "withdraw": ("withdraw_facts",),
    "bench": ("run_experiment",),
    "paper": ("run_paper",),
}
"""Each command of the command line, and what does the same in Python."""


def describe_command(name: str, command: click.Command) -> str:
    """Return a command's help as a block of text."""
    settings = {"max_content_width": 100, "help_option_names": ["-h", "--help"]}  # as the group passes them on
    context = click.Context(command, info_name=f"actc {name}", **settings)
    return f"### `actc {name}`\n\n```text\n{command.get_help(context)}\n```\n"


def _twins() -> str:
    rows = [f"| `actc {name}` | {', '.join(f'`actc.{twin}`' for twin in twins)} |" for name, twins in TWINS.items()]
    return "| command | in Python |\n| --- | --- |\n" + "\n".join(rows) + "\n"


def describe_choices(title: str, choices: dict[str, Any]) -> str:
    """Return a table of named functions, each with a sentence."""
    rows = [f"| `{name}` | {_sentence(choice)} |" for name, choice in choices.items()]
    return f"### {title}\n\n| name | what it does |\n| --- | --- |\n" + "\n".join(rows) + "\n"


def _sentence(choice: Any) -> str:
    return (
        getattr(choice, "summary", "") or (inspect.getdoc(getattr(choice, "select", choice)) or "").partition("\n")[0]
    )


def describe_options() -> str:
    """Return a table of the options of each kind of method."""
    parts = ["### Options of methods", "Options stand behind a colon: `actc-lr-rndm:n=50,soft=true`."]
    for kind in dict.fromkeys(type(method) for method in METHODS.values()):
        methods = {name: method for name, method in METHODS.items() if type(method) is kind}
        options = explain_options(next(iter(methods.values())))
        rows = "\n".join(f"| `{name}={value}` | {text} |" for name, (value, text) in options.items())
        listed = ", ".join(f"`{name}`" for name in methods)
        parts.append(f"Of {listed}:\n\n| option | meaning |\n| --- | --- |\n{rows}")
    return "\n\n".join(parts) + "\n"


def reference() -> str:
    """Return the whole page."""
    return "\n".join(
        [
            "# Reference",
            "",
            "From the code, when the site is built.",
            "",
            "## Commands",
            "",
            *(describe_command(name, command) for name, command in sorted(commands.commands.items())),
            "## Python",
            "",
            _twins(),
            "## Choices",
            "",
            describe_choices("Methods", METHODS),
            describe_options(),
            describe_choices("Selectors (step 1)", SELECTORS),
            describe_choices("Estimators (step 2)", ESTIMATORS),
            describe_choices("Objectives (step 3)", OBJECTIVES),
            describe_choices("Draws", DRAWS),
            describe_choices("Metrics", METRICS),
            FILES.format(
                selection=", ".join(f"`{one}`" for one in SELECTIONS),
                by=", ".join(f"`{one}`" for one in (*BY, CONSTRAINT)),
            ),
        ]
    )
