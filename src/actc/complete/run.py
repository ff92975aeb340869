"""The whole way in one call: a graph in, a better graph out."""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.calibrator import Calibrator
from actc.complete.completion import Completion, complete, decide_on, read_oracle, split_off, split_pool
from actc.complete.folder import Begun, fingerprint
from actc.complete.report import headline, summarise, write_completion
from actc.errors import FileError, OptionError
from actc.graphs.formats import FORMATS, read_graph
from actc.graphs.graph import Graph
from actc.graphs.terms import Base, without_literals
from actc.methods import find_method
from actc.models.candidates import CandidateSearch, Wanted, write_candidates
from actc.models.load_scorer import load_scorer
from actc.models.recipes import choose_recipe, load_recipe
from actc.models.saved_model import save_model
from actc.models.score_triples import Scorer, refuse_strangers, score_triples
from actc.models.train_model import best_device, find_device, train_model
from actc.tables.files import read_scored, write_scored
from actc.triples import ScoredTriples

HELD_OUT = 0.02  # of the graph, to say how well the model ranks facts that it has not seen


@dataclass(frozen=True)
class CompletionPlan:
    """What `actc complete` was asked for; see its help.

    Parameters
    ----------
    graph, out : path
        The graph, in any format that actc reads; the folder to write to.
    model : path, optional
        A trained model's folder; without it one of ``kind`` is trained, on a CPU for at most ``seconds``.
    candidates : path, optional
        Facts in question; without it the model's proposals, ``best`` to a question.
    oracle : path, optional
        Judged triples with labels, or a graph of all true ones; without it people are asked.
    names : sequence of path
        Names of entities or relations, for the people who judge.
    budget, method, seed
        How many answers to ask for; who chooses the questions and the thresholds; where draws start from.
    base : str, or two of them
        What IRIs begin with in RDF and names do not: all of them, or entities' and relations'.
    trust : bool
        Whether a pickle may be read, which can run any code in it.
    device : str, optional
        cuda or cpu; a GPU where there is one, if not given.
    """

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
    base: Base = ""
    trust: bool = False
    device: str | None = None

    def __post_init__(self) -> None:
        for name in ("graph", "out", "model", "candidates", "oracle"):  # texts do as well
            given = getattr(self, name)
            object.__setattr__(self, name, None if given is None else Path(given))
        object.__setattr__(self, "names", tuple(Path(path) for path in self.names))
        if self.out.exists() and not self.out.is_dir():
            raise OptionError(f"--out: {self.out} is a file; give the name of a folder.")
        if self.budget < 1:
            raise OptionError(f"--budget: at least one answer is needed, not {self.budget}.")
        if not self.seconds > 0:
            raise OptionError(f"--seconds: {self.seconds:g} seconds are no time to train in; give more than 0.")
        find_method(self.method)
        if self.device is not None:
            find_device(self.device)
        for path in (self.oracle, *self.names):
            if path is not None and not path.exists():
                raise FileError(f"{path}: there is no such file.")

    @property
    def asked(self) -> dict[str, Any]:
        """What the candidates and their scores depend on."""
        return {
            "graph": fingerprint(self.graph),
            "--base": self.base if isinstance(self.base, str) else list(self.base),
            "--model": fingerprint(self.model),
            "--train": self.kind,
            "--candidates": fingerprint(self.candidates),
            "--best": self.best,
            "--seed": self.seed,
        }


Stage = Callable[[str], AbstractContextManager[Callable[..., Any]]]
"""Called with a stage's name, for as long as it lasts: gives a function to tell steps done, steps in all."""


@dataclass(frozen=True)
class Completed:
    """What came of `actc complete`.

    Parameters
    ----------
    lines : tuple of str
        What a person should read.
    files : tuple of Path
        The new graph, the accepted facts, thresholds and reports; none while people have yet to judge.
    """

    lines: tuple[str, ...]
    files: tuple[Path, ...] = ()


def complete_graph(plan: CompletionPlan, stage: Stage = lambda name: nullcontext(lambda *steps: None)) -> Completed:
    """Go the whole way from a graph to a better graph, as ``actc complete`` does.

    Without an oracle in the plan people are asked: it starts an annotation session and stops. Called again with the
    same plan when they have judged, it goes on from there.

    Parameters
    ----------
    plan : CompletionPlan
        The graph, the folder to write to, and every choice.
    stage : callable
        Called with a stage's name, for as long as it lasts: gives a function to tell steps done, steps in all.
    """
    started = time.perf_counter()
    whole = read_graph(plan.graph, base=plan.base)
    ready = _prepare(plan, whole, stage)
    notes, session = list(ready.notes), plan.out / "session"
    if plan.oracle is None:
        if not session.exists():
            return Completed((*notes, *_start_session(plan, ready, session)))
        completion, told = _complete_from(session, plan, ready)
        notes += told
    else:
        oracle, judgeable = read_oracle(plan.oracle, ready.candidates, plan.base)
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
    facts = {"model": ready.model, "seconds": round(seconds, 1), "notes": notes}
    report = summarise(completion, whole, facts)
    name, people = f"graph{_ending(plan.graph)}", session if plan.oracle is None else None
    files = write_completion(plan.out, completion, whole, name, plan.base, report, people)
    return Completed((*headline(report), *notes, f"Written: {', '.join(map(str, files))}"), tuple(files))


@dataclass(frozen=True, eq=False)
class _Ready:
    """What is there before anybody is asked: the candidates and the graph's own triples, both with their scores."""

    candidates: ScoredTriples
    known: ScoredTriples
    model: dict[str, Any]
    notes: list[str]
    seconds: float


def _prepare(plan: CompletionPlan, whole: Graph, stage: Stage) -> _Ready:
    """Train or load, propose or take, score; what an earlier run into the same folder finished is not done again."""
    started, graph = time.perf_counter(), without_literals(whole)
    given = None if plan.candidates is None else _read_candidates(plan, graph)
    begun = Begun.open(plan.out, plan.asked)
    paths = [plan.out / name for name in ("candidates.parquet", "known.parquet")]
    if "scores" in begun.done:
        candidates, known = (read_scored(path)[0] for path in paths)
        left = begun.done["scores"]
        return _Ready(candidates, known, begun.done["model"], left["notes"], left["seconds"])
    if "model" not in begun.done:
        begun = begun.finish("model", _find_model(plan, graph, stage))
    scorer = load_scorer(plan.model or plan.out / "model", trust=plan.trust, device=plan.device)
    candidates, notes = _score_candidates(plan, graph, given, scorer, paths[0], stage)
    known = score_triples(scorer, graph)
    write_scored(paths[1], known)
    if len(graph) < len(whole):
        literals = f"{len(whole) - len(graph):,} triples that end in a literal were not learnt from; they stay."
        notes = [*(note for note in whole.notes if "literal" not in note), literals, *notes]
    else:
        notes = [*whole.notes, *notes]
    seconds = time.perf_counter() - started
    begun = begun.finish("scores", {"notes": notes, "seconds": seconds})
    return _Ready(candidates, known, begun.done["model"], notes, seconds)


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
        f"Judge {settings.budget:,} of them: {_annotate(folder)}",
        "Then give the same command again: it decides, and writes the new graph.",
    ]


def _annotate(folder: Path) -> str:
    return f"actc annotate {shlex.quote(str(folder))}"


def _complete_from(folder: Path, plan: CompletionPlan, ready: _Ready) -> tuple[Completion, list[str]]:
    """Decide by what people said in a session; say where they stopped early."""
    from actc.session import Session
    from actc.session.find_case import read_session_case

    session = Session(folder)
    method, answers = session.settings.method, len(session.annotations())
    budget = min(plan.budget, session.settings.triples)
    if method == plan.method and budget != session.budget:
        session.set_budget(budget)
    session.close()
    if method != plan.method:
        raise OptionError(f"{folder} asks for {method}, not for {plan.method}; give --method {method}, or a new --out.")
    if not answers:
        raise OptionError(f"{folder}: nobody has called any triple true or false yet; judge with: {_annotate(folder)}")
    case = read_session_case(folder)
    calibrator = Calibrator(method).fit(case.pool, case.annotations, case.known)
    early = f"{answers:,} of {budget:,} answers are there; for more: {_annotate(folder)}, then this command again."
    completion = decide_on(ready.candidates, calibrator, case.uniform, plan.seed)
    return completion, [early] if answers < budget else []


def _ending(path: Path) -> str:
    """Return the ending of the graph's name, or that of a table for folders."""
    if path.is_dir():
        return ".tsv"
    endings = [ending for found in FORMATS.values() for ending in found.suffixes if path.name.lower().endswith(ending)]
    return max(endings, key=len)


def _find_model(plan: CompletionPlan, graph: Graph, stage: Stage) -> dict[str, Any]:
    """Train a model, unless one was given, and return what is to be said of it."""
    if plan.model is not None:
        return {"folder": str(plan.model)}
    device = plan.device or best_device()
    name = choose_recipe(plan.kind, len(graph), device)
    rest, held_out = split_off(graph, HELD_OUT, plan.seed)
    with stage("Epochs") as advance:
        trained = train_model(
            rest,
            load_recipe(name),
            held_out=held_out if len(held_out) else None,
            device=device,
            seed=plan.seed,
            seconds=plan.seconds if device == "cpu" else math.inf,
            progress=advance,
        )
    save_model(trained, plan.out / "model")
    return {"recipe": name, **trained.facts}


def _read_candidates(plan: CompletionPlan, graph: Graph) -> Graph:
    """Read the candidates that were given; the graph's own triples, and literals, are left out."""
    assert plan.candidates is not None
    read = read_graph(plan.candidates, base=plan.base)
    given = without_literals(read)
    new = given.take(np.flatnonzero(~graph.contains(given)))
    if not len(new):
        raise OptionError(f"{plan.candidates}: the graph holds all of these {len(given)} triples already.")
    known = len(given) - len(new)
    notes = [*given.notes, *([f"{known:,} candidates are in the graph already."] if known else [])]
    return replace(new, notes=tuple(notes))


def _score_candidates(
    plan: CompletionPlan, graph: Graph, given: Graph | None, scorer: Scorer, path: Path, stage: Stage
) -> tuple[ScoredTriples, list[str]]:
    """Score the candidates that were given, or propose some."""
    if given is None:
        with stage("Questions") as advance:
            if not write_candidates(CandidateSearch(scorer, graph, Wanted(plan.best)), path, advance):
                path.unlink()
                raise OptionError("The model proposes nothing new; raise --best, or give --candidates.")
        return read_scored(path)[0], []
    codes = given.recoded(scorer.entity_names, scorer.relation_names)
    familiar = (codes.heads >= 0) & (codes.relations >= 0) & (codes.tails >= 0)
    if not familiar.any():
        refuse_strangers(given, codes)
    strange = int((~familiar).sum())
    write_scored(path, score_triples(scorer, given.take(np.flatnonzero(familiar))))
    unknown = f"{strange:,} candidates have names that the model does not know; they are left out."
    return read_scored(path)[0], [*given.notes, *([unknown] if strange else [])]
