"""Imports point one way, and importing actc is quick."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import actc

SOURCE = Path(actc.__file__).parent
# Each module may import from the lines above its own, never from its own line or below.
LAYERS = [
    {"errors", "command_parts", "database"},
    {"triples"},
    {"groups", "logistic", "curves", "backends"},
    {"gaussian_process", "squash_scores"},
    {"select_triples", "estimate_labels", "choose_thresholds", "metrics", "files", "sample"},
    {"baselines", "thresholds_file", "intervals", "candidate_files", "deliver", "decide_plan", "graph"},
    {"audit", "shift", "svg"},
    {"graph_formats", "embedding_models", "recipes"},
    {"train_model", "score_triples", "entity_slots"},
    {"saved_model", "candidates"},
    {"adapters"},
    {"load_scorer"},
    {"pooled_features"},
    {"pooled", "sketch_pool", "sketch_file"},
    {"pooled_picks", "pooled_draws", "pooled_settle"},
    {"pooled_method", "discrepancy", "ask"},
    {"expect"},
    {"promise"},
    {"spark_session"},
    {"methods", "decide_duckdb", "decide_spark"},
    {"decide"},
    {"calibrator", "experiment"},
    {"complete"},
    {"complete_report", "complete_folder"},
    {"download", "published", "text_tables", "results"},
    {"compare_methods", "datasets"},
    {"paper_tables", "paper_page", "grid"},
    {"paper_figures"},
    {"paper_items"},
    {"paper"},
    {"on_demand"},
    {"plots", "report"},
    {"report_page"},
    {"demo"},
    {"demo_page", "show"},
    {"session"},
    {"app", "show_session", "find_case"},
    {"show_trust", "complete_run"},
    {"graph_commands", "session_commands", "trust_commands"},
    {"cli"},
]
HEAVY = {"sklearn", "scipy", "torch", "matplotlib", "duckdb", "joblib", "rich", "click", "fastapi", "pandas", "pyspark"}


def imported_modules(path):
    """Return the modules of actc that a file imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("actc."):
            yield node.module.split(".")[1]


def test_imports_point_one_way():
    layer_of = {name: i for i, names in enumerate(LAYERS) for name in names}
    for path in SOURCE.glob("*.py"):
        if path.stem == "__init__":
            continue
        assert path.stem in layer_of, f"{path.name} has no place in LAYERS"
        for other in imported_modules(path):
            assert layer_of[other] < layer_of[path.stem], f"{path.stem} imports {other}"


def test_importing_actc_loads_nothing_heavy():
    code = f"import sys, actc; print(sorted({HEAVY!r} & {{name.split('.')[0] for name in sys.modules}}))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_importing_actc_takes_less_than_a_third_of_a_second_beside_numpy():
    code = (
        "import time, numpy, numpy.random; start = time.perf_counter(); import actc; print(time.perf_counter() - start)"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(3)]
    assert min(float(run.stdout) for run in runs) < 0.3


def test_every_public_name_is_there():
    assert all(hasattr(actc, name) for name in actc.__all__)
