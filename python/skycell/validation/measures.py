"""What is measured on a recorded scenario, on real hosts and in a run alike."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from skycell.experiment.tasks import OnProgress, Task
from skycell.input.quantities import PS_PER_MS, PS_PER_SECOND
from skycell.spec.declared.network import NetworkSpec


@dataclass(frozen=True)
class Measure:
    """A number of a recorded scenario.

    Attributes:
        name: its column among the recordings.
        unit: of its values.
        meaning: in one sentence without a full stop.
        digits: places after the point that are shown.
        is_of_flow: whether each flow has its own.
        measure: its value in a run; none where there is none.
    """

    name: str
    unit: str
    meaning: str
    digits: int
    is_of_flow: bool
    measure: Callable[[RunFlow], float | None]

    def recorded(self, rows: Sequence[Mapping[str, str]], flow: int) -> list[float]:
        """Its values, one per replication of a recording; none where a replication has none."""
        texts = [row[self.name] for row in rows if row["flow"] == str(flow)]
        return [float(text) for text in texts] if all(texts) else []


@dataclass(frozen=True)
class RunFlow:
    """One flow of a run, with what the run left of the path."""

    records: Mapping[str, Any]
    flow: int
    mss: int
    is_transfer: bool
    windows: Sequence[tuple[int, float, float]]
    """Of the sender: when cwnd or ssthresh changed, and to how many octets each."""
    first_sent_ps: int
    """When the first octet was sent: the connection was open."""
    first_repeat_ps: int | None
    """When a segment was first sent again."""
    end_ps: int | None
    """When the transfer was over."""

    @property
    def own(self) -> Mapping[str, Any]:
        """The flow's record."""
        found: Mapping[str, Any] = self.records["flows"][self.flow]
        return found

    @property
    def port(self) -> Mapping[str, Any]:
        """The record of the port that data wait in."""
        found: Mapping[str, Any] = self.records["ports"][0]
        return found

    @property
    def start_ps(self) -> int:
        """When the flow began."""
        return int(self.own["start_ps"])

    @property
    def until_ps(self) -> int:
        """The end of the run, or of the transfer."""
        return int(self.records["duration_ps"]) if self.end_ps is None else self.end_ps

    def exit(self) -> int | None:
        """Place of the change of windows that first set ssthresh."""
        changes = enumerate(pairwise(self.windows), start=1)
        return next((place for place, (old, new) in changes if new[2] < old[2]), None)


def _goodput(run: RunFlow) -> float | None:
    if run.is_transfer:
        return None
    seconds = (int(run.records["duration_ps"]) - run.start_ps) / PS_PER_SECOND
    return float(run.own["octets_delivered"]) * 8 / seconds / 1e6


def _completion(run: RunFlow) -> float | None:
    if not run.is_transfer or run.end_ps is None:
        return None
    return (run.end_ps - run.start_ps) / PS_PER_SECOND


def _mean_queue(run: RunFlow) -> float | None:
    # Nothing waits after the only transfer.
    return float(run.port["queue"]["mean"]) * int(run.records["duration_ps"]) / run.until_ps


def _p95_sojourn(run: RunFlow) -> float | None:
    sojourn = run.port["octets"]["sojourn"]
    return float(sojourn["p95_ps"]) / PS_PER_MS if sojourn["packets"] else None


def _exit_s(run: RunFlow) -> float | None:
    place = run.exit()
    return None if place is None else (run.windows[place][0] - run.start_ps) / PS_PER_SECOND


def _exit_segments(run: RunFlow) -> float | None:
    place = run.exit()
    return None if place is None else run.windows[place - 1][1] / run.mss


def _first_loss_s(run: RunFlow) -> float | None:
    if run.first_repeat_ps is None:
        return None
    return (run.first_repeat_ps - run.start_ps) / PS_PER_SECOND


def _first_loss_segments(run: RunFlow) -> float | None:
    if run.first_repeat_ps is None:
        return None
    place = bisect_left([change[0] for change in run.windows], run.first_repeat_ps)
    return run.windows[max(place - 1, 0)][1] / run.mss


def _mean_cwnd(run: RunFlow) -> float | None:
    since, until = run.first_sent_ps, run.until_ps
    changes = [change for change in run.windows if change[0] < until]
    times = [max(change[0], since) for change in changes] + [until]
    held = ((late - early) for early, late in pairwise(times))
    area = sum(time * change[1] for time, change in zip(held, changes, strict=True))
    return area / (until - since) / run.mss if until > since else None


def dropped(ports: Sequence[Mapping[str, Any]]) -> int:
    """Packets of data that ports discarded; the last port is that of acknowledgements."""
    return sum(sum(port["discarded"].values()) for port in ports[:-1])


MEASURES: tuple[Measure, ...] = (
    Measure("goodput_mbit_s", "Mbit/s", "what the receiver read", 3, True, _goodput),
    Measure("completion_s", "s", "from the SYN to the last acknowledgement", 3, True, _completion),
    Measure("mean_queue_packets", "packets", "mean queue of the path", 1, False, _mean_queue),
    Measure(
        "p95_sojourn_ms",
        "ms",
        "time that 95 % of the packets did not stay longer in the queue",
        1,
        False,
        _p95_sojourn,
    ),
    Measure(
        "drops",
        "packets",
        "packets of data that ports discarded",
        0,
        False,
        lambda run: float(dropped(run.records["ports"])),
    ),
    Measure(
        "retransmissions",
        "segments",
        "segments sent again",
        0,
        True,
        lambda run: float(run.own["segments_retransmitted"]),
    ),
    Measure(
        "timeouts",
        "events",
        "recoveries by the retransmission timer",
        0,
        True,
        lambda run: float(run.own["timeouts"]),
    ),
    Measure("exit_s", "s", "when ssthresh was first set", 3, True, _exit_s),
    Measure("exit_segments", "segments", "cwnd just before that", 0, True, _exit_segments),
    Measure("first_loss_s", "s", "when the first recovery began", 3, True, _first_loss_s),
    Measure(
        "first_loss_segments",
        "segments",
        "cwnd just before that",
        0,
        True,
        _first_loss_segments,
    ),
    Measure(
        "mean_cwnd",
        "segments",
        "time average of cwnd from the first segment on",
        1,
        True,
        _mean_cwnd,
    ),
)
"""In the order in which they are shown."""


_SENT, _SENT_AGAIN = 0, 1
"""Events of the trace `sequence`."""


def traced(spec: NetworkSpec) -> NetworkSpec:
    """The spec of a scenario with the traces that measures need."""
    names = ("cwnd", "sequence", "transfers")
    return spec.model_copy(update={"records": spec.records.model_copy(update={"traces": names})})


def measured(task: Task, on_progress: OnProgress) -> str:
    """Makes a run and returns its measures as JSON: those of each flow, by name."""
    from skycell import _core

    text, traces = _core.run(task.spec_json, task.engine, on_progress)
    records, spec = json.loads(text), json.loads(task.spec_json)
    is_transfer = spec["flows"][0]["traffic"]["kind"] == "transfers"
    flows = []
    for number, flow in enumerate(spec["flows"]):
        run = RunFlow(
            records=records,
            flow=number,
            mss=flow["tcp"]["mss"],
            is_transfer=is_transfer,
            windows=_of_flow(traces["cwnd"], number, ("time_ps", "cwnd", "ssthresh")),
            first_sent_ps=_first(traces["sequence"], number, _SENT) or 0,
            first_repeat_ps=_first(traces["sequence"], number, _SENT_AGAIN),
            end_ps=next(
                (end for (end,) in _of_flow(traces["transfers"], number, ("end_ps",))), None
            ),
        )
        flows.append({entry.name: entry.measure(run) for entry in MEASURES})
    return json.dumps(flows)


def _of_flow(trace: Mapping[str, Any], flow: int, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """The rows of a flow in some columns of a trace."""
    own = trace["flow"] == flow
    return list(zip(*(trace[name][own].tolist() for name in columns), strict=True))


def _end(trace: Mapping[str, Any], flow: int) -> int | None:
    ends = _of_flow(trace, flow, ("end_ps",))
    return ends[0][0] if ends else None


def _first(trace: Mapping[str, Any], flow: int, event: int) -> int | None:
    """When an event of a flow's sender was first."""
    times = trace["time_ps"][(trace["flow"] == flow) & (trace["event"] == event)]
    return int(times[0]) if len(times) else None
