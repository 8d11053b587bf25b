"""The table [shaper] as a scenario file writes it.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

from __future__ import annotations

from skycell.input.parameters import Parameters, param
from skycell.scenario.declared.rules import Declares, Table
from skycell.scenario.values.shaper_types import BitRate, BurstOctets
from skycell.spec.network import TokenBucketSpec


class Shaper(Parameters):
    """A token bucket before the link of a port of packets, which delays them."""

    rate: BitRate = param(
        ...,
        "rate of tokens, which are octets of IP packets without what the link adds",
    )
    burst: BurstOctets = param(
        ...,
        "tokens that the bucket holds at most: what goes at once after a pause",
    )


SHAPER = Table(
    Shaper,
    TokenBucketSpec,
    (
        Declares("rate_millibps", "rate", "BitRate"),
        Declares("burst_octets", "burst", "BurstOctets"),
    ),
)
