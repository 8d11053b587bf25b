"""What the places of a network over a constellation are: stations, and places that forward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skycell.orbit.places import Place


@dataclass(frozen=True)
class Ground:
    """The nodes on the ground.

    Attributes:
        stations: how many of the places are stations; these come first, and the others forward.
        stations_relay: whether stations forward packets of others too.
        point: a place behind some of those that forward, without satellites; None for none.
        terrestrial: links with that point: number of the place, and delay in picoseconds.
    """

    stations: int
    stations_relay: bool = False
    point: Place | None = None
    terrestrial: tuple[tuple[int, int], ...] = ()

    def nodes(self, places: Sequence[Place]) -> tuple[Place, ...]:
        """The places, and the point behind them."""
        return (*places, *(() if self.point is None else (self.point,)))

    def destinations(self, places: Sequence[Place]) -> tuple[Place, ...]:
        """The places that packets have as their destination: stations, then the point."""
        return self.nodes(places[: self.stations])
