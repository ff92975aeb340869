# ruff: noqa: RUF009 - the default of an option is what `option` makes of it
"""What a session and its commands are given; the options among it are described here once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

from actc.data.options import COLUMNS, option
from actc.errors import ActcError, FileError, OptionError, check_choice

if TYPE_CHECKING:  # a help text shall not wait for numpy
    from actc.data.answers import Annotations
    from actc.data.constraints import Constraints
    from actc.data.frames import Columns
    from actc.data.triples import Triples
    from actc.decide.audit import StoppingRule
    from actc.decide.guarantee import TargetPrecision

WHEN_REASONS = ("after", "beside", "never")
MOST_GUIDELINES = 20_000
"""More is a book; the page shows them in one box."""
CHANGEABLE = ("budget", "paused", "overlap", "reasons", "title", "guidelines", "precision")
_KINDS: dict[Any, Any] = {
    "int": int, "str": str, "bool": bool, "float": (int, float), "float | None": (int, float, NoneType)
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """What holds for a whole session: written when it starts, and again with every change; the last value counts."""

    method: str = option("pooled", "See: actc methods.")
    budget: int = option(100, "How many triples to judge.")
    precision: float | None = option(None, "Guarantee this precision, with 90% confidence: random draws test the list.")
    confidence: float = 0.9
    overlap: float = option(0.0, "The share of triples that two people judge.")
    title: str = option("", "What the pages call the session. [default: the file's name]")
    guidelines: str = option("", "What annotators should know, shown first: Markdown.")
    reasons: str = option(
        "after", "Show reasons for and against a triple: after (the answer), beside (the card), never."
    )
    link: str = option("", "Where entities are described: an address with {id}. [default: Wikidata]")
    seed: int = option(0, "Where draws start from.")
    triples: int = 0  # the size of the pool
    # Of an audit, to plus or minus how much the share of true triples is to be known; None where the session is none.
    within: float | None = None
    target: float | None = None  # of an audit, the share of true triples to certify instead
    level: float = 0.9  # of an audit, the confidence of its bounds
    candidates: int = 0  # how many there are in all, where the pool is a sample of them; else 0
    # How many of the triples, the last ones, are facts of the graph: wrong ones are looked for among them, and the
    # score is the log-odds of being wrong.
    n_facts: int = 0
    paused: bool = False  # no cards are given out; answers are still stored

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not (isinstance(value, _KINDS[field.type]) and (field.type == "bool") == isinstance(value, bool)):
                raise OptionError(f"{field.name} is of the kind {field.type}, not {value!r}.")
        if not 1 <= self.budget < 2**31:
            raise OptionError(f"--budget: how many answers people shall give, from 1 on, not {self.budget}.")
        if self.seed < 0:
            raise OptionError(f"The seed must be at least 0, not {self.seed}.")
        if not 0 <= self.overlap <= 1:
            raise OptionError(f"overlap is a share between 0 and 1, not {self.overlap}.")
        _ = self.target_precision  # refuses what cannot be guaranteed
        if len(self.guidelines) > MOST_GUIDELINES:
            raise OptionError(f"Guidelines of {len(self.guidelines):,} characters; at most {MOST_GUIDELINES:,} fit.")
        check_choice("time for reasons", self.reasons, WHEN_REASONS)
        if self.link and not (re.match("https?://[!-~]+$", self.link) and "{id}" in self.link):
            raise OptionError(f"{self.link!r} is no address with {{id}} in it, such as https://example.org/{{id}}.")
        if self.is_audit:
            _ = self.stopping_rule  # refuses what cannot be shown

    @property
    def is_audit(self) -> bool:
        """Whether the session is an audit."""
        return self.within is not None

    @property
    def stopping_rule(self) -> StoppingRule:
        """What an audit shall show."""
        from actc.decide.audit import StoppingRule

        assert self.within is not None
        return StoppingRule(self.within, self.target, self.level)

    @property
    def target_precision(self) -> TargetPrecision | None:
        """The precision to guarantee, if there is one."""
        return as_target(self.precision, self.confidence)

    @classmethod
    def read(cls, rows: Iterable[tuple[str, str]], path: Path) -> Settings:
        """Read settings, the last of each name, or raise an error that names the file."""
        try:
            given = {name: json.loads(value) for name, value in rows}
            read = cls(**{field.name: given[field.name] for field in fields(cls)})
            if not 0 <= read.n_facts <= read.triples:
                raise OptionError(f"{read.n_facts} of {read.triples} triples are facts")
            return read
        except (ValueError, TypeError, KeyError, ActcError) as error:
            raise FileError(f"{path}: the settings are damaged ({str(error).rstrip('.')}).") from None


def as_target(precision: float | None, confidence: float) -> TargetPrecision | None:
    """Return the precision to guarantee, if there is one."""
    from actc.decide.guarantee import TargetPrecision

    return TargetPrecision.of(precision, confidence)


@dataclass(frozen=True, eq=False)
class SessionInputs:
    """What a session shows and uses besides its candidates."""

    names: Sequence[str | Path] = option(
        (), "Names of entities or relations: a table (id, name, description, types, sentence), JSON, RDF; repeatable."
    )
    language: str = option("en", "The language of names, where a file has several.")
    graph: str | Path | None = option(None, "What the graph holds: head, relation, tail (and score).")
    constraints: str | Path | Constraints | None = option(
        None, "What may not be true together: a file of actc constraints, or learned."
    )
    columns: Columns = option(None, COLUMNS)
    # Why each candidate may be true or false, see actc.session.names.
    evidence: Sequence[Sequence[str]] | None = None
    facts: Triples | None = None  # what candidates could contradict; the graph's triples if not given
    # Earlier answers to candidates, by their rows: no new questions are about these.
    answers: Annotations | None = None
    people: Path | None = None  # an earlier session, whose people may judge by the links that they have


@dataclass(frozen=True)
class JudgeConfig:
    """Which machine judges which triples."""

    program: str | None = option(None, "A command that judges: JSON lines in, JSON lines out.")
    url: str | None = option(None, "A server that speaks the OpenAI chat protocol, on this machine or elsewhere.")
    model: str | None = option(None, "The server's name for the model.")
    which: str = option("doubtful", "Besides what people judged: doubtful, accepted, random or all.")
    count: int | None = option(None, "How many of those at most. [default: 1,000 doubtful or random ones, else all]")
    prompt: str | Path | None = option(None, "The question to a model: a text with fields in braces.")
    key_from: str | None = option(None, "The environment variable that holds the server's key.")
    name: str | None = option(None, "What to call the judge. [default: the model's or program's name]")
    jobs: int = option(4, "Requests at the same time.")
    limit: int = option(10_000, "Requests in this run at most, retries among them.")
    retries: int = 5  # how often a request that failed is tried again
    timeout: float = 120.0  # seconds to wait for a whole reply
    # How a server answers: tokens (the probabilities of its first word), schema (an object of a given form) or text;
    # empty for the first of these that it can.
    way: str = ""

    def __post_init__(self) -> None:
        if (self.program is None) == (self.url is None):
            raise OptionError("Say who judges, one of: --program 'CMD', or --url URL --model NAME.")
        if (self.url is None) != (self.model is None):
            raise OptionError("--url and --model go together: where the server is, and its name for the model.")
        for name, least in (("jobs", 1), ("retries", 0), ("limit", 1), ("count", 0)):
            if (value := getattr(self, name)) is not None and value < least:
                raise OptionError(f"--{name} must be at least {least}, not {value}.")
        if not 0 < self.timeout < float("inf"):
            raise OptionError(f"timeout: {self.timeout} seconds cannot be; give a positive number.")


@dataclass(frozen=True)
class ExportFiles:
    """The files that an export writes."""

    labels: str | Path | None = option(None, "One label per judged triple: .tsv, .csv or .parquet.")
    history: str | Path | None = option(None, "Every answer that was ever given: .jsonl.")
    thresholds: str | Path | None = option(None, "Where true begins: .json.")
    accepted: str | Path | None = option(None, "The accepted triples: .tsv, .csv or .parquet.")
    label_studio: str | Path | None = option(None, "The next triples as Label Studio's tasks: .json.")
    precision: float | None = option(None, "Guarantee this precision, with 90% confidence.")
    count: int = 100  # tasks for Label Studio
    confidence: float = 0.9  # of the guaranteed precision

    def paths(self) -> dict[str, Path]:
        """Return the files that shall be written, by the names of their options."""
        names = ("labels", "history", "thresholds", "accepted", "label_studio")
        return {name: Path(path) for name in names if (path := getattr(self, name))}


@dataclass(frozen=True)
class AuditConfig:
    """What an audit draws from, how much is judged, and when it ends; how sure bounds are, where draws start from."""

    among: str | Path | None = option(None, "Of a session: draw from this accepted.tsv, such as a guaranteed one.")
    count: int | None = option(None, "How many answers to ask for. [default: 100; of a session, what it takes]")
    within: float = option(0.05, "Know the share of true triples to plus or minus this.")
    target: float | None = option(None, "Certify this share of true triples instead, such as 0.9.")
    level: float = 0.9
    seed: int = 0

    def __post_init__(self) -> None:
        if self.count is not None and self.count < 1:
            raise OptionError(f"{self.count} answers audit nothing; ask for at least 1.")
        _ = self.rule  # refuses what cannot be shown

    @property
    def rule(self) -> StoppingRule:
        """When the audit has answers enough."""
        from actc.decide.audit import StoppingRule

        return StoppingRule(self.within, self.target, self.level)
