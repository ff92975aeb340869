"""Make the packaged sample: a small knowledge graph from WordNet, with scored true and false triples.

    python benchmarks/make_sample.py --wordnet /usr/share/wordnet --out src/actc/bench/sample

1. Take WordNet's facts between concepts that everyone knows (``wordnet_sample/facts.py`` says which).
2. Hold out true facts of every relation; train ComplEx on the others (``embedding.py``).
3. Beside the held-out ones put false ones that look right (``falsehoods.py``).
4. Score everything, and write the files that :func:`actc.bench.sample.load_sample` reads.

Needs PyTorch (``pip install torch==2.13.0 numpy``) and WordNet 3.0 (Debian's ``wordnet-base``).
All is seeded and runs on one thread, so a second run on the same machine writes the same bytes.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from wordnet_sample.embedding import IntArray, TextComplEx, answers, score, train
from wordnet_sample.facts import RELATIONS, Triple, choose_facts, hold_out
from wordnet_sample.falsehoods import Propose, Silence, propose_false
from wordnet_sample.read_wordnet import Concept, read_wordnet

SEED = 2023


@dataclass(frozen=True)
class Codes:
    """Names to numbers and back, for the model."""

    entities: tuple[str, ...]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, facts: Sequence[Triple], wordnet: dict[str, Concept]) -> Codes:
        """Number the concepts of the facts in the order of their names."""
        entities = tuple(sorted({end for head, _, tail in facts for end in (head, tail)}))
        return cls(entities, tuple(f"{wordnet[name].name} {wordnet[name].definition}" for name in entities))

    def encode(self, triples: Sequence[Triple]) -> IntArray:
        """Return the codes of triples, shape (N, 3)."""
        entity = {name: code for code, name in enumerate(self.entities)}
        relation = {each.id: code for code, each in enumerate(RELATIONS)}
        return np.array([(entity[head], relation[name], entity[tail]) for head, name, tail in triples])


def proposer(model: TextComplEx, codes: Codes) -> Propose:
    """Return a function that orders the plausible ends of each triple, best first."""

    def propose(triples: Sequence[Triple], end: int, plausible: Sequence[str]) -> IntArray:
        known = codes.encode(triples)
        columns = np.searchsorted(codes.entities, plausible)
        scores = answers(model, len(RELATIONS), known[:, 2 - end], int(known[0, 1]), tails=end == 2)
        return np.argsort(-scores[:, columns], axis=1, kind="stable")

    return propose


def make_sample(folder: Path, out: Path) -> None:
    """Do all four steps."""
    wordnet = read_wordnet(folder)
    random = np.random.default_rng(SEED)
    facts = choose_facts(wordnet)
    known, *held = hold_out(facts, wordnet, random)
    codes = Codes.of(facts, wordnet)
    print(f"{len(facts):,} facts, {len(codes.entities):,} concepts; training on {len(known):,} facts")
    # As in CoDEx, the model that proposes false triples is not the one that scores them: one that met only its
    # own favourites would rank them above the truth.
    small = train(codes.encode(known), codes.texts, len(RELATIONS), seed=SEED, rank=24)
    model = train(codes.encode(known), codes.texts, len(RELATIONS), seed=SEED + 1, rank=64)
    silence, propose = Silence(wordnet), proposer(small, codes)
    valid, test = (propose_false(true, facts, propose, silence, random) for true in held)
    test = sorted(set(test) - set(valid))

    out.mkdir(parents=True, exist_ok=True)
    write_labelled(out / "valid.tsv.gz", held[0], valid, model, codes)
    write_labelled(out / "test.tsv.gz", held[1], test, model, codes)
    known.sort(key=by_relation)
    scored = [(*triple, value) for triple, value in zip(known, scores_of(known, model, codes), strict=True)]
    write_table(out / "train.tsv.gz", ("head", "relation", "tail", "score"), scored)
    concepts = [(name, wordnet[name].name, wordnet[name].definition) for name in codes.entities]
    write_table(out / "entities.tsv.gz", ("id", "name", "description"), concepts)
    texts = [(each.id, each.name, each.sentence, each.description) for each in RELATIONS]
    write_table(out / "relations.tsv", ("id", "name", "sentence", "description"), texts)
    (out / "LICENSE-wordnet").write_text(read_licence(folder), encoding="utf-8")


def write_labelled(
    path: Path, true: Sequence[Triple], false: Sequence[Triple], model: TextComplEx, codes: Codes
) -> None:
    """Write true and false triples, mixed, with their scores and labels."""
    label = {**dict.fromkeys(true, "1"), **dict.fromkeys(false, "0")}
    triples = sorted(label, key=by_relation)
    values = scores_of(triples, model, codes)
    rows = [(*triple, value, label[triple]) for triple, value in zip(triples, values, strict=True)]
    write_table(path, ("head", "relation", "tail", "score", "label"), rows)


def scores_of(triples: Sequence[Triple], model: TextComplEx, codes: Codes) -> list[str]:
    """Return the raw scores as they are written: four digits are as much as a judgement needs."""
    return [f"{value:.4g}" for value in score(model, len(RELATIONS), codes.encode(triples))]


def by_relation(row: Sequence[str]) -> tuple[str, str, str]:
    """Order rows by relation, then head and tail: true and false ones mixed, and it packs well."""
    return row[1], row[0], row[2]


def read_licence(folder: Path) -> str:
    """Return the notice at the top of WordNet's files, which must go wherever its contents go."""
    lines = (folder / "data.noun").read_text(encoding="utf-8").splitlines()
    notice = [line for line in lines if line.startswith("  ")]
    return "\n".join(re.sub(r"^ +\d+ ?", "", line).rstrip() for line in notice).rstrip() + "\n"


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write tab-separated rows, packed where the name ends in .gz; the same rows always give the same bytes."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE, quotechar=None)
    writer.writerow(header)
    writer.writerows(rows)
    data = text.getvalue().encode()
    path.write_bytes(gzip.compress(data, compresslevel=9, mtime=0) if path.suffix == ".gz" else data)


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wordnet", type=Path, default=Path("/usr/share/wordnet"), help="folder with data.noun")
    parser.add_argument("--out", type=Path, default=Path("src/actc/bench/sample"), help="folder to write to")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    make_sample(arguments.wordnet, arguments.out)


if __name__ == "__main__":
    main()
