"""Judgements in and out: tables, JSON lines, and Label Studio's JSON for teams that work with it."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from actc.data.answers import SELECTIONS, Annotations, Answers
from actc.data.deliver import write_beside
from actc.data.files import load_json, open_text, write_text, write_triples
from actc.data.triples import ScoredTriples, encode_columns
from actc.decide.judge_answers import read_judge_answers
from actc.errors import FileError, OptionError, SessionError
from actc.session.ask import Annotator, LeaseQueue, Task, drop_from_plan, put_tasks
from actc.session.cards import plain, sentence
from actc.session.judge_store import MOST_NAME, ReplyStore
from actc.session.plan import Planner, task_of
from actc.session.record import LABELS, Judgement, find_stored, insert
from actc.session.session import OWNER, Session, open_session
from actc.session.status import history

WORDS = {"1": "true", "yes": "true", "0": "false", "no": "false", "not sure": "unsure", "skip": "unsure"}
IMPORTED = "Brought in from a file."
PURPOSES = {"person": "import", "owner": "settle"}


def write_labels(session: Session, path: Path) -> int:
    """Write one combined label per triple (head, relation, tail, label); return how many."""
    labels = session.annotations()
    tasks = session.tasks(labels.rows.tolist())
    if not tasks:
        raise FileError(f"{session.folder}: nothing is judged yet, so there is no label to write.")
    triples = encode_columns(*([getattr(task, name) for task in tasks] for name in Session.TRIPLE))
    answers = Answers(triples, labels.labels, **labels.drawn_from(session.settings.triples).provenance)
    write_triples(path, {**triples.columns(), "score": [task.score for task in tasks], **answers.columns()})
    return len(labels)


def write_history(session: Session, path: Path) -> int:
    """Write everything that was ever said, oldest first, as JSON lines; return how many."""
    lines = history(session)[::-1]
    undone = {line["undoes"] for line in lines}
    with write_beside(path) as temporary:
        temporary.touch(0o600)  # names and what they said: for others only if the owner gives them the right
        with temporary.open("w", encoding="utf-8") as file:
            for line in lines:
                more = {"shown": json.loads(line["shown"]), "undone": line["id"] in undone}
                entry = line | more | {"frame_size": session.settings.triples}
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
    return len(lines)


def write_label_studio(session: Session, path: Path, tasks: Sequence[Task]) -> int:
    """Write triples to judge as Label Studio's tasks; return how many."""
    content = []
    for task in tasks:
        head, relation, tail = (session.names.of(name) for name in (task.head, task.relation, task.tail))
        data = {
            "triple": task.triple,
            "text": plain(sentence(head, relation, tail)),
            **{name: getattr(task, name) for name in Session.TRIPLE},
            "head_description": head.description,
            "relation_description": relation.description,
            "tail_description": tail.description,
        }
        content.append({"data": data})
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    return len(content)


@dataclass(frozen=True)
class Line:
    """A judgement from a file: whose, of which triple, where it stands, how it was asked, and when it was given."""

    who: str
    kind: str
    key: str
    triple: tuple[str, str, str]
    said: str
    seconds: float | None
    note: str
    place: str
    purpose: str
    selection: str = "given"
    sampling_frame: str = ""
    inclusion_probability: float | None = None
    round: int = 0
    frame_size: int = 0
    at: float | None = None


class Imported(NamedTuple):
    """Judgements that are new in a session; what is to be said of those that are not used, and of the draws."""

    added: int
    notes: tuple[str, ...] = ()


def import_judgements(
    session: str | Path | Session,
    judgements: str | Path,
    *,
    annotator: str | None = None,
    owner: bool = False,
    judge: bool = False,
) -> Imported:
    """Bring judgements into a session, as ``actc import`` does.

    Those about triples that are no candidates of the session are left out; where all are, the file is refused. What
    was drawn at random from other candidates than the session's teaches, and proves nothing.

    Parameters
    ----------
    session : path or Session
    judgements : path
        ``.tsv``, ``.csv`` or ``.parquet`` (head, relation, tail, label), ``.jsonl`` (our own history, or objects with
        head, relation, tail, said) or ``.json`` (Label Studio's export).
    annotator : str, optional
        Whose judgements they are, where the file does not tell.
    owner : bool
        Take what an owner decided, by the file, as decisions of this session's owner; otherwise such lines are refused:
        anybody can write a file.
    judge : bool
        These are answers of machines: a table with head, relation, tail, judge, and label (1 or 0) or probability.

    Returns
    -------
    Imported
        How many were new (``added``), and what is to be said of the others (``notes``).
    """
    if judge and (annotator is not None or owner):
        raise OptionError("--judge takes the names of judges from the file; leave out --annotator and --owner.")
    with open_session(session) as opened:
        if judge:
            judged = read_judge_answers(judgements, opened.read_pool())
            return Imported(ReplyStore(opened.folder, create=True).add_answers(judged))
        added = read_judgements(opened, Path(judgements), annotator, owner)
        Planner(opened).step()  # so that status tells what these answers buy
        return added


def read_judgements(session: Session, path: Path, who: str | None = None, owner: bool = False) -> Imported:
    """Add the judgements of a file to the history, once however often it is read; see :func:`import_judgements`."""
    if not path.is_file():
        raise FileError(f"{path}: there is no such file.")
    who = who or "imported"
    reader = READERS.get(path.suffix)
    lines = list(reader(path, who) if reader else _read_table(path, who))
    pool = session.read_pool()
    lines, rows, notes = _match(session, pool, lines, path)
    for line in lines:
        if line.kind == OWNER and not owner:
            raise FileError(
                f"{line.place}: this is an owner's decision, which overrules everybody; a file gives nobody that "
                "right. To take such decisions as your own, say --owner."
            )
    who_said = {one: session.add_annotator(*one) for one in dict.fromkeys((line.who, line.kind) for line in lines)}
    found = [(who_said[line.who, line.kind], line, row) for line, row in zip(lines, rows, strict=True)]
    return Imported(_insert(session, pool, found), notes)


def _match(
    session: Session, pool: ScoredTriples, lines: list[Line], path: Path
) -> tuple[list[Line], list[int], tuple[str, ...]]:
    """Return the lines that are about candidates, their rows, and what is to be said of the others."""
    if not lines:
        return [], [], ()
    named = encode_columns(*([line.triple[i] for line in lines] for i in range(3)))
    drawn: dict[str, Any] = {
        "inclusion_probability": [line.inclusion_probability or np.nan for line in lines],
        "frame_size": [line.frame_size for line in lines],
    }
    answers = Answers(named, np.array([line.said == "true" for line in lines]), **drawn)
    rows, elsewhere = answers.places(pool)
    missing, found = named.take(rows < 0), np.flatnonzero(rows >= 0)
    facts = missing.take([at for at in range(len(missing)) if session.names.holds(*missing.triple(at))])
    notes = answers.describe_use(pool, facts.with_used_names(), path)
    kept = [
        replace(line, **TAUGHT) if other and line.inclusion_probability else line
        for line, other in zip(lines, elsewhere, strict=True)
    ]
    return [kept[at] for at in found], rows[found].tolist(), tuple(notes)


TAUGHT: dict[str, Any] = {"selection": "given", "sampling_frame": "", "inclusion_probability": None, "round": 0}
"""How an answer was asked that was drawn from other candidates: it teaches, and proves nothing."""


def put_answers(session: Session, pool: ScoredTriples, said: Annotations) -> int:
    """Put answers that were given before into a session, once however often; return how many were new.

    They teach, and prove nothing: they were drawn from other candidates.
    """
    who = [str(name)[:MOST_NAME] or "earlier" for name in said.who]
    lines = _lines_of(said.about(pool), who, "earlier answers")
    taken = (replace(line, **TAUGHT) for line in lines)
    people = map(session.add_annotator, who)
    return _insert(session, pool, list(zip(people, taken, said.rows.tolist(), strict=True)))


def _insert(session: Session, pool: ScoredTriples, found: Sequence[tuple[Annotator, Line, int]]) -> int:
    added, now = 0, time.time()
    with session.store.transaction() as connection:
        for annotator, line, row in found:
            entry = json.dumps([line.who, row, line.said, line.seconds, line.note])
            key = line.key or "import-" + hashlib.sha256(entry.encode()).hexdigest()[:24]
            try:
                judgement = Judgement(line.said, row, key, line.seconds, line.note)
                queue = LeaseQueue(connection, annotator, now if line.at is None else line.at)
                if find_stored(queue, judgement) is not None:
                    continue
            except (SessionError, OptionError) as error:
                raise FileError(f"{line.place}: {error}") from None
            how = (line.selection, line.sampling_frame, line.inclusion_probability, line.round)
            task = task_of(pool, row, IMPORTED, *how)
            put_tasks(connection, [task])
            drop_from_plan(connection, [task])
            insert(queue, judgement, row, line.purpose)
            added += 1
    return added


def _read_table(path: Path, who: str) -> Iterator[Line]:
    found = Answers.read(path)
    who_said = [name[:MOST_NAME] if name and name != OWNER else who for name in found.who.tolist()]
    return _lines_of(found, who_said, str(path))


def _lines_of(said: Answers, who: Sequence[str], place: str) -> Iterator[Line]:
    """Return answers as judgements of people."""
    probabilities = [p if np.isfinite(p) else None for p in said.inclusion_probability.tolist()]
    sizes, at = said.frame_size.astype(np.int64).tolist(), map(_seconds, said.when.tolist())
    rounds = said.round.astype(np.int64).tolist()
    columns = (who, said.labels.tolist(), said.selection, said.sampling_frame, probabilities, rounds, sizes, at)
    for row, (name, label, *how) in enumerate(zip(*columns, strict=True)):
        word = "true" if label else "false"
        yield Line(name, "person", "", said.triples.triple(row), word, None, "", place, PURPOSES["person"], *how)


def _seconds(at: Any) -> float | None:
    """Return when an answer was given, in seconds, of a time in words or in seconds; None of anything else."""
    try:
        given = datetime.fromisoformat(at) if isinstance(at, str) else datetime.fromtimestamp(at, UTC)
        return given.replace(tzinfo=given.tzinfo or UTC).timestamp()
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _read_lines(path: Path, who: str) -> Iterator[Line]:
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
                raise FileError(f"{place}: an object was expected, with head, relation, tail and said.")
            if entry.get("said") != "undo" and not entry.get("undone"):
                yield _line(entry, entry, place, who)


def _read_label_studio(path: Path, who: str) -> Iterator[Line]:
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
            choices = [
                choice
                for result in annotation.get("result") or ()
                for choice in (result.get("value") or {}).get("choices") or ()
            ]
            if choices and not annotation.get("was_cancelled"):
                entry = {
                    "said": choices[0],
                    "seconds": annotation.get("lead_time"),
                    "name": _completed_by(annotation.get("completed_by")),
                }
                yield _line(entry, task["data"], place, who)


def _completed_by(person: Any) -> str | None:
    if isinstance(person, dict):
        person = person.get("email") or person.get("id")
    return None if person is None else f"label-studio {person}"


def _line(entry: dict[str, Any], triple: dict[str, Any], place: str, who: str) -> Line:
    missing = [name for name in Session.TRIPLE if not isinstance(triple.get(name), str)]
    if missing:
        raise FileError(f"{place}: {missing[0]!r} is missing.")
    said = str(entry.get("said", entry.get("label", entry.get("answer", "")))).strip().lower()
    said = WORDS.get(said, said)
    if said not in LABELS:
        raise FileError(f"{place}: {said!r} is no answer; write true, false or unsure.")
    seconds, kind = entry.get("seconds"), entry.get("kind", "person")
    if kind not in PURPOSES:
        raise FileError(f"{place}: {kind!r} is no kind of annotator, person or owner; machines judge by `actc judge`.")
    selection, probability, size = (
        entry.get("selection", "given"),
        entry.get("inclusion_probability"),
        entry.get("frame_size", 0),
    )
    if selection not in SELECTIONS or not (
        probability is None or (isinstance(probability, int | float) and 0 < probability <= 1)
    ):
        raise FileError(
            f"{place}: selection {selection!r} with inclusion_probability {probability!r} cannot be; "
            "see docs/reference.md."
        )
    if not isinstance(size, int) or size < 0:
        raise FileError(f"{place}: the frame_size {size!r} is no number of candidates; see docs/reference.md.")
    return Line(
        OWNER if kind == OWNER else str(entry.get("name") or entry.get("annotator") or who),
        kind,
        str(entry.get("key") or ""),
        (triple["head"], triple["relation"], triple["tail"]),
        said,
        float(seconds) if isinstance(seconds, int | float) else None,
        str(entry.get("note") or ""),
        place,
        PURPOSES[kind],
        selection,
        str(entry.get("sampling_frame", "")),
        probability,
        begun if isinstance(begun := entry.get("round", 0), int) else 0,
        size,
        _seconds(entry.get("at")),
    )


READERS: dict[str, Callable[[Path, str], Iterator[Line]]] = {".jsonl": _read_lines, ".json": _read_label_studio}
