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
    LESS_THAN_ONE = "ns-2 lets cwnd fall to half a segment when fast retransmit begins at cwnd = 1"


@dataclass(frozen=True)
class Known:
    """From when on (s) an exchange differs, in what, and why."""

    from_s: float
    what: str
    reason: Reason


EXCHANGES: Mapping[Case, Known] = {
    Case("newreno", "two half a window apart"): Known(0.95, "lead", Reason.BURST),
    Case("newreno", "first and last of a window"): Known(0.95, "lead", Reason.BURST),
    Case("newreno", "three ten apart"): Known(0.9006, "order", Reason.BURST),
    Case("newreno", "four, an eighth of a window apart"): Known(0.9006, "order", Reason.BURST),
    Case("newreno-98-0876", "the retransmission three times"): Known(
        1.0013, "order", Reason.LESS_THAN_ONE
    ),
}
