"""The table [policer] as a scenario file writes it.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

from __future__ import annotations

from typing import Annotated

from skycell.input.parameters import Parameters, param, word
from skycell.scenario.declared.types import BitRate, BitRateOrNone, BurstOctets
from skycell.scenario.values.rule_specs import FieldSpec, RuleSpec
from skycell.spec.declared.network import PacketPolicerSpec


class Policer(Parameters):
    """A token bucket to which the packets that come to a port have to conform."""

    rate: BitRate = param(
        ...,
        "rate of tokens, which are octets of IP packets without what the link adds",
    )
    burst: BurstOctets = param(
        ...,
        "tokens that the bucket holds at most: what may come at once after a pause",
    )
    peak: BitRateOrNone | None = param(
        None,
        (
            "most that may come within a burst: a packet no earlier than the one before "
            "would have come at this rate"
        ),
        source="as fast as packets can come",
    )
    excess: Annotated[str, word("discard", "mark")] = param(
        "discard",
        (
            "action on a packet that does not conform: it is discarded, or marked with CE"
            " if its transport uses ECN"
        ),
        source="choice: as most policers do",
    )


POLICER = RuleSpec(
    Policer,
    PacketPolicerSpec,
    (
        FieldSpec("rate_millibps", "rate", "BitRate"),
        FieldSpec("burst_octets", "burst", "BurstOctets"),
        FieldSpec("peak_millibps", "peak", "BitRateOrNone"),
        FieldSpec("excess", "excess", "word"),
    ),
)
