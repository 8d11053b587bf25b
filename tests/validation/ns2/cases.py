"""The exchanges: one connection over one link, with losses prescribed by ordinal of transmission.

The link carries 155.52 Mbit/s over 50 ms, so a segment of 512 octets and its acknowledgement make
a round trip of 100.038 ms. The receiver's window is 32 segments: slow start has filled it when
segment 63 goes out, and from then on a window of 32 segments makes its rounds until the losses,
which begin at segment 100.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MSS = 512
RTT_S = 0.1
DURATION_S = 2.0

TICK_S = 1e-5
"""Granularity of both simulators' clocks. ns-2's timers run to the instant, ours to the tick."""

LOSSES: Mapping[str, tuple[int, ...]] = {
    "one": (100,),
    "two in a row": (100, 101),
    "two half a window apart": (100, 116),
    "first and last of a window": (100, 131),
    "three in a row": (100, 101, 102),
    "three ten apart": (100, 110, 120),
    "four, an eighth of a window apart": (100, 104, 108, 112),
    "eight in a row, a quarter of the window": (100, 101, 102, 103, 104, 105, 106, 107),
    "every second of sixteen": (100, 102, 104, 106, 108, 110, 112, 114),
    "twelve in a row, three eighths": tuple(range(100, 112)),
    "twenty in a row, above a half": tuple(range(100, 120)),
    "thirty, the fast retransmit's two duplicates short": tuple(range(100, 130)),
    "the retransmission too": (100, 132),
    "the retransmission three times": (100, 132, 133, 134),
    "a new segment of the recovery": (100, 140),
    "in slow start": (20,),
    "two in slow start": (20, 25),
    "the first segment": (0,),
    "again three windows later": (100, 230),
    "one, and the first segment that its recovery sends": (100, 133),
    "one, and two of the next window": (100, 145, 155),
    "a whole window, and one of its repetitions": (*range(100, 132), 146),
    "four of a window, and one of its recovery": (100, 115, 122, 125, 137),
    "six over three round trips": (100, 119, 120, 141, 145, 165),
    "seven over three round trips": (100, 112, 141, 144, 162, 174, 178),
}
"""Ordinals of lost transmissions, from 0; repetitions count."""

RULES: Mapping[str, Mapping[str, Any]] = {
    "vanilla": {"recovery": "vanilla"},
    "tahoe": {"recovery": "tahoe"},
    "tahoe-careful": {"recovery": {"kind": "tahoe", "avoid_multiple_fast_retransmits": True}},
    "reno": {"recovery": "reno"},
    "newreno": {
        "recovery": {
            "kind": "new_reno",
            "partial_ack_window": "deflate",
            "partial_ack_restarts": "first",
            "avoid_multiple_fast_retransmits": True,
        }
    },
    "newreno-98-0876": {
        "recovery": {
            "kind": "new_reno",
            "partial_ack_window": "ssthresh",
            "partial_ack_restarts": "every",
            "flywheel": True,
        }
    },
    "sack": {
        "recovery": {
            "kind": "sack",
            "pipe_at_entry": "cwnd - 3",
            "avoid_multiple_fast_retransmits": True,
        }
    },
    "sack-98-0876": {"recovery": {"kind": "sack", "pipe_at_entry": "cwnd - 3"}},
}
"""Sets of TCP parameters, each the one that ns-2's rules for the variant correspond to."""


def over_one_link(
    delay_ms: int, duration_s: float, tcp: Mapping[str, Any], losses: Sequence[int]
) -> dict[str, Any]:
    """A scenario of one connection over a link that is never full, as its file would say it.

    Args:
        delay_ms: of the link, one way.
        duration_s: of the run.
        tcp: its parameters, beside those that all comparisons have.
        losses: ordinals of lost transmissions, from 0.
    """
    return {
        "run": {"duration": f"{duration_s} s"},
        "topology": {
            "kind": "graph",
            "hosts": ["source", "destination"],
            "link": [
                {
                    "from": "source",
                    "to": "destination",
                    "rate": "155.52 Mbit/s",
                    "framing": "none",
                    "delay": f"{delay_ms} ms",
                    "frame_jitter": "0 s",
                }
            ],
            "flow": [{"name": "tcp", "source": "source", "destination": "destination"}],
        },
        "tcp": {
            "window_scaling": True,
            "tick_phase": "common",
            "rto_min": "200 ms",
            "rto_max": "60 s",
            **tcp,
        },
        "start": "together",
        "loss": {"transmissions": list(losses)},
    }


@dataclass(frozen=True)
class Case:
    """One exchange: a set of rules and a set of losses."""

    rules: str
    losses: str

    def scenario(self) -> Mapping[str, Any]:
        """The scenario, as its file would say it."""
        # The flywheel of ns-2 disregards the receiver's window, so that window must not matter;
        # ssthresh takes its place in holding cwnd near 32 segments.
        flywheel = "flywheel" in RULES[self.rules]["recovery"]
        window, ssthresh = (256, 32) if flywheel else (32, 64)
        tcp = {
            "mss": f"{MSS} B",
            "receiver_window": f"{window * MSS} B",
            "initial_ssthresh": f"{ssthresh * MSS} B",
            "tick": "10 us",
            "rto_initial": "1 s",
            **RULES[self.rules],
        }
        return {
            **over_one_link(50, DURATION_S, tcp, LOSSES[self.losses]),
            "records": {"traces": ["cwnd", "sequence"]},
        }


CASES = tuple(Case(rules, losses) for rules in RULES for losses in LOSSES)
