"""Decide which predicted facts may enter a knowledge graph, with the least human work.

The method in ten lines: a model gives every candidate triple a score; bigger is more plausible. ::

    pool = ScoredTriples.from_columns(heads, relations, tails, scores)
    calibrator = Calibrator("actc-lr-rndm", random_state=0)
    rows = calibrator.select(50, pool)                      # 1 select: these, please
    labels = [a_person_says(*pool.triple(row)) for row in rows]
    calibrator.fit(pool, Answers.of(pool, rows, labels))    # 2 estimate the others, 3 choose thresholds
    accepted = calibrator.predict(candidates)               # true where score >= its relation's threshold

And whatever a command does, a function does: ``actc calibrate scores.tsv --labels labels.tsv`` is
``calibrate("scores.tsv", "labels.tsv", out="thresholds.json")``.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from actc.bench.paper.run import run_paper
    from actc.bench.runs import run_experiment
    from actc.bench.sample.demo import run_demo
    from actc.complete.propose import propose_candidates
    from actc.complete.pykeen import from_pykeen
    from actc.complete.run import check_graph, complete_graph
    from actc.data.answers import Answers
    from actc.data.triples import ScoredTriples
    from actc.decide.calibrate import accept_triples, calibrate, pick_triples
    from actc.decide.decide_candidates import decide_candidates
    from actc.decide.find_constraints import find_constraints
    from actc.evidence.from_files import add_evidence
    from actc.graph.formats import convert_graph
    from actc.graph.publish import publish_facts, withdraw_facts
    from actc.methods.calibrator import Calibrator
    from actc.methods.named import METHODS
    from actc.session import Session
    from actc.session.export import export_session, write_report
    from actc.session.import_answers import import_judgements
    from actc.session.judge import judge_triples
    from actc.session.start import audit_accepted, start_audit, start_session
    from actc.web.serve import serve_studio

__all__ = [
    "METHODS",
    "Answers",
    "Calibrator",
    "ScoredTriples",
    "Session",
    "accept_triples",
    "add_evidence",
    "audit_accepted",
    "calibrate",
    "check_graph",
    "complete_graph",
    "convert_graph",
    "decide_candidates",
    "export_session",
    "find_constraints",
    "from_pykeen",
    "import_judgements",
    "judge_triples",
    "pick_triples",
    "propose_candidates",
    "publish_facts",
    "run_demo",
    "run_experiment",
    "run_paper",
    "serve_studio",
    "start_audit",
    "start_session",
    "withdraw_facts",
    "write_report",
]

# Imported on first use: numpy alone takes longer to load than a help text may.
_MODULES = {
    "actc.web.serve": "serve_studio",
    "actc.methods.calibrator": "Calibrator",
    "actc.methods.named": "METHODS",
    "actc.complete.propose": "propose_candidates",
    "actc.complete.pykeen": "from_pykeen",
    "actc.complete.run": "check_graph complete_graph",
    "actc.data.answers": "Answers",
    "actc.data.triples": "ScoredTriples",
    "actc.decide.find_constraints": "find_constraints",
    "actc.decide.decide_candidates": "decide_candidates",
    "actc.evidence.from_files": "add_evidence",
    "actc.bench.runs": "run_experiment",
    "actc.graph.formats": "convert_graph",
    "actc.bench.paper.run": "run_paper",
    "actc.bench.sample.demo": "run_demo",
    "actc.session": "Session",
    "actc.session.start": "audit_accepted start_audit start_session",
    "actc.session.import_answers": "import_judgements",
    "actc.session.judge": "judge_triples",
    "actc.session.export": "export_session write_report",
    "actc.graph.publish": "publish_facts withdraw_facts",
    "actc.decide.calibrate": "accept_triples calibrate pick_triples",
}
_LAZY = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'actc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
