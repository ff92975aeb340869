"""Judgements into a session: tables, JSON lines, Label Studio's JSON, and tables of machines' answers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.answers import SELECTIONS, Annotations, Answers
from actc.data.text_files import load_json, open_text
from actc.data.triples import ScoredTriples, encode_columns
from actc.errors import FileError, OptionError, SessionError
from actc.session.lease_queue import LABELS, Judgement, LeaseQueue, put_tasks
from actc.session.plan import Planner, task_of
from actc.session.questions import add_judge_answers, hash_question
from actc.session.session import MOST_NAME, OWNER, Session, open_session, put_annotator

WORDS = {"1": "true", "yes": "true", "0": "false", "no": "false", "not sure": "unsure", "skip": "unsure"}
IMPORTED = "Brought in from a file."
PURPOSES = {"person": "import", "owner": "settle"}
GIVEN = ("given", "", None, 0)
"""How an answer was selected, where that is unknown or was among other candidates: it is used to fit only."""


@dataclass(frozen=True)
class FileLine:
    """A judgement from a file.

    Parameters
    ----------
    place : str
        Where it is in the file.
    who, kind : str
        Whose it is, a person's or an owner's.
    triple : tuple of str
        Its triple; that of the judgement is not known before the pool is read.
    judgement : Judgement
    how : tuple
        How it was selected: selection, sampling frame, inclusion probability, round.
    frame_size : int
        How many candidates it was drawn from; 0 if unknown.
    at : float, optional
        When it was given.
    """

    place: str
    who: str
    kind: str
    triple: tuple[str, str, str]
    judgement: Judgement
    how: tuple[str, str, float | None, int] = GIVEN
    frame_size: int = 0
    at: float | None = None


def import_judgements(
    session: str | Path | Session,
    judgements: str | Path,
    *,
    annotator: str | None = None,
    owner: bool = False,
    judge: bool = False,
) -> tuple[int, tuple[str, ...]]:
    """Bring judgements into a session, as ``actc import`` does.

    Those about triples that are no candidates of the session are left out; where all are, the file is refused. Random
    draws from other candidates than the session's teach the method, and are no evidence of the quality of decisions.

    Parameters
    ----------
    session : path or Session
    judgements : path
        ``.tsv``, ``.csv`` or ``.parquet`` (head, relation, tail, label), ``.jsonl`` (our own history, or objects with
        head, relation, tail, answer) or ``.json`` (Label Studio's export).
    annotator : str, optional
        Whose judgements they are, where the file does not name anybody.
    owner : bool
        Take an owner's answers in the file as those of this session's owner; otherwise such lines are refused: anybody
        can write a file.
    judge : bool
        These are answers of machines: a table with head, relation, tail, judge, and label (1 or 0) or probability.

    Returns
    -------
    tuple
        How many were new, and notes on the others.
    """
    if judge and (annotator is not None or owner):
        raise OptionError("--judge takes the names of judges from the file; leave out --annotator and --owner.")
    with open_session(session) as session:
        if judge:
            pool, answers = session.read_pool(), Answers.read(judgements, judges=True)
            notes = answers.describe_use(pool, source=judgements)
            return add_judge_answers(session.store, pool, answers), tuple(notes)
        added = read_judgements(session, Path(judgements), annotator, owner)
        Planner(session).step()  # so that pages and reports use these answers
        return added


def read_judgements(
    session: Session, path: Path, who: str | None = None, owner: bool = False
) -> tuple[int, tuple[str, ...]]:
    """Add the judgements of a file to the history, once however often it is read; see :func:`import_judgements`."""
    if not path.is_file():
        raise FileError(f"{path}: there is no such file.")
    reader = READERS.get(path.suffix, _read_table)
    lines, pool = list(reader(path, who or "imported")), session.read_pool()
    if not lines:
        return 0, ()
    answers = Answers(
        encode_columns(*zip(*(line.triple for line in lines), strict=True)),
        np.array([line.judgement.answer == "true" for line in lines]),
        inclusion_probability=[line.how[2] or np.nan for line in lines],
        frame_size=[line.frame_size for line in lines],
    )
    rows, elsewhere = answers.places(pool)
    missing = answers.triples.take(rows < 0)
    facts = missing.take([at for at in range(len(missing)) if session.names.holds(*missing.triple(at))])
    notes = answers.describe_use(pool, facts.with_used_names(), path)
    used = [(lines[at], int(rows[at]), elsewhere[at]) for at in np.flatnonzero(rows >= 0)]
    for line, _, _ in used:
        if line.kind == OWNER and not owner:
            raise FileError(
                f"{line.place}: this is an owner's answer, which overrules everybody; a file gives nobody that "
                "right. To take such answers as your own, give --owner."
            )
    placed = [(replace(line, how=GIVEN) if other and line.how[2] else line, row) for line, row, other in used]
    return _insert(session, pool, placed), tuple(notes)


def put_answers(session: Session, pool: ScoredTriples, answers: Annotations) -> int:
    """Put earlier answers into a session, once however often; return how many were new.

    They teach the method only: they were drawn from other candidates.
    """
    lines = _lines_of(answers.about(pool), "earlier", "earlier answers")
    return _insert(session, pool, zip((replace(line, how=GIVEN) for line in lines), answers.rows.tolist(), strict=True))


def _insert(session: Session, pool: ScoredTriples, placed: Iterable[tuple[FileLine, int]]) -> int:
    placed, added, now = list(placed), 0, time.time()
    names = {one: session.check_name(*one) for one in dict.fromkeys((line.who, line.kind) for line, _ in placed)}
    with session.store.transaction() as connection:
        people = {one: put_annotator(connection, name, one[1]) for one, name in names.items()}
        for line, row in placed:
            given = line.judgement
            key = given.key or f"import-{hash_question(line.who, row, given.answer, given.seconds, given.note)}"
            judgement = replace(given, triple=row, key=key)
            queue = LeaseQueue(connection, people[line.who, line.kind], now if line.at is None else line.at)
            try:
                stored = queue.find_stored(judgement)
            except SessionError as error:
                raise FileError(f"{line.place}: {error}") from None
            if stored is None:
                put_tasks(connection, [task_of(pool, row, IMPORTED, *line.how)])
                queue.insert(judgement, row, PURPOSES[line.kind])
                added += 1
    return added


def _read_table(path: Path, who: str) -> Iterator[FileLine]:
    return _lines_of(Answers.read(path), who, str(path))


def _lines_of(answers: Answers, who: str, place: str) -> Iterator[FileLine]:
    """Return answers as judgements of people; ``who`` is the person where a file names none."""
    for row, name in enumerate(answers.who.tolist()):
        p = float(answers.inclusion_probability[row])
        yield FileLine(
            place,
            name[:MOST_NAME] if name and name != OWNER else who,
            "person",
            answers.triples.triple(row),
            Judgement("true" if answers.labels[row] else "false", None, ""),
            (answers.selection[row], answers.sampling_frame[row], p if p > 0 else None, int(answers.round[row])),
            int(answers.frame_size[row]),
            _seconds(answers.when[row]),
        )


def _seconds(at: Any) -> float | None:
    """Return a time, in ISO 8601 or in seconds since 1970, as seconds; None if it is neither."""
    try:
        given = datetime.fromisoformat(at) if isinstance(at, str) else datetime.fromtimestamp(at, UTC)
        return given.replace(tzinfo=given.tzinfo or UTC).timestamp()
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _read_lines(path: Path, who: str) -> Iterator[FileLine]:
    with open_text(path) as lines:
        for number, text in enumerate(lines, start=1):
            place = f"{path}, line {number}"
            if not text.strip():
                continue
            try:
                entry = json.loads(text)
            except ValueError:
                raise FileError(f"{place}: this is no JSON object.") from None
            if not isinstance(entry, dict):
                raise FileError(f"{place}: an object was expected, with head, relation, tail and answer.")
            if entry.get("answer") != "undo" and not entry.get("undone"):
                yield _read_entry(entry, entry, place, who)


def _read_label_studio(path: Path, who: str) -> Iterator[FileLine]:
    try:
        content = load_json(path)
    except ValueError as error:
        raise FileError(f"{path}: this is no JSON file ({error}).") from None
    if not isinstance(content, list):
        raise FileError(f"{path}: a list of tasks was expected, as Label Studio exports it.")
    for number, task in enumerate(content, start=1):
        place = f"{path}, task {number}"
        if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
            raise FileError(f"{place}: there is no 'data' in it.")
        for annotation in task.get("annotations") or ():
            results = annotation.get("result") or ()
            choices = [choice for one in results for choice in (one.get("value") or {}).get("choices") or ()]
            if choices and not annotation.get("was_cancelled"):
                person = annotation.get("completed_by")
                if isinstance(person, dict):
                    person = person.get("email") or person.get("id")
                name = None if person is None else f"label-studio {person}"
                entry = {"answer": choices[0], "seconds": annotation.get("lead_time"), "name": name}
                yield _read_entry(entry, task["data"], place, who)


def _read_entry(entry: dict[str, Any], triple: dict[str, Any], place: str, who: str) -> FileLine:
    missing = [name for name in Session.TRIPLE if not isinstance(triple.get(name), str)]
    if missing:
        raise FileError(f"{place}: {missing[0]!r} is missing.")
    answer = str(entry.get("answer", entry.get("label", ""))).strip().lower()
    answer = WORDS.get(answer, answer)
    if answer not in LABELS:
        raise FileError(f"{place}: {answer!r} is no answer; write true, false or unsure.")
    kind, seconds = entry.get("kind", "person"), entry.get("seconds")
    if kind not in PURPOSES:
        raise FileError(f"{place}: {kind!r} is no kind of annotator, person or owner; machines judge by `actc judge`.")
    selection, p, size = entry.get("selection", "given"), entry.get("inclusion_probability"), entry.get("frame_size", 0)
    if selection not in SELECTIONS or not (p is None or (isinstance(p, int | float) and 0 < p <= 1)):
        raise FileError(
            f"{place}: selection {selection!r} with inclusion_probability {p!r} cannot be; see docs/reference.md."
        )
    if not isinstance(size, int) or size < 0:
        raise FileError(f"{place}: the frame_size {size!r} is no number of candidates; see docs/reference.md.")
    began, time_taken = entry.get("round", 0), float(seconds) if isinstance(seconds, int | float) else None
    try:
        key, note = str(entry.get("key") or ""), str(entry.get("note") or "")
        judgement = Judgement(answer, None, key, seconds=time_taken, note=note)
    except OptionError as error:
        raise FileError(f"{place}: {error}") from None
    return FileLine(
        place,
        OWNER if kind == OWNER else str(entry.get("name") or entry.get("annotator") or who),
        kind,
        (triple["head"], triple["relation"], triple["tail"]),
        judgement,
        (selection, str(entry.get("sampling_frame", "")), p, began if isinstance(began, int) else 0),
        size,
        _seconds(entry.get("at")),
    )


READERS: dict[str, Callable[[Path, str], Iterator[FileLine]]] = {".jsonl": _read_lines, ".json": _read_label_studio}
