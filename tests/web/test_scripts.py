"""The scripts of pages: no import leads in a circle, no export is for nobody; `make check` checks types and names."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

import actc

WEB = Path(actc.__file__).parent / "web"
IMPORT = re.compile(r'^import (?:(\w+)|\{([^}]*)\}) from "(\.{1,2}/[^"]+)";$', re.M)
EXPORT = re.compile(r"^export (?:async function|function|const|let) (\w+)", re.M)
SCRIPTS = [path for path in WEB.rglob("*.js") if "vendor" not in path.parts]


def imports_of(path):
    """Return what a script imports: the file, and the names."""
    for default, names, place in IMPORT.findall(path.read_text()):
        yield (path.parent / place).resolve(), [default] if default else [name.strip() for name in names.split(",")]


def test_every_script_is_type_checked():
    assert [path.name for path in SCRIPTS if not path.read_text().startswith("// @ts-check\n")] == []


def test_every_export_is_imported():
    used = {(place, name) for path in SCRIPTS for place, names in imports_of(path) for name in names}
    exported = {(path, name) for path in SCRIPTS for name in EXPORT.findall(path.read_text())}
    assert exported - used == set()


def test_no_script_imports_itself_by_way_of_others():
    TopologicalSorter({path: {place for place, _ in imports_of(path)} for path in SCRIPTS}).prepare()


def test_what_is_built_in_from_elsewhere_has_its_licence_beside_it():
    assert "MIT" in (WEB / "vendor" / "uPlot.LICENSE").read_text()
