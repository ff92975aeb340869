"""New facts that rules or a model propose, ranked by what the graph says of them: as ``actc candidates`` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from actc.complete.candidates import CandidateSearch, Wanted, write_candidates
from actc.complete.find_candidates import FoundCandidates, find_by_both, find_by_rules
from actc.complete.pykeen import find_unseen, load_result
from actc.complete.union import Proposer
from actc.complete.weighing import best_placed
from actc.data.deliver import check_writable
from actc.data.files import copy_options, read_scored, write_triples
from actc.data.progress import Progress, ignore_progress
from actc.errors import OptionError
from actc.evidence.rules import propose_by_rules
from actc.graph.formats import read_graph
from actc.graph.graph import Graph
from actc.graph.terms import Base, without_literals


@dataclass(frozen=True)
class Proposed:
    """How many new facts were written, and what a person should know of them."""

    candidates: int
    notes: tuple[str, ...] = ()


def propose_candidates(
    graph: str | Path,
    out: str | Path,
    *,
    model: str | Path | None = None,
    best: int = 5,
    evidence: bool = False,
    held: str | Path | None = None,
    relations: Sequence[str] = (),
    any_entity: bool = False,
    base: Base = "",
    trust: bool = False,
    progress: Progress = ignore_progress,
) -> Proposed:
    """Propose new facts, as ``actc candidates`` does: by the graph's own rules, by a model, or with evidence by both.

    A model's run that is cut off goes on where it stopped when it is started again; weighing evidence begins anew.

    Parameters
    ----------
    graph : path
        The known facts, in any format that actc reads.
    out : path
        A .parquet, .tsv or .csv file. Of what rules propose it has the surest rule, ``rule``, its confidence,
        ``rule_confidence``, and the number of rules, ``rules``; without evidence the score is that confidence.
        ``proposed_by`` is ``rules``, ``model`` or ``rules;model``.
    model : path, optional
        A folder that PyKEEN's pipeline wrote: its best answers are proposed.
    best : int
        How many proposals for a slot.
    evidence : bool
        Whether the score is the log-odds by all the evidence; rules then propose beside the model.
    held : path, optional
        With evidence: facts that the model was not trained on; without it those that its folder tells of.
    relations : sequence of str
        Only these; all if empty.
    any_entity : bool
        Ask about every entity, not only those that fit by the graph's example.
    base : str, or two of them
        What IRIs begin with in RDF and names do not: all of them, or entities' and relations'.
    trust : bool
        Whether a pickle may be read, which can run any code in it.
    progress : callable
        Told how many more questions, or steps, are done, of how many in all.
    """
    out = check_writable(out)
    copy_options(out)  # refuses an ending that no table has, before anything is asked
    if held is not None and not evidence:
        raise OptionError("--held: holdout facts say what evidence is worth; give --evidence too.")
    known = without_literals(read_graph(graph, base=base))
    if model is None:
        return _propose_by_rules(known, out, evidence, relations, progress)
    scorer = load_result(model, trust=trust)
    facts = None if not evidence else find_unseen(model, known) if held is None else read_graph(held, base=base)
    facts = known.take(np.arange(0)) if facts is None else facts
    asked = known.take(np.flatnonzero(~facts.contains(known)))
    search = CandidateSearch(scorer, asked, Wanted(best, tuple(relations), any_entity))
    if not evidence:
        return Proposed(write_candidates(search, out, progress))
    proposals = out.with_name(f".{out.name}.proposals.parquet")
    write_candidates(search, proposals, progress)
    found = find_by_both(known, Proposer(scorer, facts, best_placed(read_scored(proposals)[0])), relations)
    _write(out, found)
    proposals.unlink()
    return Proposed(len(found.triples), tuple(found.notes))


def _propose_by_rules(
    graph: Graph,
    out: Path,
    evidence: bool,
    relations: Sequence[str],
    progress: Progress,
) -> Proposed:
    """Write what rules propose, the surest first, or the likeliest by all the evidence."""
    if evidence:
        found = find_by_rules(graph, progress=lambda done, total, name: progress(1, 2 * total))
        return Proposed(_write(out, found, relations), tuple(found.notes))
    proposed = propose_by_rules(graph, progress=lambda done, total, name: progress(1, total)).of_relations(relations)
    columns = proposed.columns()
    rows = np.argsort(-columns["score"], kind="stable")
    write_triples(out, {name: values[rows] for name, values in columns.items()})
    return Proposed(len(rows))


def _write(out: Path, found: FoundCandidates, relations: Sequence[str] = ()) -> int:
    """Write candidates of some relations, the likeliest first; return how many."""
    columns = found.columns()
    rows = np.argsort(-found.triples.scores, kind="stable")
    rows = rows[np.isin(columns["relation"][rows], relations)] if relations else rows
    write_triples(out, {name: values[rows] for name, values in columns.items()})
    return len(rows)
