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

    INFLATED_HALF = "a timeout within fast recovery halves our inflated cwnd; ns-2 keeps it apart"
    BURST = "ns-2's NewReno sends at most two segments for an ACK within fast recovery"
    LESS_THAN_ONE = "ns-2 lets cwnd fall to half a segment when fast retransmit begins at cwnd = 1"
    RETRANSMISSION_IN_PIPE = "we count the first retransmission in pipe; ns-2 and RFC 6675 do not"
    AT_RECOVER = (
        "we let fast retransmit begin at snd_una = recover; ns-2's SACK and RFC 6582 do not"
    )


@dataclass(frozen=True)
class Known:
    """From when on (s) an exchange differs, in what, and why."""

    from_s: float
    what: str
    reason: Reason


EXCHANGES: Mapping[Case, Known] = {
    Case("reno", "the retransmission too"): Known(1.05, "ssthresh", Reason.INFLATED_HALF),
    Case("reno", "the retransmission three times"): Known(1.05, "ssthresh", Reason.INFLATED_HALF),
    Case("newreno", "two half a window apart"): Known(0.95, "lead", Reason.BURST),
    Case("newreno", "first and last of a window"): Known(0.95, "lead", Reason.BURST),
    Case("newreno", "three in a row"): Known(1.15, "ssthresh", Reason.INFLATED_HALF),
    Case("newreno", "three ten apart"): Known(0.9006, "order", Reason.BURST),
    Case("newreno", "four, an eighth of a window apart"): Known(0.9006, "order", Reason.BURST),
    Case("newreno", "eight in a row, a quarter of the window"): Known(
        1.15, "ssthresh", Reason.INFLATED_HALF
    ),
    Case("newreno", "every second of sixteen"): Known(1.15, "ssthresh", Reason.INFLATED_HALF),
    Case("newreno", "twelve in a row, three eighths"): Known(
        1.15, "ssthresh", Reason.INFLATED_HALF
    ),
    Case("newreno", "twenty in a row, above a half"): Known(1.15, "ssthresh", Reason.INFLATED_HALF),
    Case("newreno", "the retransmission too"): Known(1.05, "ssthresh", Reason.INFLATED_HALF),
    Case("newreno", "the retransmission three times"): Known(
        1.05, "ssthresh", Reason.INFLATED_HALF
    ),
    Case("newreno-98-0876", "the retransmission three times"): Known(
        1.0013, "order", Reason.LESS_THAN_ONE
    ),
    Case("sack", "first and last of a window"): Known(
        0.9006, "order", Reason.RETRANSMISSION_IN_PIPE
    ),
    Case("sack", "twenty in a row, above a half"): Known(1.6016, "order", Reason.AT_RECOVER),
}
