"""A satellite beam as the graph that it is short for, with its uplink and its proxies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

from skycell.input.faults import NOTHING, FaultCollector, Path, Verbatim
from skycell.input.quantities import Dimension, Quantity, parse_quantity
from skycell.scenario.declared.framings import Ip
from skycell.scenario.file.beam import Beam
from skycell.scenario.file.peps import Pep
from skycell.scenario.file.scenario_file import ScenarioFile
from skycell.scenario.file.topology import (
    Graph,
    GraphFlow,
    GraphLink,
    GraphVc,
    Nodes,
    numbered_names,
)
from skycell.scenario.file.uplinks import Uplink
from skycell.scenario.links.framing import carries_packets
from skycell.scenario.links.receivers import Receiver
from skycell.scenario.plan.generators import plain_vc

GATEWAY, SATELLITE, MODULATOR = "gateway", "satellite", "modulator"
_TERMINAL, _USER, _SERVER, _SERVICE = "terminal", "user", "server", "service"

_INNER = {"rate": parse_quantity("100 Gbit/s"), "framing": Ip(kind="ip")}
"""A link between two nodes in one place: 1500 octets take 0.12 us."""
_AT_ONCE = parse_quantity("0 s")

Places = Mapping[Path, Path]
"""Paths in the file, by the beginning of the path in the graph."""


def as_graph(file: ScenarioFile, beam: Beam, faults: FaultCollector) -> tuple[ScenarioFile, Places]:
    """The file with the graph of its beam in place of the beam, and where its keys stand.

    Args:
        file: with the beam.
        beam: its topology.
        faults: takes what does not go together.
    """
    if beam.servers.count > beam.terminals:
        allowed = f"up to {beam.terminals}, one for each terminal"
        faults.add(("topology", "servers", "count"), beam.servers.count, allowed)
    several = [f"{name}*" if count > 1 else name for name, count in _counts(beam)]
    terminals, users, servers, services = several
    routers = [Nodes(name=GATEWAY), Nodes(name=SATELLITE)]
    routers.append(Nodes(name=_TERMINAL, count=beam.terminals))
    links: list[GraphLink] = []
    places: dict[Path, Path] = {("topology", "flow"): ("topology",)}

    def join(source: str, target: str, key: str, **keys: Any) -> None:
        at: Path = ("topology", "link", len(links))
        places[at] = ("topology", key) if key else ("topology",)
        if keys["delay"] is beam.delay:
            places[*at, "delay"] = ("topology", "delay")
        links.append(_link(source, target, keys))

    join(servers, GATEWAY, "servers", **_keys(beam.servers))
    before = GATEWAY
    if beam.service is not None:
        if beam.service.shaper is None and beam.service.policer is None:
            allowed = "a shaper or a policer, which holds each terminal to a rate"
            faults.add(("topology", "service"), NOTHING, allowed)
        routers += [Nodes(name=_SERVICE, count=beam.terminals), Nodes(name=MODULATOR)]
        inner = {**_INNER, "delay": _AT_ONCE, "one_way": True}
        join(GATEWAY, services, "service", **inner, **_keys(beam.service))
        join(services, MODULATOR, "service", **inner)
        before = MODULATOR
    one_way = {"delay": beam.delay, "one_way": True}
    forward = {**_keys(beam.forward), "receivers": tuple(_receivers(beam, faults))}
    join(before, SATELLITE, "forward", **forward, **one_way)
    join(SATELLITE, terminals, "", **_INNER, delay=_AT_ONCE, one_way=True)
    join(terminals, GATEWAY, "return", **_keys(beam.backward), **one_way)
    join(terminals, users, "lan", **_keys(beam.lan))
    vcs, flows = _flows(beam, servers, users)
    graph = Graph(
        kind="graph",
        hosts=(
            Nodes(name=_SERVER, count=beam.servers.count),
            Nodes(name=_USER, count=beam.terminals),
        ),
        routers=tuple(routers),
        switches=(),
        link=tuple(links),
        vc=vcs,
        flow=flows,
    )
    uplinks = list(file.uplink)
    if beam.backward.uplink is not None:
        if carries_packets(beam.backward.framing):
            allowed = "a framing of ATM cells: slots of an uplink carry cells"
            faults.add(("topology", "return", "framing"), Verbatim("packets"), allowed)
        places["uplink", len(uplinks)] = ("topology", "return", "uplink")
        uplinks.append(_uplink(beam))
    peps = list(file.pep)
    for pep in _peps(beam):
        places["pep", len(peps)] = ("topology", "pep")
        peps.append(pep)
    update = {"topology": graph, "uplink": tuple(uplinks), "pep": tuple(peps)}
    return file.model_copy(update=update), places


def _flows(
    beam: Beam, servers: str, users: str
) -> tuple[tuple[GraphVc, ...], tuple[GraphFlow, ...]]:
    """A flow to each terminal; where terminals have queues at the gateway, over its own."""
    ends = {"source": servers, "destination": users}
    in_turn = all(name.endswith("*") for name in ends.values())
    flow = GraphFlow.model_validate({"name": "flow", "in_turn": in_turn, **ends})
    if beam.service is None:
        return (), (flow,)
    vcs: list[GraphVc] = []
    flows = []
    of_servers = numbered_names(_SERVER, beam.servers.count)
    kinds = ("flow", _SERVICE, _TERMINAL, _USER)
    rows = zip(*(numbered_names(kind, beam.terminals) for kind in kinds), strict=True)
    for i, (name, service, terminal, user) in enumerate(rows):
        server = of_servers[i % len(of_servers)]
        way = (server, GATEWAY, service, MODULATOR, SATELLITE, terminal, user)
        names = [f"{name}.forward{k}" for k in range(1, len(way))]
        for vc, path in zip(names, pairwise(way), strict=True):
            vcs.append(plain_vc().model_copy(update={"name": vc, "path": path}))
        own = {"name": name, "source": server, "destination": user, "in_turn": False}
        flows.append(flow.model_copy(update={**own, "forward": tuple(names)}))
    return tuple(vcs), tuple(flows)


def _counts(beam: Beam) -> Iterator[tuple[str, int]]:
    for name in (_TERMINAL, _USER):
        yield name, beam.terminals
    yield _SERVER, beam.servers.count
    yield _SERVICE, beam.terminals


def _keys(table: Any) -> dict[str, Any]:
    return {key: value for key, value in table if key in GraphLink.model_fields}


def _link(source: str, target: str, keys: Mapping[str, Any]) -> GraphLink:
    plain = GraphLink.model_validate({"from": source, "to": target, "rate": "1 Mbit/s"})
    return plain.model_copy(update=dict(keys))


def _receivers(beam: Beam, faults: FaultCollector) -> Iterator[Receiver]:
    """The terminals of each table, which are the next ones behind those of the tables before."""
    names = numbered_names(_TERMINAL, beam.terminals)
    first = 0
    for i, table in enumerate(beam.forward.receivers):
        last = first + table.terminals
        if last > len(names):
            got = Verbatim(f"{table.terminals}, {last} with those of the tables before")
            allowed = f"up to {len(names)} in all, as many as the beam has"
            faults.add(("topology", "forward", "receivers", i, "terminals"), got, allowed)
            return
        own = {key: value for key, value in table if key in Receiver.model_fields}
        plain = Receiver(nodes=tuple(names[first:last]))
        yield plain.model_copy(update=own)
        first = last


def _uplink(beam: Beam) -> Uplink:
    slots = beam.backward.uplink
    assert slots is not None
    terminals = tuple(numbered_names(_TERMINAL, beam.terminals))
    own = dict(slots)
    if slots.hop is None:  # the pipe is bent halfway
        own["hop"] = Quantity(beam.delay.amount / Fraction(2), Dimension.TIME, "")
    return Uplink.model_construct(to=GATEWAY, terminals=terminals, **own)


def _peps(beam: Beam) -> Iterator[Pep]:
    if beam.pep is None:
        return
    nodes = {GATEWAY: [GATEWAY], _TERMINAL: numbered_names(_TERMINAL, beam.terminals)}
    plain = Pep.model_validate({"node": GATEWAY, "buffer": "1 MB"})
    own = {"buffer": beam.pep.buffer, "tcp": beam.pep.tcp}
    for place in dict.fromkeys(beam.pep.at):
        for node in nodes[place]:
            yield plain.model_copy(update={**own, "node": node})
