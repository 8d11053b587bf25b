"""What the relative quantities of a scenario (RTTs, segments) refer to."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from skycell.input.faults import FaultCollector, Path, Verbatim
from skycell.input.quantities import PS_PER_SECOND, Dimension, Quantity, rounded, show_time
from skycell.scenario.values.tcp_types import RTT_X_BANDWIDTH


@dataclass(frozen=True)
class Context:
    """What relative quantities refer to."""

    duration_ps: int
    rtt_ps: int
    #: Payload rate of the slowest link on the longest route, bit/s.
    bandwidth: Fraction

    @property
    def rtt_x_bandwidth(self) -> Fraction:
        """Octets that the bottleneck carries in one RTT."""
        return Fraction(self.rtt_ps, PS_PER_SECOND) * self.bandwidth / 8

    def time_ps(self, value: Quantity) -> int:
        """A time, or a number of RTTs, in whole picoseconds, rounded half up."""
        scale = self.rtt_ps if value.dimension is Dimension.RTT else 1
        return rounded(value.amount * scale)

    def time_up_to(
        self, longest_ps: int, value: Quantity, path: Path, faults: FaultCollector
    ) -> int:
        """A time as of `time_ps`; a longer one than allowed is noted, and that stands for it."""
        time = self.time_ps(value)
        if time > longest_ps:
            got = value.text if value.dimension is Dimension.TIME else _as_time(value, time)
            faults.add(path, got, f"up to {show_time(longest_ps)}")
        return min(time, longest_ps)

    def octets(self, value: Quantity | str, mss: int) -> int:
        """A window in octets, rounded down."""
        if value == RTT_X_BANDWIDTH:
            return int(self.rtt_x_bandwidth)
        assert isinstance(value, Quantity)
        per_unit = {
            Dimension.SIZE: Fraction(1),
            Dimension.SEGMENTS: Fraction(mss),
            Dimension.RTT: self.rtt_x_bandwidth,
            Dimension.BDP: self.rtt_x_bandwidth,
        }
        return int(value.amount * per_unit[value.dimension])


def _as_time(value: Quantity, time_ps: int) -> Verbatim:
    return Verbatim(f'"{value}", which is {show_time(time_ps)}')
