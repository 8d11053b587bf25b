"""TCP parameters resolved, and those of them that do not go together."""

from __future__ import annotations

from dataclasses import dataclass

from skycell.input.faults import FaultCollector, Path
from skycell.scenario.declared.rules import Choice
from skycell.scenario.declared.tcp import TCP, Tcp
from skycell.scenario.interpreter.context import Context
from skycell.scenario.interpreter.place import Place
from skycell.scenario.interpreter.rules import resolve
from skycell.spec.network import TcpSpec

NEED_ROUND_TRIPS = ("hystart_plus_plus", "hystart", "vegas")
"""Rules that count the round trips of every ACK."""


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
        for one in TCP.parameters:
            if isinstance(one, Choice):
                self._check_rule(one)
        place = Place(self.path, self.faults, context=self.context)
        spec: TcpSpec = resolve(TCP, self.tcp, place)
        return spec

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

    def _check_rule(self, one: Choice) -> None:
        kind = getattr(self.tcp, one.key).kind
        is_timed = self.tcp.timestamps or self.tcp.recovery.kind == "rack_tlp"
        if kind in NEED_ROUND_TRIPS and not is_timed:
            allowed = (
                'another rule, or timestamps = true, or recovery = "rack_tlp": '
                "it needs a round trip of every ACK"
            )
            self._fault(one.key, kind, allowed)

    def _fault(self, key: str, got: object, allowed: str) -> None:
        self.faults.add((*self.path, key), got, allowed)
