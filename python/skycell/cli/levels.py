"""Confidence levels as people give them on the command line."""

from __future__ import annotations

from typing import Any

import click


class Confidence(click.ParamType[float]):
    """A confidence level: `90`, `95 %` or `0.9`."""

    name = "LEVEL"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The level as a part of 1."""
        if isinstance(value, float):
            return value
        text = str(value).strip().removesuffix("%").strip()
        try:
            number = float(text)
        except ValueError:
            number = 0.0
        level = number / 100 if number >= 1 else number
        if not 0.5 <= level < 1:
            self.fail(f"{value!r}: must be from 50 to below 100, in per cent", param, ctx)
        return level


CONFIDENCE = Confidence()
