"""Secret links: one per annotator and one for the owner, made from the session's own secret.

A link's token is the annotator's number and a keyed hash of the name it stands for, and of how often it was made anew.
So links stay the same over restarts, and nothing about them needs to be stored beside the secret and that count.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass
from pathlib import Path

from actc.data.files import ordinary
from actc.errors import FileError
from actc.session import Annotator, Session

JUDGE_COOKIE, OWNER_COOKIE = "judge", "owner"


@dataclass(frozen=True)
class Links:
    """Tokens of a session.

    Parameters
    ----------
    secret : bytes
        The session's secret.
    root : str
        What every path begins with, where the session's pages are part of others.
    """

    secret: bytes
    root: str = ""

    @classmethod
    def of(cls, folder: Path, root: str = "") -> Links:
        """Read the secret of a session folder."""
        try:
            secret = ordinary(folder / "secret").read_bytes()
        except OSError:
            raise FileError(f"{folder / 'secret'}: the file cannot be read; the session is incomplete.") from None
        if len(secret) < 32:
            raise FileError(f"{folder / 'secret'}: the file is too short; the session is damaged.")
        return cls(secret, root)

    def token(self, annotator: Annotator) -> str:
        """Return the secret part of an annotator's link."""
        # No name holds a line break, so nobody's first link is another's later one.
        later = f"\n{annotator.link}" if annotator.link else ""
        return f"{annotator.id}-{self._sign(f'{annotator.kind}:{annotator.name}{later}')}"

    def path(self, annotator: Annotator) -> str:
        """Return the path of an annotator's link."""
        return f"{self.root}/{'o' if annotator.kind == 'owner' else 'j'}/{self.token(annotator)}"

    @property
    def place(self) -> str:
        """Where the pages are that a link leads to: a cookie of a path that nobody can guess goes to no other port."""
        return f"{self.root}/{self._sign('place')}"

    def cookie(self, role: str) -> str:
        """Return the name of a cookie."""
        return f"actc_{self._sign('cookie')[:8].replace('-', 'x').replace('_', 'y')}_{role}"

    def find(self, session: Session, token: str, *kinds: str) -> Annotator | None:
        """Return whose token it is, of some kinds, if it still is: the link may be void, or made anew."""
        number = re.match("[0-9]{1,9}-", token)
        for annotator in session.annotators(int(number[0][:-1])) if number else []:
            same = hmac.compare_digest(self.token(annotator).encode(), token.encode("utf-8", "replace"))
            if same and annotator.kind in kinds and annotator.link >= 0:
                return annotator
        return None

    def _sign(self, text: str) -> str:
        digest = hmac.new(self.secret, text.encode(), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest[:24]).decode()
