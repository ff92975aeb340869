"""Candidates that rules propose, a model, or both: as ``actc candidates`` writes them, and with log-odds by evidence.

Where both propose, each candidate is there once, with who proposed it. What both propose is far likelier than what a
model alone does, and other evidence counts in it. So each kind is learned by itself, from facts that neither had seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.complete.candidates import Candidates
from actc.complete.config import Finished
from actc.complete.pykeen import load_result
from actc.complete.search import CandidateSearch, PykeenScorer, collect_candidates, knows, score_triples
from actc.data.deliver import check_writable
from actc.data.files import copy_options, write_scored
from actc.data.frames import Columns
from actc.data.numeric import sigmoid
from actc.data.progress import Stage, no_stage
from actc.data.triples import ScoredTriples, Triples
from actc.errors import OptionError, TableError
from actc.evidence.holdouts import MOST_UNLABELLED, RESAMPLES, HoldoutEstimate, score_rules
from actc.evidence.plan import SCORE_COLUMNS
from actc.evidence.reasons import Reasons
from actc.evidence.rules import RULES, propose_by_rules
from actc.evidence.score import TrainingSet, best_place, score_evidence
from actc.evidence.table import place_scores
from actc.graph.formats import read_graph
from actc.graph.graph import Graph
from actc.graph.rdf import without_literals

MODEL = "model"
"""Who proposed a candidate, beside ``RULES``."""
MOST_PROPOSED = 2_000_000  # by a model; of these the MOST_SCORED placed best get evidence
MOST_SCORED = 1_000_000  # proposals; each takes half a kilobyte of evidence, a few times over
LEFT_OUT = "{:,} proposals of the model alone are left out: hardly a fact that it was not trained on is among them."
NO_HOLDOUT = (
    "The graph has no facts that the model was not trained on: whether it pays is unknown; train it on nine tenths."
)
OWN_FACTS = (
    "Hardly a fact that the model was not trained on is among the proposals: the graph's own facts teach the weights "
    "of evidence, and scores do not count."
)


def propose_candidates(
    graph: str | Path,
    out: str | Path,
    *,
    model: str | Path | None = None,
    best: int = 5,
    trust: bool = False,
    columns: Columns = None,
    stage: Stage = no_stage,
) -> Finished:
    """Propose new facts, as ``actc candidates`` does: by the graph's own rules, or by a model.

    A model's run that is cut off goes on where it stopped when it is started again.

    Parameters
    ----------
    graph : path
        The known facts, in any format that actc reads.
    out : path
        A .parquet, .tsv or .csv file. Of what rules propose it has the surest rule, ``rule``, its confidence,
        ``rule_confidence``, which is the score, and the number of rules, ``rules``.
    model : path, optional
        A folder that PyKEEN's pipeline wrote: its best answers are proposed.
    best : int
        How many proposals for a slot.
    trust : bool
        Whether a pickle may be read, which can run any code in it.
    columns : str or dict, optional
        The names of the graph's columns: ``head=subj,relation=verb,tail=obj``.
    stage : callable
        Called with a stage's name, for as long as it lasts: gives a function to call with steps done, steps in all.
    """
    out = check_writable(out)
    copy_options(out)  # refuses an ending that no table has, before long work
    known = without_literals(read_graph(graph, columns=columns))
    if model is None:
        with stage("Rules") as advance:
            proposed = propose_by_rules(known, progress=advance)[0]
    else:
        search = CandidateSearch(load_result(model, trust=trust), known, best)
        proposed = ask_model(search, out.with_name(out.name + ".parts"), stage)
    write_scored(out, proposed.take(np.argsort(-proposed.scores, kind="stable")))
    return Finished((f"{out}: {len(proposed)} candidates.",), (out,))


def ask_model(search: CandidateSearch, parts: Path, stage: Stage) -> ScoredTriples:
    """Return the best answers of a model to every open question; they lie in the folder ``parts`` meanwhile."""
    with stage("Questions") as advance:
        proposals = collect_candidates(search, parts, advance)
    return replace(proposals, further={"proposed_by": np.full(len(proposals), MODEL, dtype=object)})


def candidates_of_rules(graph: Graph, seed: int = 0, stage: Stage = no_stage) -> Candidates:
    """Return what the graph's own rules propose, scored by evidence."""
    with stage("Rules") as advance:
        proposed, rules = propose_by_rules(graph, progress=advance)
    try:
        estimate = score_rules(graph, proposed, rules, seed=seed, stage=stage)
    except TableError as error:
        raise OptionError(f"{str(error).rstrip('.')}; give --model or --candidates.") from None
    scored = Candidates.by_evidence(estimate.scored, estimate.model, graph, estimate.summary())
    return replace(scored, precisions=tuple(estimate.precisions.round(4).tolist()))


def candidates_of_rules_and_model(
    graph: Graph, scorer: PykeenScorer, holdout: Graph, best: int, parts: Path, seed: int, stage: Stage
) -> Candidates:
    """Return what rules and a model propose, scored by evidence; the model's answers lie in a folder meanwhile.

    The model knows nothing of the holdout, and rules propose where it knows no names.
    """
    rest = graph.take(~holdout.contains(graph))
    familiar = knows(scorer, rest)
    rest = rest.take(familiar) if familiar.any() else rest
    questions = sum(len(part.known) for part in CandidateSearch(scorer, rest, best).parts())
    search = CandidateSearch(scorer, rest, max(1, min(best, -(-MOST_PROPOSED // questions))))
    proposals = ask_model(search, parts, stage)
    placed = best_placed(proposals)
    candidates = candidates_of_both(graph, scorer, holdout, placed, seed, stage)
    if len(placed) < len(proposals):
        cut = f"Of {len(proposals):,} proposals of the model the {len(placed):,} best placed in their questions are"
        return replace(candidates, notes=(f"{cut} scored.", *candidates.notes))
    return candidates


def best_placed(proposals: ScoredTriples, most: int = MOST_SCORED) -> ScoredTriples:
    """Return the proposals that stand highest in the better of their two slots: about ``most``, or all first ones."""
    place = best_place(proposals)
    up_to = np.cumsum(np.bincount(place.astype(np.int64)))
    last = max(1, int(np.searchsorted(up_to, most, side="right")) - 1)
    return proposals.take(np.flatnonzero(place <= last))


def candidates_of_both(
    graph: Graph, scorer: PykeenScorer, holdout: Graph, proposals: Triples, seed: int = 0, stage: Stage = no_stage
) -> Candidates:
    """Return what rules and a model propose, scored by evidence that is learned from facts that neither had seen.

    ``proposals`` are the model's, as if the holdout were not known. Where none of them is in the holdout, the graph's
    own facts teach.
    """
    by_rules, rules = propose_by_rules(graph)
    before, _ = propose_by_rules(graph.take(~holdout.contains(graph)), confidence=rules.least)
    as_if = join_proposals(before, proposals, scorer, graph)
    union = join_proposals(by_rules, proposals.take(~graph.contains(proposals)), scorer, graph)
    true, who, count = holdout.contains(as_if), as_if.further["proposed_by"], max(len(holdout), 1)
    recalls = {name: int((true & (who != other)).sum()) / count for name, other in ((RULES, MODEL), (MODEL, RULES))}
    recalls["both"] = int(true.sum()) / count
    first = second = None
    with suppress(TableError):  # no rule proposes anything
        first = score_rules(graph, by_rules, rules, seed=seed, stage=stage)
    training, alone = TrainingSet.among(holdout, _of_model_alone(as_if)), _of_model_alone(union)
    share = None
    if first is not None and recalls[RULES]:
        # Rules' proposals show how many facts are missing, the holdout which part of them the model alone proposes.
        expected = first.share * len(first.scored) * (recalls["both"] / recalls[RULES] - 1)
        share = float(np.clip(expected / max(len(alone), 1), 1e-9, 0.9))
    with suppress(TableError):  # hardly a holdout fact is among what the model alone proposes
        second = _score_model_alone(graph, alone, replace(training, share=share), seed, stage)
    parts = [one for one in (first, second) if one is not None]
    if not parts:
        plain = union.without_pieces()
        scored, model = score_evidence(graph, plain, TrainingSet.from_graph(graph, plain), stage=stage)
        return Candidates.by_evidence(scored, model, graph, OWN_FACTS)
    notes = [_describe_model(recalls, second) if len(holdout) else NO_HOLDOUT]
    if second is None and len(alone):
        notes.append(LEFT_OUT.format(len(alone)))
    sizes, accepted = np.array([(len(one.scored), (one.scored.scores > 0).sum()) for one in parts]).T
    draws = [one.precisions * n for one, n in zip(parts, accepted, strict=True) if n]
    precisions = sum(draws) / accepted.sum() if draws else np.zeros(0)
    recall = recalls[RULES] if first is None else first.recall
    every = replace(
        parts[0],
        recall=min(recall + (recalls["both"] - recalls[RULES]) * (second is not None), 1.0),
        share=float(sizes @ [one.share for one in parts] / sizes.sum()),
    )
    scored = union.take(np.concatenate([union.rows_of(one.scored) for one in parts])).without_pieces()
    return Candidates(
        scored.with_scores(np.concatenate([one.scored.scores for one in parts])).with_used_names(),
        (every.summary(), *notes),
        Reasons(tuple((one.scored, one.model) for one in parts), graph),
        tuple(precisions.round(4).tolist()),
    )


def join_proposals(rules: ScoredTriples, model: Triples, scorer: PykeenScorer, names: Triples) -> ScoredTriples:
    """Return what rules and a model propose, each once, with the model's score where it knows the names."""
    every = Graph.of(rules.union(model)).recoded(names.entity_names, names.relation_names)
    rows = rules.rows_of(every)  # -1 where a missing value is appended
    missing: dict[str, Any] = {"rule": "", "rule_confidence": np.nan, "rules": 0}
    further = {name: np.append(rules.further[name], empty)[rows] for name, empty in missing.items()}
    both = np.where(model.contains(every), f"{RULES};{MODEL}", RULES)
    further["proposed_by"] = np.where(rows >= 0, both, MODEL).astype(object)
    familiar, scores = knows(scorer, every), np.full(len(every), np.nan)
    scores[familiar] = score_triples(scorer, every.take(familiar)).scores
    joined = replace(every.with_scores(scores), further=further, pieces={"score": scores})
    return place_scores(joined).with_pieces(
        **{name: np.append(values, np.nan)[rows] for name, values in rules.pieces.items()}
    )


def _of_model_alone(proposals: ScoredTriples) -> ScoredTriples:
    """Return what only the model proposes: no rule has a confidence in it."""
    alone = proposals.take(proposals.further["proposed_by"] == MODEL)
    return replace(alone, pieces={name: values for name, values in alone.pieces.items() if name in SCORE_COLUMNS})


def _score_model_alone(
    graph: Graph, candidates: ScoredTriples, training: TrainingSet, seed: int, stage: Stage
) -> HoldoutEstimate:
    """Score what a model alone proposes; without a share of true ones to expect, the training set shows it."""
    random = np.random.default_rng(seed)
    others = random.permutation(np.flatnonzero(~training.true))[:MOST_UNLABELLED]
    rows = np.sort(np.append(np.flatnonzero(training.true), others))
    training = replace(training, proposals=training.proposals.take(rows), true=training.true[rows])
    scored, model = score_evidence(graph, candidates, training, stage=stage)
    count, accepted = int(training.true.sum()), scored.scores > 0
    # As many as a holdout of this size leaves open.
    draws = np.random.default_rng(seed).gamma(count + 0.5, 1 / (count + 0.5), RESAMPLES)
    precisions = (draws * sigmoid(scored.scores)[accepted].mean()).clip(0, 1) if accepted.any() else np.zeros(0)
    return HoldoutEstimate(scored, model, 0.0, len(training.holdout), model.share, precisions)


def _describe_model(recalls: Mapping[str, float], second: HoldoutEstimate | None) -> str:
    """Return what a model adds to rules: it pays where a fact that it alone proposes is likelier than not."""
    lines = ["Of the holdout rules propose {rules:.0%}, the model {model:.0%}, both {both:.0%}.".format(**recalls)]
    adds = 0 if second is None else int((second.scored.scores > 0).sum())
    if second is not None and adds:
        low, middle, high = second.precision
        lines.append(
            f"Of what the model alone proposes {adds:,} are likelier than not, {middle:.0%} of them true "
            f"({low:.0%} to {high:.0%})."
        )
    return " ".join([*lines, "So the model pays." if adds else "So rules alone would do."])
