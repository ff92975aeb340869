"""From answers that exist to thresholds.json: what `actc calibrate` does, and what every such file is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from actc.calibrator import Calibrator
from actc.errors import OptionError
from actc.methods import Fit, describe_options, find_method, finds_cuts, named_method, thresholds_of
from actc.pooled.sketch import sketch_pool
from actc.tables.calibration import Calibration, Counts, Sources
from actc.tables.curves import tabulate_curves
from actc.tables.files import read_annotations, read_scored, write_scored, write_triples
from actc.tables.parts import read_candidates
from actc.triples import Annotations, ScoredTriples, Thresholds
from actc.trust.discrepancy import PICKS, drawn_picks, uniform_picks
from actc.trust.on_demand import describe_promise, draws_of, find_demand, thresholds_on_demand
from actc.trust.promise import Demand, Promise

PathLike = str | Path


def calibrate(
    scores: PathLike | ScoredTriples,
    labels: PathLike | Annotations | None = None,
    *,
    method: str = "pooled",
    known: PathLike | ScoredTriples | None = None,
    sketch: bool = False,
    picks: str = "unknown",
    precision: float | None = None,
    recall: float | None = None,
    cost_false_accept: float | None = None,
    cost_false_reject: float = 1.0,
    confidence: float = 0.9,
    each_relation: bool = False,
    out: PathLike | None = None,
) -> Calibration:
    """Find thresholds from annotations that exist, as ``actc calibrate`` does.

    Parameters
    ----------
    scores : path or ScoredTriples
        The candidates: head, relation, tail, score; a file, a folder of parts, or a table.
    labels : path or Annotations, optional
        Judged triples: head, relation, tail, label (1 or 0), for some of the candidates.
    method : str
        A name in ``METHODS``, with options if wanted.
    known : path or ScoredTriples, optional
        Scored triples that the graph holds already.
    sketch : bool
        For many millions: measure all, keep a part. A file or folder, and pooled methods only.
    picks : {"unknown", "random", "expected-gain"}
        How the labelled triples were picked. A promised precision rests on those that were drawn at random: all of them
        if this is unknown.
    precision, recall, cost_false_accept : float, optional
        What the thresholds promise, at most one of them; pooled methods only.
    cost_false_reject : float
        What a false reject costs where ``cost_false_accept`` is given.
    confidence : float
        How probable the promise should be.
    each_relation : bool
        Make the promise for each relation by itself.
    out : path, optional
        Write thresholds.json there. Only thresholds from files can be reported on later.

    Examples
    --------
    >>> import actc
    >>> pool = actc.ScoredTriples.from_columns("abcd", "rrrr", "wxyz", [0.1, 0.4, 0.6, 0.9])
    >>> found = actc.calibrate(pool, actc.Annotations([1, 2], [False, True]), method="localopt-acc")
    >>> found.thresholds.decide(pool).tolist()
    [False, False, True, True]
    """
    find_method(method)  # refuses one that does not exist, before anything else is looked at
    demand = find_demand(precision, recall, cost_false_accept, cost_false_reject, confidence, each_relation)
    sources = find_sources(scores, labels, known, sketch=sketch, picks=picks)
    _refuse_combinations(method, labels is not None, sketch, demand)
    facts = read_scored(known)[0] if isinstance(known, PathLike) else known
    pool = _read_pool(scores, labels, facts, sketch)
    annotations = read_annotations(labels, pool) if isinstance(labels, PathLike) else labels or Annotations()
    calibrator = Calibrator(method).fit(pool, annotations, facts)
    fit, cuts, kept = calibrator.fit_, calibrator.thresholds_, None
    if demand is not None:
        drawn = drawn_picks(len(annotations), picks, getattr(find_method(method), "promised", 0.0))
        cuts, kept = thresholds_on_demand(draws_of(fit, method), pool, annotations, demand, drawn=drawn)
    calibration = describe_calibration(
        fit, pool, annotations, method=method, sources=sources, thresholds=cuts, promise=kept
    )
    if out is not None:
        calibration.write(out)
    return calibration


def _refuse_combinations(method: str, labelled: bool, sketch: bool, demand: Demand | None) -> None:
    found = find_method(method)
    if not labelled and finds_cuts(found):
        raise OptionError(f"{method} needs annotations: give a file of judged triples with --labels.")
    if sketch and finds_cuts(found):
        raise OptionError(f"{method} looks at every candidate; --sketch goes with the pooled methods only.")
    if sketch and demand is not None:
        raise OptionError("A promise is about the whole pool, which a sketch is not; leave --sketch out.")


def _read_pool(scores: Any, labels: Any, known: ScoredTriples | None, sketch: bool) -> ScoredTriples:
    if sketch and isinstance(scores, ScoredTriples):
        raise OptionError("A sketch is of candidates on disk: give a file or a folder, or leave the sketch out.")
    if sketch:
        return sketch_pool(scores, known, labelled=labels)
    return scores if isinstance(scores, ScoredTriples) else read_candidates(scores)


def find_sources(scores: Any, labels: Any, known: Any, *, sketch: bool = False, picks: str = "unknown") -> Sources:
    """Return where thresholds come from; nowhere that a report could go back to if any part was a table in memory."""
    uniform_picks(0, picks)  # refuses a way of picking that does not exist
    given = {"scores": scores, "labels": labels, "known": known}
    if not all(part is None or isinstance(part, PathLike) for part in given.values()):
        return Sources(sketch=sketch, picks=picks)
    paths = {name: Path(part).resolve() for name, part in given.items() if part is not None}
    return Sources(**paths, sketch=sketch, picks=picks)


def read_sources(sources: Sources) -> tuple[ScoredTriples, Annotations, ScoredTriples | None]:
    """Read the pool, the answers and the known triples that thresholds came from, which must be files."""
    known = None if sources.known is None else read_scored(sources.known)[0]
    pool = _read_pool(sources.scores, sources.labels, known, sources.sketch)
    return pool, Annotations() if sources.labels is None else read_annotations(sources.labels, pool), known


def write_sources(
    folder: Path,
    pool: ScoredTriples,
    annotations: Annotations,
    *,
    scores: str,
    labels: str,
    known: Path | None,
    picks: str,
) -> Sources:
    """Write what a fit rests on into a folder, so that its thresholds can be reported on.

    Parameters
    ----------
    folder : Path
    pool, annotations
        The candidates, and the answers on some of them.
    scores, labels : str
        What to call the files of the pool and of the answers.
    known : Path, optional
        Where the known triples are already.
    picks : str
        How the judged triples were picked.
    """
    write_scored(folder / scores, pool)
    judged = pool.take(annotations.rows).columns()
    write_triples(folder / labels, {**judged, "label": annotations.labels.astype(int)})
    return find_sources(folder / scores, folder / labels, known, picks=picks)


def picks_of(method: str) -> str:
    """Say how a method picks, where it is known what that means for a report."""
    selector = getattr(named_method(method), "selector", "unknown")
    return selector if selector in PICKS else "unknown"


def describe_calibration(
    fit: Fit,
    pool: ScoredTriples,
    annotations: Annotations,
    *,
    method: str,
    sources: Sources,
    thresholds: Thresholds | None = None,
    promise: Promise | None = None,
) -> Calibration:
    """Put together all that thresholds.json says of a fit.

    Parameters
    ----------
    fit : Fit
        On the pool and the annotations; it has thresholds.
    method : str
        The name of the method that it is of.
    sources : Sources
        What a report can go back to.
    thresholds, promise : Thresholds and Promise, optional
        Those that keep a promise, instead of the fit's own.
    """
    squash, thresholds = fit.squash, thresholds or thresholds_of(fit)
    return Calibration(
        thresholds,
        method,
        describe_options(named_method(method)),
        Counts.of(pool, annotations, thresholds),
        None if squash is None else {"name": "sigmoid(score - mean)", "mean": squash.mean},
        tabulate_curves(fit.probabilities, pool),
        sources,
        describe_promise(promise),
    )
