"""Flows of a scenario resolved to integers: TCP parameters, traffic, start times, losses."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from skycell.input.faults import Path, Verbatim
from skycell.input.quantities import LONGEST_RUN_PS, show_amount, show_time
from skycell.scenario.declared.traffic import TRAFFIC, Traffic
from skycell.scenario.file.demand import Connections, start_of
from skycell.scenario.file.traffic import Loss, Staggered, Start, Together
from skycell.scenario.interpreter.parameters import shown_window
from skycell.scenario.interpreter.place import Place
from skycell.scenario.interpreter.rules import resolve
from skycell.scenario.plan.sky_demand import demands_of
from skycell.scenario.plan.users import users_of
from skycell.scenario.resolve.ack_filter import hidden_flows
from skycell.scenario.resolve.context import context
from skycell.scenario.resolve.jitter import jitters
from skycell.scenario.resolve.peps import peps
from skycell.scenario.resolve.resolution import Resolution, part
from skycell.scenario.resolve.tcp import tcps
from skycell.scenario.values.tcp_types import LARGEST_WINDOW
from skycell.spec.declared.network import (
    DistributionConstant,
    FlowSpec,
    LossScript,
    StartAt,
    StartDrawn,
    TrafficSpec,
    TrafficTransfers,
)

if TYPE_CHECKING:
    from skycell.orbit.pairs import Demand


@part
def flows(net: Resolution) -> tuple[FlowSpec, ...]:
    """Returns all flows, in the order of the plan."""
    if users_of(net.file):
        return ()  # those of the plan are pairs of hosts
    file, names = net.file, list(net.plan.flows)
    traffic = _common_traffic(net)
    loss = dict.fromkeys(names, file.loss)
    overrides = list(zip(file.flow, net.named_flows, strict=True))
    with_start = {name for flow, named in overrides if flow.start for _, name in named}
    tables = demands_of(file)
    with_start |= {name for name, i in net.plan.demands.items() if start_of(tables[i])}
    with_start |= net.plan.listed.keys()
    start = starts(net, file.start, names, ("start",), with_start)
    for i, table in enumerate(tables):
        written = start_of(table)
        if written is not None:
            own = [name for name, place in net.plan.demands.items() if place == i]
            start.update(starts(net, written, own, ("traffic", i, "start")))
    for name, row in net.plan.listed.items():
        _check_starts(net, {name: row.start_ps}, ("traffic", net.plan.demands[name], "file"), ())
        start[name] = _start_at(row.start_ps)
    for i, (override, named) in enumerate(overrides):
        known = [name for _, name in named if name in traffic]
        if override.traffic is not None:
            changed = _traffic(net, override.traffic, ("flow", i, "traffic"))
            traffic.update(dict.fromkeys(known, changed))
        if override.loss is not None:
            loss.update(dict.fromkeys(known, override.loss))
        if override.start is not None:
            start.update(starts(net, override.start, known, ("flow", i, "start")))
    paths: dict[int, Path] = {id(file.loss): ("loss",)}
    paths.update((id(flow.loss), ("flow", i, "loss")) for i, flow in enumerate(file.flow))
    tcp = tcps(net)
    kinds = {(id(loss[name]), tcp[name].mss): loss[name] for name in names}
    scripts = {kind: _loss(net, table, kind[1], paths[kind[0]]) for kind, table in kinds.items()}
    return tuple(
        FlowSpec(
            name=name,
            forward=tuple(net.vc_ids[vc] for vc in flow.forward),
            reverse=tuple(net.vc_ids[vc] for vc in flow.reverse),
            tcp=tcp[name],
            traffic=traffic[name],
            start=start[name],
            loss_script=scripts[id(loss[name]), tcp[name].mss],
            jitter=jitters(net)[name],
            peps=peps(net).get(name, ()),
            ipsec=name in hidden_flows(net),
        )
        for name, flow in net.plan.flows.items()
    )


def _common_traffic(net: Resolution) -> dict[str, TrafficSpec]:
    """What each flow sends, but for those that [[flow]] names."""
    names, written = net.plan.flows, net.file.traffic
    if not isinstance(written, tuple):
        return dict.fromkeys(names, _traffic(net, written, ("traffic",)))
    specs = {
        i: _traffic(net, table, ("traffic", i))
        for i, table in enumerate(written)
        if isinstance(table, Connections)
    }
    listed = net.plan.listed
    return {
        name: _one_transfer(listed[name]) if name in listed else specs[net.plan.demands[name]]
        for name in names
    }


def _one_transfer(row: Demand) -> TrafficTransfers:
    """A transfer of the size that a row of a file has."""
    return TrafficTransfers(
        size_octets=row.octets or 0,
        count=1,
        idle=DistributionConstant(value_ps=0),
        new_connection=True,
    )


def starts(
    net: Resolution, start: Start, names: list[str], path: Path, elsewhere: Collection[str] = ()
) -> dict[str, StartAt | StartDrawn]:
    """Returns when flows, or a source, begin; those `elsewhere` have a start of their own."""
    time = context(net).time_ps
    if isinstance(start, Together):
        at = time(start.at)
        _check_starts(net, dict.fromkeys(names, at), (*path, "at"), elsewhere)
        return dict.fromkeys(names, _start_at(at))
    if isinstance(start, Staggered):
        first, every = time(start.first), time(start.every)
        times = {name: first + i * every for i, name in enumerate(names)}
        if first >= context(net).duration_ps:
            _check_starts(net, dict.fromkeys(names, first), (*path, "first"), elsewhere)
        else:
            _check_starts(net, times, (*path, "every"), elsewhere)
        return {name: _start_at(at) for name, at in times.items()}
    where = (*path, "latest")
    latest = context(net).time_up_to(LONGEST_RUN_PS, start.latest, where, net.faults)
    earliest = time(start.earliest)
    if earliest >= latest:
        net.faults.add(where, start.latest.text, f"above earliest, {show_time(earliest)}")
    # A range may end after the run: whether a flow begins is then left to its draw.
    _check_starts(net, dict.fromkeys(names, earliest), (*path, "earliest"), elsewhere)
    return dict.fromkeys(names, StartDrawn(from_ps=min(earliest, latest), to_ps=latest))


def _start_at(time_ps: int) -> StartAt:
    """Returns a start; if it is after every run, its fault has been noted."""
    return StartAt(time_ps=min(time_ps, LONGEST_RUN_PS))


def _check_starts(
    net: Resolution, times: Mapping[str, int], path: Path, elsewhere: Collection[str]
) -> None:
    """Refuses a time at which nothing can begin any more."""
    duration_ps = context(net).duration_ps
    last_ps = max((at for name, at in times.items() if name not in elsewhere), default=0)
    if last_ps >= duration_ps:
        got = Verbatim(f"a start at {show_time(last_ps)}")
        allowed = f"before the end of the run, {show_time(duration_ps)}"
        net.faults.add(path, got, allowed, "when a flow or a source begins")


def _traffic(net: Resolution, traffic: Traffic | Connections, path: Path) -> TrafficSpec:
    place = Place(path, net.faults, context=context(net))
    spec: TrafficSpec = resolve(TRAFFIC[traffic.kind], traffic, place)
    return spec


def _loss(net: Resolution, loss: Loss, mss: int, path: Path) -> LossScript:
    octets = None
    if loss.at_cwnd is not None:
        octets = context(net).octets(loss.at_cwnd, mss)
        if octets > LARGEST_WINDOW:
            got = shown_window(loss.at_cwnd, octets)
            net.faults.add((*path, "at_cwnd"), got, f"up to {show_amount(LARGEST_WINDOW)} B")
        octets = min(octets, LARGEST_WINDOW)
    return LossScript(transmissions=loss.transmissions, at_cwnd_octets=octets)
