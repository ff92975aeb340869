"""Models that ``actc train`` made: a folder with the weights, the names and how they came about."""

from __future__ import annotations

import json
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

import numpy as np

from actc.embedding_models import ask, score_all
from actc.errors import FileError
from actc.recipes import Recipe, describe
from actc.train_model import TrainedModel, best_device, find_embedding, import_torch
from actc.triples import FloatArray, IntArray

if TYPE_CHECKING:
    from torch import Tensor

FORMAT, FORMAT_VERSION = "actc-model", 1
BATCH = 512


class EmbeddingScorer:
    """Scores of a trained model, batch by batch, on a GPU where there is one.

    A triple's score is the mean of those as (head, relation, ?) and as (?, relation, tail).
    """

    def __init__(self, model: TrainedModel, device: str | None = None) -> None:
        self.device = device or best_device()
        self.kind = find_embedding(model.recipe.model)
        self.weights = {name: tensor.to(self.device) for name, tensor in model.weights.items()}
        self.entity_names, self.relation_names = model.entity_names, model.relation_names

    def score(self, heads: IntArray, relations: IntArray, tails: IntArray) -> FloatArray:
        """Return the score of each triple of codes, shape (N,)."""
        torch = import_torch()
        count = len(self.relation_names)
        scores = np.empty(len(heads))
        with torch.no_grad():
            for start in range(0, len(heads), BATCH):
                rows = slice(start, start + BATCH)
                head, relation, tail = (self._codes(column[rows]) for column in (heads, relations, tails))
                both = self._one_by_one(head, relation, tail) + self._one_by_one(tail, relation + count, head)
                scores[rows] = (both / 2).double().cpu().numpy()
        return scores

    def answers(self, known: IntArray, relations: IntArray, *, heads: bool) -> FloatArray:
        """Return the score of every entity as the tail (or the head) of each question, shape (Q, E)."""
        torch = import_torch()
        asked = relations + len(self.relation_names) if heads else relations
        with torch.no_grad():
            scores = score_all(self.kind, self.weights, self._codes(known), self._codes(asked))
        return np.asarray(scores.cpu().numpy())

    def _one_by_one(self, known: Tensor, relations: Tensor, missing: Tensor) -> Tensor:
        questions = ask(self.kind, self.weights, known, relations)
        # Every question has its own answer only: a product of rows, not of matrices.
        return self.kind.answer_one(questions, self.weights, missing)

    def _codes(self, codes: IntArray) -> Tensor:
        torch = import_torch()
        codes_on_device: Tensor = torch.from_numpy(np.ascontiguousarray(codes, dtype=np.int64)).to(self.device)
        return codes_on_device


def save_model(model: TrainedModel, folder: str | Path) -> None:
    """Write model.json, names.json and weights.pt into a folder; the weights are plain tensors, no code."""
    torch = import_torch()
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    names = {"entities": model.entity_names, "relations": model.relation_names}
    content = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "recipe": describe(model.recipe),
        "facts": model.facts,
    }
    (folder / "names.json").write_text(json.dumps(names, ensure_ascii=False), encoding="utf-8")
    torch.save(model.weights, folder / "weights.pt")
    # Last, so that a folder with a model.json is complete.
    (folder / "model.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def is_saved_model(folder: str | Path) -> bool:
    """Say whether a folder holds a model that ``actc train`` wrote."""
    try:
        content = json.loads((Path(folder) / "model.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("format") == FORMAT


def load_model(folder: str | Path) -> TrainedModel:
    """Read a model back; nothing in it is executed."""
    torch, folder = import_torch(), Path(folder)
    if not is_saved_model(folder):
        raise FileError(f"{folder}: there is no model that `actc train` wrote (a folder with a model.json).")
    try:
        content: dict[str, Any] = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        names = json.loads((folder / "names.json").read_text(encoding="utf-8"))
        weights = torch.load(folder / "weights.pt", map_location="cpu", weights_only=True)
        recipe = Recipe(**content["recipe"])
        model = TrainedModel(recipe, weights, tuple(names["entities"]), tuple(names["relations"]), content["facts"])
    except (OSError, KeyError, TypeError, RuntimeError, ValueError, EOFError, UnpicklingError) as error:
        raise FileError(f"{folder}: the model is damaged ({type(error).__name__}); train it again.") from None
    if len(weights["entity"]) != len(model.entity_names):
        raise FileError(
            f"{folder}: the weights are of {len(weights['entity'])} entities, the names of {len(model.entity_names)}."
        )
    return model
