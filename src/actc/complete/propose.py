"""New facts that rules or a model propose, ranked by what the graph says of them: as ``actc candidates`` does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from actc.complete.weighing import MORE, best_placed, only_new, tell_learnt
from actc.errors import OptionError, TableError
from actc.evidence.plan import Limits
from actc.evidence.propose_by_rules import estimate_candidates, propose_by_rules
from actc.evidence.weigh import best_place, find_lesson, learn
from actc.evidence.weigh_by_rules import weigh_rules
from actc.evidence.worth import Worth
from actc.graphs.formats import read_graph
from actc.graphs.graph import Graph
from actc.graphs.terms import Base, without_literals
from actc.models.candidates import CandidateSearch, Wanted, write_candidates
from actc.models.from_files import SIDES, Proposed, ignore_progress
from actc.models.load_scorer import find_held, load_scorer
from actc.tables.deliver import check_writable
from actc.tables.files import copy_options, read_scored, write_scored, write_triples
from actc.triples import ScoredTriples


def propose_candidates(
    graph: str | Path,
    out: str | Path,
    *,
    model: str | Path | None = None,
    best: int = 5,
    evidence: bool = False,
    held: str | Path | None = None,
    sides: Sequence[str] = SIDES,
    relations: Sequence[str] = (),
    any_entity: bool = False,
    dry_run: bool = False,
    base: Base = "",
    trust: bool = False,
    device: str | None = None,
    announce: Callable[[int, float], None] = lambda questions, seconds: None,
    progress: Callable[[int, int], None] = ignore_progress,
) -> Proposed:
    """Propose new facts, as ``actc candidates`` does: by the graph's own rules, or by a model.

    A model's run that is cut off goes on where it stopped when it is started again; weighing evidence begins anew.

    Parameters
    ----------
    graph : path
        The known facts, in any format that actc reads.
    out : path
        A .parquet, .tsv or .csv file. Of what rules propose it has the surest rule, ``rule``, its confidence,
        ``rule_confidence``, and the number of rules, ``rules``; without evidence the score is that confidence.
    model : path, optional
        A folder that ``actc train`` or PyKEEN's pipeline wrote: its best answers are proposed.
    best : int
        How many proposals for a slot.
    evidence : bool
        Whether the score is the log-odds by all the evidence; a model's best answers are then those with most of it
        among twice as many.
    held : path, optional
        With evidence: facts that the model was not trained on; without it those that its folder tells of.
    sides : sequence of str
        ``tail`` asks (head, relation, ?), ``head`` asks (?, relation, tail); both if empty.
    relations : sequence of str
        Only these; all if empty.
    any_entity : bool
        Ask about every entity, not only those that fit by the graph's example.
    dry_run : bool
        Say how many questions there are and how long they will take, and stop.
    base, trust, device
        As for :func:`actc.score_triples`.
    announce : callable
        Told, before a model's work starts, how many questions there are and about how many seconds they take.
    progress : callable
        Told how many more questions, or steps, are done, of how many in all.
    """
    out = check_writable(out)
    copy_options(out)  # refuses an ending that no table has, before anything is asked
    if held is not None and not evidence:
        raise OptionError("--held: holdout facts say what evidence is worth; give --evidence too.")
    if model is None:
        return _propose_by_rules(
            without_literals(read_graph(graph, base=base)), out, evidence, relations, dry_run, progress
        )
    wanted = Wanted(best * MORE if evidence and best > 0 else best, tuple(sides) or SIDES, tuple(relations), any_entity)
    known = without_literals(read_graph(graph, base=base))
    facts = _find_facts(Path(model), Path(graph), known, held, base) if evidence else None
    asked = known if facts is None else known.take(np.flatnonzero(~facts.contains(known)))
    search = CandidateSearch(load_scorer(model, trust=trust, device=device), asked, wanted)
    questions, seconds = search.estimate_seconds()
    announce(questions, seconds)
    if dry_run:
        return Proposed(questions, seconds)
    if not evidence:
        return Proposed(questions, seconds, write_candidates(search, out, progress))
    proposals = out.with_name(f".{out.name}.proposals.parquet")
    write_candidates(search, proposals, progress)
    ranked, worth = rank_by_evidence(known, facts, read_scored(proposals)[0], best)
    write_scored(out, ranked.take(np.argsort(-ranked.scores, kind="stable")))
    proposals.unlink()
    return Proposed(questions, seconds, len(ranked), tuple(tell_learnt(worth, facts)))


def _propose_by_rules(
    graph: Graph,
    out: Path,
    evidence: bool,
    relations: Sequence[str],
    dry_run: bool,
    progress: Callable[[int, int], None],
) -> Proposed:
    """Write what rules propose, the surest first, or the likeliest by all the evidence."""
    if dry_run:
        walks, count = estimate_candidates(graph)
        return Proposed(0, 0.0, None, (f"{walks:,} paths of two edges to walk, about {count:,} candidates.",))
    proposed, notes = propose_by_rules(graph, progress=lambda done, total, name: progress(1, total)), []
    columns = proposed.columns()
    if evidence:
        found = weigh_rules(graph, proposed)
        columns["score"] = found.weighed.log_odds
        notes = [found.tell()]
    keep = np.isin(columns["relation"], relations) if relations else np.ones(len(proposed), dtype=np.bool_)
    rows = np.argsort(-columns["score"], kind="stable")
    rows = rows[keep[rows]]
    write_triples(out, {name: values[rows] for name, values in columns.items()})
    return Proposed(0, 0.0, len(rows), tuple(notes))


def _find_facts(model: Path, file: Path, graph: Graph, held: str | Path | None, base: Base) -> Graph | None:
    return find_held(model, file, graph) if held is None else read_graph(held, base=base)


def rank_by_evidence(
    graph: Graph, holdout: Graph | None, proposals: ScoredTriples, best: int
) -> tuple[ScoredTriples, Worth | None]:
    """Score proposals by all the evidence, and keep the best of each slot.

    Evidence is looked up chunk by chunk; what it is worth is learnt from at most a million of the proposals.

    Parameters
    ----------
    graph : Graph
        The known facts.
    holdout : Graph or None
        Facts that the model was not trained on; the proposals were made as if these were not known.
    proposals : ScoredTriples
    best : int
        How many proposals for a slot are kept.

    Returns
    -------
    candidates : ScoredTriples
        The new ones, their scores being log-odds; by the model's score where the graph is too small to learn from.
    worth : Worth or None
    """
    candidates, worth = only_new(proposals, graph, holdout), None
    try:
        lesson = find_lesson(graph, best_placed(proposals), holdout)
        learnt = learn(graph, lesson, Limits.for_count(len(proposals)))
        candidates, worth = candidates.with_scores(learnt.score(candidates)), learnt.worth
    except TableError:  # too small to learn from
        pass
    return candidates.take(np.flatnonzero(best_place(candidates) <= best)), worth
