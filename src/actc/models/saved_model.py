"""Models that ``actc train`` made: a folder with the weights, the names and how they came about."""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from actc.errors import FileError
from actc.graphs.graph import Graph
from actc.models.embedding_models import ask, score_all
from actc.models.keep_out import HELD_FILE
from actc.models.recipes import Recipe
from actc.models.train_model import TrainedModel, find_device, find_embedding, import_torch, weight_shapes
from actc.tables.deliver import write_folder
from actc.tables.files import load_json, ordinary, write_triples
from actc.triples import FloatArray, IntArray

if TYPE_CHECKING:
    from torch import Tensor

FORMAT, FORMAT_VERSION = "actc-model", 1
FILES = ("model.json", "names.json", "weights.pt", HELD_FILE)
BATCH = 512


class EmbeddingScorer:
    """Scores of a trained model, batch by batch, on a GPU where there is one.

    A triple's score is the mean of those as (head, relation, ?) and as (?, relation, tail).
    """

    def __init__(self, model: TrainedModel, device: str | None = None) -> None:
        self.device = find_device(device)
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


def save_model(model: TrainedModel, folder: str | Path, held: Graph | None = None) -> None:
    """Write a folder with model.json, names.json and weights.pt; the weights are plain tensors, no code.

    It is complete or absent, and replaces a folder of an earlier model, but none with other files in it. The facts that
    the model was not trained on go into held.tsv.
    """
    torch = import_torch()
    names = {"entities": model.entity_names, "relations": model.relation_names}
    content = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "recipe": asdict(model.recipe),
        "facts": model.facts,
    }
    with write_folder(folder, replaces=FILES) as unfinished:
        (unfinished / "names.json").write_text(json.dumps(names, ensure_ascii=False), encoding="utf-8")
        torch.save(model.weights, unfinished / "weights.pt")
        if held is not None and len(held):
            write_triples(unfinished / HELD_FILE, held.columns())
        (unfinished / "model.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def is_saved_model(folder: str | Path) -> bool:
    """Say whether a folder holds a model that ``actc train`` wrote, be it damaged."""
    try:
        content = load_json(Path(folder) / "model.json")
    except OSError:
        return False
    except (ValueError, RecursionError):
        return True  # cut off, or worse: load_model says so
    return isinstance(content, dict) and content.get("format") == FORMAT


def load_model(folder: str | Path) -> TrainedModel:
    """Read a model back; nothing in it is executed."""
    folder = Path(folder)
    if not is_saved_model(folder):
        raise FileError(f"{folder}: there is no model that `actc train` wrote (a folder with a model.json).")
    recipe, facts = _read_recipe(folder / "model.json")
    entities, relations = _read_names(folder / "names.json")
    weights = read_tensors(folder / "weights.pt")
    shapes = weight_shapes(find_embedding(recipe.model), recipe.dimension, len(entities), len(relations))
    _check_weights(folder / "weights.pt", weights, shapes)
    return TrainedModel(recipe, weights, entities, relations, facts)


def read_tensors(path: Path, *, trust: bool = False) -> Any:
    """Read what ``torch.save`` wrote; unless it is trusted, nothing in it is executed."""
    torch = import_torch()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(ordinary(path), map_location="cpu", weights_only=not trust)
    except Exception as error:  # of any kind, as the bytes may be anything
        raise damaged(path, error) from None


def damaged(path: Path, reason: Exception | str) -> FileError:
    """Say that a model cannot be used because of one of its files, and why."""
    if isinstance(reason, FileNotFoundError):
        reason = "the file is missing"
    elif isinstance(reason, Exception):
        reason = f"it cannot be read: {type(reason).__name__}"
    return FileError(f"{path}: the model is damaged ({reason}); train or save it again.")


def _read_recipe(path: Path) -> tuple[Recipe, dict[str, object]]:
    content = _read_json(path)
    version = content.get("format_version")
    if version != FORMAT_VERSION:
        raise FileError(f"{path}: the model has format version {version}; this actc reads {FORMAT_VERSION}.")
    facts = content.get("facts")
    if not isinstance(facts, dict):
        raise damaged(path, "there are no facts in it")
    try:
        recipe = Recipe(**content["recipe"])
        find_embedding(recipe.model)
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(path, f"the recipe in it is not usable: {error}") from None
    return recipe, facts


def _read_names(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    content = _read_json(path)
    for kind in ("entities", "relations"):
        names = content.get(kind)
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise damaged(path, f"there is no list of {kind} in it")
        if len(set(names)) < len(names):
            raise damaged(path, f"some {kind} have the same name")
    return tuple(content["entities"]), tuple(content["relations"])


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = load_json(path)
    except OSError as error:
        raise damaged(path, error) from None
    except (ValueError, RecursionError):
        raise damaged(path, "it is no JSON") from None
    if not isinstance(content, dict):
        raise damaged(path, "it is no JSON object")
    return content


def _check_weights(path: Path, weights: Any, shapes: dict[str, tuple[int, ...]]) -> None:
    """Refuse weights that are not those of the recipe and the names."""
    torch = import_torch()
    if not isinstance(weights, dict) or weights.keys() != shapes.keys():
        raise damaged(path, f"these are not the weights {', '.join(shapes)}")
    for name, shape in shapes.items():
        tensor = weights[name]
        if not isinstance(tensor, torch.Tensor) or not tensor.is_floating_point():
            raise damaged(path, f"the {name} weights are no numbers")
        if tuple(tensor.shape) != shape:
            raise damaged(
                path, f"the {name} weights have shape {tuple(tensor.shape)}; names and recipe ask for {shape}"
            )
        if not bool(tensor.isfinite().all()):  # every score would be NaN, and nothing would be a candidate
            raise damaged(path, f"the {name} weights are not all finite numbers")
