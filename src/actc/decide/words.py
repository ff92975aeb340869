"""What is sought, in words: true candidates, which are accepted, or wrong facts, which are taken out.

Pages, reports and the terminal ask here, so that none of them calls a wrong fact true.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sought:
    """How to speak of what is decided.

    Parameters
    ----------
    things : str
        What is decided about.
    true : str
        What those are that are sought.
    accepted, rejected : str
        What becomes of those that are found, and of the others.
    accept, reject : str
        What is done with them.
    found, ones : str
        Those that are found, by name and in short.
    file : str
        The name of the file with them.
    """

    things: str
    true: str
    accepted: str
    rejected: str
    accept: str
    reject: str
    found: str
    ones: str
    file: str

    @property
    def quantities(self) -> dict[str, str]:
        """What each share says about."""
        return {
            "precision": f"of {self.ones} are {self.true}",
            "recall": f"of the {self.true} ones are {self.accepted}",
            "accuracy": "of all decisions are right",
            "f1": "F1",
        }


CANDIDATES = Sought(
    "candidates", "true", "accepted", "rejected", "accept", "reject", "accepted triples", "the accepted", "accepted.tsv"
)
WRONG_FACTS = Sought(
    "facts", "wrong", "taken out", "kept", "take out", "keep", "facts taken out", "those taken out", "taken-out.tsv"
)
