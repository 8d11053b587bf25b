"""Runs on a Dask cluster: a scheduler and its workers, each a process of its own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from distributed import Client

from skycell.experiment import cluster
from skycell.experiment.batch import Batch
from skycell.experiment.cluster import ClusterPool, versions
from skycell.experiment.pool import Outcome, PoolLostError, run_tasks
from skycell.experiment.store import RunStore
from skycell.experiment.sweep import sweep
from skycell.experiment.tasks import Work
from skycell.input.faults import ScenarioFaults
from tests.unit.experiment.test_pool import tasks

DASK = Path(sys.executable).with_name("dask")
DOUBLES = Path(__file__).with_name("doubles")

OTHER_VERSION = """
from skycell.experiment import cluster

cluster.version = lambda: "0.0.1+other"
"""


class Cluster:
    """A scheduler with its file, and what was started for it."""

    def __init__(self, folder: Path, started: ExitStack) -> None:
        self.folder, self.file = folder, folder / "scheduler.json"
        self._started = started
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0")
        while not self.file.exists():
            assert self.scheduler.poll() is None
            time.sleep(0.05)

    def worker(self, *options: str | Path) -> subprocess.Popen[bytes]:
        return self._start("worker", "--nthreads", "1", "--local-directory", self.folder, *options)

    def _start(self, what: str, *options: str | Path) -> subprocess.Popen[bytes]:
        # A batch that kills its worker is not tried on three others: each takes seconds to start.
        surroundings = {
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0",
            "PYTHONPATH": str(DOUBLES),
        }
        common = ("--scheduler-file", self.file, "--no-dashboard")
        with (self.folder / f"{what}.log").open("ab") as log:
            process = subprocess.Popen(
                [DASK, what, *common, *options], stderr=log, env={**os.environ, **surroundings}
            )
        self._started.callback(process.wait)
        self._started.callback(process.terminate)
        return process


@pytest.fixture(scope="module")
def started_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with ExitStack() as started:
        found = Cluster(tmp_path_factory.mktemp("dask"), started)
        found.worker("--nworkers", "2")
        yield found


@pytest.fixture
def two_workers(started_workers: Cluster) -> Cluster:
    """Both of them are there: one that a test has killed takes seconds to start again."""
    with Client(scheduler_file=started_workers.file, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
    return started_workers


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler without workers."""
    with ExitStack() as started:
        yield Cluster(tmp_path, started)


def run(names: Sequence[str], place: Cluster, double: Work) -> dict[str, Outcome]:
    ended: dict[str, Outcome] = {}

    def note(outcomes: Sequence[Outcome]) -> None:
        for outcome in outcomes:
            assert outcome.task.name not in ended, "reported twice"
            ended[outcome.task.name] = outcome

    with ClusterPool(place.file, double) as pool:
        run_tasks(tasks(*names), len(names), pool, note)
    return ended


def test_a_sweep_gives_to_the_octet_what_one_process_gives(
    two_workers: Cluster, tmp_path: Path
) -> None:
    data = {
        "scenario": {"preset": "icccn97-lan", "run": {"duration": "20 ms"}},
        "factors": {"tcp": {"key": "tcp.recovery", "levels": ["reno", "sack"]}},
        "replications": 20,
    }
    done: list[int] = []
    with RunStore(tmp_path / "runs.sqlite") as store:
        found = sweep(
            data,
            scheduler=two_workers.file,
            store=store,
            on_progress=lambda progress: done.append(progress.runs_done),
        )
        assert len(store) == 40
        again = sweep(data, scheduler="tcp://127.0.0.1:1", store=store)  # nothing is to be made
    assert found.to_json() == again.to_json() == sweep(data, jobs=1).to_json()
    assert again.from_store == 40
    assert done == sorted(done)
    assert done[-1] == 40


def test_runs_that_raise_or_kill_their_worker_have_failed_and_take_no_other_with_them(
    two_workers: Cluster, double: Work
) -> None:
    names = ["raises:this", *(f"takes:0.01:{i}" for i in range(40)), "dies:", "quick:1"]
    ended = run(names, two_workers, double)
    assert sorted(ended) == sorted(names)
    assert {name: end.reason for name, end in ended.items() if end.reason} == {
        "raises:this": "ValueError: cannot run this",
        "dies:": "its worker process died, and died again when the run was tried alone",
    }


def test_a_worker_that_dies_costs_no_run(
    two_workers: Cluster, double: Work, tmp_path: Path
) -> None:
    # Only one dies: a second one that waits for the same worker would not have begun by then, and
    # die for the first time where it is tried alone.
    once = f"dies once:{tmp_path / 'died'}"
    ended = run([once, "quick:1", "quick:2"], two_workers, double)
    assert [end.reason for end in ended.values()] == [None] * 3
    assert (tmp_path / "died").exists()


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT as a terminal does")
def test_an_interrupt_ends_within_a_second_and_frees_the_workers(
    two_workers: Cluster, double: Work
) -> None:
    ended: list[str] = []
    sent: list[float] = []
    shown_ps: list[int] = []

    def note(outcomes: Sequence[Outcome]) -> None:
        ended.extend(end.task.name for end in outcomes)

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    def watch(under_way: object) -> None:
        assert isinstance(under_way, dict)
        shown_ps.append(sum(under_way.values()))
        if shown_ps[-1] > 0 and "quick:1" in ended and not sent:
            interrupt()

    todo = tasks("quick:1", "slow:1", "slow:2", duration_ps=10**12)
    with pytest.raises(KeyboardInterrupt), ClusterPool(two_workers.file, double) as pool:
        run_tasks(todo, 3, pool, note, on_under_way=watch)
    assert time.monotonic() - sent[0] < 4  # of the 10 s that a slow one takes
    assert ended == ["quick:1"]
    # Workers that went on with the slow ones would have no time for this.
    assert list(run(["quick:2"], two_workers, double)) == ["quick:2"]
    assert time.monotonic() - sent[0] < 8


def test_every_part_with_other_versions_is_a_fault(
    two_workers: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = ", ".join(f"{name} {number}" for name, number in versions().items())
    monkeypatch.setattr(cluster, "version", lambda: "0.0.1+other")
    with pytest.raises(ScenarioFaults) as raised:
        ClusterPool(two_workers.file)
    faults = raised.value.faults
    assert [fault.file.partition(":")[0] for fault in faults] == ["tcp", "tcp", "the scheduler"]
    assert {fault.got for fault in faults} == {there}
    assert all(fault.allowed.startswith("skycell 0.0.1+other, Python ") for fault in faults)


def test_a_worker_of_another_version_that_joins_later_is_a_fault(
    alone: Cluster, double: Work
) -> None:
    script = alone.folder / "other.py"
    script.write_text(OTHER_VERSION)
    with ClusterPool(alone.file, double) as pool:
        assert pool.slots == 1
        alone.worker("--preload", script)
        with pytest.raises(ScenarioFaults) as raised:
            run_tasks(tasks("quick:1"), 1, pool, print)
    (fault,) = raised.value.faults
    assert fault.file.startswith("tcp://")
    assert fault.got.startswith("skycell 0.0.1+other, Python ")


def test_a_scheduler_that_is_lost_ends_the_call_with_what_is_kept(
    alone: Cluster, double: Work
) -> None:
    alone.worker()
    ended: list[str] = []

    def note(outcomes: Sequence[Outcome]) -> None:
        ended.extend(end.task.name for end in outcomes)
        alone.scheduler.kill()

    with (
        pytest.raises(PoolLostError, match=r"scheduler.json is gone; the runs that are finished"),
        ClusterPool(alone.file, double) as pool,
    ):
        run_tasks(tasks("quick:1", "slow:1", "slow:2"), 3, pool, note)
    assert ended == ["quick:1"]


def _no_file(folder: Path) -> str | Path:
    return folder / "none.json"


def _no_scheduler(folder: Path) -> str | Path:
    return "tcp://127.0.0.1:1"


def _no_address(folder: Path) -> str | Path:
    file = folder / "other.json"
    file.write_text("{}")
    return file


@pytest.mark.parametrize("place_in", [_no_file, _no_scheduler, _no_address])
def test_where_no_scheduler_is_a_fault_says_so(
    place_in: Callable[[Path], str | Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_PATIENCE_S", 1.0)
    place = place_in(tmp_path)
    with pytest.raises(ScenarioFaults) as raised:
        ClusterPool(place)
    (fault,) = raised.value.faults
    assert fault.file == str(place)
    assert fault.got.startswith("no scheduler: ")


def test_processes_here_and_workers_elsewhere_are_not_both_given() -> None:
    with Batch() as batch, pytest.raises(ValueError, match="give one of both"):
        batch.make([], jobs=1, scheduler="tcp://127.0.0.1:1")


def test_without_the_extra_a_fault_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ScenarioFaults) as raised:
        ClusterPool("tcp://127.0.0.1:1")
    assert 'an install of "skycell[cluster]"' in str(raised.value)
