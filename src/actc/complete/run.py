"""The whole way in one call: a graph in, a better graph out."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from actc.complete.candidates import KNOWN, Candidates
from actc.complete.check import (
    CheckedFacts,
    ask_about,
    describe_for_page,
    doubt_graph,
    put_back,
    summarise_check,
    write_check_decisions,
    write_lists,
)
from actc.complete.config import CHECK, RunConfig, as_path, options_of
from actc.complete.earlier import (
    ACCEPTED,
    ANSWERS,
    Earlier,
    compare,
    find_undecided,
    has_answers,
    read_answers,
    store_answers,
)
from actc.complete.given import read_given
from actc.complete.oracle import (
    FileOracle,
    Finished,
    annotate_command,
    ask_oracle,
    open_judged,
    session_state,
    split_pool,
)
from actc.complete.prepare import prepare
from actc.complete.report import headline, new_facts, summarise, write_completion, write_next_page, write_report
from actc.data.answers import Answers
from actc.data.begun import Begun, alone_in, fingerprint
from actc.data.constraints import Constraints
from actc.data.files import read_listed, write_triples
from actc.data.options import documented
from actc.data.progress import Stage, no_stage
from actc.data.triples import BoolArray, IntArray, ScoredTriples, Triples, encode_columns
from actc.decide.case import Case
from actc.decide.classes import relation_mask
from actc.decide.decision_table import DECISIONS, ORACLE
from actc.decide.find_constraints import constraints_from
from actc.decide.report import count_excluded, describe_excluded
from actc.errors import FileError, OptionError
from actc.graph.formats import as_table, read_graph
from actc.graph.graph import Graph
from actc.methods.pooled.method import WRONG_FACTS_METHOD
from actc.session import Session
from actc.session.cases import Opened, invert_labels
from actc.session.export import name_things
from actc.session.read_names import own_labels, try_names
from actc.session.settings import SessionInputs, Settings
from actc.session.start import create_session

POOL = "pool.parquet"
NO_GRAPH = Graph.of(encode_columns([], [], []))


@documented(options_of("missing"))
def complete_graph(graph: str | Path | None, out: str | Path, *, stage: Stage = no_stage, **options: Any) -> Finished:
    """Go the whole way from a graph, or from candidates, to a better graph, as ``actc complete`` does.

    Without an oracle people are asked: it starts an annotation session and stops. Called again in the same way when
    they have judged, it goes on from there. Called with the same folder and another graph, model or candidates, it uses
    the answers again and tells what changed.

    Parameters
    ----------
    graph, out : path
        The graph, in any format that actc reads, or None where there are only candidates; the folder to write to.
    stage : callable
        Called with a stage's name, for as long as it lasts: gives a function to call with steps done, steps in all.
    options
        Any of the options below, those of the command.
    """
    return run_completion(
        RunConfig(None if graph is None else as_path("graph", graph), as_path("out", out), **options), stage
    )


def run_completion(config: RunConfig, stage: Stage = no_stage) -> Finished:
    """Run a completion, alone in its folder."""
    with alone_in(config.out):
        return _complete(config, stage)


def _complete(config: RunConfig, stage: Stage) -> Finished:
    started = time.perf_counter()
    if config.if_changed and is_unchanged(config):
        return Finished((f"Nothing is new since the last run: {config.out} stays as it is.",))
    whole = NO_GRAPH if config.graph is None else read_graph(config.graph, base=config.base)
    given = None if config.candidates is None else read_given(config.candidates, config.base, whole)
    facts = Graph.of(given.triples) if given is not None and config.graph is None else whole
    rules = constraints_from(config.constraints, facts, config.base).used  # refused before long work, like the oracle
    oracle = None if config.oracle is None else FileOracle.read(config.oracle, config.base)
    if oracle is not None and given is not None:
        oracle.judge(given.triples)  # refused where it can judge none
    try_names(config.names, config.language)
    notes = put_back(config.out, config.facts, config.base) if config.undo else []
    candidates, earlier = prepare(config, whole, given, stage)
    run = _Run(config, candidates, earlier, rules, stage)
    doubtful, summary = doubt_graph(config.checking, whole, stage) if config.check else (None, {})
    notes += [*candidates.notes, *rules.notes]
    session = config.out / "session"
    if oracle is None and (config.budget or has_answers(session)):
        if not session.exists():
            lines = run.create_session(session, whole, doubtful)
            _note_state(config)
            return Finished((*notes, *lines))
        opened, wrong, lines = run.open_session(session)
    else:
        opened, wrong, lines = run.ask_oracle(oracle, doubtful)
    checked = None if doubtful is None else CheckedFacts.decide(config.out, doubtful, wrong)
    remaining = whole if checked is None else checked.remaining(whole)
    answers = read_answers(config.out)
    case = _with_answers(opened.case, remaining, answers)
    opened = replace(opened, case=case)
    listed, unused = _called_true(oracle, case.candidates, whole)
    notes += lines + earlier.describe(case, whole) + unused
    notes += describe_excluded(count_excluded(case)) if len(case.constraints) else []
    called = answers.called_true(case.candidates, remaining).plus(listed)
    notes += [f"{len(called):,} more facts are called true though nobody proposed them."] if len(called) else []
    files = write_completion(config, opened, remaining, candidates, called)
    report: dict[str, Any] = {
        "model": {} if config.model is None else {"folder": str(config.model)},
        "model_pays": candidates.pays,
        "seconds": round(candidates.seconds + time.perf_counter() - started, 1),
        "notes": notes,
        "since": _compare(config.out, earlier, case, whole, answers),
    }
    shown = None
    if checked is not None:
        reasons = checked.reasons()
        files += write_lists(config.out, checked, reasons)
        files.append(write_check_decisions(config.out / CHECK / DECISIONS, checked))
        report["check"] = summarise_check(checked, whole, reasons) | summary
        shown = describe_for_page(report["check"], checked, name_things(opened.session, ()).name)
        shown["added"] = len(new_facts(case, remaining)) + len(called)
    page, command = write_next_page(config, opened, candidates.reasons, shown)
    report = summarise(case, remaining, report, candidates.reasons, called)
    if config.candidates is not None and report["evidence"] is not None:
        report["evidence"]["expected_share"] = None  # the holdout tells little of candidates that somebody chose
    files += [*page, *write_report(config.out, {**report, "next": command})]
    _note_state(config, opened.session, len(case.annotations) + (0 if wrong is None else len(wrong.annotations)))
    more = (f"Written: {', '.join(map(str, files))}", f"Next: {command}")
    return Finished((*headline(report), *notes, *more), tuple(files))


def is_unchanged(config: RunConfig) -> bool:
    """Return True if the folder's last run had the same configuration and no answer was added since."""
    begun = Begun.peek(config.out)
    return begun is not None and begun.asked == config.inputs() and begun.done.get("state") == _state(config)


def _note_state(config: RunConfig, session: Session | None = None, answered: int = 0) -> None:
    """Write down what the files in the folder rest on, once they are all there."""
    begun = Begun.peek(config.out)
    assert begun is not None
    begun.finish("state", _state(config, session))
    Begun.note_answers(config.out, answered)


def _state(config: RunConfig, session: Session | None = None) -> dict[str, Any]:
    """Return, as JSON has it, what decisions depend on besides the candidates."""
    folder, inputs = config.out / "session", config.decision_inputs()
    if config.oracle is not None or not folder.exists():
        return inputs
    inputs["answers"] = fingerprint(config.out / ANSWERS) if (config.out / ANSWERS).exists() else None
    if session is not None:
        return {**inputs, "session": session_state(session)}
    with closing(Session(folder)) as opened:
        return {**inputs, "session": session_state(opened)}


def _answers_in(opened: Opened, wrong: Case | None) -> Answers:
    """Return the answers of a session: about candidates, and about facts where it asks about them."""
    assert opened.session is not None
    given, pool = opened.session.annotations(), opened.case.pool
    mine = given.rows < len(pool)
    every, rest = given.take(mine).about(pool), given.take(~mine)
    return every if wrong is None else every.plus(replace(rest, rows=rest.rows - len(pool)).about(wrong.pool))


def _with_answers(case: Case, graph: Triples, answers: Answers) -> Case:
    """Return a case with all that its decisions depend on besides.

    ``graph`` is what candidates may contradict; answers about candidates that are not in the pool decide these.
    """
    if len(rules := case.constraints):
        case = replace(case, facts=graph.take(relation_mask(graph, rules.relations)))
    return replace(case, other_answers=answers.take(~case.pool.contains(answers.triples)))


def _called_true(oracle: FileOracle | None, candidates: Triples, graph: Graph) -> tuple[Answers, list[str]]:
    """Return what an oracle with labels calls true though nobody proposed it; and how many labels are used."""
    if oracle is None or oracle.answers is None:
        return Answers(), []
    notes = [f"{oracle.path}: {oracle.answers.describe_unused(candidates, graph)}"]
    unused = not candidates.contains(oracle.answers.triples).all()
    return replace(oracle.answers.called_true(candidates, graph), who=ORACLE), notes if unused else []


def _compare(folder: Path, earlier: Earlier, case: Case, graph: Graph, answers: Answers) -> dict[str, int] | None:
    """Write facts that people called false; count what changed since the run before."""
    against = answers.called_false(graph)
    if len(against):
        write_triples(folder / "disagreeing.tsv", against.triples.columns())
    if not earlier:
        return None
    accepted = read_listed(folder / ACCEPTED)  # as every door reads it
    undecided = case.candidates.take(find_undecided(case))
    return {**compare(earlier, accepted, undecided, graph), "answers_against_the_graph": len(against)}


def _nobody(candidates: ScoredTriples, rows: IntArray) -> BoolArray:
    """Answer nothing: without an oracle no question is asked."""
    return np.zeros(len(rows), dtype=np.bool_)


class _Run:
    """A run that asks: its configuration, its candidates, what earlier runs left, what cannot be true together."""

    def __init__(
        self, config: RunConfig, candidates: Candidates, earlier: Earlier, rules: Constraints, stage: Stage
    ) -> None:
        self.config, self.candidates, self.earlier, self.rules, self.stage = config, candidates, earlier, rules, stage
        self.method = config.method or candidates.method

    def ask_oracle(
        self, listed: FileOracle | None, doubtful: Candidates | None
    ) -> tuple[Opened, Case | None, list[str]]:
        """Ask the oracle about candidates and, with half of the budget, about doubtful facts; open both cases."""
        config, triples, before = self.config, self.candidates.scored, self._answers()
        wrong, budget, notes = None, config.new_answers if listed is not None else 0, list[str]()
        oracle, rows = (_nobody, np.arange(len(triples))) if listed is None else listed.judge(triples)
        if doubtful is not None:
            if listed is not None and budget > 1:
                wrong, notes = self._ask_about_facts(listed, doubtful, budget // 2)
                budget -= 0 if wrong is None else len(wrong.annotations) - len(before.on(doubtful.triples))
            else:
                wrong = self._case_of_facts(doubtful)
        rows = self.candidates.worth_asking(rows)
        pool = None
        if self.earlier or len(before):
            pool = self.earlier.pool_of(triples, split_pool(rows, np.random.default_rng(config.seed)))
        case = ask_oracle(
            triples,
            oracle,
            rows,
            known=self.candidates.known,
            method=self.method,
            budget=budget,
            seed=config.seed,
            target=config.target,
            rows=pool,
            answers=before,
        )
        self._write_pool(case.pool)
        every = self.earlier.answers.without_inclusion_probability()
        if wrong is not None:
            every = every.plus(invert_labels(wrong.annotations).about(wrong.pool))
        store_answers(config.out, now=every.plus(case.annotations.about(case.pool)))
        case = replace(case, holdout=tuple(self.candidates.precisions), constraints=self.rules)
        return Opened(case), wrong, notes

    def _answers(self) -> Answers:
        """Return the answers so far: those of earlier runs guarantee nothing, those of the same candidates may."""
        path, before = self.config.out / ANSWERS, self.earlier.answers.without_inclusion_probability()
        return before.plus(Answers.read(path)) if path.exists() else before

    def _case_of_facts(self, doubtful: Candidates) -> Case | None:
        """Return the case of wrong facts by the answers so far; None without any."""
        said, target = invert_labels(self._answers().on(doubtful.triples)), self.config.checking.target
        return Case(doubtful.triples, said, None, WRONG_FACTS_METHOD, target=target) if len(said) else None

    def _ask_about_facts(self, listed: FileOracle, doubtful: Candidates, budget: int) -> tuple[Case | None, list[str]]:
        """Ask the oracle about doubtful facts, if it can judge any."""
        before = self._answers().on(doubtful.triples)
        try:
            oracle, rows = listed.judge(doubtful.triples)
        except FileError:
            none = f"{listed.path}: none of the {len(doubtful.triples):,} doubtful facts is judged in it."
            return self._case_of_facts(doubtful), [none]
        target = self.config.checking.target
        return ask_about(doubtful.triples, oracle, rows, budget, target, self.config.seed, before), []

    def create_session(self, folder: Path, graph: Graph, doubtful: Candidates | None) -> list[str]:
        """Split off the pool and make a session of it, and of doubtful facts, in which people are asked."""
        config, candidates, earlier = self.config, self.candidates, self.earlier
        rows = candidates.worth_asking(np.arange(len(candidates.triples)))
        rows = earlier.pool_of(candidates.triples, split_pool(rows, np.random.default_rng(config.seed)))
        pool = candidates.scored.take(rows)
        said = earlier.answers.on(pool).without_inclusion_probability()
        reasons = None if candidates.reasons is None else candidates.reasons.marked(rows)
        if doubtful is not None:
            assert doubtful.reasons is not None
            facts = earlier.about_facts(doubtful.triples)
            said = said.plus(replace(facts, rows=facts.rows + len(rows)))
            pool = pool.followed_by(doubtful.triples).with_scores(np.append(pool.scores, doubtful.triples.scores))
            reasons = [*(reasons or [()] * len(rows)), *doubtful.reasons.marked(np.arange(len(doubtful.triples)))]
        self._write_pool(pool)
        settings = Settings(
            self.method,
            min(config.budget + len(said), len(pool)),
            seed=config.seed,
            title=config.title,
            precision=config.precision,
            confidence=config.confidence,
            n_facts=len(pool) - len(rows),
            candidates=len(candidates.triples),
        )
        shown = config.out / KNOWN if candidates.known is not None else None
        if shown is None and config.graph is not None:
            shown = as_table(config.graph, config.base, config.out)
        own = () if config.graph is None else own_labels(config.graph)
        rules, facts_of = (self.rules, graph) if len(self.rules) else (None, None)
        inputs = SessionInputs(
            (*own, *config.names), config.language, shown, rules,
            evidence=reasons, facts=facts_of, answers=said, people=earlier.session,
        )  # fmt: skip
        with self.stage("Cards"):
            create_session(folder, config.out / POOL, settings, inputs).close()
        more = f", and {settings.n_facts:,} doubtful facts." if settings.n_facts else "."
        return [
            f"{len(candidates.triples):,} candidates, of which {len(rows):,} may be asked about{more}",
            *([f"{len(said):,} earlier answers are about these, and are used again."] if len(said) else []),
            f"Judge {settings.budget - len(said):,} of them: {annotate_command(folder)}",
            "Then give the same command again: it decides, and writes the new graph.",
        ]

    def _write_pool(self, pool: ScoredTriples) -> None:
        """Write the pool; with the text of each candidate, where they have any, for the cards."""
        columns: dict[str, Any] = {**pool.plain().columns(), "score": pool.scores}
        if "source" in self.candidates.triples.further:
            found = self.candidates.triples.rows_of(pool)
            texts = self.candidates.triples.further["source"]
            columns["source"] = np.where(found >= 0, texts[found], "").astype(object)
        write_triples(self.config.out / POOL, columns)

    def open_session(self, folder: Path) -> tuple[Opened, Case | None, list[str]]:
        """Open the cases of a session, that of wrong facts second; tell where people stopped early."""
        session, config = Session(folder), self.config
        if self.method != session.settings.method:
            raise OptionError(
                f"{folder} asks for {session.settings.method}, not for {self.method}; give --method "
                f"{session.settings.method}, or a new --out."
            )
        if (session.settings.n_facts > 0) != config.check:
            without = "without" if config.check else "with"
            raise OptionError(f"{folder} was begun {without} --check; give a new --out.")
        earlier = int((self.candidates.triples.rows_of(self.earlier.answers.triples) >= 0).sum())
        before = max(earlier, Begun.answered(config.out))
        budget = config.budget or max(session.settings.budget - before, 0)
        with self.stage("Decisions"):
            (case, *wrong), early = open_judged(session, budget, config.session_target, before)
        opened = Opened(replace(case, candidates=self.candidates.scored), session)
        about_facts = wrong[0] if wrong else None
        store_answers(config.out, self.earlier.answers, _answers_in(opened, about_facts))
        return opened, about_facts, early
