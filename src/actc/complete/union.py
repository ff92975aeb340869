"""Rules and a model propose together: each candidate once, with who proposed it, learnt from what both did not see."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actc.complete.candidates import MODEL, TOO_SMALL, Candidates
from actc.complete.search import Scorer, score_known
from actc.data.numeric import sigmoid
from actc.data.progress import Stage, no_stage
from actc.data.triples import BoolArray, IntArray, ScoredTriples, Triples
from actc.errors import TableError
from actc.evidence.holdouts import MOST_UNLABELLED, RESAMPLES, HoldoutEstimate, score_by_holdouts, score_rules
from actc.evidence.plan import is_of_scores
from actc.evidence.reasons import Reasons
from actc.evidence.rules import RULES, propose_by_rules
from actc.evidence.score import TrainingSet, score_evidence
from actc.evidence.table import place_scores
from actc.graph.graph import Graph

LEFT_OUT = "{:,} proposals of the model alone are left out: hardly a fact that it was not trained on is among them."
NO_HOLDOUT = "No facts are known that the model was not trained on: whether it pays is unknown; --holdout gives some."
OWN_FACTS = "the graph's own facts teach the weights of evidence, and scores do not count; --holdout gives some."


def join_proposals(rules: ScoredTriples, model: Triples, scorer: Scorer, names: Triples) -> ScoredTriples:
    """Put what rules and a model propose together, each once, and the model's score beside it where it knows the names.

    Parameters
    ----------
    rules : ScoredTriples
        As :func:`propose_by_rules` gives them.
    model : Triples
    scorer : Scorer
        The model.
    names : Triples
        Whose vocabularies the result has.
    """
    every = Graph.of(rules.union(model)).recoded(names.entity_names, names.relation_names)
    rows = rules.rows_of(every)
    pieces = {name: _spread(values, rows, np.nan) for name, values in rules.pieces.items()}
    missing: dict[str, Any] = {"rule": "", "rule_confidence": np.nan, "rules": 0}
    further = {name: _spread(rules.further[name], rows, empty) for name, empty in missing.items()}
    both = np.where(model.contains(every), f"{RULES};{MODEL}", RULES)
    further["proposed_by"] = np.where(rows >= 0, both, MODEL).astype(object)
    joined = replace(every.with_scores(score_known(scorer, every)), further=further)
    return place_scores(joined.with_pieces(score=joined.scores)).with_pieces(**pieces)


def _by_rules(proposals: ScoredTriples) -> BoolArray:
    """Return which proposals are those of rules, shape (N,)."""
    return np.asarray(proposals.further["proposed_by"] != MODEL)


def _of_model_alone(proposals: ScoredTriples) -> ScoredTriples:
    """Return what only the model proposes: no rule has a confidence in it."""
    alone = proposals.take(~_by_rules(proposals))
    return replace(alone, pieces={name: values for name, values in alone.pieces.items() if is_of_scores(name)})


def _shares_of(holdout: Graph, proposals: ScoredTriples) -> list[float]:
    """Return the share of a holdout that rules, the model and both propose."""
    true, count = holdout.contains(proposals), max(len(holdout), 1)
    who = (_by_rules(proposals), proposals.further["proposed_by"] != RULES, np.ones_like(true))
    return [int((true & one).sum()) / count for one in who]


def _spread(values: NDArray[Any], rows: IntArray, missing: Any) -> NDArray[Any]:
    """Return a value for each row, ``missing`` where the row is -1."""
    if not len(values):
        return np.full(len(rows), missing, dtype=values.dtype)
    return np.where(rows >= 0, values[rows], missing)


def candidates_of_both(
    graph: Graph,
    scorer: Scorer,
    holdout: Graph,
    proposals: Triples,
    seed: int = 0,
    stage: Stage = no_stage,
) -> Candidates:
    """Return what rules and a model propose, scored by evidence that is learnt from facts that neither had seen.

    What both propose is far likelier than what a model alone does, and other evidence counts in it. So each kind is
    learnt by itself.

    Parameters
    ----------
    graph : Graph
        The known facts.
    scorer : Scorer
        The model.
    holdout : Graph
        Facts that it was not trained on; where there are none, the graph's own facts teach the weights of evidence.
    proposals : Triples
        What it proposes as if the holdout were not known.
    seed, stage
        As for ``score_by_holdouts``.
    """
    if not graph.contains(holdout).all():
        graph = Graph.of(graph.union(holdout))
    kinds = ("entity_names", "relation_names")
    graph = graph.recoded(*(sorted({*getattr(graph, kind), *getattr(proposals, kind)}) for kind in kinds))
    by_rules, rules = propose_by_rules(graph)
    before, _ = propose_by_rules(graph.take(~holdout.contains(graph)), confidence=rules.least)
    as_if = join_proposals(before, proposals, scorer, graph)
    shares = _shares_of(holdout, as_if)
    new = proposals.take(np.flatnonzero(~graph.contains(proposals)))
    union = join_proposals(by_rules, new, scorer, graph)
    alone = _of_model_alone(union)
    first = second = None
    with suppress(TableError):  # no rule proposes anything
        first = score_rules(graph, by_rules, rules, seed=seed, stage=stage)
    with suppress(TableError):  # hardly a holdout fact is among what the model alone proposes
        training = TrainingSet.among(holdout, _of_model_alone(as_if))
        if not training.true.any():
            raise TableError("The model alone proposes no holdout fact.")
        if first is None or not shares[0]:
            second = score_by_holdouts(graph, alone, [training], seed=seed, stage=stage)
        else:
            second = _score_model_alone(graph, alone, training, first, shares, seed, stage)
    if first is None and second is None:
        return _by_own_facts(graph, union, len(holdout) > 0, stage)
    return _put_together(graph, union, first, second, shares, len(holdout) > 0)


def _score_model_alone(
    graph: Graph,
    candidates: ScoredTriples,
    training: TrainingSet,
    first: HoldoutEstimate,
    shares: Sequence[float],
    seed: int,
    stage: Stage,
) -> HoldoutEstimate:
    """Score what a model alone proposes.

    Rules' proposals tell how many facts are missing, the holdout which part of them the model alone proposes.
    """
    by_rules, _, both = shares
    expected = first.share * len(first.scored) * (both - by_rules) / by_rules
    share = float(np.clip(expected / max(len(candidates), 1), 1e-9, 0.9))
    others = np.random.default_rng(seed).permutation(np.flatnonzero(~training.true))[:MOST_UNLABELLED]
    rows = np.sort(np.append(np.flatnonzero(training.true), others))
    training = replace(training, proposals=training.proposals.take(rows), true=training.true[rows], share=share)
    scored, model = score_evidence(graph, candidates, training, stage=stage)
    p, count, accepted = sigmoid(scored.scores), int(training.true.sum()), scored.scores > 0
    # As many as a holdout of this size leaves open.
    draws = np.random.default_rng(seed).gamma(count + 0.5, 1 / (count + 0.5), RESAMPLES)
    precisions = (draws * p[accepted].mean()).clip(0, 1) if accepted.any() else np.zeros(0)
    return HoldoutEstimate(scored, model, both, len(training.holdout), share, precisions)


def _put_together(
    graph: Graph,
    union: ScoredTriples,
    first: HoldoutEstimate | None,
    second: HoldoutEstimate | None,
    shares: list[float],
    has_holdout: bool,
) -> Candidates:
    """Put rules' proposals and what the model alone proposes after each other, with what holdouts tell of all."""
    rules, _, both = shares
    found = [one for one in (first, second) if one is not None]
    accepted, sizes = [int((one.scored.scores > 0).sum()) for one in found], [len(one.scored) for one in found]
    share = sum(one.share * size for one, size in zip(found, sizes, strict=True)) / sum(sizes)
    recall = both if first is None else first.recall + (both - rules if second is not None else 0)
    draws = [(one.precisions, n) for one, n in zip(found, accepted, strict=True) if n and len(one.precisions)]
    total = sum(count for _, count in draws)
    precisions = np.asarray(sum(one * count for one, count in draws) / total) if total else np.zeros(0)
    every = replace(found[0], recall=min(recall, 1.0), share=share, precisions=precisions)
    pays, summary = _describe_model(shares, second)
    left_out = int((~_by_rules(union)).sum()) if second is None else 0
    notes = [every.summary(), summary if has_holdout else NO_HOLDOUT]
    notes += [LEFT_OUT.format(left_out)] if left_out else []
    scored = union.take(np.concatenate([union.rows_of(one.scored) for one in found])).without_pieces()
    return Candidates(
        scored.with_scores(np.concatenate([one.scored.scores for one in found])).with_used_names(),
        tuple(notes),
        Reasons(tuple((one.scored, one.model) for one in found), graph),
        tuple(precisions.round(4).tolist()),
        pays if has_holdout else None,
        log_odds=True,
    )


def _describe_model(shares: list[float], second: HoldoutEstimate | None) -> tuple[dict[str, Any], str]:
    """Return what a model adds to rules, as plain values and in a sentence; it pays where a fact is likelier than not.

    The shares of the holdout that each proposes; how many facts of the model alone are likelier than not (``adds``),
    and the share of true ones among those: low, middle, high.
    """
    adds = 0 if second is None else int((second.scored.scores > 0).sum())
    precision = None if second is None or not adds else second.precision.round(4).tolist()
    rules, model, both = shares
    lines = [f"Of the holdout rules propose {rules:.1%}, the model {model:.1%}, both {both:.1%}."]
    if precision is not None:
        low, middle, high = precision
        lines.append(
            f"Of what the model alone proposes {adds:,} are likelier than not, {middle:.0%} of them true "
            f"({low:.0%} to {high:.0%})."
        )
    lines.append("So the model pays." if adds else "So rules alone would do.")
    values = {"rules": rules, "model": model, "both": both, "adds": adds, "precision": precision, "pays": adds > 0}
    return values, " ".join(lines)


def _by_own_facts(graph: Graph, union: ScoredTriples, has_holdout: bool, stage: Stage) -> Candidates:
    """Score what rules and a model propose by some of the graph's own facts, where a holdout cannot teach."""
    plain = union.without_pieces()
    why = "Too few holdout facts are among the proposals" if has_holdout else "No holdout facts are known"
    try:
        scored, model = score_evidence(graph, plain, TrainingSet.from_graph(graph, plain), stage=stage)
    except TableError:
        rows = np.flatnonzero((plain.further["proposed_by"] != RULES) & np.isfinite(plain.scores))
        return Candidates(plain.take(rows), (TOO_SMALL,))
    return Candidates.by_evidence(scored, model, graph, f"{why}: {OWN_FACTS}")
