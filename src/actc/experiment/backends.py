"""Where experiments run: processes of this machine, or the workers of a Dask or Ray cluster, through joblib."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from actc.errors import ActcError, ChoiceError, MissingExtraError, OptionError

FEWEST_CALLS = 4  # starting a process takes longer than a share of an experiment
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # from glibc's malloc.h
Result = TypeVar("Result")


@dataclass(frozen=True)
class Workers:
    """Where an experiment runs: ``use_backend`` says what each field means."""

    jobs: int = 1
    backend: str = "loky"
    address: str | None = None

    def work_here(self, calls: int) -> bool:
        """Say whether this process is enough."""
        return (self.jobs == 1 or calls < FEWEST_CALLS) and self.backend == "loky" and self.address is None


def run_everywhere(
    function: Callable[..., Result], calls: Sequence[tuple[Any, ...]], workers: Workers, *, fresh: bool
) -> Iterator[Result]:
    """Call a function with each tuple of arguments, in this process or in others; yield what it returns, in order.

    Parameters
    ----------
    function : callable
    calls : sequence of tuple
        Its arguments, call by call.
    workers : Workers
    fresh : bool
        Whether this machine's processes are new and end with the calls. joblib keeps them for later otherwise, with all
        that they loaded, and with the environment they began in.
    """
    if workers.work_here(len(calls)):
        yield from (function(*call) for call in calls)
        return
    from joblib import delayed

    fresh = fresh and workers.backend == "loky"
    if fresh:
        _end_kept_processes()
    with use_backend(workers.backend, workers.jobs, workers.address) as parallel:
        yield from parallel(delayed(_call_in_process)(function, call) for call in calls)
    if fresh:
        _end_kept_processes()


def _end_kept_processes() -> None:
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)


def _call_in_process(function: Callable[..., Result], call: tuple[Any, ...]) -> Result:
    keep_freed_memory()
    return function(*call)


@cache
def keep_freed_memory() -> None:
    """Let this process keep the memory of arrays it is done with.

    By default glibc gives every large array back to the system, which hands it out again filled with zeros; for
    the many temporary arrays of an experiment that was a third of the time. Other systems are left as they are.
    """
    try:
        adjust = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    adjust(M_MMAP_THRESHOLD, 32 << 20)
    adjust(M_TRIM_THRESHOLD, 256 << 20)


@contextmanager
def use_backend(name: str, jobs: int, address: str | None = None) -> Iterator[Any]:
    """Give a ``joblib.Parallel`` that runs on a backend.

    Parameters
    ----------
    name : str
        A name in ``BACKENDS``.
    jobs : int
        Processes on this machine; a cluster has as many as it has.
    address : str, optional
        The cluster's scheduler, such as ``tcp://host:8786``; without it one is started here, with ``jobs`` workers.
    """
    if name not in BACKENDS:
        raise ChoiceError("backend", name, BACKENDS)
    with BACKENDS[name](jobs, address) as parallel:
        yield parallel


@contextmanager
def use_processes(jobs: int, address: str | None) -> Iterator[Any]:
    """Run in processes of this machine."""
    import joblib

    if address is not None:
        raise OptionError(f"The address {address} goes with a cluster: give --backend dask or --backend ray.")
    with _safe_path():
        yield joblib.Parallel(n_jobs=jobs, backend="loky", return_as="generator", batch_size=1)


@contextmanager
def _safe_path() -> Iterator[None]:
    """Let no process that is started meanwhile import from the working folder before it has this one's path."""
    before = os.environ.setdefault("PYTHONSAFEPATH", "actc")
    try:
        yield
    finally:
        if before == "actc":
            os.environ.pop("PYTHONSAFEPATH", None)


@contextmanager
def use_dask(jobs: int, address: str | None) -> Iterator[Any]:
    """Run on the workers of a Dask scheduler."""
    import joblib

    try:
        import distributed
    except ImportError:
        raise MissingExtraError("The backend dask", "dask.distributed", "dask") from None
    connect: Any = distributed.Client
    here = {"n_workers": joblib.effective_n_jobs(jobs), "threads_per_worker": 1, "dashboard_address": None}
    try:
        client = connect(address, timeout=10) if address else connect(**here)
    except (OSError, ValueError) as error:
        raise ActcError(f"There is no Dask scheduler at {address} ({str(error).splitlines()[0]}).") from None
    with client:
        if not client.nthreads():
            raise ActcError(f"The Dask scheduler at {address} has no workers; start some with: dask worker {address}")
        with joblib.parallel_config(backend="dask"):  # only so does joblib look for it outside itself
            yield joblib.Parallel(n_jobs=-1, return_as="generator", batch_size=1)


@contextmanager
def use_ray(jobs: int, address: str | None) -> Iterator[Any]:
    """Run on the workers of a Ray cluster."""
    import joblib

    try:
        import ray
        from ray.util.joblib import register_ray
    except ImportError:
        raise MissingExtraError("The backend ray", "ray", "ray") from None
    try:
        ray.init(address=address, num_cpus=None if address else joblib.effective_n_jobs(jobs))
    except (OSError, ValueError, RuntimeError) as error:
        raise ActcError(f"There is no Ray cluster at {address} ({str(error).splitlines()[0]}).") from None
    register_ray()
    try:
        yield joblib.Parallel(n_jobs=-1, backend="ray")  # which cannot return one result after the other
    finally:
        ray.shutdown()


BACKENDS: dict[str, Callable[[int, str | None], AbstractContextManager[Any]]] = {
    "loky": use_processes,
    "dask": use_dask,
    "ray": use_ray,
}
