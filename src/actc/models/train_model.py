"""Train a knowledge graph embedding on a graph: every entity is asked for, none is sampled."""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from actc.errors import OptionError, choose, needing
from actc.graphs.graph import Graph
from actc.models.embedding_models import EMBEDDINGS, Dropouts, Embedding, score_all
from actc.models.recipes import Recipe
from actc.tables.progress import Progress, ignore_progress

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer

    from actc.models.embedding_models import Weights

COPIES = 4 * 4  # bytes of a number: the weight, its gradient, what the optimizer keeps, the best so far
CHECK_EVERY = 5  # epochs between two looks at the held-out triples
RANKED = 1024  # questions whose answers are ranked at a time
BATCH_NORM = {"mean": 0.0, "variance": 1.0, "scale": 1.0, "shift": 0.0}


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A model and how it came about.

    Parameters
    ----------
    entity_names, relation_names : tuple of str
        Names of its codes.
    facts : dict
        Epochs, seconds, device and the quality on held-out triples, where there were any.
    """

    recipe: Recipe
    weights: Weights
    entity_names: tuple[str, ...]
    relation_names: tuple[str, ...]
    facts: dict[str, object]


@dataclass(frozen=True, eq=False)
class Questions:
    """Questions (known entity, relation, ?) with all their right answers, one behind the other.

    Parameters
    ----------
    known, relations : int tensor of shape (Q,)
        Relations from R on are reciprocal: they ask for heads.
    starts : int tensor of shape (Q + 1,)
        Where each question's answers begin in ``answers``.
    answers : int tensor of shape (A,)
    """

    known: Tensor
    relations: Tensor
    starts: Tensor
    answers: Tensor

    @classmethod
    def of(cls, graph: Graph, device: str, merge: bool) -> Questions:
        """Ask for the tail and for the head of every triple; merge equal questions if wanted."""
        import torch

        count = len(graph.relation_names)
        known = np.concatenate([graph.heads, graph.tails]).astype(np.int64)
        relations = np.concatenate([graph.relations, graph.relations + count]).astype(np.int64)
        answers = np.concatenate([graph.tails, graph.heads]).astype(np.int64)
        starts = np.arange(len(known) + 1)
        if merge:
            order = np.lexsort((answers, relations, known))
            known, relations, answers = known[order], relations[order], answers[order]
            new = np.append(True, (np.diff(known) != 0) | (np.diff(relations) != 0))
            starts = np.append(np.flatnonzero(new), len(known))
            known, relations = known[new], relations[new]
        return cls(*(torch.from_numpy(column).to(device) for column in (known, relations, starts, answers)))

    def __len__(self) -> int:
        return len(self.known)

    def right(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return, for some questions, the position among them and the entity of every right answer."""
        import torch

        counts = self.starts[rows + 1] - self.starts[rows]
        place = torch.arange(len(rows), device=rows.device).repeat_interleave(counts)
        first = (self.starts[rows] - (counts.cumsum(0) - counts)).repeat_interleave(counts)
        return place, self.answers[first + torch.arange(len(first), device=rows.device)]


def train_model(
    graph: Graph,
    recipe: Recipe,
    *,
    held_out: Graph | None = None,
    device: str | None = None,
    seed: int = 0,
    seconds: float = math.inf,
    progress: Progress = ignore_progress,
) -> TrainedModel:
    """Train a model; with held-out triples, lower the rate and stop by them, and keep the best weights.

    Parameters
    ----------
    graph : Graph
        The triples to learn.
    held_out : Graph, optional
        Further true triples with the same vocabularies, none of them the graph's, for the filtered mean reciprocal
        rank.
    device : str, optional
        ``cuda`` or ``cpu``; a GPU where there is one, if not given.
    seconds : float
        Stop when so much time has passed, if need be within an epoch; above 0.
    progress : callable
        Called with the epochs just done and their number.
    """
    torch = import_torch()
    if not len(graph):
        raise OptionError("There is no triple in the graph to learn from.")
    if not seconds > 0:  # which catches nan too
        raise OptionError(f"--seconds: the time to train must be above 0, not {seconds:g}.")
    if held_out is not None:
        _check_held_out(graph, held_out)
    kind, device = find_embedding(recipe.model), find_device(device)
    torch.manual_seed(seed)
    weights = new_weights(kind, recipe, len(graph.entity_names), len(graph.relation_names), device)
    questions = Questions.of(graph, device, merge=recipe.targets == "all")
    course = _Course(recipe, kind, weights, _optimizer(recipe, weights), graph, held_out, device)
    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")  # TF32 where the GPU has it; the ranks do not notice
    started, last = time.perf_counter(), False
    for epoch in range(1, recipe.epochs + 1):
        in_time = _run_epoch(course, questions, started + seconds)
        progress(1, recipe.epochs)
        last = epoch == recipe.epochs or not in_time
        if held_out is not None and (epoch % CHECK_EVERY == 0 or last):
            last = course.is_over(epoch) or last
        if last:
            break
    torch.set_float32_matmul_precision(precision)
    facts = {"epochs": epoch, "seconds": round(time.perf_counter() - started, 1), "device": device, "seed": seed}
    if not in_time:
        facts["out_of_time"] = True
    if held_out is not None:
        weights = course.best
        facts |= {"best_epoch": course.best_epoch, "held_out_mrr": round(course.best_rank, 4)}
    kept = {name: tensor.detach().cpu() for name, tensor in weights.items()}
    return TrainedModel(recipe, kept, graph.entity_names, graph.relation_names, facts)


def _check_held_out(graph: Graph, held_out: Graph) -> None:
    """Refuse held-out triples that say nothing: none at all, or some that the model learns."""
    if not len(held_out):
        raise OptionError("--held-out: there is no triple in it.")
    known = int(graph.contains(held_out).sum())
    if known:
        raise OptionError(
            f"--held-out: {known} of the {len(held_out)} triples are in the graph too; only new ones say how well it "
            "learns."
        )


def import_torch() -> Any:
    """Import torch, or say what to install."""
    with needing("Training a model", "torch", "train"):
        import torch
    return torch


def best_device() -> str:
    """Return ``cuda`` where there is a GPU, else ``cpu``."""
    return "cuda" if import_torch().cuda.is_available() else "cpu"


def find_device(name: str | None) -> str:
    """Return the device to compute on: the one that is named, if it is here, or else the best one.

    Parameters
    ----------
    name : str, optional
        ``cpu``, ``cuda``, ``cuda:1``, or whatever else torch has here.
    """
    if not name:
        return best_device()
    torch = import_torch()
    try:
        torch.zeros(1, device=name).item()
    except Exception:  # of any kind: torch knows many devices by name that it cannot compute on
        raise OptionError(f"--device: {name!r} is no device of this machine; leave it out, or give cpu.") from None
    return str(torch.device(name))


def find_embedding(name: str) -> Embedding:
    """Find a kind of model by its name."""
    return choose("model", name, EMBEDDINGS)


def weight_shapes(kind: Embedding, size: int, entities: int, relations: int) -> dict[str, tuple[int, ...]]:
    """Return the shape of each of a model's weights, by name."""
    vectors = {"entity": (entities, size), "relation": (2 * relations, kind.relation_size(size))}
    return {**vectors, **kind.others(size, entities)}


def new_weights(kind: Embedding, recipe: Recipe, entities: int, relations: int, device: str) -> Weights:
    """Draw the weights to start from."""
    import torch

    shapes = weight_shapes(kind, recipe.dimension, entities, relations)
    numbers = sum(map(math.prod, shapes.values()))
    if COPIES * numbers > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
        raise OptionError(
            f"A model of {numbers:,} numbers has no room in memory; give a recipe with a smaller dimension."
        )
    weights = {}
    for name, shape in shapes.items():
        part = name.rpartition("_")[2]
        if part in BATCH_NORM or name == "bias":
            weights[name] = torch.full(shape, BATCH_NORM.get(part, 0.0))
        else:
            weights[name] = _draw(shape, recipe if name in ("entity", "relation") else None)
        weights[name] = weights[name].to(device).requires_grad_(part not in ("mean", "variance"))
    return weights


def _draw(shape: tuple[int, ...], recipe: Recipe | None) -> Tensor:
    import torch
    from torch.nn import init

    values = torch.empty(shape)
    start, spread = (recipe.start, recipe.spread) if recipe else ("xavier-normal", 1.0)
    if start == "normal":
        return init.normal_(values, std=spread)
    if start == "uniform":
        return init.uniform_(values, -spread, spread)
    return init.xavier_normal_(values) if start == "xavier-normal" else init.xavier_uniform_(values)


def _optimizer(recipe: Recipe, weights: Weights) -> Optimizer:
    import torch

    learned = [tensor for tensor in weights.values() if tensor.requires_grad]
    if recipe.optimizer == "adam":
        return torch.optim.Adam(learned, lr=recipe.rate)
    return torch.optim.Adagrad(learned, lr=recipe.rate)


class _Course:
    """What changes while a model trains: weights, rate, the best so far."""

    def __init__(
        self,
        recipe: Recipe,
        kind: Embedding,
        weights: Weights,
        optimizer: Optimizer,
        graph: Graph,
        held_out: Graph | None,
        device: str,
    ) -> None:
        from torch.optim.lr_scheduler import ReduceLROnPlateau

        self.recipe, self.kind, self.weights, self.optimizer = recipe, kind, weights, optimizer
        self.dropouts = Dropouts(
            recipe.entity_dropout, recipe.relation_dropout, recipe.feature_map_dropout, recipe.projection_dropout
        )
        self.scheduler = ReduceLROnPlateau(optimizer, mode="max", factor=recipe.decay, patience=recipe.patience)
        self.best, self.best_rank, self.best_epoch, self.since = weights, -math.inf, 0, 0
        if held_out is not None:
            self.held_out = Questions.of(held_out, device, merge=False)
            self.filter = Questions.of(graph, device, merge=True)

    def is_over(self, epoch: int) -> bool:
        """Look at the held-out triples; keep the weights if they are the best so far; say whether to stop."""
        rank = mean_reciprocal_rank(self.kind, self.weights, self.held_out, self.filter)
        self.scheduler.step(rank)
        self.since += 1
        if rank > self.best_rank:
            self.best = {name: tensor.detach().clone() for name, tensor in self.weights.items()}
            self.best_rank, self.best_epoch, self.since = rank, epoch, 0
        return self.since >= 10


def _run_epoch(course: _Course, questions: Questions, deadline: float) -> bool:
    """Ask every question once, in random order; say whether that was done before the deadline."""
    import torch

    device = questions.known.device
    for rows in torch.randperm(len(questions), device=device).split(min(course.recipe.batch, len(questions))):
        scores = score_all(
            course.kind,
            course.weights,
            questions.known[rows],
            questions.relations[rows],
            course.dropouts,
            training=True,
        )
        loss = LOSS_OF[course.recipe.loss](scores, *questions.right(rows), course.recipe.smoothing)
        course.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        course.optimizer.step()
        if time.perf_counter() > deadline:
            return False
    return True


def cross_entropy(scores: Tensor, place: Tensor, answers: Tensor, smoothing: float) -> Tensor:
    """Cross-entropy with a target spread evenly over a question's right answers; the mean over questions."""
    import torch

    counts = torch.bincount(place, minlength=len(scores))
    right = torch.zeros(len(scores), device=scores.device).index_add_(0, place, scores[place, answers]) / counts
    target = (1 - smoothing) * right + (smoothing * scores.mean(1) if smoothing else 0)
    return (scores.logsumexp(1) - target).mean()


def binary_cross_entropy(scores: Tensor, place: Tensor, answers: Tensor, smoothing: float) -> Tensor:
    """Cross-entropy of each entity on its own: is it an answer? Summed over entities, the mean over questions."""
    from torch.nn.functional import softplus

    share = smoothing / scores.shape[1]
    right = (1 - smoothing) * scores[place, answers].sum() + (share * scores.sum() if smoothing else 0)
    return (softplus(scores).sum() - right) / len(scores)


def mean_reciprocal_rank(kind: Embedding, weights: Weights, asked: Questions, known: Questions) -> float:
    """Return the mean reciprocal rank of the right answers, known triples left out of the competition."""
    import torch

    # A question's number among the known ones; those that are not there have nothing to leave out.
    codes = known.known * (int(known.relations.max()) + 1) + known.relations
    wanted = asked.known * (int(known.relations.max()) + 1) + asked.relations
    place = torch.searchsorted(codes, wanted).clamp_max(len(codes) - 1)
    total = 0.0
    with torch.no_grad():
        for rows in torch.arange(len(asked), device=wanted.device).split(RANKED):
            scores = score_all(kind, weights, asked.known[rows], asked.relations[rows])
            right = scores.gather(1, asked.answers[rows, None])
            found = codes[place[rows]] == wanted[rows]
            at, entity = known.right(place[rows][found])
            scores[found.nonzero()[:, 0][at], entity] = -math.inf
            total += float((1 / (1 + (scores > right).sum(1))).sum())
    return total / len(asked)


LOSS_OF = {"cross-entropy": cross_entropy, "binary": binary_cross_entropy}
