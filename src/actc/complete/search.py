"""New facts that a model finds plausible: the best answers to (head, relation, ?) and (?, relation, tail).

Questions are asked in parts, each a file of its own, so that memory is bounded and a run that was cut off goes on where
it stopped. A candidate's score is that of the whole triple, the same that ``score_triples`` gives.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from actc.complete.scorer import Scorer, refuse_strangers
from actc.data.database import open_database
from actc.data.deliver import check_writable, clear_leftovers, write_beside
from actc.data.files import copy_options, quote, quote_file, write_text, write_triples
from actc.data.progress import Progress, ignore_progress
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples
from actc.errors import FileError, OptionError, check_choice
from actc.graph.graph import Graph

MEMORY = 2**28  # bytes for one table of scores
PART = 20_000  # questions in one part
RUN, SPILL = "run.json", "spill"
SHARE = 0.05  # of the entities of another slot that fill this one too, for it to open this one to all of them


@dataclass(frozen=True, eq=False)
class Part:
    """Questions of one relation and side, in the model's codes."""

    relation: int
    heads: bool
    known: IntArray

    @property
    def name(self) -> str:
        """A file name that no other part has."""
        return f"{'head' if self.heads else 'tail'}-{self.relation}-{self.known[0]}.parquet"


class CandidateSearch:
    """A model, the graph it must not repeat, and which candidates are wanted.

    Parameters
    ----------
    scorer : Scorer
    graph : Graph
        The known facts; they are left out.
    best : int
        How many answers to a question.
    relations : sequence of str
        Only these; all if empty.
    any_entity : bool
        Ask about every entity and take any as an answer; otherwise only those that fit (``fitting_entities``).
    """

    def __init__(
        self, scorer: Scorer, graph: Graph, best: int = 5, relations: Sequence[str] = (), any_entity: bool = False
    ) -> None:
        if best < 1:
            raise OptionError(f"At least one answer to a question is needed, not {best}.")
        codes = graph.recoded(scorer.entity_names, scorer.relation_names)
        refuse_strangers(graph, codes)
        for name in relations:
            check_choice("relation of the model", name, scorer.relation_names)
        self.scorer, self.best, self.graph = scorer, best, codes
        self.options = {"best": best, "relations": list(relations), "any_entity": any_entity}
        every = range(len(scorer.relation_names))
        self.relations = [scorer.relation_names.index(name) for name in relations] or list(every)
        self.fits = None if any_entity else fitting_entities(codes)
        self.facts = {heads: _KnownAnswers.of(codes, heads) for heads in (False, True)}

    def parts(self) -> Iterator[Part]:
        """Cut the questions into parts, always the same way."""
        for relation in self.relations:
            for heads in (False, True):
                known = np.flatnonzero(self._fitting(relation, heads=not heads))
                for start in range(0, len(known), PART):
                    yield Part(relation, heads, known[start : start + PART])

    def count_questions(self) -> int:
        """Return how many questions there are."""
        return sum(len(part.known) for part in self.parts())

    def _fitting(self, relation: int, heads: bool) -> BoolArray:
        """Return which entities may stand as a relation's heads (or tails)."""
        if self.fits is None:
            return np.ones(len(self.scorer.entity_names), dtype=np.bool_)
        return np.asarray(self.fits[:, relation if heads else relation + len(self.scorer.relation_names)])

    def answer(self, part: Part) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the candidates of a part: heads, tails, scores of the triples."""
        batch = max(1, MEMORY // (16 * len(self.scorer.entity_names)))
        found = [self._best(part, part.known[start : start + batch]) for start in range(0, len(part.known), batch)]
        known, answers = (np.concatenate(column) for column in zip(*found, strict=True))
        heads, tails = (answers, known) if part.heads else (known, answers)
        return heads, tails, self.scorer.score(heads, np.full(len(heads), part.relation), tails)

    def _best(self, part: Part, known: IntArray) -> tuple[IntArray, IntArray]:
        relations = np.full(len(known), part.relation)
        scores = self.scorer.answers(known, relations, heads=part.heads)
        scores[:, ~self._fitting(part.relation, heads=part.heads)] = -np.inf
        scores[self.facts[part.heads].of_questions(known, part.relation)] = -np.inf
        scores[np.arange(len(known)), known] = -np.inf  # no entity is related to itself
        best = min(self.best, scores.shape[1])
        answers = _largest(scores, best)
        rows = np.repeat(np.arange(len(known)), best)
        new = np.isfinite(scores[rows, answers.ravel()])
        return known[rows[new]], answers.ravel()[new]


def _largest(scores: FloatArray, count: int) -> IntArray:
    """Return the columns of the largest values of each row, in any order, shape (Q, count)."""
    try:
        import torch
    except ModuleNotFoundError:  # a scorer need not be made of it
        return np.argpartition(scores, -count, axis=1)[:, -count:]
    return np.asarray(torch.from_numpy(scores).topk(count, dim=1, sorted=False).indices.numpy())  # 15 times as fast


@dataclass(frozen=True, eq=False)
class _KnownAnswers:
    """The graph's answers to questions, sorted by question."""

    codes: IntArray
    answers: IntArray
    relations: int

    @classmethod
    def of(cls, graph: Graph, heads: bool) -> _KnownAnswers:
        known, answers = (graph.tails, graph.heads) if heads else (graph.heads, graph.tails)
        count = len(graph.relation_names)
        codes = known * count + graph.relations
        order = np.argsort(codes, kind="stable")
        return cls(codes[order], answers[order], count)

    def of_questions(self, known: IntArray, relation: int) -> tuple[IntArray, IntArray]:
        """Return the row and the entity of every known answer."""
        wanted = known * self.relations + relation
        first, last = (np.searchsorted(self.codes, wanted, side=side) for side in ("left", "right"))
        counts = last - first
        rows = np.repeat(np.arange(len(known)), counts)
        offsets = np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts)
        return rows, self.answers[np.repeat(first, counts) + offsets]


def collect_candidates(search: CandidateSearch) -> ScoredTriples:
    """Return the candidates, each once, from the highest score to the lowest, in memory."""
    parts = list(search.parts())
    if not parts:
        raise OptionError("There is no question to ask; any_entity=True asks about every entity.")
    found = [search.answer(part) for part in parts]
    heads, tails, scores = (np.concatenate(column) for column in zip(*found, strict=True))
    if not len(scores):
        raise OptionError("The model proposes nothing new; ask for more answers to a question (best).")
    relations = np.repeat([part.relation for part in parts], [len(part[0]) for part in found])
    order = np.lexsort((tails, relations, heads, -scores))  # the higher score of a triple that two questions found
    every = Graph(heads, relations, tails, search.graph.entity_names, search.graph.relation_names)
    return every.with_scores(scores).take(order).unique().with_used_names()


def write_candidates(search: CandidateSearch, out: str | Path, progress: Progress = ignore_progress) -> int:
    """Write the candidates, each once, to a table; return how many there are.

    Parts are stored in a folder beside ``out`` until all are there; a later call with the same options goes on.
    """
    out = check_writable(out)
    copy_options(out)  # refuses an ending that no table has, before anything is asked
    folder = out.with_name(out.name + ".parts")
    parts = list(search.parts())
    if not parts:
        raise OptionError("There is no question to ask; --any-entity asks about every entity.")
    _open_folder(folder, search)
    questions = search.count_questions()
    for part in parts:
        if not (folder / part.name).exists():
            _write_part(folder / part.name, search, part)
        progress(len(part.known), questions)
    with write_beside(out) as temporary, open_database() as connection:
        connection.execute(f"SET memory_limit='1GB'; SET temp_directory={quote(str(folder / SPILL))}")
        # A triple may be the answer to two questions, once for its tail and once for its head; its score, added up in
        # another order, may then differ in the last digit.
        files = ", ".join(quote_file(folder / part.name) for part in parts)
        every = f"read_parquet([{files}], hive_partitioning=false)"
        once = f"SELECT head, relation, tail, max(score) AS score FROM {every} GROUP BY head, relation, tail"
        connection.execute(
            f"COPY (SELECT * FROM ({once}) ORDER BY score DESC, head, relation, tail) "
            f"TO {quote(str(temporary))} ({copy_options(out)})"
        )
        count = int(connection.execute(f"SELECT count(*) FROM ({once})").fetchall()[0][0])
    _remove_folder(folder, parts)
    return count


def _remove_folder(folder: Path, parts: Sequence[Part]) -> None:
    """Remove the parts, and the folder unless somebody put other files into it."""
    for name in (*(part.name for part in parts), RUN):
        (folder / name).unlink()
    shutil.rmtree(folder / SPILL, ignore_errors=True)
    with suppress(OSError):
        folder.rmdir()


def _write_part(path: Path, search: CandidateSearch, part: Part) -> None:
    heads, tails, scores = search.answer(part)
    entities = np.array(search.scorer.entity_names, dtype=object)
    relation = np.full(len(heads), search.scorer.relation_names[part.relation], dtype=object)
    write_triples(path, {"head": entities[heads], "relation": relation, "tail": entities[tails], "score": scores})


def _open_folder(folder: Path, search: CandidateSearch) -> None:
    """Make the folder of parts, or check that the one there is of the same run."""
    trial = search.graph.take(np.arange(min(100, len(search.graph))))
    scores = search.scorer.score(trial.heads, trial.relations, trial.tails)
    known, of_model = search.graph.fingerprint, round(float(scores.sum()), 4)
    run = json.dumps({"options": search.options, "known": known, "scores": of_model})
    record = folder / RUN
    clear_leftovers(folder)
    if folder.exists() and not record.is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileError(
            f"{folder} is where the parts would be stored, but no run of ours began it; choose another --out."
        )
    if record.is_file():
        if record.read_text(encoding="utf-8") != run:
            raise FileError(
                f"{folder} holds parts of a run with another graph, model or option; remove the folder to begin anew."
            )
        return
    folder.mkdir(exist_ok=True)
    write_text(record, run)


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
