"""Where skycell and ns-2 do not do the same, and why.

Every entry is explained in docs/explanation/second-opinion-ns2.md. An exchange that is not named
here must agree; one that is must differ from the stated time on, so that an entry goes when its
reason goes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from tests.validation.ns2.cases import Case


class Reason(Enum):
    """A rule in which the two differ."""

    BURST = "ns-2's NewReno sends at most two segments for an ACK within fast recovery"
    THIRD = "ns-2's Reno sends what the window has room for with the third duplicate, too"
    ENTRY = "our SACK sends what pipe has room for with the third duplicate, too"
    NEWS = "for ns-2's SACK only a duplicate whose blocks tell something new begins a recovery"
    GO_BACK = "amid a timeout's go-back ns-2's flywheel repeats; ours sends what is beyond recover"
    TIMED = "ns-2 goes on timing a segment when one before it is sent again"
    WHOLE = "ns-2 keeps ssthresh in whole segments, so that later losses hit other segments"
    EXIT = "ns-2's cwnd grows with the ACK that ends a recovery"


@dataclass(frozen=True)
class Known:
    """From when on (s) an exchange differs, in what, and why."""

    from_s: float
    what: str
    reason: Reason


EXCHANGES: Mapping[Case, Known] = {
    Case("tahoe", "seven over three round trips"): Known(1.8009, "order", Reason.WHOLE),
    Case("tahoe-careful", "seven over three round trips"): Known(1.8009, "order", Reason.WHOLE),
    Case("reno", "six over three round trips"): Known(1.7009, "order", Reason.THIRD),
    Case("newreno", "two half a window apart"): Known(0.95, "lead", Reason.BURST),
    Case("newreno", "first and last of a window"): Known(0.95, "lead", Reason.BURST),
    Case("newreno", "three ten apart"): Known(0.9006, "order", Reason.BURST),
    Case("newreno", "four, an eighth of a window apart"): Known(0.9006, "order", Reason.BURST),
    Case("newreno", "four of a window, and one of its recovery"): Known(
        0.9006, "order", Reason.BURST
    ),
    Case("newreno", "six over three round trips"): Known(0.9006, "order", Reason.BURST),
    Case("newreno", "seven over three round trips"): Known(0.95, "lead", Reason.BURST),
    Case("newreno-98-0876", "the retransmission three times"): Known(
        1.0013, "order", Reason.GO_BACK
    ),
    Case("newreno-98-0876", "a whole window, and one of its repetitions"): Known(
        1.5007, "order", Reason.GO_BACK
    ),
    Case("newreno-98-0876", "four of a window, and one of its recovery"): Known(
        1.45, "ssthresh", Reason.TIMED
    ),
    Case("newreno-98-0876", "six over three round trips"): Known(1.5008, "order", Reason.EXIT),
    Case("newreno-98-0876", "seven over three round trips"): Known(1.85, "cwnd", Reason.TIMED),
    Case("sack", "seven over three round trips"): Known(1.5010, "order", Reason.ENTRY),
    Case("sack-98-0876", "first and last of a window"): Known(1.2008, "order", Reason.NEWS),
    Case("sack-98-0876", "twenty in a row, above a half"): Known(1.6016, "order", Reason.NEWS),
    Case("sack-98-0876", "seven over three round trips"): Known(1.5010, "order", Reason.ENTRY),
}
