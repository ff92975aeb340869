"""ComplEx over entities that have a definition: the model whose scores the packaged sample ships.

ComplEx (Trouillon et al. 2016) with reciprocal relations, all entities as negatives and the cubed-modulus
penalty of Lacroix et al. (2018). An entity's vector is its own plus those of the words in its name and
definition, so that a concept with only two facts still lands near its kin.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int64]


def stems(text: str) -> set[str]:
    """Return the words cut to five letters: a stem, roughly (teach, teacher and teaching become one)."""
    return {word[:5] for word in re.findall(r"[a-z]+", text.lower())}


def words_of(texts: Sequence[str], least: int = 2) -> tuple[Tensor, Tensor, Tensor, int]:
    """Encode the stems of each text that occur in at least ``least`` texts, as EmbeddingBag wants them.

    Returns
    -------
    words : int tensor of shape (W,)
        Codes of stems.
    starts : int tensor of shape (N,)
        Where each text's stems begin.
    weights : float tensor of shape (W,)
        Rare stems weigh more (inverse document frequency); the squares of each text's weights sum to 1.
    size : int
        How many different stems there are.
    """
    bags = [sorted(stems(text)) for text in texts]
    counts = Counter(stem for bag in bags for stem in bag)
    vocabulary = sorted(stem for stem in counts if counts[stem] >= least)
    codes = {stem: code for code, stem in enumerate(vocabulary, start=1)}
    # Stem 0 stands for texts of which nothing is left.
    coded = [[codes[stem] for stem in bag if stem in codes] or [0] for bag in bags]
    lengths = torch.tensor([len(bag) for bag in coded])
    words = torch.tensor([code for bag in coded for code in bag])
    rarity = torch.tensor([1.0] + [math.log(len(texts) / counts[stem]) for stem in vocabulary])[words]
    text = torch.arange(len(texts)).repeat_interleave(lengths)
    norms = torch.zeros(len(texts)).index_add_(0, text, rarity**2).sqrt()
    return words, lengths.cumsum(0) - lengths, rarity / norms[text], len(codes) + 1


class TextComplEx(nn.Module):
    """Score triples by Re <head, relation, conj(tail)>; tail-to-head queries have relations of their own."""

    def __init__(self, texts: Sequence[str], relations: int, rank: int) -> None:
        super().__init__()
        self.stems, self.starts, self.weights, vocabulary = words_of(texts)
        self.own = nn.Embedding(len(texts), 2 * rank)
        self.stem = nn.EmbeddingBag(vocabulary, 2 * rank, mode="sum")
        self.relation = nn.Embedding(2 * relations, 2 * rank)
        for table in (self.own, self.stem, self.relation):
            nn.init.normal_(table.weight, std=0.1)

    def entities(self) -> Tensor:
        """Return the vectors of all entities, real halves first, shape (N, 2 * rank)."""
        return self.own.weight + self.stem(self.stems, self.starts, per_sample_weights=self.weights)

    def answer(self, entities: Tensor, known: Tensor, relations: Tensor) -> tuple[Tensor, Tensor]:
        """Return the score of every entity as the missing end, and the cubed moduli that are penalised."""
        left, middle = entities[known], self.relation(relations)
        real, imaginary = left.chunk(2, dim=1)
        real_r, imaginary_r = middle.chunk(2, dim=1)
        query = torch.cat([real * real_r - imaginary * imaginary_r, real * imaginary_r + imaginary * real_r], dim=1)
        return query @ entities.T, _cubed_moduli(left) + _cubed_moduli(middle)


def _cubed_moduli(vectors: Tensor) -> Tensor:
    real, imaginary = vectors.chunk(2, dim=1)
    return (real**2 + imaginary**2 + 1e-12).pow(1.5).sum(dim=1)


def train(
    triples: IntArray,
    texts: Sequence[str],
    relations: int,
    *,
    seed: int,
    rank: int = 64,
    epochs: int = 8,
    batch: int = 256,
    rate: float = 0.05,
    penalty: float = 0.01,
) -> TextComplEx:
    """Fit the model to known triples, shape (N, 3) of codes: head, relation, tail."""
    torch.manual_seed(seed)
    model = TextComplEx(texts, relations, rank)
    optimiser = torch.optim.Adagrad(model.parameters(), lr=rate)
    heads, kinds, tails = torch.from_numpy(triples).T
    known, asked = torch.cat([heads, tails]), torch.cat([kinds, kinds + relations])
    missing = torch.cat([tails, heads])
    for _ in range(epochs):
        for rows in torch.randperm(len(known)).split(batch):
            entities = model.entities()
            scores, moduli = model.answer(entities, known[rows], asked[rows])
            moduli = moduli + _cubed_moduli(entities[missing[rows]])
            loss = functional.cross_entropy(scores, missing[rows]) + penalty * moduli.mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return model.eval()


@torch.no_grad()
def answers(model: TextComplEx, relations: int, known: IntArray, relation: int, *, tails: bool) -> FloatArray:
    """Score every entity as the tail (or head) that goes with each known head (or tail), shape (K, N)."""
    asked = torch.full((len(known),), relation if tails else relation + relations)
    return model.answer(model.entities(), torch.from_numpy(known), asked)[0].numpy()


@torch.no_grad()
def score(model: TextComplEx, relations: int, triples: IntArray) -> FloatArray:
    """Return a triple's raw score: the mean of those as (head, relation, ?) and as (?, relation, tail)."""
    entities = model.entities()
    heads, kinds, tails = torch.from_numpy(triples).T
    total = torch.zeros(len(triples))
    for known, asked, missing in ((heads, kinds, tails), (tails, kinds + relations, heads)):
        for rows in torch.arange(len(triples)).split(512):
            scores, _ = model.answer(entities, known[rows], asked[rows])
            total[rows] += scores.gather(1, missing[rows, None])[:, 0] / 2
    return total.numpy()
