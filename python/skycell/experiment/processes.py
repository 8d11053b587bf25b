"""Processes of this machine that make runs: the standard library's pool."""

import multiprocessing
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Self

from skycell.experiment.cores import default_jobs
from skycell.experiment.parent_watchdog import end_with_parent
from skycell.experiment.tasks import Report, Task, Work, make_batch, simulate

_AHEAD = 1
"""Batches handed over before a process is free, so that none waits while others are kept."""


class ProcessPool:
    """`jobs` processes, which begin when there is something for them; a `Pool`."""

    name = "the pool of processes"
    batch_s = 0.1

    def __init__(self, jobs: int | None = None, work: Work = simulate) -> None:
        """Starts no process yet.

        Args:
            jobs: processes at a time, at least 1; all cores if not given.
            work: what a worker does; a function at the top of a module.

        Raises:
            ValueError: `jobs` is below 1.
        """
        self._jobs = default_jobs() if jobs is None else jobs
        if self._jobs < 1:
            raise ValueError(f"{jobs} jobs: must be 1 or more")
        self.cores = self._jobs
        self._work = work
        # "spawn": threads of the parent (progress display, numerical libraries) make fork unsafe.
        self._context = multiprocessing.get_context("spawn")
        self._free = list(range(self.slots))
        self._of_slot: dict[int, Sequence[Task]] = {}
        self._begin()

    def _begin(self) -> None:
        # Each begin has its own: a process that is about to be ended may still write into them.
        self._places = self._context.RawArray("q", self.slots)
        self._simulated_ps = self._context.RawArray("q", self.slots)
        self._cancelled = self._context.RawValue("b", 0)
        self._executor = ProcessPoolExecutor(
            max_workers=self._jobs,
            mp_context=self._context,
            initializer=_begin_worker,
            initargs=(self._places, self._simulated_ps, self._cancelled, self._work, self.batch_s),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def slots(self) -> int:
        """Batches to hand over at a time."""
        return self._jobs + _AHEAD

    def submit(self, tasks: Sequence[Task]) -> "Future[list[Report]]":
        """Hands a batch over, to new processes if one has died."""
        slot = self._free.pop()
        try:
            future = self._start(slot, tasks)
        except BrokenProcessPool:
            self._executor.shutdown()
            self._begin()
            future = self._start(slot, tasks)
        future.add_done_callback(lambda _: self._set_free(slot))
        return future

    def _start(self, slot: int, tasks: Sequence[Task]) -> "Future[list[Report]]":
        self._places[slot] = self._simulated_ps[slot] = 0
        self._of_slot[slot] = tasks
        with children_start():
            return self._executor.submit(_make_batch, slot, tasks)

    def _set_free(self, slot: int) -> None:
        del self._of_slot[slot]
        self._free.append(slot)

    def is_death(self, error: BaseException) -> bool:
        """Whether a process died; what the others had under way goes with it."""
        return isinstance(error, BrokenProcessPool)

    def under_way(self) -> Mapping[str, int]:
        """Simulated picoseconds of the runs under way."""
        return {
            tasks[self._places[slot]].name: self._simulated_ps[slot]
            for slot, tasks in list(self._of_slot.items())
        }

    def stop(self) -> None:
        """Gives up what is under way, and waits until that is done."""
        self._cancelled.value = 1
        self._executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def children_start() -> Iterator[None]:
    """Processes that are started within leave Ctrl-C to this one, and do not load its program."""
    with _interrupts_blocked(), _without_program():
        yield


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    # A process inherits the blocked signal: Ctrl-C, which the terminal sends to all, then ends the
    # workers' runs through the parent only, also while a worker is still starting. This process
    # gets a signal that came meanwhile as soon as it is unblocked.
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _without_program() -> Iterator[None]:
    # multiprocessing lets a new process load what this one was started with: a script would begin
    # anew in it, and one that came over standard input cannot be found. Workers need neither.
    program = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = program


# What a worker process was given when it began.
_worker: dict[str, Any] = {}


def _begin_worker(
    places: Any, simulated_ps: Any, cancelled: Any, work: Work, batch_s: float
) -> None:
    end_with_parent()
    _worker.update(
        places=places, simulated_ps=simulated_ps, cancelled=cancelled, work=work, batch_s=batch_s
    )


def _make_batch(slot: int, tasks: Sequence[Task]) -> list[Report]:
    places, simulated_ps, cancelled = (
        _worker[name] for name in ("places", "simulated_ps", "cancelled")
    )

    def on_progress(place: int, time_ps: int) -> bool:
        places[slot], simulated_ps[slot] = place, time_ps
        return not cancelled.value

    return make_batch(tasks, _worker["work"], _worker["batch_s"], on_progress)
