"""The port that feeds a link: its buffer, its policy's thresholds and its scheduler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import sqrt
from typing import cast

from skycell.input.faults import Path, Verbatim
from skycell.input.parameters import meaning_of
from skycell.input.quantities import rounded, show_amount, show_time
from skycell.scenario.declared.channels import CHANNELS, AnyChannel
from skycell.scenario.declared.delays import DELAYS
from skycell.scenario.declared.policies import POLICIES
from skycell.scenario.declared.rate_algorithms import RATE_ALGORITHMS
from skycell.scenario.declared.schedulers import SCHEDULERS
from skycell.scenario.interpreter.place import Buffer, Place, Vcs
from skycell.scenario.interpreter.rules import resolve
from skycell.scenario.links.jitter import PortGap
from skycell.scenario.links.keys import CongestedLink
from skycell.scenario.plan.plan import PlannedLink
from skycell.scenario.resolve.by_flow import check_by_flow, counts_flows
from skycell.scenario.resolve.context import context
from skycell.scenario.resolve.contracts import mbs, mcrs
from skycell.scenario.resolve.jitter import gap_ps
from skycell.scenario.resolve.lines import Line, changing, lines
from skycell.scenario.resolve.longest import frame_cells, longest_packets
from skycell.scenario.resolve.resolution import Resolution, part
from skycell.scenario.resolve.token_buckets import token_buckets
from skycell.scenario.values.buffer_units import BufferUnit, of_cells, of_packets
from skycell.scenario.values.cells import MOST_CELLS
from skycell.spec.declared.network import (
    ChannelSpec,
    DelayVariationSpec,
    FifoSpec,
    PortSpec,
    QueueSpec,
    RateAlgorithmSpec,
    SchedulerSpec,
    ServiceClass,
    StrictPrioritySpec,
    TableDelaySpec,
)

#: From the mean of a law down to its least, in spreads; `DelayVariationSpec::reach_ps` in Rust.
_REACH = {"uniform": Fraction(1), "normal": Fraction(4), "pareto": Fraction(1 / sqrt(3))}


@part
def ports(net: Resolution) -> dict[str, PortSpec | None]:
    """Returns the port that feeds each link; none with a fault.

    Access links of one table share theirs, which saves large networks time and memory.
    """
    found: dict[str, PortSpec | None] = {}
    unlimited: dict[tuple[Path, Line, bool], PortSpec | None] = {}
    for name, link in net.plan.links.items():
        if not link.takes_all_in:
            found[name] = _port(net, link)
            continue
        kind = (link.path, lines(net)[name], isinstance(link.jitter, PortGap))
        if kind not in unlimited:
            unlimited[kind] = _port(net, link)
        found[name] = unlimited[kind]
    return found


@part
def channels(net: Resolution) -> dict[str, ChannelSpec | None]:
    """Returns how the losses of each link come in bursts; none if they do not, or with a fault."""
    found = {}
    for name, link in net.plan.links.items():
        written = net.schedules.channels.get(link.loss_path)
        found[name] = None if written is None else _channel(net, link, written)
    return found


def _channel(net: Resolution, link: PlannedLink, written: AnyChannel) -> ChannelSpec | None:
    place = _place(net, link.loss_path, link)
    channel: ChannelSpec | None = resolve(CHANNELS[written.kind], written, place)
    return channel


@part
def delay_variations(net: Resolution) -> dict[str, tuple[DelayVariationSpec | None, int]]:
    """Returns how the delay of each link varies, and the least that it takes, picoseconds.

    None where the delay does not vary, or with a fault.
    """
    return {name: _delay_variation(net, link) for name, link in net.plan.links.items()}


def _port(net: Resolution, link: PlannedLink) -> PortSpec | None:
    line = lines(net)[link.name]
    queues: list[QueueSpec | None] = []
    seen: set[str] = set()
    for i, own in enumerate(link.port.classes):
        path = (*link.path, "class", i)
        if own.name in seen:
            net.faults.add((*path, "name"), own.name, "each class once")
        seen.add(own.name)
        queue = link.port.model_copy(update={"buffer": own.buffer, "policy": own.policy})
        variant = replace(link, port=queue, path=path, prefix="")
        queues.append(_queue(net, variant, own.name))
    queues.append(_queue(net, link, None))
    scheduler = _scheduler(net, link)
    noted = len(net.faults.faults)
    check_by_flow(net, link)
    buckets = token_buckets(net, link)
    rate_algorithm = _rate_algorithm(net, link)
    has_fault = len(net.faults.faults) > noted
    frame_gap_ps = gap_ps(link.jitter, link.path, line.cell_time_ps, net.faults)
    whole = tuple(queue for queue in queues if queue is not None)
    if len(whole) < len(queues) or scheduler is None or has_fault:
        return None
    return PortSpec(
        queues=whole,
        scheduler=scheduler,
        frame_gap_ps=frame_gap_ps,
        rate_algorithm=rate_algorithm,
        ack_filter=link.ack_filter,
        **buckets,
    )


def _rate_algorithm(net: Resolution, link: PlannedLink) -> RateAlgorithmSpec | None:
    if link.port.rate_algorithm is None:
        return None
    where = (*link.path, "rate_algorithm")
    if lines(net)[link.name].packets is not None:
        kind = link.port.rate_algorithm.kind
        net.faults.add(where, kind, "nothing: the link carries packets")
        return None
    buffer = link.port.buffer
    capacity = None if isinstance(buffer, str) else _unit(net, link).amount(buffer)
    place = _place(net, where, link, capacity)
    rule = RATE_ALGORITHMS[link.port.rate_algorithm.kind]
    algorithm: RateAlgorithmSpec | None = resolve(rule, link.port.rate_algorithm, place)
    return algorithm


def _delay_variation(net: Resolution, link: PlannedLink) -> tuple[DelayVariationSpec | None, int]:
    mean_ps = rounded(link.delay.amount)
    written = link.keys.delay_variation
    if written is None:
        return None, mean_ps
    where = (*link.table_of("delay_variation"), "delay_variation")
    refused = {
        "nothing: the link carries cells, whose order a VC keeps": not link.carries_packets,
        "nothing: the delay of the link has a schedule": link.name in changing(net),
    }
    for allowed, is_so in refused.items():
        if is_so:
            net.faults.add(where, Verbatim("a table"), allowed)
            return None, mean_ps
    place = _place(net, where, link)
    spec: DelayVariationSpec | None = resolve(DELAYS[written.kind], written, place)
    reach_ps = 0
    if spec is not None and not isinstance(spec, TableDelaySpec):
        reach_ps = rounded(spec.spread_ps * _REACH[spec.kind])
        if reach_ps > mean_ps:
            got = Verbatim(f"{show_time(spec.spread_ps)} about a delay of {show_time(mean_ps)}")
            allowed = f"a delay from {show_time(reach_ps)} on: no delay is below 0"
            net.faults.add((*where, "spread"), got, allowed)
    return spec, max(mean_ps - reach_ps, 0)


def _queue(net: Resolution, link: PlannedLink, service: str | None) -> QueueSpec | None:
    noted = len(net.faults.faults)
    unit = _unit(net, link)
    capacity = _capacity(net, link)
    if len(net.faults.faults) > noted:
        return None  # of which no threshold can be compared with its size
    where = (*link.path, link.policy_key)
    rule = POLICIES[link.port.policy.kind]
    if rule.facts.get("needs") == "packets" and not link.carries_packets:
        allowed = "a policy that decides as frames arrive: the link carries cells"
        net.faults.add((*where, "kind"), link.port.policy.kind, allowed)
        return None
    policy = resolve(rule, link.port.policy, _place(net, where, link, capacity, (service,)))
    if policy is None:
        return None
    return QueueSpec(
        class_=cast(ServiceClass | None, service),
        capacity_cells=capacity,
        counts_octets=unit.counts_octets,
        by_flow=counts_flows(link),
        policy=policy,
    )


def _unit(net: Resolution, link: PlannedLink) -> BufferUnit:
    line, rtt_ps = lines(net)[link.name], context(net).rtt_ps
    if line.packets is None:
        return of_cells(frame_cells(net), line.cell_time_ps, rtt_ps)
    size = None if isinstance(link.port.buffer, str) else link.port.buffer.dimension
    return of_packets(line.packets, longest_packets(net)[link.name], rtt_ps, size)


def _place(
    net: Resolution,
    where: Path,
    link: PlannedLink,
    capacity: int | None = None,
    classes: Sequence[str | None] = (None,),
) -> Place:
    """Returns the place of a rule of the port that feeds a link, with what it may follow from."""
    return Place(
        path=where,
        faults=net.faults,
        link=link.name,
        line=lines(net)[link.name],
        packet=longest_packets(net)[link.name],
        buffer=Buffer(capacity, _unit(net, link)),
        classes=classes,
        vcs=replace(_contracts_of_vcs(net), across=net.vcs_by_link[link.name]),
    )


@part
def _contracts_of_vcs(net: Resolution) -> Vcs:
    """Returns the promises to all VCs of the network; each port adds the VCs that cross it."""
    mcr = {name: mcrs(net).get(name, 0) for name in net.plan.vcs}
    return Vcs((), mcr, mbs(net), all(name in net.plan.vcs for name in mcrs(net)))


def _scheduler(net: Resolution, link: PlannedLink) -> SchedulerSpec | None:
    classes = (*(own.name for own in link.port.classes), None)
    scheduler = link.port.scheduler
    where = (*link.path, "scheduler")
    if scheduler is None:
        return FifoSpec() if len(classes) == 1 else StrictPrioritySpec()
    rule = SCHEDULERS[scheduler.kind]
    serves = rule.facts["serves"]
    if serves == "VCs" and (len(classes) > 1 or net.plan.nodes[link.source] != "switch"):
        at = link.name if len(classes) == 1 else f"{len(classes)} queues"
        allowed = "one queue at a switch's port: this scheduler orders the VCs in one buffer"
        got = Verbatim(f"{scheduler.kind} for {at}")
        net.faults.add(where, got, allowed)
        return None
    if serves == "packets" and (not link.carries_packets or len(classes) > 1):
        allowed = (
            "a scheduler of cells or of several queues: this scheduler orders packets in one queue"
        )
        net.faults.add(where, scheduler.kind, allowed)
        return None
    if serves == "one queue" and len(classes) > 1:
        several = [kind for kind, one in SCHEDULERS.items() if one.facts["serves"] == "queues"]
        allowed = f"{', '.join(several[:-1])} or {several[-1]} for several queues"
        net.faults.add(where, scheduler.kind, allowed)
        return None
    if link.carries_packets and scheduler.kind == "guaranteed_rate":
        allowed = "a scheduler that serves packets: this scheduler has rates of cells"
        net.faults.add(where, scheduler.kind, allowed)
        return None
    place = _place(net, where, link, None, classes)
    spec: SchedulerSpec | None = resolve(rule, scheduler, place)
    return spec


def _capacity(net: Resolution, link: PlannedLink) -> int | None:
    buffer = link.port.buffer
    if isinstance(buffer, str):
        return None
    unit = _unit(net, link)
    where = (*link.path, link.buffer_key)
    meaning = meaning_of(CongestedLink.model_fields["buffer"])
    amount = unit.amount(buffer)
    if amount is None:
        net.faults.add(where, buffer.text, unit.allowed_sizes)
        return None
    # A packet that never fits would be sent again for ever.
    least = 1 if not unit.counts_octets else unit.full
    if not least <= amount <= MOST_CELLS:
        got = Verbatim(f'"{buffer}", which is {unit.shown(amount)}')
        low = show_amount(1) if least == 1 else f"{unit.shown(least)}, one full packet,"
        allowed = f"from {low} to {unit.shown(MOST_CELLS)}"
        net.faults.add(where, got, allowed, meaning)
    return amount
