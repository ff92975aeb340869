"""What every command of the command line shares."""

from __future__ import annotations

import click


def examples(*lines: str) -> str:
    """Format a command's examples for the foot of its help."""
    return "\b\nExample" + ("s" if len(lines) > 1 else "") + ":\n" + "\n".join(f"  {line}" for line in lines)


quiet_option = click.option("--quiet", is_flag=True, help="Print nothing but errors.")
