"""A project's decisions, page by page: the file that its last run wrote, read where it lies, whatever its size."""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import duckdb
from fastapi import APIRouter, Depends, HTTPException, Query
from pydantic import Field

from actc.complete.config import CHECK
from actc.complete.earlier import store_answer
from actc.data.begun import version_of
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
BINS, MOST_RELATIONS = 24, 60
PARTS = {"accepted": "taken", "rejected": "NOT taken", "all": "true"}
SORTS = {
    "probability": "file_row_number {up}",  # the file has the most probable first
    "score": "score {down} NULLS LAST, file_row_number",
    "relation": "relation {down}, file_row_number",
    "by": '"by" {down}, file_row_number',
}
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
        return cursor.execute(sql, list(values)).fetchall()


@dataclass(frozen=True)
class DecisionTable:
    """A table of decisions that a run or an export wrote.

    Parameters
    ----------
    path : Path
    names : Names
        How people call things.
    """

    path: Path
    names: Names

    @property
    def version(self) -> str:
        """What is another one once the file was written anew."""
        return name_version(self.path) or ""

    def table(self, level: float | None) -> str:
        """Return the file as SQL, with a column ``taken``: what is accepted, or taken out, under a guarantee."""
        file = f"read_parquet({quote(str(self.path))}, file_row_number = true)"
        columns = {row[0] for row in _query(f"DESCRIBE SELECT * FROM {file}")}
        decided = "removed" if "removed" in columns else "accepted"
        plain_decision = "without_guarantee" if "without_guarantee" in columns else decided
        taken = (
            decided if level is None else plain_decision if not level else f"coalesce(guaranteed >= {level:g}, false)"
        )
        absent = {"probability": "NULL::DOUBLE", "guaranteed": "NULL::DOUBLE", "reasons": "''"}
        more = "".join(f", {value} AS {name}" for name, value in absent.items() if name not in columns)
        return f"(SELECT *{more}, {taken} AS taken FROM {file})"

    @property
    def target(self) -> float | None:
        """The target precision of the run, if there is one."""
        found = _query(f"SELECT value FROM parquet_kv_metadata({quote(str(self.path))}) WHERE key = 'precision'")
        return float(found[0][0]) if found else None

    def page(self, look: TableQuery) -> dict[str, Any]:
        """Return a page of rows, and how many there are in all that fit."""
        table, (where, values) = self.table(look.level), self._where(look)
        up, down = ("ASC", "DESC") if look.down else ("DESC", "ASC")
        order, limit = (
            SORTS[look.sort].format(up=up, down=down),
            f"LIMIT {look.rows:d} OFFSET {look.page * look.rows:d}",
        )
        fitting = f'SELECT file_row_number, score, relation, "by" FROM {table} WHERE {where}'
        page = f"SELECT list(file_row_number) FROM (SELECT file_row_number FROM fitting ORDER BY {order} {limit})"
        # A search looks at all names: once, for the page and for the count.
        kept = "MATERIALIZED" if look.search else "NOT MATERIALIZED"
        sql = f"WITH fitting AS {kept} ({fitting}) SELECT ({page}), (SELECT count(*) FROM fitting)"
        [(numbers, count)] = _query(sql, values)
        numbers = numbers or []
        columns = 'head, relation, tail, score, probability, taken, "by", reasons'
        wanted = ", ".join(map(str, numbers)) or "-1"
        found = _query(f"SELECT file_row_number, {columns} FROM {table} WHERE file_row_number IN ({wanted})")
        by_number = {number: line for number, *line in found}
        rows = [self._line(*by_number[number]) for number in numbers]
        return {"rows": rows, "count": count, "version": self.version}

    def _where(self, look: TableQuery) -> tuple[str, list[Any]]:
        """Return the condition that rows fulfil, with its values."""
        terms, values = [PARTS[look.part]], list[Any]()
        for column, wanted in (("relation", look.relation), ('"by"', look.by)):
            if wanted:
                terms.append(f"{column} = ?")
                values.append(wanted)
        for word in look.search.split():
            found = ["contains(lower(concat(head, ' ', relation, ' ', tail)), lower(?))"]
            values.append(word)
            if ids := self.names.search(word):
                found += [f"{part} IN (SELECT unnest(?))" for part in Session.TRIPLE]
                values += [ids] * len(Session.TRIPLE)
            terms.append(f"({' OR '.join(found)})")
        return " AND ".join(terms), values

    def _line(
        self, head: str, relation: str, tail: str, score: float | None, probability: float | None, *rest: Any
    ) -> dict[str, Any]:
        taken, by, reasons = rest
        named = [self.names.of(id) for id in (head, relation, tail)]
        return {
            **dict(zip(Session.TRIPLE, (head, relation, tail), strict=True)),
            "names": [one.name for one in named],
            "sentence": plain(sentence(*named)),
            "score": score,
            "probability": probability,
            "accepted": taken,
            "by": by,
            "why": name_marked(reasons or "", self.names),
        }

    def overview(self, level: float | None) -> dict[str, Any]:
        """Return how many each guarantee accepts, and of each relation how many candidates there are and their scores.

        The counts of relations and their pictures are those of one guarantee, as the rows of a page are.
        """
        table, target = self.table(level), self.target
        plain_table = self.table(0.0)
        [(candidates, accepted, known, own, unguaranteed, low, high)] = _query(
            "SELECT count(*), count(*) FILTER (taken), count(probability), "
            "count(*) FILTER (taken AND \"by\" IN ('person', 'oracle')), "
            f"(SELECT count(*) FROM {plain_table} WHERE taken), "
            f"quantile_cont(score, 0.002), quantile_cont(score, 0.998) FROM {table}"
        )
        guaranteed = _query(f"SELECT guaranteed, count(*) FROM {table} WHERE guaranteed IS NOT NULL GROUP BY 1")
        levels = sorted({*PRECISIONS, *([] if target is None else [target])}) if known else []
        span = (low, high) if high is not None and high > low else ((low or 0.0) - 1, (low or 0.0) + 1)
        place = f"least(greatest(floor({BINS} * (score - {span[0]!r}) / {span[1] - span[0]!r}), 0), {BINS - 1})"
        relations: dict[str, dict[str, Any]] = {}
        for relation, at, count, taken, doubt in _query(
            f"SELECT relation, {place}::INTEGER, count(*), count(*) FILTER (taken), "
            f"sum(least(probability, 1 - probability)) FROM {table} GROUP BY 1, 2"
        ):
            line = relations.setdefault(
                relation,
                {"candidates": 0, "accepted": 0, "at_stake": None, "bins": [0] * BINS, "accepted_bins": [0] * BINS},
            )
            line["candidates"] += count
            line["accepted"] += taken
            line["at_stake"] = line["at_stake"] if doubt is None else (line["at_stake"] or 0.0) + doubt
            if at is not None:  # what was called true besides has no score
                line["bins"][at], line["accepted_bins"][at] = count, taken
        lines = [{"relation": id, "name": self.names.of(id).name, **line} for id, line in relations.items()]
        return {
            "version": self.version,
            "candidates": candidates,
            "accepted": accepted,
            "target": target,
            "own": own,
            "unguaranteed": unguaranteed,
            "levels": [
                {"precision": one, "accepted": sum(count for most, count in guaranteed if most >= one)}
                for one in levels
            ],
            "span": span,
            "by": [by for (by,) in _query(f'SELECT DISTINCT "by" FROM {table} ORDER BY 1')],
            "relations": sorted(lines, key=lambda line: (-(line["at_stake"] or 0.0), -line["candidates"])),
        }


def decisions_file(project: Project, facts: bool = False) -> Path:
    """Return where the last run wrote its decisions: on candidates, or on doubtful facts where both are sought."""
    if project.options.goal == "decide":
        return project.folder / "session" / DECISIONS
    return (project.result / CHECK if facts and project.options.goal == "both" else project.result) / DECISIONS


def name_version(path: Path) -> str | None:
    """Return what is another one once a file was written anew; None where there is none."""
    version = version_of(path)
    return None if version is None else "-".join(map(str, version))


def own_answers_of(session: Session) -> dict[tuple[str, str, str], str]:
    """Return the owner's current answers to facts of a session."""
    rows = session.store.rows(
        "SELECT head, relation, tail, label FROM answer JOIN task ON task.triple = answer.triple "
        "JOIN annotator ON annotator.id = answer.annotator WHERE annotator.name = ?",
        (OWNER,),
    )
    words = {label: word for word, label in LABELS.items()}
    return {(head, relation, tail): words[label] for head, relation, tail, label in rows}


def store_owner_answer(project: Project, session: Session, triple: tuple[str, str, str], answer: str, key: str) -> None:
    """Store the owner's answer to a fact, in the session where it is in its pool; "undo" takes it back.

    The answer to a candidate that nobody can be asked about goes among all answers of the folder (``answers.tsv``),
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
    found = _query(f"SELECT file_row_number, score FROM {pool} WHERE head = ? AND relation = ? AND tail = ?", triple)
    if found and answer == "undo":
        session.settle(Judgement("undo", None, f"{key}-undo", undoes=key))
    elif found:
        row, score = found[0]
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
    found, answers = decided.page(look), own_answers_of(session)
    for row in found["rows"]:
        row["answer"] = answers.get(tuple(row[name] for name in Session.TRIPLE))
    return found


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
