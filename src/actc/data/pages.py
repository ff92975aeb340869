"""Pages and parts of pages, filled from ``templates/``; what is put into one is escaped, but in Markdown."""

from __future__ import annotations

from functools import cache
from typing import Any


def render(template: str, **values: Any) -> str:
    """Return a template, filled; a value that it needs and does not get is an error."""
    return str(_environment().get_template(template).render(**values))


def read_template(name: str) -> str:
    """Return a template as it stands: the stylesheet, for who serves it as a file."""
    loader = _environment().loader
    return str(loader.get_source(_environment(), name)[0])


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("actc.data"),
        autoescape=lambda name: not str(name).endswith(".md"),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters |= {"percent": "{:.0%}".format, "count": "{:,}".format, "number": "{:.3g}".format}
    return made
