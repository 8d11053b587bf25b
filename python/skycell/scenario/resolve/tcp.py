"""TCP parameters resolved to octets, ticks and picoseconds, each by its type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from skycell.input.faults import FaultCollector, Path, Verbatim
from skycell.input.parameters import Parameters
from skycell.input.quantities import Dimension, Quantity, show_amount, show_time
from skycell.scenario.declared.rules import Declares, Kinds
from skycell.scenario.declared.tcp import TCP, Tcp
from skycell.scenario.resolve.context import Context
from skycell.scenario.values.tcp_types import (
    LARGEST_WINDOW,
    RECEIVER_WINDOW,
    WINDOW_FIELD,
    HeldBack,
)
from skycell.spec.network import (
    DelayedAckSpec,
    RetransmitDelayNone,
    RetransmitDelaySegments,
    TcpSpec,
    TickPhaseAt,
    TickPhaseDrawn,
)

NEED_ROUND_TRIPS = ("hystart_plus_plus", "hystart", "vegas")
"""Rules that count the round trips of every ACK."""


def shown_window(written: Quantity | str, octets: int) -> Verbatim:
    """A window as it was written, with its octets where those are not what was."""
    if isinstance(written, Quantity) and written.dimension is Dimension.SIZE:
        return Verbatim(f'"{written}"')
    return Verbatim(f'"{written}", which is {show_amount(octets)} B')


@dataclass
class TcpResolver:
    """Resolves one set of TCP parameters; `path` is its table in the file."""

    tcp: Tcp
    path: Path
    context: Context
    faults: FaultCollector

    def resolve(self) -> TcpSpec:
        """The TCP parameters as an engine reads them."""
        if self.tcp.limited_transmit and self.tcp.recovery.kind == "rack_tlp":
            allowed = 'false with recovery = "rack_tlp", whose scoreboard lets those segments out'
            self._fault("limited_transmit", True, allowed)
        if self.tcp.pacing.kind == "on" and self.tcp.recovery.kind != "rack_tlp":
            self._fault("pacing", "on", 'off, or recovery = "rack_tlp", which asks before it sends')
        if self.tcp.congestion.kind in ("bbr", "bbr3"):
            self._check_model(self.tcp.congestion.kind)
        self._check_echo()
        values: dict[str, Any] = {}
        for one in TCP.parameters:
            if isinstance(one, Kinds):
                values[one.field] = self._rule(one)
            else:
                values[one.field] = self._value(one, self.tcp)
        return TcpSpec(**values)

    def _check_model(self, kind: str) -> None:
        if self.tcp.recovery.kind != "rack_tlp":
            allowed = 'another rule, or recovery = "rack_tlp", which knows what is in flight'
            self._fault("congestion", kind, allowed)
        if self.tcp.pacing.kind == "on":
            self._fault("pacing", "on", f'off with congestion = "{kind}", which paces itself')
        if kind == "bbr3" and self.tcp.ecn != "off":
            self._fault("ecn", self.tcp.ecn, '"off" with congestion = "bbr3", which has no answer')

    def _check_echo(self) -> None:
        is_scalable = self.tcp.congestion.kind in ("dctcp", "prague")
        if is_scalable and self.tcp.ecn != "accurate":
            allowed = f'"accurate" with congestion = "{self.tcp.congestion.kind}"'
            self._fault("ecn", self.tcp.ecn, allowed)
        elif not is_scalable and self.tcp.ecn == "accurate":
            allowed = '"off" or "classic", or congestion = "dctcp" or "prague", which count marks'
            self._fault("ecn", "accurate", allowed)

    def _rule(self, one: Kinds) -> Any:
        written = getattr(self.tcp, one.key)
        rule = one.rules[written.kind]
        is_timed = self.tcp.timestamps or self.tcp.recovery.kind == "rack_tlp"
        if written.kind in NEED_ROUND_TRIPS and not is_timed:
            allowed = (
                'another rule, or timestamps = true, or recovery = "rack_tlp": '
                "it needs a round trip of every ACK"
            )
            self._fault(one.key, written.kind, allowed)
        own = (part for part in rule.parameters if isinstance(part, Declares))
        assert rule.spec is not None
        return rule.spec(**{part.field: self._value(part, written) for part in own})

    def _value(self, one: Declares, table: Parameters) -> Any:
        assert one.key is not None
        value = getattr(table, one.key)
        if one.type == "word":
            return one.words.get(value, value)
        resolve = _RESOLVERS.get(one.type)
        return value if resolve is None else resolve(self, one.key, value)

    def _fault(self, key: str, got: object, allowed: str) -> None:
        self.faults.add((*self.path, key), got, allowed)

    @cached_property
    def _mss(self) -> int:
        return int(self.tcp.mss.amount)

    @cached_property
    def _rwnd(self) -> int:
        written = self.tcp.receiver_window
        rwnd = self.context.octets(written, self._mss)
        shown = shown_window(written, rwnd)
        if rwnd > WINDOW_FIELD and not self.tcp.window_scaling:
            allowed = f"up to {show_amount(WINDOW_FIELD)} B, or window_scaling = true"
            self._fault("receiver_window", shown, allowed)
        elif rwnd > LARGEST_WINDOW:
            self._fault("receiver_window", shown, f"up to {show_amount(LARGEST_WINDOW)} B")
        elif rwnd < self._mss:
            self._fault("receiver_window", shown, f"at least one MSS, {show_amount(self._mss)} B")
        return min(rwnd, LARGEST_WINDOW)

    def _window(self, key: str, written: Quantity | str, at_least: int = 1) -> int:
        if written == RECEIVER_WINDOW:
            return self._rwnd  # its own faults are told
        if written == "window field":
            shift = 0
            while WINDOW_FIELD << shift < self._rwnd and shift < 14:
                shift += 1
            octets = WINDOW_FIELD << shift
        else:
            octets = self.context.octets(written, self._mss)
        if octets < at_least:
            is_mss = at_least == self._mss
            least = f"at least one MSS, {show_amount(self._mss)} B" if is_mss else "at least 1 B"
            self._fault(key, shown_window(written, octets), least)
        elif octets > LARGEST_WINDOW:
            allowed = f"up to {show_amount(LARGEST_WINDOW)} B"
            self._fault(key, shown_window(written, octets), allowed)
        return min(octets, LARGEST_WINDOW)

    def _initial_rwnd(self, key: str, written: Quantity) -> int:
        if self.tcp.advertised_window != "auto_tuned":
            return 0
        octets = self._window(key, written, at_least=self._mss)
        if octets > self._rwnd and str(written) != str(Tcp.model_fields[key].default):
            allowed = f"up to receiver_window, {show_amount(self._rwnd)} B"
            self._fault(key, shown_window(written, octets), allowed)
        return min(octets, self._rwnd)

    @cached_property
    def _tick_ps(self) -> int:
        return self.context.time_ps(self.tcp.tick)

    def _tick_phase(self, key: str, written: Quantity | str) -> TickPhaseAt | TickPhaseDrawn:
        if written == "drawn":
            return TickPhaseDrawn()
        offset = self.context.time_ps(written) if isinstance(written, Quantity) else 0
        if offset >= self._tick_ps:
            self._fault(key, str(written), f"below one tick, {show_time(self._tick_ps)}")
        return TickPhaseAt(offset_ps=offset)

    @cached_property
    def _rto_ticks(self) -> tuple[int, int, int]:
        low, initial, high = (
            _ticks(value, self._tick_ps)
            for value in (self.tcp.rto_min, self.tcp.rto_initial, self.tcp.rto_max)
        )
        for key, ticks in (("rto_min", low), ("rto_initial", initial), ("rto_max", high)):
            if ticks >= 2**32:
                self._fault(key, Verbatim(f"{show_amount(ticks)} ticks"), "fewer than 2^32 ticks")
                return 1, 1, 1
        if initial < low:
            shown = Verbatim(f'"{self.tcp.rto_initial}", which is {show_amount(initial)} ticks')
            self._fault("rto_initial", shown, f"at least rto_min, {show_amount(low)} ticks")
        key, least = ("rto_initial", initial) if initial >= low else ("rto_min", low)
        if high < least:
            shown = Verbatim(f'"{self.tcp.rto_max}", which is {show_amount(high)} ticks')
            self._fault("rto_max", shown, f"at least {key}, {show_amount(least)} ticks")
        return low, initial, high

    def _sack_blocks(self, key: str, value: int) -> int:
        if self.tcp.timestamps and value > 3:
            allowed = "up to 3 with timestamps: options have 40 octets"
            self.faults.add((*self.path, "recovery", key), value, allowed)
        return value

    def _delayed_ack(self, value: HeldBack | None) -> DelayedAckSpec | None:
        if value is None:
            return None
        timeout = self.context.time_ps(value.timeout)
        early = value.sack_timeout
        return DelayedAckSpec(
            timeout_ps=timeout,
            every_segments=value.every_segments,
            quick_segments=value.quick_segments,
            sack_timeout_ps=0 if early is None else self.context.time_ps(early),
            sack_segments=0 if early is None else value.sack_segments,
        )


def _ticks(value: Quantity, tick_ps: int) -> int:
    """A timeout in ticks, rounded up."""
    if value.dimension is Dimension.TICKS:
        return int(value.amount)
    return -int(-value.amount // tick_ps)


def _retransmit_delay(
    value: Quantity | str,
) -> RetransmitDelaySegments | RetransmitDelayNone:
    if isinstance(value, Quantity):
        return RetransmitDelaySegments(count=int(value.amount))
    return RetransmitDelayNone()


_RESOLVERS: dict[str, Callable[[TcpResolver, str, Any], Any]] = {
    "Mss": lambda tcp, key, value: tcp._mss,
    "ReceiverWindow": lambda tcp, key, value: tcp._rwnd,
    "InitialWindow": lambda tcp, key, value: tcp._initial_rwnd(key, value),
    "Cwnd": lambda tcp, key, value: tcp._window(key, value, at_least=tcp._mss),
    "MaxCwnd": lambda tcp, key, value: tcp._window(key, value, at_least=tcp._mss),
    "Ssthresh": lambda tcp, key, value: tcp._window(key, value),
    "Tick": lambda tcp, key, value: tcp._tick_ps,
    "TickPhase": lambda tcp, key, value: tcp._tick_phase(key, value),
    "RtoMin": lambda tcp, key, value: tcp._rto_ticks[0],
    "RtoInitial": lambda tcp, key, value: tcp._rto_ticks[1],
    "RtoMax": lambda tcp, key, value: tcp._rto_ticks[2],
    "RetransmitDelay": lambda tcp, key, value: _retransmit_delay(value),
    "SackBlocks": lambda tcp, key, value: tcp._sack_blocks(key, value),
    "DelayedAck": lambda tcp, key, value: tcp._delayed_ack(value),
    "TimeOrNone": lambda tcp, key, value: tcp.context.time_ps(value),
}
"""What a parameter of each type becomes; those of other types stay as they are written."""
