"""What times and sizes in a file go by: RTT and bandwidth of its longest route.

RTT is the two-way propagation delay of the flow whose route is longest, with the greatest delay of
a link that moves; over a constellation it is the greatest of the run of all pairs with traffic.
Without a flow it is twice that of the cell source whose route is longest.
"RTT x bandwidth" is that time at the payload rate of the slowest link on that route, in octets,
cell headers included.
"""

from __future__ import annotations

from fractions import Fraction

from skycell.input.faults import Verbatim
from skycell.input.quantities import CELL_BITS, PS_PER_SECOND, rounded, show_amount, show_time
from skycell.scenario.file.probe import REPLY
from skycell.scenario.interpreter.context import Context
from skycell.scenario.resolve.lines import delays_ps, lines
from skycell.scenario.resolve.resolution import Resolution, part

#: More cell times than this on the congested links would keep a machine busy for days.
_MOST_CELL_HOPS = 10**12


@part
def context(net: Resolution) -> Context:
    """Returns what relative quantities refer to."""
    plan = net.plan
    rtt_ps, bandwidth = 0, Fraction(0)
    ways = [(flow.forward, flow.reverse) for flow in plan.flows.values()]
    of_sources = [*((vc,) for vc in plan.sources.values()), *plan.datagrams.values()]
    for way in ways or [(route, route) for route in of_sources]:
        out, back = map(plan.links_of, way)
        rtt = sum([delays_ps(net)[link.name] for link in (*out, *back)])
        if plan.sky is not None:
            rtt = plan.sky.rtt_ps
        slowest = min(lines(net)[link.name].rate for link in out)
        if not bandwidth or rtt > rtt_ps:
            rtt_ps, bandwidth = rtt, slowest
    return Context(rounded(net.file.run.duration.amount), rtt_ps, bandwidth)


@part
def measure_from_ps(net: Resolution) -> int:
    """Returns when counting begins; a time at which the run has ended is a fault."""
    stated = net.file.run.measure_from
    from_ps = rounded(stated.amount)
    if from_ps >= context(net).duration_ps:
        allowed = f"before the end of the run, {show_time(context(net).duration_ps)}"
        net.faults.add(("run", "measure_from"), stated.text, allowed)
    return from_ps


def check_size(net: Resolution) -> None:
    """Refuses runs that no machine finishes; all packets count as full segments."""
    if net.plan.sky is not None:
        _check_sky(net, packet_hops(net))
        return
    plan, packet = net.plan, int(net.file.tcp.mss.amount) + 40

    def units_per_s(link: str) -> Fraction:
        line = lines(net)[link]
        return line.rate / CELL_BITS if line.packets is None else line.packets_per_s(packet)

    users: dict[str, int] = dict.fromkeys(plan.links, 0)
    for flow in plan.flows.values():
        for link in plan.links_of(flow.forward):
            users[link.name] += 1
    hops: dict[str, int] = {}
    for flow in plan.flows.values():
        route = plan.links_of(flow.forward)
        # A flow sends no faster than its slowest link; of equal ones the most used counts.
        slowest = min(route, key=lambda link: (lines(net)[link.name].rate, -users[link.name])).name
        hops[slowest] = max(hops.get(slowest, 0), len(route))
    seconds = Fraction(context(net).duration_ps, PS_PER_SECOND)
    cells = sum(count * seconds * units_per_s(name) for name, count in hops.items())
    # Calls of a class are taken to fill no more than one source could.
    spare = {vc for calls in plan.calls.values() for vc in calls.vcs[1:]}
    of_sources = [vc for vc in plan.sources.values() if vc not in spare]
    pings = {probe.name + end: probe for probe in net.file.probe for end in ("", REPLY)}
    for name, vcs in plan.datagrams.items():
        if name in pings:
            count = sum(len(plan.vcs[vc].links) for vc in vcs)
            cells += count * seconds * PS_PER_SECOND / pings[name].interval.amount
        else:
            of_sources += vcs
    for vc in (plan.vcs[name] for name in of_sources):
        cells += len(vc.links) * seconds * min(map(units_per_s, vc.links))
    if cells > _MOST_CELL_HOPS:
        carries_cells = all(line.packets is None for line in lines(net).values())
        units = "cells" if carries_cells else "packets"
        time = show_time(context(net).duration_ps)
        net.faults.add(
            ("run", "duration"),
            Verbatim(f"{time}, up to {show_amount(int(cells))} {units}"),
            f"up to {show_amount(_MOST_CELL_HOPS)} {units}, each counted once per hop",
            f"simulated time; that many {units} would take days",
        )


@part
def packet_hops(net: Resolution) -> int:
    """Returns the packets over a constellation, each counted once per hop, if all stations send.

    Every station with traffic fills its port; TCP sends back half as many packets, which count too.
    """
    plan = net.plan
    if plan.sky is None:
        return 0
    packet = int(net.file.tcp.mss.amount) + 40
    seconds = Fraction(context(net).duration_ps, PS_PER_SECOND)
    of_tcp = {flow.forward[0].partition(">")[0] for flow in plan.flows.values()}
    routes = {vcs[0].partition(">")[0] for vcs in plan.datagrams.values()}
    users = len(of_tcp) * Fraction(3, 2) + len(routes - of_tcp)
    per_s = lines(net)["up"].packets_per_s(packet)
    return int(users * per_s * seconds * Fraction(plan.sky.hops))


def _check_sky(net: Resolution, hops: int) -> None:
    if hops > _MOST_CELL_HOPS:
        time = show_time(context(net).duration_ps)
        net.faults.add(
            ("run", "duration"),
            Verbatim(f"{time}, up to {show_amount(hops)} packets"),
            f"up to {show_amount(_MOST_CELL_HOPS)} packets, each counted once per hop",
            "simulated time; that many packets would take days",
        )
