"""Which queues a run samples and which traces it keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from skycell.input.faults import FaultCollector, Verbatim, did_you_mean
from skycell.input.quantities import show_amount
from skycell.scenario.file.scenario_file import MOST_VCS_BY_DEFAULT, Records
from skycell.scenario.interpreter.context import Context
from skycell.scenario.plan.plan import Plan
from skycell.scenario.resolve.qos import Asked
from skycell.spec.network import RecordSpec
from skycell.spec.traces import TRACES

#: More samples than this would not fit into memory beside the run.
_MOST_SAMPLES = 2 * 10**8


def resolve_records(
    records: Records,
    context: Context,
    plan: Plan,
    vcs_by_link: Mapping[str, Sequence[str]],
    limited: list[int],
    asked: Asked,
    sources: Sequence[str],
    faults: FaultCollector,
) -> RecordSpec:
    """Records with links as ids.

    By default the ports with a limited buffer are sampled, and VC by VC where few VCs cross them;
    and delays are measured of the VCs of cell sources and of those in `asked`, whose ports have
    stays flow by flow as well as those that the file names. `sources` are named in their order.
    """
    links = list(plan.links)
    ids = {name: i for i, name in enumerate(links)}
    crossing = [len(vcs_by_link[name]) for name in links]
    chosen: dict[str, list[int]] = {}
    for key in ("ports", "vc_ports"):
        written: tuple[str, ...] | None = getattr(records, key)
        if written is None:
            chosen[key] = [
                port for port in limited if key == "ports" or crossing[port] <= MOST_VCS_BY_DEFAULT
            ]
            continue
        chosen[key] = sorted({ids[name] for name in written if name in ids})
        for i, name in enumerate(written):
            if name not in ids:
                allowed = f"a link of the topology, from>to{did_you_mean(name, ids)}"
                faults.add(("records", key, i), name, allowed)
    own = {*records.flow_ports, *asked.flow_ports}
    flow_ports = sorted({ids[name] for name in own if name in ids})
    for i, name in enumerate(records.flow_ports):
        if name not in ids or not plan.links[name].carries_packets:
            hint = did_you_mean(name, ids) if name not in ids else ""
            allowed = f"a link of packets, from>to{hint}"
            faults.add(("records", "flow_ports", i), name, allowed)
    delay_vcs = _delay_vcs(records, plan, asked.delay_vcs, faults)
    _check_traces(records, chosen, faults)
    _check_samples(records, context, crossing, chosen, faults)
    return RecordSpec(
        sample_every_ps=context.time_ps(records.sample_every),
        sampled_ports=tuple(chosen["ports"]),
        vc_sampled_ports=tuple(chosen["vc_ports"]),
        flow_ports=tuple(flow_ports),
        stay_ports=tuple(sorted(ids[name] for name in asked.stay_ports)),
        delay_vcs=delay_vcs,
        delay_sources=tuple(i for i, name in enumerate(sources) if name in asked.sources),
        traces=tuple(trace for trace in TRACES if trace in records.traces),  # type: ignore[misc]
    )


def _delay_vcs(
    records: Records, plan: Plan, bounded: Set[str], faults: FaultCollector
) -> tuple[int, ...]:
    ids = {name: i for i, name in enumerate(plan.vcs)}
    if records.delay_vcs is None:
        return tuple(sorted(ids[vc] for vc in {*plan.sources.values(), *bounded}))
    for i, name in enumerate(records.delay_vcs):
        if name not in ids:
            faults.add(("records", "delay_vcs", i), name, plan.a_vc(name))
        elif any(link.carries_packets for link in plan.links_of([name])):
            allowed = "a VC of cells: how long packets wait is recorded at every port of packets"
            faults.add(("records", "delay_vcs", i), name, allowed)
    return tuple(sorted({ids[name] for name in records.delay_vcs if name in ids}))


def _check_traces(records: Records, chosen: dict[str, list[int]], faults: FaultCollector) -> None:
    few = f" that at most {MOST_VCS_BY_DEFAULT} VCs cross"
    for trace, key, which in (
        ("queue", "ports", ""),
        ("vc_queue", "vc_ports", few),
        ("service", "ports", ""),
    ):
        if trace in records.traces and not chosen[key]:
            faults.add(
                ("records", "traces"),
                Verbatim(f'"{trace}", and no port is sampled'),
                f"a port in records.{key}, or one with a limited buffer{which}",
            )


def _check_samples(
    records: Records,
    context: Context,
    crossing: Sequence[int],
    chosen: dict[str, list[int]],
    faults: FaultCollector,
) -> None:
    queues = len(chosen["ports"]) + sum(crossing[port] for port in chosen["vc_ports"])
    instants = context.duration_ps // context.time_ps(records.sample_every)
    samples = instants * queues
    if samples > _MOST_SAMPLES:
        faults.add(
            ("records", "sample_every"),
            Verbatim(f'"{records.sample_every}", which makes {show_amount(samples)} samples'),
            f"at most {show_amount(_MOST_SAMPLES)} samples",
        )
