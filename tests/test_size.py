"""The scale for size counts what is read, not how it is laid out."""

from __future__ import annotations

import runpy
from pathlib import Path

TOOL = runpy.run_path(str(Path(__file__).parent.parent / "tools" / "size.py"))
measure_file = TOOL["measure_file"]


def test_docstrings_comments_and_line_breaks_are_no_tokens(tmp_path):
    short, long = tmp_path / "short.py", tmp_path / "long.py"
    short.write_text("def half(x): return x / 2\n")
    long.write_text('"""A module."""\n\n\ndef half(\n    x\n):\n    """Halve."""\n    # by two\n    return x / 2\n')
    sizes = [measure_file(path) for path in (short, long)]
    assert sizes[0] == {"tokens": 10, "lines": 1, "functions": 1, "classes": 0, "files": 1}
    assert sizes[1] == {**sizes[0], "lines": 9}
    long.write_text('class A:\n    """Hold."""\n    name = "a"\n')
    assert measure_file(long)["tokens"] == 6


def test_long_and_wide_functions_and_class_names_used_twice_are_named(tmp_path):
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    lines = "    x = 1\n" * 59
    one.write_text(
        f'class A: pass\ndef short():\n    """Do.\n\n    More.\n    """\n{lines}def long():\n{lines}    y = 2\n'
    )
    two.write_text("class A: pass\nclass B:\n    def wide(self, a, b, c, d, *e, f, g, h, **i): pass\n")
    long, wide, twice = TOOL["find_faults"]([one, two]).values()
    assert long == ["one.py:66 long: 61"]
    assert wide == ["two.py:3 wide: 9"]
    assert twice == ["A: one.py, two.py"]
