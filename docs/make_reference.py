"""The page of commands, choices and files, from the code: site_pages.py asks for it when the site is built."""

from __future__ import annotations

import inspect
from typing import Any

import click

from actc.bench.plans import DRAWS
from actc.cli.main import commands
from actc.data.metrics import METRICS
from actc.data.triples import SELECTIONS
from actc.decide.case import BY, CONSTRAINT
from actc.methods.choose_thresholds import OBJECTIVES
from actc.methods.estimate_labels import ESTIMATORS
from actc.methods.named import METHODS
from actc.methods.select_triples import SELECTORS

FILES = """## Files

Tables are TSV, CSV or Parquet, by their names; the first three columns are always `head`, `relation` and `tail`.

| file | from | more columns |
| --- | --- | --- |
| answers | `actc export --labels`, `pick_triples` with a `label`, the folders of `demo` and `complete` | `label` (1 or 0), `selection`, `sampling_frame`, `inclusion_probability`, `frame_size` (how many candidates there were to draw from), `who`, `when`; of a session also `score` |
| accepted triples | `actc export --accepted`, `accept_triples`, `actc demo` | `score`, `probability` (where the method has one), `by`; of the demo also `sentence` |
| decided candidates | `actc decide` | `score`, `threshold`, `probability` (likewise), with `--all` `accepted`, `by` |
| completed facts | `actc complete`: `accepted.tsv` | `score`, `probability`, `threshold`, `method`, `date`, `by`, `rule`, `proposed_by`, `reasons` |
| doubtful facts | `actc check`: `doubtful.tsv`, `removed.tsv` | `probability` (of being wrong), `reasons`; of those taken out also `by` |
| held back | `actc export --held`, `actc complete`: `held.tsv` | `score`, `probability`, `constraint`, `why`, `against` (`fact`, `rival` or nothing), `other` |

How a triple was selected travels with its answer, and every command and function that reads answers reads it:

| column | says |
| --- | --- |
| `selection` | how the triple was selected: {selection}; `given` where nobody knows, as in a file without the column |
| `sampling_frame` | the set that it was drawn from: `pool`, `accepted` (what would have been accepted then), `rejected`, `relation`; empty where it was not drawn |
| `inclusion_probability` | the probability that this question was about this triple, above 0 and at most 1; empty where nobody knows. An answer without it is used to fit, not to estimate or to guarantee |
| `who`, `when` | who answered, and when (ISO 8601) |

`by` says who decided: {by}. A person's word counts before judges, judges before the method.

`thresholds.json` has the method and its options, `counts` (`draws`: answers with an inclusion probability), `sources` (where the answers came from,
and `picks`, what was said of them), `promise`, one entry for each relation (`cut`, `own`, `triples`, `annotated`, `accepted`,
`interval`, `curve`), the `default` cut, and `exceptions`: columns `heads`, `relations`, `tails`, `accepted`, `by` and `probability` of the triples
that people or judges spoke of, whatever their score. `actc decide` heeds them.
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
    "audit": ("draw_audit", "audit_accepted", "start_audit"),
    "candidates": ("propose_candidates",),
    "evidence": ("add_evidence",),
    "constraints": ("find_constraints",),
    "complete": ("complete_graph",),
    "check": ("check_graph",),
    "convert": ("convert_graph", "fetch_graph"),
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
    """Return a table of named functions with the first line of their docstrings."""
    rows = [f"| `{name}` | {_first_line(choice)} |" for name, choice in choices.items()]
    return f"### {title}\n\n| name | what it does |\n| --- | --- |\n" + "\n".join(rows) + "\n"


def _first_line(choice: Any) -> str:
    text = getattr(choice, "summary", "") or inspect.getdoc(choice) or ""
    return text.splitlines()[0] if text else ""


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
