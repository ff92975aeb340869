"""Training recipes: small JSON files, named model_dataset as PyKEEN names its experiments.

Those of CoDEx follow the settings that its authors published for triple classification; ``model_small`` is for a CPU.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path

from actc.errors import ChoiceError, FileError, OptionError, check_choice
from actc.tables.files import read_text

LOSSES = ("cross-entropy", "binary")
TARGETS = ("one", "all")
OPTIMIZERS = ("adagrad", "adam")
KINDS = {"str": ((str,), "a text"), "int": ((int,), "a whole number"), "float": ((int, float), "a number")}
STARTS = ("normal", "uniform", "xavier-normal", "xavier-uniform")


@dataclass(frozen=True)
class Recipe:
    """How to train a model.

    Parameters
    ----------
    model : str
        A name in ``EMBEDDINGS``.
    dimension : int
        Length of an entity's vector.
    targets : str
        ``one``: every triple is a question of its own (1vsAll); ``all``: equal questions are one, with all its answers
        (KvsAll).
    loss : str
        ``cross-entropy`` over all entities, or ``binary``: each entity on its own.
    smoothing : float
        The share of the target that is spread over all entities.
    optimizer, rate, batch, epochs
        The descent. The rate is multiplied by ``decay`` whenever ``patience`` checks on held-out triples bring nothing
        new.
    start, spread : str, float
        What the vectors are drawn from: ``normal`` and ``uniform`` with this standard deviation or bound, or Xavier's.
    entity_dropout, relation_dropout, feature_map_dropout, projection_dropout : float
    """

    model: str
    dimension: int = 512
    targets: str = "one"
    loss: str = "cross-entropy"
    smoothing: float = 0.0
    optimizer: str = "adagrad"
    rate: float = 0.05
    batch: int = 1024
    epochs: int = 200
    decay: float = 0.95
    patience: int = 7
    start: str = "xavier-normal"
    spread: float = 1.0
    entity_dropout: float = 0.0
    relation_dropout: float = 0.0
    feature_map_dropout: float = 0.0
    projection_dropout: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            (kind, words), value = KINDS[str(field.type)], getattr(self, field.name)
            if not isinstance(value, kind) or isinstance(value, bool):
                raise OptionError(f"A recipe's {field.name} must be {words}, not {value!r}.")
        for name, choices in (("loss", LOSSES), ("targets", TARGETS), ("optimizer", OPTIMIZERS), ("start", STARTS)):
            check_choice(f"{name} of a recipe", getattr(self, name), choices)
        if min(self.dimension, self.batch, self.epochs, self.patience) < 1 or not self.rate > 0:
            raise OptionError("A recipe's dimension, batch, epochs, patience and rate must be above 0.")
        if not 0 < self.decay < 1:
            raise OptionError(f"A recipe's decay must be between 0 and 1, not {self.decay:g}.")
        for name in ("smoothing", "entity_dropout", "relation_dropout", "feature_map_dropout", "projection_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise OptionError(f"A recipe's {name} must be at least 0 and below 1, not {getattr(self, name):g}.")
        if self.model == "complex" and self.dimension % 2:
            raise OptionError(f"ComplEx needs an even dimension, not {self.dimension}.")
        size = self.dimension
        if self.model == "conve" and (size < 18 or 2 * round((size / 2) ** 0.5) ** 2 != size):
            raise OptionError(f"ConvE needs twice a square as dimension (72, 128, 200, 512), not {self.dimension}.")


def list_recipes() -> list[str]:
    """Name the recipes that come along."""
    return sorted(path.name.removesuffix(".json") for path in files(__name__).iterdir() if path.name.endswith(".json"))


def choose_recipe(model: str, triples: int, device: str) -> str:
    """Name the recipe for a model: the small one on a CPU; on a GPU that of the CoDEx whose size is nearer."""
    models = sorted({name.split("_")[0] for name in list_recipes()})
    check_choice("model", model, models)
    if device == "cpu":
        return f"{model}_small"
    return f"{model}_codex-{'s' if triples < 80_000 else 'm'}"


def load_recipe(name: str) -> Recipe:
    """Read a recipe: the name of one that comes along, or the path of a JSON file."""
    if name in list_recipes():
        return _parse((files(__name__) / f"{name}.json").read_text(encoding="utf-8"), name)
    path = Path(name)
    if path.suffix != ".json":
        raise ChoiceError("recipe", name, list_recipes())
    return _parse(read_text(path), str(path))


def _parse(text: str, name: str) -> Recipe:
    try:
        content = json.loads(text)
    except ValueError as error:
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise FileError(f"{name}{line}: this is no JSON ({error}).") from None
    if not isinstance(content, dict) or "model" not in content:
        raise FileError(f"{name}: a recipe is a JSON object that names at least its model.")
    known = [field.name for field in fields(Recipe)]
    for key in content:
        check_choice("setting of a recipe", key, known)
    return Recipe(**content)
