"""Which entities can stand where? Learned from the graph: no type system is needed, and none is assumed.

A slot is an end of a relation (its heads, or its tails). An entity fits a slot if it fills it already, or if it fills
another slot whose entities often fill this one too.
"""

from __future__ import annotations

import numpy as np

from actc.graphs.graph import Graph
from actc.triples import BoolArray

SHARE = 0.05  # of the entities of another slot that fill this one too, for it to open this one to all of them


def fitting_entities(graph: Graph) -> BoolArray:
    """Say which entity fits which slot, shape (E, 2 R): heads of each relation first, then tails."""
    from scipy import sparse

    entities, count = len(graph.entity_names), len(graph.relation_names)
    rows = np.concatenate([graph.heads, graph.tails])
    columns = np.concatenate([graph.relations, graph.relations + count])
    fills = sparse.csr_matrix((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=(entities, 2 * count))
    fills.data[:] = 1.0  # a matrix made of pairs sums those that repeat
    together = (fills.T @ fills).toarray()
    sizes = np.maximum(together.diagonal(), 1)
    opens = (together / sizes[:, None] >= SHARE).astype(np.float32)
    return np.asarray((fills @ opens) > 0)
