"""The rate of a link that a series drives."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from skycell.input.quantities import rounded
from skycell.scenario.declared.framings import Framing
from skycell.scenario.links.framing import carries_packets, overhead_of
from skycell.scenario.links.keys import cell_time_ps


@dataclass(frozen=True)
class LinkRate:
    """The rate that a link has where no series says otherwise, and the greatest it may have.

    Attributes:
        payload: at which it carries cells, or that of a line of packets, bit/s.
        framing: what of a bit rate carries cells, or how packets go.
        text: as the scenario has it.
    """

    payload: Fraction
    framing: Framing | None
    text: str

    @property
    def carries_packets(self) -> bool:
        """Whether packets go whole."""
        return carries_packets(self.framing)

    def measure(self, payload: Fraction) -> int:
        """A rate as the spec has it: the time of a cell in picoseconds; thousandths of a bit/s."""
        return rounded(payload * 1000) if self.carries_packets else cell_time_ps(payload)

    def payload_of(self, bps: Fraction) -> Fraction:
        """What a bit rate of the line leaves for cells; a line of packets has it all."""
        if self.framing is None or self.carries_packets:
            return bps
        return bps * overhead_of(self.framing).carried
