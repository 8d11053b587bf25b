"""Delays in a scenario file.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from skycell.input.parameters import Parameters, param
from skycell.scenario.declared.types import Correlation, Flag, Interval, TimeOrNone
from skycell.scenario.values.rule_specs import (
    FieldSpec,
    Flattened,
    RuleSpec,
)
from skycell.spec.declared.network import (
    NormalDelaySpec,
    ParetoDelaySpec,
    TableDelaySpec,
    UniformDelaySpec,
    VariationPart,
)


class Uniform(Parameters):
    """The delay is uniform over its mean minus and plus the spread."""

    kind: Literal["uniform"] = param(..., "the delay variation")
    spread: Interval = param(
        ...,
        "half of the range",
    )
    correlation: Correlation = param(
        0.0,
        "correlation of the variate of a packet with that of the packet before",
        source="choice: none",
    )
    reorder: Flag = param(
        True,
        (
            "if true, a packet may overtake earlier packets; otherwise it arrives with "
            "the last of them at the earliest"
        ),
        source="Linux's netem, which sorts packets by their times",
    )


class Normal(Parameters):
    """The delay is normal about its mean, cut at four spreads to either side."""

    kind: Literal["normal"] = param(..., "the delay variation")
    spread: Interval = param(
        ...,
        "standard deviation",
    )
    correlation: Correlation = param(
        0.0,
        "correlation of the variate of a packet with that of the packet before",
        source="choice: none",
    )
    reorder: Flag = param(
        True,
        (
            "if true, a packet may overtake earlier packets; otherwise it arrives with "
            "the last of them at the earliest"
        ),
        source="Linux's netem, which sorts packets by their times",
    )


class Pareto(Parameters):
    """The delay has a long tail: Pareto with a shape of 3, from 0.577 spreads below its mean."""

    kind: Literal["pareto"] = param(..., "the delay variation")
    spread: Interval = param(
        ...,
        "standard deviation",
    )
    correlation: Correlation = param(
        0.0,
        "correlation of the variate of a packet with that of the packet before",
        source="choice: none",
    )
    reorder: Flag = param(
        True,
        (
            "if true, a packet may overtake earlier packets; otherwise it arrives with "
            "the last of them at the earliest"
        ),
        source="Linux's netem, which sorts packets by their times",
    )


class Table(Parameters):
    """A packet takes the link's delay and one of some further times, all as likely."""

    kind: Literal["table"] = param(..., "the delay variation")
    values: Annotated[tuple[TimeOrNone, ...], Field(min_length=1)] = param(
        ...,
        "times beyond the link's delay, from the least to the greatest",
    )
    correlation: Correlation = param(
        0.0,
        "correlation of the variate of a packet with that of the packet before",
        source="choice: none",
    )
    reorder: Flag = param(
        True,
        (
            "if true, a packet may overtake earlier packets; otherwise it arrives with "
            "the last of them at the earliest"
        ),
        source="Linux's netem, which sorts packets by their times",
    )


AnyDelayVariation = Uniform | Normal | Pareto | Table

DELAYS: dict[str, RuleSpec] = {
    "uniform": RuleSpec(
        Uniform,
        UniformDelaySpec,
        (
            FieldSpec("spread_ps", "spread", "Interval"),
            Flattened(
                "part",
                VariationPart,
                (
                    FieldSpec("correlation", "correlation", "Correlation"),
                    FieldSpec("reorder", "reorder", "Flag"),
                ),
            ),
        ),
        facts={},
    ),
    "normal": RuleSpec(
        Normal,
        NormalDelaySpec,
        (
            FieldSpec("spread_ps", "spread", "Interval"),
            Flattened(
                "part",
                VariationPart,
                (
                    FieldSpec("correlation", "correlation", "Correlation"),
                    FieldSpec("reorder", "reorder", "Flag"),
                ),
            ),
        ),
        facts={},
    ),
    "pareto": RuleSpec(
        Pareto,
        ParetoDelaySpec,
        (
            FieldSpec("spread_ps", "spread", "Interval"),
            Flattened(
                "part",
                VariationPart,
                (
                    FieldSpec("correlation", "correlation", "Correlation"),
                    FieldSpec("reorder", "reorder", "Flag"),
                ),
            ),
        ),
        facts={},
    ),
    "table": RuleSpec(
        Table,
        TableDelaySpec,
        (
            FieldSpec("values_ps", "values", "TimeOrNone", is_list=True, is_ascending=True),
            Flattened(
                "part",
                VariationPart,
                (
                    FieldSpec("correlation", "correlation", "Correlation"),
                    FieldSpec("reorder", "reorder", "Flag"),
                ),
            ),
        ),
        facts={},
    ),
}
"""What each delay variation declares, by its kind."""
