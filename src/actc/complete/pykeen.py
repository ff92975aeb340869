"""PyKEEN: scores from a model in memory, a pipeline's result, or a folder that ``save_to_directory`` wrote.

A folder holds the model as a pickle. Reading a pickle can run any code, so that has to be allowed (``trust``); a folder
that :func:`save_weights` wrote (``model_state.pt`` and ``model_config.json``) needs no trust where the model is a plain
one (``PLAIN``) with plain options: no pickle in it is read, and nothing that its file names is fetched.
"""

from __future__ import annotations

import csv
import json
import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from actc.complete.search import CandidateSearch, PykeenScorer, collect_candidates
from actc.complete.search import score_triples as score_graph
from actc.data.deliver import write_beside
from actc.data.text_files import load_json, open_text, ordinary, write_text
from actc.data.triples import IntArray, ScoredTriples, Triples, Vocabulary
from actc.errors import ActcError, ChoiceError, FileError, OptionError, needing
from actc.graph.formats import as_graph
from actc.graph.graph import Graph

PICKLE, TRIPLES = "trained_model.pkl", "training_triples"
STATE, CONFIG = "model_state.pt", "model_config.json"
# Models that are made of embeddings and arithmetic alone. Others take parts by name (NodePiece's tokenizers can fetch
# and unpickle what an address names), and PyKEEN makes whatever the file asks for.
PLAIN_NAMES = (
    "autosf boxe complex conve convkb cp crosse distma distmult ermlp ermlpe hole kg2e mure ntn pairre proje quate "
    "rescal rotate se simple toruse transd transe transf transh transr tucker um"
)
PLAIN = frozenset(PLAIN_NAMES.split())
NAMED_PARTS = ("loss", "initializer", "normalizer", "constrainer", "regularizer", "activation", "non_linearity")
"""How options end whose value may be a name: of a formula, never of a thing that reads or fetches."""


def from_result(result: Any, model: Any = None) -> PykeenScorer:
    """Take a pipeline's result: the model, or another one, and the names of its training triples."""
    factory = result.training
    if not hasattr(factory, "entity_to_id"):
        raise OptionError("The triples factory has no names (a CoreTriplesFactory); give the one with labels.")
    names = (tuple(sorted(codes, key=codes.get)) for codes in (factory.entity_to_id, factory.relation_to_id))
    return PykeenScorer(model or result.model, *names)


def score_triples(result: Any, triples: Any) -> ScoredTriples:
    """Score triples with a pipeline's result: a pool for :class:`actc.Calibrator`.

    Parameters
    ----------
    result : pykeen.pipeline.PipelineResult
    triples : pykeen TriplesFactory, or array of str of shape (N, 3)
        Names of head, relation and tail; a triple that is there twice is scored once.
    """
    return score_graph(from_result(result), as_graph(triples))


def from_pykeen(result: Any, best: int = 5, *, known: Any = None) -> ScoredTriples:
    """Propose new triples by a pipeline's result: its best answers to (head, relation, ?) and (?, relation, tail).

    An answer is an entity that fits its slot by what the known facts show of the relation.

    With ``graph=result.training`` :func:`actc.accept_triples` weighs them by what the training graph shows of each.

    Parameters
    ----------
    result : pykeen.pipeline.PipelineResult
    best : int
        How many answers to a question.
    known : pykeen TriplesFactory, or array of str of shape (N, 3), optional
        Facts that are not proposed; those of the training, if not given.
    """
    facts = as_graph(result.training if known is None else known)
    return collect_candidates(CandidateSearch(from_result(result), facts, best))


def load_result(folder: str | Path, *, trust: bool = False) -> PykeenScorer:
    """Read a folder that PyKEEN's pipeline wrote.

    Parameters
    ----------
    folder : path
    trust : bool
        Whether the pickle in it may be read, which can run any code. Weights (``model_state.pt``) of a plain model
        need no trust.
    """
    folder = Path(folder)
    if not ((folder / TRIPLES).is_dir() and any((folder / name).is_file() for name in (PICKLE, STATE))):
        raise FileError(f"{folder}: there is no PyKEEN result (a folder with {PICKLE} and {TRIPLES}).")
    where = "cuda" if _import_pykeen().cuda.is_available() else "cpu"
    entities, relations = (_read_names(folder / TRIPLES / f"{kind}_to_id.tsv.gz") for kind in ("entity", "relation"))
    with _quietly():
        if (folder / STATE).is_file() and (folder / CONFIG).is_file():
            model = _load_weights(folder, entities, relations, trust)
        else:
            model = _load_pickle(folder / PICKLE, trust)
    try:
        return PykeenScorer(model.to(where), entities, relations)
    except FileError as error:
        raise FileError(f"{folder}: {error}") from None


def find_unseen(folder: str | Path, graph: Graph) -> Graph:
    """Return facts of a graph that a saved result was not trained on, though it knows their names."""
    names = [_read_names(Path(folder) / TRIPLES / f"{kind}_to_id.tsv.gz") for kind in ("entity", "relation")]
    trained = Triples(*_read_triples(Path(folder) / TRIPLES / "numeric_triples.tsv.gz").T, *map(Vocabulary, names))
    keys = graph.recoded(*names).keys
    return graph.take((keys >= 0) & ~np.isin(keys, trained.keys))


def save_weights(
    result: Any, folder: str | Path, model: str | None = None, model_kwargs: dict[str, Any] | None = None
) -> None:
    """Write a pipeline's result so that it is read back without a pickle, and so without trust.

    Parameters
    ----------
    result : pykeen.pipeline.PipelineResult
    folder : path
        Made where it is not there; it may be the one that ``save_to_directory`` wrote.
    model, model_kwargs : str and dict, optional
        The model's name and options, as the pipeline got them; if not given, the result knows them. Options that are
        objects (an initializer) cannot be written and are left out; if the scores depend on one, that is refused.
    """
    torch, folder = _import_pykeen(), Path(folder)
    known = result.configuration
    options = known.get("model_kwargs") if model_kwargs is None else model_kwargs
    config = {
        "model": model or known.get("model") or type(result.model).__name__,
        # A seed would only be set once more, for everybody, whenever the model is read.
        "model_kwargs": {
            key: value for key, value in (options or {}).items() if key != "random_seed" and _in_json(value)
        },
        "inverse": result.training.create_inverse_triples,
    }
    _check_config(result, config)
    folder.mkdir(parents=True, exist_ok=True)
    with _quietly():
        result.training.to_path_binary(folder / TRIPLES)
    with write_beside(folder / STATE) as unfinished:
        torch.save(result.model.state_dict(), unfinished)
    write_text(folder / CONFIG, json.dumps(config) + "\n")


def _in_json(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def _check_config(result: Any, config: dict[str, Any]) -> None:
    """Make the model anew, as a reader will, and refuse if it does not score as the one in memory does."""
    rows = result.training.mapped_triples[:64].cpu().numpy().T
    wanted = from_result(result).score(*rows)
    try:
        with _quietly():
            again = _make_model(config, result.training)
            again.load_state_dict(result.model.state_dict())
        same = np.allclose(from_result(result, again).score(*rows), wanted, rtol=1e-3, atol=1e-4)
    except ActcError:
        raise
    except Exception:  # options may be anything, and so may what goes wrong with them
        same = False
    if not same:
        options = json.dumps(config["model_kwargs"])
        raise OptionError(
            f"{config['model']} with the options {options} is another model than the one in the result; give model and "
            "model_kwargs as the pipeline got them. Options that are objects cannot be saved."
        )


def _load_pickle(path: Path, trust: bool) -> Any:
    from pykeen.models import Model

    if not path.is_file():
        raise FileError(f"{path.parent}: {STATE} is of no use without {CONFIG}; write both with save_weights.")
    if not trust:
        raise OptionError(
            f"{path} is a pickle, and reading a pickle can run any code in it. If you trust its maker, "
            "say so with --trust (in Python: trust=True)."
        )
    model = _read_tensors(path, trust=True)
    if not isinstance(model, Model):
        raise FileError(f"{path}: there is a {type(model).__name__} in it, and no PyKEEN model.")
    return model


def _load_weights(folder: Path, entities: tuple[str, ...], relations: tuple[str, ...], trust: bool) -> Any:
    from pykeen.triples import TriplesFactory

    with _reading(folder / CONFIG):
        config = load_json(folder / CONFIG)
        inverse = bool(config["inverse"])
        name, options = str(config["model"]), dict(config["model_kwargs"] or {})
    if not trust:
        _refuse_beyond_plain(folder / CONFIG, name, options)
    # Not TriplesFactory.from_path_binary, which reads a pickle and takes a name such as "NA" for none.
    entity_codes, relation_codes = Vocabulary(entities).places, Vocabulary(relations).places
    triples = _read_triples(folder / TRIPLES / "numeric_triples.tsv.gz")
    state = _read_tensors(folder / STATE)
    with _reading(folder / CONFIG):
        factory = TriplesFactory(triples, entity_codes, relation_codes, create_inverse_triples=inverse)
        model = _make_model(config, factory)
    try:
        model.load_state_dict(state)
    except Exception:
        raise _damaged(folder / STATE, f"the weights are not those of the model in {CONFIG}") from None
    if not all(bool(tensor.isfinite().all()) for tensor in model.state_dict().values()):
        raise _damaged(folder / STATE, "the weights are not all finite numbers")
    return model


def _refuse_beyond_plain(path: Path, model: str, options: dict[str, Any]) -> None:
    """Refuse a model, or an option, with which PyKEEN might do more than arithmetic."""
    from pykeen.models import model_resolver

    known = model_resolver.normalize(model)
    bad = next((key for key, value in options.items() if not _is_plain_option(key, value)), None)
    if known in model_resolver.lookup_dict and known not in PLAIN:
        problem = f"the model {model}"
    elif bad is not None:
        problem = f"the option {bad} = {json.dumps(options[bad])[:60]}"
    else:
        return
    raise OptionError(
        f"{path}: {problem} can make PyKEEN read, fetch or run other things. If you trust its maker, say so with "
        "--trust (in Python: trust=True)."
    )


def _is_plain_option(key: str, value: Any) -> bool:
    if isinstance(value, str):
        return key.endswith(NAMED_PARTS) and re.fullmatch(r"[A-Za-z0-9_-]{1,40}", value) is not None
    return value is None or isinstance(value, bool | int | float)


def _make_model(config: dict[str, Any], factory: Any) -> Any:
    """Make a model by its name and options, with any weights, and without a trace in torch's random numbers."""
    import torch
    from pykeen.models import model_resolver

    if model_resolver.normalize(config["model"]) not in model_resolver.lookup_dict:
        raise ChoiceError("PyKEEN model", config["model"], sorted(model_resolver.lookup_dict))
    with torch.random.fork_rng(devices=[]):
        return model_resolver.make(config["model"], config["model_kwargs"], triples_factory=factory)


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep PyKEEN from remarks that are for training, such as one on seeds; its logger is left as it was."""
    logger = logging.getLogger("pykeen")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _read_names(path: Path) -> tuple[str, ...]:
    if not path.is_file():
        raise FileError(f"{path}: the names are missing; the model was trained on numbers, not names.")
    with _reading(path), open_text(path) as lines:
        _, *rows = csv.reader(lines, delimiter="\t")
        return tuple(label for _, label in rows)


def _read_triples(path: Path) -> IntArray:
    if not path.is_file():
        raise _damaged(path, "the file is missing")
    with _reading(path), open_text(path) as lines:
        return np.loadtxt(lines, dtype=np.int64, delimiter="\t", skiprows=1, ndmin=2)


def _read_tensors(path: Path, *, trust: bool = False) -> Any:
    """Read what ``torch.save`` wrote; unless it is trusted, nothing in it is executed."""
    with _reading(path):
        return _import_pykeen().load(ordinary(path), map_location="cpu", weights_only=not trust)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Refuse a damaged file: its bytes may be anything, and so may what goes wrong with them."""
    try:
        yield
    except ChoiceError:  # of a model that PyKEEN does not have
        raise
    except Exception as error:
        raise _damaged(path, f"it cannot be read: {type(error).__name__}") from None


def _damaged(path: Path, reason: str) -> FileError:
    """Return an error: a model cannot be used because of one of its files, and why."""
    return FileError(f"{path}: the model is damaged ({reason}); train or save it again.")


def _import_pykeen() -> Any:
    with needing("Reading PyKEEN models", "pykeen", "pykeen"):
        import pykeen.models  # noqa: F401
        import torch
    return torch
