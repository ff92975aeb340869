"""thresholds.json: everything needed to apply thresholds later, and to know where they came from."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from actc import __version__
from actc.errors import FileError
from actc.tables.curves import Curves
from actc.tables.deliver import write_beside
from actc.triples import Annotations, FloatArray, ScoredTriples, Thresholds

FORMAT = "actc-thresholds"
FORMAT_VERSION = 1


def write_thresholds(
    path: str | Path,
    thresholds: Thresholds,
    method: str,
    options: dict[str, Any],
    pool: ScoredTriples,
    annotations: Annotations,
    transform: dict[str, Any] | None = None,
    curves: Curves | None = None,
    sources: dict[str, Any] | None = None,
    promise: dict[str, Any] | None = None,
) -> None:
    """Write thresholds with what they came from (method, options, counts, score transform, files) and promise.

    Curves, where the method has probabilities, are written as one line of numbers for each relation.
    """
    annotated = np.bincount(pool.relations[annotations.rows], minlength=len(pool.relation_names))
    relations: dict[str, dict[str, Any]] = {}
    for i, name in enumerate(thresholds.relation_names):
        relations[name] = {
            "cut": _to_json(float(thresholds.cuts[i])),
            "own": bool(thresholds.own[i]),
            "triples": int(pool.relation_sizes[i]),
            "annotated": int(annotated[i]),
        }
        if thresholds.lower is not None and thresholds.upper is not None:
            interval = [_to_json(float(thresholds.lower[i])), _to_json(float(thresholds.upper[i]))]
            relations[name]["interval"] = interval
        if curves is not None:
            relations[name]["curve"] = _write_curve(curves.probabilities[i])
    content = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "actc_version": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "method": method,
        "options": options,
        "score_transform": transform,
        "counts": {
            "pool": pool.stands_for,
            "relations": len(pool.relation_names),
            "annotated": len(annotations),
            "annotated_true": int(annotations.labels.sum()),
        },
        "sources": sources,
        "promise": promise,
        "default": _to_json(thresholds.default),
        "curves": None if curves is None else _curves_head(curves),
        "relations": relations,
    }
    with write_beside(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_thresholds(path: str | Path) -> Thresholds:
    """Read thresholds back."""
    return _read(Path(path), _parse)  # type: ignore[no-any-return]


def read_curves(path: str | Path) -> Curves | None:
    """Read the probability curves of a thresholds file; None where the method has none."""
    return _read(Path(path), _parse_curves)  # type: ignore[no-any-return]


def read_content(path: str | Path) -> dict[str, Any]:
    """Read everything that a thresholds file says, as plain values."""
    return _read(Path(path), dict)  # type: ignore[no-any-return]


def _read(path: Path, parse: Callable[[dict[str, Any]], Any]) -> Any:
    if not path.is_file():
        raise FileError(f"{path}: there is no such file.")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise FileError(f"{path}{line}: this is no JSON file; thresholds are written by `actc calibrate`.") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise FileError(f"{path}: this is no thresholds file; write one with `actc calibrate`.")
    if content.get("format_version") != FORMAT_VERSION:
        raise FileError(
            f"{path}: its format version is {content.get('format_version')}, this actc reads {FORMAT_VERSION}; "
            "update actc or calibrate again."
        )
    try:
        return parse(content)
    except (KeyError, TypeError, ValueError) as error:
        raise FileError(f"{path}: the thresholds are damaged ({type(error).__name__}: {error}).") from None


def _parse(content: dict[str, Any]) -> Thresholds:
    relations = content["relations"]
    names = tuple(sorted(relations))
    bounds: list[FloatArray | None] = [None, None]
    if names and all("interval" in relations[name] for name in names):
        bounds = [np.array([_from_json(relations[name]["interval"][side]) for name in names]) for side in (0, 1)]
    return Thresholds(
        names,
        np.array([_from_json(relations[name]["cut"]) for name in names]),
        _from_json(content["default"]),
        np.array([bool(relations[name]["own"]) for name in names]),
        *bounds,
    )


def _curves_head(curves: Curves) -> dict[str, Any]:
    return {"low": curves.low, "high": curves.high, "default": _write_curve(curves.probabilities[-1])}


def _write_curve(probabilities: FloatArray) -> str:
    return " ".join(f"{value:.5g}" for value in probabilities.tolist())


def _parse_curves(content: dict[str, Any]) -> Curves | None:
    head, relations = content.get("curves"), content["relations"]
    if head is None:
        return None
    names = tuple(sorted(relations))
    lines = [*(relations[name]["curve"] for name in names), head["default"]]
    values = np.array([[float(value) for value in line.split()] for line in lines])
    return Curves(names, float(head["low"]), float(head["high"]), values)


# JSON has no infinity; a cut that accepts everything or nothing is written as a word.
def _to_json(value: float) -> float | str:
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")


def _from_json(value: float | str) -> float:
    return float(value)
