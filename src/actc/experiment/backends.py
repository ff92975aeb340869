"""Where experiments run: processes of this machine, or the workers of a Dask or Ray cluster, through joblib."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from actc.errors import ActcError, ChoiceError, MissingExtraError, OptionError


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
    yield joblib.Parallel(n_jobs=jobs, backend="loky", return_as="generator", batch_size=1)


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
