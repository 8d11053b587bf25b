"""Schedulers in a scenario file.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from skycell.input.parameters import Parameters, param, without
from skycell.scenario.declared.types import (
    CellsInRound,
    ClassWeights,
    PacketOctets,
    VcIntervals,
    VcWeights,
)
from skycell.scenario.values.parameter_types import ClassShares
from skycell.scenario.values.rule_specs import (
    FieldSpec,
    RuleSpec,
    kind_by_name,
)
from skycell.spec.declared.network import (
    DeficitRoundRobinSpec,
    FifoSpec,
    GuaranteedRateSpec,
    StrictPrioritySpec,
    VcRoundRobinSpec,
    VirtualSpacingSpec,
    WeightedRoundRobinSpec,
)


class Fifo(Parameters):
    """One queue, served in the order of arrival."""

    kind: Literal["fifo"] = param(..., "the scheduler")


class StrictPriority(Parameters):
    """The first queue that has cells, in the order of the file, the default queue last."""

    kind: Literal["strict_priority"] = param(..., "the scheduler")


class GuaranteedRate(Parameters):
    """Each class's share of the cells while it has cells to send; the rest goes by priority."""

    kind: Literal["guaranteed_rate"] = param(..., "the scheduler")
    rates: ClassShares = param(
        ...,
        (
            "guaranteed parts of the classes; a class without its own queue stands for "
            "the default queue"
        ),
        symbol="GR",
    )


class WeightedRoundRobin(Parameters):
    """Serves one queue after the other, each up to its weight in cells."""

    kind: Literal["weighted_round_robin"] = param(..., "the scheduler")
    weights: ClassWeights = param(
        {},
        (
            "cells of a class in a round; 1 for a class that is not named; a class "
            "without its own queue stands for the default queue"
        ),
        source="equal shares",
    )


class VirtualSpacing(Parameters):
    """A queue for each VC, in one buffer, served in proportion to the VCs' MCRs."""

    kind: Literal["virtual_spacing"] = param(..., "the scheduler")
    other_rate: VcIntervals = param(
        "1000 cells/s",
        "rate that stands for the MCR of a VC without a contract",
        source="choice: negligible compared with the MCRs of the studies, but no VC starves",
    )


class VcRoundRobin(Parameters):
    """A queue for each VC, in one buffer, served in turn, a cell at a time."""

    kind: Literal["vc_round_robin"] = param(..., "the scheduler")


class DeficitRoundRobin(Parameters):
    """Serves the flows, or VCs, of a buffer of packets one after the other, each by octets."""

    kind: Literal["deficit_round_robin"] = param(..., "the scheduler")
    quantum: PacketOctets = param(
        "1500 B",
        "octets that each may send in a round; a longer packet takes several",
        symbol="Q_i",
        source="Shreedhar and Varghese, section III: of the longest packet at least",
    )


class VcWeightedRoundRobin(Parameters):
    """A queue for each VC, in one buffer, served in turn, each up to its weight in cells."""

    kind: Literal["vc_weighted_round_robin"] = param(..., "the scheduler")
    weights: VcWeights | None = param(
        None,
        "cells of a VC in a round; 1 for a VC that is not named",
        source=(
            "MCR over the sum of MCRs across the link, times round, to the nearest cell, "
            "at least 1; 1 for a VC without a contract"
        ),
    )
    round: CellsInRound = param(
        100,
        "cells in a round of the VCs with a contract, where weights follow from MCRs",
        source=(
            "choice: weights as fine as a hundredth of the total, and a round that is "
            "short compared with a buffer"
        ),
        when=without("weights"),
    )


AnyScheduler = (
    Fifo
    | StrictPriority
    | GuaranteedRate
    | WeightedRoundRobin
    | VirtualSpacing
    | VcRoundRobin
    | DeficitRoundRobin
    | VcWeightedRoundRobin
)
#: Those that need no more than their name.
_Names = Literal[
    "fifo",
    "strict_priority",
    "weighted_round_robin",
    "virtual_spacing",
    "vc_round_robin",
    "deficit_round_robin",
    "vc_weighted_round_robin",
]
Scheduler = Annotated[
    Annotated[AnyScheduler, Field(discriminator="kind")],
    BeforeValidator(kind_by_name, json_schema_input_type=AnyScheduler | _Names),
]

SCHEDULERS: dict[str, RuleSpec] = {
    "fifo": RuleSpec(
        Fifo,
        FifoSpec,
        (),
        facts={
            "serves": "one queue",
        },
    ),
    "strict_priority": RuleSpec(
        StrictPriority,
        StrictPrioritySpec,
        (),
        facts={
            "serves": "queues",
        },
    ),
    "guaranteed_rate": RuleSpec(
        GuaranteedRate,
        GuaranteedRateSpec,
        (FieldSpec("shares_ppb", "rates", "ClassShares"),),
        facts={
            "serves": "queues",
        },
    ),
    "weighted_round_robin": RuleSpec(
        WeightedRoundRobin,
        WeightedRoundRobinSpec,
        (FieldSpec("weights", "weights", "ClassWeights"),),
        facts={
            "serves": "queues",
        },
    ),
    "virtual_spacing": RuleSpec(
        VirtualSpacing,
        VirtualSpacingSpec,
        (FieldSpec("intervals_ps", "other_rate", "VcIntervals"),),
        facts={
            "serves": "VCs",
        },
    ),
    "vc_round_robin": RuleSpec(
        VcRoundRobin,
        VcRoundRobinSpec,
        (FieldSpec("weights", None, "EqualVcWeights"),),
        facts={
            "serves": "VCs",
        },
    ),
    "deficit_round_robin": RuleSpec(
        DeficitRoundRobin,
        DeficitRoundRobinSpec,
        (FieldSpec("quantum_octets", "quantum", "PacketOctets"),),
        facts={
            "serves": "packets",
        },
    ),
    "vc_weighted_round_robin": RuleSpec(
        VcWeightedRoundRobin,
        VcRoundRobinSpec,
        (
            FieldSpec("weights", "weights", "VcWeights"),
            FieldSpec("round", "round", "CellsInRound"),
        ),
        facts={
            "serves": "VCs",
        },
    ),
}
"""What each scheduler declares, by its kind."""
