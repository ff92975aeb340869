"""What the scenarios share: a command as users give it, tables as they read them, and worlds that are known whole."""

from __future__ import annotations

import csv
import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from actc.cli.main import main

ROOT = Path(__file__).parents[2]
CODEX = ROOT / "benchmarks" / "codex" / "codex-s"
AUTHORS = ROOT / "benchmarks" / "scores" / "codex-s" / "complex-authors"

Fact = tuple[str, str, str]


def actc(*words: object) -> str:
    """Run a command in this process; it must succeed. Return what it printed."""
    printed, errors = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["actc", *map(str, words)]),
        redirect_stdout(printed),
        redirect_stderr(errors),
        pytest.raises(SystemExit) as end,
    ):
        main()
    assert end.value.code == 0, errors.getvalue()
    return printed.getvalue()


def read_rows(path: Path) -> list[dict[str, str]]:
    """Read a table with a header."""
    with path.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines, delimiter="," if path.suffix == ".csv" else "\t"))


def write_rows(path: Path, header: str, rows: list[tuple]) -> Path:
    """Write a table with tabs; the header's words are the columns."""
    lines = ["\t".join(header.split()), *("\t".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def facts_of(path: Path) -> set[Fact]:
    """Return the triples of a table."""
    return {(row["head"], row["relation"], row["tail"]) for row in read_rows(path)}


def precision(accepted: set[Fact], true: set[Fact]) -> float:
    """Return the share of accepted triples that are true."""
    return len(accepted & true) / len(accepted)


def recall(accepted: set[Fact], true: set[Fact]) -> float:
    """Return the share of true triples that are accepted."""
    return len(accepted & true) / len(true)


def read_codex(split: str) -> list[tuple[str, str, str, float, int]]:
    """Read the scores that the authors of ACTC published for CoDEx-S: head, relation, tail, score, label."""
    entities, relations = ((CODEX / f"{kind}.txt").read_text().split() for kind in ("entities", "relations"))
    rows = []
    scores = iter(np.load(AUTHORS / f"{split}.npy").tolist())
    for name, label in ((split, 1), (f"{split}_negatives", 0)):
        for head, relation, tail in np.load(CODEX / f"{name}.npy").T:
            rows.append((entities[head], relations[relation], entities[tail], next(scores), label))
    return rows


def draw_labelled(rows: list[tuple], count: int, seed: int) -> list[tuple]:
    """Draw rows at random, as people would be asked about them: head, relation, tail, label."""
    drawn = np.random.default_rng(seed).choice(len(rows), count, replace=False)
    return [(*rows[place][:3], rows[place][-1]) for place in drawn]


def make_families(seed: int, couples: int, generations: int = 4) -> list[Fact]:
    """Return all facts about families: couples have one to four children, most of whom marry into another family."""
    random = np.random.default_rng(seed)
    pairs = [(f"m0_{k}", f"f0_{k}") for k in range(couples)]
    married, parents, male = list(pairs), {}, {}
    for generation in range(1, generations):
        children = [
            (f"p{generation}_{place}_{k}", pair)
            for place, pair in enumerate(pairs)
            for k in range(random.integers(1, 5))
        ]
        parents |= dict(children)
        male |= {name: bool(random.random() < 0.5) for name, _ in children}
        men = [name for name, _ in children if male[name]]
        women = [name for name, _ in children if not male[name]]
        random.shuffle(women)
        pairs = [pair for pair in zip(men, women, strict=False) if parents[pair[0]] != parents[pair[1]]]
        married += pairs
    male |= {name: True for name, _ in married} | {name: False for _, name in married}
    facts: set[Fact] = set()
    for man, woman in married:
        facts |= {(man, "husband", woman), (woman, "wife", man)}
    for child, pair in parents.items():
        for parent in pair:
            facts.add((parent, "father" if male[parent] else "mother", child))
            facts.add((child, "son" if male[child] else "daughter", parent))
            facts |= {(elder, "grandparent", child) for elder in parents.get(parent, ())}
        facts |= {
            (child, "brother" if male[child] else "sister", other)
            for other, theirs in parents.items()
            if theirs == pair and other != child
        }
    return sorted(facts)


def hide_facts(facts: list[Fact], share: float, seed: int) -> tuple[list[Fact], set[Fact]]:
    """Return the facts that are given, and those that are hidden: a share of them."""
    hidden = np.random.default_rng(seed).random(len(facts)) < share
    given = [fact for fact, out in zip(facts, hidden, strict=True) if not out]
    return given, {fact for fact, out in zip(facts, hidden, strict=True) if out}


def write_graph(path: Path, facts: list[Fact]) -> Path:
    """Write a graph as a table without a header."""
    path.write_text("".join("\t".join(fact) + "\n" for fact in facts), encoding="utf-8")
    return path
