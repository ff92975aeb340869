"""One open case, and the one decision: pool, answers and judges, fitted once.

Whatever depends on which triples are accepted asks :meth:`Case.decide`: a person's answer counts first, then judges,
then the method; of what cannot be true together, only the most probable is accepted. Whatever depends on how good that
is asks :attr:`Case.estimates`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from actc.data.answers import Annotations, Answers
from actc.data.calibration import Curves, GuaranteedPrecision, tabulate_curves
from actc.data.constraints import Constraints
from actc.data.numeric import cut_between, moderate
from actc.data.triples import BoolArray, FloatArray, IntArray, ScoredTriples, Thresholds, Triples
from actc.decide.conflicts import Conflicts, match_conflicts, resolve_conflicts, weigh_facts
from actc.decide.decision_table import CONSTRAINT, ORACLE, PRECISIONS, Decisions
from actc.decide.estimate import Estimates, estimate_correction
from actc.decide.guarantee import (
    LIST,
    MIN_ERROR,
    OPEN_END,
    Guarantee,
    Ranking,
    RoundPlan,
    SampledRound,
    TargetPrecision,
    answers_needed,
    error_left,
)
from actc.decide.judges import JudgeAdjustedFit, tabulate_signals
from actc.errors import OptionError
from actc.methods.named import Fit, Method, named_method, thresholds_of
from actc.methods.pooled.model import leave_one_out

REPORTED = (0.9, 0.95)
"""Precisions of which a report has the number of answers that a guarantee needs."""
FOLDS = 5
"""Parts of the answers; each part is predicted by a fit on the others."""
NO_ROWS = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Case:
    """Pool, answers and judges, and what a method makes of them; each thing is computed once, when it is first used."""

    pool: ScoredTriples  # what questions are chosen from
    annotations: Annotations = field(default_factory=Annotations)  # people's answers, in the order they were given
    known: ScoredTriples | None = None  # scored triples that the graph holds
    method: str | Method = "pooled"
    judged: Answers = field(default_factory=Answers)  # answers of judges about triples of the pool
    # the precision that is guaranteed of the triples that are accepted beyond people's own answers
    target: TargetPrecision | None = None
    given_thresholds: Thresholds | None = None  # thresholds to decide by, in the place of the fit's own
    name: str = "thresholds"  # what to call it
    fitted: Fit | None = None  # the method's fit on the answers, where the caller has it already
    # what is decided on, where it is more than the pool
    candidates: ScoredTriples = None  # type: ignore[assignment]  # the pool, where nothing is given
    # draws of the accepted precision by a holdout: the estimate while there is no answer
    holdout: tuple[float, ...] = ()
    constraints: Constraints = field(default_factory=Constraints)  # what cannot be true together
    # what the graph holds, for constraints that candidates and facts would violate together
    facts: Triples | None = None
    open_round: RoundPlan | None = None  # a round of draws that has begun, though none of them may be answered yet
    # people's answers about candidates that are not in the pool: they decide these, and teach nothing
    other_answers: Answers = field(default_factory=Answers)
    # the cases before some of the rounds, by the round's number, where the caller has them already
    bases: dict[int, Case] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.candidates is None:
            object.__setattr__(self, "candidates", self.pool)

    @property
    def named_method(self) -> Method:
        """The method itself, where it was given by name too."""
        return named_method(self.method) if isinstance(self.method, str) else self.method

    @cached_property
    def fit(self) -> Fit:
        """The method's fit on the answers."""
        return self.fitted or self.named_method.fit(self.pool, self.annotations, self.known)

    # Guarantees: rounds of draws from lists

    @cached_property
    def rounds(self) -> list[SampledRound]:
        """The rounds of draws from lists, each with the case as it was before it, in their order."""
        answers, rounds = self.annotations, list[SampledRound]()
        drawn = (answers.selection == LIST) & answers.has_inclusion_probability
        for number in np.unique(answers.round[drawn]).astype(np.int64).tolist():
            mine = answers.take(drawn & (answers.round == number))
            plan = RoundPlan.read(number, mine.sampling_frame[0], float(mine.inclusion_probability[0]))
            rounds += [] if plan is None else [self._open_round(plan, mine)]
        if self.open_round is not None and self.open_round.number not in {one.plan.number for one in rounds}:
            rounds.append(self._open_round(self.open_round, Annotations()))
        return rounds

    def _open_round(self, plan: RoundPlan, mine: Annotations) -> SampledRound:
        base = self.bases.get(plan.number)
        if base is None:
            earlier = self.annotations.take(self.annotations.round < plan.number)
            base = replace(self, annotations=earlier, target=None, fitted=None, given_thresholds=None, open_round=None)
        ranking, where = base.ranking, np.full(len(self.candidates) + 1, -1)  # the last is of what is none of them
        where[ranking.rows] = np.arange(len(ranking.rows))
        drawn = where[self.places[mine.rows]]
        return SampledRound(plan, base, ranking.size_of(plan.size), drawn[drawn >= 0], mine.labels[drawn >= 0])

    @cached_property
    def places(self) -> IntArray:
        """The row of each triple of the pool among the candidates, -1 where it is none of them."""
        return np.arange(len(self.pool)) if self.candidates is self.pool else self.candidates.rows_of(self.pool)

    @cached_property
    def ranking(self) -> Ranking:
        """The candidates that nobody judged, the most probable first, by the method and judges alone.

        Constraints change nothing here: they only take out of what is accepted later.
        """
        p, pool_rows = self.ranked, np.full(len(self.candidates), -1)
        pool_rows[self.places[self.places >= 0]] = np.flatnonzero(self.places >= 0)
        rows = np.flatnonzero(~np.isin(np.arange(len(p)), self.places[self.annotations.rows]))
        rows = rows[np.argsort(-p[rows], kind="stable")]
        return Ranking(rows, p[rows], pool_rows[rows])

    @cached_property
    def ranked(self) -> FloatArray:
        """P(true) of each candidate by method and judges, as lists are made of it, shape (N,)."""
        return self._with_judges(self.ranked_by_method)

    @cached_property
    def ranked_by_method(self) -> FloatArray:
        """The same by the method alone; rising with the score where a cut on the score decides."""
        triples, p = self.candidates, self.fit.probabilities(self.candidates)
        if p is None:
            raise OptionError(f"{self.method} has no probabilities; use a pooled method, such as --method pooled.")
        if self.fit.thresholds is not None:
            order = np.lexsort((triples.scores, triples.relations))
            lifted = p[order] + 2.0 * triples.relations[order]  # each relation above the one before it
            p = p.copy()
            p[order] = np.maximum.accumulate(lifted) - 2.0 * triples.relations[order]
        return p

    def guarantee_for(self, target: TargetPrecision) -> Guarantee:
        """Return the longest list that passed in any round; the errors of the rounds add up to that of the target."""
        return max((one.test(target) for one in self.rounds), key=lambda one: one.size, default=Guarantee(target))

    @cached_property
    def guarantee(self) -> Guarantee | None:
        """What the draws guarantee, if there is a target."""
        return None if self.target is None else self.guarantee_for(self.target)

    @property
    def guaranteed(self) -> GuaranteedPrecision | None:
        """What is guaranteed of what the method accepts, as thresholds.json has it; None where there is no target."""
        guarantee = self.guarantee
        if guarantee is None:
            return None
        excluded = np.setdiff1d(self.candidates.relations, self.candidates.relations[guarantee.rows])
        names = tuple(self.candidates.relation_names[at] for at in excluded.tolist())
        least = guarantee.min_probability if guarantee.size else None
        return GuaranteedPrecision(guarantee.target.precision, guarantee.target.confidence, least, names)

    def answers_needed(self, target: TargetPrecision) -> int | None:
        """Return about how many more answers a guarantee needs, by today's P(true); None where none is in sight."""
        share = error_left(self.rounds) * (OPEN_END if self.rounds else 1.0)
        return answers_needed(self.ranking.p, target, share) if share > 0 else None

    def needed_answers(self) -> dict[str, int | None]:
        """Return the same for the target, if there is one, and for the precisions that every report names.

        Nothing is returned where the draws so far have spent all of the error.
        """
        if error_left(self.rounds) < MIN_ERROR:
            return {}
        precisions = {*REPORTED, *([] if self.target is None else [self.target.precision])}
        return {f"{one:g}": self.answers_needed(TargetPrecision(one)) for one in sorted(precisions)}

    @cached_property
    def plain(self) -> Case:
        """The same case without a target precision."""
        return self if self.target is None else self._with_target(None)

    def _with_target(self, target: TargetPrecision | None) -> Case:
        """Return the same case with another target; fit and rounds are not computed again."""
        return replace(self, target=target, fitted=self.fit, bases=self._bases)

    @property
    def _bases(self) -> dict[int, Case]:
        return {one.plan.number: one.base for one in self.rounds}

    def plus(self, answers: Annotations) -> Case:
        """Return the case with the answers to its next questions; no earlier round is fitted again."""
        bases = {len(self.rounds) + 1: self.plain, **self._bases}
        return replace(self, annotations=self.annotations.plus(answers), fitted=None, bases=bases)

    @property
    def base(self) -> Case:
        """The case whose probabilities decide: where there is a guarantee, the one that made the list; else this."""
        if self.guarantee is None:
            return self
        return self.plain if self.guarantee.round is None else self.guarantee.round.base

    def guaranteed_precisions(self) -> FloatArray:
        """Return the highest precision under whose guarantee each candidate is accepted, (N,); NaN under none."""
        own = self.target or TargetPrecision(PRECISIONS[0])
        highest, accepted = np.full(len(self.candidates), np.nan), dict[Any, BoolArray]()
        for precision in sorted({*PRECISIONS, own.precision}):
            target = TargetPrecision(precision, own.confidence)
            guarantee = self.guarantee_for(target)
            passed = guarantee.round, guarantee.size  # several precisions often pass with one list
            if passed not in accepted:
                accepted[passed] = self._with_target(target).decisions.accepted
            highest[accepted[passed]] = precision
        return highest

    # Thresholds and probabilities

    @cached_property
    def thresholds(self) -> Thresholds:
        """One cut per relation: those given, those of the list that passed, else the fit's own."""
        if self.guarantee is not None:
            return self._list_thresholds(self.guarantee)
        if not len(self.annotations) and self.given_thresholds is None and self.fit.thresholds is None:
            raise OptionError(f"{self.method} needs answers before it finds thresholds; judge some triples.")
        return self.given_thresholds or thresholds_of(self.fit)

    def _list_thresholds(self, guarantee: Guarantee) -> Thresholds:
        """Return cuts that accept the list: midway between its lowest score in a relation and the next lower one."""
        names, triples = self.pool.relation_names, self.candidates
        lowest, below = np.full(len(names), np.inf), np.full(len(names), -np.inf)
        if guarantee.size:
            thresholds_of(self.base.fit)  # refused where no cut on the score decides
            codes = names.translate(triples.relations, triples.relation_names)
            # Judges change the order of single candidates, whose decisions stand beside the cuts.
            passed, known = self.base.ranked_by_method >= guarantee.min_probability, codes >= 0
            np.minimum.at(lowest, codes[known & passed], triples.scores[known & passed])
            np.maximum.at(below, codes[known & ~passed], triples.scores[known & ~passed])
        cuts = np.where(np.isinf(below) | np.isinf(lowest), lowest, cut_between(below, lowest))
        return Thresholds(names, cuts, np.inf, np.ones(len(names), dtype=np.bool_))

    @cached_property
    def curves(self) -> Curves | None:
        """P(true) against the score, to the digit as thresholds.json has it; None where there is none."""
        if self.base is not self:
            return self.base.curves
        curves = tabulate_curves(self.fit.probabilities, self.pool, self.candidates.scores)
        return None if curves is None else curves.as_written()

    def probabilities(self, triples: ScoredTriples) -> FloatArray | None:
        """Return P(true) of any triples by the method alone, the same as a reader of thresholds.json computes."""
        if self.fit.thresholds is None:  # answers changed the weights of evidence
            return self.fit.probabilities(triples)
        return None if self.curves is None else self.curves.of(triples)

    def _bars(self, triples: ScoredTriples) -> FloatArray:
        """Return the lowest P(true) that is accepted of each triple's relation; infinite where nothing is."""
        if self.guarantee is not None:
            return np.full(len(triples), self.guarantee.min_probability)
        if self.fit.thresholds is None or self.curves is None:
            return np.full(len(triples), 0.5)
        cuts = self.thresholds.of(triples)
        return np.where(np.isinf(cuts), cuts, self.curves.bars(self.thresholds)[self.curves.codes(triples)])

    # Judges

    @cached_property
    def judge_adjusted(self) -> JudgeAdjustedFit | None:
        """The fit adjusted by the answers of judges; None where there are none."""
        base = self.fit.probabilities(self.pool) if len(self.judged) else None
        if base is None:
            return None
        posterior, answers = self.fit.posterior, self.annotations
        if posterior is None or not len(answers):
            left_out = self._cross_fitted
        else:
            left_out = moderate(*leave_one_out(posterior, answers))
        return JudgeAdjustedFit(answers, *tabulate_signals(self.pool, self.judged), base, left_out)

    def without_judges(self) -> Case:
        """Return the same case, its fit among it, as if no machine had judged."""
        return replace(self, judged=Answers(), fitted=self.fit)

    @cached_property
    def judged_rows(self) -> IntArray:
        """The candidates with answers of judges."""
        if self.judge_adjusted is None:
            return NO_ROWS
        rows = self.places[self.judge_adjusted.judged]
        return rows[rows >= 0]

    def _with_judges(self, p: FloatArray) -> FloatArray:
        """Return P(true) of the candidates with that by judges, where these answered."""
        if self.judge_adjusted is not None:
            p, judged = p.copy(), self.judge_adjusted.judged
            p[self.judged_rows] = self.judge_adjusted.probabilities[judged[self.places[judged] >= 0]]
        return p

    # Decisions

    @cached_property
    def answers(self) -> Annotations:
        """People's answers about the candidates, with their rows among these."""
        rows = self.places[self.annotations.rows]
        answers = replace(self.annotations.take(rows >= 0), rows=rows[rows >= 0])
        if not len(self.other_answers):
            return answers
        more = self.other_answers.take(~self.pool.contains(self.other_answers.triples)).on(self.candidates)
        return answers.plus(more.without_inclusion_probability())

    @cached_property
    def labels(self) -> IntArray:
        """The answer about each candidate: 1 true, 0 false, -1 none; shape (N,)."""
        labels = np.full(len(self.candidates), -1)
        labels[self.answers.rows] = self.answers.labels
        return labels

    def decision_columns(self) -> dict[str, Any]:
        """Return the decisions on every candidate, and under which guarantees each would be accepted.

        Beside the columns of :meth:`Decisions.columns`, where the method has probabilities: ``guaranteed``, the highest
        of ``PRECISIONS`` (and of the target) under whose guarantee the candidate is accepted; and where there is a
        target, ``without_guarantee``: whether the candidate would be accepted without one.
        """
        columns: dict[str, Any] = self.decisions.columns(accepted_only=False)
        if self.decisions.probability is None:
            return columns
        columns["guaranteed"] = self.guaranteed_precisions()
        return columns if self.target is None else {**columns, "without_guarantee": self.plain.decisions.accepted}

    @cached_property
    def decisions(self) -> Decisions:
        """The decisions on the candidates; of those that cannot be true together, the most probable is accepted."""
        alone, p = self.alone, self.alone.probability
        if not len(self.constraints):
            return alone
        # A method without probabilities has the score alone: then all are equally probable, and the best score enters.
        bars = np.zeros(len(self.candidates)) if p is None else np.minimum(self._bars(self.candidates), 0.5)
        resolution = resolve_conflicts(
            self.conflicts, self.candidates, _or_even(p, len(bars)), alone.accepted, self.labels, bars
        )
        by = np.where(alone.accepted & ~resolution.accepted, CONSTRAINT, alone.by).astype(object)
        coupled = None if p is None else resolution.probability
        return Decisions(self.candidates, resolution.accepted, coupled, by, alone.p_unjudged, resolution)

    @cached_property
    def alone(self) -> Decisions:
        """The decisions on each candidate by itself, without constraints: by people, then judges, then the method."""
        unjudged, answers = self._unjudged, self.answers
        accepted, by, probability = unjudged.accepted.copy(), unjudged.by.copy(), unjudged.probability
        accepted[answers.rows] = answers.labels
        by[answers.rows] = np.where(answers.who == ORACLE, ORACLE, "person")
        if probability is not None:
            probability = probability.copy()
            probability[answers.rows] = answers.labels
        return replace(unjudged, accepted=accepted, probability=probability, by=by)

    @cached_property
    def _unjudged(self) -> Decisions:
        """The decisions as if no person had judged: by the list that passed, or by judges, then the method."""
        triples, given, guarantee, judged = (
            self.candidates,
            self.given_thresholds,
            self.guarantee,
            self.base.judged_rows,
        )
        if guarantee is not None:
            by_method = self.base.ranked_by_method >= guarantee.min_probability
            accepted = np.isin(np.arange(len(triples)), guarantee.rows)
            probability = self.base._unjudged.probability
        else:
            by_method = self.fit.accepts(triples) if given is None else given.decide(triples)
            accepted, probability = by_method.copy(), self.probabilities(triples)
            if probability is not None:
                probability = self._with_judges(probability)
                accepted[judged] = probability[judged] >= 0.5
        by = np.full(len(triples), "method", dtype=object)
        by[judged[accepted[judged] != by_method[judged]]] = "judges"
        return Decisions(triples, accepted, probability, by, probability)

    @cached_property
    def conflicts(self) -> Conflicts:
        """Where candidates compete or contradict facts; its constraints are those in use, weighed by the candidates."""
        conflicts = match_conflicts(self.constraints, self.candidates, self.facts)
        return weigh_facts(conflicts, self.candidates, _or_even(self.alone.probability, len(self.candidates)))

    @property
    def violated_by_people(self) -> int:
        """In how many groups people called more than one true, though a constraint allows one."""
        if not len(self.constraints):
            return 0
        counts = self.conflicts.count(self.labels == 1)
        return int(((counts > 0) & (counts + self.conflicts.facts > 1)).sum())

    # Estimates

    @property
    def accepted_precision(self) -> list[float] | None:
        """Low, middle and high of the precision of what is accepted (90% interval); None where it is unknown."""
        share = None if self.estimates is None else self.estimates.overall["precision"]
        return None if share is None else [*vars(share).values()]

    @cached_property
    def estimates(self) -> Estimates | None:
        """How good the decisions on the candidates are, in all and by relation; None without probabilities."""
        decided, candidates, given = self.decisions, self.candidates, self.annotations
        if decided.p_unjudged is None or decided.probability is None:
            return None
        answers, judged = self.answers, self.labels
        p = np.where(judged < 0, decided.probability, decided.p_unjudged)
        drawn, of_list = given.has_inclusion_probability, given.selection == LIST
        # Without a draw no answer corrects anything, and nothing has to be fitted again.
        predicted = self._predict_answers() if drawn.any() else np.full(len(given), 0.5)
        residuals, weights = given.labels - predicted, 1 / given.inclusion_probability
        inside = predicted >= self._bars(self.pool.take(given.rows))
        outside = ~inside & ~of_list & drawn  # draws from a list are about the list alone
        inside &= drawn
        if (inside & of_list).any():
            inside &= of_list
        accepted, rejected = (p[(judged < 0) & (decided.accepted == side)] for side in (True, False))
        prior = self._holdout_prior(accepted)
        corrections = (
            estimate_correction(accepted, residuals[inside], weights[inside], prior),
            estimate_correction(rejected, residuals[outside], weights[outside]),
        )
        draws = answers.rows[answers.has_inclusion_probability]
        draws_in = np.bincount(candidates.relations[draws], minlength=len(candidates.relation_names))
        source = "answers" if drawn.any() else "model" if prior is None else "holdout"
        return Estimates(candidates.relations, p, decided.accepted, judged, corrections, draws_in, source)

    def _predict_answers(self) -> FloatArray:
        """Return P(true) of each answered triple without its answer, shape (l,)."""
        if self.guarantee is None or self.guarantee.round is None:
            return self.left_out_probabilities
        answers, tested = self.annotations, self.guarantee.round
        p, earlier = np.empty(len(answers)), answers.round < tested.plan.number
        p[earlier] = tested.base.left_out_probabilities
        p[~earlier] = np.append(tested.base.ranked, 0.5)[self.places[answers.rows[~earlier]]]
        return p

    @cached_property
    def left_out_probabilities(self) -> FloatArray:
        """P(true) of each answered triple without its answer, with the answers of judges; shape (l,)."""
        p = self._cross_fitted
        if self.judge_adjusted is not None:
            judged = np.isin(self.annotations.rows, self.judge_adjusted.judged)
            p = np.where(judged, self.judge_adjusted.left_out_probabilities, p)
        return p

    @cached_property
    def _cross_fitted(self) -> FloatArray:
        """P(true) of each answered triple by a fit without a fifth of the answers, its own among them; shape (l,)."""
        answers, method = self.annotations, self.named_method
        triples, p = self.pool.take(answers.rows), np.full(len(answers), 0.5)
        folds = np.random.default_rng(0).permutation(len(answers)) % FOLDS
        few = self.fit.posterior is None and len(answers) < 2 * FOLDS  # a method that needs answers
        for fold in np.unique(folds).tolist():
            mine = folds == fold
            fit = self.fit if few else method.fit(self.pool, answers.take(~mine), self.known)
            predicted = fit.probabilities(triples.take(mine))
            p[mine] = 0.5 if predicted is None else predicted
        return p

    def _holdout_prior(self, accepted: FloatArray) -> tuple[float, float] | None:
        """Return mean and standard deviation of the error of P(true) among the accepted, by the holdout."""
        if not self.holdout:
            return None
        if self.target is not None and self.plain.estimates is not None:
            plain = self.plain.estimates
            accepted = plain.p[plain.accepted & (plain.judged < 0)]
        expected = float(accepted.mean()) if len(accepted) else 0.5
        return float(np.mean(self.holdout)) - expected, float(np.std(self.holdout))


def _or_even(p: FloatArray | None, count: int) -> FloatArray:
    """Return probabilities, one half each where a method has none."""
    return np.full(count, 0.5) if p is None else p
