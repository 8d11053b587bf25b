"""How long a lone cell waits for access to an uplink that nobody else uses, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from skycell.spec.declared.network import NetworkSpec, UplinkSpec
from skycell.spec.declared.parts import DamaSpec, FixedAssignmentSpec, HybridSpec, SlottedAlohaSpec


@dataclass(frozen=True)
class LoneAccess:
    """Access delay of a cell that comes at any time alike, picoseconds.

    From its arrival at the terminal to the beginning of its transmission, on an empty uplink
    without errors: what the protocol adds by itself. Load comes on top.
    """

    least_ps: float
    mean_ps: float
    most_ps: float


@dataclass(frozen=True)
class ExplainedUplink:
    """An uplink that terminals share.

    Attributes:
        name: of the node that they send to, from the second uplink on with its number.
        access: kind of its protocol.
        terminals: that share it.
        slot_ps: length of a slot.
        frame_slots: of a frame, which may be one slot.
        feedback_ps: from the end of a slot until its terminals know of it.
        response_ps: from the end of a request until grants hold.
        lone: access delay when it is empty; none if there is no closed form.
    """

    name: str
    access: str
    terminals: int
    slot_ps: int
    frame_slots: int
    feedback_ps: int
    response_ps: int
    lone: LoneAccess | None


def explained_uplinks(spec: NetworkSpec) -> tuple[ExplainedUplink, ...]:
    """The uplinks of a run."""
    return tuple(
        ExplainedUplink(
            uplink.name,
            uplink.access.kind,
            len(uplink.links),
            uplink.slot_ps,
            _frame_slots(uplink),
            uplink.feedback_ps,
            uplink.response_ps,
            lone_access(uplink),
        )
        for uplink in spec.uplinks
    )


def _frame_slots(uplink: UplinkSpec) -> int:
    access = uplink.access
    if isinstance(access, FixedAssignmentSpec):
        return access.constant_slots * len(uplink.links)
    return access.frame_slots if isinstance(access, DamaSpec | HybridSpec) else 1


def lone_access(uplink: UplinkSpec) -> LoneAccess | None:
    """What access adds on an empty uplink; none for trees and splitting, which wait for intervals.

    Contention sends in the next slot. Of slots of one's own the next comes after half of their
    distance in the mean; where distances differ a long one is met more often. DAMA without such
    slots waits for the terminal's turn to ask, the answer, and its slot in the next frame.
    """
    access = uplink.access
    if isinstance(access, SlottedAlohaSpec | HybridSpec):
        return _until_next([0], 1, uplink.slot_ps)
    terminals = len(uplink.links)
    if isinstance(access, FixedAssignmentSpec):
        return _until_next([0], terminals, uplink.slot_ps)
    if not isinstance(access, DamaSpec):
        return None
    # What follows is periodic in as many frames as there are terminals.
    period = terminals * access.frame_slots
    if access.constant_slots or access.free_capacity:
        own = [_own_slots(access, terminals, each) for each in range(terminals)]
        found = [_until_next(slots, period, uplink.slot_ps) for slots in own]
        mean_ps = sum(one.mean_ps for one in found) / terminals
        return LoneAccess(0, mean_ps, max(one.most_ps for one in found))
    return _after_request(access, uplink, period)


def _own_slots(access: DamaSpec, terminals: int, terminal: int) -> list[int]:
    """Slots of a terminal that it does not ask for, by number, in the frames of a period."""
    granted = access.frame_slots - access.request_slots
    constant = access.constant_slots * terminals
    slots = []
    for frame in range(terminals):
        of_constant = range(terminal, constant, terminals)
        # FCA: the first turn goes on by one terminal from frame to frame.
        first = constant + (terminal - frame) % terminals
        of_free = range(first, granted if access.free_capacity else first, terminals)
        begin = frame * access.frame_slots + access.request_slots
        slots += [begin + slot for slot in (*of_constant, *of_free)]
    return slots


def _until_next(slots: Sequence[int], period: int, slot_ps: int) -> LoneAccess:
    gaps = [later - one for one, later in pairwise((*slots, slots[0] + period))]
    mean = sum(gap * gap for gap in gaps) / (2 * period)
    return LoneAccess(0, mean * slot_ps, max(gaps) * slot_ps)


def _after_request(access: DamaSpec, uplink: UplinkSpec, period: int) -> LoneAccess:
    terminals = len(uplink.links)
    frame_ps = access.frame_slots * uplink.slot_ps
    in_slot = min(access.requests_per_slot, terminals)
    turns = []  # when the first terminal asks, and how long its cell waits from then on
    asked = 0
    for frame in range(terminals):
        for slot in range(access.request_slots):
            if any((asked + i) % terminals == 0 for i in range(in_slot)):
                at_ps = frame * frame_ps + slot * uplink.slot_ps
                holds_ps = at_ps + uplink.slot_ps + uplink.response_ps
                begins_ps = -(-holds_ps // frame_ps) * frame_ps
                begins_ps += access.request_slots * uplink.slot_ps
                turns.append((at_ps, begins_ps - at_ps))
            asked += in_slot
    period_ps = period * uplink.slot_ps
    before = turns[-1][0] - period_ps
    total, most = 0.0, 0.0
    for at_ps, rest_ps in turns:
        gap = at_ps - before
        total += gap * (gap / 2 + rest_ps)
        most = max(most, gap + rest_ps)
        before = at_ps
    return LoneAccess(min(rest for _, rest in turns), total / period_ps, most)
