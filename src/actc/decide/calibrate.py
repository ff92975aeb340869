"""From candidates and the answers that exist to decisions: thresholds.json from files, frames in and out.

`actc calibrate` makes thresholds, and describes what every such file has. In notebooks two calls do; the pool may come
from anywhere: a frame, a file that was read, a model's own proposals. ::

    questions = pick_triples(pool, 50)         # these, please; put the answers into a column "label"
    accepted = accept_triples(pool, questions)
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from actc.data.answers import Annotations, Answers
from actc.data.calibration import Calibration, Counts, Sources
from actc.data.constraints import Constraints
from actc.data.files import read_sample, read_scored, write_scored
from actc.data.frames import (
    TRIPLE,
    Columns,
    are_integers,
    kind_of,
    make_frame,
    read_frame,
    read_further,
    read_optional,
    write_columns,
)
from actc.data.triples import IntArray, ScoredTriples
from actc.decide.case import Case
from actc.decide.decision_table import PEOPLE
from actc.decide.guarantee import TargetPrecision, split_random
from actc.decide.pick import pick_draws, pick_next
from actc.errors import FileError, OptionError, TableError, check_choice
from actc.evidence.score import TrainingSet, score_evidence
from actc.graph.formats import as_graph, read_graph
from actc.graph.graph import Graph
from actc.methods.named import describe_options, find_method, finds_cuts, warn_of_scores
from actc.methods.pooled.method import EVIDENCE_METHOD

LOG = logging.getLogger("actc")
PICKS = ("unknown", "random")
"""How judged triples were picked: as far as the answers show, or by a random draw, by the user's word."""
PathLike = str | Path
Table = TypeVar("Table", ScoredTriples, Answers)
DRAWN = ("selection", "sampling_frame", "inclusion_probability", "round")
"""The columns of questions that say how each was selected, beside ``frame_size``."""
NO_PERSON = (
    "No person answered, so neither the share of true triples nor what the judges are worth is known: the order is "
    "theirs, and about half is taken as true. Twenty answers to triples drawn at random settle it."
)


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
    target = TargetPrecision.of(precision, confidence)
    check_choice("way of picking", picks, PICKS)
    given = {"scores": scores, "labels": labels, "known": known, "graph": graph}
    named: dict[str, Any] = {name: Path(one).resolve() for name, one in given.items() if isinstance(one, PathLike)}
    if len(named) < sum(one is not None for one in given.values()):
        named = {}  # a report cannot go back to a table in memory
    sources = Sources(**named, picks=picks, columns=write_columns(columns))
    if labels is None and finds_cuts(chosen):
        raise OptionError(f"{method} needs annotations: give a file of judged triples with --labels.")
    pool, answers, facts, there = _read_tables(scores, labels, known, graph, columns)
    warn_of_scores(chosen, pool)
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


def _read_tables(
    scores: Any, labels: Any, known: Any, graph: PathLike | None, columns: Columns
) -> tuple[ScoredTriples, Answers, ScoredTriples | None, Graph | None]:
    """Return candidates, answers, known triples and facts; all but the facts may be tables already."""
    answers = Answers() if labels is None else _read(labels, Answers, "labels", Answers.read)
    pool = _read(scores, ScoredTriples, "scores", lambda path: read_sample(path, answers.triples, columns=columns))
    scored = None if known is None else _read(known, ScoredTriples, "known", lambda path: read_scored(path)[0])
    return pool, answers, scored, None if graph is None else read_graph(graph)


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


def read_case(path: PathLike, calibration: Calibration) -> Case:
    """Read the case that a thresholds file came from: the files that it names as its sources."""
    sources, thresholds = calibration.sources, calibration.thresholds
    if sources.scores is None:
        raise FileError(
            f"{path}: it does not say which scores it came from; report on the session that it was exported from, or "
            "write it again with `actc calibrate`."
        )
    inputs = sources.scores, sources.labels, sources.known, sources.graph, sources.columns
    pool, answers, known, facts = _read_tables(*inputs)
    if pool.relation_names != thresholds.relation_names:
        raise FileError(f"{sources.scores}: its relations are not those of {path}; calibrate again.")
    candidates = pool if sources.candidates is None else read_scored(sources.candidates)[0]
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


def pick_triples(
    pool: Any,
    count: int = 50,
    *,
    answers: Any = None,
    judges: Any = None,
    precision: float | None = None,
    confidence: float = 0.9,
    method: str | None = None,
    known: Any = None,
    graph: Any = None,
    seed: int = 0,
    library: str | None = None,
) -> Any:
    """Return the triples to judge next as a data frame.

    Its columns are head, relation, tail and score; those of the pool's frame in memory that are no others; selection,
    sampling_frame, inclusion_probability, round and frame_size, which describe how each was selected. Leave these
    beside the answers: guarantees rest on them.

    Parameters
    ----------
    pool : ScoredTriples, or data frame with the columns head, relation, tail and score
        The candidates; beside judges or a graph a frame needs no score.
    count : int
        How many.
    answers : Answers or data frame, optional
        What was judged before: head, relation, tail, label (1 or 0); these are not selected again.
    judges : data frame, optional
        What machines answered, as :func:`accept_triples` takes it.
    precision, confidence : float
        Draw from the list that is tested for this precision, with this confidence. Fit on some answers first, ten
        or so; then draw, and give all answers to :func:`accept_triples`.
    method, known, graph
        As in :func:`accept_triples`.
    seed : int
        Where randomness comes from.
    library : str, optional
        ``pandas``, ``polars``, ``polars-lazy``, ``pyarrow`` or ``duckdb``; that of the pool if not given.
    """
    if not isinstance(count, Integral) or count < 1:
        raise OptionError(f"A count of {count!r} is out of range; give a whole number from 1 on.")
    case = _open_case(pool, answers, judges, method, known, graph, precision, confidence)
    random = np.random.default_rng([seed, len(case.annotations)])
    picks = pick_next(case, count, random) if case.target is None else pick_draws(case, case.target, count, random)
    chosen = case.pool.take(picks.rows)
    columns = chosen.table_columns()
    columns |= {name: getattr(picks, name) for name in DRAWN} | {"frame_size": np.full(len(picks), len(case.pool))}
    return _frame_like(pool, picks.rows, columns, library)


def accept_triples(
    pool: Any,
    answers: Any = None,
    *,
    judges: Any = None,
    method: str | None = None,
    known: Any = None,
    precision: float | None = None,
    confidence: float = 0.9,
    constraints: Constraints | None = None,
    graph: Any = None,
    keep_all: bool = False,
    library: str | None = None,
) -> Any:
    """Return the accepted triples as a data frame: head, relation, tail, score, probability, by.

    What a person judged is decided by the person; all others by the method. Methods without probabilities leave that
    column out. Further columns of the pool's frame come back, and in pandas its index; of a lazy frame, and of a
    relation of DuckDB's, they do not. One that is called like a column made here comes back as ``given_…``.

    Parameters
    ----------
    pool : ScoredTriples, or data frame with the columns head, relation, tail and score
        The candidates; beside judges or a graph a frame needs no score.
    answers : Answers or data frame, optional
        What was judged: head, relation, tail, label (1 or 0), and the columns of :func:`pick_triples`.
    judges : data frame, optional
        What machines answered: head, relation, tail, judge, and label (1 or 0) or probability. What they are worth is
        inferred from the answers of people.
    method : str, optional
        A name in ``METHODS``; the pooled ones need no answers. ``pooled`` if not given, with a graph
        ``pooled-evidence``.
    known : ScoredTriples or data frame, optional
        Triples that the graph holds already, with their scores; only some methods use them.
    precision, confidence : float
        Guarantee this share of true triples among those that the method accepts, with this confidence; not
        with the baselines, which have no probabilities.
    constraints : Constraints, optional
        What may not be true together, as :func:`actc.find_constraints` finds it.
    graph : path, Triples, data frame or PyKEEN's triples factory, optional
        The facts that are known, such as those that a model was trained on. A method that reads evidence scores the
        candidates by the graph's evidence for each; their own score comes back as ``model_score``. Candidates that
        contradict these facts are excluded, where there are constraints.
    keep_all : bool
        Return all candidates, in their order, with a column ``accepted``.
    library : str, optional
        ``pandas``, ``polars``, ``polars-lazy``, ``pyarrow`` or ``duckdb``; that of the pool if not given.

    Examples
    --------
    >>> import actc
    >>> scored = {"head": "abcd", "relation": "rrrr", "tail": "wxyz", "score": [0.1, 0.4, 0.6, 0.9]}
    >>> pool = {name: list(column) for name, column in scored.items()}
    >>> answers = {"head": ["b", "c"], "relation": ["r", "r"], "tail": ["x", "y"], "label": [False, True]}
    >>> actc.accept_triples(pool, answers, method="localopt-acc")["head"].tolist()
    ['c', 'd']
    """
    case = _open_case(pool, answers, judges, method, known, graph, precision, confidence)
    case = replace(case, constraints=constraints or Constraints())
    if len(case.judged) and not len(case.annotations):
        LOG.warning(NO_PERSON)
    if case.target:
        _ = case.ranked_by_method  # refused where there are no probabilities
    decided = case.decisions
    rows = np.arange(len(case.pool)) if keep_all else np.flatnonzero(decided.accepted)
    return _frame_like(pool, rows, decided.columns(accepted_only=not keep_all), library)


def _open_case(
    pool: Any,
    answers: Any,
    judges: Any,
    method: str | None,
    known: Any,
    graph: Any,
    precision: float | None,
    confidence: float,
) -> Case:
    name = method or ("pooled" if graph is None else EVIDENCE_METHOD)
    facts = None if graph is None else as_graph(graph)
    reads_evidence = facts is not None and find_method(name).reads == "evidence"
    triples = _as_pool(pool, needs_score=judges is None and not reads_evidence)
    known = known if known is None else _as_pool(known, needs_score=True)
    if facts is not None and reads_evidence:  # log-odds by the graph's evidence; its own facts weigh the evidence
        if set(facts.entity_names).isdisjoint(triples.entity_names):
            raise TableError("The graph and the pool have no entity in common; are they about the same things?")
        scored, _ = score_evidence(facts, triples, TrainingSet.from_graph(facts, triples))
        triples = replace(
            triples.with_scores(scored.scores), further={**triples.further, "model_score": triples.scores}
        )
    warn_of_scores(find_method(name), triples)
    annotations = _read_answers(answers, "answers").warn_of_unused(triples).on(triples)
    if judges is not None and not isinstance(judges, Answers):
        read_frame(judges, (*TRIPLE, "judge"))  # refused without
    judged = _read_answers(judges, "judges' answers").warn_of_unused(triples, source="judges' answers")
    target = TargetPrecision.of(precision, confidence)
    return Case(triples, annotations, known, name, judged, target, facts=facts)


def _frame_like(pool: Any, rows: IntArray, columns: dict[str, Any], library: str | None) -> Any:
    """Return columns about rows of the pool as a frame of its kind: whole numbers as ids, and an index, if it has."""
    if isinstance(pool, ScoredTriples):
        return make_frame(columns, library or "pandas")
    numbers = [name for name, column in read_optional(pool, TRIPLE).items() if are_integers(column)]
    columns = columns | {name: columns[name].astype(np.int64) for name in numbers}
    kind = library or kind_of(pool)
    frame = make_frame(columns, kind)
    return frame.set_axis(pool.index[rows]) if kind == "pandas" and hasattr(pool, "index") else frame


def _as_pool(pool: Any, needs_score: bool) -> ScoredTriples:
    """Read the pool; where no score is needed, a frame without scores gets the score 0 in every row."""
    if isinstance(pool, ScoredTriples):
        return pool
    if needs_score or read_optional(pool, ("score",)):
        return ScoredTriples.from_frame(pool)
    heads, relations, tails = read_frame(pool, TRIPLE)
    triples = ScoredTriples.from_columns(heads, relations, tails, np.zeros(len(heads)))
    return replace(triples, further=read_further(pool, TRIPLE))


def _read_answers(given: Any, source: str) -> Answers:
    """Read answers; refuse a frame in which nobody has answered anything, such as the questions as they were picked."""
    if given is None:
        return Answers()
    answers = given if isinstance(given, Answers) else Answers.from_frame(given)
    if answers is not given and not len(answers) and len(read_optional(given, TRIPLE)["head"]):
        raise TableError(f"None of the {source} has a label: put 1 (true) or 0 (false) into the column label.")
    return answers
