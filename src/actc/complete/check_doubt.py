"""How probably wrong each fact of a graph is, by the graph alone.

Errors of several kinds are planted in the graph, facts and errors are looked at as if each were not there, and density
ratios say how much likelier each kind is to look so. Nobody knows which kinds of errors the graph has: their shares are
inferred from its facts. So is the share of wrong facts: the errors that were planted are a known number of those that
look so, whatever else looks so and is in excess is wrong; how many facts look as wrong as planted errors bounds it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actc.complete.check_ratios import Looked, count_cases, learn_ratios
from actc.data.numeric import find_shift, one_thread, sigmoid
from actc.data.triples import FloatArray, IntArray
from actc.errors import TableError
from actc.evidence.ceiling import fit_ceiling
from actc.evidence.duckdb_engine import Duckdb
from actc.evidence.model import CHOICES, FOLDS, EvidenceModel, Ridge, hash_triples
from actc.evidence.plan import GRAPH_COLUMNS, Limits
from actc.evidence.plant import KINDS, Planted
from actc.evidence.table import Progress, Proposals, Work
from actc.graph.graph import Graph

EACH = 0.01  # of the facts are planted, of each kind, in one round
ENOUGH = 1000  # errors of a kind
MOST_ROUNDS = 8
MOST_EACH = 4000  # errors of a kind in one round
SHARE = 0.05  # of wrong facts, to begin with; the shares of kinds hardly depend on it
RESAMPLES = 50
MOST_FITTED = 100_000  # facts that kinds and share of wrong ones are estimated from
MEMORY = "2GB"  # for the database; all facts' evidence in single precision comes on top
DOUBT = 0.05  # the quantile of the least share
NEGLIGIBLE = 1e-4  # a share below it counts as none
TYPICAL, VISIBLE = 0.5, 0.9  # of the errors: from what these look like their share is told, and its highest value
MOST_SHARE = 0.9  # of the facts that may be found wrong
LEAST_FACTS = 100


@dataclass(frozen=True, eq=False)
class Doubts:
    """How probably wrong the facts of a graph are.

    Parameters
    ----------
    graph : Graph
        N facts.
    log_odds : float array of shape (N,)
        Of being wrong.
    kinds : dict of str to float
        Which share of the wrong facts is of each kind.
    ratios : float array of shape (N, K)
        The log of the density of each kind over that of facts.
    share : float array of shape (3,)
        The share of wrong facts: low, middle, high.
    worth : EvidenceModel
        What each piece of evidence is worth by a ridge: where reasons come from.
    """

    graph: Graph
    log_odds: FloatArray
    kinds: dict[str, float]
    ratios: FloatArray
    share: FloatArray
    worth: EvidenceModel

    @property
    def probability(self) -> FloatArray:
        """P(wrong) of each fact, shape (N,)."""
        return sigmoid(self.log_odds)

    @property
    def order(self) -> IntArray:
        """The rows, the most doubtful first."""
        return np.argsort(-self.log_odds, kind="stable")


def refuse_few(graph: Graph) -> None:
    """Refuse a graph of which nothing can be learnt; worth asking before anything is written."""
    if len(graph) < LEAST_FACTS:
        raise TableError(f"A graph of {len(graph)} facts is too small to learn from; it needs at least {LEAST_FACTS}.")


@one_thread("sklearn.ensemble")
def doubt_facts(graph: Graph, seed: int = 0, progress: Progress | None = None) -> Doubts:
    """Say of every fact of a graph how probably wrong it is.

    Parameters
    ----------
    graph : Graph
    seed : int
        Where the draw of planted errors starts from.
    progress : function of (done, total, name), optional
        Called after each step.
    """
    refuse_few(graph)
    looked = look_up(graph, seed, progress)
    random, true = np.random.default_rng(seed), np.ones(len(graph))
    facts = np.flatnonzero(looked.facts)
    some = facts if len(facts) <= MOST_FITTED else random.choice(facts, MOST_FITTED, replace=False)
    for wanted in (some, facts):  # a first time to tell which facts had better not teach what facts look like
        ratios = learn_ratios(looked, true, random, some, wanted)
        of_facts = mean_of_facts(ratios[wanted], looked.rows[wanted], len(graph))
        mix = infer_kinds(of_facts[np.unique(looked.rows[some])])
        true = 1 - _odds(of_facts, mix) / (1 + _odds(of_facts, mix))
    errors = ~looked.facts
    planted, counts = ratios[errors], mix[looked.kinds[errors] - 1]
    told, among = _log_ratio(of_facts, mix), _log_ratio(planted, mix)
    slope, low = _calibrate(told, among, counts, random)
    likely, most = bound_share(of_facts, planted, looked.kinds[errors], told, among, counts)
    share = np.array([min(low, likely), likely, most])
    log_odds = slope * told + find_shift(slope * told, likely)
    kinds = dict(zip(KINDS, (mix / mix.sum()).round(4).tolist(), strict=True))
    worth = _learn_worth(looked, true, mix, float(share[1]), random)
    return Doubts(graph, log_odds, kinds, of_facts, share, worth)


def look_up(graph: Graph, seed: int, progress: Progress | None = None) -> Looked:
    """Plant errors and look at all facts and errors, in as many rounds as there have to be for enough errors."""
    each = max(int(EACH * len(graph)), 5)
    rounds = int(np.clip(-(-ENOUGH // each), 1, MOST_ROUNDS))
    pieces: list[FloatArray] = []
    numbers: list[IntArray] = []
    for at in range(rounds):
        planted = Planted.of(graph, min(each, MOST_EACH), np.random.default_rng([seed, at]))
        limits = Limits.for_count(len(planted.graph))
        work = Work.of(planted.graph, Proposals(planted.graph), limits, progress)
        pieces.append(np.empty((len(planted.graph), len(GRAPH_COLUMNS)), dtype=np.float32))
        for part in Duckdb(MEMORY).look(work):
            pieces[at][work.rows[part.ids]] = part.values(GRAPH_COLUMNS)
        numbers.append(np.stack([planted.kinds, planted.rows, hash_triples(planted.graph) % FOLDS]))
    return Looked(tuple(GRAPH_COLUMNS), np.concatenate(pieces), *np.concatenate(numbers, axis=1))


def mean_of_facts(ratios: FloatArray, rows: IntArray, count: int) -> FloatArray:
    """Return the mean log-ratios of each of ``count`` facts over the rounds, shape (N, K); 0 where it was never there.

    Parameters
    ----------
    ratios : float array of shape (n, K)
    rows : int array of shape (n,)
        Which fact each is.
    """
    times = np.maximum(np.bincount(rows, minlength=count), 1)
    return np.column_stack([np.bincount(rows, column, count) / times for column in ratios.T])


def infer_kinds(ratios: FloatArray) -> FloatArray:
    """Infer from the ratios of facts, shape (N, K), which kinds of errors are among them, shape (K,).

    By expectation maximisation; the shares of kinds are parts of ``SHARE``.
    """
    mix, times = np.full(ratios.shape[1], SHARE / ratios.shape[1]), np.exp(np.minimum(ratios, 30))
    for _ in range(200):
        odds = times * mix / (1 - SHARE)
        of_kind = (odds / (1 + odds.sum(axis=1, keepdims=True))).sum(axis=0)
        mix = SHARE * of_kind / of_kind.sum()
    return np.asarray(mix)


def _odds(ratios: FloatArray, mix: FloatArray) -> FloatArray:
    return np.asarray(np.exp(np.minimum(ratios, 30)) @ mix / (1 - mix.sum()))


def _log_ratio(ratios: FloatArray, mix: FloatArray) -> FloatArray:
    """Return the log of the density of the mixture of kinds over that of facts."""
    return np.asarray(np.log(np.exp(np.minimum(ratios, 30)) @ (mix / mix.sum()) + 1e-12))


def bound_share(
    ratios: FloatArray, planted: FloatArray, kinds: IntArray, facts: FloatArray, among: FloatArray, counts: FloatArray
) -> tuple[float, float]:
    """Return how many facts may be wrong, as a share: what is likely, and the most.

    If wrong facts look as the planted errors do, half of them look as wrong as half of those, so they are twice the
    facts that do, at most: right ones may look so too. The highest share is told in the same way from nine in ten of
    the planted errors, and from those of each kind alone: errors may look less wrong than the mixture of kinds does.

    Parameters
    ----------
    ratios, planted : float array of shape (N, K), (n, K)
        The log-ratios of facts and of planted errors.
    kinds : int array of shape (n,)
    facts, among : float array of shape (N,), (n,)
        The same for the mixture of kinds that was inferred.
    counts : float array of shape (n,)
        How much each planted error counts in it.
    """
    likely = _most_beyond(facts, among, counts, TYPICAL)
    alone = [
        _most_beyond(ratios[:, at], planted[kinds == at + 1, at], np.ones(int((kinds == at + 1).sum())), VISIBLE)
        for at in range(ratios.shape[1])
        if (kinds == at + 1).any()
    ]
    return likely, max(likely, _most_beyond(facts, among, counts, VISIBLE), *alone)


def _most_beyond(facts: FloatArray, errors: FloatArray, counts: FloatArray, part: float) -> float:
    """Return the largest share of errors among facts, if a part of them is beyond where that part of the planted is."""
    order = np.argsort(-errors)
    within = np.cumsum(counts[order]) / counts.sum()
    least = errors[order[min(int(np.searchsorted(within, part)), len(order) - 1)]]
    return float(np.clip((facts >= least).mean() / part, 0.5 / len(facts), MOST_SHARE))


def _calibrate(
    facts: FloatArray, planted: FloatArray, counts: FloatArray, random: np.random.Generator
) -> tuple[float, float]:
    """Return what log-ratios are to be multiplied by, and the least share of wrong facts that can be told.

    Planted errors are labelled, facts are not: of the wrong triples that look alike, the same share is labelled.
    """
    some = facts if len(facts) <= MOST_FITTED else random.choice(facts, MOST_FITTED, replace=False)
    both = np.append(some, planted)
    labelled = np.arange(len(both)) >= len(some)
    cases = np.append(np.full(len(some), len(facts) / len(some)), counts / counts.sum() * len(planted))
    alike = np.zeros(len(both), dtype=np.int64)  # one curve for all relations
    curve = fit_ceiling(both, labelled, cases, alike, 1)
    wrong = []
    for _ in range(RESAMPLES):
        drawn = np.asarray(cases * random.poisson(1.0, len(cases)), dtype=np.float64)
        again = fit_ceiling(both, labelled, drawn, alike, 1, curve)
        wrong.append(float(again.unlabelled.sum() / drawn[~labelled].sum()))
    low = float(np.quantile(wrong, DOUBT))
    return curve.slope, low if low >= max(NEGLIGIBLE, 1 / len(facts)) else 0.0


def _learn_worth(
    looked: Looked, true: FloatArray, mix: FloatArray, share: float, random: np.random.Generator
) -> EvidenceModel:
    """Learn a ridge of facts against errors, the kinds counting as they are among the facts."""
    facts, errors = np.flatnonzero(looked.facts), np.flatnonzero(~looked.facts)
    facts = random.choice(facts, min(len(facts), len(errors)), replace=False)
    rows = np.append(facts, errors)
    cases = count_cases(
        (looked.kinds[rows] > 0).astype(np.int64), np.append(true[looked.rows[facts]], mix[looked.kinds[errors] - 1])
    )
    ridge = Ridge.learn(looked.pieces[rows].astype(np.float64), looked.facts[rows], cases, CHOICES.ridge)
    return EvidenceModel(looked.columns, ridge, share, len(errors))
