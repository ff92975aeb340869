"""An annotation session on disk: people are asked, their answers are stored, and the method is refitted beside them."""

from actc.session.lease_queue import Annotator, Task
from actc.session.record import Judgement
from actc.session.session import OWNER, Session
from actc.session.start import start_session

__all__ = ["OWNER", "Annotator", "Judgement", "Session", "Task", "start_session"]
