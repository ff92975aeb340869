"""A project's decisions, page by page: the file that its last run wrote, read where it lies, whatever its size."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import duckdb
from fastapi import APIRouter, Depends, HTTPException, Query
from pydantic import Field

from actc.complete.answers import store_answer
from actc.complete.config import CHECK
from actc.data.database import quote
from actc.decide.decision_table import DECISIONS, PRECISIONS
from actc.decide.estimate import MISSING_FACTS, WRONG_FACTS
from actc.errors import SessionError
from actc.session import OWNER, Judgement, Session
from actc.session.cards import plain, sentence
from actc.session.lease_queue import LABELS, Task
from actc.session.names import Names, name_marked
from actc.session.status import picture
from actc.web.access import Key, Strict, checking
from actc.web.studio.project import Project
from actc.web.studio.studio import OpenProject, OpenStudio, studio_of

MEMORY, THREADS = "256MB", "2"
PARTS = {"accepted": "accepted", "rejected": "NOT accepted", "all": "true"}
SORTS = {
    "probability": "place {up}",  # the file has the most probable first
    "score": "score {down} NULLS LAST, place",
    "relation": "relation {down}, place",
    "by": '"by" {down}, place',
}
SHOWN = ("head", "relation", "tail", "score", "probability", "accepted", "by", "reasons")
RELATION = ("relation", "name", "candidates", "accepted", "errors")
OPTIONAL = {"probability": "DOUBLE", "guaranteed": "DOUBLE", "reasons": "VARCHAR", "accepted": "BOOLEAN"}
OPTIONAL |= {"removed": "BOOLEAN", "without_guarantee": "BOOLEAN"}
"""Columns that a table may lack: those of a method without probabilities, of a run without a guarantee."""
OWN_ANSWER = "The owner's answer on the page of decisions."
Name = Annotated[str, Field(min_length=1, max_length=100_000)]
_ENGINE = duckdb.connect(config={"memory_limit": MEMORY, "threads": THREADS})
_OPENING = threading.Lock()


class TableQuery(Strict):
    """Which rows of the table are wanted, and in which order; see the fields' names in the address of the page.

    Parameters
    ----------
    level : float, optional
        The precision whose guarantee decides which are accepted; 0 without a guarantee, None as the run decided.
    part : {"accepted", "rejected", "all"}
    sort, down : str, bool
        One of ``SORTS``; whether the largest comes first.
    search : str
        Words; each is part of a name or an id of the head, the relation or the tail.
    relation, by : str
        Its id, and who decided; empty for all.
    page, rows : int
    of : {"candidates", "facts"}
        Where a project seeks both missing and wrong facts: which of them are meant.
    """

    level: float | None = Field(None, ge=0, lt=1)
    part: Literal["accepted", "rejected", "all"] = "all"
    sort: Literal["probability", "score", "relation", "by"] = "probability"
    down: bool = True
    search: str = Field("", max_length=500)
    relation: str = Field("", max_length=2000)
    by: str = Field("", max_length=100)
    page: int = Field(0, ge=0, le=10_000_000)
    rows: int = Field(50, ge=1, le=500)
    of: Literal["candidates", "facts"] = "candidates"


class AnswerBody(Strict):
    """The owner's answer to a fact; "undo" takes back the one under the key."""

    head: Name
    relation: Name
    tail: Name
    answer: Literal["true", "false", "unsure", "undo"]
    key: Key


def _query(sql: str, values: Any = ()) -> list[Any]:
    """Return what a query finds."""
    with _OPENING:
        cursor = _ENGINE.cursor()
    with cursor:
        return cursor.execute(sql, values).fetchall()


@dataclass(frozen=True)
class DecisionTable:
    """A table of decisions that a run or an export wrote."""

    path: Path
    names: Names

    @property
    def version(self) -> str:
        """What is another one once the file was written anew."""
        return name_version(self.path) or ""

    def table(self, level: float | None) -> str:
        """Return the file as SQL, with what is accepted, or taken out, under a guarantee."""
        file = f"read_parquet({quote(str(self.path))}, file_row_number = true)"
        columns = {row[0] for row in _query(f"DESCRIBE SELECT * FROM {file}")}
        absent = "".join(f", NULL::{kind} AS {name}" for name, kind in OPTIONAL.items() if name not in columns)
        plain_decision = "coalesce(removed, accepted)"
        decided = {None: plain_decision, 0.0: f"coalesce(without_guarantee, {plain_decision})"}
        under = decided.get(level, f"coalesce(guaranteed >= {level}, false)")
        shown = 'head, relation, tail, score, probability, "by", reasons, guaranteed'
        return f"(SELECT {shown}, file_row_number AS place, {under} AS accepted FROM (SELECT *{absent} FROM {file}))"

    @property
    def target(self) -> float | None:
        """The target precision of the run, if there is one."""
        values = _query(f"SELECT value FROM parquet_kv_metadata({quote(str(self.path))}) WHERE key = 'precision'")
        return float(values[0][0]) if values else None

    def page(self, look: TableQuery) -> dict[str, Any]:
        """Return a page of rows, and how many there are in all that fit."""
        table, (fitting, values) = self.table(look.level), self._fitting(look)
        up, down = ("ASC", "DESC") if look.down else ("DESC", "ASC")
        order, limit = (
            SORTS[look.sort].format(up=up, down=down),
            f"LIMIT {look.rows:d} OFFSET {look.page * look.rows:d}",
        )
        fitting = f'SELECT place, score, relation, "by" FROM ({fitting})'
        page = f"SELECT list(place) FROM (SELECT place FROM fitting ORDER BY {order} {limit})"
        # A search looks at all names: once, for the page and for the count.
        once = "MATERIALIZED" if look.search else "NOT MATERIALIZED"
        sql = f"WITH fitting AS {once} ({fitting}) SELECT ({page}), (SELECT count(*) FROM fitting)"
        [(places, count)] = _query(sql, values)
        wanted, columns = ", ".join(map(str, places or [-1])), ", ".join(f'"{name}"' for name in SHOWN)
        rows = dict(_query(f"SELECT place, ({columns}) FROM {table} WHERE place IN ({wanted})"))
        return {"rows": [self._line(rows[at]) for at in places or []], "count": count, "version": self.version}

    def _fitting(self, look: TableQuery) -> tuple[str, list[Any]]:
        """Return the rows that fit as SQL, with its values."""
        sql, values = f"SELECT * FROM {self.table(look.level)} WHERE {PARTS[look.part]}", list[Any]()
        for column, wanted in (("relation", look.relation), ('"by"', look.by)):
            if wanted:
                sql += f" AND {column} = ?"
                values.append(wanted)
        # The word that fewest names have comes first; each of the others looks at what is left.
        for ids, word in sorted(
            ((self.names.search(word), word) for word in look.search.split()), key=lambda one: len(one[0])
        ):
            terms = ["contains(lower(concat(head, ' ', relation, ' ', tail)), lower(?))"]
            terms += [f"{part} IN (SELECT unnest(?))" for part in Session.TRIPLE if ids]
            sql = f"SELECT * FROM ({sql}) WHERE {' OR '.join(terms)}"
            values += [word, *[ids] * (len(terms) - 1)]
        return sql, values

    def _line(self, cells: Sequence[Any]) -> dict[str, Any]:
        """Return a row as the page shows it."""
        *columns, reasons = cells
        named = [self.names.of(id) for id in columns[:3]]
        texts = {"names": [one.name for one in named], "sentence": plain(sentence(*named))}
        return dict(zip(SHOWN, columns, strict=False)) | texts | {"why": name_marked(reasons or "", self.names)}

    def overview(self, level: float | None) -> dict[str, Any]:
        """Return how many each guarantee accepts, and of each relation how many this one does."""
        table, target = self.table(level), self.target
        steps = sorted({*PRECISIONS, *([] if target is None else [target])})
        [(candidates, accepted, own, unguaranteed, known, *guaranteed)] = _query(
            "SELECT count(*), count(*) FILTER (accepted), "
            "count(*) FILTER (accepted AND \"by\" IN ('person', 'oracle')), "
            f"(SELECT count(*) FROM {self.table(0.0)} WHERE accepted), "
            "count(probability), "
            + ", ".join(f"count(*) FILTER (guaranteed >= {one})" for one in steps)
            + f" FROM {table}"
        )
        lines = _query(
            "SELECT relation, count(*), count(*) FILTER (accepted), "
            "sum(CASE WHEN accepted THEN 1 - probability ELSE probability END) "
            f"FROM {table} GROUP BY relation "
            "ORDER BY sum(least(probability, 1 - probability)) DESC NULLS LAST, count(*) DESC, relation"
        )
        return {
            "version": self.version,
            "candidates": candidates,
            "accepted": accepted,
            "target": target,
            "own": own,
            "unguaranteed": unguaranteed,
            "levels": [
                {"precision": one, "accepted": count}
                for one, count in zip(steps if known else (), guaranteed, strict=False)
            ],
            "by": [by for (by,) in _query(f'SELECT DISTINCT "by" FROM {table} ORDER BY 1')],
            "relations": [
                dict(zip(RELATION, (relation, self.names.of(relation).name, *numbers), strict=True))
                for relation, *numbers in lines
            ],
        }


def decisions_file(project: Project, facts: bool = False) -> Path:
    """Return where the last run wrote its decisions: on candidates, or on doubtful facts of a project for both."""
    if project.options.goal == "decide":
        return project.folder / "session" / DECISIONS
    return (project.result / CHECK if facts and project.options.goal == "both" else project.result) / DECISIONS


def name_version(path: Path) -> str | None:
    """Return what is another one once a file was written anew; None where there is none."""
    try:
        now = path.stat()
    except OSError:
        return None
    return f"{now.st_ino}-{now.st_size}-{now.st_mtime_ns}"


def own_answers_of(session: Session) -> dict[tuple[str, str, str], str]:
    """Return the owner's current answers to facts of a session."""
    rows = session.store.rows(
        "SELECT head, relation, tail, answer FROM answer JOIN judgement ON judgement.id = judgement "
        "JOIN task ON task.triple = answer.triple JOIN annotator ON annotator.id = answer.annotator WHERE name = ?",
        (OWNER,),
    )
    return {(head, relation, tail): answer for head, relation, tail, answer in rows}


def store_owner_answer(project: Project, session: Session, triple: tuple[str, str, str], answer: str, key: str) -> None:
    """Store the owner's answer to a fact, in the session where it is in its pool; "undo" takes it back.

    The answer to a candidate outside the session goes among all answers of the folder (``answers.tsv``),
    which every run into it reads.

    Parameters
    ----------
    project : Project
    session : Session
    triple : tuple of str
    answer : {"true", "false", "unsure", "undo"}
    key : str
        The sender's own name for it: sent twice, it is stored once. Of "undo" that of the answer.
    """
    pool = f"read_parquet({quote(str(session.folder / 'pool.parquet'))}, file_row_number = true)"
    rows = _query(f"SELECT file_row_number, score FROM {pool} WHERE head = ? AND relation = ? AND tail = ?", triple)
    if rows and answer == "undo":
        session.settle(Judgement("undo", None, f"{key}-undo", undoes=key))
    elif rows:
        row, score = rows[0]
        session.settle(Judgement(answer, row, key), Task(row, *triple, float(score or 0.0), OWN_ANSWER))
    elif project.options.goal == "decide":
        raise SessionError(f"{' '.join(triple)} is not in the session.")
    else:
        label = LABELS.get(answer)
        store_answer(project.result, triple, None if label is None else bool(label), OWNER)


deciding = APIRouter(prefix="/api/projects/{name}", route_class=checking(studio_of))


def session_of(project: OpenProject, studio: OpenStudio) -> Session:
    """Return the session in which the people of a project judge."""
    if project.session is None:
        raise HTTPException(409, "There is nothing to decide yet: nobody can judge before the first run has ended.")
    return studio.served(project.name).session


OpenSession = Annotated[Session, Depends(session_of)]


def decided_of(project: OpenProject, session: OpenSession, look: Annotated[TableQuery, Query()]) -> DecisionTable:
    """Return the table that the project's last run wrote."""
    path = decisions_file(project, look.of == "facts")
    if not path.is_file():
        raise SessionError("Nothing is decided yet: press Decide.")
    return DecisionTable(path, session.names)


OpenDecided = Annotated[DecisionTable, Depends(decided_of)]


@deciding.get("/decisions")
def get_page(decided: OpenDecided, session: OpenSession, look: Annotated[TableQuery, Query()]) -> dict[str, Any]:
    """Return a page of the table, how many rows fit, and the owner's answers to those that are shown."""
    page, answers = decided.page(look), own_answers_of(session)
    for row in page["rows"]:
        row["answer"] = answers.get(tuple(row[name] for name in Session.TRIPLE))
    return page


@deciding.get("/overview")
def get_overview(
    decided: OpenDecided, project: OpenProject, session: OpenSession, look: Annotated[TableQuery, Query()]
) -> dict[str, Any]:
    """Return what each guarantee would accept; relation by relation, what this one does."""
    seen, goal = picture(session), WRONG_FACTS if look.of == "facts" else MISSING_FACTS
    words = seen["words"] | (asdict(goal) if project.options.goal == "both" else {})
    return {**decided.overview(look.level), "curve": seen["curve"], "words": words}


@deciding.post("/answer")
def post_answer(body: AnswerBody, project: OpenProject, session: OpenSession) -> dict[str, str]:
    """Store the owner's answer to a fact: it overrules everybody's, and the next decision counts it."""
    store_owner_answer(project, session, (body.head, body.relation, body.tail), body.answer, body.key)
    return {"key": body.key}
