"""The satellites of a link whose satellites switch on board."""

from __future__ import annotations

from dataclasses import dataclass

from skycell.input.faults import Path
from skycell.scenario.links.schedule import Schedule
from skycell.spec.steps import Hops


@dataclass(frozen=True)
class Chain:
    """The satellites of a link over the run.

    Attributes:
        times_ps: when each step begins.
        hops: the path of each step; None while there is none.
        schedule: what the file says of the link.
        path: where it says so.
    """

    times_ps: tuple[int, ...]
    hops: tuple[Hops | None, ...]
    schedule: Schedule
    path: Path

    @property
    def changes(self) -> list[tuple[int, tuple[str, ...]]]:
        """When the satellites change, and to which; first those at the beginning."""
        found: list[tuple[int, tuple[str, ...]]] = []
        for time, hops in zip(self.times_ps, self.hops, strict=True):
            if hops is not None and (not found or hops.satellites != found[-1][1]):
                found.append((time if found else 0, hops.satellites))
        return found
