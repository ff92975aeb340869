"""What the files of a project are: formats, columns, relations, first rows, notes, and the first card.

It is found out in a process of its own (``python -m actc.web.studio.recognise PROJECT``), so that a file of any size,
or a hostile one, costs the server nothing; and kept beside the files until one of them changes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.files import TRIPLE, find_layout, first_line, is_table, load_json, read_scored, write_json
from actc.data.triples import Triples
from actc.errors import ActcError, say_failure
from actc.graph.formats import find_format, read_graph
from actc.session.ask import Task
from actc.session.cards import make_card
from actc.session.names import Names, write_names
from actc.session.read_names import NAME_ALIASES
from actc.session.texts import COLUMN
from actc.web.studio.commands import name_files
from actc.web.studio.project import Project

KEPT = "recognised.json"
MOST_SECONDS = 300.0
ROWS, MOST_RELATIONS, MOST_COLUMNS, LOOKED_AT = 5, 50, 8, 1000
SCORES_UNUSED = "If it holds candidates to decide on, say above that it is scored candidates."


def guess_role(path: Path) -> str:
    """Say what a file most probably is: by its columns, where it is a table; else a graph."""
    if path.name.lower().endswith((".json", ".jsonl", ".json.gz", ".jsonl.gz")):
        return "names"
    try:
        if not is_table(path):
            return "graph"
        layout = find_layout(path)
        by_name = layout.has_header and set(TRIPLE) <= set(layout.position)
        if not by_name and layout.delimiter and _has_names(path):
            return "names"
    except ActcError:
        return "graph"
    return "scores" if {*TRIPLE, "score"} <= set(layout.position) else "graph"


def _has_names(path: Path) -> bool:
    """Say whether the first line names the columns of a table of names."""
    columns = {word.strip().strip('"').lower() for word in re.split("[,;\t]", first_line(path))}
    return {"id", "name"} <= {NAME_ALIASES.get(word, word) for word in columns}


def look_at(project: Project) -> dict[str, Any]:
    """Return what the files are, as it was found out when they last changed."""
    now, found = _state(project), _read_kept(project)
    if found is not None:
        return found
    command = [sys.executable, "-P", "-m", "actc.web.studio.recognise", str(project.folder)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=MOST_SECONDS, check=False)
        found = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        found = {"problem": "The files could not be looked at in time, or there was no memory for them."}
    write_json(project.folder / KEPT, {"state": now, "found": found})
    return dict(found)


def found_problem(project: Project) -> bool:
    """Say whether a file could not be read, as far as they were looked at."""
    return bool((_read_kept(project) or {}).get("problem"))


def _read_kept(project: Project) -> dict[str, Any] | None:
    """Return what was found out of the files as they are now; None where they were not looked at."""
    try:
        content = load_json(project.folder / KEPT)
        return dict(content["found"]) if content["state"] == _state(project) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _state(project: Project) -> list[Any]:
    """Return what is another after a change of any file, or of the language of names."""
    files = [(project.files / name).stat() for name in project.roles if (project.files / name).is_file()]
    return [project.options.language, project.roles, [[file.st_size, file.st_mtime_ns] for file in files]]


def recognise(project: Project) -> dict[str, Any]:
    """Find out what the files of a project are; what one cannot be read for is said, and the others are looked at."""
    found: dict[str, Any] = {"problem": None, "card": None}
    triples: Triples | None = None
    for role, describe in DESCRIBED.items():
        found[role] = None
        for name in project.names_of(role):
            try:
                found[role], some = describe(project.path_of(name))
                triples = triples if triples is not None and role == "graph" else some
            except Exception as error:
                found["problem"] = _say(project, error)
    names = name_files(project)
    if triples is not None:
        try:
            found |= _look_at_names(project, triples, names)
        except Exception as error:
            found["problem"] = found["problem"] or _say(project, error)
    return found


def _say(project: Project, error: Exception) -> str:
    """Say what is wrong with a file, by the name that a person knows."""
    sentence = str(error) if isinstance(error, ActcError) else say_failure(error)
    return sentence.replace(f"{project.files}/", "")


def _describe_graph(path: Path) -> tuple[dict[str, Any], Triples]:
    graph, notes = read_graph(path), []
    if is_table(path):
        layout = find_layout(path)
        notes = _note_columns([*(["score"] if "score" in layout.position else []), *layout.others])
        if "score" in layout.position:
            notes.append(SCORES_UNUSED)
    return {"format": find_format(path, None).summary, **_describe(graph), "notes": [*graph.notes, *notes]}, graph


def _describe_scores(path: Path) -> tuple[dict[str, Any], Triples]:
    triples, labels = read_scored(path)
    low, high = (float(x) for x in (triples.scores.min(), triples.scores.max()))
    notes = ["There is a column of labels; people are asked all the same."] if labels is not None else []
    layout = find_layout(path)
    shown = [name for name in layout.others if name.lower() == COLUMN]
    notes += [f"Cards show the text in the column {name}." for name in shown]
    notes += _note_columns([name for name in layout.others if name not in shown])
    more = {"columns": list(layout.position), "scores": [low, high], "notes": notes}
    return {"format": "Scored candidates", **_describe(triples), **more}, triples


def _note_columns(names: Sequence[str]) -> list[str]:
    """Say which columns are not used, if any."""
    if not names:
        return []
    more = f" and {len(names) - MOST_COLUMNS} more" if len(names) > MOST_COLUMNS else ""
    told = ", ".join(names[:MOST_COLUMNS]) + more
    return [f"The column {told} is not used." if len(names) == 1 else f"These columns are not used: {told}."]


def _describe(triples: Triples) -> dict[str, Any]:
    """Return sizes, the relations with most triples, and the first rows."""
    counts = np.bincount(triples.relations, minlength=len(triples.relation_names))
    order = np.argsort(-counts, kind="stable")[:MOST_RELATIONS]
    relations = [{"relation": triples.relation_names[i], "triples": int(counts[i])} for i in order.tolist()]
    rows = triples.take(np.arange(min(ROWS, len(triples)))).columns()
    return {
        "triples": len(triples),
        "entities": len(triples.entity_names),
        "relation_count": int((counts > 0).sum()),
        "relations": [line for line in relations if line["triples"]],
        "rows": [[str(cell) for cell in row] for row in zip(*rows.values(), strict=True)],
    }


def _look_at_names(project: Project, triples: Triples, files: list[Path]) -> dict[str, Any]:
    """Return how many names were found, and the first card as people will see it."""
    ids = (*triples.entity_names, *triples.relation_names)
    with tempfile.TemporaryDirectory(prefix="actc-") as scratch:
        path = Path(scratch) / "names.sqlite"
        write_names(path, files, None, ids, project.options.language)
        with closing(Names(path)) as names:
            named = {"named": names.count_named(ids), "of": len(ids), "files": len(files)}
            some = map(triples.triple, range(min(LOOKED_AT, len(triples))))
            first = next((one for one in some if not one[2].startswith('"')), triples.triple(0))  # no literal, if any
            card = make_card(names, Task(0, *first, 0.0, ""))
    return {"names": named if files else None, "card": card}


DESCRIBED: dict[str, Callable[[Path], tuple[dict[str, Any], Triples]]] = {
    "graph": _describe_graph,
    "scores": _describe_scores,
    "candidates": _describe_graph,
}

if __name__ == "__main__":
    print(json.dumps(recognise(Project.read(Path(sys.argv[1])))))
