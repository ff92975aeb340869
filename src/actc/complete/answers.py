"""The answers of a run: of a file that plays the people, and what earlier runs into the same folder left.

::

    FOLDER/
      answers.tsv     all answers of this folder, and how each question was selected
      earlier/1/      the files of the first run, once its graph, model or candidates changed; and so on

A run with other inputs moves the files of the one before, whole, and uses its answers again.
"""

from __future__ import annotations

import shutil
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from actc.data.answers import Annotations, Answers
from actc.data.begun import BEGUN, LOCKED
from actc.data.deliver import alone
from actc.data.files import read_list
from actc.data.layout import find_layout
from actc.data.numeric import sigmoid
from actc.data.triples import BoolArray, IntArray, ScoredTriples, Triples, encode_columns
from actc.decide.case import Case
from actc.decide.decision_table import ORACLE
from actc.decide.pick import pick_next
from actc.errors import FileError, OptionError
from actc.graph.formats import read_graph
from actc.graph.graph import Graph
from actc.graph.rdf import Base
from actc.session import Session

DRAWN_AT_ONCE = 10  # draws from a list, before anybody looks whether it has passed
POOL = 50_000  # candidates that questions are chosen from; a random part of them, where there are more
HOPELESS = 0.05  # of the expected number of true candidates: no question is about the least likely ones that sum to it
LEAST_ELIGIBLE = 10_000  # candidates that questions may be about, however unlikely
NO_ANSWERS = Answers()
RESTORED = "restored.tsv"
"""Facts that somebody put back after a check."""
ASIDE, ANSWERS, ACCEPTED, UNDECIDED, GIVEN = "earlier", "answers.tsv", "accepted.tsv", "undecided.tsv", "given.parquet"
"""Where earlier files are; all answers; what was accepted; candidates that may be either; the graph as it was read."""
LASTING = (ANSWERS, ACCEPTED, UNDECIDED, "thresholds.json", "judged.parquet", "pool.parquet", BEGUN, "session")
"""What stays of every run, reports too; all else of the last one only."""
PATIENCE = 20.0  # seconds to wait for others that write answers
STAYING = (ASIDE, RESTORED, LOCKED)
"""What a new run finds as it was: the files of earlier ones, facts that somebody put back."""
NO_TRIPLES = encode_columns([], [], [])
DOUBT = 0.2  # a candidate is undecided where P(true) is between this and one minus this
FED_BACK = 0.5  # of what was accepted: where the graph holds more of it, the graph is what a run into the folder wrote


def set_aside(folder: Path) -> None:
    """Put the files of a run into a folder of their own, its answers first; killed at any moment it is done again."""
    store_answers(folder)
    asides = _asides(folder)
    if not asides or (asides[-1] / BEGUN).exists():  # else a run began to put files there and was killed
        asides.append(folder / ASIDE / str(1 + max((int(one.name) for one in asides), default=0)))
    aside = asides[-1]
    aside.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.iterdir(), key=lambda path: path.name == BEGUN):  # the last one: then all are there
        if path.name not in STAYING:
            path.rename(aside / path.name)
    for older in asides[:-1]:
        for path in older.iterdir():
            if path.name not in LASTING and not path.name.startswith("report."):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _asides(folder: Path) -> list[Path]:
    return sorted(
        (path for path in (folder / ASIDE).glob("*") if path.name.isdecimal()), key=lambda path: int(path.name)
    )


def _last(folder: Path, name: str) -> Path | None:
    """Return the newest file of that name among those of earlier runs."""
    return next((aside / name for aside in reversed(_asides(folder)) if (aside / name).exists()), None)


def store_answers(folder: Path, now: Answers | None = None) -> Answers:
    """Write all answers of a folder, those of now (or of its session) last: of two to a triple the later counts."""
    if now is None and (folder / "session").exists():
        with closing(Session(folder / "session")) as session:
            now = session.annotations().about(session.read_pool())
    with alone(folder / ANSWERS, patience=PATIENCE):
        answers = read_answers(folder).plus(now or Answers())
        if len(answers):
            answers.write(folder / ANSWERS)
    return answers


def store_answer(folder: Path, triple: tuple[str, str, str], label: bool | None, who: str) -> None:
    """Write an answer about a triple that no session asks about; None takes it back."""
    about = encode_columns(*([part] for part in triple))
    with alone(folder / ANSWERS, patience=PATIENCE):
        answers = read_answers(folder)
        answers = answers.take(~about.contains(answers.triples))
        if label is not None:
            at = datetime.now(UTC).isoformat(timespec="seconds")
            answers = answers.plus(Answers(about, np.array([label]), who=who, when=at))
        answers.write(folder / ANSWERS)


def read_answers(folder: Path) -> Answers:
    """Return the answers of a folder, or of the last run before of which there are any."""
    return _read(folder / ANSWERS if (folder / ANSWERS).exists() else _last(folder, ANSWERS))


def _read(path: Path | None) -> Answers:
    """Return the answers of a file; none where there is no file."""
    return Answers() if path is None or not path.exists() else Answers.read(path)


def has_answers(folder: Path) -> bool:
    """Return True if somebody has judged in a session."""
    if not folder.exists():
        return False
    with closing(Session(folder)) as session:
        return len(session.annotations()) > 0


@dataclass(frozen=True, eq=False)
class Earlier:
    """What the run before this one left; nothing, where this is the first.

    ``answers`` were drawn from other candidates: they are used to fit, and guarantee nothing. ``undecided`` might have
    been either; ``graph`` is the one that it was given, ``session`` where people judged last.
    """

    answers: Answers = field(default_factory=Answers)
    accepted: Triples = NO_TRIPLES
    undecided: Triples = NO_TRIPLES
    graph: Triples | None = None
    session: Path | None = None

    @classmethod
    def read(cls, folder: Path, judged: tuple[Path, ...] = ()) -> Earlier:
        """Read the files of the last run, and answers from elsewhere."""
        answers, accepted, graph = (_last(folder, name) for name in (ANSWERS, ACCEPTED, GIVEN))
        every, given = _read(answers), _read(folder / ANSWERS)
        given = given.take(given.selection == "given")  # to an earlier run into this folder
        for more in (given, *map(Answers.read, judged)):
            every = every.plus(replace(more.without_inclusion_probability(), selection="given", sampling_frame=""))
        return cls(
            every,
            NO_TRIPLES if accepted is None else read_list(accepted),
            NO_TRIPLES if accepted is None else read_list(accepted.with_name(UNDECIDED)),
            None if graph is None else read_list(graph),
            _last(folder, "session"),
        )

    def reopen(self, graph: Graph) -> Graph:
        """Return a graph without the facts that are in it because people called them true, if it was fed back.

        They are candidates again, to be accepted by the same answers: else only those answers would be left to learn
        from that called a candidate false.
        """
        if not len(self.accepted) or graph.contains(self.accepted).mean() <= FED_BACK:
            return graph
        true = self.answers.take(self.answers.labels).triples
        return graph.take(np.flatnonzero(~true.contains(graph)))

    def answers_in(self, folder: Path) -> Answers:
        """Return the answers so far: those of earlier runs guarantee nothing, those of the same candidates may."""
        return self.answers.without_inclusion_probability().plus(_read(folder / ANSWERS))

    def describe(self, case: Case, graph: Triples) -> list[str]:
        """Return in sentences how many earlier answers are used, and why others are not."""
        if not len(self.answers):
            return []
        lines = [self.answers.describe_unused(case.candidates, graph)]
        if self.answers.has_inclusion_probability.any():
            lines.append("They were drawn from other candidates: they are used to fit, and guarantee nothing of these.")
        return lines

    def compare(self, accepted: Triples, undecided: Triples, graph: Triples) -> dict[str, int]:
        """Count what changed since the run before: what is accepted, what is in doubt, the graph itself."""
        if self.graph is None:
            return {}
        gone = self.accepted.take(~accepted.contains(self.accepted))
        entered = int(graph.contains(gone).sum())
        return {
            "accepted_added": int((~self.accepted.contains(accepted)).sum()),
            "accepted_removed": len(gone) - entered,
            "accepted_unchanged": len(self.accepted) - len(gone),
            "entered_the_graph": entered,
            "undecided_unchanged": int(self.undecided.contains(undecided).sum()),
            "facts_added": int((~self.graph.contains(graph)).sum()),
            "facts_removed": int((~graph.contains(self.graph)).sum()),
        }


def find_undecided(case: Case) -> IntArray:
    """Return the candidates that may be either, nobody having answered, those nearest to one half first."""
    decided = case.decisions
    p = np.zeros(len(case.candidates)) if decided.probability is None else decided.probability
    rows = np.flatnonzero((p > DOUBT) & (p < 1 - DOUBT))
    return rows[np.argsort(np.abs(p[rows] - 0.5), kind="stable")]


def describe_changes(changes: dict[str, Any]) -> str:
    """Return in one line what changed since the run before, and how often people contradict the graph."""
    against, line = changes["answers_against_the_graph"], ""
    if "facts_added" in changes:
        line = (
            f"Since the run before: {changes['accepted_added']:,} newly accepted, {changes['accepted_removed']:,} no "
            f"longer accepted, {changes['accepted_unchanged']:,} accepted as before, {changes['entered_the_graph']:,} "
            f"accepted before and in the graph now; {changes['undecided_unchanged']:,} still undecided. New facts of "
            f"the graph: {changes['facts_added']:,}; gone: {changes['facts_removed']:,}. "
        )
    return f"{line}Facts of the graph that people called false: {against:,}{' (disagreeing.tsv)' * (against > 0)}."


@dataclass(frozen=True, eq=False)
class FileOracle:
    """A file that answers in the place of people, read once: labels of some triples, or a graph of all true ones."""

    path: Path
    answers: Answers | None = None
    true: Graph | None = None

    @classmethod
    def read(cls, path: Path, base: Base = "") -> FileOracle:
        """Read a file of judged triples, or of true ones."""
        try:
            has_labels = "label" in find_layout(path, order=("head", "relation", "tail", "label")).columns
        except OptionError:  # not a table, so a graph in another format
            has_labels = False
        return cls(path, Answers.read(path)) if has_labels else cls(path, true=read_graph(path, base=base))

    def judge(self, candidates: Triples) -> Annotations:
        """Return the file's answers about candidates, ordered by row; none where it shares no entity with them."""
        if self.answers is not None:
            answers = self.answers.on(candidates)
            return answers.take(np.argsort(answers.rows))
        assert self.true is not None
        if set(self.true.entity_names).isdisjoint(candidates.entity_names):
            return Annotations()
        return Annotations(np.arange(len(candidates)), self.true.contains(Graph.of(candidates)))

    def refuse_others(self, candidates: Triples) -> None:
        """Refuse candidates of which it can judge none."""
        if not len(self.judge(candidates)):
            raise FileError(
                f"{self.path}: none of the {len(candidates):,} candidates is judged in it; is it about another graph?"
            )


def ask_oracle(
    case: Case,
    labels: BoolArray,
    rows: IntArray | None = None,
    budget: int = 100,
    seed: int = 0,
    answers: Answers = NO_ANSWERS,
) -> Case:
    """Ask until the budget is spent, and return the case of the pool: what it decides on are all candidates."""
    random = np.random.default_rng(seed)
    rows = draw_pool(case.pool, np.arange(len(labels)) if rows is None else rows, answers, random)
    pool, labels = case.pool.take(rows).with_used_names(), labels[rows]  # as a reader of its file will see it
    case = replace(case, pool=pool, annotations=answers.on(pool))
    earlier = len(case.annotations)
    enough = min(earlier + budget, len(pool))
    while (left := enough - len(case.annotations)) > 0:
        count = min(left, case.named_method.batch(enough - left) if case.target is None else DRAWN_AT_ONCE)
        picks = pick_next(case, count, random, enough - earlier, earlier, final=True)
        if not len(picks):
            break
        case = case.plus(picks.answered(labels[picks.rows], ORACLE))
    return replace(case, bases={})


def worth_asking(candidates: ScoredTriples, rows: IntArray) -> IntArray:
    """Return those of some candidates, by rising row, that questions should be about: without the least likely.

    Of a large graph's proposals one in a hundred or a thousand is true: a hundred questions about any of them would
    find none. Scores are log-odds.
    """
    p = sigmoid(candidates.scores[rows])
    order = np.argsort(p, kind="stable")
    hopeless = np.cumsum(p[order]) <= HOPELESS * p.sum()
    hopeless[-LEAST_ELIGIBLE:] = False
    return np.sort(rows[order[~hopeless]])


def draw_pool(candidates: Triples, rows: IntArray, answers: Answers, random: np.random.Generator) -> IntArray:
    """Return the pool: a random part of some candidates, at most ``POOL`` rows, rising; then other answered ones."""
    rows, answered = np.sort(random.permutation(rows)[:POOL]), candidates.rows_of(answers.triples)
    return np.append(rows, np.setdiff1d(answered[answered >= 0], rows))
