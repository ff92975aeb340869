"""Start a session: a new folder with everything that it needs and its first questions; or an audit.

In an audit people judge random draws from accepted triples, on a page or in files, until there are enough answers. On a
page it is a session whose pool is the accepted set: its planner computes after every answer what the draws show, and
draws more.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tempfile
from dataclasses import fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.answers import Annotations, Answers
from actc.data.constraints import Constraints
from actc.data.deliver import deliver
from actc.data.files import read_sample, read_scored, write_scored, write_triples
from actc.data.frames import TEXT
from actc.data.layout import find_layout
from actc.data.options import documented, options_of
from actc.data.triples import ScoredTriples
from actc.decide.audit import Audit, assess, draw_next
from actc.decide.conflicts import relation_mask
from actc.decide.estimate import WRONG_FACTS
from actc.decide.find_constraints import constraints_from
from actc.errors import FileError, OptionError
from actc.graph.formats import as_table, read_graph
from actc.methods.named import find_method, warn_of_scores
from actc.session.cases import session_case, words_of
from actc.session.import_answers import put_answers
from actc.session.names import REASONS, SOURCE, copy_names, insert_names, own_labels, write_known, write_texts
from actc.session.plan import Planner
from actc.session.session import OWNER, Session, open_session, write_settings
from actc.session.settings import AuditConfig, SessionInputs, Settings
from actc.session.store import FILE, Store


@documented(options_of(SessionInputs, Settings))
def start_session(folder: str | Path, scores: str | Path, **options: Any) -> Session:
    """Make a session folder and plan its first questions, as ``actc start`` does.

    Parameters
    ----------
    folder : path
        A new folder; it is complete or absent.
    scores : path
        The candidates: head, relation, tail, score; a file, or a folder of parts. Of more than a million a random
        sample is taken; the logger ``actc`` reports it. A file may have a column ``text``, which each was taken
        from: cards show it, and machine judges read it.
    options
        Any of the options below, those of the command; ``guidelines`` is the text itself, and ``constraints`` may be
        :class:`actc.data.constraints.Constraints`.
    """
    settings = {one.name: options.pop(one.name) for one in fields(Settings) if one.name in options}
    return create_session(folder, scores, Settings(**settings), SessionInputs(**options))


def create_session(
    folder: str | Path, scores: str | Path, settings: Settings | None = None, inputs: SessionInputs | None = None
) -> Session:
    """Make a session folder, with whatever a completed graph brings; see :func:`start_session`."""
    folder, settings, inputs = Path(folder), settings or Settings(), inputs or SessionInputs()
    method = find_method(settings.method)
    if folder.exists():
        raise FileError(f"{folder} is there already; give a new name, or go on with: actc annotate {folder}")
    if not folder.absolute().parent.is_dir():
        raise FileError(f"{folder} cannot be made: there is no folder {folder.absolute().parent}.")
    with deliver(folder) as made:
        made.mkdir(0o700)  # people's names and answers; the owner may open it to others
        pool = read_sample(scores, seed=settings.seed, columns=inputs.columns, further=True)
        write_scored(made / "pool.parquet", pool)
        warn_of_scores(method, pool)
        title = settings.title or Path(scores).name.partition(".")[0]
        session = write_core(made, replace(settings, title=title, triples=len(pool)))
        _write_inputs(session, pool, inputs)
        write_texts(session.store, SOURCE, pool.further.get(TEXT, ()))
        if inputs.people is not None:
            _take_people(session, inputs.people)
        if inputs.answers is not None:
            put_answers(session, pool, inputs.answers)
        Planner(session, pool).step()
        session.close()
    return Session(folder)


def _write_inputs(session: Session, pool: ScoredTriples, inputs: SessionInputs) -> None:
    """Write what a session shows and uses besides its candidates."""
    graph, facts = None if inputs.graph is None else Path(inputs.graph), inputs.facts
    with tempfile.TemporaryDirectory(prefix="actc-") as scratch:
        table = None if graph is None else as_table(graph, "", Path(scratch))
        if table is not None and "score" in find_layout(table).columns:
            write_scored(session.folder / "known.parquet", read_scored(table)[0])
        write_known(session.store, table)
    names = [*(() if graph is None else own_labels(graph)), *map(Path, inputs.names)]
    insert_names(session.store, names, (*pool.entity_names, *pool.relation_names), inputs.language)
    if inputs.evidence is not None:
        reasons = (json.dumps(texts, ensure_ascii=False) if texts else "" for texts in inputs.evidence)
        write_texts(session.store, REASONS, reasons)
    if inputs.constraints is not None:
        given = inputs.constraints
        used = (given if isinstance(given, Constraints) else constraints_from(given, graph)).used
        used.write(session.folder / "constraints.tsv")
        facts = read_graph(graph) if facts is None and graph is not None else facts
        contradicted = None if facts is None else facts.take(relation_mask(facts, used.relations))
        if contradicted:
            write_triples(session.folder / "facts.parquet", contradicted.columns())


def write_core(folder: Path, settings: Settings) -> Session:
    """Write what every session has besides its pool, its names and the graph, and open it."""
    with open(os.open(folder / "secret", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_bytes(32))
    store = Store(folder / FILE, create=True)
    write_settings(store, vars(settings))
    store.close()
    session = Session(folder)
    session.add_annotator(OWNER, "owner")
    return session


def _take_people(session: Session, earlier: Path) -> None:
    """Give a new session the people of an earlier one, with their links."""
    with open_session(earlier) as before:
        rows = [tuple(row) for row in before.store.rows("SELECT name, kind, created, link FROM annotator")]
    with session.store.transaction() as connection:
        connection.executemany(
            "INSERT INTO annotator (name, kind, created, link) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (name) DO UPDATE SET link = excluded.link",
            rows,
        )
    shutil.copy2(earlier / "secret", session.folder / "secret")


def copy_sample(folder: Path) -> tuple[Path, list[Path], Path]:
    """Write the packaged candidates, without their labels, names and graph into a folder; return where they are."""
    sample = Path(str(files("actc.bench.sample")))
    scores = folder / "scores.tsv"
    write_scored(scores, read_scored(sample / "valid.tsv.gz")[0])
    *names, graph = (
        Path(shutil.copy(sample / name, folder)) for name in ("entities.tsv.gz", "relations.tsv", "train.tsv.gz")
    )
    return scores, names, graph


@documented(options_of(AuditConfig))
def start_audit(session: str | Path | Session, folder: str | Path | None = None, **options: Any) -> Session:
    """Make a session of its own in which people judge random draws from the accepted triples of a session.

    Where it is there already, it goes on: the options of the first call count.

    Parameters
    ----------
    session : path or Session
        Its accepted triples are drawn from; what people called true is among them, what they called false is not.
        These are what it accepts now, without a guarantee, unless ``among`` is given.
    folder : path, optional
        The audit's folder; ``audit`` in the session's own if not given.
    options
        Any of the options below, those of the command.
    """
    config = AuditConfig(**options)
    with open_session(session) as session:
        folder = session.folder / "audit" if folder is None else Path(folder)
        if folder.is_dir():
            return Session(folder)
        old, words = session.settings, words_of(session.settings)
        accepted = _accepted_by(session, config.among)
        if not len(accepted):
            place = config.among or session.folder
            raise OptionError(f"{place}: nothing is {words.accepted} yet, so nothing can be audited.")
        most = 100 if config.target is not None else assess(accepted, Annotations(), config.rule).more
        settings = Settings(
            budget=min(config.count or most or 100, len(accepted)), title=f"Audit of {old.title}", seed=config.seed,
            guidelines=old.guidelines, link=old.link, triples=len(accepted), within=config.within,
            target=config.target, level=config.level, n_facts=len(accepted) if words is WRONG_FACTS else 0,
        )  # fmt: skip
        with deliver(folder) as made:
            made.mkdir(0o700)
            write_scored(made / "pool.parquet", accepted)
            audit = write_core(made, settings)
            copy_names(session.store, audit.store)  # without reasons and texts: its rows are others
            for person in session.people():
                audit.add_annotator(person.name)
            Planner(audit, accepted).step()
            audit.close()
    return Session(folder)


def _accepted_by(session: Session, among: str | Path | None) -> ScoredTriples:
    """Return the triples that a session accepts now, or those of a file."""
    pool = session.read_pool()
    if among is not None:
        triples = read_graph(Path(among))
        rows = pool.rows_of(triples)
        return triples.with_scores(np.where(rows >= 0, pool.scores[rows], 0.0))
    case = session_case(session)
    return case.candidates.take(case.decisions.accepted).with_used_names()


@documented([one for one in options_of(AuditConfig) if one.name != "among"])
def audit_accepted(
    accepted: str | Path | ScoredTriples,
    labels: str | Path | Answers | None = None,
    *,
    out: str | Path | None = None,
    **options: Any,
) -> Audit:
    """Estimate how many accepted triples are true, by judged draws and without any model, as ``actc audit`` does.

    Parameters
    ----------
    accepted : path or ScoredTriples
        The whole accepted set.
    labels : path or Answers, optional
        The judged draws so far.
    out : path, optional
        Draw the triples to judge next, where answers bring most, and write them there.
    options
        Any of the options below, those of the command.
    """
    config = AuditConfig(**options)
    if labels is None and out is None:
        raise OptionError("Give --out to draw triples to judge, or --labels to read judged ones.")
    if config.among is not None:
        raise OptionError(f"--among: {accepted} is not a session; give one, or audit {config.among} itself.")
    triples = accepted if isinstance(accepted, ScoredTriples) else read_scored(accepted)[0]
    answers = Annotations()
    if labels is not None:
        given = labels if isinstance(labels, Answers) else Answers.read(labels)
        answers = given.warn_of_unused(triples, source="answers" if given is labels else str(labels)).on(triples)
    audit = assess(triples, answers, config.rule)
    if out is not None:
        random = np.random.default_rng([config.seed, len(answers)])
        rows = draw_next(triples, answers, config.count or 100, random, config.rule)
        write_scored(out, triples.take(rows))
        audit = replace(audit, drawn=len(rows))
    return audit
