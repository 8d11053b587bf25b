"""Jitter in picoseconds: processing times of flows' ends, and waits of ports.

Where the file says nothing, the time depends on what a connection shares.

* A connection that is alone on all its links takes none. It has nobody to be in step with, and
  where one frame too many comes to a buffer in each round trip, times of a frame would let it lose
  many.
* Where its data share links with data of others, it takes up to a frame at the slowest of these
  links, because a frame's time is what breaks phases there.
* Else it shares links with acknowledgements alone: with an upload beside a download, for example.
  It takes what real hosts take, `OF_HOSTS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from skycell.input.faults import FaultCollector, Path, Verbatim
from skycell.input.quantities import PS_PER_SECOND, Dimension, rounded, show_time
from skycell.scenario.links.jitter import LONGEST_PS, OF_HOSTS_PS, PortGap, Sender
from skycell.scenario.plan.plan import Plan, PlannedFlow
from skycell.scenario.resolve.lines import lines
from skycell.scenario.resolve.resolution import Resolution, part
from skycell.scenario.resolve.tcp import tcps
from skycell.spec.declared.network import JitterSpec


def gap_ps(
    jitter: Sender | PortGap | None, path: Path, cell_time: int, faults: FaultCollector
) -> int:
    """How long the port of a link, whose cells take `cell_time`, waits at most before a frame.

    On a link of packets that time is 0, and a wait in cells is a fault.
    """
    if not isinstance(jitter, PortGap):
        return 0
    if not cell_time and jitter.up_to.dimension is Dimension.CELLS:
        allowed = 'a time, such as "10 us": the link carries packets, not cells'
        faults.add((*path, "frame_jitter", "up_to"), jitter.up_to.text, allowed)
        return 0
    scale = cell_time if jitter.up_to.dimension is Dimension.CELLS else 1
    return _at_most(PS_PER_SECOND, rounded(jitter.up_to.amount * scale), jitter, path, faults)


def _at_most(
    most_ps: int, time_ps: int, jitter: Sender | PortGap, path: Path, faults: FaultCollector
) -> int:
    if time_ps > most_ps:
        got = Verbatim(f'"{jitter.up_to}", which is {show_time(time_ps)}')
        own = ("up_to",) if isinstance(jitter, PortGap) else ()
        faults.add((*path, "frame_jitter", *own), got, f"up to {show_time(most_ps)}")
    return min(time_ps, most_ps)


@part
def jitters(net: Resolution) -> dict[str, JitterSpec]:
    """Returns the processing times at both ends of each flow."""
    plan = net.plan
    users, data_users = _users(plan)

    def frame_ps(flow: PlannedFlow, links: Iterable[str]) -> int:
        """The longest that a full segment takes on links; 0 without one."""
        own = tcps(net)[flow.name]
        return max((lines(net)[link].segment_ps(own.mss, own) for link in links), default=0)

    def default_ps(flow: PlannedFlow) -> int:
        shared = [link for link in _links(plan, flow.forward) if data_users[link] > 1]
        links = _links(plan, (*flow.forward, *flow.reverse))
        is_alone = all(users[link] == 1 for link in links)
        return frame_ps(flow, shared) if shared else 0 if is_alone else OF_HOSTS_PS

    def of_end(flow: PlannedFlow, vcs: tuple[str, ...]) -> int:
        first = plan.links[plan.vcs[vcs[0]].links[0]]
        jitter = first.jitter
        if jitter is None:
            return default_ps(flow)
        if not isinstance(jitter, Sender):
            return 0
        amount = jitter.up_to.amount
        if jitter.up_to.dimension is Dimension.FRAMES:
            amount *= frame_ps(flow, _links(plan, flow.forward))
        return _at_most(LONGEST_PS, rounded(amount), jitter, first.path, net.faults)

    def of_flow(flow: PlannedFlow) -> JitterSpec:
        # Acknowledgements take the time of a segment too: with that of one of theirs half of the
        # phase effects stay.
        return JitterSpec(data_ps=of_end(flow, flow.forward), acks_ps=of_end(flow, flow.reverse))

    return {name: of_flow(flow) for name, flow in plan.flows.items()}


def _links(plan: Plan, vcs: Iterable[str]) -> set[str]:
    return {link for vc in vcs for link in plan.vcs[vc].all_links}


def _users(plan: Plan) -> tuple[Counter[str], Counter[str]]:
    """How many flows and sources use each link, and how many of them send data over it."""
    both = [(*flow.forward, *flow.reverse) for flow in plan.flows.values()]
    data = [flow.forward for flow in plan.flows.values()]
    sources = [*((vc,) for vc in plan.sources.values()), *plan.datagrams.values()]
    users, data_users = (
        Counter(link for route in (*routes, *sources) for link in _links(plan, route))
        for routes in (both, data)
    )
    return users, data_users
