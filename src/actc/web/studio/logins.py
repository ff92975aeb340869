"""Who asks a store: what people typed, in the server's memory until it ends, and written nowhere.

A run gets it as an environment variable that its command line names, and only if its store is the one that it was given
for. Where the studio itself was started with such a variable, its runs have that.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from actc.errors import OptionError
from actc.web.studio.project import Project, check_store

LOGINS = {"user": ("--user-from", "ACTC_STORE_USER"), "key": ("--key-from", "ACTC_STORE_KEY")}
"""How one may log in: with which option, and by which environment variable."""
HOLDS = {"user": "user:password", "key": "the key"}


def login_words(login: str) -> list[str]:
    """Return the words of a command line that name the variable; none where nobody in particular asks."""
    return list(LOGINS[login]) if login else []


def say_variable(project: Project) -> list[str]:
    """Return a line of the shell that stops where the variable of a project's command lines is not set."""
    chosen = project.options
    if not chosen.login or not chosen.store:
        return []
    return [f': "${{{LOGINS[chosen.login][1]}:?must hold {HOLDS[chosen.login]}}}"']


class Logins:
    """What was typed, by the store's host and by how one logs in."""

    def __init__(self) -> None:
        self._typed: dict[tuple[str, str], str] = {}

    def keep(self, address: str, login: str, secret: str) -> None:
        """Keep what was typed for a store, in the place of what was typed before; an empty text forgets it."""
        place = _host(address)
        self._typed.pop((place, login), None)
        if secret:
            if not secret.isascii() or not secret.isprintable():
                raise OptionError("This cannot be sent to a store: passwords and keys are plain ASCII there.")
            if login == "user" and not all(secret.partition(":")[::2]):
                raise OptionError("Give both a user and a password; a user's name has no colon in it.")
            self._typed[place, login] = secret

    def has(self, address: str, login: str) -> bool:
        """Say whether a run would have what it needs to ask a store."""
        return not login or bool(self._find(address, login))

    def environment(self, commands: Sequence[Sequence[str]]) -> dict[str, str]:
        """Return the variables that command lines name, as far as they are known."""
        found = {}
        for words in commands:
            address = next((word for word in words if word.startswith("sparql:")), None)
            for login, (option, variable) in LOGINS.items():
                if address is not None and option in words and (secret := self._find(address, login)):
                    found[variable] = secret
        return found

    def check(self, commands: Sequence[Sequence[str]]) -> None:
        """Refuse command lines that need what is not known."""
        known = self.environment(commands)
        for words in commands:
            for option, variable in LOGINS.values():
                if option in words and variable not in known:
                    raise OptionError(
                        "The studio does not know how to log in to this store, or not any more: it keeps passwords and "
                        "keys only in memory, until it ends. Give them again below the store's address."
                    )

    def _find(self, address: str, login: str) -> str:
        typed = self._typed.get((_host(address), login), "")
        return typed or os.environ.get(LOGINS[login][1], "").strip()


def _host(address: str) -> str:
    """Return the host that is asked: what was typed goes to no other, whatever is made of the address later."""
    check_store(address, "query")
    scheme, _, place = address.removeprefix("sparql:").partition("://")
    return f"{scheme}://{place.partition('/')[0].lower()}"
