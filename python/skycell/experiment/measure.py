"""What an experiment measures on a run, or computes: a number with its unit and its meaning."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from skycell.experiment.value import Better
from skycell.stats.ranges import ANY, POSITIVE, Range

View = TypeVar("View", contravariant=True)

_MBIT = 1e6


@dataclass(frozen=True)
class Measure(Generic[View]):
    """What is measured, of which a sweep speaks as a response and a study as the metric of a table.

    Attributes:
        unit: of its values; `1` for a number without unit.
        meaning: in one sentence without a full stop.
        measure: its value; none where it is not defined, as the fairness of a run that delivered
            nothing.
        part: `flow`, `port`, `uplink`, `call` (a class of them), `vc` or `class` where NAME:PART
            measures a single one of them in a sweep; else empty. Those of a flow or of none are of
            TCP flows, those of a VC of the VCs whose cells' delay is measured.
        traffic: kind of the traffic of the flows that it says something of, `web` or `transfers`;
            empty where it is of any.
        better: which values users would rather have.
        trace: that runs keep for it, beside `transfers` where it is of those; empty for none.
        of_one_port: whether it is of a single port, the default one unless a port is asked for.
        range: what it can be.
    """

    unit: str
    meaning: str
    measure: Callable[[View], float | None]
    part: str = ""
    traffic: str = ""
    better: Better = ""
    trace: str = ""
    of_one_port: bool = False
    range: Range = ANY

    @property
    def is_of_flows(self) -> bool:
        """Whether it says something of TCP connections only."""
        return self.part in {"", "flow"}


@dataclass(frozen=True)
class RunView:
    """One run as a measure sees it."""

    summary: Mapping[str, Any]

    @property
    def flows(self) -> Sequence[Mapping[str, Any]]:
        """The flows."""
        flows: Sequence[Mapping[str, Any]] = self.summary["flows"]
        return flows

    @property
    def ports(self) -> Sequence[Mapping[str, Any]]:
        """The ports with a limited buffer."""
        ports: Sequence[Mapping[str, Any]] = self.summary["ports"]
        return ports

    @abstractmethod
    def rates_bps(self) -> list[float]:
        """Throughput of every flow."""

    def total(self, count: str) -> float:
        """Sum of a count over the flows."""
        return float(sum(flow[count] for flow in self.flows))


def total_mbps(run: RunView) -> float:
    """Throughput of all flows together, Mbit/s."""
    return sum(run.rates_bps()) / _MBIT


def cells_discarded(run: RunView) -> float:
    """Cells that ports with a limited buffer discarded, for whatever reason."""
    return float(sum(sum(port["discarded"].values()) for port in run.ports))


COMMON: Mapping[str, Measure[RunView]] = {
    "timeouts": Measure(
        "events",
        "retransmission timeouts",
        lambda run: run.total("timeouts"),
        part="flow",
        better="smaller",
        range=POSITIVE,
    ),
    "fast_retransmits": Measure(
        "events",
        "fast retransmits",
        lambda run: run.total("fast_retransmits"),
        part="flow",
        better="smaller",
        range=POSITIVE,
    ),
    "cells_discarded": Measure(
        "cells",
        "cells, or packets, discarded by ports with a limited buffer",
        cells_discarded,
        part="port",
        better="smaller",
        range=POSITIVE,
    ),
}
"""What sweeps and studies measure alike, under one name."""
