"""What a scenario comes to before it is run: links, sizes, settings, paths, and what to doubt."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from skycell import _core
from skycell.metrics.access_delay import ExplainedUplink, explained_uplinks
from skycell.metrics.resolved_links import (
    ResolvedLink,
    ResolvedPath,
    ResolvedSize,
    resolved_links,
    resolved_paths,
    resolved_size,
)
from skycell.metrics.warnings import warnings
from skycell.scenario.notes import notes_on, notes_on_carriers
from skycell.scenario.port_settings import Setting, port_settings, thresholds_of
from skycell.scenario.resolve.context import context
from skycell.scenario.scenario import Scenario
from skycell.scenario.sky_paths import notes_on_series, sky_paths
from skycell.spec.columns import columns_of
from skycell.spec.declared.network import NetworkSpec


@dataclass(frozen=True)
class Explained:
    """A scenario in numbers.

    Attributes:
        spec_hash: of the run.
        rtt_ps: what RTT stands for in its file: propagation there and back of the longest route.
        links: those that are alike together.
        sizes: buffers and thresholds of ports with a limit.
        settings: keys of the ports that have rules, and where their values come from.
        paths: ways of flows, those that are alike together.
        uplinks: those that terminals share, and what access adds when they are empty.
        stepped_ports: reason by port of what the fast engine steps.
        warnings: where rules are beyond what they were made for, or links cannot be filled.
        notes: as `skycell check` has them.
    """

    spec_hash: str
    rtt_ps: int
    links: tuple[ResolvedLink, ...]
    sizes: tuple[ResolvedSize, ...]
    settings: tuple[Setting, ...]
    paths: tuple[ResolvedPath, ...]
    uplinks: tuple[ExplainedUplink, ...]
    stepped_ports: dict[str, str]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """All of it for a program."""
        return asdict(self)


def explain(scenario: Scenario) -> Explained:
    """What a scenario without faults comes to."""
    spec, plan = scenario.resolve(), scenario.plan
    rtt_ps = context(scenario.resolution).rtt_ps
    sizes, paths = _sizes(spec, rtt_ps), resolved_paths(spec, plan)
    stepped = json.loads(_core.stepped_ports(spec.canonical_json(), columns_of(spec)))
    carriers = notes_on_carriers(scenario.file.topology)
    notes = (*notes_on(spec, sky_paths(scenario)), *carriers, *notes_on_series(scenario))
    return Explained(
        spec_hash=spec.hash(),
        rtt_ps=rtt_ps,
        links=resolved_links(spec, plan),
        sizes=sizes,
        settings=port_settings(scenario),
        paths=paths,
        uplinks=explained_uplinks(spec),
        stepped_ports={port["port"]: port["reason"] for port in stepped},
        warnings=warnings(spec, paths, sizes),
        notes=notes,
    )


def _sizes(spec: NetworkSpec, rtt_ps: int) -> tuple[ResolvedSize, ...]:
    found = []
    for place, link in enumerate(spec.links):
        for queue in link.port.queues:
            if queue.capacity_cells is None:
                continue
            of_class = f"{queue.class_}: " if queue.class_ is not None else ""
            amounts = {"buffer": queue.capacity_cells}
            amounts |= {f"policy.{key}": value for key, value in thresholds_of(queue).items()}
            found += [
                resolved_size(spec, place, f"{of_class}{key}", amount, queue.counts_octets, rtt_ps)
                for key, amount in amounts.items()
            ]
    return tuple(found)
