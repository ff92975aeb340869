"""An annotation session on disk: people judge, their answers are stored, and the method is refitted beside them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from actc.session.lease_queue import Annotator, Judgement, Task
    from actc.session.session import OWNER, Session
    from actc.session.start import start_session

__all__ = ["OWNER", "Annotator", "Judgement", "Session", "Task", "start_session"]

_MODULES = dict.fromkeys(("Annotator", "Judgement", "Task"), "lease_queue") | {"start_session": "start"}


def __getattr__(name: str) -> Any:
    """Import on first use: the options of commands are read from here, and a help text shall not wait for numpy."""
    if name in __all__:
        return getattr(import_module(f"actc.session.{_MODULES.get(name, 'session')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
