"""Types of parameters that people write in a form of its own, named as in `crates/declare`.

`skycell.scenario.declared.types` has the others. Thresholds are a part of the buffer (0.9, "90 %")
or a number of cells; parts become whole cells by rounding down.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any

from skycell.input.faults import show_value
from skycell.input.parameters import ValueType, number, read_each, read_number, whole_number
from skycell.input.quantities import (
    Dimension,
    Quantity,
    Refused,
    parse_quantity,
    unit_pattern,
    units_of,
)
from skycell.scenario.values.buffer_units import SIZES
from skycell.scenario.values.cells import amount_held, part_or_rate
from skycell.spec.declared.network import DfbaZComplement, DfbaZComplementSquared

#: In the order of Traffic Management 4.0, the most demanding first, but for ABR.
CLASSES = ("cbr", "rt_vbr", "nrt_vbr", "ubr", "gfr")
NO_ABR = "a table [[abr]] makes a VC one of class abr; its cells join the default queue"


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


_ONE_Z = number(low=0, high=1)


def _read_z(value: Any) -> float | str | dict[str, float]:
    if isinstance(value, Mapping):
        return read_each(value, _ONE_Z)
    if not isinstance(value, str):
        return float(_ONE_Z.read(value))
    if value not in Z_RULES:
        raise Refused("")
    return value


_Z = ValueType(
    f"{_ONE_Z.allowed}, or a table of such numbers by VC, or "
    + " or ".join(f'"{rule}"' for rule in Z_RULES),
    _read_z,
    {
        "anyOf": [
            _ONE_Z.schema,
            {"enum": list(Z_RULES)},
            {"type": "object", "additionalProperties": _ONE_Z.schema},
        ]
    },
)


DfbaZ = Annotated[float | str | dict[str, float], _Z]


#: Wrong bits that a list may name.
_MOST_WRONG = 10**6


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
WrongBits = Annotated[
    tuple[int, ...] | str,
    ValueType(
        "whole numbers that ascend, the first bit of the run being 0, or the name of a file with "
        "one in each line",
        _read_wrong_bits,
        {"anyOf": [{"type": "array", "items": _WRONG_BIT.schema}, {"type": "string"}]},
    ),
]


def by_class(one: ValueType) -> ValueType:
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
ClassShares = Annotated[dict[str, Any], by_class(_CLASS_SHARE)]
