"""A graph of towns, countries and continents, and a PyKEEN model that was trained on most of it."""

from __future__ import annotations

import gc
import itertools
import warnings
from pathlib import Path

import numpy as np

from actc.graph.graph import Graph


def make_graph() -> Graph:
    """Towns in countries on continents; a town lies on its country's continent, but for one in each country."""
    triples = []
    for country, town in itertools.product(range(6), range(5)):
        triples.append((f"town{country}.{town}", "in", f"country{country}"))
        if town:
            triples.append((f"town{country}.{town}", "on", f"continent{country % 2}"))
    return Graph.from_columns(*zip(*triples, strict=True))


def new_facts(right: bool) -> Graph:
    """Say on which continents the other towns lie, rightly or wrongly."""
    names = [(f"town{c}.0", "on", f"continent{c % 2 if right else 1 - c % 2}") for c in range(6)]
    return Graph.from_columns(*zip(*names, strict=True))


def trained_on() -> Graph:
    """Return the facts that the small model is trained on, eight of nine; all names are among them."""
    graph = make_graph()
    return graph.take(np.arange(len(graph)) % 9 != 4)


def run_pipeline(graph: Graph, epochs: int = 3):
    """Train a small DistMult on a graph; return PyKEEN's result."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pykeen.pipeline import pipeline
        from pykeen.triples import TriplesFactory

        labels = np.column_stack(list(graph.columns().values())).astype(str)
        factory = TriplesFactory.from_labeled_triples(labels)
        gc.freeze()  # PyKEEN collects garbage after every epoch; this way there is little of it
        try:
            return pipeline(
                training=factory,
                testing=factory,
                model="DistMult",
                model_kwargs={"embedding_dim": 8},
                epochs=epochs,
                random_seed=0,
                device="cpu",
                training_kwargs={"use_tqdm": False},
                evaluation_kwargs={"use_tqdm": False},
            )
        finally:
            gc.unfreeze()


def save_small_model(folder: Path) -> None:
    """Write a model that needs no trust."""
    from actc.complete.pykeen import save_weights

    save_weights(run_pipeline(trained_on()), folder)
