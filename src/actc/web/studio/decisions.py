"""What a project's answers lead to so far: every candidate with what is decided of it, as its commands would decide."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from actc.complete.check_ask import Doubtful
from actc.complete.check_report import RESTORED, decide_outcome, restored
from actc.complete.earlier import ANSWERS
from actc.complete.open_case import CANDIDATES, CHECK, open_completion
from actc.data.answers import Answers
from actc.data.begun import version_of
from actc.data.triples import Annotations
from actc.decide.case import PEOPLE, Case
from actc.decide.list_test import Demand
from actc.errors import OptionError
from actc.evidence.reasons import Reasons
from actc.graph.graph import Graph
from actc.session import Session
from actc.session.asking import count_said
from actc.session.find_case import find_case, session_case
from actc.session.sought import parts_of

Columns = dict[str, Any]
RULE = "rule"


@dataclass(frozen=True)
class Wish:
    """Which decisions are wanted.

    Parameters
    ----------
    session : str
        The folder in which people judge.
    result : str, optional
        What `actc complete` or `actc check` writes, where the session is part of that.
    precision : float, optional
        What is promised.
    facts : bool
        Of a session about candidates and doubtful facts: whether the facts are meant.
    """

    session: str
    result: str | None = None
    precision: float | None = None
    facts: bool = False

    @property
    def demand(self) -> Demand | None:
        """What is promised, if anything."""
        return None if self.precision is None else Demand(self.precision)

    def as_text(self) -> str:
        """Return it as one word of a command line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Wish:
        """Undo :meth:`as_text`."""
        return cls(**json.loads(text))

    def state(self, session: Session) -> int:
        """Return a number that is another when anything changed that the decisions, or their names, depend on."""
        files = [session.names.path]
        if self.result is not None:
            files += [Path(self.result) / name for name in (CANDIDATES, ANSWERS, RESTORED)]
        told = [self.as_text(), count_said(session), *map(version_of, files)]
        return int(hashlib.sha256(json.dumps(told).encode()).hexdigest()[:12], 16)  # JavaScript has 53 bits


@dataclass(frozen=True, eq=False)
class Standing:
    """What is decided by now.

    Parameters
    ----------
    case : Case
        From which it is decided.
    session : Session
    columns : dict of arrays
        A row for each candidate: number, head, relation, tail, score, probability, own (the probability that the cut
        is about), accepted, by, pool (its row in the session's pool, -1 where it is not there).
    never : bool array, optional
        Of the case's target: what never counts as accepted, such as candidates that the graph holds by now.
    called : Answers
        What people called true though nobody proposed it.
    rules : array of str, optional
        By which rule each was proposed, where rules did.
    reasons : Reasons, optional
        Why each may be true or false.
    wrong : bool
        Whether wrong facts are sought.
    """

    case: Case
    session: Session
    columns: Columns
    never: Any = None
    called: Answers = field(default_factory=Answers)
    rules: Any = None
    reasons: Reasons | None = None
    wrong: bool = False


@contextmanager
def open_standing(wish: Wish) -> Iterator[Standing]:
    """Open what a wish is about, as ``actc export``, ``complete`` or ``check`` would decide it now."""
    if wish.result is None:
        opened = find_case(wish.session, wish.demand)
        assert opened.session is not None
        yield Standing(opened.case, opened.session, _columns_of(opened.case))
        opened.session.close()
        return
    folder = Path(wish.result)
    facts = wish.facts or not (folder / CANDIDATES).exists()
    standing = _check_standing(wish, folder) if facts else _completion(wish, folder)
    yield standing
    standing.session.close()


def _completion(wish: Wish, folder: Path) -> Standing:
    """Open a completion: candidates that the graph holds by now are left out, what else was called true is added."""
    from actc.complete.report import read_beside

    found = open_completion(folder, wish.demand)
    case, session = found.opened.case, found.opened.session
    assert session is not None
    columns = _columns_of(case)
    beside = read_beside(folder / CANDIDATES)
    rules = beside.get(RULE)
    never = found.graph.contains(case.target)
    kept = ~(never & case.decisions.accepted)
    columns = {name: column[kept] for name, column in columns.items()}
    rules = None if rules is None else rules[kept]
    reasons = Reasons.load(folder, case.target, Graph.of(found.graph))
    return Standing(case, session, _add_called(columns, found.called), never, found.called, rules, reasons)


def _check_standing(wish: Wish, folder: Path) -> Standing:
    """Open a check: its doubtful facts, and which of them are taken out."""
    session = Session(wish.session)
    part = parts_of(session.settings)[-1]
    case = session_case(session, wish.demand, part)
    doubtful = Doubtful.load(folder if part.whole else folder / CHECK, Graph.from_columns([], [], []))
    outcome = decide_outcome(folder, doubtful, case)
    columns = _columns_of(replace(case, candidates=doubtful.facts))
    columns |= {"probability": outcome.wrong, "accepted": outcome.out, "by": outcome.by}
    columns["pool"] += part.rows.start
    return Standing(case, session, columns, never=restored(folder).contains(doubtful.facts), wrong=True)


def _columns_of(case: Case) -> Columns:
    decided, count = case.decisions, len(case.target)
    told = np.full(count, np.nan) if decided.probability is None else decided.probability
    in_pool = case.target is case.pool
    return {
        "number": np.arange(count),
        **case.target.columns(),
        "score": case.target.scores,
        "probability": told,
        "own": told,
        "accepted": decided.accepted,
        "by": decided.by,
        "pool": np.arange(count) if in_pool else case.pool.rows_of(case.target),
    }


def _add_called(columns: Columns, called: Answers) -> Columns:
    """Add what was called true though nobody proposed it; it has no score, and a number below 0 that stays its own."""
    count = len(called)
    if not count:
        return columns
    nothing = np.full(count, np.nan)
    by = np.where(np.isin(called.said.who, PEOPLE[1:]), PEOPLE[1], PEOPLE[0]).astype(object)
    more = {
        "number": np.array([-1 - crc32("\t".join(called.triples.triple(at)).encode()) // 2 for at in range(count)]),
        **called.triples.columns(),
        "score": nothing,
        "probability": np.ones(count),
        "own": nothing,
        "accepted": np.ones(count, dtype=np.bool_),
        "by": by,
        "pool": np.full(count, -1),
    }
    return {name: np.append(column, more[name]) for name, column in columns.items()}


def who_said(case: Case) -> Columns:
    """Return who said something of which triple."""
    target = case.target
    said: Annotations = case.answers_in(target)
    return {**target.take(said.rows).columns(), "who": said.who}


def refuse_unjudged(standing: Standing) -> None:
    """Refuse to show decisions of a method that needs answers and has none."""
    if not len(standing.case.annotations) and standing.case.fit.thresholds is None:
        raise OptionError(f"{standing.case.method} needs answers before it decides; judge some cards.")
