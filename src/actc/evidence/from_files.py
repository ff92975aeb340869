"""The graph's evidence beside candidates: from files to files, as ``actc evidence`` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from actc.errors import FileError, OptionError, TableError
from actc.evidence.table import Progress, Proposals
from actc.evidence.weigh import Weighed, find_lesson, weigh
from actc.graphs.formats import read_graph
from actc.graphs.graph import Graph
from actc.graphs.id_files import read_validation
from actc.graphs.terms import Base, without_literals
from actc.tables.deliver import check_writable
from actc.tables.files import copy_options, find_layout, read_scored, write_triples
from actc.triples import FloatArray, ScoredTriples, Triples

NO_HOLDOUT = "No holdout facts were given: scores do not count in the log-odds; --held gives them their weight."
NOT_PROPOSED = (
    "The holdout facts are not among the candidates: scores do not count in the log-odds, since those of facts that "
    "the model did not propose cannot be compared with those that it did."
)


@dataclass(frozen=True, eq=False)
class EvidenceAdded:
    """Candidates with the graph's evidence, and what a person should know.

    Parameters
    ----------
    weighed : Weighed
    notes : tuple of str
    """

    weighed: Weighed
    notes: tuple[str, ...] = ()


def add_evidence(
    graph: str | Path,
    candidates: str | Path,
    out: str | Path,
    *,
    held: str | Path | None = None,
    scores: Sequence[str | Path] = (),
    base: Base = "",
    progress: Progress | None = None,
) -> EvidenceAdded:
    """Score candidates by all that the graph and the models say of them, as ``actc evidence`` does.

    Parameters
    ----------
    graph : path
        The known facts, in any format that actc reads.
    candidates : path
        head, relation, tail, score; the score is optional where ``scores`` are given.
    out : path
        A .tsv, .csv or .parquet file: head, relation, tail, score (the log-odds), then one column per piece.
    held : path, optional
        Facts that the model was not trained on, with its scores, or without where the candidates or ``scores`` list
        them; if not given, the validation triples of a LibKGE or OpenKE folder that is the graph, where the candidates
        list them. Scores count where the candidates list some of them, as the model proposed them. Without any, some
        of the graph's own facts teach what the pieces are worth, but for scores, which known facts flatter.
    scores : sequence of path
        Further models' scores: head, relation, tail, score of every candidate.
    base : str, or two of them
        What IRIs begin with in RDF and names do not: all of them, or entities' and relations'.
    progress : callable, optional
        Told of each step: how many are done, of how many in all, its name.
    """
    out = check_writable(out)
    copy_options(out)  # refuses an ending that no table has, before the work
    known = without_literals(read_graph(graph, base=base))
    others = [(Path(path), read_scored(path)[0]) for path in scores]
    given, first = _read_candidates(Path(candidates), others)
    others = others[1:] if first else others
    if set(known.entity_names).isdisjoint(given.entity_names):
        raise FileError(f"{candidates}: it has no entity in common with {graph}; is it about another graph?")
    if held is None:
        holdout = _find_validation(Path(graph), given)
    else:
        holdout = _read_holdout(Path(held), base, [(Path(candidates), given), *others])
    more = [_scores_of(given, path, scored, "candidates") for path, scored in others]
    weighed, notes = _weigh(known, Proposals(given, (given.scores, *more)), holdout, progress)
    write_triples(out, evidence_columns(weighed))
    return EvidenceAdded(weighed, (*known.notes, *notes))


def evidence_columns(weighed: Weighed) -> dict[str, Any]:
    """Return a table: head, relation, tail, score (the log-odds), then the pieces; the model's is ``model_score``."""
    names = [f"model_{name}" if name == "score" else name for name in weighed.evidence.columns]
    pieces = dict(zip(names, weighed.evidence.values.T, strict=True))
    return {**weighed.candidates.columns(), "score": weighed.log_odds, **pieces}


def _read_candidates(path: Path, others: list[tuple[Path, ScoredTriples]]) -> tuple[ScoredTriples, bool]:
    """Read the candidates; where they have no score the first further model's is theirs, and True is returned."""
    if "score" in find_layout(path).position:
        return read_scored(path)[0], False
    if not others:
        raise FileError(f"{path}: there is no column score; score it with `actc score`, or give --scores.")
    graph = read_graph(path)
    return graph.with_scores(_scores_of(graph, *others[0], "candidates")), True


def _read_holdout(path: Path, base: Base, scored: list[tuple[Path, ScoredTriples]]) -> ScoredTriples:
    """Read holdout facts with the first model's scores, from the file itself or from where the candidates are."""
    if "score" in find_layout(path, order=("head", "relation", "tail", "score")).position:
        return read_scored(path)[0]
    facts = read_graph(path, base=base)
    return facts.with_scores(_scores_of(facts, *scored[0], "holdout facts"))


def _find_validation(graph: Path, scored: ScoredTriples) -> ScoredTriples | None:
    """Return the validation triples of a folder of numbers that have scores; None where there are not two."""
    facts = read_validation(graph)
    rows = np.zeros(0, dtype=np.int64) if facts is None else scored.rows_of(facts)
    return scored.take(np.sort(rows[rows >= 0])) if (rows >= 0).sum() >= 2 else None


def _scores_of(triples: Triples, path: Path, scored: ScoredTriples, what: str) -> FloatArray:
    rows = scored.rows_of(triples)
    missing = int((rows < 0).sum())
    if missing:
        raise FileError(
            f"{path}: {missing} of the {len(rows)} {what} have no score in it; score them with `actc score`."
        )
    return np.asarray(scored.scores[rows])


def _weigh(
    known: Graph, given: Proposals, holdout: ScoredTriples | None, progress: Progress | None
) -> tuple[Weighed, list[str]]:
    """Weigh candidates by holdout facts, or by the graph's own where there are none."""
    if holdout is None:
        return weigh(known, given, find_lesson(known, given, None), progress=progress), [NO_HOLDOUT]
    if holdout.contains(given.triples).all():
        raise OptionError("--held: all candidates are holdout facts; other proposals are needed to compare them with.")
    lesson = find_lesson(known, given, holdout)
    try:
        weighed = weigh(known, given, lesson, progress=progress)
    except TableError as error:
        raise OptionError(f"--held: {error}") from None
    return weighed, [] if lesson.proposals.scores else [NOT_PROPOSED]
