"""Which queues a run samples and which traces it keeps."""

from __future__ import annotations

from collections.abc import Sequence, Set

from skycell.input.faults import Verbatim, did_you_mean
from skycell.input.quantities import show_amount
from skycell.scenario.file.scenario_file import MOST_VCS_BY_DEFAULT
from skycell.scenario.resolve.context import context
from skycell.scenario.resolve.qos import asked
from skycell.scenario.resolve.resolution import Resolution, part
from skycell.scenario.resolve.sky_ports import a_sky_port, sky_port_id
from skycell.scenario.resolve.sources import sources
from skycell.spec.declared.network import RecordSpec
from skycell.spec.declared.traces import TRACES

#: More samples than this would not fit into memory beside the run.
_MOST_SAMPLES = 2 * 10**8


@part
def records(net: Resolution) -> RecordSpec:
    """Returns what the run records, with links as ids.

    By default the ports with a limited buffer are sampled, and VC by VC where few VCs cross them;
    and delays are measured of the VCs of cell sources and of those whose delay [[qos]] bounds.
    """
    written, plan, faults = net.file.records, net.plan, net.faults
    ids, bounds = net.link_ids, asked(net)
    crossing = [len(net.vcs_by_link[name]) for name in plan.own_links]
    limited = [i for i, link in enumerate(plan.own_links.values()) if link.is_limited]
    if plan.sky is not None:
        return _over_a_sky(net)
    chosen: dict[str, list[int]] = {}
    for key in ("ports", "vc_ports"):
        names: tuple[str, ...] | None = getattr(written, key)
        if names is None:
            chosen[key] = [
                port for port in limited if key == "ports" or crossing[port] <= MOST_VCS_BY_DEFAULT
            ]
            continue
        chosen[key] = sorted({ids[name] for name in names if name in ids})
        for i, name in enumerate(names):
            if name not in ids:
                allowed = f"a link of the topology, from>to{did_you_mean(name, ids)}"
                faults.add(("records", key, i), name, allowed)
    chosen_ports = {*written.flow_ports, *bounds.flow_ports}
    flow_ports = sorted({ids[name] for name in chosen_ports if name in ids})
    for i, name in enumerate(written.flow_ports):
        if name not in ids or not plan.links[name].carries_packets:
            hint = did_you_mean(name, ids) if name not in ids else ""
            allowed = f"a link of packets, from>to{hint}"
            faults.add(("records", "flow_ports", i), name, allowed)
    delay_vcs = _delay_vcs(net, bounds.delay_vcs)
    _check_traces(net, chosen)
    _check_samples(net, crossing, chosen)
    return RecordSpec(
        sample_every_ps=context(net).time_ps(written.sample_every),
        sampled_ports=tuple(chosen["ports"]),
        vc_sampled_ports=tuple(chosen["vc_ports"]),
        flow_ports=tuple(flow_ports),
        stay_ports=tuple(sorted(ids[name] for name in bounds.stay_ports)),
        delay_vcs=delay_vcs,
        delay_sources=_delay_sources(net, bounds.sources),
        traces=tuple(trace for trace in TRACES if trace in written.traces),  # type: ignore[misc]
    )


def _over_a_sky(net: Resolution) -> RecordSpec:
    """What a run over a constellation records: of ports those that are named alone."""
    written, bounds = net.file.records, asked(net)
    found: dict[str, set[int]] = {"ports": set(), "flow_ports": set()}
    for key, ports in found.items():
        for i, name in enumerate(getattr(written, key) or ()):
            port = sky_port_id(net, name)
            if port is None:
                net.faults.add(("records", key, i), name, a_sky_port(net, name))
            else:
                ports.add(port)
    if written.vc_ports:
        allowed = "nothing: over a constellation ports are recorded for all their VCs together"
        net.faults.add(("records", "vc_ports", 0), written.vc_ports[0], allowed)
    of_flows = {sky_port_id(net, name) for name in bounds.flow_ports}
    flow_ports = sorted({port for port in of_flows if port is not None} | found["flow_ports"])
    named = {sky_port_id(net, name) for name in bounds.sky_ports}
    sampled = sorted({port for port in named if port is not None} | {*flow_ports, *found["ports"]})
    chosen = {"ports": sampled, "vc_ports": []}
    _check_traces(net, chosen)
    _check_samples(net, [], chosen)
    return RecordSpec(
        sample_every_ps=context(net).time_ps(written.sample_every),
        sampled_ports=tuple(sampled),
        vc_sampled_ports=(),
        flow_ports=tuple(flow_ports),
        delay_vcs=_delay_vcs(net, bounds.delay_vcs),
        delay_sources=_delay_sources(net, bounds.sources),
        traces=tuple(trace for trace in TRACES if trace in written.traces),  # type: ignore[misc]
    )


def _delay_sources(net: Resolution, bounded: Set[str]) -> tuple[int, ...]:
    return tuple(
        i
        for i, source in enumerate(sources(net))
        if source.name in bounded or source.pattern.kind == "echo"
    )


def _delay_vcs(net: Resolution, bounded: Set[str]) -> tuple[int, ...]:
    """The VCs of cells whose delays are measured: those that the file names, or else its own."""
    names = net.file.records.delay_vcs
    plan, ids = net.plan, net.vc_ids
    if names is None:
        return tuple(sorted(ids[vc] for vc in {*plan.sources.values(), *bounded}))
    for i, name in enumerate(names):
        if name not in ids:
            net.faults.add(("records", "delay_vcs", i), name, plan.a_vc(name))
        elif any(link.carries_packets for link in plan.links_of([name])):
            allowed = (
                "a VC of cells; the time that packets stay is recorded at every port of packets"
            )
            net.faults.add(("records", "delay_vcs", i), name, allowed)
    return tuple(sorted({ids[name] for name in names if name in ids}))


def _check_traces(net: Resolution, chosen: dict[str, list[int]]) -> None:
    few = f" that at most {MOST_VCS_BY_DEFAULT} VCs cross"
    for trace, key, which in (
        ("queue", "ports", ""),
        ("vc_queue", "vc_ports", few),
        ("service", "ports", ""),
    ):
        if trace in net.file.records.traces and not chosen[key]:
            net.faults.add(
                ("records", "traces"),
                Verbatim(f'"{trace}", and no port is sampled'),
                f"a port in records.{key}, or one with a limited buffer{which}",
            )


def _check_samples(net: Resolution, crossing: Sequence[int], chosen: dict[str, list[int]]) -> None:
    every = net.file.records.sample_every
    queues = len(chosen["ports"]) + sum(crossing[port] for port in chosen["vc_ports"])
    instants = context(net).duration_ps // context(net).time_ps(every)
    samples = instants * queues
    if samples > _MOST_SAMPLES:
        net.faults.add(
            ("records", "sample_every"),
            Verbatim(f'"{every}", which makes {show_amount(samples)} samples'),
            f"at most {show_amount(_MOST_SAMPLES)} samples",
        )
