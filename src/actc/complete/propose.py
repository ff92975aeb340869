"""New facts that rules or a model propose, ranked by what the graph says of them: as ``actc candidates`` does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from actc.complete.candidates import best_placed, candidates_of_rules
from actc.complete.pykeen import find_unseen, load_result
from actc.complete.search import CandidateSearch, write_candidates
from actc.complete.union import ModelProposals, candidates_of_both
from actc.data.deliver import check_writable
from actc.data.files import copy_options, read_scored, write_triples
from actc.data.progress import Progress, ignore_progress
from actc.errors import OptionError
from actc.evidence.rules import propose_by_rules
from actc.graph.formats import read_graph
from actc.graph.terms import Base, without_literals
from actc.session.oracle import Finished


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
) -> Finished:
    """Propose new facts, as ``actc candidates`` does: by the graph's own rules, by a model, or with evidence by both.

    A model's run that is cut off goes on where it stopped when it is started again; scoring by evidence begins anew.

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
        With evidence: facts that the model was not trained on; without it those of its folder.
    relations : sequence of str
        Only these; all if empty.
    any_entity : bool
        Ask about every entity, not only those that fit by the graph's example.
    base : str, or two of them
        What IRIs begin with in RDF and names do not: all of them, or entities' and relations'.
    trust : bool
        Whether a pickle may be read, which can run any code in it.
    progress : callable
        Called with how many more questions, or steps, are done, of how many in all.
    """
    out = check_writable(out)
    copy_options(out)  # refuses an ending that no table has, before anything is asked
    if held is not None and not evidence:
        raise OptionError("--held: from holdout facts the weights of evidence are learnt; give --evidence too.")
    known = without_literals(read_graph(graph, base=base))
    if model is None and not evidence:
        proposed = propose_by_rules(known, progress=lambda done, total, name: progress(1, total))
        return _write(out, proposed.columns(), relations)
    if model is None:
        found = candidates_of_rules(known, progress=lambda done, total, name: progress(1, 2 * total))
        return _write(out, found.table(), relations, found.notes)
    scorer = load_result(model, trust=trust)
    facts = None if not evidence else find_unseen(model, known) if held is None else read_graph(held, base=base)
    facts = known.take(np.arange(0)) if facts is None else facts
    open_questions = known.take(np.flatnonzero(~facts.contains(known)))
    search = CandidateSearch(scorer, open_questions, best, relations, any_entity)
    if not evidence:
        return _finish(out, write_candidates(search, out, progress), [])
    proposals = out.with_name(f".{out.name}.proposals.parquet")
    write_candidates(search, proposals, progress)
    model_proposals = ModelProposals(scorer, facts, best_placed(read_scored(proposals)[0]))
    found = candidates_of_both(known, model_proposals, relations)
    finished = _write(out, found.table(), (), found.notes)
    proposals.unlink()
    return finished


def _write(out: Path, columns: dict[str, Any], relations: Sequence[str], notes: Sequence[str] = ()) -> Finished:
    """Write candidates of some relations, those with the highest score first."""
    rows = np.argsort(-columns["score"], kind="stable")
    rows = rows[np.isin(columns["relation"][rows], relations)] if relations else rows
    write_triples(out, {name: values[rows] for name, values in columns.items()})
    return _finish(out, len(rows), notes)


def _finish(out: Path, count: int, notes: Sequence[str]) -> Finished:
    scored = "; their scores are log-odds, for --method pooled-evidence" if notes else ""
    return Finished((*notes, f"{out}: {count} candidates{scored}."), (out,))
