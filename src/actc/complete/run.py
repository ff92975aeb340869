"""The whole way in one call: a graph in, a better graph out, with facts that were missing or without wrong ones."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.complete.answers import (
    ACCEPTED,
    GIVEN,
    NO_TRIPLES,
    STAYING,
    Earlier,
    FileOracle,
    ask_oracle,
    draw_pool,
    find_undecided,
    has_answers,
    set_aside,
    store_answers,
    worth_asking,
)
from actc.complete.candidates import Candidates
from actc.complete.check import CheckedFacts, put_back, write_check
from actc.complete.config import Finished, Goal, RunConfig, defaults_of, options_of
from actc.complete.doubt import doubt_facts
from actc.complete.given import read_given, score_given
from actc.complete.propose import candidates_of_rules, candidates_of_rules_and_model
from actc.complete.pykeen import find_unseen, load_result
from actc.complete.report import AddedFacts, write_report
from actc.data.answers import Annotations, Answers
from actc.data.begun import Begun, alone_in
from actc.data.constraints import Constraints
from actc.data.files import read_list, write_scored, write_triples
from actc.data.frames import TEXT
from actc.data.layout import find_layout, is_table
from actc.data.options import documented
from actc.data.progress import Stage, no_stage
from actc.data.triples import ScoredTriples
from actc.decide.case import Case
from actc.decide.conflicts import relation_mask
from actc.decide.decision_table import ORACLE
from actc.decide.find_constraints import constraints_from
from actc.decide.report import count_excluded, describe_excluded
from actc.errors import OptionError
from actc.graph.formats import as_table, read_graph, refuse_names
from actc.graph.graph import Graph
from actc.graph.rdf import without_literals
from actc.methods.pooled.method import WRONG_FACTS_METHOD
from actc.session import Session
from actc.session.cases import REMOVAL, invert_labels, parts_of, session_case
from actc.session.names import own_labels, try_names
from actc.session.settings import SessionInputs, Settings
from actc.session.start import create_session

POOL, PROPOSALS = "pool.parquet", "proposals.parts"
"""In a run's folder: what people judge; a model's answers, until all are given."""
NO_GRAPH = Graph.of(NO_TRIPLES)


@documented(options_of("missing"))
def complete_graph(graph: str | Path | None, out: str | Path, *, stage: Stage = no_stage, **options: Any) -> Finished:
    """Go the whole way from a graph, or from candidates, to a better graph, as ``actc complete`` does.

    Without an oracle people judge: it starts an annotation session and stops. Called again in the same way when
    they have judged, it goes on from there. Called with the same folder and another graph, model or candidates, it uses
    the answers again and reports what changed.

    Parameters
    ----------
    graph, out : path
        The graph, in any format that actc reads, or None where there are only candidates; the folder to write to.
    stage : callable
        Called with a stage's name, for as long as it lasts: gives a function to call with steps done, steps in all.
    options
        Any of the options below, those of the command.
    """
    return run_config(RunConfig(**{**options, "graph": graph, "out": out}), stage)


@documented(options_of("wrong"), defaults_of("wrong"))
def check_graph(graph: str | Path, out: str | Path, *, stage: Stage = no_stage, **options: Any) -> Finished:
    """Find the wrong facts of a graph, as ``actc check`` does; the graph itself is not changed.

    Without an oracle people judge: it starts an annotation session and stops. Called again in the same way when
    they have judged, it goes on from there. Removed are wrong facts with the guaranteed precision, and what people
    called wrong; with a budget of 0 and no answers nothing is.

    Parameters
    ----------
    graph, out : path
        The graph, in any format that actc reads; the folder to write to.
    stage : callable
        Called with a stage's name, for as long as it lasts: gives a function to call with steps done, steps in all.
    options
        Any of the options below, those of the command.
    """
    return run_config(RunConfig(**{**options, "graph": graph, "out": out, "goal": "wrong"}), stage)


def run_config(config: RunConfig, stage: Stage = no_stage) -> Finished:
    """Run a completion or a check, alone in its folder."""
    with alone_in(config.out):
        return _run(config, stage)


def _run(config: RunConfig, stage: Stage) -> Finished:
    started = time.perf_counter()
    whole = NO_GRAPH if config.graph is None else read_graph(config.graph, config.base, config.graph_columns)
    given = None if config.candidates is None else read_given(config.candidates, config.base, whole, config.columns)
    if given is not None and config.graph is not None:
        refuse_names(config.graph, given.triples, config.base)
    facts = Graph.of(given.triples) if given is not None and config.graph is None else whole
    rules = constraints_from(config.constraints, facts, config.base).used  # refused before long work, like the oracle
    oracle = None if config.oracle is None else FileOracle.read(config.oracle, config.base)
    try_names(config.names, config.language)
    notes = [] if config.undo is None else put_back(config)
    path = config.graph if config.goal == "wrong" else None
    if path is not None and is_table(path) and TEXT in find_layout(path).columns:
        notes.append(f"Triples from text? What decides on them is: actc complete --candidates {path}")
    candidates, earlier = prepare(config, whole, given, oracle, stage)
    parts = {config.goal: candidates}
    if config.check:
        parts["wrong"], _ = prepare(config.checking, whole, None, None, stage)
    run, session = _Run(config, whole, parts, earlier, rules), None
    notes += [*candidates.notes, *rules.notes]
    if oracle is None and (config.new_answers or has_answers(config.session)):
        if not config.session.exists():
            with stage("Cards"):
                lines = run.create_session()
            return Finished((*notes, *lines))
        session = Session(config.session)
        with stage("Decisions"):
            cases, lines = run.open_session(session)
    else:
        cases, lines = run.ask(oracle)
    answers, notes = earlier.answers.without_inclusion_probability(), notes + lines
    for goal, case in cases.items():
        called = case.annotations if goal == "missing" else invert_labels(case.annotations)
        answers = answers.plus(called.about(case.pool))
    answers = store_answers(config.out, answers)
    checked = CheckedFacts.decide(config.out, parts["wrong"], cases.get("wrong")) if "wrong" in parts else None
    report: dict[str, Any] = {"notes": notes}
    report["seconds"] = round(time.perf_counter() - started, 1)
    if config.goal == "wrong":
        assert checked is not None
        finished = write_check(config, checked, whole, session, report)
    else:
        remaining = whole if checked is None else checked.remaining(whole)
        added, more = run.decide(cases["missing"], remaining, answers, oracle)
        notes += more
        files = added.write(config, session)
        report["since"] = run.compare(added.case, answers)
        finished = write_report(config, added, checked, session, report, files)
    if (begun := Begun.peek(config.out)) is not None:  # a budget counts from these answers
        begun.finish("answered", sum(len(case.annotations) for case in cases.values()))
    return finished


def prepare(
    config: RunConfig, whole: Graph, given: Candidates | None, oracle: FileOracle | None, stage: Stage
) -> tuple[Candidates, Earlier]:
    """Propose or take candidates and score them; what an earlier run into the folder finished is not done again.

    Where wrong facts are looked for, the candidates are the facts of the graph. An oracle that can judge none of them
    is refused before the run has finished anything.
    """
    without = without_literals(whole)
    begun = Begun.open(config.out, config.inputs(), set_aside, STAYING)
    earlier = Earlier.read(config.out, config.judged)
    graph = earlier.reopen(without)
    if "scores" in begun.done:
        candidates = Candidates.load(config.out, graph, begun.done["scores"])
    elif config.goal == "wrong":
        candidates = doubt_facts(graph, config.seed, stage)
    elif given is not None:
        candidates = score_given(graph, given, config.seed, stage)
    elif config.model is not None:
        scorer, holdout = load_result(config.model, trust=config.trust), find_unseen(config.model, graph)
        parts = config.out / PROPOSALS
        candidates = candidates_of_rules_and_model(graph, scorer, holdout, config.best, parts, config.seed, stage)
    else:
        candidates = candidates_of_rules(graph, config.seed, stage)
    if oracle is not None:
        oracle.refuse_others(candidates.triples)
    if "scores" not in begun.done:
        candidates = replace(candidates, notes=(*without.notes, *candidates.notes))
        if config.goal == "missing":
            write_triples(config.out / GIVEN, whole.columns())
        begun.finish("scores", candidates.save(config.out))
    return candidates, earlier


@dataclass(frozen=True)
class _Run:
    """A run: its configuration, the graph, the candidates of each goal, what earlier runs left, the constraints."""

    config: RunConfig
    graph: Graph
    parts: dict[Goal, Candidates]
    earlier: Earlier
    rules: Constraints

    def ask(self, oracle: FileOracle | None) -> tuple[dict[Goal, Case], list[str]]:
        """Ask the oracle, about facts with half of the budget where both are looked for; return the case of each goal.

        There is no case of wrong facts without answers.
        """
        config, cases, notes = self.config, dict[Goal, Case](), list[str]()
        before, budget = self.earlier.answers_in(config.out), config.new_answers
        for goal in sorted(self.parts, reverse=True):  # wrong ones first
            candidates, wrong = self.parts[goal], goal == "wrong"
            truth = Annotations() if oracle is None else oracle.judge(candidates.triples)
            if oracle is not None and not len(truth):
                notes.append(f"{oracle.path}: none of the {len(candidates.triples):,} doubtful facts is judged in it.")
            rows = truth.rows if len(truth) else np.arange(len(candidates.triples))
            labels = np.zeros(len(candidates.triples), dtype=np.bool_)
            labels[truth.rows] = truth.labels != wrong
            share = 0 if not len(truth) else budget // 2 if wrong and len(self.parts) > 1 else budget
            if wrong:
                case = Case(candidates.scored, method=WRONG_FACTS_METHOD, target=config.session_target or REMOVAL)
                case = ask_oracle(case, labels, rows, share, config.seed, invert_labels(before))
            else:
                case = Case(candidates.scored, method=config.method, target=config.target)
                rows = worth_asking(candidates.triples, rows)
                case = ask_oracle(case, labels, rows, share, config.seed, before)
                case = replace(case, holdout=candidates.precisions, constraints=self.rules)
            budget -= len(case.annotations) - len(before.on(case.pool))
            if len(case.annotations) or not wrong:
                cases[goal] = case
        return cases, notes

    def create_session(self) -> list[str]:
        """Make a session of the pool, and of doubtful facts, in which people judge."""
        config, earlier = self.config, self.earlier
        pools, texts, reasons, about = list[ScoredTriples](), list[Any](), list[Sequence[str]](), list[str]()
        for goal, each in sorted(self.parts.items()):
            rows = np.arange(len(each.triples))
            if goal == "missing":
                random = np.random.default_rng(config.seed)
                rows = draw_pool(each.triples, worth_asking(each.triples, rows), earlier.answers, random)
                about.append(f"{len(each.triples):,} candidates, of which {len(rows):,} may be asked about")
            else:
                about.append(f"{len(rows):,} doubtful facts")
            pools.append(each.scored.take(rows))
            texts.append(each.triples.further.get(TEXT, np.full(len(each.triples), "", dtype=object))[rows])
            reasons += [()] * len(rows) if each.reasons is None else each.reasons.marked(rows)
        pool = pools[0]
        for more in pools[1:]:
            pool = pool.followed_by(more).with_scores(np.append(pool.scores, more.scores))
        candidates = self.parts.get("missing")
        if candidates is not None and TEXT in candidates.triples.further:  # for the cards
            pool = replace(pool, further={TEXT: np.concatenate(texts)})
        write_scored(config.out / POOL, pool)
        answers = earlier.answers.on(pool).without_inclusion_probability()
        settings = Settings(
            config.method,
            min(config.budget + len(answers), len(pool)),
            seed=config.seed,
            title=(config.graph or config.candidates or config.out).name.partition(".")[0],
            precision=config.precision,
            confidence=config.confidence,
            n_facts=len(pools[-1]) if "wrong" in self.parts else 0,
            candidates=0 if candidates is None else len(candidates.triples),
        )
        shown, own = None, tuple[Path, ...]()
        if config.graph is not None:
            shown, own = as_table(config.graph, config.base, config.out, config.graph_columns), own_labels(config.graph)
        rules, facts = (self.rules, self.graph) if len(self.rules) else (None, None)
        inputs = SessionInputs(
            (*own, *config.names), config.language, shown, rules,
            evidence=reasons, facts=facts, answers=answers, people=earlier.session,
        )  # fmt: skip
        create_session(config.session, config.out / POOL, settings, inputs).close()
        return [
            f"{', and '.join(about)}.",
            *([f"{len(answers):,} earlier answers are about these, and are used again."] if len(answers) else []),
            f"Judge {settings.budget - len(answers):,} of them: {config.annotate}",
            "Then give the same command again: it decides, and writes the new graph.",
        ]

    def open_session(self, session: Session) -> tuple[dict[Goal, Case], list[str]]:
        """Return the case of each goal by the answers in a session; note where people stopped early."""
        config, settings, folder = self.config, session.settings, session.folder
        if config.method != settings.method:
            raise OptionError(
                f"{folder} asks for {settings.method}, not for {config.method}; give --method {settings.method}, or a "
                "new --out."
            )
        if (settings.n_facts > 0) != ("wrong" in self.parts):
            without = "without" if settings.n_facts == 0 else "with"
            raise OptionError(f"{folder} was begun {without} --check; give a new --out.")
        earlier = sum(len(self.earlier.answers.on(part.triples)) for part in self.parts.values())
        before = max(earlier, Begun.answered(config.out))
        budget = min(before + (config.budget or max(settings.budget - before, 0)), settings.triples)
        if budget != settings.budget:
            session.change({"budget": budget})
        each = [session_case(session, config.session_target, part) for part in parts_of(session.settings)]
        cases = dict(zip(sorted(self.parts), each, strict=True))
        given = sum(len(case.annotations) for case in cases.values())
        if not given:
            raise OptionError(
                f"{folder}: nobody has called any triple true or false yet; judge with: {config.annotate}"
            )
        if "missing" in cases:
            cases["missing"] = replace(cases["missing"], candidates=self.parts["missing"].scored)
        early = f"{given:,} of {budget:,} answers are there; for more: {config.annotate}, then this command again."
        return cases, [early] if given < budget else []

    def decide(
        self, case: Case, graph: Graph, answers: Answers, oracle: FileOracle | None
    ) -> tuple[AddedFacts, list[str]]:
        """Return what becomes of the candidates, with notes on the answers that are used.

        ``graph`` is what candidates may contradict. Answers about candidates that are not in the pool decide these, and
        what is called true enters though nobody proposed it.
        """
        if len(rules := case.constraints):
            case = replace(case, facts=graph.take(relation_mask(graph, rules.relations)))
        case = replace(case, other_answers=answers.take(~case.pool.contains(answers.triples)))
        notes, called = self.earlier.describe(case, self.graph), answers.called_true(case.candidates, graph)
        if oracle is not None and oracle.answers is not None:
            if not case.candidates.contains(oracle.answers.triples).all():
                notes.append(f"{oracle.path}: {oracle.answers.describe_unused(case.candidates, self.graph)}")
            more = oracle.answers.called_true(case.candidates, self.graph)
            called = called.plus(replace(more, who=ORACLE))
        notes += describe_excluded(count_excluded(case)) if len(rules) else []
        notes += [f"{len(called):,} more facts are called true though nobody proposed them."] if len(called) else []
        return AddedFacts(case, graph, self.parts["missing"], called), notes

    def compare(self, case: Case, answers: Answers) -> dict[str, int] | None:
        """Write facts that people called false; count what changed since the run before."""
        folder, against = self.config.out, answers.take(~answers.labels & self.graph.contains(answers.triples))
        if len(against):
            write_triples(folder / "disagreeing.tsv", against.triples.columns())
        undecided = case.candidates.take(find_undecided(case))
        changes = self.earlier.compare(read_list(folder / ACCEPTED), undecided, self.graph)  # as every door reads it
        return {**changes, "answers_against_the_graph": len(against)} if changes or len(against) else None
