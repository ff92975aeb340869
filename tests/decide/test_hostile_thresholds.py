"""Thresholds and candidates of a stranger: whatever is in the file, it is used or refused in one sentence."""

from __future__ import annotations

import copy
import json
from contextlib import suppress

import pytest

from actc import calibrate, decide_candidates
from actc.errors import ActcError

HOSTILE = ("x", -1, 10**30, None, [], {}, [1], {"a": 1}, True, "nan", "inf", [[]], "\x1b[31m")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Calibrate a small pool with everything that a thresholds file can hold."""
    home = tmp_path_factory.mktemp("hostile")
    rows = [(f"a{at % 40}", f"r{at % 3}", f"b{at}", (at * 37 % 101) / 50 - 1) for at in range(120)]
    lines = ["head\trelation\ttail\tscore", *("\t".join(map(str, row)) for row in rows)]
    (home / "scores.tsv").write_text("\n".join(lines) + "\n")
    labels = ["head\trelation\ttail\tlabel", *("\t".join((*row[:3], str(int(row[3] > 0)))) for row in rows[:30])]
    (home / "labels.tsv").write_text("\n".join(labels) + "\n")
    (home / "rules.tsv").write_text("kind\trelation\tuse\none-tail\tr0\thard\n")
    (home / "facts.tsv").write_text("head\trelation\ttail\na1\tr0\tb7\n")
    calibrate(
        home / "scores.tsv",
        home / "labels.tsv",
        out=home / "thresholds.json",
        constraints=home / "rules.tsv",
        graph=home / "facts.tsv",
    )
    return home


def paths_of(content, path=()):
    """Return the ways to every value; of a list to its first."""
    if path:
        yield path
    inner = content.items() if isinstance(content, dict) else enumerate(content[:1] if type(content) is list else ())
    for key, value in inner:
        yield from paths_of(value, (*path, key))


def test_any_value_in_the_place_of_any_other_is_used_or_refused(home):
    content = json.loads((home / "thresholds.json").read_text())
    thresholds, decided = home / "changed.json", 0
    for at, path in enumerate(paths_of(content)):
        for value in (HOSTILE[at % len(HOSTILE)], HOSTILE[(at + 5) % len(HOSTILE)]):
            changed = copy.deepcopy(content)
            inner = changed
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = value
            thresholds.write_text(json.dumps(changed))
            with suppress(ActcError):
                decide_candidates(thresholds, home / "scores.tsv", home / "out.tsv", overwrite=True)
                decided += 1
    assert decided > 5


@pytest.mark.parametrize("ending", ["tsv", "csv"])
def test_a_table_without_rows_is_refused_and_nothing_is_written(home, tmp_path, ending):
    mark = "\t" if ending == "tsv" else ","
    (tmp_path / f"empty.{ending}").write_text(mark.join(("head", "relation", "tail", "score")) + "\n")
    with pytest.raises(ActcError, match="there is no triple in the file"):
        decide_candidates(home / "thresholds.json", tmp_path / f"empty.{ending}", tmp_path / "out.tsv")
    assert not (tmp_path / "out.tsv").exists()
