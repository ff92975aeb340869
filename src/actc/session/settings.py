"""What a session was started with: one object, written once into its database."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import NoneType
from typing import Any

from actc.decide.audit import StoppingRule
from actc.decide.list_test import Demand
from actc.errors import ChoiceError, FileError, OptionError, check_choice

WHEN_REASONS = ("after", "beside", "never")
MOST_GUIDELINES = 20_000
"""More is a book; the page shows them in one box."""
_KINDS: dict[Any, Any] = {
    "int": int, "str": str, "bool": bool, "float": (int, float), "float | None": (int, float, NoneType)
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """The choices that hold for a whole session.

    Parameters
    ----------
    method : str
        Which method selects, estimates and cuts; see ``actc methods``.
    budget : int
        How many triples to judge; the owner may change it later.
    overlap : float
        The share of triples that two annotators judge.
    show_score : bool
        Whether cards show what the model thinks. It sways people, so it is off unless asked for.
    seed : int
        Where random choices start from.
    title : str
        What the pages call the session.
    guidelines : str
        What annotators should know before they judge, as Markdown.
    triples, relations : int
        The size of the pool.
    graph_scored : bool
        Whether the known triples have scores that the method may use.
    reasons : {"after", "beside", "never"}
        When people see what the graph says for and against a triple, where that is known: after they answered, so that
        it does not sway them; on the card; or not at all.
    link : str
        The address of an entity, with ``{id}`` in it, where ids are no addresses themselves; empty for Wikidata's.
    within : float, optional
        Of an audit, to plus or minus how much the share of true triples is to be known; None where the session is none.
    target : float, optional
        Of an audit, the share of true triples to certify instead.
    level : float
        Of an audit, how sure its bounds are.
    candidates : int
        How many candidates there are in all, where the triples that may be asked about are only some; else 0.
    precision : float, optional
        The precision to guarantee of what is accepted beyond people's answers: questions serve it.
    confidence : float
        With which confidence.
    doubted : int
        How many of the triples, the last ones, are facts of the graph: wrong ones are sought among them, and the score
        is the log-odds of being wrong, see ``sought.py``.
    """

    method: str = "pooled"
    budget: int = 100
    overlap: float = 0.0
    show_score: bool = False
    seed: int = 0
    title: str = "Triples"
    guidelines: str = ""
    triples: int = 0
    relations: int = 0
    graph_scored: bool = False
    reasons: str = "after"
    link: str = ""
    within: float | None = None
    target: float | None = None
    level: float = 0.9
    candidates: int = 0
    precision: float | None = None
    confidence: float = 0.9
    doubted: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not (isinstance(value, _KINDS[field.type]) and (field.type == "bool") == isinstance(value, bool)):
                raise OptionError(f"{field.name} is of the kind {field.type}, not {value!r}.")
        if self.budget < 1:
            raise OptionError(f"The budget must be at least 1, not {self.budget}.")
        if self.seed < 0:
            raise OptionError(f"The seed must be at least 0, not {self.seed}.")
        if not 0 <= self.overlap <= 1:
            raise OptionError(f"overlap is a share between 0 and 1, not {self.overlap}.")
        if self.precision is not None:
            Demand(self.precision, self.confidence)  # refuses what cannot be guaranteed
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

    def to_json(self) -> str:
        """Return the settings as the database keeps them."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, content: str, path: Path) -> Settings:
        """Read settings back, or say in one sentence why those of a file cannot be read."""
        try:
            given = json.loads(content)
            found = cls(**{field.name: given[field.name] for field in fields(cls)})
            if not 0 <= found.doubted <= found.triples:
                raise OptionError(f"{found.doubted} of {found.triples} triples are facts")
            return found
        except (ValueError, TypeError, KeyError, OptionError, ChoiceError) as error:
            raise FileError(f"{path}: the settings are damaged ({str(error).rstrip('.')}).") from None
