"""New facts that a model finds plausible: the best answers to (head, relation, ?) and (?, relation, tail).

Questions are answered in parts, each stored in a file of its own, so that a run that was cut off goes on where it
stopped. A candidate's score is that of the whole triple, the same that ``score_triples`` gives.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.deliver import clear_leftovers, write_beside
from actc.data.progress import Progress, ignore_progress
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Triples
from actc.errors import FileError, OptionError, TableError
from actc.graph.graph import Graph

MEMORY = 2**28  # bytes for one table of scores
BATCH = 1024  # triples that are scored at once
PART = 20_000  # questions in one part
SHARE = 0.05  # of the entities of another slot that fill this one too, for it to open this one to all of them


class PykeenScorer:
    """Scores of a PyKEEN model, batch by batch, on the device the model is on."""

    def __init__(self, model: Any, entity_names: tuple[str, ...], relation_names: tuple[str, ...]) -> None:
        relations = model.num_relations // (2 if model.use_inverse_triples else 1)
        if (model.num_entities, relations) != (len(entity_names), len(relation_names)):
            raise FileError(
                f"The model has {model.num_entities} entities and {relations} relations, "
                f"but there are names of {len(entity_names)} and {len(relation_names)}."
            )
        self.model, self.entity_names, self.relation_names = model.eval(), entity_names, relation_names

    def score(self, heads: IntArray, relations: IntArray, tails: IntArray) -> FloatArray:
        """Return the score of each triple of codes, shape (N,)."""
        triples = np.column_stack([heads, relations, tails])
        batches = (triples[start : start + BATCH] for start in range(0, len(triples), BATCH))
        parts = [self._run(self.model.predict_hrt, batch)[:, 0] for batch in batches]
        return np.concatenate(parts) if parts else np.zeros(0)

    def answers(self, known: IntArray, relations: IntArray, *, heads: bool) -> FloatArray:
        """Return the score of every entity as the tail (or the head) of each question, shape (Q, E)."""
        if heads:
            return self._run(self.model.predict_h, np.column_stack([relations, known]))
        return self._run(self.model.predict_t, np.column_stack([known, relations]))

    def _run(self, predict: Any, codes: IntArray) -> FloatArray:
        import torch

        with torch.no_grad():
            scores = predict(torch.from_numpy(np.ascontiguousarray(codes)).to(self.model.device))
        return np.asarray(scores.double().cpu().numpy())


def score_triples(scorer: PykeenScorer, graph: Graph) -> ScoredTriples:
    """Return the graph's triples with the model's scores."""
    codes = encode(scorer, graph)
    scores = scorer.score(codes.heads, codes.relations, codes.tails)
    if not np.isfinite(scores).all():
        row = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise TableError(f"The model scores {graph.triple(row)} with {scores[row]}; its weights are damaged.")
    return graph.with_scores(scores)


def knows(scorer: PykeenScorer, triples: Triples) -> BoolArray:
    """Return for each triple whether the model knows all of its names, shape (N,)."""
    return triples.recoded(scorer.entity_names, scorer.relation_names).keys >= 0


def encode(scorer: PykeenScorer, graph: Graph) -> Graph:
    """Return triples in the codes of a model; those with names that it does not know are refused."""
    codes = graph.recoded(scorer.entity_names, scorer.relation_names)
    ends, known_ends = np.append(graph.heads, graph.tails), np.append(codes.heads, codes.tails)
    for kind, names, used, known in (
        ("entities", graph.entity_names, ends, known_ends),
        ("relations", graph.relation_names, graph.relations, codes.relations),
    ):
        strangers, count = [names[code] for code in np.unique(used[known < 0]).tolist()], len(np.unique(used))
        if strangers and len(strangers) == count:
            raise TableError(f"The model knows none of the {count} {kind}; it was trained on another graph.")
        if strangers:
            some = ", ".join(map(repr, strangers[:3]))
            raise TableError(
                f"The model does not know {len(strangers)} of the {count} {kind} ({some}); leave those out or train it "
                "on them."
            )
    return codes


@dataclass(frozen=True, eq=False)
class Questions:
    """Questions of one relation and side, in the model's codes."""

    relation: int
    heads: bool
    known: IntArray

    @property
    def name(self) -> str:
        """A file name that no other part has."""
        return f"{'head' if self.heads else 'tail'}-{self.relation}-{self.known[0]}.npz"


class CandidateSearch:
    """A model's best answers to the questions that a graph leaves open; only entities that fit a slot are answers."""

    def __init__(self, scorer: PykeenScorer, graph: Graph, best: int = 5) -> None:
        if best < 1:
            raise OptionError(f"At least one answer to a question is needed, not {best}.")
        self.scorer, self.best, self.graph = scorer, best, encode(scorer, graph)
        self.fits = fitting_entities(self.graph)

    def parts(self) -> list[Questions]:
        """Cut the questions into parts, always the same way."""
        parts = list[Questions]()
        for relation in range(len(self.scorer.relation_names)):
            for heads in (False, True):
                known = np.flatnonzero(self._fitting(relation, heads=not heads))
                starts = range(0, len(known), PART)
                parts += [Questions(relation, heads, known[start : start + PART]) for start in starts]
        if not parts:
            raise OptionError("The known facts leave no question open.")
        return parts

    @property
    def fingerprint(self) -> str:
        """A text that another graph, model or number of answers does not have."""
        trial = self.graph.take(np.arange(min(100, len(self.graph))))
        scores = self.scorer.score(trial.heads, trial.relations, trial.tails)
        every = f"{self.best} {self.graph.fingerprint} {scores.sum():.4f}"
        return hashlib.sha256(every.encode()).hexdigest()[:16]

    def _fitting(self, relation: int, heads: bool) -> BoolArray:
        """Return which entities may stand as a relation's heads (or tails)."""
        return np.asarray(self.fits[:, relation if heads else relation + len(self.scorer.relation_names)])

    def answer(self, part: Questions) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the candidates of a part: heads, tails, scores of the triples."""
        from scipy import sparse

        mine, entities = self.graph.take(self.graph.relations == part.relation), len(self.scorer.entity_names)
        ends = (mine.tails, mine.heads) if part.heads else (mine.heads, mine.tails)
        answered = sparse.csr_matrix((np.ones(len(mine), dtype=np.bool_), ends), shape=(entities, entities))
        batch = max(1, MEMORY // (16 * entities))
        pairs = [
            self._best(part, part.known[start : start + batch], answered) for start in range(0, len(part.known), batch)
        ]
        known, answers = (np.concatenate(column) for column in zip(*pairs, strict=True))
        heads, tails = (answers, known) if part.heads else (known, answers)
        return heads, tails, self.scorer.score(heads, np.full(len(heads), part.relation), tails)

    def _best(self, part: Questions, known: IntArray, answered: Any) -> tuple[IntArray, IntArray]:
        """Return the best new answers to some questions of a part: the known entity and the answer of each."""
        import torch

        scores = self.scorer.answers(known, np.full(len(known), part.relation), heads=part.heads)
        scores[:, ~self._fitting(part.relation, heads=part.heads)] = -np.inf
        scores[answered[known].nonzero()] = -np.inf
        scores[np.arange(len(known)), known] = -np.inf  # no entity is related to itself
        best = min(self.best, scores.shape[1])
        answers = np.asarray(torch.from_numpy(scores).topk(best, dim=1, sorted=False).indices.numpy())
        rows = np.repeat(np.arange(len(known)), best)
        new = np.isfinite(scores[rows, answers.ravel()])
        return known[rows[new]], answers.ravel()[new]


def collect_candidates(
    search: CandidateSearch, folder: Path | None = None, progress: Progress = ignore_progress
) -> ScoredTriples:
    """Return the candidates, each once, from the highest score to the lowest.

    With a folder the answers to each part are stored there until all are given; a later call for the same goes on from
    there. Other files in it are left alone.
    """
    parts, answers, run = search.parts(), list[tuple[IntArray, IntArray, FloatArray]](), search.fingerprint
    total = sum(len(part.known) for part in parts)
    if folder is not None:
        folder.mkdir(exist_ok=True)
        clear_leftovers(folder)
    for part in parts:
        path = None if folder is None else folder / f"{run}-{part.name}"
        if path is not None and path.exists():
            with np.load(path) as stored:
                answers.append((stored["arr_0"], stored["arr_1"], stored["arr_2"]))
        else:
            answers.append(search.answer(part))
            if path is not None:
                with write_beside(path) as temporary, temporary.open("wb") as file:
                    np.savez(file, *answers[-1])
        progress(len(part.known), total)
    heads, tails, scores = (np.concatenate(column) for column in zip(*answers, strict=True))
    relations = np.repeat([part.relation for part in parts], [len(one[0]) for one in answers])
    order = np.lexsort((tails, relations, heads, -scores))  # the higher score of a triple that two questions gave
    every = Graph(heads, relations, tails, search.graph.entity_names, search.graph.relation_names)
    if folder is not None:
        for part in parts:
            (folder / f"{run}-{part.name}").unlink()
        with suppress(OSError):  # somebody put other files into it
            folder.rmdir()
    if not len(scores):
        raise OptionError("The model proposes nothing new; ask for more answers (--best), or give --candidates.")
    once = every.with_scores(scores).take(order).unique().with_used_names()
    return once.recoded(sorted(once.entity_names), sorted(once.relation_names))


def fitting_entities(graph: Graph) -> BoolArray:
    """Return which entity fits which slot, shape (E, 2 R): heads of each relation first, then tails.

    Learned from the graph: an entity fits an end of a relation if it stands there already, or if it stands in another
    slot whose entities often stand in this one too.
    """
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
