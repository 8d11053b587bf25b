"""TCP parameters resolved, and those of them that do not go together."""

from __future__ import annotations

from dataclasses import dataclass

from skycell.input.faults import FaultCollector, Path, did_you_mean
from skycell.scenario.declared.tcp import TCP, Tcp
from skycell.scenario.file.demand import Connections, FileDemand
from skycell.scenario.file.scenario_file import FlowOverride
from skycell.scenario.interpreter.place import Place
from skycell.scenario.interpreter.rules import resolve
from skycell.scenario.plan.sky_demand import demands_of
from skycell.scenario.plan.users import users_of
from skycell.scenario.resolve.context import context
from skycell.scenario.resolve.resolution import Resolution, part
from skycell.scenario.values.rule_specs import Choice
from skycell.spec.declared.network import TcpSpec

NEED_ROUND_TRIPS = ("hystart_plus_plus", "hystart", "vegas")
"""Rules that count the round trips of every ACK."""


@part
def common_tcp(net: Resolution) -> TcpSpec:
    """Returns the TCP parameters of [tcp]."""
    return tcp_of(net, net.file.tcp, ("tcp",))


@part
def tcps(net: Resolution) -> dict[str, TcpSpec]:
    """Returns the TCP parameters by flow."""
    flows = net.plan.flows
    named: dict[str, int] = {}
    for i, override in enumerate(net.file.flow):
        _check_names(net, i, override, named)
    if not flows:
        return {}  # nobody's windows need a long enough RTT
    specs = dict.fromkeys(flows, common_tcp(net))
    for i, table in enumerate(demands_of(net.file)):
        if isinstance(table, Connections | FileDemand) and table.tcp is not None:
            spec = tcp_of(net, table.tcp, ("traffic", i, "tcp"))
            own = (name for name, place in net.plan.demands.items() if place == i)
            specs.update(dict.fromkeys(own, spec))
    for i, override in enumerate(net.file.flow):
        if override.tcp is not None:
            spec = tcp_of(net, override.tcp, ("flow", i, "tcp"))
            specs.update({name: spec for name in override.names if name in specs})
    return specs


@part
def tcps_of_users(net: Resolution) -> tuple[TcpSpec, ...]:
    """Returns the TCP parameters of each group of users."""
    common = common_tcp(net)
    return tuple(
        of_users(common if table.tcp is None else tcp_of(net, table.tcp, ("traffic", i, "tcp")))
        for i, table in enumerate(users_of(net.file))
    )


def of_users(tcp: TcpSpec) -> TcpSpec:
    """The same for connections of users, which open and close by handshakes."""
    return tcp.model_copy(update={"handshake": True})


def tcp_of(net: Resolution, tcp: Tcp, path: Path) -> TcpSpec:
    """Returns the TCP parameters of the table at `path`, as an engine reads them."""
    _Checks(tcp, path, net.faults).all()
    spec: TcpSpec = resolve(TCP, tcp, Place(path, net.faults, context=context(net)))
    return spec


def _check_names(net: Resolution, i: int, override: FlowOverride, named: dict[str, int]) -> None:
    flows = net.plan.flows
    for k, name in enumerate(override.names):
        if name not in flows:
            hint = did_you_mean(name, flows)
            known = [*list(flows)[:4], *(["…"] if len(flows) > 4 else [])]
            such_as = f" ({', '.join(known)})" if known else ""
            net.faults.add(("flow", i, "names", k), name, f"a flow of the topology{such_as}{hint}")
        elif name in named:
            allowed = f"each flow once; flow[{named[name]}] names it already"
            net.faults.add(("flow", i, "names", k), name, allowed)
        named.setdefault(name, i)


@dataclass
class _Checks:
    """Checks of TCP parameters that do not go together."""

    tcp: Tcp
    path: Path
    faults: FaultCollector

    def all(self) -> None:
        if self.tcp.limited_transmit and self.tcp.recovery.kind == "rack_tlp":
            allowed = 'false with recovery = "rack_tlp", whose scoreboard releases those segments'
            self._fault("limited_transmit", True, allowed)
        if self.tcp.pacing.kind == "on" and self.tcp.recovery.kind != "rack_tlp":
            self._fault("pacing", "on", 'off, or recovery = "rack_tlp", which asks before it sends')
        if self.tcp.congestion.kind in ("bbr", "bbr3"):
            self._check_model(self.tcp.congestion.kind)
        self._check_echo()
        for parameter in TCP.parameters:
            if isinstance(parameter, Choice):
                self._check_rule(parameter)

    def _check_model(self, kind: str) -> None:
        if self.tcp.recovery.kind != "rack_tlp":
            allowed = 'another rule, or recovery = "rack_tlp", which counts the data in flight'
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
