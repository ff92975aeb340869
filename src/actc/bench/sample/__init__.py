"""The packaged sample: facts about everyday things, from WordNet, that anyone can judge.

Two lists of candidates (``valid``, the pool, and ``test``), each with the raw scores of a knowledge graph
embedding and with labels that play the person; the known triples it was trained on; words for everything.
``benchmarks/make_sample.py`` made the files. WordNet's licence lies beside them.
"""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass, field
from importlib.resources import files

import numpy as np

from actc.data.triples import BoolArray, ScoredTriples


@dataclass(frozen=True, eq=False)
class Sample:
    """A small knowledge graph with candidates, their labels, and words for people."""

    # valid, test: candidates, true and false ones mixed; no triple is in both
    valid: ScoredTriples
    # valid_labels, test_labels: shape (N,); true where the candidate is a fact of WordNet
    valid_labels: BoolArray = field(repr=False)
    test: ScoredTriples
    test_labels: BoolArray = field(repr=False)
    known: ScoredTriples  # the triples the scoring model was trained on
    # names, descriptions: the name and the definition of every entity, by id
    names: dict[str, str] = field(repr=False)
    descriptions: dict[str, str] = field(repr=False)
    # the words of every relation, by id: a ``name``, a ``sentence`` with the places ``{head}`` and ``{tail}``, and a
    # ``description`` of what makes it true
    relations: dict[str, dict[str, str]] = field(repr=False)

    def sentence(self, head: str, relation: str, tail: str) -> str:
        """Return a triple of ids as a sentence."""
        return self.relations[relation]["sentence"].format(head=self.names[head], tail=self.names[tail])


def load_sample() -> Sample:
    """Read the packaged sample, a few milliseconds' work."""
    valid, test, known = (_read_columns(f"{part}.tsv.gz") for part in ("valid", "test", "train"))
    entities, relations = _read_columns("entities.tsv.gz"), _read_columns("relations.tsv")
    texts = [dict(zip(relations, row, strict=True)) for row in zip(*relations.values(), strict=True)]
    return Sample(
        valid=_scored(valid),
        valid_labels=np.array(valid["label"]) == "1",
        test=_scored(test),
        test_labels=np.array(test["label"]) == "1",
        known=_scored(known),
        names=dict(zip(entities["id"], entities["name"], strict=True)),
        descriptions=dict(zip(entities["id"], entities["description"], strict=True)),
        relations={text["id"]: text for text in texts},
    )


def _read_columns(name: str) -> dict[str, tuple[str, ...]]:
    data = (files(__name__) / name).read_bytes()
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode()
    header, *rows = csv.reader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return dict(zip(header, zip(*rows, strict=True), strict=True))


def _scored(columns: dict[str, tuple[str, ...]]) -> ScoredTriples:
    return ScoredTriples.from_columns(
        columns["head"], columns["relation"], columns["tail"], [float(score) for score in columns["score"]]
    )
