"""Rules and a model propose together: each candidate once, with who proposed it, learned from what both did not see."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from actc.complete.candidates import MODEL, TOO_SMALL, Candidates
from actc.complete.search import Scorer, score_known
from actc.data.numeric import sigmoid
from actc.data.progress import Stage, no_stage
from actc.data.triples import BoolArray, ScoredTriples, Triples
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
    rows = rules.rows_of(every)  # -1 where a missing value is appended
    missing: dict[str, Any] = {"rule": "", "rule_confidence": np.nan, "rules": 0}
    further = {name: np.append(rules.further[name], empty)[rows] for name, empty in missing.items()}
    both = np.where(model.contains(every), f"{RULES};{MODEL}", RULES)
    further["proposed_by"] = np.where(rows >= 0, both, MODEL).astype(object)
    scores = score_known(scorer, every)
    joined = replace(every.with_scores(scores), further=further, pieces={"score": scores})
    return place_scores(joined).with_pieces(
        **{name: np.append(values, np.nan)[rows] for name, values in rules.pieces.items()}
    )


def _proposed_by(who: str, proposals: ScoredTriples) -> BoolArray:
    """Return which proposals are those of rules, or of the model, shape (N,)."""
    return np.asarray(proposals.further["proposed_by"] != {RULES: MODEL, MODEL: RULES}[who])


def _of_model_alone(proposals: ScoredTriples) -> ScoredTriples:
    """Return what only the model proposes: no rule has a confidence in it."""
    alone = proposals.take(~_proposed_by(RULES, proposals))
    return replace(alone, pieces={name: values for name, values in alone.pieces.items() if is_of_scores(name)})


def candidates_of_both(
    graph: Graph,
    scorer: Scorer,
    holdout: Graph,
    proposals: Triples,
    seed: int = 0,
    stage: Stage = no_stage,
) -> Candidates:
    """Return what rules and a model propose, scored by evidence that is learned from facts that neither had seen.

    What both propose is far likelier than what a model alone does, and other evidence counts in it. So each kind is
    learned by itself.

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
    true, count = holdout.contains(as_if), max(len(holdout), 1)
    shares = {who: int((true & _proposed_by(who, as_if)).sum()) / count for who in (RULES, MODEL)}
    shares["both"] = int(true.sum()) / count
    union = join_proposals(by_rules, proposals.take(~graph.contains(proposals)), scorer, graph)
    first = second = None
    with suppress(TableError):  # no rule proposes anything
        first = score_rules(graph, by_rules, rules, seed=seed, stage=stage)
    with suppress(TableError):  # hardly a holdout fact is among what the model alone proposes
        training, alone = TrainingSet.among(holdout, _of_model_alone(as_if)), _of_model_alone(union)
        if not training.true.any():
            raise TableError("The model alone proposes no holdout fact.")
        if first is None or not shares[RULES]:
            second = score_by_holdouts(graph, alone, [training], seed=seed, stage=stage)
        else:
            missing = first.share * len(first.scored) / shares[RULES]
            second = _score_model_alone(graph, alone, training, missing, shares, seed, stage)
    if first is None and second is None:
        return _by_own_facts(graph, union, len(holdout) > 0, stage)
    return _put_together(graph, union, first, second, shares, len(holdout) > 0)


def _score_model_alone(
    graph: Graph,
    candidates: ScoredTriples,
    training: TrainingSet,
    missing: float,
    shares: Mapping[str, float],
    seed: int,
    stage: Stage,
) -> HoldoutEstimate:
    """Score what a model alone proposes.

    Rules' proposals show how many facts are missing, the holdout which part of them the model alone proposes.
    """
    expected = missing * (shares["both"] - shares[RULES])
    share = float(np.clip(expected / max(len(candidates), 1), 1e-9, 0.9))
    random = np.random.default_rng(seed)
    others = random.permutation(np.flatnonzero(~training.true))[:MOST_UNLABELLED]
    rows = np.sort(np.append(np.flatnonzero(training.true), others))
    training = replace(training, proposals=training.proposals.take(rows), true=training.true[rows], share=share)
    scored, model = score_evidence(graph, candidates, training, stage=stage)
    count, accepted = int(training.true.sum()), scored.scores > 0
    # As many as a holdout of this size leaves open.
    draws = np.random.default_rng(seed).gamma(count + 0.5, 1 / (count + 0.5), RESAMPLES)
    precisions = (draws * sigmoid(scored.scores)[accepted].mean()).clip(0, 1) if accepted.any() else np.zeros(0)
    return HoldoutEstimate(scored, model, shares["both"], len(training.holdout), share, precisions)


def _put_together(
    graph: Graph,
    union: ScoredTriples,
    first: HoldoutEstimate | None,
    second: HoldoutEstimate | None,
    shares: Mapping[str, float],
    has_holdout: bool,
) -> Candidates:
    """Put rules' proposals and what the model alone proposes after each other, with what holdouts show of all."""
    parts = [one for one in (first, second) if one is not None]
    sizes, accepted = np.array([(len(one.scored), (one.scored.scores > 0).sum()) for one in parts]).T
    recall = shares["both"] if first is None else first.recall
    if first is not None and second is not None:
        recall = min(recall + shares["both"] - shares[RULES], 1.0)
    draws = [one.precisions * n for one, n in zip(parts, accepted, strict=True) if n]
    precisions = sum(draws) / accepted.sum() if draws else np.zeros(0)
    share = float(sizes @ [one.share for one in parts] / sizes.sum())
    every = replace(parts[0], recall=recall, share=share, precisions=precisions)
    pays, summary = _describe_model(shares, second)
    left_out = 0 if second else int((~_proposed_by(RULES, union)).sum())
    notes = [every.summary(), summary if has_holdout else NO_HOLDOUT]
    notes += [LEFT_OUT.format(left_out)] if left_out else []
    scored = union.take(np.concatenate([union.rows_of(one.scored) for one in parts])).without_pieces()
    return Candidates(
        scored.with_scores(np.concatenate([one.scored.scores for one in parts])).with_used_names(),
        tuple(notes),
        Reasons(tuple((one.scored, one.model) for one in parts), graph),
        tuple(precisions.round(4).tolist()),
        pays if has_holdout else None,
        log_odds=True,
    )


def _describe_model(shares: Mapping[str, float], second: HoldoutEstimate | None) -> tuple[dict[str, Any], str]:
    """Return what a model adds to rules, as plain values and in a sentence; it pays where a fact is likelier than not.

    The shares of the holdout that each proposes; how many facts of the model alone are likelier than not (``adds``),
    and the share of true ones among those: low, middle, high.
    """
    adds = 0 if second is None else int((second.scored.scores > 0).sum())
    precision = None if second is None or not adds else second.precision.round(4).tolist()
    lines = ["Of the holdout rules propose {rules:.1%}, the model {model:.1%}, both {both:.1%}.".format(**shares)]
    if precision is not None:
        low, middle, high = precision
        lines.append(
            f"Of what the model alone proposes {adds:,} are likelier than not, {middle:.0%} of them true "
            f"({low:.0%} to {high:.0%})."
        )
    lines.append("So the model pays." if adds else "So rules alone would do.")
    return {**shares, "adds": adds, "precision": precision, "pays": adds > 0}, " ".join(lines)


def _by_own_facts(graph: Graph, union: ScoredTriples, has_holdout: bool, stage: Stage) -> Candidates:
    """Score what rules and a model propose by some of the graph's own facts, where a holdout cannot teach."""
    plain = union.without_pieces()
    why = "Too few holdout facts are among the proposals" if has_holdout else "No holdout facts are known"
    try:
        scored, model = score_evidence(graph, plain, TrainingSet.from_graph(graph, plain), stage=stage)
    except TableError:
        return Candidates(plain.take(_proposed_by(MODEL, plain) & np.isfinite(plain.scores)), (TOO_SMALL,))
    return Candidates.by_evidence(scored, model, graph, f"{why}: {OWN_FACTS}")
