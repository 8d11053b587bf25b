"""Links between satellites that a constellation asks for and that do not exist."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from skycell.input.faults import show_value
from skycell.input.quantities import counted
from skycell.orbit.constellation import Constellation

MOST_LINKS = 20
"""Links given to a program one by one; of the others their number."""


@dataclass(frozen=True)
class AbsentLink:
    """A link that does not exist at some of the moments at which it is asked for.

    Attributes:
        ends: names of its satellites.
        looks: moments at which it is asked for, of those that were looked at.
        absent: moments of these at which it does not exist.
        obstacle: `earth`, where it comes below the clearance, or `length`, where it is too long.
        worst_km: its least height above the equatorial radius, or its greatest length.
    """

    ends: tuple[str, str]
    looks: int
    absent: int
    obstacle: str
    worst_km: float

    @property
    def is_never(self) -> bool:
        """Whether it exists at none of the moments."""
        return self.absent == self.looks

    @property
    def named(self) -> str:
        """Both ends, for people."""
        return " to ".join(show_value(end)[1:-1] for end in self.ends)

    def as_dict(self) -> dict[str, Any]:
        """The link for a program."""
        km = "lowest_km" if self.obstacle == "earth" else "length_km"
        return {
            "link": list(self.ends),
            "moments": self.looks,
            "moments_without": self.absent,
            "obstacle": self.obstacle,
            km: self.worst_km,
        }


@dataclass(frozen=True)
class AbsentLinks:
    """What is known of a constellation's links between two moments.

    Attributes:
        looks: moments that were looked at, evenly spaced.
        asked_for: pairs of satellites that the constellation links at any of them, limits aside.
        links: those whose link does not exist at some of these moments.
        clearance: `links.clearance` as the file has it.
        max_length: `links.max_length` as the file has it.
    """

    looks: int = 0
    asked_for: int = 0
    links: tuple[AbsentLink, ...] = ()
    clearance: str = ""
    max_length: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence on the links that never exist and one on the others, by what they break."""
        found = []
        for obstacle in ("earth", "length"):
            links = [link for link in self.links if link.obstacle == obstacle]
            never = [link for link in links if link.is_never]
            at_times = [link for link in links if not link.is_never]
            reason, extreme = self._reason(obstacle)
            if never:
                worst = extreme(never)
                found.append(
                    f"{self._of_all(never)} {_plural(never, 'does', 'do')} not exist"
                    f"{self._when()}: {reason}. {_worst(worst)}."
                )
            if at_times:
                rarest = max(at_times, key=lambda link: (link.absent / link.looks, link.ends))
                share = f"{rarest.absent} of {counted(rarest.looks, 'moment')}"
                found.append(
                    f"{self._of_all(at_times)} {_plural(at_times, 'does', 'do')} not exist at some "
                    f"moments: {reason}. {rarest.named} does not exist at {share} looked at."
                )
        return tuple(found)

    def _reason(self, obstacle: str) -> tuple[str, Any]:
        if obstacle == "earth":
            reason = f"the lowest height allowed is {self.clearance} (links.clearance)"
            return reason, lambda links: min(links, key=lambda link: (link.worst_km, link.ends))
        reason = f"the greatest length allowed is {self.max_length} (links.max_length)"
        return reason, lambda links: max(links, key=lambda link: (link.worst_km, link.ends))

    def _of_all(self, links: list[AbsentLink]) -> str:
        return f"{len(links)} of {counted(self.asked_for, 'link')} between satellites"

    def _when(self) -> str:
        return "" if self.looks == 1 else f" at any of {self.looks} moments looked at"

    def as_dict(self) -> dict[str, Any]:
        """The links for a program."""
        return {
            "absent_links": [link.as_dict() for link in self.links[:MOST_LINKS]],
            "absent_links_count": len(self.links),
            "links_asked_for": self.asked_for,
        }


NO_LINK = AbsentLinks()
"""Of a constellation that links no satellites."""


def _plural(links: list[AbsentLink], one: str, many: str) -> str:
    return one if len(links) == 1 else many


def _worst(link: AbsentLink) -> str:
    if link.obstacle == "length":
        return f"{link.named} is {link.worst_km:.0f} km long"
    if link.worst_km < 0:
        return f"{link.named} passes {-link.worst_km:.0f} km below the surface"
    return f"{link.named} comes to {link.worst_km:.0f} km"


def absent_links(constellation: Constellation, first_ps: int, last_ps: int) -> AbsentLinks:
    """The links that do not exist at some of the moments between two since time 0."""
    from skycell import _core

    links = constellation.file.links
    if links.kind == "none" and not links.given and not constellation.file_links:
        return AbsentLinks()
    spec = json.dumps(constellation.spec())
    found = json.loads(_core.orbit_absent_links(spec, first_ps, last_ps))
    names = constellation.satellites
    return AbsentLinks(
        found["looks"],
        found["asked_for"],
        tuple(AbsentLink((names[a], names[b]), *row) for a, b, *row in found["links"]),
        str(links.clearance),
        str(links.max_length),
    )
