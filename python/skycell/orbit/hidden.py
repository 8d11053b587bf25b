"""Satellites above a place's mask that the earth hides, where the mask is below the horizon."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skycell.input.quantities import counted
from skycell.orbit.constellation import Constellation
from skycell.orbit.places import Place


@dataclass(frozen=True)
class Hidden:
    """What the earth hides from one place.

    Attributes:
        place: its name.
        mask_deg: its mask.
        satellites: how many are above the mask and hidden at some of the moments looked at.
        looks: moments that were looked at, evenly spaced.
    """

    place: str
    mask_deg: float
    satellites: int
    looks: int

    def __str__(self) -> str:
        many = counted(self.satellites, "satellite")
        when = "" if self.looks == 1 else f" at some of {self.looks} moments looked at"
        return (
            f"The earth hides {many} above the mask of {self.mask_deg:g} deg from {self.place}"
            f"{when}: a place does not see through the earth, whatever its mask is."
        )

    def as_dict(self) -> dict[str, Any]:
        """The same for a program."""
        return {"place": self.place, "mask_deg": self.mask_deg, "satellites": self.satellites}


def hidden(
    constellation: Constellation, places: Sequence[Place], first_ps: int, last_ps: int
) -> tuple[Hidden, ...]:
    """What the earth hides between two moments since time 0, place by place."""
    from skycell import _core

    spec = constellation.spec(places)
    masks = [float(station["mask_deg"]) for station in spec["stations"]]
    if all(mask >= 0 for mask in masks):
        return ()
    found = json.loads(_core.orbit_hidden(json.dumps(spec), first_ps, last_ps))
    return tuple(Hidden(places[at].name, masks[at], *counts) for at, *counts in found)
