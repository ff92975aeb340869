"""The whole way in one call: a graph in, a better graph out."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from actc.calibrator import Calibrator
from actc.candidates import CandidateSearch, Wanted, write_candidates
from actc.complete import Completion, complete, decide_on, read_oracle, split_off, split_pool
from actc.complete_report import write_completion
from actc.errors import OptionError
from actc.files import read_scored, write_json, write_scored
from actc.graph import Graph
from actc.graph_formats import read_graph
from actc.graph_formats.terms import without_literals
from actc.load_scorer import load_scorer
from actc.recipes import choose_recipe, load_recipe
from actc.saved_model import save_model
from actc.score_triples import Scorer, score_triples
from actc.train_model import best_device, train_model
from actc.triples import ScoredTriples

HELD_OUT = 0.02  # of the graph, to say how well the model ranks facts that it has not seen


@dataclass(frozen=True)
class CompletionPlan:
    """What `actc complete` was asked for; see its help."""

    graph: Path
    out: Path
    model: Path | None = None
    kind: str = "complex"
    candidates: Path | None = None
    best: int = 2
    oracle: Path | None = None
    names: tuple[Path, ...] = ()
    budget: int = 100
    method: str = "pooled"
    seconds: float = 90.0
    seed: int = 0
    base: str = ""
    trust: bool = False
    device: str | None = None

    def __post_init__(self) -> None:
        if self.out.exists() and not self.out.is_dir():
            raise OptionError(f"--out: {self.out} is a file; give the name of a folder.")
        if self.budget < 1:
            raise OptionError(f"--budget: at least one answer is needed, not {self.budget}.")

    @property
    def before_asking(self) -> dict[str, Any]:
        """What the candidates and their scores depend on, besides the graph."""
        options = {"--model": self.model, "--train": self.kind, "--candidates": self.candidates, "--best": self.best}
        options["--seed"] = self.seed
        return {name: str(value) if isinstance(value, Path) else value for name, value in options.items()}


def run_completion(plan: CompletionPlan, progress: Callable[[int, int], None] = lambda done, total: None) -> list[str]:
    """Do it all, or as much as can be done before people have judged; return what a person should read."""
    started = time.perf_counter()
    graph = without_literals(read_graph(plan.graph, base=plan.base))
    ready = _prepare(plan, graph, progress)
    if plan.oracle is None:
        session = plan.out / "session"
        if not session.exists():
            return [*ready.notes, *_start_session(plan, ready, session)]
        completion = _complete_from(session, plan, ready)
    else:
        oracle, judgeable = read_oracle(plan.oracle, ready.candidates)
        completion = complete(
            ready.candidates,
            oracle,
            judgeable,
            known=ready.known,
            method=plan.method,
            budget=plan.budget,
            seed=plan.seed,
        )
    seconds = ready.seconds + time.perf_counter() - started
    facts = {"model": ready.model, "seconds": round(seconds, 1), "notes": ready.notes}
    files = write_completion(plan.out, completion, graph, f"graph{_ending(plan.graph)}", plan.base, facts)
    return [*files[-1].read_text(encoding="utf-8").splitlines()[2:5], f"Written: {', '.join(map(str, files))}"]


@dataclass(frozen=True, eq=False)
class _Ready:
    """What is there before anybody is asked: the candidates and the graph's own triples, both with their scores."""

    candidates: ScoredTriples
    known: ScoredTriples
    model: dict[str, Any]
    notes: list[str]
    seconds: float


def _prepare(plan: CompletionPlan, graph: Graph, progress: Callable[[int, int], None]) -> _Ready:
    """Train or load, propose or take, score; or read what an earlier run into the same folder left there."""
    begun, asked = plan.out / "begun.json", {"graph": _fingerprint(graph), **plan.before_asking}
    paths = [plan.out / name for name in ("candidates.parquet", "known.parquet")]
    if begun.exists():
        before = json.loads(begun.read_text(encoding="utf-8"))
        for name, value in asked.items():
            if before["asked"].get(name) != value:
                what = "another graph" if name == "graph" else f"{name} {before['asked'].get(name)}, not {value}"
                raise OptionError(f"{plan.out} was begun with {what}; give the name of a new folder with --out.")
        candidates, known = (read_scored(path)[0] for path in paths)
        return _Ready(candidates, known, before["model"], before["notes"], before["seconds"])
    started = time.perf_counter()
    plan.out.mkdir(parents=True, exist_ok=True)
    scorer, model = _find_model(plan, graph, progress)
    candidates, notes = _find_candidates(plan, graph, scorer, paths[0])
    known = score_triples(scorer, graph)
    write_scored(paths[1], known)
    ready = _Ready(candidates, known, model, [*graph.notes, *notes], time.perf_counter() - started)
    # Last, so that a folder without it was not finished.
    write_json(begun, {"asked": asked, "model": ready.model, "notes": ready.notes, "seconds": ready.seconds})
    return ready


def _fingerprint(graph: Graph) -> str:
    """Return a text that differs for graphs that differ."""
    digest = hashlib.sha256("\0".join((*graph.entity_names, "", *graph.relation_names)).encode())
    digest.update(np.sort(graph.keys).tobytes())
    return digest.hexdigest()


def _start_session(plan: CompletionPlan, ready: _Ready, folder: Path) -> list[str]:
    """Split off the calibration pool and make a session of it, in which people are asked."""
    from actc.session import Settings, start_session

    rows = split_pool(np.arange(len(ready.candidates)), np.random.default_rng(plan.seed))
    pool = plan.out / "pool.parquet"
    write_scored(pool, ready.candidates.take(rows))
    title = plan.graph.name.partition(".")[0]
    settings = Settings(plan.method, min(plan.budget, len(rows)), seed=plan.seed, title=title)
    start_session(folder, pool, settings, plan.names, plan.out / "known.parquet").close()
    return [
        f"{len(ready.candidates):,} candidates, of which {len(rows):,} may be asked about.",
        f"Judge {settings.budget:,} of them: actc annotate {folder}",
        "Then give the same command again: it decides, and writes the new graph.",
    ]


def _complete_from(folder: Path, plan: CompletionPlan, ready: _Ready) -> Completion:
    """Decide by what people said in a session."""
    from actc.find_case import read_session_case
    from actc.session import Session

    session = Session(folder)
    method, answers = session.settings.method, len(session.annotations())
    session.close()
    if method != plan.method:
        raise OptionError(f"{folder} asks for {method}, not for {plan.method}; give --method {method}, or a new --out.")
    if not answers:
        raise OptionError(f"{folder}: nobody has judged anything yet; judge some with: actc annotate {folder}")
    case = read_session_case(folder)
    calibrator = Calibrator(method).fit(case.pool, case.annotations, case.known)
    return decide_on(ready.candidates, calibrator, case.uniform, plan.seed)


def _ending(path: Path) -> str:
    """Return the ending of the graph's name, or that of a table for folders."""
    return ".tsv" if path.is_dir() else "".join(path.suffixes[-2 if path.suffix == ".gz" else -1 :])


def _find_model(
    plan: CompletionPlan, graph: Graph, progress: Callable[[int, int], None]
) -> tuple[Scorer, dict[str, object]]:
    if plan.model is not None:
        return load_scorer(plan.model, trust=plan.trust, device=plan.device), {"folder": str(plan.model)}
    device = plan.device or best_device()
    name = choose_recipe(plan.kind, len(graph), device)
    rest, held_out = split_off(graph, HELD_OUT, plan.seed)
    trained = train_model(
        rest,
        load_recipe(name),
        held_out=held_out if len(held_out) else None,
        device=device,
        seed=plan.seed,
        seconds=plan.seconds if device == "cpu" else math.inf,
        progress=progress,
    )
    save_model(trained, plan.out / "model")
    return load_scorer(plan.out / "model", device=device), {"recipe": name, **trained.facts}


def _find_candidates(plan: CompletionPlan, graph: Graph, scorer: Scorer, path: Path) -> tuple[ScoredTriples, list[str]]:
    """Score the candidates that were given, or propose some; the graph's own triples are left out."""
    if plan.candidates is None:
        write_candidates(CandidateSearch(scorer, graph, Wanted(plan.best)), path)
        return read_scored(path)[0], []
    given = read_graph(plan.candidates, base=plan.base)
    new = ~graph.contains(given)
    if not new.any():
        raise OptionError(f"{plan.candidates}: the graph holds all of these {len(given)} triples already.")
    scored = score_triples(scorer, given.take(np.flatnonzero(new)))
    write_scored(path, scored)
    left_out = len(given) - len(scored)
    notes = [*given.notes, *([f"{left_out} candidates are in the graph already."] if left_out else [])]
    return read_scored(path)[0], notes
