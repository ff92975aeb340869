"""Audits: people judge random draws from accepted triples, on a page or in files, until there are enough answers.

On a page an audit is a session whose pool is the accepted set. Beside the people who judge, :class:`AuditPlanner`
computes after every answer what the draws show, and draws more while that is not enough.
"""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.answers import Annotations, Answers
from actc.data.deliver import write_folder
from actc.data.files import LOG, read_scored, write_scored
from actc.data.triples import ScoredTriples
from actc.decide.audit import Audit, StoppingRule, assess, describe_audit, draw_next, stratify
from actc.decide.estimate import WRONG_FACTS
from actc.errors import FileError, OptionError
from actc.graph.formats import read_graph
from actc.session.cases import invert_labels, open_case, words_of
from actc.session.export import write_accepted
from actc.session.lease_queue import PLACES, TASK
from actc.session.names import copy_names
from actc.session.plan import INSERT_REFIT, LAST_JUDGEMENT, describe_relations, task_of
from actc.session.session import Session, open_session
from actc.session.settings import Settings
from actc.session.start import write_core

AHEAD = 10
"""Draws that wait to be given out."""


def judged_draws(session: Session) -> Annotations:
    """Return the answers to an audit; what nobody was sure of counts as not what was looked for."""
    wrong = words_of(session.settings) is WRONG_FACTS
    labels = invert_labels(session.annotations()) if wrong else session.annotations()
    unsure = session.store.integers("SELECT triple FROM task WHERE answered > 0 AND labelled = 0", columns=1)[:, 0]
    return Annotations(np.append(labels.rows, unsure), np.append(labels.labels, np.zeros(len(unsure), dtype=np.bool_)))


def assess_session(session: Session) -> Audit:
    """Return what the answers to an audit show of the whole accepted set."""
    return assess(session.read_pool(), judged_draws(session), session.settings.stopping_rule)


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
        """Assess the answers, if there are new ones; return whether there were."""
        last = int(self.session.store.value(LAST_JUDGEMENT))
        if last == self.seen:
            self._draw()  # somebody may have taken what was drawn without an answer yet
            return False
        content = json.dumps(self._describe())
        with self.session.store.transaction() as connection:
            connection.execute(INSERT_REFIT, (time.time(), last, content))
        self.seen = last
        self._draw()
        return True

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
        with session.store.transaction() as connection:
            connection.executemany(
                f"INSERT OR IGNORE INTO plan (place, {TASK}) VALUES (?, {PLACES})",
                [
                    (place, *task_of(self.accepted, row, why, "check", "accepted").as_row())
                    for place, row in enumerate(chosen.tolist(), start=len(drawn))
                ],
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


def start_audit(
    session: str | Path | Session,
    folder: str | Path | None = None,
    *,
    among: str | Path | None = None,
    count: int | None = None,
    within: float = 0.05,
    target: float | None = None,
    level: float = 0.9,
    seed: int = 0,
) -> Session:
    """Make a session of its own in which people judge random draws from the accepted triples of a session.

    Parameters
    ----------
    session : path or Session
        Its accepted triples are drawn from; what people called true is among them, what they called false is not.
    folder : path, optional
        A new folder; ``audit`` in the session's own if not given.
    among : path, optional
        A table of what was accepted, such as the ``accepted.tsv`` of a guarantee; what the session accepts now, without
        a guarantee, if not given.
    count : int, optional
        How many triples are judged at most; by default as many as ``within`` takes at worst, or 100 for a target.
    within : float
        It ends when the share of true triples is known to plus or minus so much.
    target : float, optional
        It ends when at least this share is certified instead, such as 0.9.
    level : float
        The confidence of the bounds.
    seed : int
        Where the draw starts from.
    """
    with open_session(session) as session:
        folder = session.folder / "audit" if folder is None else Path(folder)
        if folder.exists():
            raise FileError(
                f"{folder} is there already; give another with --out, or go on with: actc annotate {folder}"
            )
        rule, old, pool = StoppingRule(within, target, level), session.settings, session.read_pool()
        words = words_of(old)
        if among is not None:
            listed = read_graph(Path(among))
            rows = pool.rows_of(listed)
            accepted = listed.with_scores(np.where(rows >= 0, pool.scores[rows], 0.0))
        else:
            with tempfile.TemporaryDirectory(dir=session.folder) as beside:
                table = Path(beside) / "accepted.parquet"
                accepted = (
                    read_scored(table)[0] if write_accepted(open_case(session).case, table) else pool.take(np.arange(0))
                )
        if not len(accepted):
            raise OptionError(f"{among or session.folder}: nothing is {words.accepted} yet, so nothing can be audited.")
        if count is None:
            count = (target is not None and 100) or assess(accepted, Annotations(), rule).more or 100
        if count < 1:
            raise OptionError(f"{count} answers audit nothing; ask for at least 1.")
        settings = Settings(
            budget=min(count, len(accepted)), title=f"Audit of {old.title}", guidelines=old.guidelines, seed=seed,
            triples=len(accepted), within=within, target=target, level=level, link=old.link,
            n_facts=len(accepted) if words is WRONG_FACTS else 0,
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


def open_audit(session: str | Path, folder: str | Path | None = None, **options: Any) -> Session:
    """Return the audit of a session, if it is there; else draw one, with the options of :func:`start_audit`."""
    there = Path(session) / "audit" if folder is None else Path(folder)
    return Session(there) if there.is_dir() else start_audit(session, there, **options)


def audit_accepted(
    accepted: str | Path | ScoredTriples,
    labels: str | Path | Answers | None = None,
    *,
    out: str | Path | None = None,
    count: int = 100,
    within: float = 0.05,
    target: float | None = None,
    level: float = 0.9,
    seed: int = 0,
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
    count : int
        How many to draw.
    within : float
        The answers are enough when the share of true triples is known to plus or minus so much.
    target : float, optional
        The share of true triples to certify instead, such as 0.9.
    level : float
        The confidence of the bounds.
    seed : int
        Where the draw starts from.
    """
    triples, answers = _read_audited(accepted, labels)
    if labels is None and out is None:
        raise OptionError("Give --out to draw triples to judge, or --labels to read judged ones.")
    audit = assess(triples, answers, StoppingRule(within, target, level))
    if out is not None:
        random = np.random.default_rng([seed, len(answers)])
        rows = draw_next(triples, answers, count, random, StoppingRule(target=target))
        write_scored(out, triples.take(rows))
        audit = replace(audit, drawn=len(rows))
    return audit


def _read_audited(accepted: Any, labels: Any) -> tuple[ScoredTriples, Annotations]:
    triples = accepted if isinstance(accepted, ScoredTriples) else read_scored(accepted)[0]
    if labels is None:
        return triples, Annotations()
    answers = labels if isinstance(labels, Answers) else Answers.read(labels)
    for note in answers.describe_use(triples, source="answers" if answers is labels else str(labels)):
        LOG.warning(note)
    return triples, answers.on(triples)
