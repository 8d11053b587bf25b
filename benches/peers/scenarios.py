"""The N-source scenarios of the race and of the steady-state comparison, in skycell's own words.

They hold nothing that a packet simulator lacks: whole segments, one connection a VC, and EPD or
tail drop. EPD's packet-level twin is a drop-tail queue that ends at the threshold, because both
take a frame in whole or not at all; tail drop of cells has none, because a packet queue never
carries the rest of a frame that has lost a cell. Over links of packets both simulators do the same
work: packets of 1500 octets, tail drop, acknowledgements that queue on their way back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LINK_BPS = 155_520_000
"""Rate of the shared link, all of it cells; bit/s."""


@dataclass(frozen=True)
class Net:
    """What separates a terrestrial network from a satellite one.

    Attributes:
        name: in the scenarios' names.
        bottleneck_delay: one way, with unit.
        mss: octets.
        receiver_window: octets.
        access_delay: of each of the two access links, one way, with unit.
        access_bps: rate of the access links, bit/s.
        is_packets: whether links carry IP packets, through routers, and not cells.
    """

    name: str
    bottleneck_delay: str
    mss: int
    receiver_window: int
    access_delay: str = "5 ms"
    access_bps: int = LINK_BPS
    is_packets: bool = False

    @property
    def framing(self) -> str:
        """Of its links; with cells, the links' rate is that of the cells."""
        return "ip" if self.is_packets else "none"


WAN = Net("wan", "5 ms", 512, 600_000)
"""ICCCN'97 section 6.1: three links of 5 ms, RTT 30 ms."""

GEO = Net("geo", "275 ms", 9_180, 8_704_000)
"""ICCCN'97 section 8 with access links of 5 ms: RTT 570 ms."""

GEO_550 = Net("geo-550", "275 ms", 9_180, 8_704_000, "5 us")
"""ICCCN'97 section 8: access links of 1 km, RTT 550 ms."""

IP_WAN = Net("ip-wan", "5 ms", 1_460, 2_920_000, access_bps=10 * LINK_BPS, is_packets=True)
"""Packets of 1500 octets, RTT 30 ms; windows above BDP and buffer."""

IP_GEO = Net("ip-geo", "275 ms", 1_460, 29_200_000, access_bps=10 * LINK_BPS, is_packets=True)
"""The same, RTT 570 ms."""


#: Loss recovery with the rules that all peers share, where they are not the default ones.
_RULES: Mapping[str, Mapping[str, Any]] = {
    "new_reno": {
        "kind": "new_reno",
        "partial_ack_window": "deflate",
        "partial_ack_restarts": "first",
        "avoid_multiple_fast_retransmits": True,
    },
    "sack": {
        "kind": "sack",
        "pipe_at_entry": "cwnd - 3",
        "avoid_multiple_fast_retransmits": True,
    },
}


@dataclass(frozen=True)
class Dumbbell:
    """N sources that share one link.

    Attributes:
        net: delays, segment size and window.
        sources: connections, each with its own pair of hosts.
        recovery: vanilla, reno, new_reno or sack.
        buffer: K of the shared port, cells or packets.
        policy: `epd` (R = 0.9 K) or `tail_drop`.
        duration_s: simulated time.
        stagger_ms: one connection begins so long after the other, so that both simulators start
            them at the same times.
    """

    net: Net
    sources: int
    recovery: str
    buffer: int
    policy: str = "epd"
    duration_s: float = 20.0
    stagger_ms: float = 7.0

    @property
    def name(self) -> str:
        """A short name, such as `geo 5 sack 200000 epd`."""
        return f"{self.net.name} {self.sources} {self.recovery} {self.buffer} {self.policy}"

    def scenario(self) -> Mapping[str, Any]:
        """The scenario, as its file would say it.

        TCP's rules are those that all peers share: SACK sends again within one recovery (RFC 6675),
        NewReno deflates at partial ACKs (RFC 6582).
        """
        return {
            "run": {"duration": f"{self.duration_s} s"},
            "topology": {
                "kind": "dumbbell",
                "sources": self.sources,
                "bottleneck": {
                    "rate": f"{LINK_BPS} bit/s",
                    "framing": self.net.framing,
                    "delay": self.net.bottleneck_delay,
                    "buffer": f"{self.buffer} {'packets' if self.net.is_packets else 'cells'}",
                    "policy": self.policy,
                },
                # Neither simulator randomises its senders: a wait before each frame has no exact
                # twin in ns-2, and Reno's efficiency depends on it more than on anything else.
                "access": {
                    "rate": f"{self.net.access_bps} bit/s",
                    "framing": self.net.framing,
                    "delay": self.net.access_delay,
                    "frame_jitter": "0 s",
                },
            },
            "tcp": {
                "recovery": _RULES.get(self.recovery, self.recovery),
                "mss": f"{self.net.mss} B",
                "receiver_window": f"{self.net.receiver_window} B",
                "window_scaling": True,
            },
            "start": {"kind": "staggered", "every": f"{self.stagger_ms} ms"},
        }

    def ceiling_bps(self) -> float:
        """Largest possible TCP throughput of the shared link, bit/s."""
        if self.net.is_packets:
            return LINK_BPS * self.net.mss / (self.net.mss + 40)
        # Payload, 48 octets of headers and LLC/SNAP, 8 of trailer, in cells of 48 payload octets.
        cells = -(-(self.net.mss + 56) // 48)
        return LINK_BPS * self.net.mss / (53 * cells)
