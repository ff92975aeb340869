"""Where a SPARQL store is, and who asks: ``sparql:http://host/query``.

Passwords and keys come from environment variables. They go into requests, and nowhere else: into no file, no error.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from actc.errors import OptionError

SPARQL = "sparql:"


def is_store(text: str) -> bool:
    """Say whether a text names a store, not a file."""
    return text.startswith(SPARQL)


@dataclass(frozen=True)
class Store:
    """A store, and who asks it.

    Parameters
    ----------
    place : str
        Its address without ``sparql:``.
    key : str
        A bearer token; empty for none.
    user, password : str
        Sent when the server asks for them, by digest where it can; empty for none.
    """

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
            ``sparql:http://host/query``.
        key_from, user_from : str, optional
            Names of variables: of a bearer token; of ``user:password``.
        """
        place = text.removeprefix(SPARQL)
        try:
            parts = urlsplit(place)
        except ValueError:  # a bracket that is not closed
            parts = urlsplit("")
        if "@" in parts.netloc:
            raise OptionError("The address of the store has a password in it; give it with --user-from.")
        if not is_store(text) or parts.scheme not in ("http", "https") or not parts.hostname:
            raise OptionError(f"{text!r} is no address of a store such as sparql:http://host/query.")
        user, colon, password = read_variable("--user-from", user_from).partition(":")
        if user_from is not None and not colon:
            raise OptionError(f"--user-from: the variable {user_from} must hold user:password.")
        return cls(place, read_variable("--key-from", key_from), user, password)

    def __str__(self) -> str:
        """Return the address, as it was given."""
        return f"{SPARQL}{self.place}"

    def with_secrets_of(self, other: Store) -> Store:
        """Return the same place for the one who asks another; not if it is another host's."""
        if urlsplit(self.place).hostname != urlsplit(other.place).hostname:
            return self
        return replace(self, key=other.key, user=other.user, password=other.password)

    def quote_reply(self, text: str) -> str:
        """Return a server's text for a message; none of a server that gets a secret, which it may repeat."""
        return "(its text is not shown: it may have the key or the password in it)" if self.key or self.user else text


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
