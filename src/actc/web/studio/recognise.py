"""What the files of a project are: formats, columns, relations, first rows, notes, and the first card.

Files are read in a process of its own (``python -m actc.web.studio.recognise PROJECT look``), so that one of any size,
or a hostile one, costs the server nothing; what was recognised lies beside the files until one of them changes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.complete.given import OWN_SCORES, read_given
from actc.data.database import open_database
from actc.data.files import read_scored, write_named
from actc.data.frames import TEXT, TRIPLE
from actc.data.layout import Layout, find_layout, first_lines, is_table, require
from actc.data.text_files import write_json, write_text
from actc.data.triples import ScoredTriples, Triples, encode_columns
from actc.errors import ActcError, OptionError, describe_failure
from actc.graph.formats import find_format, read_graph
from actc.graph.graph import Graph
from actc.session.cards import make_card
from actc.session.lease_queue import Task
from actc.session.names import NAME_ALIASES, NAME_COLUMNS, SOURCE, Names, insert_names, write_texts
from actc.session.session import open_session
from actc.session.store import FILE, Store
from actc.web.studio.project import ONE, Project
from actc.web.studio.runs import read_object

RECOGNISED, SENTENCES = "recognised.json", "sentences.tsv"
MOST_SECONDS = 300.0
MOST_MEMORY = 6 * 1024**3
TIMED_OUT = "The files could not be looked at in time, or there was no memory for them."
ROWS, MOST_RELATIONS, LOOKED_AT, MOST_CELL = 5, 50, 1000, 200
SCORES_UNUSED = "If it holds candidates to decide on, say above that it is scored candidates."


def guess_role(path: Path) -> str:
    """Return what a file most probably is: by its columns, where it is a table; else a graph."""
    if path.name.lower().removesuffix(".gz").endswith(".json"):
        return "names"
    try:
        layout = find_layout(path) if is_table(path) else None
        if layout is None:
            return "graph"
        first = re.split("[,;\t]", first_lines(path)[0]) if layout.delimiter else layout.names
        columns = {name.strip(' "').lower() for name in first}
    except ActcError:
        return "graph"
    if not _is_known(layout) and {"id", "name"} <= {NAME_ALIASES.get(name, name) for name in columns}:
        return "names"
    if _is_known(layout) and TEXT in layout.columns:  # from text, with a confidence or without
        return "candidates"
    return "scores" if {*TRIPLE, "score"} <= set(layout.columns) else "graph"


def _is_known(layout: Layout) -> bool:
    """Return True if a table's own names say which columns are head, relation and tail."""
    return layout.has_header and set(TRIPLE) <= set(layout.columns)


def look_at(project: Project) -> dict[str, Any]:
    """Return what the files are, as it was when they last changed."""
    now, recognised = _state(project), _read_recognised(project)
    if recognised is None:
        recognised = _call(project, "look")
        write_json(project.folder / RECOGNISED, {"state": now, "recognised": recognised})
    return recognised


def _call(project: Project, *words: str) -> dict[str, Any]:
    """Run this module in a process of its own; return what it prints."""
    command = [sys.executable, "-P", "-m", "actc.web.studio.recognise", str(project.folder), *words]
    try:
        done = subprocess.run(command, capture_output=True, timeout=MOST_SECONDS, check=False)
        return dict(json.loads(done.stdout))
    except (subprocess.TimeoutExpired, ValueError):
        return {"problem": TIMED_OUT}


def _act(project: Project, *words: str) -> dict[str, Any]:
    """Change something in a process of its own; raise where it cannot be done."""
    done = _call(project, *words)
    if done.get("problem"):
        raise OptionError(done["problem"])
    return done


def has_problem(project: Project) -> bool:
    """Return True if a file could not be read, as far as they were looked at."""
    return bool((_read_recognised(project) or {}).get("problem"))


def _read_recognised(project: Project) -> dict[str, Any] | None:
    """Return what was recognised in the files as they are now; None where they were not looked at."""
    content = read_object(project.folder / RECOGNISED)
    return content["recognised"] if content.get("state") == _state(project) else None


def _state(project: Project) -> list[Any]:
    """Return what is another after a change of any file, or of the language of names."""
    files = [(project.files / name).stat() for name in project.roles if (project.files / name).is_file()]
    return [project.options.language, project.roles, [[file.st_size, file.st_mtime_ns] for file in files]]


def recognise(project: Project) -> dict[str, Any]:
    """Describe the files of a project; where one cannot be read, why, and all others."""
    content: dict[str, Any] = dict.fromkeys(("problem", "card", "names", *ONE)) | {"columns": [], "sentences": []}
    chosen = None
    for role in ONE:
        for name in project.names_of(role):
            try:
                path = project.path_of(name)
                layout = find_layout(path) if is_table(path) else None
                if layout is not None and not _is_known(layout):
                    content["columns"].append({"file": name, **_first_rows(layout)})
                content[role], chosen = _describe(role, path, layout)
            except Exception as error:
                content["problem"] = _describe_error(project, error)
    try:
        return content if chosen is None else content | _look_at_names(project, chosen)
    except Exception as error:
        return content | {"problem": content["problem"] or _describe_error(project, error)}


def _describe_error(project: Project, error: Exception) -> str:
    """Describe what is wrong with a file, by the name that a person knows."""
    return describe_failure(error).replace(f"{project.files}/", "")


def _describe(role: str, path: Path, layout: Layout | None) -> tuple[dict[str, Any], Triples]:
    """Return what a file holds: format, sizes, scores, first rows, notes; and its triples."""
    triples: Triples
    notes, scores = list[str](), np.zeros(0)
    if role == "graph":
        triples = graph = read_graph(path)
        what, notes = find_format(path).summary, list(graph.notes)
        notes += [SCORES_UNUSED] if layout is not None and "score" in layout.columns else []
    elif role == "scores":
        triples = scored = read_scored(path, further=True)[0]
        what, scores = "Scored candidates", scored.scores
        notes = [] if layout is None else layout.describe()
    else:
        triples = given = read_given(path, "", Graph.of(encode_columns([], [], []))).triples
        what = "Triples from text" if TEXT in given.further else "Candidates"
        scores = next((given.further[name] for name in OWN_SCORES if name in given.further), scores)
        notes = [] if layout is None else layout.describe(layout.others)
    scores, first = scores[np.isfinite(scores)], triples.take(range(min(ROWS, len(triples))))
    return {
        "format": what,
        "triples": len(triples),
        "entities": len(triples.entity_names),
        "relations": len(np.unique(triples.relations)),
        "rows": [first.triple(row) for row in range(len(first))],
        "scores": [float(scores.min()), float(scores.max())] if len(scores) else None,
        "notes": [note.removeprefix(f"{path}: ") for note in notes],
    }, triples


def _look_at_names(project: Project, triples: Triples) -> dict[str, Any]:
    """Return how many things have names, and the first card as people will see it."""
    ids, files = (*triples.entity_names, *triples.relation_names), project.name_files()
    with (
        tempfile.TemporaryDirectory(prefix="actc-") as scratch,
        closing(Store(Path(scratch) / FILE, create=True)) as store,
    ):
        insert_names(store, files, ids, project.options.language)
        names = Names(store)
        named = {"named": names.count_named(ids), "of": len(ids)} if files else None
        some = range(min(LOOKED_AT, len(triples)))
        row = next((row for row in some if not triples.triple(row)[2].startswith('"')), 0)  # no literal, if any
        if isinstance(triples, ScoredTriples):
            write_texts(store, SOURCE, triples.take([row]).further.get(TEXT, ()))
        card = make_card(names, Task(0, *triples.triple(row), 0.0, ""))
        return {"names": named, "card": card, "sentences": _describe_sentences(names, triples)}


def _describe_sentences(names: Names, triples: Triples) -> list[dict[str, Any]]:
    """Return how facts of the relations with most triples are read, each with an example."""
    _, first, counts = np.unique(triples.relations, return_index=True, return_counts=True)
    lines = []
    for at in np.argsort(-counts, kind="stable")[:MOST_RELATIONS]:
        head, named, tail = map(names.of, triples.triple(int(first[at])))
        lines.append({**asdict(named), "head": head.name, "tail": tail.name, "triples": int(counts[at])})
    return lines


def write_sentence(project: Project, relation: str, template: str) -> None:
    """Write how facts of a relation are read into the project's file of sentences: a table of names like any other."""
    template = " ".join(template.split())
    if template and not {"{head}", "{tail}"} <= set(re.findall(r"\{\w+\}", template)):
        raise OptionError("A sentence has {head} and {tail} in it, such as {tail} is the uncle of {head}.")
    lines = {line["id"]: line for line in look_at(project).get("sentences", [])}
    if relation not in lines:
        raise OptionError("There is no such relation among those that are shown.")
    lines[relation]["template"] = template
    rows = [[str(line[name]) for name in NAME_COLUMNS] for line in lines.values()]
    text = ("\t".join(" ".join(cell.split()) for cell in row) for row in [list(NAME_COLUMNS), *rows])
    write_text(project.files / SENTENCES, "\n".join(text) + "\n")


def _first_rows(layout: Layout) -> dict[str, Any]:
    """Return the first rows of a table whose columns are not known by name, for a person to choose them."""
    with open_database() as connection:
        query = connection.execute(f"SELECT * FROM {replace(layout, has_header=False).source} LIMIT {ROWS}")
        rows = [[str(cell)[:MOST_CELL] for cell in row] for row in query.fetchall()]
    named = layout.delimiter is None
    # Three columns without names are head, relation and tail, as nearly all such files have it.
    sure = not named and len(layout.names) == len(TRIPLE)
    return {"names": layout.names if named else None, "rows": rows, "surely": sure}


def pick_columns(project: Project, file: str, columns: dict[str, str], header: bool) -> Project:
    """Write a table with the chosen columns, each by its place, into a file beside it, which takes its place."""
    written = _act(project, "columns", file, json.dumps([columns, header]))["file"]
    role = "scores" if "score" in columns else project.roles[file]
    return project.with_file(file, "unused").with_file(written, role)


def _write_columns(project: Project, file: str, chosen: str) -> dict[str, Any]:
    columns, header = json.loads(chosen)
    layout = find_layout(project.path_of(file), columns=columns, has_header=header)
    require(layout, TRIPLE)
    name = f"{file.partition('.')[0]}-columns.parquet"
    write_named(layout, project.files / name)
    return {"file": name}


def add_names(project: Project, file: str) -> None:
    """Let the names of a file reach people who judge already."""
    if project.session is not None and project.roles[file] == "names":
        _act(project, "names", file)


def _add_names(project: Project, file: str) -> dict[str, Any]:
    assert project.session is not None
    with open_session(project.session) as session:
        session.add_names([project.path_of(file)], project.options.language)
    return {}


def main(folder: str, action: str, *words: str) -> None:
    """Do one thing with the files of a project, in bounded memory, and print what came of it."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    project = Project.read(Path(folder))
    try:
        result = ACTIONS[action](project, *words)
    except Exception as error:
        result = {"problem": _describe_error(project, error)}
    print(json.dumps(result))


ACTIONS: dict[str, Callable[..., dict[str, Any]]] = {"look": recognise, "columns": _write_columns, "names": _add_names}

if __name__ == "__main__":
    main(*sys.argv[1:])
