"""Candidates that somebody gives: extracted from text, or by another program; their table read, and scored.

The score of a candidate is the sum of what its table shows (the log-odds of a confidence) and of what the evidence
adds: of a known graph, where there is one; else of the candidates themselves, each looked up as if it were not there.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from actc.complete.candidates import Candidates
from actc.complete.doubt import LEAST_FACTS, doubt_facts
from actc.data.answers import PROVENANCE
from actc.data.files import read_scored
from actc.data.frames import Columns
from actc.data.layout import is_table
from actc.data.numeric import logit
from actc.data.progress import Stage, no_stage
from actc.data.triples import FloatArray, ScoredTriples
from actc.errors import OptionError, TableError
from actc.evidence.score import Quantiles, TrainingSet, score_evidence
from actc.graph.formats import read_graph
from actc.graph.graph import Graph
from actc.graph.rdf import Base, without_literals

OWN_SCORES = ("confidence", "given_score")
"""The columns of scores that somebody gave: probabilities, and others."""
SURE = 0.975  # a confidence counts as no surer than this
OWN_WEIGHT = 0.3  # of the candidates' evidence for each other; chosen on the generators of benchmarks/evidence/given.py
OWN_GRAPH = "The candidates were given: the graph's own facts teach the weights of evidence."
THEMSELVES = "Without a graph to learn from, candidates are ranked by {}what they show of each other."
CONFIDENCE_ALONE = "These are too few triples to learn from: the confidence of each decides until there are answers."
NOTHING_KNOWN = "These are too few triples to learn from, and have no confidence: only answers show which are true."


def read_given(path: Path, base: Base, graph: Graph, columns: Columns = None) -> Candidates:
    """Read candidates, each triple once; the graph's own triples, and literals, are left out.

    The score is the log-odds by their table, 0 where it has no confidence. ``columns`` are those that the user names.
    """
    if is_table(path):
        triples, notes = _read_table(path, columns), tuple[str, ...]()
    else:
        read = read_graph(path, base=base)
        triples, notes = read.with_scores(np.zeros(len(read))), read.notes
    plain = without_literals(Graph.of(triples, notes))
    new = ~graph.contains(plain)
    if not new.any():
        raise OptionError(f"{path}: the graph holds all of these {len(plain)} triples already.")
    known = len(plain) - int(new.sum())
    notes = (*plain.notes, *([f"Candidates that the graph holds already: {known:,}."] if known else []))
    triples = triples.take(triples.rows_of(plain)[new])
    further = {**triples.further, "proposed_by": np.full(len(triples), "given", dtype=object)}
    return Candidates(replace(triples, further=further), notes)


def _own_score(triples: ScoredTriples) -> str | None:
    """Return the column with the scores that somebody gave, None where the table has none."""
    return next((name for name in OWN_SCORES if name in triples.further), None)


def _read_table(path: Path, columns: Columns) -> ScoredTriples:
    """Read a table of candidates: all triples, their log-odds, the further columns."""
    triples = read_scored(path, columns, further=True, needs_score=False)[0]
    values, likely, own = triples.scores, triples.probabilities, {}
    if np.isfinite(values).any():
        own["confidence" if likely else "given_score"] = values
    further = {f"given_{name}" if name in (*own, *PROVENANCE) else name: c for name, c in triples.further.items()}
    log_odds = _log_odds(values, likely) if own else np.zeros(len(triples))
    return replace(triples.with_scores(log_odds), further=further | own)


def _log_odds(values: FloatArray, probabilities: bool) -> FloatArray:
    """Return log-odds of confidences; of other scores normal quantiles. Where one is missing, the median."""
    values = np.where(np.isnan(values), np.nanmedian(values) if np.isfinite(values).any() else 0.5, values)
    if probabilities:
        return logit(values.clip(1 - SURE, SURE))
    return Quantiles.of(values[:, None], np.ones(len(values))).transform(values[:, None])[:, 0]


def score_given(graph: Graph, given: Candidates, seed: int = 0, stage: Stage = no_stage) -> Candidates:
    """Score candidates by what their table shows and by evidence; only these are decided."""
    triples = given.triples
    try:
        plain = Graph.of(triples)
        scored, model = score_evidence(graph, plain, TrainingSet.from_graph(graph, plain), stage=stage)
    except TableError:  # the graph is too small
        return _score_by_themselves(graph, given, seed, stage)
    scored = replace(scored, further=triples.further)
    candidates = Candidates.by_evidence(scored, model, graph, *given.notes, OWN_GRAPH)
    if _own_score(triples) is None:
        return candidates
    # What evidence adds to the share that it expects.
    more = scored.scores - logit(np.array(model.share))
    return replace(candidates, triples=triples.with_scores(triples.scores + more))


def _score_by_themselves(graph: Graph, given: Candidates, seed: int, stage: Stage) -> Candidates:
    """Score candidates by their table and by what they show of each other, as ``actc check`` reads a graph."""
    triples, own_score = given.triples, _own_score(given.triples)
    union = Graph.of(graph.union(triples))
    if len(union) < LEAST_FACTS:
        return replace(given, notes=(*given.notes, CONFIDENCE_ALONE if own_score else NOTHING_KNOWN))
    doubtful = doubt_facts(union, seed, stage, Graph.of(triples))
    rows = doubtful.triples.rows_of(triples)
    own = np.where(rows < 0, 0.0, -doubtful.triples.scores[rows])
    scores = triples.scores + OWN_WEIGHT * (own - np.median(own)) if own_score else own
    note = THEMSELVES.format(f"their {own_score.removeprefix('given_')} and " if own_score else "")
    scored = Candidates(triples.with_scores(scores), (*given.notes, note), doubtful.reasons)
    return replace(scored, by_themselves=True)
