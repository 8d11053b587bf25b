"""Which satellites of a file are used: patterns of names, catalogue numbers, and ranges of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Any

from skycell.input.parameters import ValueType
from skycell.input.quantities import Refused

_RANGE = re.compile(r"([0-9]{1,9})\s*-\s*([0-9]{1,9})")
_LONGEST = 200


@dataclass(frozen=True)
class Choice:
    """Satellites that are meant.

    Attributes:
        text: as it is written.
        numbers: the least and the greatest catalogue number; None for a pattern of names.
    """

    text: str
    numbers: tuple[int, int] | None = None

    def means(self, name: str, number: str) -> bool:
        """Whether a satellite is meant.

        Args:
            name: of it; upper and lower case are alike.
            number: its catalogue number as it is written, perhaps none.

        >>> read_choice("starlink-1*").means("STARLINK-1008", "44714")
        True
        >>> read_choice("44713-44720").means("STARLINK-1008", "44714")
        True
        """
        if self.numbers is None:
            return fnmatchcase(name.strip().casefold(), self.text.casefold())
        least, most = self.numbers
        return number.isdecimal() and least <= int(number) <= most


def read_choice(value: Any) -> Choice:
    """A choice as a file has it; `Refused` for what is none."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 999_999_999:
        return Choice(str(value), (value, value))
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST:
        raise Refused("")
    text = value.strip()
    if text.isdecimal() and len(text) < 10:
        return Choice(text, (int(text), int(text)))
    found = _RANGE.fullmatch(text)
    if found is None:
        return Choice(text)
    least, most = map(int, found.groups())
    if least > most:
        raise Refused("a range begins with its smaller number")
    return Choice(text, (least, most))


Chosen = Annotated[
    Choice,
    ValueType(
        'a name such as "ISS (ZARYA)", a pattern of names such as "STARLINK-*", a catalogue number '
        'such as 25544, or a range of them such as "44713-44720"',
        read_choice,
        {"type": ["string", "integer"]},
    ),
]


def is_chosen(name: str, number: str, select: Sequence[Choice], exclude: Sequence[Choice]) -> bool:
    """Whether a satellite is used: all are where nothing is selected."""
    is_meant = not select or any(choice.means(name, number) for choice in select)
    return is_meant and not any(choice.means(name, number) for choice in exclude)


def unmet(choices: Iterable[Choice], satellites: Sequence[tuple[str, str]]) -> list[int]:
    """The places of choices that mean none of some satellites, each a name and a number."""
    return [
        place
        for place, choice in enumerate(choices)
        if not any(choice.means(name, number) for name, number in satellites)
    ]
