"""The table [shaper] as a scenario file writes it.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

from __future__ import annotations

from skycell.input.parameters import Parameters, param
from skycell.scenario.declared.types import BitRate, BitRateOrNone, BurstOctets
from skycell.scenario.values.rule_specs import FieldSpec, RuleSpec
from skycell.spec.declared.network import TokenBucketSpec


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
    peak: BitRateOrNone | None = param(
        None,
        (
            "most that the bucket lets go within a burst: a packet no earlier than the "
            "one before would have gone at this rate"
        ),
        source="as fast as the line",
    )


SHAPER = RuleSpec(
    Shaper,
    TokenBucketSpec,
    (
        FieldSpec("rate_millibps", "rate", "BitRate"),
        FieldSpec("burst_octets", "burst", "BurstOctets"),
        FieldSpec("peak_millibps", "peak", "BitRateOrNone"),
    ),
)
