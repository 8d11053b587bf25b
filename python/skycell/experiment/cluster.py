"""Runs on a Dask cluster: https://distributed.dask.org, the extra `cluster`.

A scheduler hands batches to workers, which send summaries back; the store is written by the one
process that asked for the runs. Every part needs the same skycell, Python and `distributed`, which
is compared before the first run and again by each worker, since some join later.
"""

from __future__ import annotations

import json
import logging
import pickle
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from importlib.metadata import version as version_of
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from skycell.experiment.pool import PoolLostError
from skycell.experiment.tasks import Report, Task, Work, make_batch, simulate
from skycell.input.faults import Fault, ScenarioFaults
from skycell.version import version

if TYPE_CHECKING:
    from distributed import Client, Worker

Scheduler = str | PathLike[str]
"""Where a scheduler is: an address such as `tcp://host:8786`, or the file that it has written."""

_AHEAD = 2
"""Batches for each thread of the workers, so that none waits for the way of the next."""
_LOOK_EVERY_S = 0.5
"""Wall time after which a worker says how far a run is, and the number of workers is asked for."""
_PATIENCE_S = 10.0
"""Wall time that a scheduler is waited for."""
_MEANING = "where the runs of `--scheduler` are made"


class ClusterPool:
    """The workers of a Dask scheduler; a `Pool`."""

    cores = 1
    batch_s = 1.0

    def __init__(self, scheduler: Scheduler, work: Work = simulate) -> None:
        """Connects, and compares the versions of what is there by now.

        Args:
            scheduler: where it is.
            work: what a worker does; a function at the top of a module that workers have.

        Raises:
            ScenarioFaults: `distributed` is not installed, the scheduler cannot be reached, or the
                versions of a part are not this process's.
        """
        self.name = f"the scheduler at {scheduler}"
        self._client = _connected(scheduler)
        try:
            _refuse_other_versions(self._client)
        except BaseException:
            self._client.close()
            raise
        self._executor = self._client.get_executor(pure=False)
        self._topic = f"skycell-{uuid4().hex}"
        self._client.subscribe_topic(self._topic, self._note_progress)
        self._call = (versions(), self._topic, work, self.batch_s)
        self._under_way: dict[str, int] = {}
        self._slots, self._asked_at = 0, -1e9

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._client.close(timeout=_LOOK_EVERY_S)

    @property
    def slots(self) -> int:
        """Batches to hand over at a time: by the threads of the workers, as they come and go."""
        now = time.monotonic()
        if now - self._asked_at > _LOOK_EVERY_S:
            try:
                threads = sum(self._client.nthreads().values())
            except (OSError, TimeoutError):
                raise PoolLostError(self.name) from None
            self._slots, self._asked_at = max(1, _AHEAD * threads), now
        return self._slots

    def submit(self, tasks: Sequence[Task]) -> Future[list[Report]]:
        """Hands a batch over; where the scheduler is gone, its future is cancelled."""
        for task in tasks:
            self._under_way[task.name] = 0
        # As octets: nobody on the way needs to look into it, and runs share the text of their spec.
        call = self._executor.submit(_make_batch, pickle.dumps((*self._call, list(tasks))))
        future: Future[list[Report]] = call
        future.add_done_callback(lambda _: self._forget(tasks))
        return future

    def _forget(self, tasks: Sequence[Task]) -> None:
        for task in tasks:
            self._under_way.pop(task.name, None)

    def _note_progress(self, event: tuple[float, tuple[str, int]]) -> None:
        name, simulated_ps = event[1]
        if name in self._under_way:  # else its end was faster
            self._under_way[name] = simulated_ps

    def is_death(self, error: BaseException) -> bool:
        """Whether workers died of it, one after another: the scheduler tries a batch again.

        Raises:
            ScenarioFaults: a worker cannot take runs at all.
        """
        from distributed import KilledWorker

        if isinstance(error, KilledWorker):
            return True
        if isinstance(error, ScenarioFaults):
            return False
        got = f"a worker that cannot make runs: {type(error).__name__}: {error}"
        allowed = f"workers with {_shown(versions())}"
        raise ScenarioFaults([Fault(self.name, "workers", got, allowed, _MEANING)]) from error

    def under_way(self) -> Mapping[str, int]:
        """Simulated picoseconds of the runs under way, as far as workers have told them."""
        return dict(self._under_way)

    def stop(self) -> None:
        """Gives up what is under way; workers notice it within a second."""
        with suppress(OSError, TimeoutError):
            self._executor.shutdown(wait=False)


def versions() -> dict[str, str]:
    """What has to be the same wherever runs of one experiment are made."""
    return {
        "skycell": version(),
        "Python": ".".join(map(str, sys.version_info[:3])),
        "distributed": version_of("distributed"),
    }


def _connected(scheduler: Scheduler) -> Client:
    """A client of the scheduler; raises `ScenarioFaults`."""
    place = str(scheduler)
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        got, allowed = f"no module {error.name}", 'an install of "skycell[cluster]"'
        raise ScenarioFaults([Fault(place, "", got, allowed, _MEANING)]) from None
    # What it says of a scheduler that is gone, we say ourselves.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        return Client(_address(scheduler), timeout=_PATIENCE_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        got = f"no scheduler: {getattr(error, 'strerror', None) or error or 'no answer'}"
        allowed = "the address of a Dask scheduler, such as tcp://host:8786, or the file that it "
        allowed += "has written (dask scheduler --scheduler-file FILE)"
        raise ScenarioFaults([Fault(place, "", got, allowed, _MEANING)]) from None


def _address(scheduler: Scheduler) -> str:
    """The address of a scheduler.

    Raises:
        OSError: the file in which it stands cannot be read.
        ValueError: it does not stand there.
    """
    if isinstance(scheduler, str) and "://" in scheduler:
        return scheduler
    try:
        return str(json.loads(Path(scheduler).read_bytes())["address"])
    except (ValueError, KeyError, TypeError):
        raise ValueError("a file of another kind") from None


def _refuse_other_versions(client: Client) -> None:
    """Raises `ScenarioFaults` with every part of a cluster that has other versions."""
    found = {"the scheduler": _answer(lambda: client.run_on_scheduler(versions))}
    found |= _answer(lambda: client.run(versions, on_error="return"))
    faults = [_fault(part, answer) for part, answer in found.items() if answer != versions()]
    if faults:
        raise ScenarioFaults(faults)


def _answer(ask: Any) -> Any:
    try:
        return ask()
    except Exception as error:  # whatever keeps a part from answering is what is wrong with it
        return error


def _fault(part: str, answer: object) -> Fault:
    got = _shown(answer) if isinstance(answer, Mapping) else f"{type(answer).__name__}: {answer}"
    meaning = "versions of a cluster's parts: only equal ones are known to give equal results"
    return Fault(part, "versions", got, f"{_shown(versions())}, as here", meaning)


def _shown(found: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in found.items())


def _make_batch(pickled: bytes) -> list[Report]:
    """What a worker does."""
    from distributed import get_worker

    expected, topic, work, batch_s, tasks = pickle.loads(pickled)
    worker = get_worker()
    if versions() != expected:
        raise ScenarioFaults([_fault(worker.address, versions())])
    return make_batch(tasks, work, batch_s, _Watch(worker, topic, tasks))


class _Watch:
    """Says now and then how far a run is, and whether anybody still waits for it."""

    def __init__(self, worker: Worker, topic: str, tasks: Sequence[Task]) -> None:
        self._worker, self._topic, self._tasks = worker, topic, tasks
        self._key = worker.get_current_task()
        self._looked_at = time.monotonic()

    def __call__(self, place: int, time_ps: int) -> bool:
        now = time.monotonic()
        if now - self._looked_at < _LOOK_EVERY_S:
            return True
        self._looked_at = now
        self._worker.log_event(self._topic, (self._tasks[place].name, time_ps))
        # A run that was given up goes on until its end, unless it notices. So it is where who asked
        # for it was killed: the scheduler then gives up what that one has asked for.
        state = self._worker.state.tasks.get(self._key)
        return state is not None and state.state != "cancelled"
