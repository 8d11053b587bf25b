"""Times as people give them on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click


@dataclass(frozen=True)
class TimeOption:
    """A time, and how it was written."""

    ps: int
    text: str

    def __str__(self) -> str:
        return self.text


class _Time(click.ParamType[TimeOption]):
    """A time with its unit, from 0 to as long as a run may be."""

    name = "TIME"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> TimeOption:
        """The time."""
        from skycell.input.quantities import (
            LONGEST_RUN_PS,
            Dimension,
            Refused,
            parse_quantity,
            show_time,
        )

        if isinstance(value, TimeOption):
            return value
        try:
            quantity = parse_quantity(value)
        except Refused as error:
            self.fail(f"{value!r}: {error}", param, ctx)
        if quantity.dimension is not Dimension.TIME:
            self.fail(f"{value!r} is {quantity.dimension}, not a time such as '2 s'", param, ctx)
        if not 0 <= quantity.amount <= LONGEST_RUN_PS:
            longest = show_time(LONGEST_RUN_PS)
            self.fail(f"{value!r}: must be a time from 0 s to {longest}, such as '2 s'", param, ctx)
        return TimeOption(int(quantity.amount), value)


TIME = _Time()
