"""Decided facts into a store, and out of it again.

Without ``write`` nothing is changed: the lines describe what would be. To publish twice is to publish once. Facts that
were taken out are removed from the store only with ``remove``; what is removed from where is written down first, in the
store and in the folder, and comes back when the run is withdrawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from actc.data.deliver import check_writable, claim, write_beside
from actc.data.files import load_json, write_json
from actc.data.progress import Progress, ignore_progress
from actc.errors import FileError, OptionError
from actc.graph.client import Store, is_store
from actc.graph.formats import find_format, write_graph
from actc.graph.runs import Run, SparqlTarget
from actc.graph.terms import Base

PUBLISHED = "published.json"
FORMAT = "actc-published"


@dataclass(frozen=True)
class Published:
    """What came of a publication, or of its withdrawal."""

    run: str  # the name of the run
    lines: tuple[str, ...]  # what a person should read


def publish_facts(
    folder: str | Path,
    to: str,
    into: str,
    *,
    write: bool = False,
    remove: bool = False,
    replace: bool = False,
    graphs: Sequence[str] = (),
    query_at: str | None = None,
    key_from: str | None = None,
    base: Base = "",
    progress: Progress = ignore_progress,
) -> Published:
    """Write what was decided into a store, as ``actc publish`` does.

    Parameters
    ----------
    folder : path
        What ``complete`` or ``check`` wrote, or a table of accepted facts.
    to : str
        ``sparql:http://host/update``, or a file: .nq for a run as a store would have it, any other graph format for
        its facts alone.
    into : str
        The IRI under which the run gets a named graph of its own.
    write : bool
        Without it nothing is written, and the lines describe what would be.
    remove : bool
        Also remove the facts that were taken out, from the graphs named in ``graphs``, or else the default graph.
    replace : bool
        Take earlier runs under the same IRI back out first.
    graphs : sequence of str
    query_at : str, optional
        Where a SPARQL store answers queries, if its address of updates does not show it.
    key_from : str, optional
        The environment variable that holds a bearer token, or user:password.
    base : str, or two of them
        Put before names that are no IRIs; what ``complete`` was given, if not given here.
    progress : callable
        Called with lines written, lines in all.
    """
    run = Run.read(folder, into, base)
    if not len(run.facts) and not (remove and len(run.removed)):
        hint = f"; --remove takes out the {len(run.removed):,} that were found wrong" if len(run.removed) else ""
        raise OptionError(f"{folder}: nothing was accepted there{hint}.")
    if not is_store(to):
        return _publish_to_file(run, Path(to), write)
    with SparqlTarget(Store.of(to, key_from), query_at) as target:
        earlier = {name: facts for name, facts in target.runs(into).items() if name != run.iri}
        if write and replace:  # what they removed comes back before this run removes it again
            for name in earlier:
                target.withdraw(name)
                keep_record(Path(folder), name, to, {"withdrawn": _now()})
        removed = target.find(run.removed, tuple(graphs) or ("",)) if remove else {}
        lines = _describe(run, to, removed, remove) + _describe_earlier(earlier, replace, write)
        if not write:
            return Published(run.iri, (*lines, "Nothing was written; --write does it."))
        taken = {
            graph or "default": [found.triple(row) for row in range(len(found))] for graph, found in removed.items()
        }
        record = {"facts": len(run.facts), "published": _now(), "withdrawn": None}
        keep_record(Path(folder), run.iri, to, record | ({"removed": taken} if any(taken.values()) else {}))
        target.write(run, removed, progress)
    return Published(run.iri, (*lines, f"Written. To take it back: actc withdraw {folder} --to {to} --into {into}"))


def _describe_earlier(earlier: dict[str, int], replace: bool, write: bool) -> list[str]:
    """Describe what becomes of the runs that are there."""
    fate = ("is taken out" if write else "would be taken out") if replace else "stays; --replace takes it out"
    return [f"An earlier run {fate}: {name}, {facts:,} facts." for name, facts in earlier.items()]


def _describe(run: Run, to: str, removed: dict[str, Any], remove: bool) -> list[str]:
    """Describe what is written where."""
    lines = [f"{len(run.facts):,} facts into {to}, as {run.iri}."] if len(run.facts) else []
    for graph, decided in removed.items():
        lines.append(f"{len(decided):,} of {len(run.removed):,} facts out of {graph or 'the default graph'}.")
    if len(run.removed) and not remove:
        lines.append(f"{len(run.removed):,} facts that were taken out stay in the store; --remove takes them out.")
    nameless = run.facts.nameless + run.removed.nameless
    if nameless:
        lines.append(
            f"{nameless:,} facts have an end that no update can name, a blank node or a text with an escape: left out."
        )
    return lines


def _publish_to_file(run: Run, path: Path, write: bool) -> Published:
    """Write the facts, and their provenance where the file has a place for it."""
    quads = path.suffix == ".nq"
    extras = run.facts.extras if find_format(path).carries else {}
    lines = [f"{len(run.facts):,} facts into {path}{f', as {run.iri}' if quads else ''}."]
    if not write:
        return Published(run.iri, (*lines, "Nothing was written; --write does it."))
    with claim(check_writable(path)):
        if path.exists():
            raise FileError(f"{path} is there already; choose another name.")
        if quads:
            with write_beside(path) as temporary, temporary.open("w", encoding="utf-8") as file:
                for graph, texts in ((run.iri, run.fact_lines()), (run.about, run.about_lines())):
                    file.writelines(f"{line[:-2]} <{graph}> .\n" for text in texts for line in text.splitlines())
        else:
            write_graph(path, run.facts.names, run.base, extras)
    return Published(run.iri, tuple(lines))


def withdraw_facts(
    folder: str | Path,
    to: str,
    into: str,
    *,
    run: str | None = None,
    dry_run: bool = False,
    query_at: str | None = None,
    key_from: str | None = None,
) -> Published:
    """Take a run back out of a store, as ``actc withdraw`` does: what it wrote goes, what it removed comes back.

    Parameters
    ----------
    folder : path
        The folder that was published.
    to, into : str
        As in :func:`publish_facts`.
    run : str, optional
        The name of the run; the last that was published from the folder, if not given.
    dry_run : bool
        Change nothing, and say what would be.
    query_at, key_from
        As in :func:`publish_facts`.
    """
    if not is_store(to):
        raise OptionError(f"{to} is a file; remove it.")
    name = run or last_run(Path(folder), to, into)
    with SparqlTarget(Store.of(to, key_from), query_at) as target:
        facts, back = target.look(name)
        lines = [f"{facts:,} facts of {name} out of {to}."]
        lines += [f"{count:,} facts back into {graph or 'the default graph'}." for graph, count in back.items()]
        if dry_run:
            return Published(name, (*lines, "Nothing was changed."))
        target.withdraw(name)
    if Path(folder).exists():
        keep_record(Path(folder), name, to, {"withdrawn": _now()})
    return Published(name, (*lines, "Done."))


def keep_record(folder: Path, run: str, to: str, record: dict[str, Any]) -> None:
    """Write down in the folder what became of a run in a store."""
    path, runs = _record(folder), read_records(folder)
    found = next((one for one in runs if (one["run"], one["store"]) == (run, to)), None)
    others = [one for one in runs if one is not found]
    write_json(path, {"format": FORMAT, "runs": [*others, {"run": run, "store": to, **(found or {}), **record}]})


def read_records(folder: Path) -> list[dict[str, Any]]:
    """Return what was published from a folder, the last one last."""
    path = _record(folder)
    if not path.exists():
        return []
    try:
        return [{"run": str(one["run"]), "store": str(one["store"]), **one} for one in load_json(path)["runs"]]
    except (ValueError, KeyError, TypeError):
        raise FileError(f"{path}: it is damaged; name the run with --run.") from None


def last_run(folder: Path, to: str, into: str) -> str:
    """Return the name of the last run that was published from a folder into a store and not withdrawn."""
    for one in reversed(read_records(folder)):
        if one["store"] == to and str(one["run"]).startswith(into.rstrip("/#")) and not one.get("withdrawn"):
            return str(one["run"])
    raise OptionError(f"{folder}: nothing of it is in {to} under {into}; name another run with --run.")


def _record(folder: Path) -> Path:
    return folder / PUBLISHED if folder.is_dir() else folder.with_name(f"{folder.name}.{PUBLISHED}")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
