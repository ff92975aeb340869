"""All constraints of a graph: those in a file, those that it declares itself, those that it keeps without saying so."""

from __future__ import annotations

from pathlib import Path

from actc.data.constraints import Constraints
from actc.data.files import first_line
from actc.decide.classes import find_vocabulary
from actc.decide.declared import read_declared
from actc.decide.learn import LEARNT, count_cases, learn_constraints
from actc.graph.formats import read_graph
from actc.graph.graph import Graph
from actc.graph.terms import Base


def find_constraints(
    graph: str | Path | Graph,
    source: str | Path | None = None,
    *,
    learn: bool = True,
    base: Base = "",
    out: str | Path | None = None,
) -> Constraints:
    """Find the constraints that hold in a graph, as ``actc constraints`` does.

    Parameters
    ----------
    graph : path or Graph
    source : path, optional
        Where more are declared: a table that this function wrote and a person edited, or RDF: RDFS, OWL, shapes,
        Wikidata's property constraints.
    learn : bool
        Whether to learn some from the graph; they are soft.
    base : str, or two of them
        As in :func:`actc.graph.formats.read_graph`.
    out : path, optional
        Write the table there, to be edited: .tsv.

    Returns
    -------
    Constraints
        With the cases that the graph has of each, and the share that keeps it.
    """
    facts = graph if isinstance(graph, Graph) else read_graph(graph, base=base)
    given = Constraints() if source is None else _read_source(Path(source), facts)
    declared = given.plus(read_declared(facts)).plus(find_vocabulary(facts.relation_names))
    found = count_cases(declared, facts)
    if learn:
        found = found.plus(learn_constraints(facts))
    if out is not None:
        found.write(out)
    return found


def _read_source(path: Path, facts: Graph) -> Constraints:
    if path.suffix == ".tsv" and "kind" in first_line(path).split("\t"):
        return Constraints.read(path)
    return read_declared(read_graph(path), facts)


def constraints_from(named: str | Path | None, graph: str | Path | Graph | None, base: Base = "") -> Constraints:
    """Return the constraints that an option names: a file, or ``learnt``; none where it names none."""
    if named is None or (graph is None and str(named) == LEARNT):
        return Constraints()
    if graph is None:
        return Constraints.read(named)
    return find_constraints(graph, None if str(named) == LEARNT else named, learn=str(named) == LEARNT, base=base)
