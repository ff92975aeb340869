"""Rules and a model propose together: each candidate once, with who proposed it, learnt from what both did not see."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actc.complete.score_triples import Scorer, score_known
from actc.data.numeric import sigmoid
from actc.data.triples import BoolArray, FloatArray, Triples
from actc.errors import TableError
from actc.evidence.holdouts import (
    MOST_UNLABELLED,
    RESAMPLES,
    HoldoutEstimate,
    score_by_holdouts,
    score_rules,
)
from actc.evidence.model import is_of_scores
from actc.evidence.rules import RuleProposals, propose_by_rules
from actc.evidence.score import ScoredEvidence, TrainingSet, score_evidence
from actc.evidence.table import Progress, Proposals, place_scores
from actc.graph.graph import Graph

RULES, MODEL, GIVEN = "rules", "model", "given"
NOT_WEIGHED = "{:,} proposals of the model alone are left out: hardly a fact that it was not trained on is among them."


@dataclass(frozen=True, eq=False)
class Proposer:
    """A model, facts that it was not trained on, and what it proposes as if these were not known.

    Parameters
    ----------
    scorer : Scorer
    holdout : Graph
    proposals : Triples
    """

    scorer: Scorer
    holdout: Graph
    proposals: Triples


@dataclass(frozen=True, eq=False)
class Union:
    """What rules and a model propose, each triple once.

    Parameters
    ----------
    proposals : Proposals
        N of them; the model's scores, and what rules say, are marks.
    by_rules, by_model : bool array of shape (N,)
    beside : dict of arrays of shape (N,)
        For whoever reads the candidates: the surest rule, its confidence, the number of rules, who proposed each.
    """

    proposals: Proposals
    by_rules: BoolArray
    by_model: BoolArray
    beside: dict[str, NDArray[Any]]

    def part(self, who: str) -> Proposals:
        """Return what rules propose, or what the model alone does: no rule says anything of that."""
        if who == RULES:
            return self.proposals.take(self.by_rules)
        scores = {name: values for name, values in self.proposals.marks.items() if is_of_scores(name)}
        return replace(self.proposals, marks=scores).take(~self.by_rules)


@dataclass(frozen=True)
class Pays:
    """What a model brings beside rules, by the holdout.

    Parameters
    ----------
    rules, model, both : float
        The share of the holdout that each proposes.
    adds : int
        How many facts that the model alone proposes are likelier than not.
    precision : tuple of float, or None
        The share of true ones among those: low, middle, high.
    """

    rules: float
    model: float
    both: float
    adds: int
    precision: tuple[float, ...] | None

    @property
    def does(self) -> bool:
        """Whether the model adds facts that are likelier than not."""
        return self.adds > 0

    def describe(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self) | {"pays": self.does}

    def tell(self) -> str:
        """Say whether the model pays, and by how much."""
        said = [f"Of the holdout rules propose {self.rules:.1%}, the model {self.model:.1%}, both {self.both:.1%}."]
        if self.precision is not None:
            low, middle, high = self.precision
            said.append(
                f"Of what the model alone proposes {self.adds:,} are likelier than not, {middle:.0%} of them true "
                f"({low:.0%} to {high:.0%})."
            )
        return " ".join([*said, "So the model pays." if self.does else "So rules alone would do."])


def join_proposals(rules: RuleProposals, model: Triples, scorer: Scorer, names: Triples) -> Union:
    """Put what rules and a model propose together, each once, with the model's score where it knows the names.

    Parameters
    ----------
    rules : RuleProposals
    model : Triples
        What the model proposes.
    scorer : Scorer
    names : Triples
        Its vocabularies are those of the union.
    """
    every = Graph.of(rules.candidates.union(model)).recoded(names.entity_names, names.relation_names)
    rows = rules.candidates.rows_of(every)
    by_rules, by_model = rows >= 0, model.contains(every)
    marks = {name: _spread(values, rows, np.nan) for name, values in rules.proposals().marks.items()}
    told = rules.columns()
    beside = {
        "rule": _spread(told["rule"], rows, ""),
        "rule_confidence": _spread(told["rule_confidence"], rows, np.nan),
        "rules": _spread(told["rules"], rows, 0),
        "proposed_by": np.where(by_rules, np.where(by_model, f"{RULES};{MODEL}", RULES), MODEL).astype(object),
    }
    return Union(place_scores(Proposals(every, (score_known(scorer, every),), marks)), by_rules, by_model, beside)


def _spread(values: NDArray[Any], rows: NDArray[np.int64], missing: Any) -> NDArray[Any]:
    """Return a value for each row, ``missing`` where the row is -1."""
    if not len(values):
        return np.full(len(rows), missing, dtype=values.dtype)
    return np.where(rows >= 0, values[rows], missing)


@dataclass(frozen=True, eq=False)
class WeighedUnion:
    """What rules propose, then what the model alone proposes, each weighed by what was learnt of its kind.

    Parameters
    ----------
    parts : tuple of ScoredEvidence
    beside : dict of arrays of shape (N,)
    found : HoldoutEstimate
        What the holdouts say of all candidates.
    pays : Pays
    notes : tuple of str
    """

    parts: tuple[ScoredEvidence, ...]
    beside: dict[str, NDArray[Any]]
    found: HoldoutEstimate
    pays: Pays
    notes: tuple[str, ...] = ()


def weigh_union(
    graph: Graph,
    model: Proposer,
    relations: Sequence[str],
    *,
    seed: int,
    progress: Progress | None,
) -> WeighedUnion:
    """Weigh what rules and a model propose, by facts that were not seen: rules' proposals as if there were no model.

    What both propose is far likelier than what a model alone does, and other evidence counts in it. So each kind has
    lessons of its own.

    Parameters
    ----------
    graph : Graph
        The known facts, the holdout among them.
    model : Proposer
    relations : sequence of str
        Only these; all if empty.
    seed, progress
        As for ``score_by_holdouts``.
    """
    rules = propose_by_rules(graph)
    rest = graph.take(~model.holdout.contains(graph))
    before = propose_by_rules(rest, confidence=rules.least).of_relations(relations)
    alone = join_proposals(before, model.proposals, model.scorer, graph)
    rules_share, _, both = shares = _shares(alone, model.holdout, relations)
    union = join_candidates(graph, rules, model)
    first = second = None
    with suppress(TableError):  # no rule proposes anything
        first = score_rules(graph, rules, seed=seed, progress=progress)
    with suppress(TableError):  # hardly a holdout fact is among what the model alone proposes
        training = TrainingSet.among(model.holdout, alone.part(MODEL))
        if not training.true.any():
            raise TableError("The model alone proposes no holdout fact.")
        if first is None or not rules_share:
            second = score_by_holdouts(graph, union.part(MODEL), [training], seed=seed, progress=progress)
        else:
            # Rules' proposals say how many facts are missing, the holdout which part of them the model alone proposes.
            expected = first.share * len(first.scored.log_odds) * (both - rules_share) / rules_share
            second = _weigh_alone(graph, union.part(MODEL), _draw(training, seed), expected, both, seed, progress)
    return _put_together(union, first, second, shares, relations)


def _draw(training: TrainingSet, seed: int) -> TrainingSet:
    """Return a training set with its holdout facts and, of many other proposals, some that are drawn."""
    others = np.random.default_rng(seed).permutation(np.flatnonzero(~training.true))[:MOST_UNLABELLED]
    rows = np.sort(np.append(np.flatnonzero(training.true), others))
    return replace(training, proposals=training.proposals.take(rows), true=training.true[rows])


def _weigh_alone(
    graph: Graph,
    candidates: Proposals,
    training: TrainingSet,
    expected: float,
    recall: float,
    seed: int,
    progress: Progress | None,
) -> HoldoutEstimate:
    """Weigh what a model alone proposes, of which so many are expected to be true."""
    share = float(np.clip(expected / max(len(candidates), 1), 1e-9, 0.9))
    weighed = score_evidence(graph, candidates, replace(training, share=share), progress=progress)
    chance, count = sigmoid(weighed.log_odds), int(training.true.sum())
    accepted = weighed.log_odds > 0
    # As many as a holdout of this size leaves open.
    draws = np.random.default_rng(seed).gamma(count + 0.5, 1 / (count + 0.5), RESAMPLES)
    precisions = (draws * chance[accepted].mean()).clip(0, 1) if accepted.any() else np.zeros(0)
    return HoldoutEstimate(weighed, recall, len(training.holdout), share, precisions)


def _shares(union: Union, holdout: Graph, relations: Sequence[str]) -> list[float]:
    """Return the share of a holdout that rules, the model and both propose."""
    true = holdout.contains(union.proposals.triples)
    count = max(int(_of(holdout, relations).sum()), 1)
    return [int((true & who).sum()) / count for who in (union.by_rules, union.by_model, np.ones_like(true))]


def _put_together(
    union: Union,
    first: HoldoutEstimate | None,
    second: HoldoutEstimate | None,
    shares: list[float],
    relations: Sequence[str],
) -> WeighedUnion:
    """Put rules' proposals and what the model alone proposes after each other, and what holdouts say of all."""
    rules, model, both = shares
    kinds = [(RULES, first), (MODEL, second)]
    told = {who: found for who, found in kinds if found is not None}
    if not told:
        raise TableError("Hardly a holdout fact is among the proposals.")
    parts, rows = [], []
    for who, found in told.items():
        keep = np.flatnonzero(_of(found.scored.evidence.candidates, relations))
        parts.append(found.scored.take(keep))
        rows.append(np.flatnonzero(union.by_rules == (who == RULES))[keep])
    accepted = [int((part.log_odds > 0).sum()) for part in parts]
    true = [found.share * len(found.scored.log_odds) for found in told.values()]
    recall = both if first is None else first.recall + (both - rules if second is not None else 0)
    share = sum(true) / sum(len(found.scored.log_odds) for found in told.values())
    precisions = _mix([found.precisions for found in told.values()], accepted)
    every = replace(next(iter(told.values())), recall=min(recall, 1.0), share=share, precisions=precisions)
    pays = Pays(rules, model, both, *_adds(second))
    left_out = int((~union.by_rules).sum()) if second is None else 0
    notes = (NOT_WEIGHED.format(left_out),) if left_out else ()
    beside = {name: values[np.concatenate(rows)] for name, values in union.beside.items()}
    return WeighedUnion(tuple(parts), beside, every, pays, notes)


def _adds(found: HoldoutEstimate | None) -> tuple[int, tuple[float, ...] | None]:
    """Return how many of a model's own proposals are likelier than not, and how many of these are true."""
    count = 0 if found is None else int((found.scored.log_odds > 0).sum())
    return count, None if found is None or not count else tuple(found.precision.round(4).tolist())


def _mix(draws: Sequence[FloatArray], accepted: Sequence[int]) -> FloatArray:
    """Return draws of the share of true ones among all that is accepted, from those of its parts."""
    used = [(one, count) for one, count in zip(draws, accepted, strict=True) if count and len(one)]
    if not used:
        return np.zeros(0)
    return np.asarray(sum(one * count for one, count in used) / sum(count for _, count in used))


def join_candidates(graph: Graph, rules: RuleProposals, model: Proposer) -> Union:
    """Return what the whole graph's rules and the model propose that is no fact."""
    new = model.proposals.take(np.flatnonzero(~graph.contains(model.proposals)))
    return join_proposals(rules, new, model.scorer, graph)


def _of(triples: Triples, relations: Sequence[str]) -> BoolArray:
    """Say which triples are of some relations, all if none is named."""
    named = np.isin(triples.relation_names.array, list(relations)) if relations else None
    return np.ones(len(triples), dtype=np.bool_) if named is None else np.asarray(named[triples.relations])
