"""Facts that a model is not trained on: by them training stops, and what evidence is worth is learnt from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from actc.errors import OptionError
from actc.graphs.formats import read_graph
from actc.graphs.graph import Graph

HELD_FILE = "held.tsv"
SHARE = 0.1  # of the graph; enough to learn from, few enough not to be missed
MOST = 5000  # more holdout facts teach hardly more, and the model needs its facts


def keep_out(graph: Graph, share: float = SHARE, seed: int = 0) -> tuple[Graph, Graph]:
    """Keep a share of the triples out, at most ``MOST``, none whose absence would leave a name without any.

    Returns
    -------
    rest, held : Graph
        With the graph's vocabularies.
    """
    if not 0 <= share < 1:
        raise OptionError(f"--keep-out: a share from 0 to below 1 is needed, not {share:g}.")
    order = np.random.default_rng(seed).permutation(len(graph))
    needed = np.zeros(len(graph), dtype=np.bool_)
    for column in (graph.heads, graph.tails, graph.relations + len(graph.entity_names)):
        needed[order[np.unique(column[order], return_index=True)[1]]] = True
    free = order[~needed[order]][: min(int(share * len(graph)), MOST)]
    out = np.zeros(len(graph), dtype=np.bool_)
    out[free] = True
    return graph.take(~out), graph.take(out)


def read_held(folder: str | Path) -> Graph | None:
    """Read the facts that a model was not trained on; None where its folder does not say."""
    path = Path(folder) / HELD_FILE
    return read_graph(path) if path.is_file() else None
