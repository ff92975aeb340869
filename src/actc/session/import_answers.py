"""Judgements into a session: tables, JSON lines, Label Studio's JSON, and tables of machines' answers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.answers import PROVENANCE, Annotations, Answers
from actc.data.frames import call_columns
from actc.data.text_files import check_file, load_json, open_text
from actc.data.triples import ScoredTriples, encode_columns
from actc.errors import ActcError, FileError, OptionError, RowError, SessionError
from actc.session.judge import add_judge_answers
from actc.session.lease_queue import LABELS, Judgement, LeaseQueue, is_storable, put_tasks
from actc.session.machines import WORDS, hash_question
from actc.session.plan import Planner, task_of
from actc.session.session import MOST_NAME, OWNER, Session, open_session, put_annotator

IMPORTED = "Brought in from a file."
NUMBERS: dict[str, Any] = {"inclusion_probability": "nan", "frame_size": 0, "round": 0, "seconds": "nan"}
"""The numbers that a judgement in JSON may have, and what stands for one that it has not."""
MOST_ROUND, MOST_SECONDS = 10**6, 1e6
GIVEN = ("given", "", None, 0)
"""How an answer was selected, where that is unknown or was among other candidates: it is used to fit only."""


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
        raise OptionError("--judge takes the names of judges from the file; leave out --annotator.")
    path = Path(judgements)
    with open_session(session) as session:
        pool, given, places = session.read_pool(), None, list[str]()
        if path.suffix in READERS and not judge:
            check_file(path)
            answers, given, places = _read_entries(READERS[path.suffix](path), owner)
        else:
            answers = Answers.read(path, judges=judge)
        missing = answers.triples.take(~pool.contains(answers.triples))
        facts = missing.take([at for at in range(len(missing)) if session.names.holds(*missing.triple(at))])
        notes = tuple(answers.describe_use(pool, facts.with_used_names(), path))
        if judge:
            return add_judge_answers(session.store, pool, answers), notes
        added = _insert(session, pool, answers, annotator or "imported", given, places, owner)
        Planner(session).step()  # so that pages and reports use these answers
        return added, notes


def put_answers(session: Session, pool: ScoredTriples, given: Annotations) -> int:
    """Put earlier answers into a session, once however often; return how many were new.

    They teach the method only: they were drawn from other candidates.
    """
    answers = replace(given.about(pool), selection="given", sampling_frame="").without_inclusion_probability()
    return _insert(session, pool, answers, "earlier")


def _insert(
    session: Session,
    pool: ScoredTriples,
    answers: Answers,
    anybody: str,
    judgements: Sequence[Judgement] | None = None,
    places: Sequence[str] = (),
    owner: bool = False,
) -> int:
    """Add answers to the history; those that name nobody are ``anybody``'s, as are an owner's unless ``owner``.

    A file of JSON gives the judgements too, and their places in it.
    """
    (rows, other), added, now = answers.places(pool), 0, time.time()
    other &= answers.has_inclusion_probability
    if judgements is None:
        judgements = [Judgement("true" if label else "false", None, "") for label in answers.labels.tolist()]
    whose = [str(name)[:MOST_NAME] if name and (owner or name != OWNER) else anybody for name in answers.who]
    used = np.flatnonzero(rows >= 0).tolist()
    kinds = {name: OWNER if owner and name == OWNER else "person" for name in dict.fromkeys(whose[at] for at in used)}
    with session.store.transaction() as connection:
        names = {name: session.check_name(name, kind) for name, kind in kinds.items()}
        people = {name: put_annotator(connection, names[name], kind) for name, kind in kinds.items()}
        for at in used:
            given, row, who, when = judgements[at], int(rows[at]), whose[at], _seconds(answers.when[at])
            key = given.key or f"import-{hash_question(who, row, given.answer, given.seconds, given.note)}"
            judgement = replace(given, triple=row, key=key)
            queue = LeaseQueue(connection, people[who], now if when is None else when)
            try:
                stored = queue.find_stored(judgement)
            except SessionError as error:
                raise FileError(f"{places[at]}: {error}") from None
            if stored is None:
                p = float(answers.inclusion_probability[at])
                began = int(np.clip(np.nan_to_num(answers.round[at]), 0, MOST_ROUND))
                how = answers.selection[at], answers.sampling_frame[at], p if p > 0 else None, began
                put_tasks(connection, [task_of(pool, row, IMPORTED, *(GIVEN if other[at] else how))])
                queue.insert(judgement, "import" if kinds[who] == "person" else "settle")
                added += 1
    return added


def _seconds(at: Any) -> float | None:
    """Return a time, in ISO 8601 or in seconds since 1970, as seconds; None if it is neither."""
    try:
        given = datetime.fromisoformat(at) if isinstance(at, str) else datetime.fromtimestamp(at, UTC)
        return given.replace(tzinfo=given.tzinfo or UTC).timestamp()
    except (TypeError, ValueError, OverflowError, OSError):
        return None


Entries = Iterator[tuple[str, dict[str, Any]]]
"""Judgements as JSON has them, each behind its place in the file."""


def _read_entries(entries: Entries, owner: bool) -> tuple[Answers, list[Judgement], list[str]]:
    """Check judgements; return the answers, the judgements to store without their triples, and their places."""
    given, judgements, places = list[dict[str, Any]](), list[Judgement](), list[str]()
    for place, entry in entries:
        try:
            entry, judgement = _read_entry(entry, owner)
        except (ActcError, TypeError, ValueError, OverflowError) as error:
            raise FileError(f"{place}: {error}") from None
        given.append(entry)
        judgements.append(judgement)
        places.append(place)
    try:
        answers = Answers(
            encode_columns(*([entry[name] for entry in given] for name in Session.TRIPLE)),
            np.array([one.answer == "true" for one in judgements], dtype=np.bool_),
            None,
            **{name: [entry[name] for entry in given] for name in PROVENANCE},
        )
    except RowError as error:
        raise FileError(f"{places[error.row]}: {error.problem}") from None
    return answers, judgements, places


def _read_entry(entry: dict[str, Any], owner: bool) -> tuple[dict[str, Any], Judgement]:
    """Check one judgement; return its triple and provenance, and what is stored."""
    entry = {name: entry[own] for name, own in call_columns(list(entry)).items()} | entry
    if missing := [name for name in Session.TRIPLE if not isinstance(entry.get(name), str)]:
        raise OptionError(f"{missing[0]!r} is missing, or no text.")
    if not is_storable(json.dumps(entry, ensure_ascii=False)):
        raise OptionError("it has half a character in it (a lone surrogate), which cannot be stored.")
    answer = str(entry.get("answer", entry.get("label", ""))).strip().lower()
    answer, kind = WORDS.get(answer, answer), entry.get("kind", "person")
    if answer not in LABELS:
        raise OptionError(f"{answer!r} is no answer; write true, false or unsure.")
    if kind not in ("person", OWNER):
        raise OptionError(f"{kind!r} is neither person nor owner; machines judge by `actc judge`.")
    if kind == OWNER and not owner:
        raise OptionError(
            "this is an owner's answer, which overrules everybody; a file gives nobody that right. To take such "
            "answers as your own, call actc.import_judgements with owner=True."
        )
    name = str(entry.get("name") or entry.get("annotator") or "")
    who = OWNER if kind == OWNER else "" if name == OWNER else name
    numbers = {of: float(empty if entry.get(of) is None else entry[of]) for of, empty in NUMBERS.items()}
    texts = {of: str(entry.get(of, empty)) for of, empty in (("selection", "given"), ("sampling_frame", ""))}
    seconds = numbers["seconds"] if 0 <= numbers["seconds"] < MOST_SECONDS else None
    key, note = (str(entry.get(of) or "") for of in ("key", "note"))
    columns = entry | numbers | texts | {"who": who, "when": _seconds(entry.get("at"))}
    return columns, Judgement(answer, None, key, seconds, note)


def _read_lines(path: Path) -> Entries:
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
                yield place, entry


def _read_label_studio(path: Path) -> Entries:
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
        triple = {name: task["data"].get(name) for name in Session.TRIPLE}
        for annotation in task.get("annotations") or ():
            results = annotation.get("result") or ()
            choices = [choice for one in results for choice in (one.get("value") or {}).get("choices") or ()]
            if choices and not annotation.get("was_cancelled"):
                person = annotation.get("completed_by")
                if isinstance(person, dict):
                    person = person.get("email") or person.get("id")
                name = None if person is None else f"label-studio {person}"
                yield place, {**triple, "answer": choices[0], "seconds": annotation.get("lead_time"), "name": name}


READERS: dict[str, Callable[[Path], Entries]] = {".jsonl": _read_lines, ".json": _read_label_studio}
