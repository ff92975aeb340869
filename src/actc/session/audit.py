"""Audits: people judge random draws from accepted triples, on a page or in files, until there are enough answers.

On a page an audit is a session whose pool is the accepted set. Beside the people who judge, :class:`AuditPlanner`
computes after every answer what the draws show, and draws more while that is not enough.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.answers import Annotations, Answers
from actc.data.deliver import write_folder
from actc.data.files import LOG, read_scored, write_scored
from actc.data.options import documented, options_of
from actc.data.triples import ScoredTriples
from actc.decide.audit import Audit, StoppingRule, assess, describe_audit, draw_next, stratify
from actc.decide.estimate import WRONG_FACTS
from actc.errors import FileError, OptionError
from actc.graph.formats import read_graph
from actc.session.cases import invert_labels, open_case, words_of
from actc.session.lease_queue import PLACES, TASK
from actc.session.names import copy_names
from actc.session.plan import INSERT_REFIT, LAST_JUDGEMENT, describe_relations, task_of
from actc.session.session import Session, open_session
from actc.session.settings import AuditConfig, Settings
from actc.session.start import write_core

AHEAD = 10
"""Draws that wait to be given out."""


def judged_draws(session: Session) -> Annotations:
    """Return the answers to an audit; an unsure answer counts as a no."""
    wrong = words_of(session.settings) is WRONG_FACTS
    labels = invert_labels(session.annotations()) if wrong else session.annotations()
    unsure = session.store.integers("SELECT triple FROM task WHERE answered > 0 AND labelled = 0", columns=1)[:, 0]
    return Annotations(np.append(labels.rows, unsure), np.append(labels.labels, np.zeros(len(unsure), dtype=np.bool_)))


class AuditPlanner:
    """Computes, answer by answer, what an audit shows, and draws what is asked next.

    Parameters
    ----------
    session : Session
        The audit.
    """

    def __init__(self, session: Session) -> None:
        self.session, self.accepted = session, session.read_pool()
        self.strata = stratify(self.accepted)
        self.seen = -1

    def step(self) -> bool:
        """Assess the answers, if there are new ones, and draw more; return whether there were."""
        last = int(self.session.store.value(LAST_JUDGEMENT))
        new = last != self.seen
        if new:
            content = json.dumps(self._describe())
            with self.session.store.transaction() as connection:
                connection.execute(INSERT_REFIT, (time.time(), last, content))
            self.seen = last
        self._draw()  # people may have leased what was drawn, and not yet answered
        return new

    def _draw(self) -> None:
        """Put draws behind those that wait, as far as the budget goes."""
        session, settings = self.session, self.session.settings
        if session.store.value("SELECT count(*) FROM plan") > AHEAD // 2 or session.certified:
            return
        drawn = session.store.integers("SELECT triple FROM task UNION SELECT triple FROM plan", columns=1)[:, 0]
        answers = judged_draws(session)
        unsure = len(answers) - int(session.store.value("SELECT labels FROM total"))
        count = min(AHEAD, settings.budget - len(drawn) + unsure, len(self.accepted) - len(drawn))
        if count < 1:
            return
        random = np.random.default_rng([settings.seed, len(drawn)])
        chosen = draw_next(self.accepted, answers, count, random, settings.stopping_rule, drawn, self.strata)
        why = f"Drawn at random from what is {words_of(settings).accepted}."
        tasks = [task_of(self.accepted, row, why, "check", "accepted") for row in chosen.tolist()]
        with session.store.transaction() as connection:
            connection.executemany(
                f"INSERT OR IGNORE INTO plan (place, {TASK}) VALUES (?, {PLACES})",
                [(place, *task.as_row()) for place, task in enumerate(tasks, start=len(drawn))],
            )

    def _describe(self) -> dict[str, Any]:
        """Return what the pages show: the share of true triples with its bounds, overall and by relation."""
        answers, accepted = judged_draws(self.session), self.accepted
        audit = assess(accepted, answers, self.session.settings.stopping_rule, self.strata)
        relations, size = accepted.relations[answers.rows], len(accepted.relation_names)
        judged = np.bincount(relations, minlength=size)
        trues = np.bincount(relations[answers.labels], minlength=size)
        order = np.argsort(-judged, kind="stable")[: np.count_nonzero(judged)]
        return {
            "labels": audit.judged,
            "expected": audit.share.middle if audit.judged else None,
            "low": audit.share.low,
            "high": audit.share.high,
            "relations": describe_relations(accepted, order, trues / np.maximum(judged, 1), judged),
            "done": audit.more == 0,
            "verdict": describe_audit(audit, words_of(self.session.settings)),
        }


@documented(options_of(AuditConfig))
def start_audit(session: str | Path | Session, folder: str | Path | None = None, **options: Any) -> Session:
    """Make a session of its own in which people judge random draws from the accepted triples of a session.

    Parameters
    ----------
    session : path or Session
        Its accepted triples are drawn from; what people called true is among them, what they called false is not.
        These are what it accepts now, without a guarantee, unless ``among`` is given.
    folder : path, optional
        A new folder; ``audit`` in the session's own if not given.
    options
        Any of the options below, those of the command.
    """
    config = AuditConfig(**options)
    with open_session(session) as session:
        folder = session.folder / "audit" if folder is None else Path(folder)
        if folder.exists():
            raise FileError(
                f"{folder} is there already; give another with --out, or go on with: actc annotate {folder}"
            )
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
        with write_folder(folder) as made:
            made.chmod(0o700)
            write_scored(made / "pool.parquet", accepted)
            audit = write_core(made, settings)
            copy_names(session.store, audit.store)  # without reasons and texts: its rows are others
            for person in session.people():
                audit.add_annotator(person.name)
            AuditPlanner(audit).step()
            audit.close()
    return Session(folder)


def _accepted_by(session: Session, among: str | Path | None) -> ScoredTriples:
    """Return the triples that a session accepts now, or those of a file."""
    pool = session.read_pool()
    if among is not None:
        triples = read_graph(Path(among))
        rows = pool.rows_of(triples)
        return triples.with_scores(np.where(rows >= 0, pool.scores[rows], 0.0))
    case = open_case(session).case
    return case.candidates.take(case.decisions.accepted).with_used_names()


def open_audit(session: str | Path, folder: str | Path | None = None, **options: Any) -> Session:
    """Return the audit of a session, if it is there; else draw one, with the options of :func:`start_audit`."""
    there = Path(session) / "audit" if folder is None else Path(folder)
    return Session(there) if there.is_dir() else start_audit(session, there, **options)


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
        for note in given.describe_use(triples, source="answers" if given is labels else str(labels)):
            LOG.warning(note)
        answers = given.on(triples)
    audit = assess(triples, answers, config.rule)
    if out is not None:
        random = np.random.default_rng([config.seed, len(answers)])
        rows = draw_next(triples, answers, config.count or 100, random, StoppingRule(target=config.target))
        write_scored(out, triples.take(rows))
        audit = replace(audit, drawn=len(rows))
    return audit
