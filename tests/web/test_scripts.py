"""The scripts of pages: each import leads to a file that has what it asks for and is used; none leads in a circle."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

import actc

WEB = Path(actc.__file__).parent / "web"
IMPORT = re.compile(r'^import (?:(\w+)|\{([^}]*)\}) from "(\.{1,2}/[^"]+)";$', re.M)
EXPORT = re.compile(r"^export (?:async function|function|const|let) (\w+)", re.M)
ANY_IMPORT = re.compile(r"^\s*import\b|\bimport\(", re.M)
SCRIPTS = [path for path in WEB.rglob("*.js") if "vendor" not in path.parts]


def imports_of(path):
    """Return what a script imports: the file, and the names."""
    for default, names, place in IMPORT.findall(path.read_text()):
        yield (path.parent / place).resolve(), [default] if default else [name.strip() for name in names.split(",")]


def test_imports_lead_to_files_that_export_the_names_and_every_name_is_used():
    for path in SCRIPTS:
        text = path.read_text()
        found = list(imports_of(path))
        assert len(found) == len(ANY_IMPORT.findall(text)), path
        for place, names in found:
            assert place.is_file(), f"{path.name} imports {place}"
            if "vendor" not in place.parts:
                assert set(names) <= set(EXPORT.findall(place.read_text())), f"{path.name} from {place.name}"
            body = IMPORT.sub("", text)
            assert [name for name in names if not re.search(rf"\b{name}\b", body)] == [], path


def test_every_export_is_imported():
    used = {(place, name) for path in SCRIPTS for place, names in imports_of(path) for name in names}
    unused = [
        (path.name, name) for path in SCRIPTS for name in EXPORT.findall(path.read_text()) if (path, name) not in used
    ]
    assert unused == []


def test_no_script_imports_itself_by_way_of_others():
    TopologicalSorter({path: {place for place, _ in imports_of(path)} for path in SCRIPTS}).prepare()


def test_what_is_built_in_from_elsewhere_has_its_licence_beside_it():
    assert "MIT" in (WEB / "vendor" / "uPlot.LICENSE").read_text()
