"""What is looked for, in words: missing facts, which are accepted, or wrong facts, which are taken out.

Pages, reports and the terminal take their words from here, so that none of them calls a wrong fact true.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """How to describe what is decided.

    Parameters
    ----------
    things : str
        What is decided about.
    true : str
        The property that is looked for.
    accepted, rejected : str
        What becomes of triples with that property, and of the others.
    accept, reject : str
        What is done with them.
    accepted_facts : str
        The accepted ones.
    file : str
        The name of the file with them.
    """

    things: str
    true: str
    accepted: str
    rejected: str
    accept: str
    reject: str
    accepted_facts: str
    file: str

    @property
    def quantities(self) -> dict[str, tuple[str, str]]:
        """The name of each quantity of a report, and what the share is of."""
        return {
            "precision": ("Precision", f"of the {self.accepted_facts} are {self.true}"),
            "recall": ("Recall", f"of the {self.true} {self.things} are {self.accepted}"),
            "accuracy": ("Accuracy", "of all decisions are right"),
            "f1": ("F1", "harmonic mean of precision and recall"),
            "true_share": (f"{self.true.capitalize()} {self.things}", f"of all {self.things} are {self.true}"),
        }


MISSING_FACTS = Goal("candidates", "true", "accepted", "rejected", "accept", "reject", "accepted facts", "accepted.tsv")
WRONG_FACTS = Goal("facts", "wrong", "taken out", "kept", "take out", "keep", "facts taken out", "taken-out.tsv")
