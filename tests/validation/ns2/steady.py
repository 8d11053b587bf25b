"""The steady states: one and five connections over the WAN and the GEO link."""

from __future__ import annotations

import dataclasses

from benches.peers.scenarios import GEO_550, LINK_BPS, WAN, Dumbbell, Net

VARIANTS = ("vanilla", "reno", "new_reno", "sack")

STAGGERS_MS = (7.0, 17.0, 31.0)
"""Times between two starts. They decide which segments meet a full buffer; means are compared."""


def _fast_access(net: Net) -> Net:
    """The same with access links ten times as fast as the shared link.

    A frame then arrives at the shared port almost at once, as a packet does in ns-2, and no longer
    cell by cell among the frames of the others.
    """
    return dataclasses.replace(net, name=f"{net.name}-fast", access_bps=10 * LINK_BPS)


NETS = (
    (WAN, 12_000, 10.0),
    (_fast_access(WAN), 12_000, 10.0),
    (GEO_550, 200_000, 60.0),
    (_fast_access(GEO_550), 200_000, 60.0),
)
"""Networks with the buffer in cells and the simulated time in s."""


@dataclasses.dataclass(frozen=True)
class Steady:
    """One comparison: so many connections of one variant, with every stagger."""

    net: Net
    buffer_cells: int
    duration_s: float
    sources: int
    variant: str

    @property
    def name(self) -> str:
        """The name of its dumbbells."""
        return self.dumbbells()[0].name

    def dumbbells(self) -> list[Dumbbell]:
        """The scenarios; a connection alone needs but one."""
        return [
            Dumbbell(
                self.net,
                self.sources,
                self.variant,
                self.buffer_cells,
                "epd",
                self.duration_s,
                stagger_ms,
            )
            for stagger_ms in (STAGGERS_MS if self.sources > 1 else STAGGERS_MS[:1])
        ]


STEADY = tuple(
    Steady(net, buffer_cells, duration_s, sources, variant)
    for net, buffer_cells, duration_s in NETS
    for sources in (1, 5)
    for variant in VARIANTS
)
