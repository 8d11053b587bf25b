"""Channels in a scenario file.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

from __future__ import annotations

from typing import Annotated, Literal

from skycell.input.parameters import Parameters, param, word
from skycell.scenario.declared.types import (
    BitCount,
    BitErrorRatio,
    BitErrorRatioOrNone,
    ErrorDensity,
    FromZeroToOne,
    Interval,
    PartOfOne,
    StateTime,
    TimeOrNone,
)
from skycell.scenario.values.parameter_types import WrongBits
from skycell.scenario.values.rule_specs import (
    FieldSpec,
    RuleSpec,
)
from skycell.spec.declared.network import (
    BitErrorsSpec,
    ErrorBurstsSpec,
    ErrorTraceSpec,
    GilbertElliottBitsSpec,
    GilbertElliottSpec,
    LossBurstsSpec,
    PeriodicLossesSpec,
)


class GilbertElliott(Parameters):
    """Loses frames in bursts: a good and a bad state, which may change after each frame."""

    kind: Literal["gilbert_elliott"] = param(..., "the channel")
    good_to_bad: PartOfOne = param(
        ...,
        "probability that the state is bad for the next frame after a good one",
        symbol="p",
    )
    bad_to_good: PartOfOne = param(
        ...,
        "probability that the state is good for the next frame after a bad one",
        symbol="r",
    )
    loss_in_good: FromZeroToOne = param(
        0.0,
        "part of the frames that are lost in the good state",
        symbol="1 - k",
        source="Gilbert 1960: none",
    )
    loss_in_bad: FromZeroToOne = param(
        1.0,
        "part of the frames that are lost in the bad state",
        symbol="1 - h",
        source="choice: all; Gilbert's half of the bits spoils any frame",
    )


class LossBursts(Parameters):
    """Loses what comes in bursts that last a time, whatever is sent in it."""

    kind: Literal["loss_bursts"] = param(..., "the channel")
    gap: StateTime = param(
        ...,
        "mean time from the end of a burst to the beginning of the next",
    )
    length: StateTime = param(
        ...,
        "mean length of a burst",
    )
    loss: PartOfOne = param(
        1.0,
        "part of the frames that are lost in a burst",
        source="choice: all",
    )


class PeriodicLosses(Parameters):
    """Loses what comes in the same part of each period."""

    kind: Literal["periodic_losses"] = param(..., "the channel")
    period: Interval = param(
        ...,
        "time from the beginning of one burst to that of the next",
    )
    length: Interval = param(
        ...,
        "length of a burst, at most the period",
    )
    phase: TimeOrNone = param(
        "0 s",
        "when the first burst begins",
        source="choice: with the run",
    )
    loss: PartOfOne = param(
        1.0,
        "part of the frames that are lost in a burst",
        source="choice: all",
    )


class BitErrors(Parameters):
    """Bits are wrong at random, each with the same probability."""

    kind: Literal["bit_errors"] = param(..., "the channel")
    ber: BitErrorRatio = param(
        ...,
        "part of the bits that are wrong",
        symbol="b",
    )


class GilbertElliottBits(Parameters):
    """Bits are wrong in bursts: a good and a bad state, which may change after each bit."""

    kind: Literal["gilbert_elliott_bits"] = param(..., "the channel")
    good_to_bad: PartOfOne = param(
        ...,
        "probability that the state is bad for the next bit after a good one",
        symbol="p",
    )
    bad_to_good: PartOfOne = param(
        ...,
        "probability that the state is good for the next bit after a bad one",
        symbol="r",
    )
    errors_in_good: BitErrorRatioOrNone = param(
        0.0,
        "part of the bits that are wrong in the good state",
        symbol="1 - k",
        source="Gilbert 1960: none",
    )
    errors_in_bad: BitErrorRatio = param(
        0.5,
        "part of the bits that are wrong in the bad state",
        symbol="1 - h",
        source="Gilbert 1960: half of them",
    )


class ErrorBursts(Parameters):
    """Bits are wrong in bursts of a length and density."""

    kind: Literal["error_bursts"] = param(..., "the channel")
    ber: BitErrorRatio = param(
        ...,
        "part of all bits that are wrong",
        symbol="b",
    )
    length: BitCount = param(
        ...,
        "length of a burst",
        symbol="L",
    )
    density: ErrorDensity = param(
        0.5,
        "part of a burst's bits that are wrong",
        source="JPL Publication 81-9: about half behind a Viterbi decoder",
    )
    lengths: Annotated[str, word("fixed", "geometric")] = param(
        "fixed",
        ('"fixed" if all bursts have the same length, "geometric" if `length` is their mean'),
        source="choice: the same for all",
    )


class ErrorTrace(Parameters):
    """Bits are wrong that a list names."""

    kind: Literal["error_trace"] = param(..., "the channel")
    errors: WrongBits = param(
        ...,
        "wrong bits of the line, ascending, counted from 0 at the start of the run",
    )


AnyChannel = (
    GilbertElliott
    | LossBursts
    | PeriodicLosses
    | BitErrors
    | GilbertElliottBits
    | ErrorBursts
    | ErrorTrace
)

CHANNELS: dict[str, RuleSpec] = {
    "gilbert_elliott": RuleSpec(
        GilbertElliott,
        GilbertElliottSpec,
        (
            FieldSpec("good_to_bad", "good_to_bad", "PartOfOne"),
            FieldSpec("bad_to_good", "bad_to_good", "PartOfOne"),
            FieldSpec("loss_in_good", "loss_in_good", "FromZeroToOne"),
            FieldSpec("loss_in_bad", "loss_in_bad", "FromZeroToOne"),
        ),
        facts={},
    ),
    "loss_bursts": RuleSpec(
        LossBursts,
        LossBurstsSpec,
        (
            FieldSpec("gap_ps", "gap", "StateTime"),
            FieldSpec("length_ps", "length", "StateTime"),
            FieldSpec("loss", "loss", "PartOfOne"),
        ),
        facts={},
    ),
    "periodic_losses": RuleSpec(
        PeriodicLosses,
        PeriodicLossesSpec,
        (
            FieldSpec("period_ps", "period", "Interval"),
            FieldSpec("length_ps", "length", "Interval", at_most="period_ps"),
            FieldSpec("phase_ps", "phase", "TimeOrNone"),
            FieldSpec("loss", "loss", "PartOfOne"),
        ),
        facts={},
    ),
    "bit_errors": RuleSpec(
        BitErrors,
        BitErrorsSpec,
        (FieldSpec("ber", "ber", "BitErrorRatio"),),
        facts={},
    ),
    "gilbert_elliott_bits": RuleSpec(
        GilbertElliottBits,
        GilbertElliottBitsSpec,
        (
            FieldSpec("good_to_bad", "good_to_bad", "PartOfOne"),
            FieldSpec("bad_to_good", "bad_to_good", "PartOfOne"),
            FieldSpec("errors_in_good", "errors_in_good", "BitErrorRatioOrNone"),
            FieldSpec("errors_in_bad", "errors_in_bad", "BitErrorRatio"),
        ),
        facts={},
    ),
    "error_bursts": RuleSpec(
        ErrorBursts,
        ErrorBurstsSpec,
        (
            FieldSpec("ber", "ber", "BitErrorRatio"),
            FieldSpec("length_bits", "length", "BitCount"),
            FieldSpec("density", "density", "ErrorDensity"),
            FieldSpec("lengths", "lengths", "word"),
        ),
        facts={},
    ),
    "error_trace": RuleSpec(
        ErrorTrace,
        ErrorTraceSpec,
        (FieldSpec("errors", "errors", "WrongBits"),),
        facts={},
    ),
}
"""What each channel declares, by its kind."""
