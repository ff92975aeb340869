"""Imports point one way through the whole house, and importing actc is quick."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import actc

SOURCE = Path(actc.__file__).parent
# What each package may import from, itself and errors besides: those before it. Nothing imports the command line.
ORDER = ("data", "graph", "evidence", "methods", "decide", "session", "complete", "web", "bench", "cli")
RULE = {"errors": set()} | {name: {"errors", *ORDER[:at]} for at, name in enumerate(ORDER)}
RULE["bench"] -= {"web"}
HEAVY = {"sklearn", "scipy", "torch", "matplotlib", "duckdb", "joblib", "rich", "click", "fastapi", "pandas", "pyspark"}
HEAVY |= {"jinja2"}


def find_modules(source):
    """Return every module under a package's folder, by its dotted name."""
    modules = {}
    for path in source.rglob("*.py"):
        parts = path.relative_to(source.parent).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def imports_of(name, modules):
    """Return the modules that one imports, at its top or inside a function, however the import is written."""
    package = name if modules[name].name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(modules[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            wanted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            up = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*up, *([node.module] if node.module else [])])
            wanted = [f"{base}.{alias.name}" if f"{base}.{alias.name}" in modules else base for alias in node.names]
        else:
            continue
        yield from (found for found in wanted if found in modules)


def import_graph(source):
    modules = find_modules(source)
    return {name: set(imports_of(name, modules)) - {name} for name in modules}


def room(module):
    """Return the folder or top-level file that a module is in; "" for the package itself."""
    return module.partition(".")[2].partition(".")[0]


GRAPH = import_graph(SOURCE)


def test_modules_import_only_from_the_rooms_that_their_own_may_use():
    used = {name: {room(other) for other in GRAPH[name]} - {"", room(name)} for name in GRAPH if room(name)}
    assert {name: rooms - RULE[room(name)] for name, rooms in used.items() if rooms - RULE[room(name)]} == {}


def test_the_rule_has_no_cycle_and_names_no_room_that_is_gone():
    TopologicalSorter(RULE).prepare()
    assert set(RULE) == {room(name) for name in GRAPH} - {""}


def test_no_module_imports_itself_by_way_of_others():
    # The package's own __init__ may be imported for the version by anybody; its names are imported on first use.
    inner = {name: others - {"actc"} for name, others in GRAPH.items()}
    TopologicalSorter(inner).prepare()


def test_the_import_graph_sees_every_way_to_import(tmp_path):
    package = tmp_path / "actc"
    (package / "low").mkdir(parents=True)
    for path, text in {
        "__init__.py": "",
        "low/__init__.py": "",
        "low/one.py": "from actc import two",
        "two.py": "def later():\n    from .low.one import name",
        "three.py": "import actc.low.one",
    }.items():
        (package / path).write_text(text)
    graph = import_graph(package)
    assert graph["actc.low.one"] == {"actc.two"}
    assert graph["actc.two"] == graph["actc.three"] == {"actc.low.one"}
    with pytest.raises(CycleError):
        TopologicalSorter(graph).prepare()


def test_importing_actc_loads_nothing_heavy():
    code = f"import sys, actc; print(sorted({HEAVY!r} & {{name.split('.')[0] for name in sys.modules}}))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.long
def test_importing_actc_takes_less_than_a_third_of_a_processor_second_beside_numpy():
    code = "import time, numpy, numpy.random; now = time.process_time; start = now(); import actc; print(now() - start)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(3)]
    assert min(float(run.stdout) for run in runs) < 0.3


def test_every_public_name_is_there():
    assert all(hasattr(actc, name) for name in actc.__all__)
