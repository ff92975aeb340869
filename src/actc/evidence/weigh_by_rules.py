"""Rules propose, evidence weighs: what a graph lacks, learnt from facts that its rules were mined without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from actc.errors import TableError
from actc.evidence.ceiling import Ceiling, fit_ceiling
from actc.evidence.mine_rules import RULE_LIMITS, RuleLimits
from actc.evidence.plan import Limits
from actc.evidence.propose_by_rules import RuleProposals, propose_by_rules
from actc.evidence.rankings import Ranking, compare_rankings
from actc.evidence.table import Evidence, Progress, Proposals, gather_evidence
from actc.evidence.weigh import Learnt, Lesson, Weighed
from actc.evidence.worth import CHOICES, FOLDS, HAS, Ridge, Worth, count_cases, is_of_scores, pieces_columns, pieces_of
from actc.graphs.graph import Graph
from actc.numeric import sigmoid
from actc.triples import BoolArray, FloatArray, IntArray, Triples

HOLDOUT = 0.1  # of the graph's facts
ENOUGH = 2000  # holdout facts to learn from; smaller graphs take several holdouts, one after the other
MOST_HOLDOUTS = 5
MOST_TRUE = 20_000  # holdout facts that are looked at
MOST_UNLABELLED = 20_000  # other proposals that are looked at in all, drawn at random
RESAMPLES = 100


@dataclass(frozen=True, eq=False)
class Found:
    """What holdouts say of candidates before anybody is asked.

    Parameters
    ----------
    weighed : Weighed
        The candidates, their log-odds and evidence.
    recall : float
        The share of the holdout that was proposed: of the missing facts of this kind, about as many are candidates.
    holdout : int
        How many facts were taken out of the graph, in all.
    share : float
        The share of true candidates to expect.
    precisions : float array of shape (draws,)
        Draws of the share of true ones among the candidates with log-odds above 0, by resampling the holdout; none
        where there are no such candidates.
    ranking : Ranking or None
        What models' scores bring to the ranking of the holdout facts; None where there are no scores.
    """

    weighed: Weighed
    recall: float
    holdout: int
    share: float
    precisions: FloatArray
    ranking: Ranking | None = None

    @property
    def precision(self) -> FloatArray:
        """Low, middle and high of the draws; between low and high with a chance of nine in ten."""
        return np.quantile(self.precisions, [0.05, 0.5, 0.95]) if len(self.precisions) else np.array([0.0, 0.5, 1.0])

    def tell(self) -> str:
        """Say what the holdout says of the candidates."""
        low, middle, high = self.precision
        return (
            f"Of the missing facts of this kind, about {self.recall:.0%} are among the candidates, of which about "
            f"{self.share:.1%} are true; of those likelier than not, {middle:.0%} ({low:.0%} to {high:.0%}). "
            f"So says a holdout of {self.holdout:,} facts, before anybody is asked."
        )


def weigh_rules(
    graph: Graph,
    proposed: RuleProposals,
    *,
    limits: RuleLimits = RULE_LIMITS,
    seed: int = 0,
    progress: Progress | None = None,
) -> Found:
    """Weigh what a graph's rules propose, by what rules propose of facts that were taken out of it.

    Parameters
    ----------
    graph : Graph
        The known facts.
    proposed : RuleProposals
        What its rules propose.
    limits : RuleLimits
        As for the proposals.
    seed : int
        Where the draw of the holdout starts from.
    progress : function of (done, total, name), optional
        Called after each step.
    """
    if not len(proposed):
        raise TableError(f"No rule of this graph of {len(graph)} facts proposes anything.")
    lessons = rule_lessons(graph, proposed.least, limits, seed)
    more = expect_recall(graph, proposed.least, limits, seed)
    return weigh_lessons(graph, proposed.proposals(), lessons, more, seed, progress)


def expect_recall(graph: Graph, confidence: float, limits: RuleLimits, seed: int) -> Callable[[float], float]:
    """Return what the recall of rules of the whole graph will be, from that of rules mined without a tenth.

    Rules mined without a fifth find fewer again; a straight line through both is continued to none taken out.
    """
    out = np.random.default_rng(seed).permutation(len(graph)) < 2 * HOLDOUT * len(graph)
    found = propose_by_rules(graph.take(~out), limits, confidence=confidence).candidates.contains(graph.take(out))
    return lambda recall: float(np.clip(2 * recall - found.mean(), recall, 1.0))


def split_holdouts(graph: Graph, seed: int) -> list[BoolArray]:
    """Return masks of the holdouts: a tenth of the facts each, no fact in two of them; several where they are small."""
    each = int(HOLDOUT * len(graph))
    if each < 2:
        raise TableError(f"A graph of {len(graph)} facts is too small to learn from; it needs at least 20.")
    place = np.random.default_rng(seed).permutation(len(graph))
    count = min(-(-ENOUGH // each), MOST_HOLDOUTS)
    return [(place >= k * each) & (place < (k + 1) * each) for k in range(count)]


def rule_lessons(graph: Graph, confidence: float, limits: RuleLimits, seed: int) -> Iterator[Lesson]:
    """Give what rules mined without each holdout propose."""
    for out in split_holdouts(graph, seed):
        proposed = propose_by_rules(graph.take(~out), limits, confidence=confidence)
        yield Lesson.found(graph.take(out), proposed.proposals())


@dataclass(frozen=True, eq=False)
class _Table:
    """What is learnt from, of all lessons: pieces, labels, and for how many proposals each row stands."""

    columns: tuple[str, ...]
    pieces: FloatArray
    true: BoolArray
    cases: FloatArray
    folds: IntArray
    recall: float
    holdout: int
    lessons: int

    @property
    def unlabelled(self) -> float:
        """How many unlabelled proposals there are in a lesson."""
        return float(self.cases[~self.true].sum()) / self.lessons


def weigh_lessons(
    graph: Graph,
    candidates: Proposals,
    lessons: Iterator[Lesson] | Sequence[Lesson],
    expect: Callable[[float], float] = lambda recall: recall,
    seed: int = 0,
    progress: Progress | None = None,
) -> Found:
    """Learn from several holdouts what evidence is worth and how many candidates are true, and weigh these.

    Parameters
    ----------
    graph : Graph
        The known facts, all holdouts among them.
    candidates : Proposals
        What is proposed by the whole graph.
    lessons : sequence of Lesson
        What is proposed without each holdout.
    expect : callable
        Told the share of the holdout that was proposed, says what share of the missing facts are candidates.
    """
    limits = Limits.for_count(max(len(candidates), MOST_UNLABELLED))
    random = np.random.default_rng(seed)
    table = _look_up(graph, lessons, limits, random, progress)
    table, log_odds, ranking = _leave_out_scores(table, _out_of_fold(table), random)
    curve = fit_ceiling(log_odds, table.true, table.cases)
    ridge = Ridge.learn(table.pieces, table.true, _weights(table, slice(None)), CHOICES.ridge)
    ridge = replace(ridge, weights=curve.slope * ridge.weights, intercept=curve.slope * ridge.intercept)
    # As many facts are missing in a lesson as in the whole graph, whose rules propose more of them.
    recall = expect(table.recall)
    expected = curve.share * table.unlabelled * recall / max(table.recall, 1e-9)
    worth = Worth(table.columns, ridge, None, expected / len(candidates), int(table.true.sum()))
    weighed = Learnt(worth, graph, limits).weigh(candidates, progress)
    weighed = _shift(weighed, min(worth.share, 0.9))
    accepted = int((weighed.log_odds > 0).sum())
    precisions = _resample(table, log_odds, curve, expected / curve.share / max(accepted, 1), accepted, random)
    return Found(weighed, recall, table.holdout, worth.share, precisions, ranking)


def _leave_out_scores(
    table: _Table, log_odds: FloatArray, random: np.random.Generator
) -> tuple[_Table, FloatArray, Ranking | None]:
    """Leave the models' scores out where the holdout facts are ranked better without them."""
    scored = np.array([is_of_scores(name.removeprefix(HAS)) for name in table.columns])
    if not scored.any():
        return table, log_odds, None
    names = tuple(name for name, score in zip(table.columns, scored, strict=True) if not score)
    plain = replace(table, columns=names, pieces=table.pieces[:, ~scored])
    without = _out_of_fold(plain)
    ranking = compare_rankings(table.true, table.cases, without, log_odds, random)
    return (table, log_odds, ranking) if ranking.scores_help else (plain, without, ranking)


def _look_up(
    graph: Graph,
    lessons: Iterator[Lesson] | Sequence[Lesson],
    limits: Limits,
    random: np.random.Generator,
    progress: Progress | None,
) -> _Table:
    """Look up the evidence of the lessons; of many proposals without scores some are drawn."""
    looked: list[tuple[Evidence, BoolArray, FloatArray]] = []
    holdout = found = 0
    lessons = list(lessons)
    for lesson in lessons:
        rows, cases = _draw(lesson, len(lessons), random)
        before = graph.take(~lesson.holdout.contains(graph))
        evidence = gather_evidence(before, lesson.proposals.take(rows), limits, progress=progress)
        looked.append((evidence, lesson.true[rows], cases))
        holdout, found = holdout + len(lesson.holdout), found + int(lesson.true.sum())
    true = np.concatenate([true for _, true, _ in looked])
    if true.sum() < 2 or true.all():
        raise TableError(f"{true.sum()} of {len(true)} proposals are holdout facts; two and others are needed.")
    columns = pieces_columns([evidence for evidence, _, _ in looked])
    pieces = np.concatenate([pieces_of(evidence, columns) for evidence, _, _ in looked])
    triples = [evidence.candidates for evidence, _, _ in looked]
    # A triple that several lessons propose is always in the same fold: what is learnt must not know it.
    folds = np.concatenate([_fold(t) for t in triples])
    cases = np.concatenate([cases for _, _, cases in looked])
    return _Table(columns, pieces, true, cases, folds, found / max(holdout, 1), holdout, len(looked))


def _fold(triples: Triples) -> IntArray:
    """Return a fold for each triple, the same for the same codes, which has nothing to do with its relation or ends."""
    mixed = np.zeros(len(triples), dtype=np.uint64)
    for codes in (triples.heads, triples.relations, triples.tails):
        mixed = (mixed ^ codes.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return (mixed % np.uint64(FOLDS)).astype(np.int64)


def _draw(lesson: Lesson, lessons: int, random: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Draw the rows of a lesson that are looked at; return them, and for how many each stands."""
    cases = np.ones(len(lesson.true))
    if lesson.proposals.scores:  # places in slots are counted among all proposals
        return np.arange(len(cases)), cases
    keep = np.zeros(len(cases), dtype=np.bool_)
    for rows, most in ((np.flatnonzero(lesson.true), MOST_TRUE), (np.flatnonzero(~lesson.true), MOST_UNLABELLED)):
        drawn = random.permutation(rows)[: most // lessons]
        keep[drawn], cases[drawn] = True, len(rows) / max(len(drawn), 1)
    return np.flatnonzero(keep), cases[keep]


def _weights(table: _Table, rows: BoolArray | slice) -> FloatArray:
    return count_cases(table.true[rows], CHOICES.share)


def _out_of_fold(table: _Table) -> FloatArray:
    """Return the log-odds of each row by weights learnt without its fold, shape (N,)."""
    log_odds = np.zeros(len(table.true))
    for fold in range(FOLDS):
        rest, these = table.folds != fold, table.folds == fold
        if table.true[rest].any() and these.any():
            ridge = Ridge.learn(table.pieces[rest], table.true[rest], _weights(table, rest), CHOICES.ridge)
            log_odds[these] = ridge.log_odds(table.pieces[these])
    return log_odds


def _find_shift(log_odds: FloatArray, share: float, cases: FloatArray | None = None) -> float:
    """Return what to add to log-odds so that a share is expected to be true."""
    from scipy.optimize import brentq

    def missed(more: float) -> float:
        return float(np.average(sigmoid(log_odds + more), weights=cases)) - share

    return float(brentq(missed, -60 - log_odds.max(), 60 - log_odds.min()))


def _shift(weighed: Weighed, share: float) -> Weighed:
    more = _find_shift(weighed.log_odds, share)
    ridge = replace(weighed.worth.ridge, intercept=weighed.worth.ridge.intercept + more)
    return replace(weighed, worth=replace(weighed.worth, ridge=ridge), log_odds=weighed.log_odds + more)


def _resample(
    table: _Table, log_odds: FloatArray, curve: Ceiling, each: float, accepted: int, random: np.random.Generator
) -> FloatArray:
    """Return draws of the share of true ones among the accepted, by resampling the holdout.

    ``each`` is the number of true candidates that a share stands for, for each that is accepted.
    """
    if not accepted:
        return np.zeros(0)
    others = ~table.true
    steep = curve.slope * log_odds
    above = steep + _find_shift(steep[others], curve.share, table.cases[others]) > 0
    draws = []
    for _ in range(RESAMPLES):
        cases = table.cases * random.poisson(1.0, len(log_odds))
        drawn = fit_ceiling(log_odds, table.true, cases, [curve.fitted])
        recall = float(cases[table.true & above].sum() / max(cases[table.true].sum(), 1e-9))
        chance = min(drawn.share * each * recall, 1.0)
        draws.append(random.binomial(accepted, chance) / accepted)
    return np.array(draws)
