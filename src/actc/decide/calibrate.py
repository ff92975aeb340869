"""From answers that exist to thresholds.json: what `actc calibrate` does, and what every such file is made of."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from actc.data.answers import Annotations, Answers
from actc.data.calibration import Calibration, Counts, Sources
from actc.data.constraints import Constraints
from actc.data.files import read_sample, read_scored, write_scored
from actc.data.frames import Columns, write_columns
from actc.data.triples import ScoredTriples
from actc.decide.case import Case
from actc.decide.decision_table import PEOPLE
from actc.decide.guarantee import TargetPrecision, split_random
from actc.errors import FileError, OptionError, TableError, check_choice
from actc.graph.formats import read_graph
from actc.methods.named import describe_options, find_method, finds_cuts, warn_of_scores

LOG = logging.getLogger("actc")
PICKS = ("unknown", "random")
"""How judged triples were picked: as far as the answers show, or by a random draw, by the user's word."""
PathLike = str | Path
Table = TypeVar("Table", ScoredTriples, Answers)


def calibrate(
    scores: PathLike | ScoredTriples,
    labels: PathLike | Answers | None = None,
    *,
    method: str = "pooled",
    known: PathLike | ScoredTriples | None = None,
    picks: str = "unknown",
    precision: float | None = None,
    confidence: float = 0.9,
    constraints: PathLike | Constraints | None = None,
    graph: PathLike | None = None,
    columns: Columns = None,
    out: PathLike | None = None,
) -> Calibration:
    """Find thresholds from annotations that exist, as ``actc calibrate`` does.

    Parameters
    ----------
    scores : path or ScoredTriples
        The candidates: head, relation, tail, score; a file, a folder of parts, or a table. Of more than a million in
        files a random sample is used, and those with labels; the logger ``actc`` reports it.
    labels : path or Answers, optional
        Judged triples: head, relation, tail, label (1 or 0), for some of the candidates. Those that are no candidates
        any more are left out; the logger ``actc`` reports how many, and why.
    method : str
        A name in ``METHODS``, with options if wanted.
    known : path or ScoredTriples, optional
        Scored triples that the graph holds already.
    picks : {"unknown", "random"}
        How the labelled triples were picked: as far as the labels show (the columns selection, sampling_frame and
        inclusion_probability, which every export has), or, in your own name, by a plain random draw from the
        candidates: then half of the labels find the list, and the other half test it.
    precision, confidence : float, optional
        Guarantee this precision with this confidence. It rests on random draws from the list; without any, only
        what people called true is accepted.
    constraints : path or Constraints, optional
        What cannot be true together, as ``actc constraints`` writes it.
    graph : path, optional
        The facts that candidates may contradict.
    columns : str or dict, optional
        The names of the candidates' columns: ``head=subj,relation=verb,tail=obj,score=weight``.
    out : path, optional
        Write thresholds.json there. Only thresholds from files can be reported on later.

    Examples
    --------
    >>> import actc
    >>> pool = actc.ScoredTriples.from_columns("abcd", "rrrr", "wxyz", [0.1, 0.4, 0.6, 0.9])
    >>> calibration = actc.calibrate(pool, actc.Answers.of(pool, [1, 2], [False, True]), method="localopt-acc")
    >>> calibration.thresholds.decide(pool).tolist()
    [False, False, True, True]
    """
    chosen = find_method(method)
    target = None if precision is None else TargetPrecision(precision, confidence)
    sources = replace(_name_sources(scores, labels, known, graph, picks), columns=write_columns(columns))
    if labels is None and finds_cuts(chosen):
        raise OptionError(f"{method} needs annotations: give a file of judged triples with --labels.")
    facts = None if known is None else _read(known, ScoredTriples, "known", lambda path: read_scored(path)[0])
    answers = Answers() if labels is None else _read(labels, Answers, "labels", Answers.read)
    pool = _read(scores, ScoredTriples, "scores", lambda path: read_sample(path, answers.triples, columns=columns))
    warn_of_scores(chosen, pool)
    there = None if graph is None else read_graph(graph)
    annotations = answers.on(pool)
    answers.warn_of_unused(pool, there or facts, labels if isinstance(labels, PathLike) else "answers")
    rules = Constraints.read(constraints) if isinstance(constraints, PathLike) else constraints or Constraints()
    names = (*pool.relation_names, *(there.relation_names if there else ()))
    rules.warn_of_unknown(names, "the candidates or the graph")
    annotations = _annotate(pool, annotations, picks, target)
    case = Case(pool, annotations, facts, method, target=target, constraints=rules, facts=there)
    calibration = describe_calibration(case, sources)
    if out is not None:
        calibration.write(out)
    return calibration


def _read(given: Any, kind: type[Table], name: str, read: Callable[[PathLike], Table]) -> Table:
    """Return a table of ours, or what is read from a path; refuse anything else."""
    if isinstance(given, PathLike):
        return read(given)
    if isinstance(given, kind):
        return given
    raise TableError(
        f"{name}: a path or {kind.__name__} was expected, not a {type(given).__name__}; "
        f"{kind.__name__}.from_frame reads a data frame."
    )


def _name_sources(scores: Any, labels: Any, known: Any, graph: Any = None, picks: str = "unknown") -> Sources:
    """Return where thresholds come from; nowhere that a report could go back to if any part was a table in memory."""
    check_choice("way of picking", picks, PICKS)
    given = {"scores": scores, "labels": labels, "known": known, "graph": graph}
    if not all(part is None or isinstance(part, PathLike) for part in given.values()):
        return Sources(picks=picks)
    paths: dict[str, Any] = {name: Path(part).resolve() for name, part in given.items() if part is not None}
    return Sources(**paths, picks=picks)


def read_case(path: PathLike, calibration: Calibration) -> Case:
    """Read the case that a thresholds file came from: the files that it names as its sources."""
    sources, thresholds = calibration.sources, calibration.thresholds
    if sources.scores is None:
        raise FileError(
            f"{path}: it does not say which scores it came from; report on the session that it was exported from, or "
            "write it again with `actc calibrate`."
        )
    known = None if sources.known is None else read_scored(sources.known)[0]
    answers = Answers() if sources.labels is None else Answers.read(sources.labels)
    pool = read_sample(sources.scores, answers.triples, columns=sources.columns)
    if pool.relation_names != thresholds.relation_names:
        raise FileError(f"{sources.scores}: its relations are not those of {path}; calibrate again.")
    candidates = pool if sources.candidates is None else read_scored(sources.candidates)[0]
    facts = None if sources.graph is None else read_graph(sources.graph)
    rules, holdout = calibration.constraints, calibration.holdout
    case = Case(pool, Annotations(), known, calibration.method, candidates=candidates, constraints=rules, facts=facts)
    case = as_calibrated(replace(case, holdout=holdout), path, calibration)
    return replace(case, annotations=_annotate(pool, answers.on(pool), sources.picks, case.target))


def as_calibrated(case: Case, path: PathLike, calibration: Calibration) -> Case:
    """Return a case as a thresholds file decides it: by its cuts, or its guarantee, and people's answers."""
    answers, guarantee = calibration.exceptions, calibration.guarantee
    case = replace(case, name=Path(path).name, other_answers=answers.take(np.isin(answers.who, PEOPLE)))
    if guarantee is None:
        return replace(case, given_thresholds=calibration.thresholds)
    return replace(case, target=TargetPrecision(guarantee.precision, guarantee.confidence))


def _annotate(pool: ScoredTriples, given: Annotations, picks: str, target: TargetPrecision | None) -> Annotations:
    """Return the answers about a pool; random draws, if they are, with half of them for the test of a list."""
    if picks != "random":
        return given
    share = 1 / max(len(pool), 1)
    given = replace(given, selection="random", sampling_frame="pool", inclusion_probability=share, frame_size=0.0)
    return given if target is None else split_random(given, len(pool), np.random.default_rng(0))


def write_sources(folder: Path, case: Case, *, scores: str, labels: str, known: Path | None) -> Sources:
    """Write what a fit rests on into a folder, so that its thresholds can be reported on.

    Parameters
    ----------
    folder : Path
    case : Case
        The candidates, and the answers on some of them.
    scores, labels : str
        What to call the files of the pool and of the answers.
    known : Path, optional
        Where the known triples are already.
    """
    write_scored(folder / scores, case.pool)
    answered = len(case.annotations) > 0
    if answered:
        case.annotations.about(case.pool).write(folder / labels)
    return Sources(folder / scores, folder / labels if answered else None, known)


def describe_calibration(case: Case, sources: Sources) -> Calibration:
    """Return all that thresholds.json has about a case; ``sources`` are what a report can go back to."""
    alone, accepted = case.alone, np.append(case.decisions.accepted, False)[case.places]
    squash, judged = case.fit.squash, alone.by != "method"
    judged[case.judged_rows] = True  # answers of judges count, whether they changed the decision or not
    p = np.full(len(case.candidates), np.nan) if alone.probability is None else alone.probability
    return Calibration(
        case.thresholds,
        str(case.method),
        describe_options(case.named_method),
        Counts.of(case.pool, case.annotations, accepted),
        None if squash is None else {"name": "sigmoid(score - mean)", "mean": squash.mean},
        case.curves,
        sources,
        case.guaranteed,
        Answers(case.candidates.plain().take(judged), alone.accepted[judged], p[judged], who=alone.by[judged]),
        case.holdout,
        case.conflicts.constraints if len(case.constraints) else case.constraints,
        case.accepted_precision,
        None if case.guaranteed is None or case.guaranteed.passed else case.needed_answers(),
    )
