"""Quantities as people give them on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from skycell.input.quantities import Quantity


class Amount(click.ParamType["Quantity"]):
    """A quantity with its unit."""

    def __init__(self, name: str, example: str, least: float, most: float) -> None:
        self.name, self.example, self.least, self.most = name, example, least, most

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Quantity:
        """The quantity."""
        from skycell.input.quantities import Quantity, Refused, parse_quantity

        if isinstance(value, Quantity):
            return value
        wanted = parse_quantity(self.example).dimension
        try:
            found = parse_quantity(str(value))
        except Refused as refused:
            reason = f"; {refused}" if str(refused) else ""
            self.fail(f"{value!r}: must be such as {self.example!r}{reason}", param, ctx)
        if found.dimension is not wanted or not self.least <= found.amount <= self.most:
            self.fail(f"{value!r}: must be such as {self.example!r}, within reason", param, ctx)
        return found
