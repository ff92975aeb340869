"""Start an annotation session: a new folder with everything that it needs, and its first questions."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np

from actc.data.answers import Annotations
from actc.data.constraints import Constraints
from actc.data.deliver import write_folder
from actc.data.files import find_layout, read_scored, write_scored, write_triples
from actc.data.parts import read_sample
from actc.data.triples import ScoredTriples, Triples
from actc.decide.classes import relation_mask
from actc.decide.find_constraints import constraints_from
from actc.errors import FileError
from actc.graph.formats import as_table, read_graph
from actc.session.names import FILE, add_names, write_names
from actc.session.read_names import own_labels
from actc.session.session import OWNER, Session, open_session
from actc.session.settings import Settings
from actc.session.store import FILE as STORE
from actc.session.store import Store
from actc.session.texts import find_sources, write_reasons, write_sources


def start_session(
    folder: str | Path,
    scores: str | Path,
    settings: Settings | None = None,
    names: Sequence[str | Path] = (),
    graph: str | Path | None = None,
    language: str = "en",
    reasons: Iterable[Sequence[str]] | None = None,
    constraints: str | Path | Constraints | None = None,
    facts: Triples | None = None,
    said: Annotations | None = None,
    people: str | Path | None = None,
) -> Session:
    """Make a session folder and plan its first questions.

    Parameters
    ----------
    folder : path
        A new folder; it is complete or absent.
    scores : path
        The candidates: head, relation, tail, score; a file, or a folder of parts. Of more than a million a random
        sample is taken; the logger ``actc`` says so. A file may have a column ``source``,
        the text that each was taken from: cards show it, and machine judges read it.
    settings : Settings, optional
        The choices; sizes are filled in here.
    names : sequence of path
        Files with names and descriptions, see :func:`actc.session.read_names.read_names`.
    graph : path, optional
        Triples that the graph holds, in any format: head, relation, tail, and score if the method should use it. What
        RDF calls things is shown.
    language : str
        The language of names and descriptions, where a file has several.
    reasons : iterable of sequences of str, optional
        Why each candidate may be true or false, see :func:`actc.session.texts.write_reasons`.
    constraints : Constraints or path, optional
        What may not be true together, as ``actc constraints`` writes it; or ``learnt``, from the graph.
    facts : Triples, optional
        What candidates could contradict; the graph's triples if not given.
    said : Annotations, optional
        What was said of candidates before, by their rows: it is not asked again.
    people : path, optional
        An earlier session, whose people may judge by the links that they have.
    """
    from actc.methods.named import find_method, warn_of_scores
    from actc.session.exchange import put_answers
    from actc.session.plan import Planner

    folder, settings = Path(folder), settings or Settings()
    method = find_method(settings.method)
    if folder.exists():
        raise FileError(f"{folder} is there already; give a new name, or go on with: actc annotate {folder}")
    if not folder.absolute().parent.is_dir():
        raise FileError(f"{folder} cannot be made: there is no folder {folder.absolute().parent}.")
    with write_folder(folder) as beside:
        beside.chmod(0o700)  # people's names and what they said; the owner may open it to others
        known_file = None if graph is None else Path(graph)
        with tempfile.TemporaryDirectory(prefix="actc-") as scratch:
            table = None if known_file is None else as_table(known_file, "", Path(scratch))
            known = None if table is None else _copy_known(table, beside)
            pool = read_sample(scores, seed=settings.seed)
            write_scored(beside / "pool.parquet", pool)
            warn_of_scores(method, pool)
            ids = (*pool.entity_names, *pool.relation_names)
            own = () if known_file is None else own_labels(known_file)
            write_names(beside / FILE, [*own, *map(Path, names)], table, ids, language)
        if Path(scores).is_file() and find_sources(Path(scores)) is not None:
            write_sources(beside, pool, scores)
        if reasons is not None:
            write_reasons(beside, reasons)
        if constraints is not None:
            _write_constraints(beside, constraints, known_file, facts)
        chosen = replace(
            settings, triples=len(pool), relations=len(pool.relation_names), graph_scored=known is not None
        )
        session = write_core(beside, chosen)
        if people is not None:
            take_people(session, Path(people))
        if said is not None:
            put_answers(session, pool, said)
        Planner(session, pool).step()
        session.close()
    return Session(folder)


def write_core(folder: Path, settings: Settings) -> Session:
    """Write what every session has besides its pool and its names, and open it."""
    _write_secret(folder / "secret")
    Store(folder / STORE, settings.to_json()).close()
    session = Session(folder)
    session.set_budget(settings.budget)
    session.add_annotator(OWNER, "owner")
    return session


def take_people(session: Session, earlier: Path) -> None:
    """Give a new session the people of an earlier one: who may judge, and by which link, stays as it was."""
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
    """Give a session that was started more names; its pages show them at once.

    Parameters
    ----------
    session : path or Session
    files : sequence of path
        Where the names are, see :func:`actc.session.read_names.read_names`.
    language : str
        The language of names and descriptions, where a file has several.
    """
    with open_session(session) as session:
        pool = session.read_pool()
        ids = (*pool.entity_names, *pool.relation_names)
        add_names(session.names.path, [Path(file) for file in files], ids, language)


def count_named(session: Session) -> tuple[int, int]:
    """Count the entities of a session's candidates with a name, and all."""
    pool = session.read_pool()
    used = np.unique(np.concatenate([pool.heads, pool.tails])).tolist()
    return session.names.count_named(pool.entity_names[i] for i in used), len(used)


def sample_files() -> tuple[Path, tuple[Path, ...], Path]:
    """Return the packaged sample's candidates, names and graph."""
    folder = Path(str(files("actc.bench.sample")))
    return folder / "valid.tsv.gz", (folder / "entities.tsv.gz", folder / "relations.tsv"), folder / "train.tsv.gz"


def _copy_known(graph: Path, folder: Path) -> ScoredTriples | None:
    """Copy the graph's triples into the session and return them, if they have scores."""
    if "score" not in find_layout(graph, order=("head", "relation", "tail", "score")).position:
        return None
    known = read_scored(graph)[0]
    write_scored(folder / "known.parquet", known)
    return known


def _write_constraints(
    folder: Path, named: str | Path | Constraints, graph: Path | None, facts: Triples | None
) -> None:
    """Write the constraints that are used, and the facts that candidates could contradict."""
    found = named if isinstance(named, Constraints) else constraints_from(named, graph)
    found.used.write(folder / "constraints.tsv")
    facts = read_graph(graph) if facts is None and graph is not None else facts
    if facts is not None:
        write_triples(folder / "facts.parquet", facts.take(relation_mask(facts, found.used.relations)).columns())


def _write_secret(path: Path) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_bytes(32))
