"""What a parameter of a scenario file is: type with unit and range, default, source, meaning.

A parameter is declared once, as a field of a `Parameters` class:

    drop_threshold: Threshold = param(0.9, "occupancy from which ...", symbol="R", source="KA 3.2")

Checking, fault messages, `skycell schema`, the JSON Schema and the reference page come from there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from skycell.input.faults import show_key, show_value
from skycell.input.quantities import (
    PS_PER_KM,
    Dimension,
    Quantity,
    Refused,
    amount_in,
    counted,
    misfit,
    parse_quantity,
    rounded,
    show_amount,
    show_rate,
    show_time,
    unit_pattern,
    units_of,
)
from skycell.input.spelling import nearest

#: The error type that carries what a leaf allows.
REFUSED = "refused"

_MOST_REPORTED = 6
"""Values of a table that a fault names; as a rule it has one for each service class at most."""


class Parameters(BaseModel):
    """A table of a scenario file: frozen, and unknown keys are faults.

    A class gets its validator when it is first asked to validate: most are only parts of others.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True
    )


@dataclass(frozen=True)
class When:
    """What another key of a table has to be for a parameter of that table to have an effect.

    Attributes:
        key: the other key.
        values: one of these; if there are none, it has to be given.
        is_absent: that it must not be given instead.
    """

    key: str
    values: tuple[Any, ...] = ()
    is_absent: bool = False

    @property
    def text(self) -> str:
        """It as it would stand in a file."""
        if self.values:
            return f"{self.key} = {' or '.join(map(show_value, self.values))}"
        return f"{'without' if self.is_absent else 'with'} {self.key}"


def when(key: str, *values: Any) -> When:
    """That a key has one of some values; with none of them, that it is given."""
    return When(key, values)


def without(key: str) -> When:
    """That a key is not given."""
    return When(key, is_absent=True)


def param(
    default: Any,
    meaning: str,
    *,
    symbol: str | None = None,
    source: str | None = None,
    alias: str | None = None,
    when: When | tuple[When, ...] = (),
) -> Any:
    """Declares a parameter.

    Args:
        default: as it would stand in a file; `...` when the file has to say it.
        meaning: what it does, in one sentence without a full stop.
        symbol: the letter the sources use.
        source: where the default stands, or why it was chosen.
        alias: the key in the file, where Python cannot use it as a name.
        when: what gives it an effect, any of several; it always has one if there is nothing. Where
            it has none, a file that says it is faulty.
    """
    whens = (when,) if isinstance(when, When) else when
    effect = " or ".join(one.text for one in whens) or None
    named = {"symbol": symbol, "source": source, "effect": effect}
    extra: dict[str, Any] = {key: value for key, value in named.items() if value is not None}
    if default is ...:
        found = Field(alias=alias, description=meaning, json_schema_extra=extra)
    else:
        found = Field(
            default=default,
            alias=alias,
            validate_default=True,
            description=meaning,
            json_schema_extra=extra,
        )
    found.metadata += whens
    return found


def whens_of(found: FieldInfo) -> list[When]:
    """What gives a parameter an effect, any of it; nothing if it always has one."""
    return [one for one in found.metadata if isinstance(one, When)]


def symbol_of(found: FieldInfo) -> str:
    """The letter that the sources use for a parameter; empty for none."""
    extra = found.json_schema_extra
    return str(extra.get("symbol", "")) if isinstance(extra, dict) else ""


def meaning_of(found: FieldInfo) -> str:
    """What a parameter does, after the letter that the sources use for it."""
    symbol = symbol_of(found)
    return f"{symbol}: {found.description}" if symbol else found.description or ""


@dataclass(frozen=True)
class ValueType:
    """The type of a parameter that is no table: how a value is read, what is allowed in words."""

    allowed: str
    read: Callable[[Any], Any]
    schema: dict[str, Any] = field(default_factory=dict, compare=False)

    def _validate(self, value: Any) -> Any:
        try:
            return self.read(value)
        except Refused as refused:
            note = str(refused)
            allowed = f"{self.allowed}; {note}" if note else self.allowed
            raise PydanticCustomError(REFUSED, "{allowed}", {"allowed": allowed}) from None

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._validate)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**self.schema, "$comment": f"allowed: {self.allowed}"}


def _no_bool_int(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Refused("")
    return value


def read_each(
    table: Mapping[Any, Any], one: ValueType, notes: Iterable[str] = ()
) -> dict[str, Any]:
    """The values of a table, each of them read; refused are all that cannot be, by their keys.

    Args:
        table: what was given.
        one: what each value may be.
        notes: what else there is against the table.
    """
    found, reported = {}, list(notes)
    for key, value in table.items():
        try:
            found[str(key)] = one.read(value)
        except Refused as refused:
            why = f" ({refused})" if str(refused) else ""
            reported.append(f"not {show_key(str(key))} = {show_value(value)}{why}")
    if reported:
        rest = (
            f" and {counted(len(reported) - _MOST_REPORTED, 'other')}"
            if len(reported) > _MOST_REPORTED
            else ""
        )
        raise Refused("; ".join(reported[:_MOST_REPORTED]) + rest)
    return found


def whole_number(low: int, high: int, what: str = "") -> ValueType:
    """A whole number from `low` to `high`."""

    def read(value: Any) -> int:
        number = _no_bool_int(value)
        if not low <= number <= high:
            raise Refused("")
        return number

    allowed = f"a whole number from {show_amount(low)} to {show_amount(high)}"
    schema = {"type": "integer", "minimum": low, "maximum": high}
    return ValueType(f"{allowed} ({what})" if what else allowed, read, schema)


def word(*words: str) -> ValueType:
    """One of a few words."""

    def read(value: Any) -> str:
        if not isinstance(value, str):
            raise Refused("")
        if value not in words:
            near = nearest(value, words)
            raise Refused(f'did you mean "{near}"?' if near else "")
        return value

    return ValueType(" or ".join(f'"{w}"' for w in words), read, {"enum": list(words)})


def _read_flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Refused("")
    return value


FLAG = ValueType("true or false", _read_flag, {"type": "boolean"})
Flag = Annotated[bool, FLAG]

_LONGEST_NAME = 64


def _read_name(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_NAME:
        raise Refused("")
    if not all(c.isascii() and (c.isalnum() or c in "._-") for c in value):
        raise Refused("")
    return value


NAME = ValueType(
    f"a name of up to {_LONGEST_NAME} letters, digits, '.', '_' and '-'",
    _read_name,
    {"type": "string", "pattern": r"^[A-Za-z0-9._-]{1,64}$"},
)
Name = Annotated[str, NAME]


def _read_pattern(value: Any) -> str:
    stem = value.removesuffix("*") if isinstance(value, str) else value
    _read_name(stem)
    return str(value)


PATTERN = ValueType(
    f"{NAME.allowed}, or such a name with * for a number behind it",
    _read_pattern,
    {"type": "string", "pattern": r"^[A-Za-z0-9._-]{1,64}\*?$"},
)
#: A name, or a name with `*`, which stands for the names that have a number in its place.
NamePattern = Annotated[str, PATTERN]


def _read_of_pair(value: Any) -> str:
    if not isinstance(value, str):
        raise Refused("")
    pair, _, rest = value.partition("#")
    number, _, way = rest.partition(".")
    source, has_target, target = pair.partition(">")
    for name in (source, *([target] if has_target else []), *([number] if rest else [])):
        _read_name(name)
    if way not in ("", "forward", "reverse"):
        raise Refused("")
    return value


OF_PAIR = ValueType(
    f"{NAME.allowed}, or from>to of such names, as pairs of stations and what they send are called",
    _read_of_pair,
    {
        "type": "string",
        "pattern": r"^[A-Za-z0-9._-]{1,64}(>[A-Za-z0-9._-]{1,64})?(#[0-9]+(\.[a-z]+)?)?$",
    },
)
#: VCs, flows or sources, those of pairs of stations among them.
NamesOfPairs = Annotated[tuple[Annotated[str, OF_PAIR], ...], Field(min_length=1)]
#: Whom a table speaks of, which without them would do nothing.
Names = Annotated[tuple[Name, ...], Field(min_length=1)]
#: The same, of which a `*` stands for numbers.
NamePatterns = Annotated[tuple[NamePattern, ...], Field(min_length=1)]


#: What is counted comes whole.
_WHOLE = {
    Dimension.CELLS: "cells",
    Dimension.PACKETS: "packets",
    Dimension.SIZE: "octets",
    Dimension.SEGMENTS: "segments",
    Dimension.TICKS: "ticks",
}


def quantity(
    *dimensions: Dimension,
    low: int | None = 0,
    above: int | None = None,
    high: int | None = None,
    words: Iterable[str] = (),
    what: str = "",
    example: str,
    other: str = "",
) -> ValueType:
    """A quantity in units of the given dimensions, or one of some words.

    `low` (inclusive), `above` (exclusive) and `high` (inclusive) bound the amount in base units of
    the first dimension, rates of bits and of cells alike, and of symbols from above; where the unit
    alone does not give that, only the sign is bounded. `other` is an example of another dimension,
    where that makes a difference to other parameters.
    """
    words = tuple(words)

    def read(value: Any) -> Quantity | str:
        if isinstance(value, str) and value in words:
            return value
        if isinstance(value, bool) or not isinstance(value, str):
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            raise Refused("the unit is missing" if is_number else "")
        read_value = _in_dimension(parse_quantity(value), dimensions)
        amount = read_value.amount
        if read_value.dimension in _WHOLE and amount.denominator != 1:
            raise Refused(f"{_WHOLE[read_value.dimension]} are counted whole")
        if (above is not None and amount <= 0) or (low is not None and amount < min(low, 0)):
            raise Refused("")
        bounded = amount_in(read_value, dimensions[0])
        if read_value.dimension is Dimension.SYMBOL_RATE and high is not None and amount > high:
            raise Refused("")
        if bounded is not None:
            if low is not None and bounded < low:
                raise Refused("")
            if above is not None and bounded <= above:
                raise Refused("")
            if above is not None and dimensions[0] is Dimension.TIME and rounded(bounded) <= above:
                raise Refused("times are counted in whole picoseconds")
            if high is not None and bounded > high:
                raise Refused("")
        return read_value

    bounds = _bounds_in_words(dimensions[0], low if above is None else None, above, high)
    texts = [f'"{w}"' for w in words]
    units = units_of(*dimensions) + (f"; {what}" if what else "")
    texts.append(f'{bounds}, such as "{example}" ({units})')
    allowed = " or ".join(texts)
    examples = [text for text in (example, other) if text]
    pattern = {"type": "string", "pattern": unit_pattern(*dimensions), "examples": examples}
    schema = {"anyOf": [{"enum": list(words)}, pattern]} if words else pattern
    return ValueType(allowed, read, schema)


def _in_dimension(value: Quantity, dimensions: tuple[Dimension, ...]) -> Quantity:
    if value.dimension is Dimension.DISTANCE and {Dimension.DISTANCE, Dimension.TIME} <= set(
        dimensions
    ):
        value = Quantity(value.amount * PS_PER_KM, Dimension.TIME, value.text)
    if value.dimension not in dimensions:
        raise Refused(misfit(value))
    return value


#: Unit of a bound in words, where the amount alone does not say it.
_UNIT_SHOWN = {
    Dimension.SIZE: " B",
    Dimension.DISTANCE: " km",
    Dimension.ANGLE: " deg",
    Dimension.SPEED: " km/s",
    Dimension.FREQUENCY: " GHz",
    Dimension.LENGTH: " m",
    Dimension.TEMPERATURE: " K",
}


def _bounds_in_words(
    dimension: Dimension, low: int | None, above: int | None, high: int | None
) -> str:
    def show(amount: int) -> str:
        if dimension is Dimension.TIME:
            return show_time(amount)
        if dimension is Dimension.BIT_RATE:
            return show_rate(amount)
        return f"{show_amount(amount)}{_UNIT_SHOWN.get(dimension, '')}"

    noun = dimension.value
    least = f"above {show(above)}" if above is not None else f"from {show(low or 0)}"
    if high is None:
        return f"{noun} {least}"
    return f"{noun} {least}{' to' if above is None else ', up to'} {show(high)}"


def decibels(
    low: int, high: int, example: str, dimension: Dimension = Dimension.DECIBEL
) -> ValueType:
    """A number of dB, or of another logarithmic unit, in a range to which both ends belong."""
    unit = units_of(dimension)

    def read(value: Any) -> float:
        if not isinstance(value, str):
            raise Refused("the unit is missing" if isinstance(value, int | float) else "")
        ratio = parse_quantity(value)
        if ratio.dimension is not dimension or not low <= ratio.amount <= high:
            raise Refused("")
        return float(ratio.amount)

    schema = {"type": "string", "pattern": unit_pattern(dimension), "examples": [example]}
    return ValueType(f'from {low} {unit} to {high} {unit}, such as "{example}"', read, schema)


def part(what: str) -> ValueType:
    """A number above 0 and at most 1, or as many per cent."""

    def read(value: Any) -> float:
        number = _read_part(value)
        if not 0 < number <= 1:
            raise Refused("")
        return number

    schema = {
        "anyOf": [
            {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
            {"type": "string", "pattern": unit_pattern(Dimension.PART), "examples": ["80 %"]},
        ]
    }
    return ValueType(f"above 0, at most 1 or 100 % ({what})", read, schema)


def number(
    *,
    above: float | None = None,
    low: float | None = None,
    high: float | None = None,
    below: float | None = None,
    what: str = "",
) -> ValueType:
    """A number in a range, to which `low` and `high` belong, and `above` and `below` do not.

    `what` stands behind the range in words, with its punctuation.
    """

    def read(value: Any) -> float:
        written = read_number(value)
        is_low = (above is not None and written <= above) or (low is not None and written < low)
        is_high = (high is not None and written > high) or (below is not None and written >= below)
        if is_low or is_high:
            raise Refused("")
        return written

    words = {"above": above, "from": low, "at most": high, "below": below}
    bounds = ", ".join(f"{word} {bound}" for word, bound in words.items() if bound is not None)
    if low is not None and below is None:
        bounds = f"at least {low}" if high is None else f"from {low} to {high}"
    ends = {"exclusiveMinimum": above, "minimum": low, "maximum": high, "exclusiveMaximum": below}
    schema = {"type": "number", **{end: at for end, at in ends.items() if at is not None}}
    return ValueType(f"{bounds}{what}", read, schema)


def one_of(values: tuple[int, ...], allowed: str) -> ValueType:
    """One of some whole numbers, which `allowed` says in words."""

    def read(value: Any) -> int:
        if isinstance(value, bool) or value not in values:
            raise Refused("")
        return int(value)

    return ValueType(allowed, read, {"enum": list(values)})


def probability(finest: Fraction, example: str) -> ValueType:
    """A number from 0 to 1, or as many per cent; above 0 from `finest`, to which it is rounded."""

    def read(value: Any) -> float:
        number = _read_part(value)
        if number and not finest <= exact(number) <= 1:
            raise Refused("")
        return number

    schema = {
        "anyOf": [
            {"type": "number", "enum": [0]},
            {"type": "number", "minimum": float(finest), "maximum": 1},
            {"type": "string", "pattern": unit_pattern(Dimension.PART), "examples": [example]},
        ]
    }
    bounds = f"0, or from {float(finest):.0e} to 1 or 100 %".replace("e-0", "e-")
    return ValueType(f'{bounds}, such as "{example}"', read, schema)


def _read_part(value: Any) -> float:
    """A number, or one in per cent."""
    if not isinstance(value, str):
        return read_number(value)
    amount = parse_quantity(value)
    if amount.dimension is not Dimension.PART:
        raise Refused("")
    return float(amount.amount)


def read_number(value: Any) -> float:
    """A finite number that is no truth value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refused("")
    try:
        number = float(value)
    except OverflowError:
        raise Refused("") from None
    if not math.isfinite(number):
        raise Refused("")
    return number


def exact(value: float) -> Fraction:
    """The decimal fraction that a file's number stands for: 0.9 is 9/10, not the nearest binary.

    >>> exact(0.9)
    Fraction(9, 10)
    """
    return Fraction(repr(value))
