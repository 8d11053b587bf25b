"""Stages of CUBIC's congestion avoidance: one connection over a long link that is never full.

Slow start leads to a window that no other limit reaches, and a loss there to a stage of congestion
avoidance: concave up to the window of the loss, convex from there on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.validation.ns2.cases import MSS, RULES, over_one_link


@dataclass(frozen=True)
class Stage:
    """A case.

    Attributes:
        name: how it is called.
        delay_ms: of the link, one way.
        initial_cwnd: segments.
        losses: ordinals of lost transmissions, from 0.
        duration_s: of the run.
    """

    name: str
    delay_ms: int
    initial_cwnd: int
    losses: tuple[int, ...]
    duration_s: int

    def round_trip_s(self) -> float:
        """Twice the link; a segment and its acknowledgement add 40 us."""
        return 2e-3 * self.delay_ms

    def quiet_times(self) -> list[float]:
        """The middles of the round trips: a window's acknowledgements come at their beginnings."""
        count = int(self.duration_s / self.round_trip_s())
        return [(k + 0.5) * self.round_trip_s() for k in range(count)]

    def scenario(self) -> Mapping[str, Any]:
        """The scenario, as its file would say it."""
        tcp = {
            **RULES["sack"],
            "congestion": "cubic",
            "mss": f"{MSS} B",
            "receiver_window": f"{4000 * MSS} B",
            "initial_cwnd": f"{self.initial_cwnd} segments",
            "tick": "1 ms",
            "rto_initial": "3 s",
        }
        return {
            **over_one_link(self.delay_ms, self.duration_s, tcp, self.losses),
            "records": {"traces": ["cwnd"]},
        }


WAN = Stage("a round trip of 100 ms", 50, 200, (250,), 14)
GEO = Stage("a round trip of 550 ms", 275, 100, (150,), 17)
AGAIN = Stage("and a loss before the window is back", 50, 200, (250, 12_000), 12)
STAGES = (WAN, GEO, AGAIN)


def windows_at(times: Sequence[float], changes: Sequence[tuple[float, float]]) -> list[float]:
    """The value of the last change up to each time."""
    return [changes[bisect_right(changes, time, key=lambda c: c[0]) - 1][1] for time in times]


def to_text(windows: Sequence[float]) -> str:
    """Ten windows a line."""
    rows = [windows[k : k + 10] for k in range(0, len(windows), 10)]
    return "".join(" ".join(f"{w:g}" for w in row) + "\n" for row in rows)


def from_text(text: str) -> list[float]:
    """Reads what `to_text` wrote."""
    return [float(word) for word in text.split()]
