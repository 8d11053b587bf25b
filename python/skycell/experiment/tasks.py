"""A run as a worker process sees it."""

import json
from collections.abc import Callable
from dataclasses import dataclass

OnProgress = Callable[[int], bool]
"""Told the simulated time in picoseconds; False in return cancels the run."""


@dataclass(frozen=True)
class Task:
    """One run to be made: the spec's JSON form and the engine that takes it."""

    name: str
    spec_json: str
    engine: str
    duration_ps: int


Work = Callable[[Task, OnProgress], str]
"""Makes a run and returns its summary as JSON. A worker process imports it by its name."""


def simulate(task: Task, on_progress: OnProgress) -> str:
    """Runs the task on its engine and keeps the summary of its records."""
    from skycell import _core

    return _core.run_summary(task.spec_json, task.engine, on_progress)


_EMPTY_NETWORK = {
    "version": 2,
    "seed": 0,
    "duration_ps": 1,
    "nodes": [],
    "links": [],
    "vcs": [],
    "flows": [],
    "sources": [],
    "records": {
        "sample_every_ps": 1,
        "sampled_ports": [],
        "vc_sampled_ports": [],
        "delay_vcs": [],
        "traces": [],
    },
}


def refuse_unknown_engine(engine: str) -> None:
    """Asks for an engine before a thousand runs do.

    Raises:
        ValueError: this build has no engine of that name.
    """
    from skycell import _core

    _core.run(json.dumps(_EMPTY_NETWORK), engine)
