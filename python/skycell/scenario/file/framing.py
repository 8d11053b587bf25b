"""Framings as a scenario file writes them: what of a link's rate carries cells, or how packets go.

A framing of cells is a part of the rate. One of packets says what each IP packet takes of the line
beside itself, and the rate of the link is that of the line.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from skycell.input.parameters import Flag, Parameters, param, quantity, word
from skycell.input.quantities import CELL_BITS, Dimension, Quantity, rounded
from skycell.scenario.declared.rules import kind_by_name
from skycell.scenario.file.dvb_s2 import BB_HEADER, MODCODS, Frame, frame_of, layers_of
from skycell.spec.network import PacketFraming

_KIND = "the framing"
#: Of the octets of a packet's overhead, its padding and its units.
LONGEST_PACKET = 65_535


class CellFraming(Parameters):
    """A framing of ATM cells."""

    #: Part of the stated rate that carries cells.
    part: ClassVar[Fraction] = Fraction(1)
    #: The only rate that it exists at, bit/s.
    only_bps: ClassVar[int | None] = None


class NoOverhead(CellFraming):
    """All of the rate carries ATM cells."""

    kind: Literal["none"] = param(..., _KIND)


class Sts3c(CellFraming):
    """ATM cells in SONET STS-3c (SDH STM-1): 149.76 of 155.52 Mbit/s (ANSI T1.105)."""

    # 260 of 270 columns carry payload.
    part: ClassVar[Fraction] = Fraction(260, 270)
    only_bps: ClassVar[int | None] = 155_520_000
    kind: Literal["sts3c"] = param(..., _KIND)


class Sts12c(CellFraming):
    """ATM cells in SONET STS-12c (SDH STM-4): 599.04 of 622.08 Mbit/s (ANSI T1.105)."""

    # 1040 of 1080 columns carry payload.
    part: ClassVar[Fraction] = Fraction(1040, 1080)
    only_bps: ClassVar[int | None] = 622_080_000
    kind: Literal["sts12c"] = param(..., _KIND)


class Ds3Plcp(CellFraming):
    """ATM cells in the PLCP of a DS3: 96 000 cells/s of 44.736 Mbit/s (ANSI T1.624)."""

    # 12 cells in each frame of 125 us.
    part: ClassVar[Fraction] = Fraction(96_000 * CELL_BITS, 44_736_000)
    only_bps: ClassVar[int | None] = 44_736_000
    kind: Literal["ds3_plcp"] = param(..., _KIND)


class WholePackets(Parameters):
    """A framing of IP packets that go one after the other, each of them whole."""

    #: Whether the link's rate is one of symbols.
    counts_symbols: ClassVar[bool] = False

    def line_rate(self, rate: Fraction) -> Fraction:
        """Rate of the line of packets, bit/s, of the rate that a link states."""
        return rate

    def on_line(self, rate: Fraction) -> PacketFraming:
        """What packets take of a line of packets of a rate in bit/s."""
        overhead, least, unit, line = self.octets
        return PacketFraming(
            rate_millibps=rounded(rate * 1000),
            overhead_octets=overhead,
            least_octets=least,
            unit_octets=unit,
            line_octets=line,
        )

    @property
    def octets(self) -> tuple[int, int, int, int]:
        """Octets beside each packet, to which it is padded, of a unit, and of one on the line."""
        raise NotImplementedError


class Ip(WholePackets):
    """IP packets alone: the rate is that at which the link carries their octets."""

    kind: Literal["ip"] = param(..., _KIND)

    @property
    def octets(self) -> tuple[int, int, int, int]:
        """Nothing beside the packet."""
        return 0, 0, 1, 1


class Ethernet(WholePackets):
    """Ethernet: 38 octets beside each packet, from preamble to gap, and padding to 46."""

    kind: Literal["ethernet"] = param(..., _KIND)
    vlan: Flag = param(
        False, "frames carry a VLAN tag (IEEE 802.1Q), 4 octets", source="untagged frames"
    )

    @property
    def octets(self) -> tuple[int, int, int, int]:
        """IEEE 802.3 clause 3, from preamble to interpacket gap."""
        # 7 + 1 of preamble and start, 14 of header, 4 of check sequence, 12 of gap (96 bits).
        tag = 4 if self.vlan else 0
        # A frame has at least 64 octets (minFrameSize, clause 4.4.2), a tag among them.
        return 38 + tag, 46 - tag, 1, 1


class Ppp(WholePackets):
    """PPP in frames like HDLC's, on a synchronous line; stuffed bits are not counted."""

    kind: Literal["ppp"] = param(..., _KIND)
    check_sequence: Annotated[str, word("16 bit", "32 bit")] = param(
        "16 bit", "the frame check sequence", symbol="FCS", source="RFC 1662 section 3.1"
    )
    compressed: Flag = param(
        False,
        "address and control are left out, and the protocol has one octet",
        source="RFC 1661 sections 6.5 and 6.6: to be negotiated",
    )

    @property
    def octets(self) -> tuple[int, int, int, int]:
        """RFC 1662 section 3.1: one flag between frames, address, control, protocol, FCS."""
        check = 2 if self.check_sequence == "16 bit" else 4
        header = 1 if self.compressed else 1 + 1 + 2
        return 1 + header + check, 0, 1, 1


_Octets = quantity(Dimension.SIZE, high=LONGEST_PACKET, example="44 B")
_Unit = quantity(Dimension.SIZE, low=1, high=LONGEST_PACKET, example="48 B")


class Custom(WholePackets):
    """Any overhead of octets for each packet, perhaps with padding, perhaps in units."""

    kind: Literal["custom"] = param(..., _KIND)
    overhead: Annotated[Quantity, _Octets] = param(..., "octets of each packet beside itself")
    padded_to: Annotated[Quantity, _Octets] = param(
        "0 B", "octets to which a shorter packet is padded", source="no padding"
    )
    unit: Annotated[Quantity, _Unit] = param(
        "1 B",
        "octets of the units that a packet with its overhead fills, such as 48 B of a modem that "
        "uses ATM cells",
        source="no units",
    )
    unit_on_line: Annotated[Quantity, _Unit] | None = param(
        None, "octets that a unit takes of the line, such as 53 B", source="those of the unit"
    )

    @property
    def octets(self) -> tuple[int, int, int, int]:
        """As they are written."""
        unit = int(self.unit.amount)
        line = unit if self.unit_on_line is None else int(self.unit_on_line.amount)
        return int(self.overhead.amount), int(self.padded_to.amount), unit, line


#: Octets of a GSE packet's header beside the label: start, end, label type, length; protocol type.
_GSE_HEADER = 2 + 2
#: Octets that a split packet has more: fragment number and total length in its first part; header,
#: fragment number and CRC in its last one (TS 102 606-1 section 4.2).
_GSE_SPLIT = (1 + 2) + (2 + 1 + 4)
_LABELS = {"6 B": 6, "3 B": 3, "none": 0}


class Gse(WholePackets):
    """GSE packets in the BBFRAMEs of a DVB-S2 carrier, whose symbol rate is the link's rate.

    Every BBFRAME is taken to split one packet, as it does where the carrier is full.
    """

    counts_symbols: ClassVar[bool] = True
    kind: Literal["gse"] = param(..., _KIND)
    modcod: Annotated[str, word(*MODCODS)] = param(
        ..., "constellation and code rate", symbol="MODCOD"
    )
    frame: Annotated[str, word("normal", "short")] = param(
        "normal", "FECFRAMEs of 64 800 or 16 200 bits", source="EN 302 307-1 section 5.3"
    )
    pilots: Flag = param(
        True, "36 pilot symbols after every 16 slots", source="choice: as most carriers have"
    )
    label: Annotated[str, word(*_LABELS)] = param(
        "6 B", "address of each GSE packet", source="TS 102 606-1: as long as an Ethernet address"
    )

    @property
    def physical(self) -> Frame | None:
        """The carrier's frames; none where short ones do not have the code rate."""
        return frame_of(self.modcod, self.frame, self.pilots)

    @property
    def layers(self) -> dict[str, Fraction]:
        """Shares of the carrier's symbols by layer; none where there is no such frame."""
        return layers_of(self.physical, _GSE_SPLIT) if self.physical else {}

    def line_rate(self, rate: Fraction) -> Fraction:
        """What BBFRAMEs carry of GSE packets at a symbol rate."""
        if self.physical is None:
            return rate  # a fault
        octets = self.physical.information - BB_HEADER - _GSE_SPLIT
        return rate * 8 * octets / self.physical.symbols

    @property
    def octets(self) -> tuple[int, int, int, int]:
        """TS 102 606-1 section 4.2: the header of a packet that is not split."""
        return _GSE_HEADER + _LABELS[self.label], 0, 1, 1


_Any = NoOverhead | Sts3c | Sts12c | Ds3Plcp | Ip | Ethernet | Ppp | Custom | Gse
#: Those that need no more than their name.
_Names = Literal["none", "sts3c", "sts12c", "ds3_plcp", "ip", "ethernet", "ppp"]
FramingKind = CellFraming | WholePackets
Framing = Annotated[
    Annotated[_Any, Field(discriminator="kind")],
    BeforeValidator(kind_by_name, json_schema_input_type=_Any | _Names),
]
#: Of a rate in cells a second.
CELLS_ONLY = NoOverhead(kind="none")
