"""The sky of a spec: kinds of ports, and VCs by label."""

from __future__ import annotations

from skycell.scenario.plan.plan import PlannedVc
from skycell.scenario.plan.sky_spread import BETWEEN, DOWN, TERRESTRIAL, UP
from skycell.scenario.resolve.lines import lines
from skycell.scenario.resolve.ports import channels, ports
from skycell.scenario.resolve.resolution import Resolution, part
from skycell.spec.declared.network import ByLabelSpec, PortKindSpec, SkySpec


@part
def sky(net: Resolution) -> SkySpec | None:
    """Returns the sky; none for a network of links."""
    planned = net.plan.sky
    if planned is None:
        return None
    # Without links between satellites no port is of that kind; its number stays.
    names = (BETWEEN, UP, DOWN, *((TERRESTRIAL,) if TERRESTRIAL in net.plan.links else ()))
    kinds = tuple(_kind(net, name) for name in names)
    return SkySpec(
        columns=planned.columns,
        kinds=kinds,
        hop_limit=planned.hop_limit,
        loses_in_flight=planned.loses_in_flight,
    )


def _kind(net: Resolution, name: str) -> PortKindSpec:
    assert net.plan.sky is not None
    own = name if name in net.plan.links else DOWN
    link, line, port = net.plan.links[own], lines(net)[own], ports(net)[own]
    assert port is not None, "a port with a fault"
    return PortKindSpec(
        name=name,
        framing=line.packets,
        cell_time_ps=line.cell_time_ps,
        loss_ppb=net.schedules.losses_ppb.get(link.loss_path, 0),
        channel=channels(net)[own],
        port=port,
        waiting=net.plan.sky.waiting[own],  # type: ignore[arg-type]
        waits_for_route=name == UP and net.plan.sky.waits_for_route,
    )


def by_label(net: Resolution, vc: PlannedVc) -> ByLabelSpec | None:
    """Returns the way of a VC without a path."""
    if vc.by_label is None or net.plan.sky is None:
        return None
    source, target = vc.by_label
    hosts = net.plan.sky.stations
    label = vc.way * len(hosts) + hosts.index(target)
    return ByLabelSpec(from_=net.node_ids[source], label=label)
