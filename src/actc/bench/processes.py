"""Where experiments run: in this process, or in several processes of this machine, through joblib."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from actc.errors import OptionError

FEWEST_CALLS = 4  # starting a process takes longer than a chunk of an experiment
MOST_PROCESSES = 256
Result = TypeVar("Result")

# A process that starts must not import from the working folder before it has this one's path. And it keeps the memory
# of arrays it is done with: by default glibc gives every large one back to the system, which hands it out again filled
# with zeros; for the many temporary arrays of an experiment that was a third of the time.
ENVIRONMENT = {
    "PYTHONSAFEPATH": "actc",
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
}


def run_everywhere(
    function: Callable[..., Result], calls: Sequence[tuple[Any, ...]], jobs: int, *, fresh: bool
) -> Iterator[Result]:
    """Call a function with each tuple of arguments, in this process or in others; yield what it returns, in order.

    Parameters
    ----------
    function : callable
    calls : sequence of tuple
        Its arguments, call by call.
    jobs : int
        Processes, at most ``MOST_PROCESSES``; -1 for every core.
    fresh : bool
        Whether the processes are new and end with the calls. joblib keeps them for later otherwise, with all that they
        loaded, and with the environment they began in.
    """
    if not jobs:
        raise OptionError("--jobs: 0 processes do nothing; give 1 or more, or -1 for every core.")
    if jobs == 1 or len(calls) < FEWEST_CALLS:
        yield from (function(*call) for call in calls)
        return
    import joblib

    if fresh:
        _end_kept_processes()
    with _environment():
        parallel = joblib.Parallel(
            n_jobs=min(jobs, MOST_PROCESSES), backend="loky", return_as="generator", batch_size=1
        )
        yield from parallel(joblib.delayed(function)(*call) for call in calls)
    if fresh:
        _end_kept_processes()


def _end_kept_processes() -> None:
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)


@contextmanager
def _environment() -> Iterator[None]:
    """Give processes that are started meanwhile the environment they need; what the user set stays."""
    added = {name: value for name, value in ENVIRONMENT.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
