"""What a buffer counts: cells, packets or octets of packets; and how many of them sizes are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from skycell.input.quantities import PS_PER_SECOND, Dimension, Quantity, show_amount, units_of
from skycell.spec.declared.network import PacketFraming
from skycell.spec.values import octets_on_line, packet_time_ps

#: Sizes of buffers and their thresholds, in the order in which faults list them.
SIZES = (
    Dimension.CELLS,
    Dimension.FRAMES,
    Dimension.PACKETS,
    Dimension.SIZE,
    Dimension.TIME,
    Dimension.RTT,
    Dimension.BDP,
)


@dataclass(frozen=True)
class BufferUnit:
    """What a buffer counts.

    Attributes:
        noun: in words, behind a number.
        full: of a full frame or packet.
        per: how much the base unit of a dimension is; without those that it cannot be said in.
        sizes: in which the buffer's own size can be said.
        why: why not in the others.
    """

    noun: str
    full: int
    per: Mapping[Dimension, Fraction]
    sizes: tuple[Dimension, ...]
    why: str

    @property
    def counts_octets(self) -> bool:
        """Whether it counts octets of packets."""
        return self.noun == "B"

    def amount(self, size: Quantity) -> int | None:
        """A size in this unit, rounded down; none where it cannot be said in it."""
        per = self.per.get(size.dimension)
        return None if per is None else int(size.amount * per)

    @property
    def allowed(self) -> str:
        """How a threshold in it can be written, in words."""
        counted = "octets" if self.counts_octets else self.noun
        return f"a size in {units_of(*self.per)}: the buffer counts {counted}"

    @property
    def allowed_sizes(self) -> str:
        """How the buffer's own size can be written, in words."""
        return f"a size in {units_of(*self.sizes)}: {self.why}"

    def shown(self, amount: int) -> str:
        """An amount for people."""
        return f"{show_amount(amount)} {self.noun}"


def of_cells(frame_cells: int, cell_time_ps: int, rtt_ps: int) -> BufferUnit:
    """Of a port whose cells take so long, where a full frame has `frame_cells`."""
    rtt = Fraction(rtt_ps, cell_time_ps)
    per = {
        Dimension.CELLS: Fraction(1),
        Dimension.FRAMES: Fraction(frame_cells),
        Dimension.TIME: Fraction(1, cell_time_ps),
        Dimension.RTT: rtt,
        Dimension.BDP: rtt,
    }
    return BufferUnit("cells", frame_cells, per, tuple(per), "the link carries ATM cells")


def of_packets(
    framing: PacketFraming, packet: int, rtt_ps: int, dimension: Dimension | None
) -> BufferUnit:
    """Of a port of packets, by how the size of its buffer is written; none for no limit.

    A time, a number of RTTs and the bandwidth-delay product stand for what the link carries in it
    of packets with `packet` octets, counted in octets without what the link adds to them.
    """
    if dimension in (None, Dimension.PACKETS):
        per_time = Fraction(1, packet_time_ps(framing, packet))
        own, noun, full = {Dimension.PACKETS: Fraction(1)}, "packets", 1
    else:
        on_line = Fraction(framing.rate_millibps, 8000 * PS_PER_SECOND)
        per_time = on_line * packet / octets_on_line(framing, packet)
        own, noun, full = {Dimension.SIZE: Fraction(1)}, "B", packet
    rtt = per_time * rtt_ps
    per = {**own, Dimension.TIME: per_time, Dimension.RTT: rtt, Dimension.BDP: rtt}
    sizes = tuple(one for one in SIZES if one not in (Dimension.CELLS, Dimension.FRAMES))
    return BufferUnit(noun, full, per, sizes, "the link carries whole packets, not cells")
