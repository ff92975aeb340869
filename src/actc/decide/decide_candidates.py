"""Thresholds applied to any number of candidates, on an engine.

One relational plan, the same on every engine: candidates joined with the cuts on their relation, the default for
relations that have none; accepted where the score is at least the cut, but for what people said of single triples and
what judges spoke of, which thresholds.json holds. Of what cannot be true together by the constraints
there, the most probable alone (``together``). The output is complete or absent.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from actc.data.calibration import Calibration, Exceptions
from actc.data.constraints import Constraints
from actc.data.curves import Curves
from actc.data.database import parse_memory
from actc.data.deliver import deliver, refuse_inputs
from actc.data.files import TRIPLE, is_table, write_triples
from actc.data.parts import Candidates, find_candidates, refuse_inside
from actc.data.progress import Progress, ignore_progress
from actc.data.triples import Thresholds
from actc.decide.plan import Decided, DecisionPlan
from actc.errors import FileError, OptionError, check_choice, needing
from actc.graph.formats import read_graph

Engine = Callable[[DecisionPlan, Candidates, Path, Progress], Decided]
"""Writes what the plan asks for to a path and counts; the path has a suffix for a file, none for a folder of parts."""


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
    overwrite: bool = False,
    progress: Progress = ignore_progress,
) -> Decided:
    """Write the accepted candidates (or all, with a column ``accepted``) and return counts by relation.

    What ``actc decide`` does; the output is complete or absent.

    Parameters
    ----------
    thresholds : path, Calibration or Thresholds
        A thresholds.json, as it is or read already; or thresholds alone.
    candidates : path or sequence of paths
        Files with head, relation, tail and score, or folders of such files, all laid out alike.
    out : path
        A file to write, its suffix naming the format; or, without a suffix, a folder of Parquet parts. Columns:
        head, relation, tail, score, threshold, probability where there are curves, by: who decided. Rows come in any
        order.
    keep_all : bool
        Write rejected candidates too, with a column that says which is which.
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
    overwrite : bool
        Replace an output that is there already.
    progress : callable
        Told how many more steps are done, of how many in all.
    """
    read = [one for one in (thresholds, constraints, graph) if isinstance(one, str | Path)]
    if isinstance(thresholds, str | Path):
        thresholds = Calibration.read(thresholds)
    exceptions = Exceptions()
    if isinstance(constraints, str | Path):
        constraints = Constraints.read(constraints)
    if isinstance(thresholds, Calibration):
        constraints = thresholds.constraints if constraints is None else constraints
        graph = thresholds.sources.graph if graph is None else graph
        curves, exceptions = curves or thresholds.curves, thresholds.exceptions
        thresholds = thresholds.thresholds
    check_choice("engine", engine, ENGINES)
    if master is not None and engine != "spark":
        raise OptionError(f"A master ({master}) goes with the engine spark only, not with {engine}.")
    used = Constraints() if constraints is None else constraints.used
    plan = DecisionPlan(thresholds, curves, exceptions, keep_all, best_only, parse_memory(memory), master, used)
    paths = [candidates] if isinstance(candidates, str | Path) else list(candidates)
    if any("://" in str(path) for path in (out, *paths)):
        plan = plan if graph is None or not len(used) else replace(plan, facts=str(graph))
        return _decide_remote(plan, engine, [str(path) for path in paths], str(out), overwrite, progress)
    place = _place(out)
    refuse_inside(place, paths)
    refuse_inputs(place, [*read, graph])
    found = find_candidates(paths)
    with deliver(place, overwrite) as unfinished, _facts_of(graph if len(used) else None) as facts:
        plan = replace(plan, facts=facts)
        decided = ENGINES[engine](plan, found, unfinished, progress)
        if not len(decided):
            raise FileError(f"{found.layout.path}: there is no triple in the file.")
    return decided


@contextmanager
def _facts_of(graph: str | Path | None) -> Iterator[Candidates | None]:
    """Find the facts' files; a graph in another format than a table is read and written as one for the while."""
    if graph is None:
        yield None
    elif Path(graph).is_dir() or is_table(Path(graph)):
        yield find_candidates([graph], TRIPLE)
    else:
        with tempfile.TemporaryDirectory(prefix="actc-") as folder:
            path = Path(folder) / "facts.parquet"
            write_triples(path, read_graph(graph).columns())
            yield find_candidates([path], TRIPLE)


def _decide_remote(
    plan: DecisionPlan, engine: str, urls: Sequence[str], out: str, overwrite: bool, progress: Progress
) -> Decided:
    if engine != "spark":
        raise OptionError(f"{out}, {urls[0]}: only the engine spark reads and writes addresses; give --engine spark.")
    if not all("://" in url for url in (out, *urls)):
        raise OptionError(f"{out}, {urls[0]}: write the candidates and the output both as addresses, or neither.")
    return _spark().run_remote(plan, urls, out, overwrite, progress)  # type: ignore[no-any-return]


def _place(out: str | Path) -> Path:
    place = Path(out)
    if not str(out).endswith(("/", os.sep)) and place.suffix and not is_table(place):
        raise OptionError(f"{out}: end the name in .parquet, .tsv or .csv, or in / for a folder of Parquet parts.")
    return place


def _run_duckdb(plan: DecisionPlan, candidates: Candidates, out: Path, progress: Progress) -> Decided:
    from actc.decide.duckdb_engine import run

    return run(plan, candidates, out, progress)


def _run_spark(plan: DecisionPlan, candidates: Candidates, out: Path, progress: Progress) -> Decided:
    return _spark().run(plan, candidates, out, progress)  # type: ignore[no-any-return]


def _spark() -> Any:
    with needing("The engine spark", "pyspark", "spark"):
        from actc.decide import spark_engine as decide_spark
    return decide_spark


ENGINES: dict[str, Engine] = {"duckdb": _run_duckdb, "spark": _run_spark}
