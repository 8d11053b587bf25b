"""The ceiling: the most TCP payload that a link can carry, in cells or in packets."""

import math

from skycell.input.quantities import (
    CELL_BITS,
    PS_PER_SECOND,
    Dimension,
    Refused,
    parse_quantity,
)
from skycell.spec.declared.network import LinkSpec
from skycell.spec.values import IP_HEADER, octets_on_line

CELL_OCTETS = CELL_BITS // 8
CELL_PAYLOAD_OCTETS = 48

_TCP_HEADER = 20  # RFC 9293 3.1, without options
_LLC_SNAP = 8  # RFC 2684 5.1
_AAL5_TRAILER = 8  # I.363.5
_TIMESTAMPS = 12  # RFC 7323 3.2, padded to whole words


def cells_per_frame(sdu_octets: int) -> int:
    """Cells of one AAL5 frame: SDU, padding and trailer fill whole 48-octet payloads.

    Args:
        sdu_octets: octets handed to AAL5, at least 0.

    Source: I.363.5.

    >>> cells_per_frame(40), cells_per_frame(41)
    (1, 2)
    """
    if sdu_octets < 0:
        raise ValueError(f"an SDU of {sdu_octets} octets: must be 0 or more")
    return -(-(sdu_octets + _AAL5_TRAILER) // CELL_PAYLOAD_OCTETS)


def segment_frame_cells(mss: int, *, llc_snap: bool = True, timestamps: bool = False) -> int:
    """Cells that carry one full TCP segment.

    Args:
        mss: octets of TCP payload, above 0.
        llc_snap: whether the frame carries 8 octets of LLC/SNAP.
        timestamps: whether the segment carries the timestamps option (12 octets).

    Source: ICCCN'97 section 6.1 (NASA/CR-1999-209158 part II.A) lists what a segment carries.

    >>> [segment_frame_cells(mss) for mss in (512, 1024, 9180)]
    [12, 23, 193]
    """
    if mss <= 0:
        raise ValueError(f"an MSS of {mss} octets: must be above 0")
    headers = _TCP_HEADER + IP_HEADER
    headers += _LLC_SNAP if llc_snap else 0
    headers += _TIMESTAMPS if timestamps else 0
    return cells_per_frame(mss + headers)


def tcp_share(mss: int, *, llc_snap: bool = True, timestamps: bool = False) -> float:
    """TCP payload as a share of the cell rate: MSS / (53 x cells).

    >>> [round(tcp_share(mss), 4) for mss in (512, 1024, 9180)]
    [0.805, 0.84, 0.8974]
    """
    cells = segment_frame_cells(mss, llc_snap=llc_snap, timestamps=timestamps)
    return mss / (CELL_OCTETS * cells)


def segment_packet_octets(mss: int, *, timestamps: bool = False) -> int:
    """Octets of the IP packet of one full TCP segment.

    >>> segment_packet_octets(1460)
    1500
    """
    if mss <= 0:
        raise ValueError(f"an MSS of {mss} octets: must be above 0")
    return mss + _TCP_HEADER + IP_HEADER + (_TIMESTAMPS if timestamps else 0)


def link_cell_bps(cell_time_ps: int) -> float:
    """Rate of a link's cells, headers included, bit/s, from the time of one cell.

    >>> link_cell_bps(2_000_000)
    212000000.0
    """
    if cell_time_ps <= 0:
        raise ValueError(f"a cell time of {cell_time_ps} ps: must be above 0")
    return CELL_BITS * PS_PER_SECOND / cell_time_ps


def link_bps(link: LinkSpec) -> float:
    """Rate of a link, its greatest where it varies, bit/s: of its cells or of a packet line."""
    if link.framing is not None:
        return link.framing.rate_millibps / 1000
    return link_cell_bps(link.cell_time_ps)


def shaped_bps(link: LinkSpec, packet_octets: int) -> float:
    """Rate of the line that packets of one size take past the port's token buckets, bit/s.

    Those are its shaper and a policer that discards; their bursts are not counted. Without any it
    is infinite.

    Args:
        link: the link.
        packet_octets: of each packet, above 0.
    """
    shaper, policer = link.port.shaper, link.port.policer
    rates = [] if shaper is None else [shaper.rate_millibps]
    if policer is not None and policer.excess == "discard":
        rates.append(policer.rate_millibps)
    if not rates or link.framing is None:
        return math.inf
    # They count octets of IP packets.
    return min(rates) / 1000 * octets_on_line(link.framing, packet_octets) / packet_octets


def received_part(link: LinkSpec, vc: int, duration_ps: int, *, from_ps: int = 0) -> float:
    """Rate at which the receiver of a VC has a link's packets, as a part of the link's own rate.

    It is the mean, and 1 where packets go at the rate of the link. So much longer than others the
    packets of the VC take.

    Args:
        link: the link.
        vc: the VC's id.
        duration_ps: of the run, picoseconds, above 0.
        from_ps: from when on it counts, picoseconds, below `duration_ps`.
    """
    receiver = next((one for one in link.receivers if vc in one.vcs), None)
    if receiver is None or link.framing is None:
        return 1.0
    ends = (*receiver.times_ps[1:], duration_ps)
    sent = sum(
        (rate or 0) * max(0, min(end, duration_ps) - max(begin, from_ps))
        for begin, end, rate in zip(receiver.times_ps, ends, receiver.rates_millibps, strict=True)
    )
    return sent / (link.framing.rate_millibps * (duration_ps - from_ps))


def carried_bps(
    link: LinkSpec,
    duration_ps: int,
    taken_bps: float = 0.0,
    most_bps: float = math.inf,
    *,
    from_ps: int = 0,
) -> float:
    """Rate of the cells, or of the line of packets, that a link could carry over a run, bit/s.

    It is the mean.

    A link that varies is taken at its rate of each moment; while it has no path, or is interrupted
    after a handover, it carries nothing.

    Args:
        link: the link.
        duration_ps: of the run, picoseconds, above 0.
        taken_bps: what others take of the link while it has so much, bit/s.
        most_bps: to what its port holds everybody together, bit/s.
        from_ps: from when on it counts what the link could carry, picoseconds, below `duration_ps`.

    >>> from skycell.spec.declared.network import FifoSpec, ScheduleSpec, PortSpec
    >>> port = PortSpec(queues=(), scheduler=FifoSpec(), frame_gap_ps=0)
    >>> second = 10**12
    >>> halves = ScheduleSpec(
    ...     times_ps=(0, 2 * second),
    ...     delays_ps=(1, 1),
    ...     paths=(0, 0),
    ...     cell_times_ps=(10**6, 2 * 10**6),
    ...     interruption_ps=0,
    ...     handover_loses_cells=False,
    ... )
    >>> link = LinkSpec(
    ...     name="a>b", from_=0, to=1, cell_time_ps=10**6, delay_ps=1, schedule=halves, port=port
    ... )
    >>> link_cell_bps(10**6), carried_bps(link, 4 * second)
    (424000000.0, 318000000.0)
    >>> round(carried_bps(link, 4 * second, from_ps=second))  # a third of it at the whole rate
    282666667
    """
    if link.schedule is None:
        return max(0.0, min(link_bps(link), most_bps) - taken_bps)
    schedule = link.schedule
    if schedule.rates_millibps:
        rates = [rate / 1000 for rate in schedule.rates_millibps]
    elif schedule.cell_times_ps:
        rates = [link_cell_bps(cell_time) for cell_time in schedule.cell_times_ps]
    else:
        rates = [link_bps(link)] * len(schedule.times_ps)
    ends = (*schedule.times_ps[1:], duration_ps)
    sending_ps = dict.fromkeys(rates, 0)
    ready = 0
    for step, (begin, end) in enumerate(zip(schedule.times_ps, ends, strict=True)):
        if step and schedule.paths[step] != schedule.paths[step - 1]:
            ready = begin + schedule.interruption_ps
        if schedule.delays_ps[step] is not None:
            open_ps = min(end, duration_ps) - max(begin, ready, from_ps)
            sending_ps[rates[step]] += max(0, open_ps)
    return sum(
        max(0.0, min(rate, most_bps) - taken_bps) * (time_ps / (duration_ps - from_ps))
        for rate, time_ps in sending_ps.items()
    )


def ceiling_bps(
    mss: int, cell_bps: float, *, llc_snap: bool = True, timestamps: bool = False
) -> float:
    """Largest TCP throughput over a link: MSS / (53 x cells) x the link's cell rate, bit/s.

    Args:
        mss: octets of TCP payload in a full segment, above 0.
        cell_bps: rate of the link's cells, bit/s, above 0. The studies differ in whether SONET
            overhead is taken off 155.52 Mbit/s first.
        llc_snap: whether frames carry LLC/SNAP.
        timestamps: whether segments carry the timestamps option.

    Source: ICCCN'97 section 6.2, which prints 125.2 Mbit/s.

    >>> round(ceiling_bps(512, 155.52e6) / 1e6, 2)
    125.2
    """
    if cell_bps <= 0:
        raise ValueError(f"a cell rate of {cell_bps} bit/s: must be above 0")
    return tcp_share(mss, llc_snap=llc_snap, timestamps=timestamps) * cell_bps


def stated_bps_of(text: object) -> float | None:
    """A rate that a file states as a ceiling, bit/s; none if the text is no bit rate above 0.

    >>> stated_bps_of("63 Mbit/s"), stated_bps_of("0 bit/s"), stated_bps_of("link")
    (63000000.0, None, None)
    """
    try:
        stated = parse_quantity(text) if isinstance(text, str) else None
    except Refused:
        return None
    if stated is None or stated.dimension is not Dimension.BIT_RATE or stated.amount <= 0:
        return None
    return float(stated.amount)
