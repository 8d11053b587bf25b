"""The `NetworkSpec` of a scenario: all of its parts, each in whole numbers."""

from __future__ import annotations

from skycell.scenario.plan.plan import PlannedLink, PlannedVc
from skycell.scenario.resolve.abr import controls, vs_vds
from skycell.scenario.resolve.ack_filter import check_ack_filters
from skycell.scenario.resolve.admission import check_admission
from skycell.scenario.resolve.calls import calls
from skycell.scenario.resolve.context import check_size, context, measure_from_ps
from skycell.scenario.resolve.contracts import contracts, peak_policers
from skycell.scenario.resolve.flows import flows
from skycell.scenario.resolve.lines import lines
from skycell.scenario.resolve.longest import check_mtus
from skycell.scenario.resolve.peps import check_ipsec
from skycell.scenario.resolve.ports import channels, delay_variations, ports
from skycell.scenario.resolve.processing import delayed_schedule, processing, with_processing
from skycell.scenario.resolve.qos import check_qos
from skycell.scenario.resolve.receivers import receivers
from skycell.scenario.resolve.records import records
from skycell.scenario.resolve.resequencers import resequencers
from skycell.scenario.resolve.resolution import Resolution
from skycell.scenario.resolve.sky import by_label, sky
from skycell.scenario.resolve.sources import policers, sources
from skycell.scenario.resolve.uplinks import uplinks
from skycell.scenario.resolve.users import users
from skycell.spec.declared.network import LinkSpec, NetworkSpec, NodeSpec, ReroutingSpec, VcSpec

_CHECKS = (
    check_size,
    check_ipsec,
    check_ack_filters,
    check_mtus,
    check_admission,
    check_qos,
)
"""What no part of the spec depends on."""

_PARTS = (
    flows,
    users,
    contracts,
    controls,
    vs_vds,
    uplinks,
    sources,
    ports,
    channels,
    delay_variations,
    receivers,
    policers,
    records,
    measure_from_ps,
    resequencers,
    processing,
    calls,
)
"""Parts of the spec; calls stand last, as they are decided on in a network without faults."""


def resolve(net: Resolution) -> NetworkSpec:
    """Returns the complete spec of one run over a network without faults.

    Raises:
        ScenarioFaults: with all that does not fit that network, or each other.
    """
    for find_faults in (*_CHECKS, *_PARTS):
        find_faults(net)
    net.faults.raise_if_any()
    specs_of_calls, sources_of_calls = calls(net)
    plan = net.plan
    return NetworkSpec(
        seed=net.seed,
        duration_ps=context(net).duration_ps,
        measure_from_ps=measure_from_ps(net),
        nodes=tuple(
            NodeSpec(name=name, kind=kind, vs_vd=vs_vds(net).get(name))
            for name, kind in plan.nodes.items()
        ),
        links=tuple(_link(net, link) for link in plan.own_links.values()),
        vcs=tuple(_vc(net, vc) for vc in plan.vcs.values()),
        flows=flows(net),
        users=users(net),
        sources=(*sources(net), *sources_of_calls),
        uplinks=uplinks(net),
        calls=specs_of_calls,
        sky=sky(net),
        records=records(net),
    )


def _link(net: Resolution, link: PlannedLink) -> LinkSpec:
    line, port = lines(net)[link.name], ports(net)[link.name]
    assert port is not None, "a port with a fault"
    delay_variation, least_ps = delay_variations(net)[link.name]
    path = net.plan.satellite_paths.get(link.name)
    if path is not None:
        path = with_processing(path, processing(net))
        target, delay_ps, schedule = (
            path.targets[0],
            path.least_ps,
            path.schedule(net.node_ids),
        )
    else:
        own_ps = processing(net).get(link.target, 0)
        moved_by = link.table_of("schedule")
        target, delay_ps = link.target, net.schedules.least_delay_ps(moved_by, least_ps) + own_ps
        schedule = delayed_schedule(net.schedules.schedules.get(moved_by), own_ps)
    return LinkSpec(
        name=link.name,
        from_=net.node_ids[link.source],
        to=net.node_ids[target],
        cell_time_ps=line.cell_time_ps,
        framing=line.packets,
        delay_ps=delay_ps,
        loss_ppb=net.schedules.losses_ppb.get(link.loss_path, 0),
        channel=channels(net)[link.name],
        delay_variation=delay_variation,
        schedule=schedule,
        receivers=receivers(net).get(link.name, ()),
        port=port,
    )


def _vc(net: Resolution, vc: PlannedVc) -> VcSpec:
    is_abr, peak = vc.name in controls(net), peak_policers(net).get(vc.name)
    return VcSpec(
        name=vc.name,
        path=() if vc.by_label else _path(net, vc.links),
        by_label=by_label(net, vc),
        class_="abr" if is_abr else vc.service,  # type: ignore[arg-type]
        policing=(*(() if peak is None else (peak,)), *policers(net).get(vc.name, ())),
        gfr=contracts(net).get(vc.name),
        abr=controls(net).get(vc.name),
        rerouting=_rerouting(net, vc),
        resequencer=resequencers(net).get(vc.name),
    )


def _path(net: Resolution, links: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(net.link_ids[link] for link in links)


def _rerouting(net: Resolution, vc: PlannedVc) -> ReroutingSpec | None:
    if vc.rerouting is None:
        return None
    return ReroutingSpec(
        times_ps=tuple(time for time, _ in vc.rerouting.ways),
        paths=tuple(_path(net, way) for _, way in vc.rerouting.ways),
        loses_cells=vc.rerouting.loses_cells,
    )
