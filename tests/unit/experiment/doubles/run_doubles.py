"""Test doubles of a worker's run: they stand in for the engine, which these tests do not need.

The name of a task says what its run does.
"""

import json
import os
import signal
import time
from pathlib import Path

from skycell.experiment.tasks import OnProgress, Task


def run(task: Task, on_progress: OnProgress) -> str:
    what, _, rest = task.name.partition(":")
    if what == "raises":
        raise ValueError(f"cannot run {rest}")
    if what == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "dies once":
        marker = Path(rest)
        if not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    if what == "takes":
        time.sleep(float(rest.partition(":")[0]))
    if what == "slow":
        for step in range(1, 1_000):
            time.sleep(0.01)
            if not on_progress(step * task.duration_ps // 1_000):
                raise RuntimeError("cancelled")
    return json.dumps({"name": task.name, "pid": os.getpid(), "threads": task.threads})
