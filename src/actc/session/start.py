"""Start an annotation session: a new folder with everything that it needs, and its first questions."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.constraints import Constraints
from actc.data.deliver import deliver
from actc.data.files import read_sample, read_scored, write_scored, write_triples
from actc.data.frames import TEXT
from actc.data.layout import find_layout
from actc.data.options import documented, options_of
from actc.data.triples import ScoredTriples
from actc.decide.classes import relation_mask
from actc.decide.find_constraints import constraints_from
from actc.errors import FileError
from actc.graph.formats import as_table, read_graph
from actc.session.names import REASONS, SOURCE, insert_names, write_known, write_texts
from actc.session.read_names import own_labels
from actc.session.session import OWNER, Session, open_session, write_settings
from actc.session.settings import SessionInputs, Settings
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
    from actc.methods.named import find_method, warn_of_scores
    from actc.session.import_answers import put_answers
    from actc.session.plan import Planner

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
        if table is not None and "score" in find_layout(table, ("head", "relation", "tail", "score")).columns:
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


def add_session_names(session: str | Path | Session, files: Sequence[str | Path], language: str = "en") -> None:
    """Add names to a session that was started (see :func:`insert_names`); its pages show them at once."""
    with open_session(session) as session:
        pool = session.read_pool()
        insert_names(
            session.store, [Path(file) for file in files], (*pool.entity_names, *pool.relation_names), language
        )


def count_named(session: Session) -> tuple[int, int]:
    """Count the entities of a session's candidates with a name, and all."""
    pool = session.read_pool()
    used = np.unique(np.concatenate([pool.heads, pool.tails])).tolist()
    return session.names.count_named(pool.entity_names[i] for i in used), len(used)


def sample_files() -> tuple[Path, tuple[Path, ...], Path]:
    """Return the packaged sample's candidates, names and graph."""
    folder = Path(str(files("actc.bench.sample")))
    return folder / "valid.tsv.gz", (folder / "entities.tsv.gz", folder / "relations.tsv"), folder / "train.tsv.gz"
