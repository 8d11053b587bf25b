"""From a scenario file and its plan to the `NetworkSpec`: defaults and derived values as integers.

RTT is the two-way propagation delay of the flow whose route is longest, with the greatest delay of
a link that moves; where there is no flow it is twice that of the cell source whose route is
longest. "RTT x bandwidth" is that time at the payload rate of the slowest link on that route, in
octets, cell headers included. A frame is a full segment's; where there is no flow it is the longest
of the cell sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from skycell.input.faults import FaultCollector, Verbatim
from skycell.input.quantities import CELL_BITS, PS_PER_SECOND, rounded, show_amount, show_time
from skycell.scenario.file.scenario_file import ScenarioFile
from skycell.scenario.file.sources import TraceSource
from skycell.scenario.interpreter.context import Context
from skycell.scenario.packets.trace import PacketTrace
from skycell.scenario.plan.course import Course
from skycell.scenario.plan.onboard_switching import satellite_node
from skycell.scenario.plan.plan import Plan, PlannedLink, Rerouting
from skycell.scenario.resolve.abr import AbrResolver, resolve_vs_vd
from skycell.scenario.resolve.ack_filter import check_ack_filters, hidden_flows
from skycell.scenario.resolve.admission import check_admission, link_uses
from skycell.scenario.resolve.calls import resolve_calls
from skycell.scenario.resolve.contracts import (
    check_contracts,
    mbs_of,
    mcr_of,
    peak_policers,
    resolve_contracts,
)
from skycell.scenario.resolve.flows import FlowResolver
from skycell.scenario.resolve.jitter import jitters
from skycell.scenario.resolve.lines import Line, lines_of, longest_packets
from skycell.scenario.resolve.mtus import check_mtus
from skycell.scenario.resolve.peps import PepResolver, check_ipsec
from skycell.scenario.resolve.ports import PortResolver
from skycell.scenario.resolve.processing import (
    longer_course,
    longer_schedule,
    resolve_processing,
)
from skycell.scenario.resolve.qos import asked_for, check_qos
from skycell.scenario.resolve.records import resolve_records
from skycell.scenario.resolve.resequencers import resolve_resequencers
from skycell.scenario.resolve.sources import resolve_policers, resolve_sources
from skycell.scenario.resolve.uplinks import UplinkResolver
from skycell.scenario.steps.link_schedules import LinkSchedules
from skycell.scenario.values.cells import MILLICELLS, frame_cells_of
from skycell.spec.network import (
    ChannelSpec,
    DelayVariationSpec,
    FlowSpec,
    LinkSpec,
    NetworkSpec,
    NodeSpec,
    PortSpec,
    ReroutingSpec,
    VcSpec,
)

#: More cell times than this on the congested links would keep a machine busy for days.
_MOST_CELL_HOPS = 10**12


def resolve(
    file: ScenarioFile,
    plan: Plan,
    link_schedules: LinkSchedules,
    packets: Mapping[int, PacketTrace],
    seed: int,
    faults: FaultCollector,
) -> NetworkSpec:
    """The complete spec of one run over a network without faults.

    Raises:
        ScenarioFaults: with all that does not fit that network, or each other.
    """
    lines = lines_of(plan)
    rates = {name: line.rate for name, line in lines.items()}
    context = context_of(file, plan, rates)
    _check_size(context, plan, lines, int(file.tcp.mss.amount) + 40, faults)
    check_contracts(file.gfr, plan, faults)
    flows = FlowResolver(file, plan, context, faults)
    tcp = flows.resolve_tcp()
    check_ipsec(file, plan, faults)
    check_ack_filters(plan, hidden_flows(file, plan), faults)
    proxies = PepResolver(file, plan, context, faults)
    peps = proxies.resolve(tcp)
    tcps = [*tcp.values(), *(pep.tcp for row in peps.values() for pep in row)]
    frame_cells = max(
        (frame_cells_of(spec.mss, spec.llc_snap, spec.timestamps) for spec in tcps),
        default=max(
            (s.frame for s in (*file.source, *file.calls) if not isinstance(s, TraceSource)),
            default=1,
        ),
    )
    vcs_by_link = plan.vcs_by_link()
    mcr, mbs = mcr_of(file.gfr), mbs_of(file.gfr, frame_cells)
    contracts = resolve_contracts(file.gfr, plan, rates, frame_cells, context.duration_ps, faults)
    delays_ps = {name: rounded(link.delay.amount) for name, link in plan.links.items()}
    controls = AbrResolver(file.abr, plan, lines, delays_ps, faults).resolve(contracts)
    cuts = resolve_vs_vd(file.vs_vd, plan, faults)
    changing = {
        name
        for name, link in plan.links.items()
        if name in plan.courses or link.path in link_schedules.schedules
    }
    uplinks = UplinkResolver(plan, lines, changing, tuple(controls), faults).resolve(file.uplink)
    node_ids = {name: i for i, name in enumerate(plan.nodes)}
    link_ids = {name: i for i, name in enumerate(plan.links)}
    vc_ids = {name: i for i, name in enumerate(plan.vcs)}
    jitter = jitters(plan, tcp, lines, faults)
    specs: list[FlowSpec] = flows.resolve(tcp, jitter, vc_ids, peps)
    check_mtus(plan, specs, file.source, packets, faults)
    sources = resolve_sources(file, plan, context, lines, vc_ids, packets, faults)
    datagrams = {source.name: source.datagram_octets for source in sources}
    longest = longest_packets(plan, specs, datagrams)
    ports = PortResolver(plan, vcs_by_link, context.rtt_ps, frame_cells, longest, mcr, mbs, faults)
    port_specs = {name: ports.port(link, lines[name]) for name, link in plan.links.items()}
    of_gfr = {vc: Fraction(rate, MILLICELLS) for vc, rate in mcr.items()}
    of_abr = {vc: Fraction(abr.mcr_millicells, MILLICELLS) for vc, abr in controls.items()}
    uses = link_uses(file, plan, rates, port_specs, sources, {**of_gfr, **of_abr}, faults)
    check_admission(file, plan, uses, of_gfr, of_abr, faults)
    calls, of_calls = resolve_calls(file, plan, lines, uses, seed, faults)
    channels = {
        name: ports.channel(link, lines[name], link_schedules.channels.get(link.path))
        for name, link in plan.links.items()
    }
    variations = {
        name: ports.delay_variation(link, lines[name], name in changing)
        for name, link in plan.links.items()
    }
    policers = resolve_policers(file, plan, context, faults)
    peaks = {name: (bucket,) for name, bucket in peak_policers(file.gfr, contracts).items()}
    limited = [i for i, link in enumerate(plan.links.values()) if link.is_limited]
    check_qos(file.qos, file.records.delay_vcs, plan, faults)
    asked = asked_for(file.qos, plan)
    names = [source.name for source in sources]
    records = resolve_records(
        file.records, context, plan, vcs_by_link, limited, asked, names, faults
    )
    satellites = {
        satellite_node(name)
        for chain in link_schedules.chains.values()
        for _, names in chain.changes
        for name in names
    }
    measure_from_ps = _measure_from_ps(file, context, faults)
    resequencers = resolve_resequencers(file.resequencer, plan, controls, faults)
    processing = resolve_processing(file.processing, plan, satellites, faults)
    faults.raise_if_any()
    return NetworkSpec(
        seed=seed,
        duration_ps=context.duration_ps,
        measure_from_ps=measure_from_ps,
        nodes=tuple(
            NodeSpec(name=name, kind=kind, vs_vd=cuts.get(name))
            for name, kind in plan.nodes.items()
        ),
        links=tuple(
            _link(
                link,
                node_ids,
                lines[name],
                port_specs[name],
                link_schedules,
                plan.courses.get(name),
                channels[name],
                variations[name],
                processing,
            )
            for name, link in plan.links.items()
        ),
        vcs=tuple(
            VcSpec(
                name=name,
                path=tuple([link_ids[link] for link in vc.links]),
                class_="abr" if name in controls else vc.service,  # type: ignore[arg-type]
                policing=(*peaks.get(name, ()), *policers.get(name, ())),
                gfr=contracts.get(name),
                abr=controls.get(name),
                rerouting=_rerouting(vc.rerouting, link_ids),
                resequencer=resequencers.get(name),
            )
            for name, vc in plan.vcs.items()
        ),
        flows=tuple(specs),
        sources=(*sources, *of_calls),
        uplinks=uplinks,
        calls=calls,
        records=records,
    )


def _rerouting(rerouting: Rerouting | None, link_ids: Mapping[str, int]) -> ReroutingSpec | None:
    if rerouting is None:
        return None
    return ReroutingSpec(
        times_ps=tuple(time for time, _ in rerouting.ways),
        paths=tuple(tuple(link_ids[link] for link in way) for _, way in rerouting.ways),
        loses_cells=rerouting.loses_cells,
    )


def context_of(file: ScenarioFile, plan: Plan, rates: Mapping[str, Fraction]) -> Context:
    """What times and sizes in a file go by: RTT and bandwidth of its longest route."""
    rtt_ps, bandwidth = 0, Fraction(0)
    delays_ps = {name: rounded(link.delay.amount) for name, link in plan.links.items()}
    ways = [(flow.forward, flow.reverse) for flow in plan.flows.values()]
    of_sources = [*((vc,) for vc in plan.sources.values()), *plan.datagrams.values()]
    for way in ways or [(route, route) for route in of_sources]:
        out, back = map(plan.links_of, way)
        rtt = sum([delays_ps[link.name] for link in (*out, *back)])
        slowest = min(rates[link.name] for link in out)
        if not bandwidth or rtt > rtt_ps:
            rtt_ps, bandwidth = rtt, slowest
    return Context(rounded(file.run.duration.amount), rtt_ps, bandwidth)


def _measure_from_ps(file: ScenarioFile, context: Context, faults: FaultCollector) -> int:
    """When counting begins; a time at which the run has ended is refused."""
    stated = file.run.measure_from
    from_ps = rounded(stated.amount)
    if from_ps >= context.duration_ps:
        allowed = f"before the end of the run, {show_time(context.duration_ps)}"
        faults.add(("run", "measure_from"), stated.text, allowed)
    return from_ps


def _check_size(
    context: Context, plan: Plan, lines: Mapping[str, Line], packet: int, faults: FaultCollector
) -> None:
    """Refuses runs that no machine finishes; a packet stands for those of `packet` octets."""
    rates = {name: line.rate for name, line in lines.items()}

    def units_per_s(link: str) -> Fraction:
        line = lines[link]
        return line.rate / CELL_BITS if line.packets is None else line.packets_per_s(packet)

    users: dict[str, int] = dict.fromkeys(plan.links, 0)
    for flow in plan.flows.values():
        for link in plan.links_of(flow.forward):
            users[link.name] += 1
    hops: dict[str, int] = {}
    for flow in plan.flows.values():
        route = plan.links_of(flow.forward)
        # A flow sends no faster than its slowest link; of equal ones the most used counts.
        slowest = min(route, key=lambda link: (rates[link.name], -users[link.name])).name
        hops[slowest] = max(hops.get(slowest, 0), len(route))
    seconds = Fraction(context.duration_ps, PS_PER_SECOND)
    cells = sum(count * seconds * units_per_s(name) for name, count in hops.items())
    # Calls of a class are taken to fill no more than one source could.
    spare = {vc for calls in plan.calls.values() for vc in calls.vcs[1:]}
    own = [vc for vc in plan.sources.values() if vc not in spare]
    carrying = [*own, *(vc for route in plan.datagrams.values() for vc in route)]
    for vc in (plan.vcs[name] for name in carrying):
        cells += len(vc.links) * seconds * min(map(units_per_s, vc.links))
    if cells > _MOST_CELL_HOPS:
        units = "cells" if all(line.packets is None for line in lines.values()) else "packets"
        faults.add(
            ("run", "duration"),
            Verbatim(f"{show_time(context.duration_ps)}, up to {show_amount(int(cells))} {units}"),
            f"up to {show_amount(_MOST_CELL_HOPS)} {units}, each counted once a hop",
            f"simulated time; that many {units} would take days",
        )


def _link(
    link: PlannedLink,
    node_ids: Mapping[str, int],
    line: Line,
    port: PortSpec | None,
    link_schedules: LinkSchedules,
    course: Course | None,
    channel: ChannelSpec | None,
    variation: tuple[DelayVariationSpec | None, int],
    processing: Mapping[str, int],
) -> LinkSpec:
    assert port is not None, "a port with a fault"
    if course is not None:
        course = longer_course(course, processing)
        return LinkSpec(
            name=link.name,
            from_=node_ids[link.source],
            to=node_ids[course.targets[0]],
            cell_time_ps=line.cell_time_ps,
            framing=line.packets,
            delay_ps=course.least_ps,
            loss_ppb=link_schedules.losses_ppb.get(link.path, 0),
            channel=channel,
            schedule=course.schedule(node_ids),
            port=port,
        )
    own_ps = processing.get(link.target, 0)
    delay_variation, least_ps = variation
    return LinkSpec(
        name=link.name,
        from_=node_ids[link.source],
        to=node_ids[link.target],
        cell_time_ps=line.cell_time_ps,
        framing=line.packets,
        delay_ps=link_schedules.least_delay_ps(link.path, least_ps) + own_ps,
        loss_ppb=link_schedules.losses_ppb.get(link.path, 0),
        channel=channel,
        delay_variation=delay_variation,
        schedule=longer_schedule(link_schedules.schedules.get(link.path), own_ps),
        port=port,
    )
