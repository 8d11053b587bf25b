"""Jitter in picoseconds: processing times of flows' ends, and waits of ports.

A connection that is alone on its way takes no time unless the file says so. It has nobody to be in
step with, and where one frame too many comes to a buffer in each round trip, times of a frame would
let it lose many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from skycell.input.faults import FaultCollector, Path, Verbatim
from skycell.input.parameters import meaning_of
from skycell.input.quantities import PS_PER_SECOND, Dimension, rounded, show_time
from skycell.scenario.file.jitter import LONGEST_PS, PortGap, Sender
from skycell.scenario.plan.plan import Plan, PlannedFlow
from skycell.scenario.resolve.lines import Line
from skycell.spec.network import JitterSpec, TcpSpec

#: Of a connection that shares a link with others.
_DEFAULT = Sender(kind="sender")


def gap_ps(
    jitter: Sender | PortGap | None, path: Path, cell_time: int, faults: FaultCollector
) -> int:
    """How long the port of a link, whose cells take `cell_time`, waits at most before a frame.

    On a link of packets that time is 0, and a wait in cells is a fault.
    """
    if not isinstance(jitter, PortGap):
        return 0
    if not cell_time and jitter.up_to.dimension is Dimension.CELLS:
        meaning = meaning_of(PortGap.model_fields["up_to"])
        allowed = 'a time, such as "10 us": the link carries packets, not cells'
        faults.add((*path, "frame_jitter", "up_to"), jitter.up_to.text, allowed, meaning)
        return 0
    scale = cell_time if jitter.up_to.dimension is Dimension.CELLS else 1
    return _at_most(PS_PER_SECOND, rounded(jitter.up_to.amount * scale), jitter, path, faults)


def _at_most(
    most_ps: int, time_ps: int, jitter: Sender | PortGap, path: Path, faults: FaultCollector
) -> int:
    if time_ps > most_ps:
        got = Verbatim(f'"{jitter.up_to}", which is {show_time(time_ps)}')
        meaning = meaning_of(type(jitter).model_fields["up_to"])
        own = ("up_to",) if isinstance(jitter, PortGap) else ()
        faults.add((*path, "frame_jitter", *own), got, f"up to {show_time(most_ps)}", meaning)
    return min(time_ps, most_ps)


def jitters(
    plan: Plan, tcp: Mapping[str, TcpSpec], lines: Mapping[str, Line], faults: FaultCollector
) -> dict[str, JitterSpec]:
    """Processing times at both ends of each flow.

    Args:
        plan: of the network.
        tcp: parameters by flow.
        lines: by link; where a rate changes, at the greatest.
        faults: takes what is longer than allowed.
    """

    def frame_ps(vcs: tuple[str, ...], payload: int, own: TcpSpec) -> int:
        """The longest that a frame takes on a link of its way."""
        crossed = {lines[link] for vc in vcs for link in plan.vcs[vc].all_links}
        return max(line.segment_ps(payload, own) for line in crossed)

    def of_end(vcs: tuple[str, ...], longest_ps: int, is_alone: bool) -> int:
        first = plan.links[plan.vcs[vcs[0]].links[0]]
        jitter = first.jitter or _DEFAULT
        if not isinstance(jitter, Sender) or (is_alone and first.jitter is None):
            return 0
        scale = longest_ps if jitter.up_to.dimension is Dimension.FRAMES else 1
        return _at_most(
            LONGEST_PS, rounded(jitter.up_to.amount * scale), jitter, first.path, faults
        )

    def of_flow(flow: PlannedFlow) -> JitterSpec:
        own = tcp[flow.name]
        data_ps = frame_ps(flow.forward, own.mss, own)
        # With the time of an acknowledgement alone, which is short, half of the phase effects stay.
        acks_ps = max(data_ps, frame_ps(flow.reverse, 0, own))
        is_alone = all(users[link] == 1 for link in _links(plan, (*flow.forward, *flow.reverse)))
        return JitterSpec(
            data_ps=of_end(flow.forward, data_ps, is_alone),
            acks_ps=of_end(flow.reverse, acks_ps, is_alone),
        )

    users = _users(plan)
    return {name: of_flow(flow) for name, flow in plan.flows.items()}


def _links(plan: Plan, vcs: Iterable[str]) -> set[str]:
    return {link for vc in vcs for link in plan.vcs[vc].all_links}


def _users(plan: Plan) -> Counter[str]:
    """How many flows and sources use each link."""
    routes = [(*flow.forward, *flow.reverse) for flow in plan.flows.values()]
    routes += [(vc,) for vc in plan.sources.values()]
    routes += plan.datagrams.values()
    return Counter(link for route in routes for link in _links(plan, route))
