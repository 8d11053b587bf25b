"""A run as measures see it: its records, and the network that they are compared with."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from skycell.metrics import OTHER_CLASSES, Network, scheduled_bps, throughputs_bps


@dataclass(frozen=True)
class RunView:
    """A run, or the part of it that is asked for.

    Attributes:
        summary: records of the run.
        asked_port: name of the port that is asked for; empty for the default port.
    """

    summary: Mapping[str, Any]
    asked_port: str = field(default="", kw_only=True)

    @abstractmethod
    def rates_bps(self) -> list[float]:
        """Returns the throughput of every flow."""

    @abstractmethod
    def ceiling_bps(self) -> float:
        """Returns the sum of the TCP throughputs that is an efficiency of 1; 0 if there is none."""

    @abstractmethod
    def fair_bps(self) -> list[float]:
        """Returns the max-min fair throughput of every flow."""

    @abstractmethod
    def congested(self) -> Sequence[str]:
        """Returns the limited ports that data cross, the one of the slowest link first."""

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

    @property
    def vcs(self) -> Sequence[Mapping[str, Any]]:
        """The VCs whose cell delay is measured, with that delay."""
        vcs: Sequence[Mapping[str, Any]] = self.summary.get("measured_vcs", ())
        return vcs

    @property
    def transfers(self) -> Mapping[str, Any] | None:
        """Transfers begun, and the times of finished ones; None if the run has no transfers."""
        return self.summary.get("transfers")

    def total(self, count: str) -> float:
        """Returns the sum of a count over the flows."""
        return float(sum(flow[count] for flow in self.flows))

    def port(self) -> Mapping[str, Any] | None:
        """Returns the port that is asked for, or the default port."""
        by_name = {port["name"]: port for port in self.ports}
        names = (self.asked_port,) if self.asked_port else self.congested()
        return next((by_name[name] for name in names if name in by_name), None)

    def narrowed(self, part: str, name: str) -> Self | None:
        """Returns the view of one flow, port, uplink, VC, or class of calls or queues; or None."""
        entries: list[Mapping[str, Any]]
        if part == "class":
            key = "ports"
            entries = [{**p, "queues": found} for p in self.ports if (found := _queues_of(p, name))]
        else:
            key = "measured_vcs" if part == "vc" else f"{part}s"
            entries = [entry for entry in self.summary.get(key, ()) if entry["name"] == name]
        if not entries:
            return None
        changed: dict[str, Any] = {key: entries}
        if part == "flow" and self.transfers:
            flows = self.transfers["flows"]
            changed["transfers"] = next((flow for flow in flows if flow["name"] == name), None)
        asked = name if part == "port" else self.asked_port
        return replace(self, summary={**self.summary, **changed}, asked_port=asked)


@dataclass(frozen=True)
class SweepView(RunView):
    """A run as sweeps and the lab measure it.

    Attributes:
        network: what the run is compared with.
        definition: of the throughput, one of `THROUGHPUT_DEFINITIONS`.
    """

    network: Network
    definition: str

    def rates_bps(self) -> list[float]:
        """Returns the throughput of every flow."""
        return throughputs_bps(self.summary, self.definition)

    def ceiling_bps(self) -> float:
        """Returns the ceiling of the network."""
        return self.network.ceiling_bps

    def fair_bps(self) -> list[float]:
        """Returns the max-min fair shares of what other sources leave of each link.

        They are 0 where paths change so that no share is known, as over a constellation.
        """
        if not all(self.network.routes):
            return [0.0] * len(self.network.routes)
        return self.network.fair_bps(scheduled_bps(self.summary))

    def congested(self) -> Sequence[str]:
        """Returns the limited ports that data cross, the one of the slowest link first."""
        return self.network.congested


def _queues_of(port: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    return [queue for queue in port["queues"] if (queue["class"] or OTHER_CLASSES) == name]
