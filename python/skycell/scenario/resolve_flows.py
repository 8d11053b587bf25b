"""Flows of a scenario resolved to integers: TCP parameters, traffic, start times, losses."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from skycell.scenario.context import Context
from skycell.scenario.faults import FaultCollector, Path, Shown, did_you_mean
from skycell.scenario.file import FlowOverride, ScenarioFile
from skycell.scenario.network_spec import (
    DelayedAckSpec,
    FlowSpec,
    JitterSpec,
    LossScript,
    RetransmitDelayNone,
    RetransmitDelaySegments,
    StartAt,
    StartDrawn,
    TcpSpec,
    TickPhaseAt,
    TickPhaseDrawn,
)
from skycell.scenario.parameters import meaning_of
from skycell.scenario.plan import Plan
from skycell.scenario.quantities import (
    LONGEST_RUN_PS,
    Dimension,
    Quantity,
    show_amount,
    show_time,
)
from skycell.scenario.resolve_traffic import TrafficResolver
from skycell.scenario.tcp import (
    LARGEST_WINDOW,
    RECEIVER_WINDOW,
    SACK_PARTIAL_ACKS,
    WINDOW_FIELD,
    Tcp,
)
from skycell.scenario.traffic import (
    Loss,
    Staggered,
    Start,
    Together,
)


def _ticks(value: Quantity, tick_ps: int) -> int:
    """A timeout in ticks, rounded up."""
    if value.dimension is Dimension.TICKS:
        return int(value.amount)
    return -int(-value.amount // tick_ps)


def _shown_window(written: Quantity | str, octets: int) -> Shown:
    if isinstance(written, Quantity) and written.dimension is Dimension.SIZE:
        return Shown(f'"{written}"')
    return Shown(f'"{written}", which is {show_amount(octets)} B')


@dataclass
class TcpResolver:
    """Resolves one set of TCP parameters; `path` is its table in the file."""

    tcp: Tcp
    path: Path
    context: Context
    faults: FaultCollector

    def resolve(self) -> TcpSpec:
        """The TCP parameters in octets, ticks and picoseconds."""
        tcp = self.tcp
        mss = int(tcp.mss.amount)
        rwnd = self._receiver_window(mss)
        tick_ps = self.context.time_ps(tcp.tick)
        low, initial, high = self._rto_ticks(tick_ps)
        delay = tcp.sack_retransmit_delay
        if tcp.timestamps and tcp.sack_max_blocks > 3:
            allowed = "up to 3 with timestamps: options have 40 octets"
            self._fault("sack_max_blocks", tcp.sack_max_blocks, allowed)
        return TcpSpec(
            variant=_VARIANTS[tcp.variant],
            mss=mss,
            llc_snap=tcp.llc_snap,
            rwnd=rwnd,
            window_scaling=tcp.window_scaling,
            initial_cwnd=self._window("initial_cwnd", tcp.initial_cwnd, mss, rwnd, at_least=mss),
            initial_ssthresh=self._window("initial_ssthresh", tcp.initial_ssthresh, mss, rwnd),
            max_cwnd=self._window("max_cwnd", tcp.max_cwnd, mss, rwnd, at_least=mss),
            congestion_control=tcp.congestion_control,  # type: ignore[arg-type]
            cwnd_growth=tcp.cwnd_growth,  # type: ignore[arg-type]
            slow_start_at_ssthresh=tcp.slow_start_at_ssthresh,
            ssthresh_basis=tcp.ssthresh_basis,  # type: ignore[arg-type]
            dup_ack_threshold=tcp.dup_ack_threshold,
            tick_ps=tick_ps,
            tick_phase=self._tick_phase(tick_ps),
            tick_order=tcp.tick_order,  # type: ignore[arg-type]
            rto_min_ticks=low,
            rto_initial_ticks=initial,
            rto_max_ticks=high,
            rto_max_backoff=tcp.rto_max_backoff,
            rto_restart=tcp.rto_restart,  # type: ignore[arg-type]
            timestamps=tcp.timestamps,
            pipe_at_entry="cwnd" if tcp.pipe_at_entry == "cwnd" else "cwnd_less_three",
            sack_partial_ack=SACK_PARTIAL_ACKS[tcp.sack_partial_ack],
            sack_partial_ack_restarts=tcp.sack_partial_ack_restarts,  # type: ignore[arg-type]
            sack_pipe_room=tcp.sack_pipe_room,  # type: ignore[arg-type]
            sack_retransmit_delay=(
                RetransmitDelaySegments(count=int(delay.amount))
                if isinstance(delay, Quantity)
                else RetransmitDelayNone()
            ),
            sack_max_blocks=tcp.sack_max_blocks,
            partial_ack_window=tcp.partial_ack_window,  # type: ignore[arg-type]
            partial_ack_first_restarts_only=tcp.partial_ack_restarts == "first",
            flywheel=tcp.flywheel,
            avoid_multiple_fast_retransmits=tcp.avoid_multiple_fast_retransmits,
            advertised_window=tcp.advertised_window,  # type: ignore[arg-type]
            delayed_ack=(
                DelayedAckSpec(
                    timeout_ps=self.context.time_ps(tcp.delayed_ack.timeout),
                    every_segments=tcp.delayed_ack.every_segments,
                )
                if tcp.delayed_ack
                else None
            ),
            nagle=tcp.nagle,
            sws_avoidance=tcp.sws_avoidance,
            idle_restart=tcp.idle_restart,
            handshake=tcp.handshake,
        )

    def _fault(self, key: str, got: object, allowed: str) -> None:
        meaning = meaning_of(Tcp.model_fields[key])
        self.faults.add((*self.path, key), got, allowed, meaning)

    def _receiver_window(self, mss: int) -> int:
        written = self.tcp.receiver_window
        rwnd = self.context.octets(written, mss)
        shown = _shown_window(written, rwnd)
        if rwnd > WINDOW_FIELD and not self.tcp.window_scaling:
            allowed = f"up to {show_amount(WINDOW_FIELD)} B, or window_scaling = true"
            self._fault("receiver_window", shown, allowed)
        elif rwnd > LARGEST_WINDOW:
            self._fault("receiver_window", shown, f"up to {show_amount(LARGEST_WINDOW)} B")
        elif rwnd < mss:
            self._fault("receiver_window", shown, f"at least one MSS, {show_amount(mss)} B")
        return min(rwnd, LARGEST_WINDOW)

    def _window(
        self, key: str, written: Quantity | str, mss: int, rwnd: int, at_least: int = 1
    ) -> int:
        if written == RECEIVER_WINDOW:
            return rwnd  # its own faults are told
        if written == "window field":
            shift = 0
            while WINDOW_FIELD << shift < rwnd and shift < 14:
                shift += 1
            octets = WINDOW_FIELD << shift
        else:
            octets = self.context.octets(written, mss)
        if octets < at_least:
            least = f"at least one MSS, {show_amount(mss)} B" if at_least == mss else "at least 1 B"
            self._fault(key, _shown_window(written, octets), least)
        elif octets > LARGEST_WINDOW:
            allowed = f"up to {show_amount(LARGEST_WINDOW)} B"
            self._fault(key, _shown_window(written, octets), allowed)
        return min(octets, LARGEST_WINDOW)

    def _tick_phase(self, tick_ps: int) -> TickPhaseAt | TickPhaseDrawn:
        written = self.tcp.tick_phase
        if written == "drawn":
            return TickPhaseDrawn()
        offset = self.context.time_ps(written) if isinstance(written, Quantity) else 0
        if offset >= tick_ps:
            self._fault("tick_phase", str(written), f"below one tick, {show_time(tick_ps)}")
        return TickPhaseAt(offset_ps=offset)

    def _rto_ticks(self, tick_ps: int) -> tuple[int, int, int]:
        low, initial, high = (
            _ticks(value, tick_ps)
            for value in (self.tcp.rto_min, self.tcp.rto_initial, self.tcp.rto_max)
        )
        for key, ticks in (("rto_min", low), ("rto_initial", initial), ("rto_max", high)):
            if ticks >= 2**32:
                self._fault(key, Shown(f"{show_amount(ticks)} ticks"), "fewer than 2^32 ticks")
                return 1, 1, 1
        if initial < low:
            shown = Shown(f'"{self.tcp.rto_initial}", which is {show_amount(initial)} ticks')
            self._fault("rto_initial", shown, f"at least rto_min, {show_amount(low)} ticks")
        key, least = ("rto_initial", initial) if initial >= low else ("rto_min", low)
        if high < least:
            shown = Shown(f'"{self.tcp.rto_max}", which is {show_amount(high)} ticks')
            self._fault("rto_max", shown, f"at least {key}, {show_amount(least)} ticks")
        return low, initial, high


def _start_at(time_ps: int) -> StartAt:
    """A start; one after every run is a fault told already."""
    return StartAt(time_ps=min(time_ps, LONGEST_RUN_PS))


_VARIANTS: Mapping[str, Literal["vanilla", "reno", "new_reno", "sack"]] = {
    "vanilla": "vanilla",
    "reno": "reno",
    "newreno": "new_reno",
    "sack": "sack",
}


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
    ) -> list[FlowSpec]:
        """All flows, in the order of the plan."""
        names = list(self.plan.flows)
        resolver = TrafficResolver(self.context, self.faults)
        traffic = dict.fromkeys(names, resolver.resolve(self.file.traffic, ("traffic",)))
        loss = dict.fromkeys(names, self.file.loss)
        own = {name for flow in self.file.flow if flow.start for name in flow.names}
        start = self.starts(self.file.start, names, ("start",), own)
        for i, override in enumerate(self.file.flow):
            known = [name for name in override.names if name in traffic]
            if override.traffic is not None:
                resolved = resolver.resolve(override.traffic, ("flow", i, "traffic"))
                traffic.update(dict.fromkeys(known, resolved))
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
            )
            for name, flow in self.plan.flows.items()
        ]

    def _check_names(self, i: int, override: FlowOverride, named: dict[str, int]) -> None:
        meaning = meaning_of(FlowOverride.model_fields["names"])
        for k, name in enumerate(override.names):
            if name not in self.plan.flows:
                hint = did_you_mean(name, self.plan.flows)
                known = [*list(self.plan.flows)[:4], *(["…"] if len(self.plan.flows) > 4 else [])]
                such_as = f" ({', '.join(known)})" if known else ""
                allowed = f"a flow of the topology{such_as}{hint}"
                self.faults.add(("flow", i, "names", k), name, allowed, meaning)
            elif name in named:
                allowed = f"each flow once; flow[{named[name]}] names it already"
                self.faults.add(("flow", i, "names", k), name, allowed, meaning)
            named.setdefault(name, i)

    def _loss(self, loss: Loss, mss: int, path: Path) -> LossScript:
        octets = None
        if loss.at_cwnd is not None:
            octets = self.context.octets(loss.at_cwnd, mss)
            if octets > LARGEST_WINDOW:
                self.faults.add(
                    (*path, "at_cwnd"),
                    _shown_window(loss.at_cwnd, octets),
                    f"up to {show_amount(LARGEST_WINDOW)} B",
                    meaning_of(Loss.model_fields["at_cwnd"]),
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
        meaning = meaning_of(type(start).model_fields["latest"])
        latest = self.context.time_up_to(
            LONGEST_RUN_PS, start.latest, (*path, "latest"), meaning, self.faults
        )
        earliest = time(start.earliest)
        if earliest >= latest:
            allowed = f"above earliest, {show_time(earliest)}"
            self.faults.add((*path, "latest"), start.latest.text, allowed, "end of the range")
        # A range may end after the run: whether a flow begins is then left to its draw.
        self._check_starts(dict.fromkeys(names, earliest), (*path, "earliest"), elsewhere)
        return dict.fromkeys(names, StartDrawn(from_ps=min(earliest, latest), to_ps=latest))

    def _check_starts(
        self, times: Mapping[str, int], path: Path, elsewhere: Collection[str]
    ) -> None:
        """Refuses a time at which nothing can begin any more."""
        last_ps = max((at for name, at in times.items() if name not in elsewhere), default=0)
        if last_ps >= self.context.duration_ps:
            got = Shown(f"a start at {show_time(last_ps)}")
            allowed = f"before the end of the run, {show_time(self.context.duration_ps)}"
            self.faults.add(path, got, allowed, "when a flow or a source begins")
