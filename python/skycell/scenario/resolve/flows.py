"""Flows of a scenario resolved to integers: TCP parameters, traffic, start times, losses."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from skycell.input.faults import FaultCollector, Path, Verbatim, did_you_mean
from skycell.input.quantities import LONGEST_RUN_PS, show_amount, show_time
from skycell.scenario.declared.traffic import TRAFFIC, Traffic
from skycell.scenario.file.scenario_file import FlowOverride, ScenarioFile
from skycell.scenario.file.traffic import Loss, Staggered, Start, Together
from skycell.scenario.interpreter.context import Context
from skycell.scenario.interpreter.parameters import shown_window
from skycell.scenario.interpreter.place import Place
from skycell.scenario.interpreter.rules import resolve
from skycell.scenario.plan.plan import Plan
from skycell.scenario.resolve.ack_filter import hidden_flows
from skycell.scenario.resolve.tcp import TcpResolver
from skycell.scenario.values.tcp_types import LARGEST_WINDOW
from skycell.spec.network import (
    FlowSpec,
    JitterSpec,
    LossScript,
    PepSpec,
    StartAt,
    StartDrawn,
    TcpSpec,
    TrafficSpec,
)


def _start_at(time_ps: int) -> StartAt:
    """A start; one after every run is a fault told already."""
    return StartAt(time_ps=min(time_ps, LONGEST_RUN_PS))


@dataclass
class FlowResolver:
    """Resolves the flows of a plan, each with its overrides."""

    file: ScenarioFile
    plan: Plan
    context: Context
    faults: FaultCollector

    def resolve_tcp(self) -> dict[str, TcpSpec]:
        """TCP parameters by flow."""
        named: dict[str, int] = {}
        for i, override in enumerate(self.file.flow):
            self._check_names(i, override, named)
        if not self.plan.flows:
            return {}  # nobody's windows need a long enough RTT
        common = TcpResolver(self.file.tcp, ("tcp",), self.context, self.faults).resolve()
        specs = dict.fromkeys(self.plan.flows, common)
        for i, override in enumerate(self.file.flow):
            if override.tcp is not None:
                path: Path = ("flow", i, "tcp")
                own = TcpResolver(override.tcp, path, self.context, self.faults).resolve()
                specs.update({name: own for name in override.names if name in specs})
        return specs

    def resolve(
        self,
        tcp: Mapping[str, TcpSpec],
        jitter: Mapping[str, JitterSpec],
        vc_ids: Mapping[str, int],
        peps: Mapping[str, tuple[PepSpec, ...]],
    ) -> list[FlowSpec]:
        """All flows, in the order of the plan."""
        names = list(self.plan.flows)
        hidden = hidden_flows(self.file, self.plan)
        traffic = dict.fromkeys(names, self._traffic(self.file.traffic, ("traffic",)))
        loss = dict.fromkeys(names, self.file.loss)
        own = {name for flow in self.file.flow if flow.start for name in flow.names}
        start = self.starts(self.file.start, names, ("start",), own)
        for i, override in enumerate(self.file.flow):
            known = [name for name in override.names if name in traffic]
            if override.traffic is not None:
                own_traffic = self._traffic(override.traffic, ("flow", i, "traffic"))
                traffic.update(dict.fromkeys(known, own_traffic))
            if override.loss is not None:
                loss.update(dict.fromkeys(known, override.loss))
            if override.start is not None:
                start.update(self.starts(override.start, known, ("flow", i, "start")))
        paths: dict[int, Path] = {id(self.file.loss): ("loss",)}
        paths.update((id(flow.loss), ("flow", i, "loss")) for i, flow in enumerate(self.file.flow))
        kinds = {(id(loss[name]), tcp[name].mss): loss[name] for name in names}
        scripts = {kind: self._loss(own, kind[1], paths[kind[0]]) for kind, own in kinds.items()}
        return [
            FlowSpec(
                name=name,
                forward=tuple(vc_ids[vc] for vc in flow.forward),
                reverse=tuple(vc_ids[vc] for vc in flow.reverse),
                tcp=tcp[name],
                traffic=traffic[name],
                start=start[name],
                loss_script=scripts[id(loss[name]), tcp[name].mss],
                jitter=jitter[name],
                peps=peps.get(name, ()),
                ipsec=name in hidden,
            )
            for name, flow in self.plan.flows.items()
        ]

    def _traffic(self, traffic: Traffic, path: Path) -> TrafficSpec:
        place = Place(path, self.faults, context=self.context)
        spec: TrafficSpec = resolve(TRAFFIC[traffic.kind], traffic, place)
        return spec

    def _check_names(self, i: int, override: FlowOverride, named: dict[str, int]) -> None:
        for k, name in enumerate(override.names):
            if name not in self.plan.flows:
                hint = did_you_mean(name, self.plan.flows)
                known = [*list(self.plan.flows)[:4], *(["…"] if len(self.plan.flows) > 4 else [])]
                such_as = f" ({', '.join(known)})" if known else ""
                allowed = f"a flow of the topology{such_as}{hint}"
                self.faults.add(("flow", i, "names", k), name, allowed)
            elif name in named:
                allowed = f"each flow once; flow[{named[name]}] names it already"
                self.faults.add(("flow", i, "names", k), name, allowed)
            named.setdefault(name, i)

    def _loss(self, loss: Loss, mss: int, path: Path) -> LossScript:
        octets = None
        if loss.at_cwnd is not None:
            octets = self.context.octets(loss.at_cwnd, mss)
            if octets > LARGEST_WINDOW:
                self.faults.add(
                    (*path, "at_cwnd"),
                    shown_window(loss.at_cwnd, octets),
                    f"up to {show_amount(LARGEST_WINDOW)} B",
                )
            octets = min(octets, LARGEST_WINDOW)
        return LossScript(transmissions=loss.transmissions, at_cwnd_octets=octets)

    def starts(
        self, start: Start, names: list[str], path: Path, elsewhere: Collection[str] = ()
    ) -> dict[str, StartAt | StartDrawn]:
        """When some flows, or a cell source, begin; those `elsewhere` have a start of their own."""
        time = self.context.time_ps
        if isinstance(start, Together):
            at = time(start.at)
            self._check_starts(dict.fromkeys(names, at), (*path, "at"), elsewhere)
            return dict.fromkeys(names, _start_at(at))
        if isinstance(start, Staggered):
            first, every = time(start.first), time(start.every)
            times = {name: first + i * every for i, name in enumerate(names)}
            if first >= self.context.duration_ps:
                self._check_starts(dict.fromkeys(names, first), (*path, "first"), elsewhere)
            else:
                self._check_starts(times, (*path, "every"), elsewhere)
            return {name: _start_at(at) for name, at in times.items()}
        latest = self.context.time_up_to(
            LONGEST_RUN_PS, start.latest, (*path, "latest"), self.faults
        )
        earliest = time(start.earliest)
        if earliest >= latest:
            allowed = f"above earliest, {show_time(earliest)}"
            self.faults.add((*path, "latest"), start.latest.text, allowed)
        # A range may end after the run: whether a flow begins is then left to its draw.
        self._check_starts(dict.fromkeys(names, earliest), (*path, "earliest"), elsewhere)
        return dict.fromkeys(names, StartDrawn(from_ps=min(earliest, latest), to_ps=latest))

    def _check_starts(
        self, times: Mapping[str, int], path: Path, elsewhere: Collection[str]
    ) -> None:
        """Refuses a time at which nothing can begin any more."""
        last_ps = max((at for name, at in times.items() if name not in elsewhere), default=0)
        if last_ps >= self.context.duration_ps:
            got = Verbatim(f"a start at {show_time(last_ps)}")
            allowed = f"before the end of the run, {show_time(self.context.duration_ps)}"
            self.faults.add(path, got, allowed, "when a flow or a source begins")
