"""Many runs on all cores, one process each.

A run that raises becomes a failed run with its reason. A run whose process dies takes no other with
it: those that were under way are tried again one by one, and the one that dies alone has failed.
An interrupt cancels what is under way within a fraction of a second; what has finished by then is
handed to `on_outcome` like the rest.
"""

import multiprocessing
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from skycell.experiment.parent_watchdog import end_with_parent
from skycell.experiment.tasks import Task, Work, simulate

_LOOK_EVERY_S = 0.2
_AHEAD = 1
"""Runs handed over before a process is free, so that none waits while an outcome is kept."""
_DIED = "its worker process died, and died again when the run was tried alone"


@dataclass(frozen=True)
class Outcome:
    """How a run ended: with a summary, or with the reason why there is none."""

    task: Task
    summary_json: str | None
    reason: str | None
    wall_s: float


OnOutcome = Callable[[Outcome], None]
OnUnderWay = Callable[[Mapping[str, int]], None]
"""Told, a few times a second, the simulated picoseconds of every run under way, by task name."""


def default_jobs() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_tasks(
    tasks: Iterable[Task],
    on_outcome: OnOutcome,
    *,
    jobs: int | None = None,
    on_under_way: OnUnderWay | None = None,
    work: Work = simulate,
) -> None:
    """Makes all runs, `jobs` at a time, and reports each the moment it has ended.

    Args:
        tasks: drawn as processes get free, one ahead of them, so that a long list costs no memory.
        on_outcome: called in this process, once a task, in the order in which runs end; a call into
            which an interrupt comes is made again.
        jobs: processes at a time, at least 1; all cores if not given.
        on_under_way: called about five times a second.
        work: what a worker does; a function at the top of a module.

    Raises:
        ValueError: `jobs` is below 1.
        KeyboardInterrupt: Ctrl-C was pressed; runs under way were given up.
    """
    jobs = default_jobs() if jobs is None else jobs
    if jobs < 1:
        raise ValueError(f"{jobs} jobs: must be 1 or more")
    todo = iter(tasks)
    suspects: deque[Task] = deque()
    more = True
    while more:
        with _Workers(jobs, work) as workers:
            more, broken = _drained(workers, todo, on_outcome, on_under_way)
        suspects.extend(broken)
        while suspects:
            task = suspects.popleft()
            with _Workers(1, work) as alone:
                _, died = _drained(alone, iter([task]), on_outcome, on_under_way)
            for task in died:
                on_outcome(Outcome(task, None, _DIED, 0.0))


def _drained(
    workers: "_Workers",
    todo: Iterator[Task],
    on_outcome: OnOutcome,
    on_under_way: OnUnderWay | None,
) -> tuple[bool, list[Task]]:
    try:
        return workers.drain(todo, on_outcome, on_under_way)
    except KeyboardInterrupt:
        workers.stop()
        workers.keep_finished(on_outcome)
        raise


class _Workers:
    """A pool of processes that lives until one of them dies."""

    def __init__(self, jobs: int, work: Work) -> None:
        # "spawn": threads of the parent (progress display, numerical libraries) make fork unsafe.
        context = multiprocessing.get_context("spawn")
        slots = jobs + _AHEAD
        self._simulated_ps = context.RawArray("q", slots)
        self._cancelled = context.RawValue("b", 0)
        self._free = list(range(slots))
        self._running: dict[Future[_Report], tuple[int, Task]] = {}
        self._executor = ProcessPoolExecutor(
            max_workers=jobs,
            mp_context=context,
            initializer=_begin_worker,
            initargs=(self._simulated_ps, self._cancelled, work),
        )

    def __enter__(self) -> "_Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Gives up what is under way, and waits until that is done."""
        self._cancelled.value = 1
        self._executor.shutdown(wait=True, cancel_futures=True)

    def keep_finished(self, on_outcome: OnOutcome) -> None:
        """Reports the runs that have a summary and were not reported yet, once stopped.

        Another interrupt ends the report of one run and not those of the others.
        """
        for future in list(self._running):
            if (
                not future.cancelled()
                and future.exception() is None
                and future.result().summary_json
            ):
                with suppress(KeyboardInterrupt):
                    self._finish(future, on_outcome)

    def drain(
        self, todo: Iterator[Task], on_outcome: OnOutcome, on_under_way: OnUnderWay | None
    ) -> tuple[bool, list[Task]]:
        """Works until there is nothing more to do, or a process has died.

        Returns:
            Whether there may be more to do, and the tasks that were under way at a death.
        """
        exhausted = False
        while True:
            while self._free and not exhausted:
                task = next(todo, None)
                if task is None:
                    exhausted = True
                elif not self._submit(task):
                    return True, [task, *self._left_behind(on_outcome)]
            if not self._running:
                return False, []
            done, _ = wait(self._running, timeout=_LOOK_EVERY_S, return_when=FIRST_COMPLETED)
            if on_under_way is not None:
                on_under_way(
                    {task.name: self._simulated_ps[slot] for slot, task in self._running.values()}
                )
            finished = [self._finish(future, on_outcome) for future in done]
            if not all(finished):
                return True, self._left_behind(on_outcome)

    def _submit(self, task: Task) -> bool:
        slot = self._free[-1]
        self._simulated_ps[slot] = 0
        try:
            with children_start():
                future = self._executor.submit(_make_run, slot, task)
        except BrokenProcessPool:
            return False
        self._free.pop()
        self._running[future] = (slot, task)
        return True

    def _finish(self, future: "Future[_Report]", on_outcome: OnOutcome) -> bool:
        slot, task = self._running[future]
        try:
            report = future.result()
        except BrokenProcessPool:
            return False
        # Where an interrupt comes into this call, the run is still among those to be reported.
        on_outcome(Outcome(task, report.summary_json, report.reason, report.wall_s))
        del self._running[future]
        self._free.append(slot)
        return True

    def _left_behind(self, on_outcome: OnOutcome) -> list[Task]:
        # A death ends every future; those that had ended before it have their report.
        wait(self._running)
        return [
            task
            for future, (_, task) in list(self._running.items())
            if not self._finish(future, on_outcome)
        ]


@dataclass(frozen=True)
class _Report:
    """What a worker sends back."""

    summary_json: str | None
    reason: str | None
    wall_s: float


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


def _begin_worker(simulated_ps: Any, cancelled: Any, work: Work) -> None:
    end_with_parent()
    _worker.update(simulated_ps=simulated_ps, cancelled=cancelled, work=work)


def _make_run(slot: int, task: Task) -> _Report:
    simulated_ps, cancelled = _worker["simulated_ps"], _worker["cancelled"]

    def on_progress(time_ps: int) -> bool:
        simulated_ps[slot] = time_ps
        return not cancelled.value

    began = time.perf_counter()
    summary_json, reason = None, None
    try:
        summary_json = _worker["work"](task, on_progress)
    except Exception as error:  # whatever a run dies of is its reason, and the others go on
        reason = f"{type(error).__name__}: {error}"
    return _Report(summary_json, reason, time.perf_counter() - began)
