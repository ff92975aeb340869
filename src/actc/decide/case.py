"""One open case, and the one decision: pool, answers and judges, fitted once, and handed to whoever decides or reports.

Whatever says which triples are accepted asks :meth:`Case.decide`: a person's word, then judges, then the method; and of
what cannot be true together, the most probable alone. Whatever says how good that is asks :attr:`Case.estimates`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actc.data.answers import Annotations, Answers
from actc.data.calibration import Promised
from actc.data.constraints import Constraints
from actc.data.curves import KNOTS, Curves, look_up_few, tabulate_curves
from actc.data.numeric import cut_between
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Thresholds, Triples, as_vocabulary
from actc.decide.conflicts import Conflicts, Resolution, match_conflicts, resolve_conflicts, weigh_facts
from actc.decide.estimate import Estimates, estimate_share
from actc.decide.guarantee import LIST, BegunRound, DrawnRound, Guarantee, Ranking, error_left
from actc.decide.judge_answers import JudgeAnswers
from actc.decide.judge_model import JudgeAdjustedFit
from actc.decide.list_test import TUNED, Demand, answers_needed
from actc.errors import OptionError
from actc.methods.named import Fit, Method, named_method, thresholds_of

ORACLE = "oracle"
"""Who answered, where a file played the person."""
PEOPLE = ("person", ORACLE)
"""Whose word decides before all others."""
BY = (*PEOPLE, "judges", "method")
"""Who may have accepted a triple."""
FOLDS = 5
"""Parts of the answers; each part is foreseen by a fit on the others."""
CONSTRAINT = "constraint"
"""Who decided, where a triple would have been accepted by itself."""


@dataclass(frozen=True, eq=False)
class Decisions:
    """What becomes of triples.

    Parameters
    ----------
    triples : ScoredTriples
    accepted : bool array of shape (N,)
    probability : float array of shape (N,), or None
        P(true): 0 or 1 where a person said it; None where the method has none.
    by : object array of shape (N,)
        Who decided: ``person``, ``oracle``, ``judges`` (where they turned the method's decision round), ``method``, or
        ``constraint`` where it would have been accepted by itself.
    resolution : Resolution, optional
        What constraints excluded, where there are any.
    """

    triples: ScoredTriples
    accepted: BoolArray
    probability: FloatArray | None
    by: NDArray[np.object_]
    resolution: Resolution | None = None

    @property
    def excluded(self) -> IntArray:
        """The rows that constraints excluded."""
        return np.flatnonzero(self.by == CONSTRAINT)

    def columns(self, accepted_only: bool = True) -> dict[str, NDArray[Any]]:
        """Return head, relation, tail, score, accepted (of all), probability and by, as files and frames have them."""
        rows = np.flatnonzero(self.accepted) if accepted_only else np.arange(len(self.triples))
        more: dict[str, NDArray[Any]] = {} if accepted_only else {"accepted": self.accepted}
        more |= {} if self.probability is None else {"probability": self.probability[rows]}
        columns = {**self.triples.take(rows).columns(), "score": self.triples.scores[rows]}
        return {**columns, **more, "by": self.by[rows]}


@dataclass(frozen=True, eq=False)
class Case:
    """Pool, answers and judges, and what a method makes of them; each thing is worked out once, when it is asked for.

    Parameters
    ----------
    pool, annotations, known
        The candidates, people's answers in the order they were given, the scored triples that the graph holds.
    method : str or Method
    judged : JudgeAnswers
        What machines said of rows of the pool.
    demand : Demand, optional
        The precision that is guaranteed of what is accepted beyond people's own answers.
    found : Thresholds, optional
        Thresholds that were found before, in the place of the fit's own.
    name : str
        What to call it.
    fitted : Fit, optional
        The method's fit on the answers, where somebody has it already.
    candidates : ScoredTriples, optional
        What is decided on, where it is more than the pool that questions are chosen from.
    holdout : tuple of float
        Draws of the accepted precision by facts that were held out: what is said while nobody has answered.
    constraints : Constraints
        What cannot be true together.
    facts : Triples, optional
        What the graph holds, for constraints that candidates and facts would violate together.
    begun : BegunRound, optional
        A round of draws that has begun, though none of them may be answered yet.
    words : Answers
        What people said of candidates that are not in the pool: it decides these, and teaches nothing.
    bases : dict of int to Case
        The cases before some of the rounds, by the round's number, where somebody has them already.
    """

    pool: ScoredTriples
    annotations: Annotations = field(default_factory=Annotations)
    known: ScoredTriples | None = None
    method: str | Method = "pooled"
    judged: JudgeAnswers = field(default_factory=JudgeAnswers.none)
    demand: Demand | None = None
    found: Thresholds | None = None
    name: str = "thresholds"
    fitted: Fit | None = None
    candidates: ScoredTriples | None = None
    holdout: tuple[float, ...] = ()
    constraints: Constraints = field(default_factory=Constraints)
    facts: Triples | None = None
    begun: BegunRound | None = None
    words: Answers = field(default_factory=Answers)
    bases: dict[int, Case] = field(default_factory=dict)

    @property
    def target(self) -> ScoredTriples:
        """What is decided on: the pool, unless there is more."""
        return self.pool if self.candidates is None else self.candidates

    @property
    def found_method(self) -> Method:
        """The method itself."""
        return named_method(self.method) if isinstance(self.method, str) else self.method

    @cached_property
    def fit(self) -> Fit:
        """The method's fit on the answers."""
        return self.fitted or self.found_method.fit(self.pool, self.annotations, self.known)

    @cached_property
    def rounds(self) -> list[DrawnRound]:
        """The rounds of draws from lists, each with the case as it was before it, in their order."""
        answers = self.annotations
        drawn = (answers.selection == LIST) & answers.has_inclusion_probability
        found = []
        for number in np.unique(answers.round[drawn]).astype(np.int64).tolist():
            mine = answers.take(drawn & (answers.round == number))
            one = BegunRound.read(number, mine.sampling_frame[0], float(mine.inclusion_probability[0]))
            found += [] if one is None else [self._find_round(one, mine)]
        if self.begun is not None and self.begun.number not in {one.number for one in found}:
            found.append(self._find_round(self.begun, Annotations()))
        return found

    def _find_round(self, begun: BegunRound, mine: Annotations) -> DrawnRound:
        number = begun.number
        earlier = self.annotations.take(self.annotations.round < number)
        plain = replace(self, annotations=earlier, demand=None, fitted=None, found=None, begun=None)
        base = self.bases.get(number, plain)
        ranking = base.ranking
        places = np.full(len(self.pool), -1)
        inside = np.flatnonzero(ranking.pool_rows >= 0)
        places[ranking.pool_rows[inside]] = inside
        there = places[mine.rows] >= 0
        size = ranking.size_of(begun.listed)
        return DrawnRound(number, begun.plan, base, ranking, size, places[mine.rows][there], mine.labels[there])

    @cached_property
    def ranking(self) -> Ranking:
        """The candidates that nobody judged, the most probable first, by the method and judges alone.

        Constraints change nothing here: they only take out of what is accepted later.
        """
        p = self.rank_probabilities(self.target)
        pool_rows = np.arange(len(self.pool)) if self.target is self.pool else self.pool.rows_of(self.target)
        free = (pool_rows < 0) | ~np.isin(pool_rows, self.annotations.rows)
        rows = np.flatnonzero(free)
        rows = rows[np.argsort(-p[rows], kind="stable")]
        return Ranking(rows, p[rows], pool_rows[rows])

    def rank_probabilities(self, triples: ScoredTriples) -> FloatArray:
        """Return P(true) of triples by method and judges; rising with the score where a cut on the score decides."""
        p = self.fit.probabilities(triples)
        if p is None:
            raise OptionError(f"{self.method} has no probabilities; use a pooled method, such as --method pooled.")
        if self.fit.thresholds is not None:
            order = np.lexsort((triples.scores, triples.relations))
            lifted = p[order] + 2.0 * triples.relations[order]  # each relation above the one before it
            p = p.copy()
            p[order] = np.maximum.accumulate(lifted) - 2.0 * triples.relations[order]
        if self.heeded is not None:
            rows, spoken = self._judged_rows(triples)
            p[rows] = self.heeded.probabilities[spoken]
        return p

    def guarantee_for(self, demand: Demand) -> Guarantee:
        """Return the longest list that passed in any round; the errors of the rounds add up to that of the demand."""
        return max((one.test(demand) for one in self.rounds), key=lambda one: one.size, default=Guarantee(demand))

    def answers_needed(self, demand: Demand) -> int | None:
        """Return about how many more answers a guarantee needs, by today's P(true); None where none is in sight."""
        share = error_left(self.rounds) * (TUNED.open_end if self.rounds else 1.0)
        return answers_needed(self.plain.ranking.p, demand, share) if share > 0 else None

    @property
    def plain(self) -> Case:
        """The same case without a demand."""
        return self if self.demand is None else self._plain

    @cached_property
    def _plain(self) -> Case:
        return replace(self, demand=None, fitted=self.fit)

    def with_demand(self, demand: Demand) -> Case:
        """Return the same case under another demand; fit and rounds are not worked out again."""
        case = replace(self, demand=demand, fitted=self.fit, found=None)
        vars(case).update(rounds=self.rounds, _plain=self.plain)
        return case

    def plus(self, answers: Annotations) -> Case:
        """Return the case with the answers to its next questions; no earlier round is fitted again."""
        bases = {len(self.rounds) + 1: self.plain, **{one.number: one.base for one in self.rounds}}
        return replace(self, annotations=self.annotations.plus(answers), fitted=None, bases=bases)

    @cached_property
    def guarantee(self) -> Guarantee | None:
        """What the draws guarantee, if anything is demanded."""
        return None if self.demand is None else self.guarantee_for(self.demand)

    @property
    def promised(self) -> Promised | None:
        """What is guaranteed of what the method accepts, as thresholds.json has it; None where nothing was demanded."""
        kept = self.guarantee
        if kept is None:
            return None
        left_out = np.setdiff1d(self.target.relations, self.target.relations[kept.rows])
        names = tuple(self.target.relation_names[at] for at in left_out.tolist())
        return Promised(kept.demand.target, kept.demand.confidence, kept.bar if kept.size else None, names)

    @property
    def least(self) -> float:
        """P(true) from which on a triple is accepted that judges spoke of."""
        return 0.5 if self.guarantee is None else self.guarantee.bar

    @cached_property
    def thresholds(self) -> Thresholds:
        """One cut per relation: those found before, those of the list that passed, else the fit's own."""
        if self.guarantee is not None:
            return self._list_thresholds(self.guarantee)
        if not len(self.annotations) and self.found is None and self.fit.thresholds is None:
            raise OptionError(f"{self.method} needs answers before it finds thresholds; judge some triples.")
        return self.found or thresholds_of(self.fit)

    def _list_thresholds(self, kept: Guarantee) -> Thresholds:
        """Return cuts that accept the list: midway between its last candidate of a relation and the next one."""
        names = self.pool.relation_names
        cuts, own = np.full(len(names), np.inf), np.ones(len(names), dtype=np.bool_)
        if kept.drawn is not None and kept.size:
            thresholds_of(kept.drawn.base.fit)  # refused where no cut on the score decides
            p, target = kept.drawn.base.rank_probabilities(self.target), self.target
            order = np.lexsort((target.scores, target.relations))
            listed = (p >= kept.bar)[order]
            codes = as_vocabulary(names).translate(target.relations, target.relation_names)[order]
            first = np.flatnonzero(listed & np.r_[True, (codes[1:] != codes[:-1]) | ~listed[:-1]])
            before = np.maximum(first - 1, 0)
            alone = (first == 0) | (codes[before] != codes[first])
            scores = target.scores[order]
            between = np.where(alone, scores[first], cut_between(scores[before], scores[first]))
            known = codes[first] >= 0
            cuts[codes[first][known]] = between[known]
        return Thresholds(names, cuts, np.inf, own)

    @cached_property
    def heeded(self) -> JudgeAdjustedFit | None:
        """The fit with what judges add to it; None where there are none."""
        if not len(self.judged) or self.fit.probabilities(self.pool) is None:
            return None
        return JudgeAdjustedFit(self.found_method, self.pool, self.annotations, self.known, self.fit, self.judged)

    def without_judges(self) -> Case:
        """Return the same case, its fit among it, as if no machine had judged."""
        return replace(self, judged=JudgeAnswers.none(), fitted=self.fit)

    def answers_in(self, triples: ScoredTriples) -> Annotations:
        """Return those of the answers that are about some triples, with their rows."""
        if triples is self.pool:
            return self.annotations
        rows = triples.rows_of(self.pool.take(self.annotations.rows))
        found = replace(self.annotations.take(rows >= 0), rows=rows[rows >= 0])
        if not len(self.words):
            return found
        more = self.words.take(~self.pool.contains(self.words.triples)).on(triples)
        return found.plus(more.without_inclusion_probability())

    @cached_property
    def decisions(self) -> Decisions:
        """The decisions on the target."""
        return self.decide(self.target)

    @cached_property
    def curves(self) -> Curves | None:
        """P(true) against the score, to the digit as thresholds.json has it; None where there is none."""
        if self.guarantee is not None and self.guarantee.drawn is not None:
            base: Case = self.guarantee.drawn.base
            return base.curves
        found = tabulate_curves(self.fit.probabilities, self.pool, self.target.scores)
        return None if found is None else found.as_written()

    def probabilities(self, triples: ScoredTriples) -> FloatArray | None:
        """Return P(true) of any triples by the method alone, as whoever reads thresholds.json will see it."""
        if self.fit.thresholds is None:  # answers moved the weights of evidence
            return self.fit.probabilities(triples)
        if "curves" not in vars(self) and 2 * len(triples) < KNOTS * len(self.pool.relation_names):
            return look_up_few(self.fit.probabilities, triples, self.target.scores)
        return None if self.curves is None else self.curves.of(triples)

    def decide(self, triples: ScoredTriples) -> Decisions:
        """Decide on any triples; of those that cannot be true together at most one, the most probable, is accepted."""
        alone = self.decide_alone(triples)
        if not len(self.constraints):
            return alone
        answers, words = self.answers_in(triples), np.full(len(triples), -1)
        words[answers.rows] = answers.labels
        p, bars = self._chances(triples, alone)
        conflicts = replace(self._conflicts(triples), constraints=self.rules)
        found = resolve_conflicts(conflicts, triples, triples.scores, p, alone.accepted, words, bars)
        by = np.where(alone.accepted & ~found.accepted, CONSTRAINT, alone.by)
        told = alone.probability
        if told is not None:
            told = np.where(found.contested & (words < 0), found.probability, told)
        return Decisions(triples, found.accepted, told, by.astype(object), found)

    @cached_property
    def rules(self) -> Constraints:
        """The constraints that are used, each with what it counts against facts, as the target bears it out."""
        if not len(self.constraints):
            return self.constraints
        p, _ = self._chances(self.target, self.decide_alone(self.target))
        return weigh_facts(self._conflicts(self.target), self.target, p)

    @cached_property
    def _target_conflicts(self) -> Conflicts:
        return match_conflicts(self.constraints, self.target, self.facts)

    def _conflicts(self, triples: ScoredTriples) -> Conflicts:
        """Find where triples compete; of the target once."""
        is_target = triples is self.target
        return self._target_conflicts if is_target else match_conflicts(self.constraints, triples, self.facts)

    @property
    def violated_by_people(self) -> int:
        """How many places hold more than one by people's word, though a constraint allows one."""
        if not len(self.constraints):
            return 0
        answers, places = self.answers_in(self.target), self._target_conflicts
        true = np.zeros(len(self.target), dtype=np.bool_)
        true[answers.rows] = answers.labels
        said = np.bincount(places.groups[true[places.rows]], minlength=len(places.facts))
        return int(((said > 0) & (said + places.facts > 1)).sum())

    def _chances(self, triples: ScoredTriples, alone: Decisions) -> tuple[FloatArray, FloatArray]:
        """Return P(true), and the least that a relation's cut accepts.

        A method without probabilities has the score alone: then all are equally probable, and the best score enters.
        """
        if alone.probability is None:
            return np.full(len(triples), 0.5), np.zeros(len(triples))
        return alone.probability, np.minimum(self._bars(triples), 0.5)

    def _bars(self, triples: ScoredTriples) -> FloatArray:
        """Return the least P(true) that is accepted of each triple's relation; infinite where nothing is."""
        if self.guarantee is not None or self.fit.thresholds is None or self.curves is None:
            return np.full(len(triples), self.least)
        bars = self.curves.bars(self.thresholds)[self.curves.codes(triples)]
        cuts = self.thresholds.of(triples)
        return np.where(np.isinf(cuts), cuts, bars)

    def decide_alone(self, triples: ScoredTriples) -> Decisions:
        """Decide on each triple by itself: a person's word, then judges, then the method."""
        unasked, answers = self._decide_unasked(triples), self.answers_in(triples)
        accepted, by = unasked.accepted.copy(), unasked.by.copy()
        accepted[answers.rows] = answers.labels
        by[answers.rows] = np.where(answers.who == ORACLE, ORACLE, "person")
        probability = None if unasked.probability is None else unasked.probability.copy()
        if probability is not None:
            probability[answers.rows] = answers.labels
        return Decisions(triples, accepted, probability, by)

    def _decide_unasked(self, triples: ScoredTriples) -> Decisions:
        """Decide on each triple as if no person had spoken of it: judges, then the method; on the target once."""
        return self._target_unasked if triples is self.target else self._find_unasked(triples)

    @cached_property
    def _target_unasked(self) -> Decisions:
        return self._find_unasked(self.target)

    def _find_unasked(self, triples: ScoredTriples) -> Decisions:
        if self.guarantee is not None:
            return self._decide_by_list(triples, self.guarantee)
        accepted = self.fit.accepts(triples) if self.found is None else self.thresholds.decide(triples)
        probability = self.probabilities(triples)
        by = np.full(len(triples), "method", dtype=object)
        if self.heeded is not None:
            assert probability is not None
            rows, spoken = self._judged_rows(triples)
            probability[rows] = self.heeded.probabilities[spoken]
            by[rows[accepted[rows] != (probability[rows] >= self.least)]] = "judges"
            accepted[rows] = probability[rows] >= self.least
        return Decisions(triples, accepted, probability, by)

    def _judged_rows(self, triples: ScoredTriples) -> tuple[IntArray, IntArray]:
        """Return the rows of triples that judges spoke of, among these triples and in the pool."""
        assert self.heeded is not None
        spoken = np.flatnonzero(self.heeded.asked)
        rows = spoken if triples is self.pool else triples.rows_of(self.pool.take(spoken))
        return rows[rows >= 0], spoken[rows >= 0]

    def _decide_by_list(self, triples: ScoredTriples, kept: Guarantee) -> Decisions:
        """Accept the list that passed, by the P(true) that made it; nothing where none did."""
        base = self.plain if kept.drawn is None else kept.drawn.base
        decided = base._decide_unasked(triples)
        if decided.probability is None:
            raise OptionError(f"{self.method} has no probabilities; use a pooled method, such as --method pooled.")
        accepted, by = np.zeros(len(triples), dtype=np.bool_), np.full(len(triples), "method", dtype=object)
        if triples is self.target:
            accepted[kept.rows] = True
        elif kept.size:
            accepted = base.rank_probabilities(triples) >= kept.bar
        if base.heeded is not None and kept.size:
            rows, _ = base._judged_rows(triples)
            alone = base.without_judges().rank_probabilities(triples.take(rows))
            by[rows[accepted[rows] != (alone >= kept.bar)]] = "judges"
        return Decisions(triples, accepted, decided.probability, by)

    @property
    def accepted_precision(self) -> list[float] | None:
        """Lowest, middle and highest of the precision of what is accepted (90% interval); None where it is unknown."""
        share = None if self.estimates is None else self.estimates.overall["precision"]
        return None if share is None else [share.low, share.middle, share.high]

    @cached_property
    def estimates(self) -> Estimates | None:
        """How good the decisions on the target are, in all and by relation; None where there are no probabilities."""
        unasked, decided = self._decide_unasked(self.target), self.decisions
        if unasked.probability is None or decided.probability is None:
            return None
        answers, judged = self.answers_in(self.target), np.full(len(self.target), -1)
        judged[answers.rows] = answers.labels
        p = np.where(judged < 0, decided.probability, unasked.probability)
        drawn, listed = self.annotations.has_inclusion_probability, self.annotations.selection == LIST
        # Without a draw no answer corrects anything, and nothing has to be fitted again.
        foreseen = self._foresee_answers() if drawn.any() else np.full(len(self.annotations), 0.5)
        residuals, weights = self.annotations.labels - foreseen, 1 / self.annotations.inclusion_probability
        inside = foreseen >= self._bars(self.pool.take(self.annotations.rows))
        outside = ~inside & ~listed  # draws from a list tell of the list alone
        if (inside & listed & drawn).any():
            inside &= listed
        accepted, rejected = ((judged < 0) & (decided.accepted == side) for side in (True, False))
        belief = self._holdout_belief(p[accepted])
        shares = (
            estimate_share(p[accepted], residuals[drawn & inside], weights[drawn & inside], belief),
            estimate_share(p[rejected], residuals[drawn & outside], weights[drawn & outside]),
        )
        relations = self.target.relations
        draws_in = np.bincount(
            relations[answers.rows[answers.has_inclusion_probability]], minlength=len(self.target.relation_names)
        )
        source = "answers" if drawn.any() else "model" if belief is None else "holdout"
        return Estimates(relations, p, decided.accepted, judged, shares, draws_in, source)

    def _foresee_answers(self) -> FloatArray:
        """Return P(true) of each answered triple without its answer, shape (l,)."""
        answers, kept = self.annotations, self.guarantee
        if kept is None or kept.drawn is None:
            return self.foreseen
        base: Case = kept.drawn.base
        p = np.empty(len(answers))
        earlier = answers.round < kept.drawn.number
        p[earlier] = base.foreseen
        p[~earlier] = base.rank_probabilities(self.pool)[answers.rows[~earlier]]
        return p

    @cached_property
    def foreseen(self) -> FloatArray:
        """P(true) of each answered triple by a fit without a fifth of the answers, its own among them; shape (l,)."""
        answers, method = self.annotations, self.found_method
        triples, p = self.pool.take(answers.rows), np.full(len(answers), 0.5)
        folds = np.random.default_rng(0).permutation(len(answers)) % FOLDS
        few = self.fit.posterior is None and len(answers) < 2 * FOLDS  # a method that needs answers
        for fold in np.unique(folds).tolist():
            mine = folds == fold
            fit = self.fit if few else method.fit(self.pool, answers.take(~mine), self.known)
            found = fit.probabilities(triples.take(mine))
            p[mine] = 0.5 if found is None else found
        if self.heeded is not None:
            spoken = self.heeded.asked[answers.rows]
            p[spoken] = self.heeded.foreseen[spoken]
        return p

    def _holdout_belief(self, accepted: FloatArray) -> tuple[float, float] | None:
        """Return what the holdout says of the error of P(true) among the accepted: its mean and standard deviation."""
        if not self.holdout:
            return None
        if self.demand is not None and self.plain.estimates is not None:
            expected = self.plain.estimates.shares[0].expected
        else:
            expected = float(accepted.mean()) if len(accepted) else 0.5
        return float(np.mean(self.holdout)) - expected, float(np.std(self.holdout))
