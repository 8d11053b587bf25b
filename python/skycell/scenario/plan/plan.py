"""A network between words and numbers: who is joined to whom, quantities still as written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Literal

from skycell.input.faults import Path, did_you_mean
from skycell.input.quantities import Quantity
from skycell.scenario.declared.framings import Framing
from skycell.scenario.declared.policies import TailDrop
from skycell.scenario.file.sources import Source
from skycell.scenario.links.framing import carries_packets
from skycell.scenario.links.jitter import PortGap, Sender
from skycell.scenario.links.keys import AnyLink, PortKeys, delay_of
from skycell.scenario.plan.satellite_path import SatellitePath

if TYPE_CHECKING:
    from skycell.orbit.pairs import Demand
    from skycell.orbit.routes import Routes

NodeKind = Literal["host", "router", "switch"]
UNLIMITED = "unlimited"


@cache
def plain_port() -> PortKeys:
    """The port of a link that says nothing of it."""
    return PortKeys()


@dataclass(frozen=True)
class PlannedLink:
    """One direction of a link.

    Attributes:
        source: node that feeds it.
        target: node that it leads to.
        keys: of the link; its delay is given.
        port: the port that feeds it.
        path: the link's table in the file.
        rate_path: the table that its rate comes from.
        prefix: of the port's keys `buffer` and `policy` in the file.
        elsewhere: tables of the keys that do not stand in `path`, by key.
    """

    source: str
    target: str
    keys: AnyLink
    port: PortKeys
    path: Path
    rate_path: Path
    prefix: Literal["", "host_"] = ""
    elsewhere: Mapping[str, Path] = field(default_factory=dict)
    #: How a host or router that feeds the link varies the time of each frame, if the file says so.
    jitter: Sender | PortGap | None = None
    ack_filter: bool = False
    #: The key that its loss comes from, if that is not `loss` of its table.
    loss_key: Path | None = None
    #: Name of a kind of links of a constellation, for which it stands; empty for a link of its own.
    kind: str = ""

    @property
    def loss_path(self) -> Path:
        """The key of the file that says what the link loses."""
        return self.loss_key or (*self.table_of("loss"), "loss")

    def table_of(self, key: str) -> Path:
        """The table of the file that has a key of the link."""
        return self.elsewhere.get(key, self.path)

    @property
    def name(self) -> str:
        """The link's name, `from>to`, or that of its kind."""
        return self.kind or f"{self.source}>{self.target}"

    @property
    def rate(self) -> Quantity:
        """The rate as written."""
        return self.keys.rate

    @property
    def framing(self) -> Framing | None:
        """The framing as written."""
        return self.keys.framing

    @property
    def delay(self) -> Quantity:
        """The propagation delay, the greatest of a link that moves."""
        return delay_of(self.keys.delay)

    @property
    def buffer_key(self) -> str:
        """The key of the port's buffer in the link's table."""
        return f"{self.prefix}buffer"

    @property
    def policy_key(self) -> str:
        """The key of the buffer's policy in the link's table."""
        return f"{self.prefix}policy"

    @property
    def carries_packets(self) -> bool:
        """Whether IP packets go whole; else they go in cells."""
        return carries_packets(self.framing)

    @property
    def is_limited(self) -> bool:
        """Whether a queue of the port that feeds the link has a limit."""
        buffers = (self.port.buffer, *(queue.buffer for queue in self.port.classes))
        return any(buffer != UNLIMITED for buffer in buffers)

    @property
    def takes_all_in(self) -> bool:
        """Whether one queue feeds the link, without a limit or any rule of its own."""
        port = self.port
        return (
            port.buffer == UNLIMITED
            and not port.classes
            and port.scheduler is None
            and not port.by_flow
            and port.shaper is None
            and port.policer is None
            and port.rate_algorithm is None
            and not self.ack_filter
            and isinstance(port.policy, TailDrop)
        )


@dataclass(frozen=True)
class Rerouting:
    """Later ways of a VC: from when on, and the links; and whether nodes forget the older ones."""

    ways: tuple[tuple[int, tuple[str, ...]], ...]
    loses_cells: bool


@dataclass(frozen=True)
class PlannedVc:
    """A VC over links given by name."""

    name: str
    links: tuple[str, ...]
    service: str = "ubr"
    rerouting: Rerouting | None = None
    #: Nodes at both ends of a VC that goes by label; its links are kinds then.
    by_label: tuple[str, str] | None = None
    #: Which of the paths to its destination a VC by label takes, from 0.
    way: int = 0

    @property
    def all_links(self) -> set[str]:
        """The links of all its ways."""
        later = self.rerouting.ways if self.rerouting else ()
        return {*self.links, *(link for _, way in later for link in way)}


@dataclass(frozen=True)
class PlannedFlow:
    """A flow over VCs given by name."""

    name: str
    forward: tuple[str, ...]
    reverse: tuple[str, ...]


@dataclass(frozen=True)
class PlannedCalls:
    """Calls of a class: the VCs that they hold one after another, and the calls, in picoseconds."""

    vcs: tuple[str, ...]
    begins_ps: tuple[int, ...]
    lengths_ps: tuple[int, ...]


@dataclass(frozen=True)
class PlannedSky:
    """A constellation whose nodes forward packets by label.

    Attributes:
        columns: SHA-256 of the file of its columns.
        stations: names of its hosts, stations and then the point behind gateways; each is a label,
            in this order.
        waiting: by kind of port, the fate of packets whose link or route changes as they wait.
        waits_for_route: whether a station holds what it sends until it has a route.
        hop_limit: links that a packet may take.
        loses_in_flight: whether packets over a link that ends are lost.
        rtt_ps: greatest two-way delay of the pairs that have traffic.
        epochs: looks at delays and routes.
        links: links that exist at one of them or more.
        hops: links on the path of a pair with traffic as the run begins, in the mean.
        routes: next hops, and the paths of the pairs that have traffic.
        notes: what to know of its satellites and stations.
        paths: labels of each host.
        point: name of the host behind the gateways; empty without any.
    """

    columns: str
    stations: tuple[str, ...]
    waiting: Mapping[str, str]
    waits_for_route: bool
    hop_limit: int
    loses_in_flight: bool
    rtt_ps: int
    epochs: int
    links: int
    hops: float
    routes: Routes = field(repr=False, compare=False)
    notes: tuple[str, ...] = ()
    paths: int = 1
    point: str = ""


@dataclass
class Plan:
    """Nodes, links, VCs and flows in the order that gives them their ids."""

    nodes: dict[str, NodeKind] = field(default_factory=dict)
    links: dict[str, PlannedLink] = field(default_factory=dict)
    vcs: dict[str, PlannedVc] = field(default_factory=dict)
    flows: dict[str, PlannedFlow] = field(default_factory=dict)
    #: Links whose delay and end follow satellites, by name.
    satellite_paths: dict[str, SatellitePath] = field(default_factory=dict)
    #: Cell sources in their order, with the VC of each; behind them those of the VCs of calls.
    sources: dict[str, str] = field(default_factory=dict)
    #: Calls by the name of their class.
    calls: dict[str, PlannedCalls] = field(default_factory=dict)
    #: Sources of datagrams, with the VCs that carry them, which are those of a flow.
    datagrams: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: The constellation that is the network; its kinds of links are among the links.
    sky: PlannedSky | None = None
    #: Place of the table of traffic that a flow over a constellation comes from, by its name.
    demands: dict[str, int] = field(default_factory=dict)
    #: Rows of files of traffic, by the name of the flow that each is.
    listed: dict[str, Demand] = field(default_factory=dict)
    #: Sources that tables of traffic stand for, each with the path of its table in the file.
    demand_sources: list[tuple[Path, Source]] = field(default_factory=list)

    def a_vc(self, name: str) -> str:
        """What may stand in place of a name that is no VC's, with an example."""
        hint = did_you_mean(name, self.vcs)
        example = "" if hint or not self.vcs else f', such as "{next(iter(self.vcs))}"'
        return f"a VC of the topology{example}{hint}"

    def instead_of_vc(self, name: str) -> str:
        """Returns what may stand in place of a name; empty if the name is a VC's."""
        return "" if name in self.vcs else self.a_vc(name)

    def add_link(self, link: PlannedLink) -> None:
        """Adds one direction of a link."""
        self.links[link.name] = link

    @property
    def own_links(self) -> dict[str, PlannedLink]:
        """The links that are links of the spec, and no kinds."""
        return {name: link for name, link in self.links.items() if not link.kind}

    def add_vc(self, name: str, nodes: Iterable[str], service: str = "ubr") -> str:
        """Adds a VC of a service class that visits `nodes`, and returns its name."""
        visited = tuple(nodes)
        hops = pairwise(visited)
        self.vcs[name] = PlannedVc(name, tuple(f"{a}>{b}" for a, b in hops), service)
        return name

    def add_flow(self, name: str, forward: Iterable[str], reverse: Iterable[str]) -> None:
        """Adds a flow over VCs."""
        self.flows[name] = PlannedFlow(name, tuple(forward), tuple(reverse))

    def links_of(self, vcs: Iterable[str]) -> list[PlannedLink]:
        """The links that a row of VCs crosses."""
        return [self.links[name] for vc in vcs for name in self.vcs[vc].links]

    def vcs_by_link(self) -> dict[str, list[str]]:
        """VCs that cross each link, each once, in the order of the flows that use them.

        Where there is no flow they are those of the sources.
        """
        users = [(*flow.forward, *flow.reverse) for flow in self.flows.values()]
        found: dict[str, list[str]] = {link: [] for link in self.links}
        of_sources = [tuple(self.sources.values()), *self.datagrams.values()]
        for vc in dict.fromkeys(chain.from_iterable(users or of_sources)):
            for link in self.vcs[vc].all_links:
                found[link].append(vc)
        return found
