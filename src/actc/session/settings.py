"""The settings of a session: written when it starts, and again with every change; the last value counts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import NoneType
from typing import Any

from actc.decide.audit import StoppingRule
from actc.decide.guarantee import TargetPrecision
from actc.errors import ActcError, FileError, OptionError, check_choice

WHEN_REASONS = ("after", "beside", "never")
MOST_GUIDELINES = 20_000
"""More is a book; the page shows them in one box."""
CHANGEABLE = ("budget", "paused", "overlap", "reasons", "title", "guidelines", "precision")
_KINDS: dict[Any, Any] = {
    "int": int, "str": str, "bool": bool, "float": (int, float), "float | None": (int, float, NoneType)
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """What holds for a whole session.

    Parameters
    ----------
    method : str
        Which method selects, estimates and cuts; see ``actc methods``.
    budget : int
        How many triples to judge.
    overlap : float
        The share of triples that two annotators judge.
    seed : int
        Where random choices start from.
    title : str
        The title of the pages.
    guidelines : str
        What annotators should know before they judge, as Markdown.
    triples : int
        The size of the pool.
    reasons : {"after", "beside", "never"}
        When people see reasons for and against a triple, where there are any: after they answered, so that reasons do
        not influence the answer; on the card; or not at all.
    link : str
        The address of an entity, with ``{id}`` in it, where ids are no addresses themselves; empty for Wikidata's.
    within : float, optional
        Of an audit, to plus or minus how much the share of true triples is to be known; None where the session is none.
    target : float, optional
        Of an audit, the share of true triples to certify instead.
    level : float
        Of an audit, the confidence of its bounds.
    candidates : int
        How many candidates there are in all, where the pool is a sample of them; else 0.
    precision : float, optional
        The precision to guarantee of what is accepted beyond people's answers: questions serve it.
    confidence : float
        The confidence of that guarantee.
    n_facts : int
        How many of the triples, the last ones, are facts of the graph: wrong ones are looked for among them, and the
        score is the log-odds of being wrong.
    paused : bool
        Whether nobody gets cards; answers are still stored.
    """

    method: str = "pooled"
    budget: int = 100
    overlap: float = 0.0
    seed: int = 0
    title: str = "Triples"
    guidelines: str = ""
    triples: int = 0
    reasons: str = "after"
    link: str = ""
    within: float | None = None
    target: float | None = None
    level: float = 0.9
    candidates: int = 0
    precision: float | None = None
    confidence: float = 0.9
    n_facts: int = 0
    paused: bool = False

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
        assert self.within is not None
        return StoppingRule(self.within, self.target, self.level)

    @property
    def target_precision(self) -> TargetPrecision | None:
        """The precision to guarantee, if there is one."""
        return None if self.precision is None else TargetPrecision(self.precision, self.confidence)

    def rows(self) -> list[tuple[str, str]]:
        """Return the settings as rows of the database."""
        return to_rows(asdict(self))

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


def to_rows(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return values as rows of the table ``setting``."""
    return [(name, json.dumps(value)) for name, value in values.items()]
