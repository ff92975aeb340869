"""A model trained, asked for scores, asked for new facts: from files to files.

Each function does what the command beside it does: ``actc train``, ``score``. ``actc candidates`` is in
``complete/propose.py``, since it may look at evidence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from actc.errors import OptionError
from actc.graphs.formats import check_format, find_format, is_plain_table, read_graph, write_graph
from actc.graphs.graph import Graph
from actc.graphs.terms import Base, without_literals
from actc.models import score_triples as scoring
from actc.models import train_model as training
from actc.models.keep_out import SHARE
from actc.models.keep_out import keep_out as split_graph
from actc.models.load_scorer import load_scorer
from actc.models.recipes import choose_recipe, load_recipe
from actc.models.saved_model import FILES, save_model
from actc.tables.deliver import check_folder, check_writable, claim
from actc.tables.files import read_labels
from actc.tables.progress import Progress, ignore_progress
from actc.triples import IntArray, ScoredTriples

SIDES = ("tail", "head")


@dataclass(frozen=True, eq=False)
class Trained:
    """A model that was trained.

    Parameters
    ----------
    model : TrainedModel
    recipe : str
        The name of the recipe, or its file.
    triples : int
        How many it learnt from.
    notes : tuple of str
        What a person should know.
    """

    model: training.TrainedModel
    recipe: str
    triples: int
    notes: tuple[str, ...] = ()


def train_model(
    graph: str | Path,
    out: str | Path,
    *,
    model: str = "complex",
    recipe: str | None = None,
    held_out: str | Path | None = None,
    keep_out: float = SHARE,
    seconds: float = math.inf,
    seed: int = 0,
    base: Base = "",
    device: str | None = None,
    progress: Progress = ignore_progress,
) -> Trained:
    """Train an embedding model on a graph, as ``actc train`` does.

    Parameters
    ----------
    graph : path
        In any format that actc reads.
    out : path
        A folder for the model.
    model : str
        complex, conve, rescal, transe or tucker.
    recipe : str, optional
        The name of a recipe, or a JSON file; by model, graph size and device if not given.
    held_out : path, optional
        True triples to stop by; none of the graph's.
    keep_out : float
        Without ``held_out``, this share of the graph is not learnt but stopped by. Either way the folder remembers
        them, in held.tsv, since they say what evidence is worth.
    seconds : float
        Stop when so much time has passed.
    seed : int
    base : str, or two of them
        What IRIs begin with in RDF and names do not: all of them, or entities' and relations'.
    device : str, optional
        cuda or cpu; a GPU where there is one, if not given.
    progress : callable
        Told how many more epochs are done, of how many in all.
    """
    with claim(check_folder(out, FILES)):  # before hours of training
        device = training.find_device(device)
        known = without_literals(read_graph(graph, base=base))
        name = recipe or choose_recipe(model, len(known), device)
        notes: list[str] = []
        if held_out is None:
            learnt, others = split_graph(known, keep_out, seed)
        else:
            learnt, (others, notes) = known, _held_out(held_out, known, base)
        stop_by = others if len(others) else None
        trained = training.train_model(
            learnt, load_recipe(name), held_out=stop_by, device=device, seed=seed, seconds=seconds, progress=progress
        )
        save_model(trained, Path(out), others)
        return Trained(trained, name, len(learnt), (*known.notes, *notes))


def _held_out(path: str | Path, known: Graph, base: Base) -> tuple[Graph, list[str]]:
    """Read true triples that the graph does not hold, in its codes; say how many it does."""
    asked = read_graph(path, base=base)
    others = asked.recoded(known.entity_names, known.relation_names)
    scoring.refuse_strangers(asked, others)
    new = ~known.contains(asked)
    if not new.any():
        raise OptionError(f"--held-out: the graph holds all of these {len(asked)} triples; give others.")
    if new.all():
        return others, []
    others = others.take(new)
    return others, [f"{len(asked) - len(others)} held-out triples are in the graph too and are left out."]


@dataclass(frozen=True, eq=False)
class Scored:
    """Triples that a model scored, and what a person should know about reading them."""

    triples: ScoredTriples
    notes: tuple[str, ...] = ()


def score_triples(
    model: str | Path,
    triples: str | Path,
    out: str | Path,
    *,
    base: Base = "",
    trust: bool = False,
    device: str | None = None,
    progress: Progress = ignore_progress,
) -> Scored:
    """Score triples with a model, as ``actc score`` does.

    Parameters
    ----------
    model : path
        A folder that ``actc train`` or PyKEEN's pipeline wrote.
    triples : path
        In any format that actc reads. A label column of a table stays.
    out : path
        A .tsv, .csv or .parquet file.
    base : str, or two of them
        What IRIs begin with in RDF and names do not: all of them, or entities' and relations'.
    trust : bool
        Whether a pickle may be read, which can run any code in it.
    device : str, optional
        cuda or cpu; a GPU where there is one, if not given.
    progress : callable
        Told how many more triples are done, of how many in all.
    """
    check_writable(out)
    check_format(Path(out), None, ["score"])
    graph = read_graph(triples, base=base)
    labels, notes = _labels(Path(triples), Path(out), graph)
    scored = scoring.score_triples(load_scorer(model, trust=trust, device=device), graph, progress)
    write_graph(Path(out), graph, base=base, extras={"score": scored.scores, **labels})
    return Scored(scored, (*graph.notes, *notes))


def _labels(path: Path, out: Path, graph: Graph) -> tuple[dict[str, IntArray], list[str]]:
    """Return the label column of a table as a table writes it; say so where the output has no place for it."""
    labels = read_labels(path, graph) if is_plain_table(path) else None
    if labels is None:
        return {}, []
    if not is_plain_table(out):
        return {}, [f"{find_format(out, None).summary} has no place for the labels: left out."]
    return {"label": labels.astype(np.int64)}, []


@dataclass(frozen=True)
class Proposed:
    """New facts that a model proposes: how many questions it was asked, in about how long, with how many answers.

    ``candidates`` is None where nothing was asked (a dry run); ``notes`` are what a person should know.
    """

    questions: int
    seconds: float
    candidates: int | None = None
    notes: tuple[str, ...] = ()
