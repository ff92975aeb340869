"""Which model is this? A folder of ours or of PyKEEN's: opened as a scorer, and asked what it was not trained on."""

from __future__ import annotations

from pathlib import Path

from actc.errors import FileError
from actc.graphs.graph import Graph
from actc.models import pykeen
from actc.models.keep_out import read_held
from actc.models.saved_model import EmbeddingScorer, is_saved_model, load_model
from actc.models.score_triples import Scorer


def load_scorer(folder: str | Path, *, trust: bool = False, device: str | None = None) -> Scorer:
    """Open the model in a folder.

    Parameters
    ----------
    folder : path
        What ``actc train`` or PyKEEN's pipeline wrote.
    trust : bool
        Whether a pickle in it may be read, which can run any code.
    device : str, optional
        Where to compute; a GPU where there is one, if not given.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise FileError(f"{folder}: there is no such folder; a model is a folder that `actc train` or PyKEEN wrote.")
    if is_saved_model(folder):
        return EmbeddingScorer(load_model(folder), device)
    if pykeen.is_saved_result(folder):
        return pykeen.load_result(folder, trust=trust, device=device)
    raise FileError(f"{folder}: neither `actc train` (model.json) nor PyKEEN (trained_model.pkl) wrote this folder.")


def find_held(model: str | Path, graph: Graph) -> Graph | None:
    """Find facts that a model was not trained on; None where there are fewer than two.

    They are what ``actc train`` kept out; or the graph's facts that are not among PyKEEN's training triples.

    Parameters
    ----------
    model : path
        The model's folder.
    graph : Graph
        The known facts.
    """
    held = read_held(model)
    if held is None and pykeen.is_saved_result(model):
        held = pykeen.find_unseen(model, graph)
    return held if held is not None and len(held) >= 2 else None
