"""Many runs on many processes, wherever these are: what goes where, and what becomes of it.

Runs are handed over in batches that are worth their way, and each batch is reported when it has
ended. A run that raises becomes a failed run with its reason. Those that were under way when a
worker died are tried again at the end, one by one and with nothing beside them; one whose worker
dies then, too, has failed. An interrupt gives up what is under way.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from queue import Empty, SimpleQueue
from typing import Protocol, Self

from skycell.experiment.tasks import Report, Task

_LOOK_EVERY_S = 0.2
_MOST_AT_ONCE = 1_000
"""Runs of a batch, so that an estimate that is off costs little."""
_PARTS = 2
"""Batches that each process still gets of what is left, so that all end at about one time."""
_LEAST_PART = 10
"""Of its full time, that the last batches still take."""
_DIED = "its worker process died, and died again when the run was tried alone"


@dataclass(frozen=True)
class Outcome:
    """How a run ended: with a summary, or with the reason why there is none."""

    task: Task
    summary_json: str | None
    reason: str | None
    wall_s: float


OnOutcomes = Callable[[Sequence[Outcome]], None]
OnUnderWay = Callable[[Mapping[str, int]], None]
"""Told, a few times a second, the simulated picoseconds of every run under way, by task name."""


class Pool(Protocol):
    """Processes that make batches of runs; a context manager that stops them at its end."""

    name: str
    """What it is, in words."""
    cores: int
    """Those of this machine that the runs share; one where each run has to do with one."""
    batch_s: float
    """Wall time that a batch should take, so that what it costs to hand it over is little."""

    @property
    def slots(self) -> int:
        """Batches to hand over at a time: some more than there are processes."""

    def submit(self, tasks: Sequence[Task]) -> "Future[list[Report]]":
        """Hands a batch over; what `make_batch` gives for it comes back.

        The future is cancelled where the pool itself is lost.
        """

    def is_death(self, error: BaseException) -> bool:
        """Whether a future's exception says that a worker died."""

    def under_way(self) -> Mapping[str, int]:
        """Simulated picoseconds of the runs under way, as far as they are known, by task name."""

    def stop(self) -> None:
        """Gives up what is under way; futures that have a result by then keep it."""

    def __enter__(self) -> Self:
        """The pool itself."""

    def __exit__(self, *_: object) -> None:
        """Stops it."""


class PoolLostError(Exception):
    """The processes cannot be reached any more; what was reported is kept."""

    def __init__(self, pool: str) -> None:
        super().__init__(
            f"{pool} is gone; the runs that are finished are kept, and the same call continues "
            "from there"
        )


def run_tasks(
    tasks: Iterable[Task],
    count: int,
    pool: Pool,
    on_outcomes: OnOutcomes,
    *,
    on_under_way: OnUnderWay | None = None,
) -> None:
    """Makes all runs and reports each batch the moment it has ended.

    Args:
        tasks: drawn as processes get free, a batch ahead of them, so that a long list costs no
            memory.
        count: tasks that there are at most, which says how large the last batches are.
        pool: makes them.
        on_outcomes: called in this process, once a task, in the order in which batches end; a call
            into which an interrupt comes is made again.
        on_under_way: called about five times a second.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed; runs under way were given up.
        PoolLostError: the pool was lost.
    """
    work = _Work(pool, on_outcomes, on_under_way)
    try:
        suspects = work.drain(iter(tasks), count)
        for task in work.drain(iter(suspects), len(suspects), alone=True):
            on_outcomes([Outcome(task, None, _DIED, 0.0)])
    except KeyboardInterrupt:
        pool.stop()
        work.keep_finished()
        raise


class _Work:
    """What has been handed to a pool and is not reported yet."""

    def __init__(
        self, pool: Pool, on_outcomes: OnOutcomes, on_under_way: OnUnderWay | None
    ) -> None:
        self._pool = pool
        self._on_outcomes = on_outcomes
        self._on_under_way = on_under_way
        self._running: dict[Future[list[Report]], Sequence[Task]] = {}
        self._ended: SimpleQueue[Future[list[Report]]] = SimpleQueue()
        self._again: deque[Task] = deque()
        """Of batches whose time was over before their end."""
        self._run_s = pool.batch_s
        """Wall time of a run, of late."""

    def drain(self, todo: Iterator[Task], count: int, *, alone: bool = False) -> list[Task]:
        """Works until there is nothing more to do.

        Args:
            todo: the tasks.
            count: how many they are at most.
            alone: one at a time.

        Returns:
            Those that were under way at the death of a worker.
        """
        died: list[Task] = []
        while True:
            slots = 1 if alone else self._pool.slots
            while len(self._running) < slots:
                size = 1 if alone else self._size(count, slots)
                threads = self._threads(count)
                drawn = islice(chain(self._drawn_again(), todo), size)
                batch = [replace(task, threads=threads) for task in drawn]
                if not batch:
                    break
                count -= len(batch)
                future = self._pool.submit(batch)
                self._running[future] = batch
                future.add_done_callback(self._ended.put)
            if not self._running:
                return died
            for future in self._just_ended():
                left = self._finish(future, died)
                self._again.extend(left)
                count += len(left)
            if self._on_under_way is not None:
                self._on_under_way(self._pool.under_way())

    def _drawn_again(self) -> Iterator[Task]:
        while self._again:
            yield self._again.popleft()

    def _size(self, count: int, slots: int) -> int:
        """Runs of the next batch: worth its time, and not more than a part of what is left."""
        worth = min(_MOST_AT_ONCE, int(self._pool.batch_s / self._run_s))
        return max(1, worth // _LEAST_PART, min(worth, count // (_PARTS * slots)))

    def _threads(self, count: int) -> int:
        """Threads of each run from now on: more than one if fewer are left than there are cores."""
        left = count + sum(len(batch) for batch in self._running.values())
        return max(1, self._pool.cores // max(left, 1))

    def _just_ended(self) -> Iterator["Future[list[Report]]"]:
        with suppress(Empty):
            yield self._ended.get(timeout=_LOOK_EVERY_S)
            while True:
                yield self._ended.get_nowait()

    def _finish(self, future: "Future[list[Report]]", died: list[Task]) -> Sequence[Task]:
        """Reports a batch, and returns what is left of it."""
        tasks = self._running[future]
        if future.cancelled():
            raise PoolLostError(self._pool.name)
        error = future.exception()
        left: Sequence[Task] = ()
        if error is None:
            reports = future.result()
            # Where an interrupt comes into this call, these are still among those to be reported.
            self._on_outcomes(_outcomes(tasks, reports))
            left = tasks[len(reports) :]
            if reports:
                run_s = sum(report.wall_s for report in reports) / len(reports)
                self._run_s = (self._run_s + run_s) / 2  # a batch has at most twice the last one's
        elif self._pool.is_death(error):
            died.extend(tasks)
        else:
            raise error
        del self._running[future]
        return left

    def keep_finished(self) -> None:
        """Reports the runs that have a summary and were not reported yet, once stopped.

        Another interrupt ends the report of one batch and not those of the others.
        """
        for future, tasks in list(self._running.items()):
            if future.done() and not future.cancelled() and future.exception() is None:
                outcomes = _outcomes(tasks, future.result())
                if finished := [end for end in outcomes if end.summary_json is not None]:
                    with suppress(KeyboardInterrupt):
                        self._on_outcomes(finished)


def _outcomes(tasks: Sequence[Task], reports: Sequence[Report]) -> list[Outcome]:
    return [
        Outcome(task, report.summary_json, report.reason, report.wall_s)
        for task, report in zip(tasks, reports, strict=False)  # some may be left
    ]
