"""An annotation session on disk: people are asked, their answers kept, and the method refitted beside them."""

from actc.session.ask import Annotator, Task
from actc.session.record import Judgement, Recorded
from actc.session.session import OWNER, Session, start_session
from actc.session.settings import Settings

__all__ = ["OWNER", "Annotator", "Judgement", "Recorded", "Session", "Settings", "Task", "start_session"]
