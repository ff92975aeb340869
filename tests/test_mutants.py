"""The list of faults that the tests should notice keeps step with the code."""

from __future__ import annotations

from pathlib import Path

from benchmarks.mutations.mutants import all_mutants

ROOT = Path(__file__).parents[1]


def test_every_fault_can_be_made_where_it_says_and_its_tests_are_there():
    mutants = list(all_mutants())
    assert len(mutants) > 100
    for mutant in mutants:
        text = (ROOT / "src" / "actc" / mutant.file).read_text(encoding="utf-8")
        assert text.count(mutant.old) == 1, (mutant.file, mutant.old)
        compile(text.replace(mutant.old, mutant.new), mutant.file, "exec")
        assert all((ROOT / test).exists() for test in mutant.tests), mutant.tests
