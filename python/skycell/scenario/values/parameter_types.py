"""The types of parameters of declared rules as people write them.

Each has the name that it has in `crates/declare`, which says what an engine reads;
`interpreter/parameters.py` turns the one into the other. Thresholds are a part of the buffer (0.9,
"90 %") or a number of cells; parts become whole cells by rounding down.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal

from skycell.input.faults import show_value
from skycell.input.parameters import Flag as Flag
from skycell.input.parameters import ValueType, part, quantity, read_each, read_number, whole_number
from skycell.input.quantities import (
    DAY_PS,
    Dimension,
    Quantity,
    Refused,
    parse_quantity,
    unit_pattern,
    units_of,
)
from skycell.scenario.values.buffer_units import SIZES
from skycell.scenario.values.cells import MOST_CELLS, amount_held, cell_rate, part_or_rate
from skycell.spec.network import DfbaZComplement, DfbaZComplementSquared

#: In the order of Traffic Management 4.0, the most demanding first, but for ABR.
CLASSES = ("cbr", "rt_vbr", "nrt_vbr", "ubr", "gfr")
NO_ABR = "a VC is of class abr by a table [[abr]] that names it; its cells join the default queue"


def _read_threshold(value: Any) -> Quantity | float:
    if isinstance(value, str):
        written = parse_quantity(value)
        if written.dimension in SIZES:
            _SIZE.read(value)
            return written
        if written.dimension is not Dimension.PART:
            raise Refused(f'"{written.text}" is {written.dimension.value}')
        number = float(written.amount)
    else:
        number = read_number(value)
    if not 0 < number <= 1:
        raise Refused("")
    return number


_SIZE = amount_held("7168 cells", 0)
_THRESHOLD = ValueType(
    "above 0, at most 1 or 100 % (fraction of the buffer's capacity), or a size such as "
    f'"7168 cells" ({units_of(*SIZES)})',
    _read_threshold,
    {
        "anyOf": [
            {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
            {
                "type": "string",
                "pattern": unit_pattern(*SIZES, Dimension.PART),
                "examples": ["7168 cells", "90 %"],
            },
        ]
    },
)
Threshold = Annotated[Quantity | float, _THRESHOLD]
ThresholdBelowCapacity = Threshold
AverageThreshold = Threshold
UpToEqualShare = Annotated[float, part("1 is an equal share")]
PartOfOne = Annotated[float, part("1 is the whole")]
CellCount = Annotated[Quantity, amount_held("917 cells", 0)]
CellsOfFrames = Annotated[int, whole_number(1, 1000)]
Interval = Annotated[Quantity, quantity(Dimension.TIME, above=0, high=DAY_PS, example="10 ms")]
StateTime = Annotated[
    Quantity, quantity(Dimension.TIME, low=100_000_000, high=DAY_PS, example="40 ms")
]


def abr_rate(low: int, *words: str) -> ValueType:
    """A rate of an ABR VC, from `low` cells/s on, or one of `words`."""
    return quantity(
        Dimension.CELL_RATE,
        Dimension.BIT_RATE,
        low=low,
        high=10**12,
        words=words,
        what="bits of whole cells, 424 each",
        example="1000 cells/s",
    )


CellRateOrNone = Annotated[Quantity, abr_rate(0)]
TimeOrNone = Annotated[Quantity, quantity(Dimension.TIME, high=DAY_PS, example="10 ms")]
PacketOctets = Annotated[Quantity, quantity(Dimension.SIZE, low=1, high=65_535, example="1514 B")]
OctetsBeside = Annotated[Quantity, quantity(Dimension.SIZE, high=65_535, example="44 B")]
OctetsOfUnit = Annotated[Quantity, quantity(Dimension.SIZE, low=1, high=65_535, example="48 B")]
OctetsOfUnitOnLine = OctetsOfUnit
QueueCount = Annotated[int, whole_number(0, 65_536, "0 for one of its own for each flow")]
BackoffExponent = Annotated[int, whole_number(0, 20)]
FrameSlots = Annotated[int, whole_number(1, 65_536, "slots")]
SlotCount = Annotated[int, whole_number(1, 65_536)]
SlotCountOrNone = Annotated[int, whole_number(0, 65_536)]
FrameCount = Annotated[int, whole_number(1, 2**32 - 1, "frames")]
Coupling = Annotated[int, whole_number(1, 100)]
VcAllowances = Annotated[
    Quantity | Literal["MBS"],
    quantity(Dimension.CELLS, low=0, high=MOST_CELLS, words=["MBS"], example="400 cells"),
]
_ONE_VC = amount_held("917 cells", 1)


def _read_vc_thresholds(value: Any) -> tuple[Quantity, ...] | dict[str, Quantity]:
    if isinstance(value, list | tuple):
        return tuple(_ONE_VC.read(v) for v in value)
    if isinstance(value, Mapping) and all(isinstance(k, str) for k in value):
        return read_each(value, _ONE_VC)
    raise Refused("")


_VC_THRESHOLDS = ValueType(
    f"a list, or a table by VC, each {_ONE_VC.allowed}",
    _read_vc_thresholds,
    {
        "anyOf": [
            {"type": "array", "items": _ONE_VC.schema},
            {"type": "object", "additionalProperties": _ONE_VC.schema},
        ]
    },
)


VcThresholds = Annotated[tuple[Quantity, ...] | dict[str, Quantity], _VC_THRESHOLDS]

#: The rules for Z_i of DFBA, and their kind in the spec.
Z_RULES: dict[str, DfbaZComplement | DfbaZComplementSquared] = {
    "1-w_i/w": DfbaZComplement(),
    "(1-w_i/w)^2": DfbaZComplementSquared(),
}


def _read_z(value: Any) -> float | str:
    if isinstance(value, str):
        if value in Z_RULES:
            return value
        raise Refused("")
    number = read_number(value)
    if not 0 <= number <= 1:
        raise Refused("")
    return number


_Z = ValueType(
    "from 0 to 1, or " + " or ".join(f'"{rule}"' for rule in Z_RULES),
    _read_z,
    {"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"enum": list(Z_RULES)}]},
)


DfbaZ = Annotated[float | str, _Z]


def _read_share(value: Any) -> float:
    number = read_number(value)
    if not 0 <= number <= 1:
        raise Refused("")
    return number


_SHARE = ValueType("from 0 to 1", _read_share, {"type": "number", "minimum": 0, "maximum": 1})
FromZeroToOne = Annotated[float, _SHARE]


#: Bits of a burst, and the wrong bits that a list may name.
_MOST_BITS = 10**9
_MOST_WRONG = 10**6


def _read_correlation(value: Any) -> float:
    number = read_number(value)
    if not 0 <= number < 1:
        raise Refused("")
    return number


def _read_gain(value: Any) -> float:
    number = read_number(value)
    if not 0 < number <= 1000:
        raise Refused("")
    return number


def _read_ratio(value: Any) -> float:
    number = read_number(value)
    if not 0 < number <= 0.5:
        raise Refused("")
    return number


def _read_ratio_or_none(value: Any) -> float:
    return 0.0 if value == 0 and not isinstance(value, bool) else _read_ratio(value)


def _read_density(value: Any) -> float:
    number = read_number(value)
    if not 0.5 <= number <= 1:
        raise Refused("")
    return number


def _read_wrong_bits(value: Any) -> tuple[int, ...] | str:
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple) or len(value) > _MOST_WRONG:
        raise Refused("")
    bits = tuple(_WRONG_BIT.read(bit) for bit in value)
    if any(a >= b for a, b in pairwise(bits)):
        raise Refused("")
    return bits


_WRONG_BIT = whole_number(0, 2**63 - 1)
Correlation = Annotated[
    float,
    ValueType(
        "from 0, below 1",
        _read_correlation,
        {"type": "number", "minimum": 0, "exclusiveMaximum": 1},
    ),
]
PerSecond = Annotated[
    float,
    ValueType(
        "above 0, at most 1000, per second",
        _read_gain,
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1000},
    ),
]
BitErrorRatio = Annotated[
    float,
    ValueType(
        "above 0, at most 0.5, at which nothing is left of the bits",
        _read_ratio,
        {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5},
    ),
]
BitErrorRatioOrNone = Annotated[
    float,
    ValueType(
        "from 0 to 0.5", _read_ratio_or_none, {"type": "number", "minimum": 0, "maximum": 0.5}
    ),
]
ErrorDensity = Annotated[
    float,
    ValueType("from 0.5 to 1", _read_density, {"type": "number", "minimum": 0.5, "maximum": 1}),
]
BitCount = Annotated[int, whole_number(1, _MOST_BITS, "bits")]
WrongBits = Annotated[
    tuple[int, ...] | str,
    ValueType(
        "whole numbers that ascend, the first bit of the run being 0, or the name of a file with "
        "one in each line",
        _read_wrong_bits,
        {"anyOf": [{"type": "array", "items": _WRONG_BIT.schema}, {"type": "string"}]},
    ),
]


def _read_at_least_one(value: Any) -> float:
    number = read_number(value)
    if number < 1:
        raise Refused("")
    return number


AtLeastOne = Annotated[
    float, ValueType("at least 1", _read_at_least_one, {"type": "number", "minimum": 1})
]


def _by_class(one: ValueType) -> ValueType:
    """A table with a value for some classes."""

    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise Refused("")
        strange = [
            NO_ABR if key == "abr" else f"no class is called {show_value(key)}"
            for key in value
            if key not in CLASSES
        ]
        return read_each(value, one, strange)

    words = "a table by class (" + ", ".join(CLASSES) + f"), each {one.allowed}"
    return ValueType(words, read, {"type": "object", "additionalProperties": one.schema})


def by_vc(one: ValueType) -> ValueType:
    """A table with a value for some VCs, by name."""

    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise Refused("")
        return read_each(value, one)

    schema = {"type": "object", "additionalProperties": one.schema}
    return ValueType(f"a table by VC, each {one.allowed}", read, schema)


_CLASS_SHARE = part_or_rate(
    'from 0 to 1 (fraction of the link\'s cells) or a rate such as "35000 cells/s" (bits of '
    "whole cells, 424 each)",
    "10 %",
    "35000 cells/s",
    or_none=True,
)
_RATES = _by_class(_CLASS_SHARE)
_WEIGHT = whole_number(1, 2**32 - 1, "cells in a round")
_WEIGHTS = _by_class(_WEIGHT)
ClassShares = Annotated[dict[str, Any], _RATES]
ClassWeights = Annotated[dict[str, int], _WEIGHTS]
VcLevels = Annotated[dict[str, int], by_vc(whole_number(1, 64, "level"))]
VcWeights = Annotated[dict[str, int], by_vc(_WEIGHT)]
CellsInRound = Annotated[int, whole_number(1, 10**6, "cells in a round")]
VcIntervals = Annotated[Quantity, cell_rate("1000 cells/s")]
