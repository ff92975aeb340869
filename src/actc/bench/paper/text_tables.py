"""One table of text, written as Markdown or LaTeX."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class TextTable:
    """A table that is ready to be read.

    Parameters
    ----------
    name : str
        Short name, fit for a file.
    title : str
        One line above the table.
    note : str
        What the numbers are: units, averages, standard errors.
    header : tuple of str
        Names of the columns.
    rows : tuple of tuples of str
        Cells, as many in each row as there are columns. An empty first cell goes on with the row above.
    """

    name: str
    title: str
    note: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def write_markdown(table: TextTable) -> str:
    """Write the table for GitHub and its kin."""
    rule = ["---"] + ["---:"] * (len(table.header) - 1)
    lines = ["| " + " | ".join(row) + " |" for row in (table.header, rule, *table.rows)]
    return "\n".join([f"### {table.title}", "", *lines, "", table.note, ""])


def write_latex(table: TextTable) -> str:
    """Write the table for a paper that loads the package booktabs."""
    lines = [" & ".join(map(_latex, row)) + r" \\" for row in table.rows]
    for at in range(len(table.rows) - 1, 0, -1):
        if table.rows[at][0] and not table.rows[at - 1][0]:
            lines.insert(at, r"\addlinespace")
    return "\n".join(
        [
            r"\begin{table*}",
            r"\centering\small",
            rf"\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}",
            r"\toprule",
            " & ".join(map(_latex, table.header)) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{_latex(table.title)}. {_latex(table.note)}}}",
            rf"\label{{tab:{table.name}}}",
            r"\end{table*}",
            "",
        ]
    )


def _latex(text: str) -> str:
    special = {
        "&": r"\&",
        "%": r"\%",
        "_": r"\_",
        "#": r"\#",
        "±": r"$\pm$",
        "−": r"$-$",
        "–": "--",
        "$": r"\$",
    }
    return "".join(special.get(letter, letter) for letter in text)


WRITERS: dict[str, Callable[[TextTable], str]] = {
    ".md": write_markdown,
    ".tex": write_latex,
}
