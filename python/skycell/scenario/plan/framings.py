"""Framings of the links of a network: whether a link can have its own, between its ends."""

from __future__ import annotations

from fractions import Fraction

from skycell.input.faults import NOTHING, FaultCollector, Verbatim
from skycell.input.quantities import CELL_BITS, PS_PER_SECOND, Dimension, show_amount, show_time
from skycell.scenario.declared.framings import FRAMINGS, Framing
from skycell.scenario.links.framing import (
    LONGEST_PACKET,
    carries_packets,
    counts_symbols,
    only_bps,
    overhead_of,
    unfit_of,
)
from skycell.scenario.links.keys import payload_rate
from skycell.scenario.plan.host_ports import check_host_ports
from skycell.scenario.plan.plan import Plan, PlannedLink
from skycell.spec.values import packet_time_ps

#: Longest time of a packet, picoseconds, as `PacketFraming` of `crates/spec` has it.
_LONGEST_PS = 3600 * PS_PER_SECOND


def check_framings(plan: Plan, faults: FaultCollector) -> None:
    """Notes framings that a link lacks, or cannot have at its rate or between its ends."""
    check_host_ports(plan, faults)
    for link in {words_of_rate(link): link for link in plan.links.values()}.values():
        _check_framing(link, faults)
    refused = set()
    for link in plan.links.values():
        switches = [end for end in (link.source, link.target) if plan.nodes[end] == "switch"]
        if link.carries_packets and switches and link.rate_path not in refused:
            refused.add(link.rate_path)
            got = Verbatim(f"packets on {link.name}")
            allowed = (
                f"a router in place of the switch {switches[0]}, which forwards cells, or a "
                "framing of ATM cells"
            )
            faults.add((*link.rate_path, "framing"), got, allowed)


def words_of_rate(link: PlannedLink) -> tuple[object, ...]:
    """What links whose rate is described by the same words have in common."""
    return (link.rate_path, id(link.rate), link.framing)


def _check_framing(link: PlannedLink, faults: FaultCollector) -> None:
    where = (*link.rate_path, "framing")
    framing = link.framing
    if link.rate.dimension is Dimension.CELL_RATE:
        if framing is not None and framing.kind != "none":
            allowed = '"none": a rate in cells/s is what the link carries'
            faults.add(where, framing.kind, allowed)
        return
    is_of_symbols = link.rate.dimension is Dimension.SYMBOL_RATE
    if is_of_symbols != (framing is not None and counts_symbols(framing)):
        allowed = "a rate in bit/s: only a carrier with framing gse has a symbol rate"
        if not is_of_symbols:
            allowed = 'a symbol rate, such as "30 Mbaud": with gse bits follow from the modcod'
        faults.add((*link.rate_path, "rate"), link.rate.text, allowed)
        return
    if framing is None:
        known = " or ".join(f'"{kind}"' for kind in FRAMINGS)
        faults.add(where, NOTHING, known)
        return
    if unfit := unfit_of(framing):
        faults.add((*where, unfit.key), getattr(framing, unfit.key), unfit.allowed)
        return
    if carries_packets(framing):
        _check_packets(link, framing, faults)
        return
    only = only_bps(framing)
    if only is not None and link.rate.amount != only:
        got = Verbatim(f'"{framing.kind}" with a rate of {link.rate}')
        allowed = f"a rate of {show_amount(Fraction(only, 10**6))} Mbit/s with this framing"
        faults.add(where, got, allowed)


def _check_packets(link: PlannedLink, framing: Framing, faults: FaultCollector) -> None:
    """Notes a rate at which the shortest packet takes no time, or the longest too much."""
    rate = payload_rate(link.rate, framing)
    where = (*link.rate_path, "rate")
    if rate < CELL_BITS:  # the least rate in bits; that of symbols has no bound of its own
        allowed = f"a rate that leaves {CELL_BITS} bit/s or more"
        faults.add(where, link.rate.text, allowed)
        return
    on_line = overhead_of(framing).on_line(rate)
    if packet_time_ps(on_line, 1) == 0:
        allowed = "a rate at which a packet of one octet takes a picosecond or more"
        faults.add(where, link.rate.text, allowed)
    elif packet_time_ps(on_line, LONGEST_PACKET) > _LONGEST_PS:
        time = show_time(packet_time_ps(on_line, LONGEST_PACKET))
        got = Verbatim(f"{link.rate}, at which a packet of 65 535 B takes {time}")
        faults.add(
            where, got, f"a rate at which such a packet takes up to {show_time(_LONGEST_PS)}"
        )
