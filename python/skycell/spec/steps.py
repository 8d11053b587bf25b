"""What drives a link over time, in steps: plain data, whatever it was computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Hops:
    """A path over satellites, and the delay of each of its links, up link first."""

    satellites: tuple[str, ...]
    links_ps: tuple[int, ...]


@dataclass(frozen=True)
class Steps:
    """A link in steps: each holds from its time to the next one's.

    Attributes:
        times_ps: when each step begins, ascending.
        delays_ps: one way; None where there is no path.
        paths: steps that follow each other with equal numbers are one path.
        rates: of what begins in the step, as the link's spec has them: time of a cell in
            picoseconds, or thousandths of a bit/s on a line of packets; empty where it is always
            the link's.
        losses_ppb: part of a thousand million of the frames that are lost; empty where none is.
        hops: the path of each step, None where there is none; empty where it was not asked for.
        notes: sentences on what the steps rest on, such as satellites that are left out.
        accounts: what was made of each file that the steps rest on, as plain data.
    """

    times_ps: tuple[int, ...]
    delays_ps: tuple[int | None, ...]
    paths: tuple[int, ...]
    rates: tuple[int, ...] = ()
    losses_ppb: tuple[int, ...] = ()
    hops: tuple[Hops | None, ...] = ()
    notes: tuple[str, ...] = ()
    accounts: tuple[dict[str, Any], ...] = ()
