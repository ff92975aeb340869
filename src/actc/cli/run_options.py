"""The options of `actc complete` and `actc check`: the fields of the configuration of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field
from typing import Any

import click

from actc.cli.parts import PATH, base_option, look_here, seed_option
from actc.complete.plan import Goal, default_of, flag, options_of

KINDS: dict[str, Any] = {
    "Path | None": PATH,
    "tuple[Path, ...]": PATH,
    "int": int,
    "int | None": int,
    "float": float,
    "float | None": float,
}
"""Types of fields that are no texts, and those of their options."""


class RunCommand(click.Command):
    """A command whose help shows the options that most people need before the others."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write two sections."""
        behind = {one.name for one in options_of("missing") if one.metadata["more"]}
        behind |= {"graphs", "key_from", "user_from"}
        options = [one for one in self.get_params(context) if isinstance(one, click.Option)]
        for title, more in (("Options", False), ("More options", True)):
            shown = [one for one in options if (one.name in behind) is more]
            with formatter.section(title):
                formatter.write_dl([row for one in shown if (row := one.get_help_record(context))])


def run_options(goal: Goal) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options of a run to a command."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for one in reversed(options_of(goal)):
            command = OWN.get(one.name, lambda each=one: _option(each, goal))()(command)
        return click.option("--out", type=PATH, required=True, help="A folder.")(command)

    return add


OWN: dict[str, Callable[[], Callable[..., Any]]] = {"base": lambda: base_option, "seed": seed_option}
"""Options that other commands have too."""


def _option(one: Field[Any], goal: Goal) -> Callable[..., Any]:
    """Return the option that a field is."""
    text, default = one.metadata["help"], default_of(one, goal)
    if isinstance(default, bool):
        name = f"--{one.name}/--no-{one.name}" if default else flag(one)
        return click.option(name, is_flag=True, default=default, help=text)
    return click.option(
        flag(one),
        type=KINDS.get(str(one.type), str),
        default=default,
        multiple=default == (),
        show_default=default not in (None, ()),
        callback=look_here if one.name == "method" else None,
        help=text,
    )
