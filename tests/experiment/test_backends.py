"""Experiments on a cluster: the same rows as on this machine, and never silently in one process."""

from __future__ import annotations

import sys

import distributed
import pytest

from actc.errors import ActcError, ChoiceError, MissingExtraError, OptionError
from actc.experiment.backends import use_backend
from actc.experiment.cells import Cell, CellFolder
from actc.experiment.runs import run_experiment
from tests.conftest import make_pool
from tests.toy_scores import write_toy_scores

METHODS = ["actc-lr-rndm", "localopt-acc"]


@pytest.fixture
def cell():
    (valid, valid_labels), (test, test_labels) = make_pool(seed=1), make_pool(seed=2)
    return Cell("tiny", "model", valid, valid_labels, test, test_labels)


def measure(cell, **options):
    rows = run_experiment([cell], METHODS, budgets=[1, 5, 20], repeats=12, **options)
    return [row._replace(seconds=0.0) for row in rows]


@pytest.mark.filterwarnings("ignore")  # of Dask, about itself
@pytest.mark.long
def test_dask_gives_the_rows_of_this_machine_from_processes_of_its_own(cell):
    local = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with local as cluster, distributed.Client(cluster) as client:
        before = client.run(lambda dask_worker: dask_worker.state.transition_counter)
        remote = measure(cell, jobs=2, backend="dask", address=cluster.scheduler_address)
        after = client.run(lambda dask_worker: dask_worker.state.transition_counter)
    assert remote == measure(cell)
    assert all(after[worker] > before[worker] for worker in before)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.long
def test_dask_starts_a_cluster_here_when_no_address_is_given(cell):
    assert measure(cell, jobs=2, backend="dask") == measure(cell)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.long
def test_ray_gives_the_rows_of_this_machine(cell):
    assert measure(cell, jobs=2, backend="ray") == measure(cell)


def test_processes_of_this_machine_give_the_same_rows(cell):
    assert measure(cell, jobs=2) == measure(cell)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.long
def test_a_scheduler_that_is_not_there_is_named(cell):
    with pytest.raises(ActcError, match="There is no Dask scheduler at tcp://127.0.0.1:1"):
        measure(cell, backend="dask", address="tcp://127.0.0.1:1")


@pytest.mark.parametrize(("backend", "module"), [("dask", "distributed"), ("ray", "ray")])
def test_a_backend_that_is_not_installed_is_refused(cell, backend, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)  # which is how Python remembers that it cannot be imported
    with pytest.raises(MissingExtraError, match=rf"pip install 'actc\[{backend}\]'"):
        measure(cell, backend=backend)


def test_an_unknown_backend_is_named(cell):
    with pytest.raises(ChoiceError, match="No backend is called 'dsak'"):
        measure(cell, backend="dsak")


def test_an_address_needs_a_cluster():
    with pytest.raises(OptionError, match="goes with a cluster"), use_backend("loky", 2, "tcp://host:1"):
        pass


@pytest.mark.filterwarnings("ignore")
@pytest.mark.long
def test_dask_reads_folders_itself(tmp_path):
    folder = CellFolder(write_toy_scores(tmp_path, [("codex-s", "toy")]) / "scores" / "codex-s" / "toy")
    assert measure(folder, jobs=2, backend="dask") == measure(folder)
