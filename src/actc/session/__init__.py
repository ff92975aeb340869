"""An annotation session on disk: people are asked, their answers kept, and the method refitted beside them."""

from actc.session.ask import Annotator, Task
from actc.session.record import Judgement, Recorded
from actc.session.session import OWNER, Session
from actc.session.settings import Settings
from actc.session.start import start_session

__all__ = ["OWNER", "Annotator", "Judgement", "Recorded", "Session", "Settings", "Task", "start_session"]
