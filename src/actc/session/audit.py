"""Audits: people judge random draws from accepted triples, on a page or in files, until there are enough answers.

On a page an audit is a session whose pool is the accepted set: its planner computes after every answer what the draws
show, and draws more.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.answers import Annotations, Answers
from actc.data.deliver import deliver
from actc.data.files import read_scored, write_scored
from actc.data.options import documented, options_of
from actc.data.triples import ScoredTriples
from actc.decide.audit import Audit, assess, draw_next
from actc.decide.estimate import WRONG_FACTS
from actc.errors import OptionError
from actc.graph.formats import read_graph
from actc.session.cases import session_case, words_of
from actc.session.names import copy_names
from actc.session.plan import Planner
from actc.session.session import Session, open_session
from actc.session.settings import AuditConfig, Settings
from actc.session.start import write_core


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
