"""The graph's evidence beside candidates: from files to files, as ``actc evidence`` does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from actc.data.database import parse_memory
from actc.data.deliver import deliver
from actc.data.files import copy_options, read_scored, refuse_tabs
from actc.data.frames import Columns
from actc.data.layout import find_layout
from actc.data.progress import Progress, ignore_progress
from actc.data.triples import ScoredTriples
from actc.errors import FileError, OptionError, TableError, check_choice, needing
from actc.evidence.score import EvidenceModel, create_training_set, learn
from actc.evidence.steps import Limits
from actc.evidence.table import Work, count_look_ups, place_scores, write_evidence
from actc.graph.formats import read_graph
from actc.graph.graph import Graph
from actc.graph.rdf import Base, without_literals

NO_HOLDOUT = "No holdout facts were given: scores do not count in the log-odds; --holdout gives them their weight."
NOT_PROPOSED = (
    "The holdout facts are not among the candidates: scores do not count in the log-odds, since those of facts that "
    "the model did not propose cannot be compared with those that it did."
)


def add_evidence(
    graph: str | Path,
    candidates: str | Path,
    out: str | Path,
    *,
    holdout: str | Path | None = None,
    base: Base = "",
    columns: Columns = None,
    memory: str = "2GB",
    engine: str = "duckdb",
    master: str | None = None,
    progress: Progress = ignore_progress,
) -> tuple[str, ...]:
    """Score candidates by all that the graph and the model show of them, as ``actc evidence`` does.

    Parameters
    ----------
    graph : path
        The known facts, in any format that actc reads.
    candidates : path
        head, relation, tail, score.
    out : path
        A .tsv, .csv or .parquet file, or a folder of Parquet parts, which has no ending: head, relation, tail, score
        (the log-odds), then one column per piece. Rows are in the order of the candidates; of more than a million,
        relation by relation; Spark gives them no order.
    holdout : path, optional
        Facts that the model was not trained on, with its scores, or without where the candidates list them. Scores
        count where the candidates list some of them, as the model proposed them. Without any, some of the graph's own
        facts teach what the pieces are worth, but for scores, which known facts flatter.
    base : str, or two of them
        What IRIs begin with in RDF and names do not: all of them, or entities' and relations'.
    columns : str or dict, optional
        The names of the candidates' columns: ``head=subj,relation=verb,tail=obj,score=weight``.
    memory : str
        What the engine may use, such as ``2GB``; the codes of graph and candidates come on top.
    engine : str
        ``duckdb``, or ``spark``, which writes a folder.
    master : str, optional
        Spark's address; this machine if not given.
    progress : callable
        Called after each step: how many more are done, of how many in all.

    Returns
    -------
    tuple of str
        What a person should know, in sentences.
    """
    out = Path(out)
    write = find_engine(engine, memory, master, out)
    with deliver(out, overwrite=True) as place:
        known, proposals, facts = _read(graph, candidates, holdout, base, columns)
        model, work, notes = _learn(known, proposals, facts, memory, count_look_ups(progress, 2))
        if out.suffix:
            names = work.graph.entity_names.array, work.graph.relation_names.array
            refuse_tabs(place, dict(zip(("head", "relation"), names, strict=True)))
        write(work, model, place)
    unknown = "how many of them are true is unknown before any answer"
    summary = f"{out}: {len(proposals):,} candidates; {unknown}; learned from {model.holdout:,} holdout facts."
    return (*known.notes, *notes, summary)


def _read(
    graph: str | Path, candidates: str | Path, holdout: str | Path | None, base: Base, columns: Columns
) -> tuple[Graph, ScoredTriples, ScoredTriples | None]:
    """Read known facts, candidates and holdout facts; parameters as those of :func:`add_evidence`.

    Holdout facts without scores have those of the candidates.
    """
    known, scored = without_literals(read_graph(graph, base=base)), read_scored(candidates, columns)[0]
    if set(known.entity_names).isdisjoint(scored.entity_names):
        raise FileError(f"{candidates}: it has no entity in common with {graph}; is it about another graph?")
    proposals = scored.with_pieces(score=scored.scores)
    if holdout is None:
        return known, proposals, None
    if "score" in find_layout(Path(holdout), order=("head", "relation", "tail", "score")).columns:
        return known, proposals, read_scored(holdout)[0]
    facts = read_graph(holdout, base=base)
    rows = scored.rows_of(facts)
    if missing := int((rows < 0).sum()):
        raise FileError(
            f"{candidates}: {missing} of the {len(rows)} holdout facts have no score in it; add the model's."
        )
    return known, proposals, facts.with_scores(scored.scores[rows])


def _learn(
    known: Graph, given: ScoredTriples, holdout: ScoredTriples | None, memory: str, progress: Progress
) -> tuple[EvidenceModel, Work, list[str]]:
    """Learn the weights of evidence from holdout facts, or from the graph's own where there are none."""
    if holdout is not None and holdout.contains(given).all():
        raise OptionError(
            "--holdout: all candidates are holdout facts; other proposals are needed to compare them with."
        )
    training = create_training_set(known, given, holdout)
    limits = Limits.for_count(max(len(given), len(training.proposals)))
    try:
        model, graph = learn(known, training, limits, progress, memory)
    except TableError as error:
        raise OptionError(f"--holdout: {error}") if holdout is not None else error from None
    notes = [NO_HOLDOUT] if holdout is None else [] if model.with_scores else [NOT_PROPOSED]
    return model, Work.of(graph, place_scores(given), limits, progress), notes


def find_engine(name: str, memory: str, master: str | None, out: Path) -> Callable[[Work, EvidenceModel, Path], None]:
    """Return what writes evidence by the engine of a name, and refuse an output that it could not write."""
    check_choice("engine", name, ("duckdb", "spark"))
    size = parse_memory(memory)
    if name == "duckdb":
        if master is not None:
            raise OptionError("--master is the address of a Spark cluster; give --engine spark too.")
        if out.suffix:
            copy_options(out)  # refuses an ending that no table has
        return lambda work, model, place: write_evidence(work, model.log_odds, place, memory)
    if out.suffix:
        raise OptionError(f"{out.name}: Spark writes a folder of parts; give a name without an ending.")
    with needing("The engine spark", "pyspark", "spark"):
        from actc.evidence import spark_engine
    return partial(spark_engine.write_evidence, memory=size, master=master)
