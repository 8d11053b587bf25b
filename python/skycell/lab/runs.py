"""Runs of a workbench: begun, looked at while they go, cancelled, kept until it ends."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skycell.records.result import RunResult
    from skycell.scenario import Scenario

MOST_KEPT = 40
"""Runs whose results stay at hand; older ones are forgotten."""
MOST_AT_ONCE = 2
TRACES = ("cwnd", "queue", "sequence")
"""What pictures are drawn of, beside the traces that a scenario asks for."""
_MOST_TRACED = 40
"""Flows above which the picture of windows and rates is left out: traces would be endless."""


@dataclass
class LabRun:
    """One run.

    Attributes:
        number: from 1.
        title: what it is called in pictures and tables.
        text: its scenario, as written.
        duration_ps: simulated time in all.
        done_ps: simulated time so far.
        result: when it has ended well.
        reason: why it has not.
    """

    number: int
    title: str
    text: str
    duration_ps: int
    done_ps: int = 0
    result: RunResult | None = None
    reason: str | None = None
    cancelled: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def state(self) -> str:
        """`running`, `done`, `failed` or `cancelled`."""
        if not self.ended.is_set():
            return "running"
        if self.result is not None:
            return "done"
        return "cancelled" if self.cancelled.is_set() else "failed"

    def as_dict(self) -> dict[str, Any]:
        """What a page shows of it."""
        return {
            "number": self.number,
            "title": self.title,
            "text": self.text,
            "state": self.state,
            "share": 1.0 if self.result else min(1.0, self.done_ps / self.duration_ps),
            "reason": self.reason,
        }


class LabRuns:
    """The runs of a workbench, each in a thread: engines run without Python's lock."""

    def __init__(self) -> None:
        self._runs: OrderedDict[int, LabRun] = OrderedDict()
        self._numbers = count(1)
        self._room = threading.Semaphore(MOST_AT_ONCE)
        self._lock = threading.Lock()

    def begin(self, scenario: Scenario, text: str, title: str, seed: int | None = None) -> LabRun:
        """Begins a run.

        Args:
            scenario: what to run, known to be sound.
            text: as it was written.
            title: what the run is called.
            seed: replaces the scenario's.
        """
        traced = with_traces(scenario)
        spec = traced.resolve(seed)
        with self._lock:
            run = LabRun(next(self._numbers), title, text, spec.duration_ps)
            self._runs[run.number] = run
            self._forget()
        thread = threading.Thread(target=self._work, args=(run, traced, seed), daemon=True)
        thread.start()
        return run

    def get(self, number: int) -> LabRun | None:
        """A run by its number; none if there is none, or no more."""
        return self._runs.get(number)

    def all(self) -> list[LabRun]:
        """The runs that are kept, oldest first."""
        return list(self._runs.values())

    def cancel_all(self) -> None:
        """Has every run end."""
        for run in self.all():
            run.cancelled.set()

    def _forget(self) -> None:
        ended = [number for number, run in self._runs.items() if run.ended.is_set()]
        for number in ended[: max(0, len(self._runs) - MOST_KEPT)]:
            del self._runs[number]

    def _work(self, run: LabRun, scenario: Scenario, seed: int | None) -> None:
        try:
            with self._room:
                run.result = finished(scenario, seed, lambda at_ps: _note(run, at_ps))
        except Exception as error:  # whatever it is, the page has to hear of it
            run.reason = None if run.cancelled.is_set() else str(error)
        finally:
            run.ended.set()


def _note(run: LabRun, at_ps: int) -> bool:
    run.done_ps = at_ps
    return not run.cancelled.is_set()


def finished(
    scenario: Scenario, seed: int | None, on_progress: Callable[[int], bool] | None = None
) -> RunResult:
    """The result of a run with all that is said of it."""
    from skycell.experiment.run import run_spec, with_derived

    return with_derived(run_spec(scenario.resolve(seed), "fast", on_progress), scenario)


def with_traces(scenario: Scenario) -> Scenario:
    """The scenario with the traces that pictures are drawn of."""
    kept = scenario.file.records.traces
    spec = scenario.resolve()
    wanted = TRACES if len(spec.flows) <= _MOST_TRACED else ("queue",)
    # Over a constellation only the ports that the file names are sampled.
    has_samples = bool(spec.records.sampled_ports)
    extra = [name for name in wanted if name not in kept and (name != "queue" or has_samples)]
    return scenario.with_values({"records.traces": [*kept, *extra]}) if extra else scenario


def row_of(result: RunResult) -> Mapping[str, float | None]:
    """What a table of runs has of one: names with units, values."""
    from skycell.measures.responses import RESPONSES, measure
    from skycell.measures.run_view import SweepView
    from skycell.metrics.network import Network

    network = Network.of(result.spec)
    view = SweepView(result.records, network, "delivered_over_duration")
    found: dict[str, float | None] = {}
    for name in _SHOWN:
        unit = RESPONSES[name].unit
        unit = network.unit if unit == "cells" else unit
        words = name.replace("_", " ")
        if RESPONSES[name].of_one_port and network.congested:
            words += f" of {network.congested[0]}"
        found[words if unit == "1" else f"{words} ({unit})"] = measure(name, view)
    return found


_SHOWN = (
    "throughput",
    "efficiency",
    "max_min_fairness",
    "mean_queue",
    "p95_sojourn",
    "discarded_part",
    "retransmitted_part",
    "timeouts",
)
