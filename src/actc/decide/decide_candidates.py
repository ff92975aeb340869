"""Thresholds applied to any number of candidates, on an engine.

The decisions are the same on every engine (``decide_sql``): a candidate is accepted where its score is at least the
threshold of its relation, or the default threshold. Answers in thresholds.json come first. Of what cannot be true
together by the constraints there, only the most probable is accepted. The output is complete or absent.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from actc.data.answers import Answers
from actc.data.calibration import Calibration, Curves
from actc.data.constraints import Constraints
from actc.data.database import parse_memory
from actc.data.deliver import deliver, refuse_inputs
from actc.data.files import name_further, warn_of_unused, write_named, write_triples
from actc.data.frames import SCORED, TRIPLE, Columns
from actc.data.layout import Layout, find_kind, find_parts, is_table
from actc.data.progress import Progress, ignore_progress
from actc.data.triples import Thresholds
from actc.decide.decide_sql import DecisionCounts, DecisionPlan
from actc.errors import FileError, OptionError, check_choice, needing
from actc.graph.formats import read_graph

ENGINES = ("duckdb", "spark")


def decide_candidates(
    thresholds: Thresholds | Calibration | str | Path,
    candidates: str | Path | Sequence[str | Path],
    out: str | Path,
    keep_all: bool = False,
    memory: str = "1GB",
    *,
    curves: Curves | None = None,
    best_only: bool = False,
    engine: str = "duckdb",
    master: str | None = None,
    constraints: Constraints | str | Path | None = None,
    graph: str | Path | None = None,
    columns: Columns = None,
    overwrite: bool = False,
    progress: Progress = ignore_progress,
) -> DecisionCounts:
    """Write the accepted candidates (or all, with a column ``accepted``) and return counts by relation.

    What ``actc decide`` does; the output is complete or absent.

    Parameters
    ----------
    thresholds : path, Calibration or Thresholds
        A thresholds.json, as it is or read already; or thresholds alone.
    candidates : path or sequence of paths
        Files with head, relation, tail and score, or folders of such files, all laid out alike; Parquet at an address.
    out : path
        A file to write, its suffix naming the format; or, without a suffix, a folder of Parquet parts. Columns:
        head, relation, tail, score, threshold, probability where there are curves, by: who decided; then further
        columns of the candidates, but of those at an address. Rows come in any order.
    keep_all : bool
        Write rejected candidates too, with the column ``accepted``.
    memory : str
        How much memory the engine may use, such as ``1GB``.
    curves : Curves, optional
        Adds a column ``probability``; those of a thresholds.json if not given.
    best_only : bool
        Accept at most one tail, the best, for each head and relation.
    engine : str
        A name in ``ENGINES``.
    master : str, optional
        The Spark cluster's address; without it Spark runs on this machine.
    constraints : Constraints or path, optional
        What cannot be true together, as ``actc constraints`` writes it; those of a thresholds.json if not given.
    graph : path, optional
        The facts that candidates may contradict; those that a thresholds.json names if not given.
    columns : str or dict, optional
        The names of the candidates' columns: ``head=subj,relation=verb,tail=obj,score=weight``.
    overwrite : bool
        Replace an output that is there already.
    progress : callable
        Gets how many more steps are done, and how many there are in all.
    """
    if not isinstance(thresholds, str | Path | Calibration | Thresholds):
        raise OptionError(f"thresholds: a path or a Calibration was expected, not a {type(thresholds).__name__}.")
    if not isinstance(candidates, str | Path | Sequence):
        raise OptionError(
            f"candidates: paths were expected, not a {type(candidates).__name__}; accept_triples takes a data frame."
        )
    read, exceptions = [one for one in (thresholds, constraints, graph) if isinstance(one, str | Path)], Answers()
    thresholds = Calibration.read(thresholds) if isinstance(thresholds, str | Path) else thresholds
    constraints = Constraints.read(constraints) if isinstance(constraints, str | Path) else constraints
    if isinstance(thresholds, Calibration):
        constraints = thresholds.constraints if constraints is None else constraints
        graph, curves = graph or thresholds.sources.graph, curves or thresholds.curves
        exceptions, thresholds = thresholds.exceptions, thresholds.thresholds
    check_choice("engine", engine, ENGINES)
    if master is not None and engine != "spark":
        raise OptionError(f"A master ({master}) goes with the engine spark only, not with {engine}.")
    used = Constraints() if constraints is None else constraints.used
    used.warn_of_unknown(thresholds.relation_names, "the thresholds file")
    graph, amount, place = graph if len(used) else None, parse_memory(memory), Path(out)
    plan = DecisionPlan(thresholds, curves, exceptions, keep_all, best_only, amount, master, used, columns)
    paths = [candidates] if isinstance(candidates, str | Path) else list(candidates)
    remote = ["://" in str(path) for path in (out, *paths)]
    if any(remote) and not (all(remote) and engine == "spark"):
        raise OptionError(f"{out}, {paths[0]}: give both as addresses, with --engine spark, or neither.")
    with needing("The engine spark", "pyspark", "spark"):
        run: Any = import_module(f"actc.decide.{engine}_engine")
    if any(remote):
        plan = replace(plan, facts=None if graph is None else str(graph))
        return run.run_remote(plan, list(map(str, paths)), str(out), overwrite, progress)  # type: ignore[no-any-return]
    if not str(out).endswith(("/", os.sep)) and place.suffix and not is_table(place):
        raise OptionError(f"{out}: end the name in .parquet, .tsv or .csv, or in / for a folder of Parquet parts.")
    refuse_inputs(place, [*read, graph, *paths])
    layout = find_parts(paths, SCORED, columns)
    warn_of_unused(layout)
    with deliver(place, overwrite) as unfinished, tempfile.TemporaryDirectory(prefix="actc-") as folder:
        facts, rows = None if graph is None else _find_facts(graph, folder), layout
        if engine == "spark":
            facts, rows = facts and _in_parquet(facts, folder), _in_parquet(rows, folder)
        plan = replace(plan, further=tuple(name_further(layout)), facts=facts)
        counts: DecisionCounts = run.run(plan, rows, unfinished, progress)
        if not len(counts):
            raise FileError(f"{layout.path}: there is no triple in the file.")
    return counts


def _find_facts(graph: str | Path, folder: str) -> Layout:
    """Return the files of facts; a graph that is no table is written as one into a folder."""
    if not (Path(graph).is_dir() or is_table(Path(graph))):
        facts, graph = read_graph(graph), Path(folder) / "facts.parquet"
        write_triples(graph, facts.columns())
    return find_parts([graph], TRIPLE)


def _in_parquet(layout: Layout, folder: str) -> Layout:
    """Return files that Spark reads; tables of another format are written as one of Parquet into a folder."""
    if find_kind(layout.path)[0] == ".parquet":
        return layout
    path = Path(tempfile.mkdtemp(dir=folder), f"{layout.path.name}.parquet")
    write_named(layout, path)
    return find_parts([path], TRIPLE)
