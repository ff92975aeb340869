"""The scale for size counts what is read, not how it is laid out."""

from __future__ import annotations

import runpy
from pathlib import Path

measure_file = runpy.run_path(str(Path(__file__).parent.parent / "tools" / "size.py"))["measure_file"]


def test_docstrings_comments_and_line_breaks_are_no_tokens(tmp_path):
    short, long = tmp_path / "short.py", tmp_path / "long.py"
    short.write_text("def half(x): return x / 2\n")
    long.write_text('"""A module."""\n\n\ndef half(\n    x\n):\n    """Halve."""\n    # by two\n    return x / 2\n')
    sizes = [measure_file(path) for path in (short, long)]
    assert sizes[0] == {"tokens": 10, "lines": 1, "functions": 1, "classes": 0, "files": 1}
    assert sizes[1] == {**sizes[0], "lines": 9}


def test_a_string_that_is_used_is_a_token(tmp_path):
    path = tmp_path / "one.py"
    path.write_text('class A:\n    """Hold."""\n    name = "a"\n')
    assert measure_file(path)["tokens"] == 6
