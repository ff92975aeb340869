"""One open case, and the one decision: pool, answers and judges, fitted once, and handed to whoever decides or reports.

Whatever says which triples are accepted asks :meth:`Case.decide`: a person's word, then judges, then the method; and of
what cannot be true together, the most probable alone. Whatever says how good that is asks :attr:`Case.expectation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actc.constraints.against_facts import weigh_against_facts
from actc.constraints.places import Places, find_places
from actc.constraints.together import Together, decide_together
from actc.errors import OptionError
from actc.judges.answers import JudgeAnswers
from actc.judges.heed import Heeded
from actc.methods import Fit, Method, named_method, thresholds_of
from actc.pooled.model import Posterior
from actc.tables.answers import Answers
from actc.tables.calibration import Promised
from actc.tables.constraints import Constraints
from actc.tables.curves import KNOTS, Curves, look_up_few, tabulate_curves
from actc.triples import Annotations, BoolArray, FloatArray, IntArray, ScoredTriples, Thresholds, Triples
from actc.trust.expect import Expectation, Share, expect, log_odds
from actc.trust.promise import Demand, Promise, promise

ORACLE = "oracle"
"""Who answered, where a file played the person."""
PEOPLE = ("person", ORACLE)
"""Whose word decides before all others."""
BY = (*PEOPLE, "judges", "method")
"""Who may have accepted a triple."""
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
    together : Together, optional
        What held triples back, where there are constraints.
    """

    triples: ScoredTriples
    accepted: BoolArray
    probability: FloatArray | None
    by: NDArray[np.object_]
    together: Together | None = None

    @property
    def held(self) -> IntArray:
        """The rows that constraints held back."""
        return np.flatnonzero(self.by == CONSTRAINT)

    def columns(self, accepted_only: bool = True) -> dict[str, NDArray[Any]]:
        """Return head, relation, tail, score, probability and by, as every file and frame has them."""
        rows = np.flatnonzero(self.accepted) if accepted_only else np.arange(len(self.triples))
        more = {} if self.probability is None else {"probability": self.probability[rows]}
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
        The precision that is promised of what is accepted beyond people's own words.
    found : Thresholds, optional
        Thresholds that were found before, in the place of the fit's own.
    found_least : float
        With these: P(true) from which on a triple is accepted that judges spoke of.
    found_promise : Promised, optional
        With these: what they promise.
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
    words : Answers
        What people said of candidates that are not in the pool: it decides these, and teaches nothing.
    """

    pool: ScoredTriples
    annotations: Annotations = field(default_factory=Annotations)
    known: ScoredTriples | None = None
    method: str | Method = "pooled"
    judged: JudgeAnswers = field(default_factory=JudgeAnswers.none)
    demand: Demand | None = None
    found: Thresholds | None = None
    found_least: float = 0.5
    found_promise: Promised | None = None
    name: str = "thresholds"
    fitted: Fit | None = None
    candidates: ScoredTriples | None = None
    holdout: tuple[float, ...] = ()
    constraints: Constraints = field(default_factory=Constraints)
    facts: Triples | None = None
    words: Answers = field(default_factory=Answers)

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

    @property
    def posterior(self) -> Posterior:
        """What the fit can be drawn from; refused, naming the method, where it does not know how sure it is."""
        if self.fit.draws is None:
            raise OptionError(f"{self.method} cannot say how sure it is; use a pooled method, such as --method pooled.")
        return self.fit.draws

    @cached_property
    def promise(self) -> Promise | None:
        """The cuts that keep what is demanded, if anything is."""
        if self.demand is None:
            return None
        return promise(self.posterior, self.annotations, self.pool, [self.demand], heeded=self.heeded)[0]

    @property
    def promised(self) -> Promised | None:
        """What is promised of what the method accepts, as thresholds.json has it; None where nothing was demanded."""
        kept = self.promise
        if kept is None:
            return self.found_promise
        chance, least = (kept.chance, kept.least) if kept.accepts else (None, None)
        return Promised(kept.demand.target, kept.demand.confidence, chance, kept.left_out, least)

    @property
    def least(self) -> float:
        """P(true) from which on a triple is accepted that judges spoke of."""
        return self.found_least if self.promise is None else self.promise.least

    @cached_property
    def thresholds(self) -> Thresholds:
        """One cut per relation: those found before, those that keep the promise, else the fit's own."""
        if self.promise is not None:
            return self.promise.thresholds(self.pool)
        if not len(self.annotations) and self.found is None and self.fit.thresholds is None:
            raise OptionError(f"{self.method} needs answers before it finds thresholds; judge some triples.")
        return self.found or thresholds_of(self.fit)

    @cached_property
    def heeded(self) -> Heeded | None:
        """The fit with what judges add to it; None where there are none."""
        if not len(self.judged) or self.fit.probabilities(self.pool) is None:
            return None
        return Heeded(self.found_method, self.pool, self.annotations, self.known, self.fit, self.judged)

    def promising(self, demands: Sequence[Demand]) -> list[tuple[Promise, Case]]:
        """Return what each of several demands leads to, as if it were the case's own; the draws are made once."""
        kept = promise(self.posterior, self.annotations, self.pool, demands, heeded=self.heeded)
        return [(one, self.decided_by(one.thresholds(self.pool), one.least)) for one in kept]

    def decided_by(self, thresholds: Thresholds, least: float) -> Case:
        """Return the same case, decided by other cuts and, where judges spoke, by the least P(true)."""
        case = replace(self, demand=None, fitted=self.fit, found=thresholds, found_least=least, found_promise=None)
        # As if it had worked these out itself: it has the same fit, judges and target.
        vars(case)["heeded"] = self.heeded
        if self.fit.thresholds is not None:
            vars(case)["curves"] = self.curves
        return case

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
        rows = triples.rows_of(self.words.triples)
        more = (rows >= 0) & ~self.pool.contains(self.words.triples)
        return found.plus(replace(self.words.said.take(more), rows=rows[more]).without_chance())

    @cached_property
    def decisions(self) -> Decisions:
        """The decisions on the target."""
        return self.decide(self.target)

    @cached_property
    def curves(self) -> Curves | None:
        """P(true) against the score, to the digit as thresholds.json has it; None where there is none."""
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
        places = replace(self._places(triples), constraints=self.rules)
        found = decide_together(places, triples, p, alone.accepted, words, bars, triples.scores)
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
        return weigh_against_facts(self._places(self.target), self.target, p)

    @cached_property
    def _target_places(self) -> Places:
        return find_places(self.constraints, self.target, self.facts)

    def _places(self, triples: ScoredTriples) -> Places:
        """Find where triples compete; of the target once."""
        is_target = triples is self.target
        return self._target_places if is_target else find_places(self.constraints, triples, self.facts)

    @property
    def both_after_all(self) -> int:
        """How many places hold more than one by people's word, though a constraint allows one."""
        if not len(self.constraints):
            return 0
        answers, places = self.answers_in(self.target), self._target_places
        true = np.zeros(len(self.target), dtype=np.bool_)
        true[answers.rows] = answers.labels
        said = np.bincount(places.places[true[places.rows]], minlength=len(places.facts))
        return int(((said > 0) & (said + places.facts > 1)).sum())

    def _chances(self, triples: ScoredTriples, alone: Decisions) -> tuple[FloatArray, FloatArray]:
        """Return P(true), and the least that a relation's cut accepts.

        A method without probabilities has the score alone: then all are equally probable, and the best score enters.
        """
        if alone.probability is None:
            return np.full(len(triples), 0.5), np.zeros(len(triples))
        if self.fit.thresholds is None:
            return alone.probability, np.full(len(triples), 0.5)
        assert self.curves is not None
        return alone.probability, self.curves.bars(self.thresholds)[self.curves.codes(triples)]

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
        own = self.found is None and self.demand is None
        accepted = self.fit.accepts(triples) if own else self.thresholds.decide(triples)
        probability = self.probabilities(triples)
        by = np.full(len(triples), "method", dtype=object)
        if self.heeded is not None:
            assert probability is not None
            assert self.heeded.probabilities is not None
            spoken = np.flatnonzero(self.heeded.asked)
            rows = spoken if triples is self.pool else triples.rows_of(self.pool.take(spoken))
            rows, spoken = rows[rows >= 0], spoken[rows >= 0]
            probability[rows] = self.heeded.probabilities[spoken]
            by[rows[accepted[rows] != (probability[rows] >= self.least)]] = "judges"
            accepted[rows] = probability[rows] >= self.least
        return Decisions(triples, accepted, probability, by)

    @property
    def accepted_precision(self) -> list[float] | None:
        """Which share of what is accepted should be true, with nine chances in ten: lowest, middle, highest.

        None where nobody knows.
        """
        if self.fit.draws is None or not self.decisions.accepted.any():
            return None
        share = Share.of(self.expectation.overall, "precision", 0.9)
        return None if share is None else [round(value, 4) for value in (share.low, share.middle, share.high)]

    @cached_property
    def expectation(self) -> Expectation:
        """How good the decisions on the target will turn out, overall and by relation."""
        unasked, held, lowered = self._decide_unasked(self.target), self.decisions.held, None
        accepted = unasked.accepted.copy()
        accepted[held] = False
        if len(held) and unasked.probability is not None and self.decisions.probability is not None:
            lowered = np.zeros(len(self.target))  # what is held back may be true all the same, less probably so
            lowered[held] = log_odds(self.decisions.probability[held]) - log_odds(unasked.probability[held])
        found = expect(
            self.posterior,
            self.thresholds.cuts_and_default,
            self.annotations,
            self.target,
            settled=self.answers_in(self.target),
            heeded=self.heeded,
            least=self.least,
            accepted=accepted,
            lowered=lowered,
        )
        if len(self.annotations) or not self.holdout:
            return found
        return replace(found, overall=replace(found.overall, precision=np.array(self.holdout)), source="holdout")
