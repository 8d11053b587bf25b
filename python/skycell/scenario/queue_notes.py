"""Notes on queues: at links slower than a source, at senders, of acknowledgements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from skycell.input.quantities import PS_PER_SECOND, rounded, show_amount, show_rate
from skycell.scenario.values.cells import aal5_cells_of, packet_octets_of
from skycell.spec.declared.network import (
    LinkSpec,
    NetworkSpec,
    SourcePatternBursts,
    SourcePatternConstant,
    SourceSpec,
)
from skycell.spec.values import as_received, begin_ps, packet_time_ps, paths_of, route_of


def notes_on_overload(spec: NetworkSpec) -> Iterator[tuple[str, str]]:
    """Of each source that is faster than a link on its way: its name, and what becomes of the rest.

    Of a source that sends at a pace; calls, whose bursts are listed, are none of them.
    """
    for source in spec.sources:
        if source.cell_interval_ps and not isinstance(source.pattern, SourcePatternBursts):
            text = _overload(spec, source)
            if text:
                yield source.name, text


def _overload(spec: NetworkSpec, source: SourceSpec) -> str:
    octets = source.datagram_octets
    sent = rate = Fraction(PS_PER_SECOND, source.cell_interval_ps)
    found = []
    for vc, place in ((own, link) for own in route_of(source) for link in spec.vcs[own].path):
        link = as_received(spec.links[place], vc)
        carried = 1 / _time_s(link, octets)
        if rate > carried:
            becomes = _excess(spec, link, source, rate, carried)
            found.append(f"{link.name} carries {_in_words(carried, octets)}, and {becomes}")
            rate = carried
    if not found:
        return ""
    pace = "" if isinstance(source.pattern, SourcePatternConstant) else " while it is on"
    return f"sends {_in_words(sent, octets)}{pace}: {'; '.join(found)}."


def _excess(
    spec: NetworkSpec, link: LinkSpec, source: SourceSpec, rate: Fraction, carried: Fraction
) -> str:
    """What becomes of what comes at a rate to a link that carries less."""
    services = {spec.vcs[vc].class_ for vc in route_of(source)}
    own = (queue for queue in link.port.queues if queue.class_ in services)
    is_limited = next(own, link.port.default_queue).capacity_cells is not None
    if not isinstance(source.pattern, SourcePatternConstant):
        waits = "what comes faster waits there"
        return f"{waits}, or is dropped" if is_limited else f"{waits}; the buffer has no limit"
    part = f"{float((rate - carried) / rate):.1%}"
    if is_limited:
        return f"{part} are dropped there in the long run"
    seconds = max(Fraction(spec.duration_ps - begin_ps(source.start), PS_PER_SECOND), Fraction(0))
    queue = show_amount(rounded((rate - carried) * seconds))
    unit = "packets" if source.datagram_octets else "cells"
    return f"{part} wait there without a limit, {queue} {unit} at the end of the run"


def _time_s(link: LinkSpec, octets: int) -> Fraction:
    """Time of a packet on a link, or of a cell without one (0 octets), seconds."""
    if link.framing is not None:
        return Fraction(packet_time_ps(link.framing, octets), PS_PER_SECOND)
    cells = aal5_cells_of(octets, llc_snap=True) if octets else 1
    return Fraction(cells * link.cell_time_ps, PS_PER_SECOND)


def _in_words(per_second: Fraction, octets: int) -> str:
    """A rate of cells, or of packets as the bits of their octets."""
    if not octets:
        return f"{show_amount(rounded(per_second))} cells/s"
    # Times of packets are whole picoseconds: beyond six digits their rates are rounding.
    return show_rate(_six_digits(per_second * 8 * octets))


def _six_digits(number: Fraction) -> int:
    """A number above 0 to six digits.

    >>> _six_digits(Fraction(9_999_999_700))
    10000000000
    """
    step: int = 10 ** max(len(str(int(number))) - 6, 0)
    return rounded(number / step) * step


def notes_on_senders(spec: NetworkSpec) -> Iterator[str]:
    """Limited ports in which no queue can build, because the sending hosts are no faster."""
    shared = {link for uplink in spec.uplinks for link in uplink.links}
    lengths = [packet_octets_of(flow.tcp.mss, flow.tcp.timestamps) for flow in spec.flows]
    for place, link in enumerate(spec.links):
        feeding = _feeding(spec, place) if lengths and link.port.is_limited else None
        if not feeding or not shared.isdisjoint(feeding):
            continue
        hosts = [spec.links[other] for other in feeding]
        if not all(map(_is_steady, [link, *hosts])) or any(own.port.is_limited for own in hosts):
            continue
        octets = max(lengths)
        if sum(1 / _time_s(own, octets) for own in hosts) > 1 / _time_s(link, octets):
            continue
        first = hosts[0].name
        where = f"{first} is" if len(hosts) == 1 else f"{first} and {len(hosts) - 1} more are"
        together = "" if len(hosts) == 1 else "together "
        yield (
            f"no queue can build at {link.name}: {where} in front of it and {together}no faster. "
            f"Packets wait at the sender instead, in a buffer without a limit: the delay grows "
            f"with the window and nothing is dropped. A faster {first} (topology.access.rate, in a "
            f"graph the rate of that link) moves the queue to {link.name}."
        )


def notes_on_acknowledgements(spec: NetworkSpec) -> Iterator[tuple[str, str]]:
    """Of each flow whose acknowledgements fill a link before its data do: its name, and where.

    RFC 3449, section 1.2: so it is if the normalised bandwidth ratio, full segments that the
    slowest forward link sends in the time of an acknowledgement on the slowest reverse link, is
    above the segments that one acknowledgement stands for.
    """
    in_slots = {link for uplink in spec.uplinks for link in uplink.links}
    for flow in spec.flows:
        there, back = (
            {place: spec.links[place] for path in _paths(spec, way) for place in path}
            for way in (flow.forward, flow.reverse)
        )
        is_held = not in_slots.isdisjoint(back) or any(own.port.ack_filter for own in back.values())
        if is_held or not there or not back:
            continue
        if not all(map(_is_steady, (*there.values(), *back.values()))):
            continue
        octets = [packet_octets_of(size, flow.tcp.timestamps) for size in (flow.tcp.mss, 0)]
        ways = zip((there, back), octets, strict=True)
        (data_s, data), (ack_s, ack) = (
            max(((_time_s(own, size), own.name) for own in way.values()), key=lambda one: one[0])
            for way, size in ways
        )
        each = 1 if flow.tcp.delayed_ack is None else 2
        if ack_s > each * data_s:
            text = (
                f"in the time of an acknowledgement on {ack} {float(ack_s / data_s):.1f} full "
                f"segments leave at {data}, and an acknowledgement is for {each}. "
                f"Acknowledgements fill {ack} before data fill {data}: they wait or are lost "
                f"there, and data come in bursts (RFC 3449, section 1.2)."
            )
            yield flow.name, text


def _feeding(spec: NetworkSpec, place: int) -> list[int] | None:
    """The ports of hosts behind which data come to a link; None where others feed it too."""
    found: dict[int, None] = {}
    routes = [flow.forward for flow in spec.flows] + [route_of(source) for source in spec.sources]
    for route in routes:
        for path in _paths(spec, route):
            if place not in path:
                continue
            at = path.index(place)
            if at == 0 or spec.nodes[spec.links[path[at - 1]].from_].kind != "host":
                return None
            found[path[at - 1]] = None
    return list(found)


def _paths(spec: NetworkSpec, route: Sequence[int]) -> list[tuple[int, ...]]:
    """The links of a route one after the other; with a VC that is moved, one path each way."""
    paths: list[tuple[int, ...]] = [()]
    for vc in route:
        paths = [(*begun, *path) for begun in paths for path in paths_of(spec.vcs[vc])]
    return paths


def _is_steady(link: LinkSpec) -> bool:
    """Whether a link has one rate, which nothing holds back."""
    schedule = link.schedule
    varies = schedule is not None and bool(
        schedule.cell_times_ps
        or schedule.rates_millibps
        or schedule.interruption_ps
        or None in schedule.delays_ps
    )
    return not varies and link.port.shaper is None and link.port.scheduler.kind == "fifo"
