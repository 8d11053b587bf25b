"""A run as a worker process sees it, and several of them one after another."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic, perf_counter
from typing import Protocol

OnProgress = Callable[[int], bool]
"""Told the simulated time in picoseconds; False in return cancels the run."""


class Text(Protocol):
    """What gives the canonical text of a run's spec when its turn comes, as `SpecText` does."""

    def with_seed(self, seed: int) -> str:
        """The text of the run with this seed."""


@dataclass(frozen=True)
class Task:
    """One run to be made: the text of its spec, which replications share, and the engine."""

    name: str
    text: Text
    seed: int
    engine: str
    duration_ps: int
    #: File of the columns of the spec's sky, if it has one.
    columns: Path | None = None
    #: Threads of a large run. The summary does not depend on them.
    threads: int = 1

    @property
    def spec_json(self) -> str:
        """The canonical text of the spec; megabytes where the network is large."""
        return self.text.with_seed(self.seed)


Work = Callable[[Task, OnProgress], str]
"""Makes a run and returns its summary as JSON. A worker process imports it by its name."""


def simulate(task: Task, on_progress: OnProgress) -> str:
    """Runs the task on its engine and keeps the summary of its records."""
    from skycell import _core

    return _core.run_summary(task.spec_json, task.engine, on_progress, task.columns, task.threads)


@dataclass(frozen=True)
class Report:
    """What a worker sends back of a run: a summary, or the reason why there is none."""

    summary_json: str | None
    reason: str | None
    wall_s: float


def make_batch(
    tasks: Sequence[Task], work: Work, batch_s: float, on_progress: Callable[[int, int], bool]
) -> list[Report]:
    """Makes runs one after another until some time has gone by.

    Args:
        tasks: the runs, one or more.
        work: makes one.
        batch_s: wall time after which no other is begun, in seconds.
        on_progress: told the place of a run and its simulated picoseconds, also as it begins; False
            in return cancels it and those behind.

    Returns:
        A report for each run that was begun; those behind are to be handed over again.
    """
    reports: list[Report] = []
    until = monotonic() + batch_s
    for place, task in enumerate(tasks):
        if not on_progress(place, 0) or (reports and monotonic() >= until):
            break
        reports.append(_make(task, work, partial(on_progress, place)))
    return reports


def _make(task: Task, work: Work, on_progress: OnProgress) -> Report:
    began = perf_counter()
    summary_json, reason = None, None
    try:
        summary_json = work(task, on_progress)
    except Exception as error:  # whatever a run dies of is its reason, and the others go on
        reason = f"{type(error).__name__}: {error}"
    return Report(summary_json, reason, perf_counter() - began)


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
