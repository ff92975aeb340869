"""Options, described once as fields of a frozen configuration: for the command line, for Python, for documentation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, field, fields
from typing import Any, TypeVar

COLUMNS = "Names of the table's columns: head=subj,relation=verb,tail=obj,score=weight (or probability=…),text=note."
"""What the option --columns is, wherever there is one: about one table, the graph or the candidates."""
Function = TypeVar("Function", bound=Callable[..., Any])
Options = Sequence[Field[Any]]


def option(default: Any, text: str, *, check: bool = False, more: bool = False) -> Any:
    """Describe an option; ``check``: ``actc check`` has it too; ``more``: a help text shows it last."""
    return field(default=default, metadata={"help": text, "check": check, "more": more})


def options_of(*configurations: type) -> list[Field[Any]]:
    """Return the fields of configurations that are options."""
    return [one for configuration in configurations for one in fields(configuration) if one.metadata]


def flag(one: Field[Any]) -> str:
    """Return the option of the command line that a field is."""
    return f"--{'no-' * (one.default is True)}{one.name.replace('_', '-')}"


def documented(options: Options, defaults: Mapping[str, Any] | None = None) -> Callable[[Function], Function]:
    """Add options to the docstring of a function that takes them as keywords; ``defaults`` are those that differ."""

    def document(function: Function) -> Function:
        lines = ["", "    Options", "    -------"]
        for one in options:
            default = (defaults or {}).get(one.name, one.default)
            lines += [f"    {one.name} : {one.type}, default {default!r}", f"        {one.metadata['help']}"]
        function.__doc__ = "\n".join([(function.__doc__ or "").rstrip(), *lines, "    "])
        return function

    return document
