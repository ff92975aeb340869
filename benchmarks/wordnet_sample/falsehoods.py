"""False triples that look right: what a model believes and WordNet neither states nor implies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import islice

import numpy as np

from wordnet_sample.embedding import stems
from wordnet_sample.facts import BY_ID, RELATIONS, Triple, domain_of, is_asked
from wordnet_sample.read_wordnet import Concept

Propose = Callable[[Sequence[Triple], int, Sequence[str]], Iterable[Sequence[int]]]

HARD = 10  # how many of the best false candidates of one true triple may be drawn
VAGUE = 100  # a kind with more kinds below it than this is never called false

# Kinds of place that do not exclude each other, though WordNet gives a place only one or two of them.
SETTLEMENTS = """
    administrative_district.n.01 area.n.01 borough.n.01 capital.n.03 center.n.01 city.n.01 colony.n.01
    district.n.01 geographical_area.n.01 land.n.04 municipality.n.01 national_capital.n.01 port.n.01
    port_of_entry.n.01 provincial_capital.n.01 region.n.01 region.n.03 resort_area.n.01 seat.n.05
    state_capital.n.01 town.n.01 urban_area.n.01 village.n.02
"""
TERRITORIES = """
    administrative_district.n.01 african_country.n.01 asian_country.n.01 colony.n.01 country.n.02 district.n.01
    empire.n.02 european_country.n.01 geographical_area.n.01 island.n.01 kingdom.n.03 land.n.04
    peninsula.n.01 region.n.01 region.n.03 state.n.01 state.n.04 territory.n.02
"""
OVERLAPPING = (frozenset(SETTLEMENTS.split()), frozenset(TERRITORIES.split()))


class Silence:
    """Tell triples that WordNet's silence makes false from those that it states, implies or nearly implies.

    A triple is too close to call when WordNet joins its two concepts by any arrow, or has a fact of the same
    relation between close kin of both: "rim is a part of bicycle wheel" stands too close to "rim is a part of
    wheel". Tails are compared by name: another sense of an implied one cannot be told from it in a sentence.
    """

    def __init__(self, wordnet: dict[str, Concept]) -> None:
        self.wordnet = wordnet
        self.arrows: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        self.senses: dict[str, list[str]] = defaultdict(list)
        for concept in wordnet.values():
            self.senses[concept.name.lower()].append(concept.id)
            for pointer in concept.pointers:
                self.arrows[pointer.symbol][concept.id].add(pointer.target)
        self.implied_names = lru_cache(maxsize=None)(self._implied_names)
        self.is_vague = lru_cache(maxsize=None)(self._is_vague)

    def means_false(self, triple: Triple) -> bool:
        """Say whether WordNet, as far as it goes, lets the triple be called false."""
        head, tail = self.wordnet[triple[0]], self.wordnet[triple[2]]
        relation = BY_ID[triple[1]]
        return not (
            head.name.lower() == tail.name.lower()
            or self._joined(head, tail)
            or self._joined(tail, head)
            or tail.name.lower() in self.implied_names(head.name.lower(), relation.id)
            or (relation.symbol == "!" and head.name.lower() in self.implied_names(tail.name.lower(), relation.id))
            or (relation.symbol == "@" and self.is_vague(tail.id))
            or (relation.words and _share_a_stem(head, tail))
            # WordNet gives the parts of the human body and leaves those of animals to the reader.
            or (relation.symbol == "#p" and (domain_of(head), domain_of(tail)) == ("body", "animal"))
        )

    def _joined(self, first: Concept, second: Concept) -> bool:
        return any(pointer.target == second.id for pointer in first.pointers)

    def _is_vague(self, concept: str) -> bool:
        """Say whether so much is of this kind (device, move) that WordNet cannot have said all of it."""
        return len(self._follow([concept], "~")) > VAGUE

    def _implied_names(self, name: str, relation: str) -> set[str]:
        symbol = BY_ID[relation].symbol
        tails = set().union(*(self._implied_tails(sense, symbol) for sense in self.senses[name]))
        return {self.wordnet[tail].name.lower() for tail in tails}

    def _implied_tails(self, head: str, symbol: str) -> set[str]:
        if symbol in ("@", "@i"):
            return self._kinds(head)
        if symbol.startswith("#"):
            kin = self._kin([head])
            return self._kin(self._follow(kin, "#p", "#m", "#s") - kin)
        if symbol == ";c":  # what belongs to baseball belongs to sport
            return self._kin(self._follow(self._step(self._kin([head]), ";c"), ";c", "#p", steps=2))
        return self._kin(self._step(self._kin([head], steps=1), symbol))

    def _kinds(self, head: str) -> set[str]:
        """Return all that the head is a kind of, and what it may also be."""
        near = self._follow([head], "@", "@i", steps=2) - {head}
        alike = set().union(*(group for group in OVERLAPPING if group & near))
        # Tools, stuffs and doings are of many kinds at once; beasts and plants are not.
        overlap = domain_of(self.wordnet[head]) in ("artifact", "substance", "object", "verb")
        cousins = self._follow(near, "~", steps=1) if overlap else set()
        return self._follow([head], "@", "@i") | alike | cousins | self._follow(near, "$", "&", steps=1)

    def _kin(self, concepts: Iterable[str], steps: int = 2) -> set[str]:
        up = self._follow(concepts, "@", "@i", steps=steps)
        down = self._follow(concepts, "~", "~i", steps=steps)
        return up | down | self._follow(concepts, "&", "$", "^", steps=1)

    def _follow(self, concepts: Iterable[str], *symbols: str, steps: int = 99) -> set[str]:
        found = edge = set(concepts)
        for _ in range(steps):
            edge = self._step(edge, *symbols) - found
            if not edge:
                break
            found = found | edge
        return found

    def _step(self, concepts: Iterable[str], *symbols: str) -> set[str]:
        return {end for symbol in symbols for at in concepts for end in self.arrows[symbol].get(at, ())}


def _share_a_stem(head: Concept, tail: Concept) -> bool:
    """Say whether one word may be taken for a form of the other, or stands in its definition."""
    first, second = stems(head.name), stems(tail.name)
    return bool(first & (second | stems(tail.definition)) or second & stems(head.definition))


def propose_false(
    held: Sequence[Triple],
    facts: Sequence[Triple],
    propose: Propose,
    silence: Silence,
    random: np.random.Generator,
) -> list[Triple]:
    """Return false triples beside the held-out ones, as many as each relation's share of true ones asks for."""
    false: list[Triple] = []
    for relation in RELATIONS:
        true = [triple for triple in held if triple[1] == relation.id]
        wanted = round(len(true) * (1 - relation.share) / relation.share)
        found = set()
        for end in (0, 2):
            plausible = sorted({fact[end] for fact in facts if fact[1] == relation.id})
            for triple, order in zip(true, propose(true, end, plausible), strict=True):
                found.update(_best_false(triple, end, [plausible[place] for place in order], silence))
        choices = sorted(found)
        false.extend(choices[row] for row in random.permutation(len(choices))[:wanted])
    return false


def _best_false(triple: Triple, end: int, ordered: Sequence[str], silence: Silence) -> Iterable[Triple]:
    """Put the best concepts that make the triple false, and are of the same part of speech, at one end of it."""
    part = silence.wordnet[triple[end]].part_of_speech
    swapped = (_replace(triple, end, concept) for concept in ordered if silence.wordnet[concept].part_of_speech == part)
    usable = (new for new in swapped if is_asked(new, silence.wordnet) and silence.means_false(new))
    return islice(usable, HARD)


def _replace(triple: Triple, end: int, concept: str) -> Triple:
    head, relation, tail = triple
    return (concept, relation, tail) if end == 0 else (head, relation, concept)
