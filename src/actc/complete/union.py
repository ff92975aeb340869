"""Rules and a model propose together: each candidate once, with who proposed it, learnt from what both did not see."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actc.complete.candidates import MODEL, RULES, TOO_SMALL, Candidates
from actc.complete.search import Scorer, score_known
from actc.data.numeric import sigmoid
from actc.data.progress import Stage, no_stage
from actc.data.triples import BoolArray, IntArray, ScoredTriples, Triples
from actc.errors import TableError
from actc.evidence.holdouts import MOST_UNLABELLED, RESAMPLES, HoldoutEstimate, score_by_holdouts, score_rules
from actc.evidence.model import is_of_scores
from actc.evidence.reasons import Reasons
from actc.evidence.rules import RuleProposals, propose_by_rules
from actc.evidence.score import TrainingSet, score_evidence
from actc.evidence.table import Proposals, place_scores
from actc.graph.graph import Graph

LEFT_OUT = "{:,} proposals of the model alone are left out: hardly a fact that it was not trained on is among them."
NO_HOLDOUT = "No facts are known that the model was not trained on: whether it pays is unknown; --held gives some."
OWN_FACTS = "the graph's own facts teach the weights of evidence, and scores do not count; --held gives some."


@dataclass(frozen=True, eq=False)
class ModelProposals:
    """A model, facts that it was not trained on, and what it proposes as if these were not known."""

    scorer: Scorer
    holdout: Graph
    proposals: Triples


@dataclass(frozen=True, eq=False)
class JoinedProposals:
    """N proposals of rules and a model, each triple once; the model's scores, and the rules' confidences, are marks.

    ``by_rules`` and ``by_model`` tell who proposed each; ``columns`` are those of the candidates' file.
    """

    proposals: Proposals
    by_rules: BoolArray
    by_model: BoolArray
    columns: dict[str, NDArray[Any]]

    def of_model_alone(self) -> Proposals:
        """Return what only the model proposes: no rule has a confidence in it."""
        scores = {name: values for name, values in self.proposals.marks.items() if is_of_scores(name)}
        return replace(self.proposals, marks=scores).take(~self.by_rules)

    def shares_of(self, holdout: Graph) -> list[float]:
        """Return the share of a holdout that rules, the model and both propose."""
        true, count = holdout.contains(self.proposals.triples), max(len(holdout), 1)
        return [int((true & who).sum()) / count for who in (self.by_rules, self.by_model, np.ones_like(true))]


def join_proposals(rules: RuleProposals, model: Triples, scorer: Scorer, names: Triples) -> JoinedProposals:
    """Put what rules and a model propose together, each once, with the model's score where it knows the names.

    ``names`` has the vocabularies of the result.
    """
    every = Graph.of(rules.candidates.union(model)).recoded(names.entity_names, names.relation_names)
    rows = rules.candidates.rows_of(every)
    by_rules, by_model = rows >= 0, model.contains(every)
    marks = {name: _spread(values, rows, np.nan) for name, values in rules.proposals().marks.items()}
    table = rules.columns()
    missing: dict[str, Any] = {"rule": "", "rule_confidence": np.nan, "rules": 0}
    columns = {name: _spread(table[name], rows, empty) for name, empty in missing.items()}
    both = np.where(by_model, f"{RULES};{MODEL}", RULES)
    columns["proposed_by"] = np.where(by_rules, both, MODEL).astype(object)
    proposals = place_scores(Proposals(every, (score_known(scorer, every),), marks))
    return JoinedProposals(proposals, by_rules, by_model, columns)


def _spread(values: NDArray[Any], rows: IntArray, missing: Any) -> NDArray[Any]:
    """Return a value for each row, ``missing`` where the row is -1."""
    if not len(values):
        return np.full(len(rows), missing, dtype=values.dtype)
    return np.where(rows >= 0, values[rows], missing)


def candidates_of_both(graph: Graph, model: ModelProposals, seed: int = 0, stage: Stage = no_stage) -> Candidates:
    """Return what rules and a model propose, scored by evidence that is learnt from facts that neither had seen.

    What both propose is far likelier than what a model alone does, and other evidence counts in it. So each kind is
    learnt by itself.

    Parameters
    ----------
    graph : Graph
        The known facts.
    model : ModelProposals
        With an empty holdout where none is known: the graph's own facts then teach the weights of evidence.
    seed, stage
        As for ``score_by_holdouts``.
    """
    if not graph.contains(model.holdout).all():
        graph = Graph.of(graph.union(model.holdout))
    kinds = ("entity_names", "relation_names")
    graph = graph.recoded(*(sorted({*getattr(graph, kind), *getattr(model.proposals, kind)}) for kind in kinds))
    rules = propose_by_rules(graph)
    before = propose_by_rules(graph.take(~model.holdout.contains(graph)), confidence=rules.least)
    alone = join_proposals(before, model.proposals, model.scorer, graph)
    shares = alone.shares_of(model.holdout)
    new = model.proposals.take(np.flatnonzero(~graph.contains(model.proposals)))
    union = join_proposals(rules, new, model.scorer, graph)
    first = second = None
    with suppress(TableError):  # no rule proposes anything
        first = score_rules(graph, rules, seed=seed, stage=stage)
    with suppress(TableError):  # hardly a holdout fact is among what the model alone proposes
        training = TrainingSet.among(model.holdout, alone.of_model_alone())
        if not training.true.any():
            raise TableError("The model alone proposes no holdout fact.")
        if first is None or not shares[0]:
            second = score_by_holdouts(graph, union.of_model_alone(), [training], seed=seed, stage=stage)
        else:
            second = _score_model_alone(graph, union.of_model_alone(), training, first, shares, seed, stage)
    if first is None and second is None:
        return _by_own_facts(graph, model, rules, stage)
    return _put_together(graph, union, first, second, shares, len(model.holdout) > 0)


def _score_model_alone(
    graph: Graph,
    candidates: Proposals,
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
    expected = first.share * len(first.scored.log_odds) * (both - by_rules) / by_rules
    share = float(np.clip(expected / max(len(candidates), 1), 1e-9, 0.9))
    others = np.random.default_rng(seed).permutation(np.flatnonzero(~training.true))[:MOST_UNLABELLED]
    rows = np.sort(np.append(np.flatnonzero(training.true), others))
    training = replace(training, proposals=training.proposals.take(rows), true=training.true[rows], share=share)
    scored = score_evidence(graph, candidates, training, stage=stage)
    p, count, accepted = sigmoid(scored.log_odds), int(training.true.sum()), scored.log_odds > 0
    # As many as a holdout of this size leaves open.
    draws = np.random.default_rng(seed).gamma(count + 0.5, 1 / (count + 0.5), RESAMPLES)
    precisions = (draws * p[accepted].mean()).clip(0, 1) if accepted.any() else np.zeros(0)
    return HoldoutEstimate(scored, both, len(training.holdout), share, precisions)


def _put_together(
    graph: Graph,
    union: JoinedProposals,
    first: HoldoutEstimate | None,
    second: HoldoutEstimate | None,
    shares: list[float],
    has_holdout: bool,
) -> Candidates:
    """Put rules' proposals and what the model alone proposes after each other, with what holdouts tell of all."""
    rules, _, both = shares
    parts, rows, found = [], [], list[HoldoutEstimate]()
    for of_rules, one in ((True, first), (False, second)):
        if one is not None:
            parts.append(one.scored)
            rows.append(np.flatnonzero(union.by_rules == of_rules))
            found.append(one)
    accepted = [int((part.log_odds > 0).sum()) for part in parts]
    sizes = [len(one.scored.log_odds) for one in found]
    share = sum(one.share * size for one, size in zip(found, sizes, strict=True)) / sum(sizes)
    recall = both if first is None else first.recall + (both - rules if second is not None else 0)
    draws = [(one.precisions, n) for one, n in zip(found, accepted, strict=True) if n and len(one.precisions)]
    total = sum(count for _, count in draws)
    precisions = np.asarray(sum(one * count for one, count in draws) / total) if total else np.zeros(0)
    every = replace(found[0], recall=min(recall, 1.0), share=share, precisions=precisions)
    pays, summary = _describe_model(shares, second)
    left_out = int((~union.by_rules).sum()) if second is None else 0
    notes = [every.summary(), summary if has_holdout else NO_HOLDOUT]
    notes += [LEFT_OUT.format(left_out)] if left_out else []
    scored = reduce(ScoredTriples.followed_by_scored, (part.candidates for part in parts))
    further = {name: values[np.concatenate(rows)] for name, values in union.columns.items()}
    return Candidates(
        replace(scored, further=further),
        tuple(notes),
        Reasons(tuple((part.evidence, part.model) for part in parts), graph),
        tuple(precisions.round(4).tolist()),
        pays if has_holdout else None,
        log_odds=True,
    )


def _describe_model(shares: list[float], second: HoldoutEstimate | None) -> tuple[dict[str, Any], str]:
    """Return what a model adds to rules, as plain values and in a sentence; it pays where a fact is likelier than not.

    The shares of the holdout that each proposes; how many facts of the model alone are likelier than not (``adds``),
    and the share of true ones among those: low, middle, high.
    """
    adds = 0 if second is None else int((second.scored.log_odds > 0).sum())
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


def _by_own_facts(graph: Graph, model: ModelProposals, rules: RuleProposals, stage: Stage) -> Candidates:
    """Score what rules and a model propose by some of the graph's own facts, where a holdout cannot teach."""
    new = model.proposals.take(np.flatnonzero(~graph.contains(model.proposals)))
    union = join_proposals(rules, new, model.scorer, graph)
    plain = Proposals(union.proposals.triples)
    why = "Too few holdout facts are among the proposals" if len(model.holdout) else "No holdout facts are known"
    try:
        scored = score_evidence(graph, plain, TrainingSet.from_graph(graph, plain.triples), stage=stage)
    except TableError:
        scores = union.proposals.marks["score"]
        rows = np.flatnonzero(union.by_model & np.isfinite(scores))
        further = {name: values[rows] for name, values in union.columns.items()}
        return Candidates(replace(plain.triples.take(rows).with_scores(scores[rows]), further=further), (TOO_SMALL,))
    return Candidates.by_evidence(scored, graph, union.columns, f"{why}: {OWN_FACTS}")
