"""Where a store is, and who asks: ``sparql:http://host/query``, ``kuzu:folder``, ``neo4j:bolt://host``.

Passwords and keys come from environment variables. They go into requests, and nowhere else: into no file, no error.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from actc.errors import ChoiceError, OptionError

KINDS = {"sparql": ("http", "https"), "neo4j": ("bolt", "bolt+s", "neo4j", "neo4j+s"), "kuzu": ()}
"""The kinds of stores, and the schemes of their addresses; Kùzu is a folder or a file."""


def is_store(text: str) -> bool:
    """Say whether a text names a store, not a file."""
    return text.partition(":")[0] in KINDS and ":" in text


@dataclass(frozen=True)
class Store:
    """A store, and who asks it.

    Parameters
    ----------
    kind : str
        A name in ``KINDS``.
    place : str
        Its address without the kind.
    key : str
        A bearer token; empty for none.
    user, password : str
        Sent when the server asks for them, by digest where it can; empty for none.
    """

    kind: str
    place: str
    key: str = field(default="", repr=False)
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @classmethod
    def of(cls, text: str, key_from: str | None = None, user_from: str | None = None) -> Store:
        """Read an address, and the environment variables that hold a key, or a user and a password.

        Parameters
        ----------
        text : str
            ``sparql:http://host/query``, ``kuzu:folder`` or ``neo4j:bolt://host``.
        key_from, user_from : str, optional
            Names of variables: of a bearer token; of ``user:password``.
        """
        kind, _, place = text.partition(":")
        if kind not in KINDS or not place:
            raise ChoiceError("kind of store", kind, KINDS)
        try:
            parts = urlsplit(place)
        except ValueError:  # a bracket that is not closed
            parts = urlsplit("")
        if KINDS[kind] and (parts.scheme not in KINDS[kind] or not parts.hostname):
            raise OptionError(f"{text!r} is no address of a store such as {kind}:{KINDS[kind][0]}://host/query.")
        if KINDS[kind] and "@" in parts.netloc:
            raise OptionError(f"The address of the {kind} store has a password in it; give it with --user-from.")
        user, colon, password = read_variable("--user-from", user_from).partition(":")
        if user_from is not None and not colon:
            raise OptionError(f"--user-from: the variable {user_from} must hold user:password.")
        return cls(kind, place, read_variable("--key-from", key_from), user, password)

    def __str__(self) -> str:
        """Return the address, as it was given."""
        return f"{self.kind}:{self.place}"

    def with_secrets_of(self, other: Store) -> Store:
        """Return the same place for the one who asks another; not if it is another host's."""
        if urlsplit(self.place).hostname != urlsplit(other.place).hostname:
            return self
        return replace(self, key=other.key, user=other.user, password=other.password)

    def hush(self, text: str) -> str:
        """Take keys and passwords out of what a server says."""
        for secret in (self.key, self.password):
            text = text.replace(secret, "(secret)") if secret else text
        return text


def read_variable(option: str, name: str | None) -> str:
    """Return what an environment variable holds; empty without a name."""
    if name is None:
        return ""
    value = os.environ.get(name, "").strip()
    if not value:
        raise OptionError(f"{option}: the environment variable {name} is not set, or empty.")
    if not value.isascii() or not value.isprintable():
        raise OptionError(f"{option}: what the environment variable {name} holds cannot be sent: it is no plain ASCII.")
    return value
