"""A network on its way to a spec: the file, its plan, and parts that follow from both.

A part is a function of a `Resolution`. It is computed once, when another part first asks for it, so
that the order of the parts follows from their use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, TypeVar

from skycell.input.faults import FaultCollector, Path
from skycell.scenario.file.scenario_file import ScenarioFile
from skycell.scenario.packets.trace import PacketTrace
from skycell.scenario.plan.link_schedules import LinkSchedules
from skycell.scenario.plan.patterns import listed
from skycell.scenario.plan.plan import Plan

T = TypeVar("T")


@dataclass
class Resolution:
    """What the parts of a network's spec are made from.

    Attributes:
        file: as written, with its presets, defaults and schedules filled in.
        plan: nodes, links, VCs and flows, with quantities as written.
        schedules: what links do over time.
        packets: lists of packets, by the place of their source in the file.
        seed: of the run.
        faults: where parts note what does not fit.
    """

    file: ScenarioFile
    plan: Plan
    schedules: LinkSchedules
    packets: Mapping[int, PacketTrace]
    seed: int
    faults: FaultCollector
    _parts: dict[Callable[[Resolution], Any], Any] = field(default_factory=dict, init=False)

    @cached_property
    def node_ids(self) -> Mapping[str, int]:
        """Numbers of the nodes in the spec, by name."""
        return {name: i for i, name in enumerate(self.plan.nodes)}

    @cached_property
    def link_ids(self) -> Mapping[str, int]:
        """Numbers of the links in the spec, by name."""
        return {name: i for i, name in enumerate(self.plan.own_links)}

    @cached_property
    def vc_ids(self) -> Mapping[str, int]:
        """Numbers of the VCs in the spec, by name."""
        return {name: i for i, name in enumerate(self.plan.vcs)}

    @cached_property
    def named_flows(self) -> Sequence[Sequence[tuple[int, str]]]:
        """What each table [[flow]] names, with the place in its list."""
        return [listed(table.names, self.plan.flows) for table in self.file.flow]

    @cached_property
    def hidden_flows(self) -> frozenset[str]:
        """Names of the flows that are encrypted from end to end."""
        tables = zip(self.file.flow, self.named_flows, strict=True)
        return frozenset(name for flow, named in tables if flow.ipsec for _, name in named)

    @cached_property
    def vcs_by_link(self) -> Mapping[str, Sequence[str]]:
        """VCs that cross each link."""
        return self.plan.vcs_by_link()


def part(compute: Callable[[Resolution], T]) -> Callable[[Resolution], T]:
    """Returns a function that computes a part of a resolution once and then remembers it."""

    @wraps(compute)
    def remembered(net: Resolution) -> T:
        if remembered not in net._parts:
            net._parts[remembered] = compute(net)
        found: T = net._parts[remembered]
        return found

    return remembered


def each_once(
    net: Resolution,
    names: Mapping[Path, str],
    noun: str,
    problem: Callable[[str], str],
) -> dict[Path, str]:
    """Returns the names that fit, each of them once; the others are noted as faults.

    Args:
        net: where faults go.
        names: by their place in the file.
        noun: what they name, such as "VC".
        problem: returns what has to stand in place of a name; empty if the name fits.
    """
    found: dict[Path, str] = {}
    seen: set[str] = set()
    for where, name in names.items():
        allowed = f"each {noun} once" if name in seen else problem(name)
        seen.add(name)
        if allowed:
            net.faults.add(where, name, allowed)
        else:
            found[where] = name
    return found


def places(heading: str, key: str, tables: Sequence[Any]) -> dict[Path, str]:
    """Returns the names that a key of the tables of one heading lists, by their place."""
    return {
        (heading, i, key, k): name
        for i, table in enumerate(tables)
        for k, name in enumerate(getattr(table, key))
    }
