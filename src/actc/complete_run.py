"""The whole way in one call: a graph in, a better graph out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from actc.candidates import CandidateSearch, Wanted, write_candidates
from actc.complete import complete, read_oracle, split_off
from actc.complete_report import write_completion
from actc.errors import OptionError
from actc.files import read_scored, write_triples
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


def run_completion(plan: CompletionPlan, progress: Callable[[int, int], None] = lambda done, total: None) -> list[str]:
    """Do it all; return what a person should read."""
    started = time.perf_counter()
    graph = without_literals(read_graph(plan.graph, base=plan.base))
    plan.out.mkdir(parents=True, exist_ok=True)
    scorer, model_facts = _find_model(plan, graph, progress)
    candidates, notes = _find_candidates(plan, graph, scorer)
    if plan.oracle is None:
        return [*graph.notes, *notes, *_ask_for_answers(plan, candidates)]
    oracle, judgeable = read_oracle(plan.oracle, candidates)
    known = score_triples(scorer, graph)
    completion = complete(
        candidates, oracle, judgeable, known=known, method=plan.method, budget=plan.budget, seed=plan.seed
    )
    facts = {
        "model": model_facts,
        "seconds": round(time.perf_counter() - started, 1),
        "notes": [*graph.notes, *notes],
    }
    files = write_completion(plan.out, completion, graph, f"graph{_ending(plan.graph)}", plan.base, facts)
    return [*files[-1].read_text(encoding="utf-8").splitlines()[2:5], f"Written: {', '.join(map(str, files))}"]


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


def _find_candidates(plan: CompletionPlan, graph: Graph, scorer: Scorer) -> tuple[ScoredTriples, list[str]]:
    """Score the candidates that were given, or propose some; the graph's own triples are left out."""
    if plan.candidates is None:
        path = plan.out / "candidates.parquet"
        write_candidates(CandidateSearch(scorer, graph, Wanted(plan.best)), path)
        return read_scored(path)[0], []
    given = read_graph(plan.candidates, base=plan.base)
    new = ~graph.contains(given)
    if not new.any():
        raise OptionError(f"{plan.candidates}: the graph holds all of these {len(given)} triples already.")
    scored = score_triples(scorer, given.take(np.flatnonzero(new)))
    left_out = len(given) - len(scored)
    notes = [*given.notes, *([f"{left_out} candidates are in the graph already."] if left_out else [])]
    return scored, notes


def _ask_for_answers(plan: CompletionPlan, candidates: ScoredTriples) -> list[str]:
    path = plan.out / "pool.tsv"
    names = Graph(
        candidates.heads, candidates.relations, candidates.tails, candidates.entity_names, candidates.relation_names
    ).columns()
    write_triples(path, {**names, "score": candidates.scores})
    return [
        f"{path}: {len(candidates)} scored candidates. Judge some of them, write head, relation, tail and label "
        "(1 or 0) to a file, and run this again with --oracle and that file"
        + ("." if plan.model is not None else f", and with --model {plan.out / 'model'}.")
    ]
