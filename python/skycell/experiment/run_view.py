"""One run as the responses of a sweep see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skycell.experiment.measure import RunView
from skycell.metrics import OTHER_CLASSES, Network, throughputs_bps


@dataclass(frozen=True)
class SweepView(RunView):
    """One run as a response sees it, or the part of it that is asked for."""

    network: Network
    definition: str
    asked_port: str = ""
    """The port that is asked for by its name; empty if none is."""

    def rates_bps(self) -> list[float]:
        """Throughput of every flow."""
        return throughputs_bps(self.summary, self.definition)

    @property
    def vcs(self) -> Sequence[Mapping[str, Any]]:
        """The VCs whose cells' delay is measured, with that."""
        vcs: Sequence[Mapping[str, Any]] = self.summary.get("measured_vcs", ())
        return vcs

    @property
    def transfers(self) -> Mapping[str, Any] | None:
        """Transfers begun and what finished ones took: of all flows, or of the one asked for."""
        return self.summary.get("transfers")

    def narrowed(self, part: str, name: str) -> SweepView | None:
        """The view of a single flow, port, uplink, VC or class of calls or queues; or none."""
        own: list[Mapping[str, Any]]
        if part == "class":
            key = "ports"
            own = [{**p, "queues": queues} for p in self.ports if (queues := _queues_of(p, name))]
        else:
            key = "measured_vcs" if part == "vc" else f"{part}s"
            own = [entry for entry in self.summary.get(key, ()) if entry["name"] == name]
        if not own:
            return None
        changed: dict[str, Any] = {key: own}
        if part == "flow" and self.transfers:
            flows = self.transfers["flows"]
            changed["transfers"] = next((flow for flow in flows if flow["name"] == name), None)
        asked = name if part == "port" else self.asked_port
        return replace(self, summary={**self.summary, **changed}, asked_port=asked)

    def port(self) -> Mapping[str, Any] | None:
        """The port that is asked for, or the default: the slowest limited one that data cross."""
        by_name = {port["name"]: port for port in self.ports}
        names = (self.asked_port,) if self.asked_port else self.network.congested
        return next((by_name[name] for name in names if name in by_name), None)


def _queues_of(port: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    return [queue for queue in port["queues"] if (queue["class"] or OTHER_CLASSES) == name]
