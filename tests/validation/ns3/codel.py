"""CoDel before a line, by the procedure of RFC 8289 (sections 5.4 to 5.6), step by step.

A third opinion between the engine and ns-3, with the arithmetic of either: the RFC's square root,
or what Linux and ns-3 do instead.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

#: Arrival: picoseconds, octets, flow.
Packet = tuple[int, int, int]
#: Loss: picoseconds, flow, octets.
Loss = tuple[int, int, int]


class Arithmetic(Protocol):
    """How times are kept and roots are taken."""

    def time(self, ps: int) -> int:
        """A time of the simulation in the clock's unit."""

    def is_past(self, now: int, time: int) -> bool:
        """Whether the first time above the target is an interval ago."""

    def interval(self, whole: int, count: int, is_entry: bool) -> int:
        """The interval over the root of the number of discards."""


class Exact:
    """That of RFC 8289."""

    def time(self, ps: int) -> int:
        """Picoseconds."""
        return ps

    def is_past(self, now: int, time: int) -> bool:
        """`now >= first_above_time_` (section 5.6)."""
        return now >= time

    def interval(self, whole: int, count: int, is_entry: bool) -> int:
        """`INTERVAL / sqrt(count)` (section 5.6)."""
        return int(whole / math.sqrt(count))


@dataclass
class Linux:
    """That of Linux (include/net/codel_impl.h), which ns-3 has as well.

    A tick is 1024 ns. The root's reciprocal is a fraction of 16 bits that each discard brings
    nearer by one Newton step, from 1 at the first one: 0.5 instead of 0.7071 at the second, 0.5625
    instead of 0.5774 at the third. The first time above the target has to lie behind, not just be
    reached.
    """

    root: int = 0xFFFF

    def time(self, ps: int) -> int:
        """Whole ticks."""
        return (ps // 1000) >> 10

    def is_past(self, now: int, time: int) -> bool:
        """`codel_time_after`."""
        return now > time

    def interval(self, whole: int, count: int, is_entry: bool) -> int:
        """`codel_Newton_step` and `codel_control_law`."""
        if is_entry and count == 1:
            self.root = 0xFFFF
        else:
            fraction = self.root << 16
            rest = (3 << 32) - count * ((fraction * fraction) >> 32)
            self.root = (((rest >> 2) * fraction) >> 31) >> 16
        return (whole * (self.root << 16)) >> 32


@dataclass
class CoDel:
    """The queue and its line.

    Attributes:
        target_ps, interval_ps: TARGET and INTERVAL.
        mtu: maxpacket, octets.
        bps: rate of the line, bit/s.
        arithmetic: of the control law.
    """

    target_ps: int
    interval_ps: int
    mtu: int
    bps: int
    arithmetic: Arithmetic = field(default_factory=Exact)
    queue: deque[Packet] = field(default_factory=deque)
    octets: int = 0
    first_above: int = 0
    is_dropping: bool = False
    drop_next: int = 0
    count: int = 0
    last_count: int = 0

    def losses(self, arrivals: Sequence[Packet], end_ps: int) -> list[Loss]:
        """What is lost of these arrivals, in order of time, before the end."""
        lost: list[Loss] = []
        free_at = 0
        for packet in arrivals:
            while self.queue and free_at <= packet[0]:
                free_at = self._serve(free_at, lost)
            self.queue.append(packet)
            self.octets += packet[1]
            if free_at <= packet[0]:
                free_at = self._serve(packet[0], lost)
        while self.queue:
            free_at = self._serve(free_at, lost)
        return [loss for loss in lost if loss[0] < end_ps]

    def _serve(self, now_ps: int, lost: list[Loss]) -> int:
        """`dequeue`; when the line is free again."""
        clock = self.arithmetic
        now = clock.time(now_ps)
        whole = clock.time(self.interval_ps)

        def drop(packet: Packet) -> None:
            lost.append((now_ps, packet[2], packet[1]))

        packet, is_excess = self._take(now_ps)
        if self.is_dropping:
            if not is_excess:
                self.is_dropping = False
            while self.is_dropping and now >= self.drop_next and packet is not None:
                drop(packet)
                self.count += 1
                spacing = clock.interval(whole, self.count, is_entry=False)
                packet, is_excess = self._take(now_ps)
                if is_excess:
                    self.drop_next += spacing
                else:
                    self.is_dropping = False
        elif is_excess and packet is not None:
            drop(packet)
            packet, _ = self._take(now_ps)
            self.is_dropping = True
            delta = self.count - self.last_count
            is_recent = now - self.drop_next < 16 * whole
            self.count = delta if delta > 1 and is_recent else 1
            self.drop_next = now + clock.interval(whole, self.count, is_entry=True)
            self.last_count = self.count
        assert packet is not None, "a packet that is dropped has one behind it"
        return now_ps + packet[1] * 8 * 10**12 // self.bps

    def _take(self, now_ps: int) -> tuple[Packet | None, bool]:
        """`dodequeue`: the head, and whether it may be dropped."""
        if not self.queue:
            self.first_above = 0
            return None, False
        packet = self.queue.popleft()
        self.octets -= packet[1]
        clock = self.arithmetic
        now = clock.time(now_ps)
        if clock.time(now_ps - packet[0]) < clock.time(self.target_ps) or self.octets <= self.mtu:
            self.first_above = 0
        elif self.first_above == 0:
            self.first_above = now + clock.time(self.interval_ps)
        else:
            return packet, clock.is_past(now, self.first_above)
        return packet, False
