"""WordNet's files as Python objects: what a concept is called, what it means, what it points to.

Reads the dictionary format of WordNet 3.x (``man 5 wndb``), with nothing but the standard library.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

PARTS_OF_SPEECH = {"noun": "n", "verb": "v", "adj": "a"}

# The lexicographer files by number (man 5 lexnames): WordNet's own coarse domains.
DOMAINS = """
    adj.all adj.pert adv.all noun.Tops noun.act noun.animal noun.artifact noun.attribute noun.body
    noun.cognition noun.communication noun.event noun.feeling noun.food noun.group noun.location
    noun.motive noun.object noun.person noun.phenomenon noun.plant noun.possession noun.process
    noun.quantity noun.relation noun.shape noun.state noun.substance noun.time verb.body verb.change
    verb.cognition verb.communication verb.competition verb.consumption verb.contact verb.creation
    verb.emotion verb.motion verb.perception verb.possession verb.social verb.stative verb.weather
    adj.ppl
"""

_SYNTACTIC_MARKER = re.compile(r"\((a|p|ip)\)$")


@dataclass(frozen=True)
class Pointer:
    """An arrow from one concept to another; ``words`` is 0000 between meanings, else the two words it joins."""

    symbol: str
    target: str
    words: str


@dataclass(frozen=True)
class Concept:
    """One synset: a meaning, the words for it, and where it points."""

    id: str
    name: str
    domain: str
    sense: int
    definition: str
    examples: str
    pointers: tuple[Pointer, ...]

    @property
    def part_of_speech(self) -> str:
        """One of n, v, a."""
        return self.domain[0]


def read_wordnet(folder: Path) -> dict[str, Concept]:
    """Return every noun, verb and adjective of WordNet by its id, such as ``dog.n.01``."""
    rows = {}
    for part, letter in PARTS_OF_SPEECH.items():
        senses = _sense_numbers(folder / f"index.{part}")
        for line in _data_lines(folder / f"data.{part}"):
            offset = line.partition(" ")[0]
            rows[letter + offset] = (line, senses)
    ids = {key: _concept_id(line, key[0], senses) for key, (line, senses) in rows.items()}
    concepts = (_parse(line, ids[key], ids) for key, (line, _) in rows.items())
    return {concept.id: concept for concept in concepts}


def _data_lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as lines:
        # The licence stands at the top of each file, indented.
        yield from (line for line in lines if not line.startswith(" "))


def _sense_numbers(path: Path) -> dict[tuple[str, str], int]:
    """Number the senses of each word, most frequent first: the order of the offsets that end its index line."""
    numbers = {}
    for line in _data_lines(path):
        fields = line.split()
        offsets = fields[-int(fields[2]) :]
        numbers.update({(fields[0], offset): number for number, offset in enumerate(offsets, start=1)})
    return numbers


def _first_word(fields: list[str]) -> str:
    return _SYNTACTIC_MARKER.sub("", fields[4])


def _concept_id(line: str, letter: str, senses: dict[tuple[str, str], int]) -> str:
    fields = line.split(maxsplit=5)
    word = _first_word(fields).lower()
    return f"{word}.{letter}.{senses[word, fields[0]]:02d}"


def _parse(line: str, concept_id: str, ids: dict[str, str]) -> Concept:
    data, _, gloss = line.partition(" | ")
    fields = data.split()
    start = 5 + 2 * int(fields[3], 16)
    stop = start + 4 * int(fields[start - 1])
    definition, _, examples = gloss.strip().partition('; "')
    return Concept(
        id=concept_id,
        name=_first_word(fields).replace("_", " "),
        domain=DOMAINS.split()[int(fields[1])],
        sense=int(concept_id.rpartition(".")[2]),
        definition=definition.strip(" ;"),
        examples=examples,
        pointers=tuple(_pointers(fields[start:stop], ids)),
    )


def _pointers(fields: list[str], ids: dict[str, str]) -> Iterator[Pointer]:
    for symbol, offset, part, words in zip(*[iter(fields)] * 4, strict=True):
        letter = "a" if part == "s" else part  # s: an adjective that is a satellite of another
        if letter + offset in ids:  # adverbs are not read
            yield Pointer(symbol, ids[letter + offset], words)


def everydayness(concepts: dict[str, Concept]) -> dict[str, float]:
    """Say how often WordNet uses a concept's name to explain others, over the number of the sense.

    WordNet's own frequencies are of one small corpus (no ``screwdriver``); its 114,000 definitions and examples are
    plain English and lean on the words that everyone knows.
    """
    counts: Counter[str] = Counter()
    for concept in concepts.values():
        words = re.findall(r"[a-z'-]+", f"{concept.definition} {concept.examples}".lower())
        pairs = {f"{first} {second}" for first, second in pairwise(words)}
        singulars = {word[:-1] for word in words if word.endswith("s") and len(word) > 3}
        counts.update(pairs.union(words, singulars))
    return {concept.id: counts[concept.name.lower()] / concept.sense for concept in concepts.values()}
