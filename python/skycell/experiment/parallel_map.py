"""One function over many items, in this process and in others beside it.

For work in Python that takes seconds in all, such as resolving hundreds of scenarios. This process
begins with the first item at once; the others, which are still starting then, take from the end.
"""

import multiprocessing
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from skycell.experiment.cores import default_jobs
from skycell.experiment.parent_watchdog import end_with_parent
from skycell.experiment.processes import children_start

T = TypeVar("T")
R = TypeVar("R")

_AT_ONCE = 4
"""Items that another process is given at a time; it has two such parts, so as not to wait."""


def parallel_map(
    work: Callable[[T], R], items: Sequence[T], *, least: int, jobs: int | None = None
) -> list[R]:
    """What a function gives for each item, in their order.

    Args:
        work: a function at the top of a module, or a `partial` of one, whose result depends on its
            argument only.
        items: what it is given; they and its results can be sent to another process.
        least: items for which another process is worth its start.
        jobs: processes, this one included; one a core if not given.

    Raises:
        Exception: what `work` raises for the first item for which it does.
    """
    results: dict[int, R] = {}
    todo = deque(range(len(items)))
    others = min((jobs or default_jobs()) - 1, len(items) // least)
    if others > 0:
        with _executor(others, work) as executor:
            _share(executor, 2 * others, work, items, todo, results)
    # What another process has not done is done here, where a fault is told as it is.
    for number in range(len(items)):
        if number not in results:
            results[number] = work(items[number])
    return [results[number] for number in range(len(items))]


def _executor(count: int, work: Callable[[T], R]) -> ProcessPoolExecutor:
    # "spawn", as for runs: threads of this process make fork unsafe.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(count, context, initializer=_begin, initargs=(work,))


def _share(
    executor: ProcessPoolExecutor,
    parts: int,
    work: Callable[[T], R],
    items: Sequence[T],
    todo: deque[int],
    results: dict[int, R],
) -> None:
    """Works until nothing is left to do; items of a process that fails have no result."""
    under_way: dict[Future[list[R]], list[int]] = {}

    def keep(futures: Sequence[Future[list[R]]]) -> None:
        for future in futures:
            numbers = under_way.pop(future)
            if future.exception() is None:
                results.update(zip(numbers, future.result(), strict=True))

    try:
        while todo:
            while len(under_way) < parts and len(todo) > _AT_ONCE:
                part = [todo.pop() for _ in range(_AT_ONCE)]
                with children_start():
                    future = executor.submit(_each, [items[number] for number in part])
                under_way[future] = part
            number = todo.popleft()
            results[number] = work(items[number])
            keep([future for future in under_way if future.done()])
        wait(under_way)
        keep(list(under_way))
    except BrokenProcessPool:
        return
    finally:
        for future in under_way:
            future.cancel()


# What another process was given when it began.
_shared: dict[str, Callable[[Any], Any]] = {}


def _begin(work: Callable[[Any], Any]) -> None:
    end_with_parent()
    _shared["work"] = work


def _each(items: list[Any]) -> list[Any]:
    return [_shared["work"](item) for item in items]
