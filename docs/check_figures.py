"""Hold the figures in the docs to the rows they come from: ``python docs/check_figures.py``.

figures.sql, beside this file, says which figure stands where. A claim is a comment and the query below it::

    -- docs/trust.md: at most {:.0f} answers
    SELECT ceil(max(answers)) FROM 'benchmarks/real/audit.csv';

Every row of the answer fills the text (Python's format), and the page must say that, line breaks aside. A claim without
a figure holds where everything in the answer is true. A query may stand below several claims; one below none (a view
that others use) is only run. Files are named from the root of the repository.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb

ROOT = Path(__file__).parent.parent
CLAIM = re.compile(r"^-- (\S+\.md): (.+)$", re.MULTILINE)


def wrong_claims(root: Path = ROOT) -> Iterator[str]:
    """Give a sentence for each claim that its rows, or its page, do not bear out."""
    with duckdb.connect(config={"file_search_path": str(root), "threads": 1}) as database:
        for statement in re.split(r";\s*$", (root / "docs" / "figures.sql").read_text("utf-8"), flags=re.MULTILINE):
            if statement.strip():
                try:
                    answer = database.execute(statement).fetchall()
                except duckdb.Error as error:
                    yield f"docs/figures.sql: {' '.join(str(error).split())} ({' '.join(statement.split())[:120]})"
                    continue
                for page, text in CLAIM.findall(statement):
                    yield from (f"{page}: {fault}" for fault in _faults(text, answer, _words(root / page)))


def _faults(text: str, answer: list[tuple[object, ...]], page: str) -> Iterator[str]:
    if not answer:
        yield f"no row says: {text}"
    for row in answer:
        said = " ".join(text.format(*row).split()) if None not in row else text
        if "{" not in text and any(value is not True for value in row):
            yield f"the rows do not say: {text} ({', '.join(map(str, row))})"
        elif said not in page:
            yield f"the page does not say: {said}"


def _words(page: Path) -> str:
    return " ".join(page.read_text("utf-8").split())


if __name__ == "__main__":
    wrong = list(wrong_claims())
    print(*wrong, sep="\n", end="\n" if wrong else "")
    sys.exit(bool(wrong))
