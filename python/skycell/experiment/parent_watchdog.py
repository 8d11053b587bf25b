"""A worker process ends with the process that began it, however that one ended."""

import os
import threading
from multiprocessing import parent_process
from multiprocessing.connection import wait

_ENDED_WITH_PARENT = 1


def end_with_parent() -> None:
    """Has this process end, what it is doing included, as soon as its parent is gone.

    A parent that is told to end in time ends its workers itself. One that is killed cannot, and a
    worker would go on with its run, which nobody takes.
    """
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_watch, args=(parent.sentinel,), daemon=True).start()


def _watch(sentinel: int) -> None:
    wait([sentinel])
    os._exit(_ENDED_WITH_PARENT)
