"""Which facts of WordNet the sample is made of, in what words people read them, and which are held out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wordnet_sample.read_wordnet import Concept, Pointer, everydayness

Triple = tuple[str, str, str]

EVERYDAY = 3.0  # the least everydayness of a concept; gives a few thousand
MOST_SENSES = 4  # later senses of a word surprise people
THINGS = "animal artifact body food group location object person plant substance"
DOINGS = "act communication event phenomenon process"
IDEAS = "attribute cognition feeling possession quantity relation shape state time"
# Words that nobody should be asked to judge over breakfast.
UNWELCOME = re.compile(
    r"offensive|derogat|disparag|slur|vulgar|obscen|sexual|genital|prostitut|penis|vagina|testi[sc]|homosexual|"
    r"intercourse|excre|feces|torture|rape\b|nazi|negro|erotic|incest|copulat|masturbat|slave|stupid|idiot|"
    r"terroris|suicid|hitler|gestapo|holocaust|whore|bastard|bitch",
    re.IGNORECASE,
)
TAXON = re.compile(r"\b(genus|genera|family|order|class|phylum|suborder|subfamily|superfamily|division) of\b|\bgenus\b")


@dataclass(frozen=True)
class Relation:
    """One kind of fact: how WordNet marks it, how people read it, how it is offered in the sample.

    ``heads`` and ``tails`` are WordNet's domains ("verb" and "adjective" are one each). ``words`` marks facts
    between two words, not two meanings: only those between the words we show are taken. ``share`` is the share
    of true triples among the candidates and ``most`` the most candidates a split may have: real candidate
    lists differ in both, and a calibrator has to cope. ``asked`` limits the heads of candidates to domains
    where people agree.
    """

    id: str
    name: str
    sentence: str
    description: str
    symbol: str
    heads: str
    tails: str
    share: float
    most: int
    words: bool = False
    asked: str = ""


RELATIONS = (
    Relation(
        id="kind_of",
        name="kind of",
        sentence="{head} is a kind of {tail}",
        description="Whatever is the first is also the second. (WordNet: hypernym of nouns)",
        symbol="@",
        heads=f"{THINGS} {DOINGS} {IDEAS}",
        tails=f"{THINGS} {DOINGS} {IDEAS} Tops",
        share=0.25,
        most=400,
        asked="animal artifact body food location object plant substance",
    ),
    Relation(
        id="way_to",
        name="way to",
        sentence="to {head} is a way to {tail}",
        description="Whoever does the first, does the second in some manner. (WordNet: hypernym of verbs)",
        symbol="@",
        heads="verb",
        tails="verb",
        share=0.3,
        most=200,
    ),
    Relation(
        id="instance_of",
        name="instance of",
        sentence="{head} is one example of: {tail}",
        description="The one place or thing of this name is of this kind. (WordNet: instance hypernym)",
        symbol="@i",
        heads="location object artifact group time communication event act",
        tails=f"{THINGS} {DOINGS} time",
        share=0.8,
        most=240,
    ),
    Relation(
        id="located_in",
        name="located in",
        sentence="{head} is in {tail}, or a part of it",
        description="The first place lies in the second, wholly or partly. (WordNet: part holonym of places)",
        symbol="#p",
        heads="location object",
        tails="location object",
        share=0.85,
        most=260,
    ),
    Relation(
        id="part_of",
        name="part of",
        sentence="{head} is a part of {tail}",
        description="The second thing has the first as a part. (WordNet: part holonym of things)",
        symbol="#p",
        heads="artifact body animal plant",
        tails="artifact body animal plant person",
        share=0.15,
        most=320,
    ),
    Relation(
        id="member_of",
        name="member of",
        sentence="{head} is a member of {tail}",
        description="The second is a group or country that the first belongs to. (WordNet: member holonym)",
        symbol="#m",
        heads="person location group artifact communication object animal plant",
        tails="group location object communication person cognition act",
        share=0.55,
        most=150,
    ),
    Relation(
        id="substance_of",
        name="substance of",
        sentence="{head} is in {tail}, as a material or an ingredient",
        description="The second is made of the first, or contains it. (WordNet: substance holonym)",
        symbol="#s",
        heads="substance food plant artifact body",
        tails="substance food plant artifact body object",
        share=0.4,
        most=120,
    ),
    Relation(
        id="topic",
        name="term of",
        sentence="{head} is a term of {tail}",
        description="The first, in this sense, is spoken of in this field. (WordNet: domain, topic)",
        symbol=";c",
        heads=f"{THINGS} {DOINGS} {IDEAS} verb adjective",
        tails="act cognition communication artifact group state",
        share=0.75,
        most=260,
    ),
    Relation(
        id="doer_of",
        name="one who does",
        sentence="{head} is the word for one who does this: to {tail}",
        description="The person's name is made from the verb, or the verb from it. (WordNet: derivation)",
        symbol="+",
        heads="person",
        tails="verb",
        share=0.25,
        most=220,
        words=True,
    ),
    Relation(
        id="act_of",
        name="act of",
        sentence="{head} is the word for doing this: to {tail}",
        description="The act's name is made from the verb, or the verb from it. (WordNet: derivation)",
        symbol="+",
        heads="act event process",
        tails="verb",
        share=0.7,
        most=300,
        words=True,
    ),
    Relation(
        id="quality_of",
        name="quality of being",
        sentence="{head} is the word for being {tail}",
        description="The noun is made from the adjective, or the adjective from it. (WordNet: derivation)",
        symbol="+",
        heads="attribute state feeling",
        tails="adjective",
        share=0.8,
        most=220,
        words=True,
    ),
    Relation(
        id="attribute",
        name="described by",
        sentence="of something's {head} one can say: {tail}",
        description="The adjective is a value of the property. (WordNet: attribute)",
        symbol="=",
        heads="attribute state cognition feeling relation time",
        tails="adjective",
        share=0.2,
        most=260,
    ),
    Relation(
        id="opposite_of",
        name="opposite of",
        sentence="{head} is the opposite of {tail}",
        description="The two words mean opposite things. (WordNet: antonym)",
        symbol="!",
        heads=f"{THINGS} {DOINGS} {IDEAS} adjective verb",
        tails=f"{THINGS} {DOINGS} {IDEAS} adjective verb",
        share=0.15,
        most=300,
        words=True,
    ),
)
BY_ID = {relation.id: relation for relation in RELATIONS}


def choose_facts(wordnet: dict[str, Concept]) -> list[Triple]:
    """Return the facts of ``RELATIONS`` between concepts that people know, each concept in two or more.

    Two concepts that WordNet joins twice keep one of the facts: the other would give it away.
    """
    common = everydayness(wordnet)
    known = {concept.id for concept in wordnet.values() if common[concept.id] >= EVERYDAY and _is_askable(concept)}
    facts = {
        (concept.id, relation.id, pointer.target)
        for concept in map(wordnet.__getitem__, known)
        for relation in RELATIONS
        for pointer in concept.pointers
        if pointer.target in known and _says(relation, concept, pointer, wordnet[pointer.target])
    }
    facts = set({frozenset(fact[::2]): fact for fact in sorted(facts)}.values())
    while True:
        degree = Counter(end for head, _, tail in facts for end in (head, tail))
        kept = {fact for fact in facts if degree[fact[0]] > 1 and degree[fact[2]] > 1}
        if kept == facts:
            return sorted(facts)
        facts = kept


def _is_askable(concept: Concept) -> bool:
    text = f"{concept.name}: {concept.definition}"
    return concept.sense <= MOST_SENSES and not UNWELCOME.search(text) and not TAXON.search(text)


def _says(relation: Relation, head: Concept, pointer: Pointer, tail: Concept) -> bool:
    return (
        pointer.symbol == relation.symbol
        and domain_of(head) in relation.heads.split()
        and domain_of(tail) in relation.tails.split()
        and (pointer.words == "0101" or not relation.words)
        # "the yew contains yew" is true and cannot be asked; "the cook is one who cooks" can.
        and (head.name.lower() != tail.name.lower() or domain_of(tail) == "verb" != domain_of(head))
        # Opposites point at each other: one direction, or the other would give it away.
        and (relation.symbol != "!" or head.id < tail.id)
    )


def domain_of(concept: Concept) -> str:
    part, _, domain = concept.domain.partition(".")
    return {"verb": "verb", "adj": "adjective"}.get(part, domain)


def hold_out(
    facts: Sequence[Triple], wordnet: dict[str, Concept], random: np.random.Generator
) -> tuple[list[Triple], list[Triple], list[Triple]]:
    """Split into train, valid and test facts; an end of a held-out fact keeps at least one fact in train."""
    degree = Counter(end for head, _, tail in facts for end in (head, tail))
    wanted = {relation.id: 2 * round(relation.share * relation.most) for relation in RELATIONS}
    available = Counter(relation for _, relation, _ in facts)
    left = {name: min(count, 2 * int(0.2 * available[name])) for name, count in wanted.items()}
    held = []
    for row in random.permutation(len(facts)):
        head, relation, tail = fact = facts[row]
        if left[relation] and degree[head] > 1 and degree[tail] > 1 and is_asked(fact, wordnet):
            held.append(fact)
            left[relation] -= 1
            degree.subtract((head, tail))
    held.sort(key=lambda fact: fact[1])  # stable: halves of the same relation, each in random order
    return sorted(set(facts) - set(held)), held[::2], held[1::2]


def is_asked(fact: Triple, wordnet: dict[str, Concept]) -> bool:
    asked = BY_ID[fact[1]].asked
    return not asked or domain_of(wordnet[fact[0]]) in asked.split()
