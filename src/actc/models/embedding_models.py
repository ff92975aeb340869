"""Five knowledge graph embeddings, each one function: a known entity and a relation in, a question out.

Every entity answers a question with a score: the inner product of the two vectors, or minus their distance. Asking for
heads is asking for tails of the reciprocal relation (code + R), which has a vector of its own. A model is a dict of
tensors and nothing else, so that it can be saved and loaded without running code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    Weights = dict[str, Tensor]

FILTERS, KERNEL = 32, 3  # of ConvE, as published


@dataclass(frozen=True)
class Dropouts:
    """Shares of the numbers that training sets to zero, by place."""

    entity: float = 0.0
    relation: float = 0.0
    feature_map: float = 0.0
    projection: float = 0.0


NONE = Dropouts()


@dataclass(frozen=True)
class Embedding:
    """One kind of model.

    Parameters
    ----------
    ask : callable
        (weights, known vectors (B, d), relation vectors (B, e), dropouts, training) to questions (B, d).
    answer : callable
        (questions (B, d), weights) to the scores of all entities (B, E).
    answer_one : callable
        The same of one entity a question: (questions (B, d), weights, entities (B,)) to scores (B,).
    relation_size : callable
        The size e of a relation's vector, from d.
    others : callable
        Shapes of whatever weights it has beside the vectors of entities and relations, from d and E.
    """

    ask: Callable[[Weights, Tensor, Tensor, Dropouts, bool], Tensor]
    answer: Callable[[Tensor, Weights], Tensor]
    answer_one: Callable[[Tensor, Weights, Tensor], Tensor]
    relation_size: Callable[[int], int] = lambda d: d
    others: Callable[[int, int], dict[str, tuple[int, ...]]] = lambda d, entities: {}


def score_all(
    kind: Embedding,
    weights: Weights,
    known: Tensor,
    relations: Tensor,
    dropouts: Dropouts = NONE,
    training: bool = False,
) -> Tensor:
    """Return the score of every entity as the missing end, shape (B, E)."""
    return kind.answer(ask(kind, weights, known, relations, dropouts, training), weights)


def ask(
    kind: Embedding,
    weights: Weights,
    known: Tensor,
    relations: Tensor,
    dropouts: Dropouts = NONE,
    training: bool = False,
) -> Tensor:
    """Return the questions (known, relation, ?), shape (B, d)."""
    from torch.nn.functional import dropout

    entity = dropout(weights["entity"][known], dropouts.entity, training)
    relation = dropout(weights["relation"][relations], dropouts.relation, training)
    return kind.ask(weights, entity, relation, dropouts, training)


def ask_complex(weights: Weights, known: Tensor, relation: Tensor, dropouts: Dropouts, training: bool) -> Tensor:
    """ComplEx: the product of two complex vectors, real halves first (Trouillon et al. 2016)."""
    import torch

    real, imaginary = known.chunk(2, dim=1)
    real_r, imaginary_r = relation.chunk(2, dim=1)
    return torch.cat([real * real_r - imaginary * imaginary_r, real * imaginary_r + imaginary * real_r], dim=1)


def ask_transe(weights: Weights, known: Tensor, relation: Tensor, dropouts: Dropouts, training: bool) -> Tensor:
    """TransE: a step from the known entity (Bordes et al. 2013)."""
    return known + relation


def ask_rescal(weights: Weights, known: Tensor, relation: Tensor, dropouts: Dropouts, training: bool) -> Tensor:
    """RESCAL: a matrix for every relation (Nickel et al. 2011)."""
    import torch

    size = known.shape[1]
    return torch.bmm(known[:, None, :], relation.view(-1, size, size))[:, 0]


def ask_tucker(weights: Weights, known: Tensor, relation: Tensor, dropouts: Dropouts, training: bool) -> Tensor:
    """TuckER: every relation's matrix is a mixture of shared ones (Balažević et al. 2019)."""
    matrices = relation @ weights["core"].flatten(1)
    return ask_rescal(weights, known, matrices, dropouts, training)


def ask_conve(weights: Weights, known: Tensor, relation: Tensor, dropouts: Dropouts, training: bool) -> Tensor:
    """ConvE: a convolution over the two vectors laid out as pictures (Dettmers et al. 2018)."""
    import torch
    from torch.nn import functional

    height, width = picture(known.shape[1])
    stacked = torch.cat([known.view(-1, 1, height, width), relation.view(-1, 1, height, width)], dim=2)
    maps = functional.conv2d(stacked, weights["filters"])
    maps = functional.relu(_normalise(maps, weights, "map", training))
    maps = functional.dropout2d(maps, dropouts.feature_map, training)
    projected = functional.dropout(maps.flatten(1) @ weights["projection"], dropouts.projection, training)
    return functional.relu(_normalise(projected, weights, "projected", training))


def _normalise(values: Tensor, weights: Weights, name: str, training: bool) -> Tensor:
    from torch.nn.functional import batch_norm

    mean, variance, scale, shift = (weights[f"{name}_{part}"] for part in ("mean", "variance", "scale", "shift"))
    return batch_norm(values, mean, variance, scale, shift, training)


def picture(size: int) -> tuple[int, int]:
    """Return the height and width (half or twice as much) that a vector is laid out in; the size must be 2 n^2."""
    side = round((size / 2) ** 0.5)
    return 2 * side, size // (2 * side)


def _conve_shapes(size: int, entities: int) -> dict[str, tuple[int, ...]]:
    height, width = picture(size)
    flat = FILTERS * (2 * height - KERNEL + 1) * (width - KERNEL + 1)
    parts = ("mean", "variance", "scale", "shift")
    norms = {f"{name}_{part}": (count,) for name, count in (("map", FILTERS), ("projected", size)) for part in parts}
    return {"filters": (FILTERS, 1, KERNEL, KERNEL), "projection": (flat, size), "bias": (entities,), **norms}


def answer_by_product(questions: Tensor, weights: Weights) -> Tensor:
    """Score by inner product, plus a number of the entity's own where the model has one."""
    scores = questions @ weights["entity"].T
    return scores + weights["bias"] if "bias" in weights else scores


def answer_one_by_product(questions: Tensor, weights: Weights, entities: Tensor) -> Tensor:
    """Score one entity a question by inner product."""
    scores = (questions * weights["entity"][entities]).sum(1)
    return scores + weights["bias"][entities] if "bias" in weights else scores


def answer_by_distance(questions: Tensor, weights: Weights) -> Tensor:
    """Score by minus the Euclidean distance."""
    entities = weights["entity"]
    # Not torch.cdist, whose backward pass is many times slower.
    squared = (questions**2).sum(1)[:, None] + (entities**2).sum(1) - 2 * questions @ entities.T
    return -squared.clamp_min(1e-6).sqrt()


def answer_one_by_distance(questions: Tensor, weights: Weights, entities: Tensor) -> Tensor:
    """Score one entity a question by minus the distance."""
    return -((questions - weights["entity"][entities]) ** 2).sum(1).clamp_min(1e-6).sqrt()


PRODUCT = (answer_by_product, answer_one_by_product)
DISTANCE = (answer_by_distance, answer_one_by_distance)
EMBEDDINGS = {
    "complex": Embedding(ask_complex, *PRODUCT),
    "conve": Embedding(ask_conve, *PRODUCT, others=_conve_shapes),
    "transe": Embedding(ask_transe, *DISTANCE),
    "rescal": Embedding(ask_rescal, *PRODUCT, relation_size=lambda d: d * d),
    "tucker": Embedding(ask_tucker, *PRODUCT, others=lambda d, entities: {"core": (d, d, d)}),
}
