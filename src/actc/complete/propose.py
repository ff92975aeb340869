"""Candidates of rules, of a model, or of both, as ``actc candidates`` writes them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from actc.complete.candidates import MODEL, Candidates, ask_for, best_placed, candidates_of_rules, proposed_by
from actc.complete.config import Finished
from actc.complete.pykeen import find_unseen, load_result
from actc.complete.search import CandidateSearch, Scorer, collect_candidates, knows
from actc.complete.union import candidates_of_both
from actc.data.deliver import check_writable
from actc.data.files import copy_options, write_scored
from actc.data.frames import Columns
from actc.data.progress import Stage, no_stage
from actc.errors import OptionError
from actc.evidence.rules import propose_by_rules
from actc.graph.formats import read_graph
from actc.graph.graph import Graph
from actc.graph.rdf import Base, without_literals


def propose_candidates(
    graph: str | Path,
    out: str | Path,
    *,
    model: str | Path | None = None,
    best: int = 5,
    evidence: bool = False,
    holdout: str | Path | None = None,
    trust: bool = False,
    columns: Columns = None,
    stage: Stage = no_stage,
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
    holdout : path, optional
        With evidence: facts that the model was not trained on; without it those of its folder.
    trust : bool
        Whether a pickle may be read, which can run any code in it.
    columns : str or dict, optional
        The names of the graph's columns: ``head=subj,relation=verb,tail=obj``.
    stage : callable
        Called with a stage's name, for as long as it lasts: gives a function to call with steps done, steps in all.
    """
    out = check_writable(out)
    copy_options(out)  # refuses an ending that no table has, before long work
    if holdout is not None and not evidence:
        raise OptionError("--holdout: from holdout facts the weights of evidence are learned; give --evidence too.")
    known, parts = without_literals(read_graph(graph, columns=columns)), out.with_name(out.name + ".parts")
    if model is not None:
        scorer = load_result(model, trust=trust)
        if evidence:
            facts = read_holdout(model, holdout, known)
            candidates = candidates_of_rules_and_model(known, scorer, facts, best, parts, stage)
        else:
            candidates = candidates_of_model(known, scorer, best, parts, stage)
    elif evidence:
        candidates = candidates_of_rules(known, stage=stage)
    else:
        with stage("Rules") as advance:
            candidates = Candidates(propose_by_rules(known, progress=advance)[0])
    write_scored(out, candidates.triples.take(np.argsort(-candidates.triples.scores, kind="stable")))
    scored = "; their scores are log-odds, for --method pooled-evidence" if candidates.log_odds else ""
    return Finished((*candidates.notes, f"{out}: {len(candidates.triples)} candidates{scored}."), (out,))


def read_holdout(model: str | Path, holdout: str | Path | None, graph: Graph, base: Base = "") -> Graph | None:
    """Return facts that a model was not trained on: those of a file, else those of the graph that it did not see."""
    return find_unseen(model, graph) if holdout is None else read_graph(holdout, base=base)


def candidates_of_model(graph: Graph, scorer: Scorer, best: int, parts: Path, stage: Stage) -> Candidates:
    """Return the best answers of a model to every question that the known facts leave open; ``parts`` is a folder."""
    with stage("Questions") as advance:
        proposals = collect_candidates(CandidateSearch(scorer, graph, best), parts, advance)
    return Candidates(proposed_by(MODEL, proposals))


def candidates_of_rules_and_model(
    graph: Graph, scorer: Scorer, holdout: Graph | None, best: int, parts: Path, stage: Stage, seed: int = 0
) -> Candidates:
    """Return what rules and a model propose, scored by evidence; the model's answers lie in a folder meanwhile.

    The model knows nothing of the holdout, and rules propose where it knows no names.
    """
    holdout = graph.take(np.arange(0)) if holdout is None else holdout
    rest = graph.take(~holdout.contains(graph))
    familiar = knows(scorer, rest)
    rest = rest.take(familiar) if familiar.any() else rest
    count = CandidateSearch(scorer, rest, best).count_questions()
    proposals = candidates_of_model(rest, scorer, ask_for(best, count), parts, stage).triples
    placed = best_placed(proposals)
    candidates = candidates_of_both(graph, scorer, holdout, placed, seed, stage)
    if len(placed) < len(proposals):
        cut = f"Of {len(proposals):,} proposals of the model the {len(placed):,} best placed in their questions are"
        return replace(candidates, notes=(f"{cut} scored.", *candidates.notes))
    return candidates
