"""PyKEEN: scores from a model in memory, a pipeline's result, or a folder that ``save_to_directory`` wrote.

A folder holds the model as a pickle. Reading a pickle can run any code, so that has to be allowed (``trust``); a folder
that also holds ``model_state.pt`` and ``model_config.json``, which :func:`save_weights` writes, needs no trust.
"""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

from actc.errors import ChoiceError, FileError, MissingExtraError, OptionError
from actc.triples import FloatArray, IntArray

PICKLE, TRIPLES = "trained_model.pkl", "training_triples"
STATE, CONFIG = "model_state.pt", "model_config.json"
BATCH = 1024


class PykeenScorer:
    """Scores of a PyKEEN model, batch by batch, on the device the model is on.

    Parameters
    ----------
    model : pykeen.models.Model
    entity_names, relation_names : tuple of str
        Names of the model's codes, in the order of the codes.
    """

    def __init__(self, model: Any, entity_names: tuple[str, ...], relation_names: tuple[str, ...]) -> None:
        relations = model.num_relations // (2 if model.use_inverse_triples else 1)
        if (model.num_entities, relations) != (len(entity_names), len(relation_names)):
            raise FileError(
                f"The model has {model.num_entities} entities and {relations} relations, "
                f"but there are names of {len(entity_names)} and {len(relation_names)}."
            )
        self.model, self.entity_names, self.relation_names = model.eval(), entity_names, relation_names

    def score(self, heads: IntArray, relations: IntArray, tails: IntArray) -> FloatArray:
        """Return the score of each triple of codes, shape (N,)."""
        triples = np.column_stack([heads, relations, tails])
        parts = [self._run(self.model.predict_hrt, triples[start : start + BATCH])[:, 0] for start in _starts(triples)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def answers(self, known: IntArray, relations: IntArray, *, heads: bool) -> FloatArray:
        """Return the score of every entity as the tail (or the head) of each question, shape (Q, E)."""
        if heads:
            return self._run(self.model.predict_h, np.column_stack([relations, known]))
        return self._run(self.model.predict_t, np.column_stack([known, relations]))

    def _run(self, predict: Any, codes: IntArray) -> FloatArray:
        import torch

        with torch.no_grad():
            scores = predict(torch.from_numpy(np.ascontiguousarray(codes)).to(self.model.device))
        return np.asarray(scores.double().cpu().numpy())


def _starts(triples: IntArray) -> range:
    return range(0, len(triples), BATCH)


def from_result(result: Any) -> PykeenScorer:
    """Take a pipeline's result: the model and the names of its training triples."""
    return from_model(result.model, result.training)


def from_model(model: Any, factory: Any) -> PykeenScorer:
    """Take a model and the triples factory that it was trained with, which has the names."""
    if not hasattr(factory, "entity_to_id"):
        raise OptionError("The triples factory has no names (a CoreTriplesFactory); give the one with labels.")
    return PykeenScorer(model, _names(factory.entity_to_id), _names(factory.relation_to_id))


def _names(code_of: dict[str, int]) -> tuple[str, ...]:
    return tuple(sorted(code_of, key=code_of.__getitem__))


def is_saved_result(folder: str | Path) -> bool:
    """Say whether a folder looks like one that PyKEEN's pipeline wrote."""
    return (Path(folder) / TRIPLES).is_dir() and any((Path(folder) / name).is_file() for name in (PICKLE, STATE))


def load_result(folder: str | Path, *, trust: bool = False, device: str | None = None) -> PykeenScorer:
    """Read a folder that PyKEEN's pipeline wrote.

    Parameters
    ----------
    folder : path
    trust : bool
        Whether the pickle in it may be read, which can run any code. Weights (``model_state.pt``) need no trust.
    device : str, optional
        Where to compute; a GPU where there is one, if not given.
    """
    torch, folder = _import_pykeen(), Path(folder)
    if not is_saved_result(folder):
        raise FileError(f"{folder}: there is no PyKEEN result (a folder with {PICKLE} and {TRIPLES}).")
    entities, relations = (_read_names(folder / TRIPLES / f"{kind}_to_id.tsv.gz") for kind in ("entity", "relation"))
    where = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    if (folder / STATE).is_file() and (folder / CONFIG).is_file():
        model = _load_weights(folder)
    elif trust:
        model = torch.load(folder / PICKLE, map_location=where, weights_only=False)
    else:
        raise OptionError(
            f"{folder / PICKLE} is a pickle, and reading a pickle can run any code in it. If you trust its maker, "
            "say so with --trust (in Python: trust=True)."
        )
    return PykeenScorer(model.to(where), entities, relations)


def save_weights(result: Any, folder: str | Path, model: str, model_kwargs: dict[str, Any]) -> None:
    """Write beside a saved result what reads it back without a pickle: weights, and the model's name and options."""
    torch, folder = _import_pykeen(), Path(folder)
    torch.save(result.model.state_dict(), folder / STATE)
    config = {"model": model, "model_kwargs": model_kwargs, "inverse": result.training.create_inverse_triples}
    (folder / CONFIG).write_text(json.dumps(config) + "\n", encoding="utf-8")


def _load_weights(folder: Path) -> Any:
    import torch
    from pykeen.models import model_resolver
    from pykeen.triples import TriplesFactory

    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    if model_resolver.normalize(config["model"]) not in model_resolver.lookup_dict:
        raise ChoiceError("PyKEEN model", config["model"], sorted(model_resolver.lookup_dict))
    factory = TriplesFactory.from_path_binary(folder / TRIPLES)
    factory.create_inverse_triples = config["inverse"]
    model = model_resolver.make(config["model"], config["model_kwargs"], triples_factory=factory)
    model.load_state_dict(torch.load(folder / STATE, map_location="cpu", weights_only=True))
    return model


def _read_names(path: Path) -> tuple[str, ...]:
    if not path.is_file():
        raise FileError(f"{path}: the names are missing; the model was trained on numbers, not names.")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        _, *rows = csv.reader(lines, delimiter="\t")
    return tuple(label for _, label in rows)


def _import_pykeen() -> Any:
    try:
        import pykeen.models  # noqa: F401
        import torch
    except ImportError:
        raise MissingExtraError("Reading PyKEEN models", "pykeen", "pykeen") from None
    return torch
